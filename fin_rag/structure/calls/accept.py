"""Choose among candidates: the layout of the whole text decides what a doubtful line is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from fin_rag.structure.calls.headers import CERTAIN, LIKELY, POSSIBLE, WEAK, Header
from fin_rag.structure.calls.inline import speaks_inline
from fin_rag.structure.calls.lines import CallLine
from fin_rag.structure.calls.names import doubtful, name_key
from fin_rag.structure.calls.vocabulary import fold, words

_MANY: Final = 4
_FILLED: Final = 0.5  # share of the width
_BEFORE: Final = 600  # characters in which a speaker may be announced
_LINE_FAMILIES: Final = ("line", "heading", "bold", "numbered")


class Layout:
    """Say which candidates are speaker lines, from what all candidates of a text have in common."""

    def __init__(self, text: str, lines: Sequence[CallLine], candidates: Mapping[int, Header]) -> None:
        self._text = text
        self._lines = lines
        self._candidates = candidates
        self._counts = Counter(h.label.key for h in candidates.values())
        self._full_names = any(h.label.kind == "person" and h.strength > POSSIBLE for h in candidates.values())
        self._families = self._enabled()
        self._main = self._dominant()
        self._people = self._certain_names()
        self._all_listed = self._are_listed()
        self._filled = _FILLED * _width(lines)

    def accepted(self, closed: set[int]) -> dict[int, Header]:
        """Return the speaker lines by line; a role that follows an empty speaker line joins it.

        ``closed`` are the lines that nobody says: titles, lists, notices, furniture.
        """
        chosen: dict[int, Header] = {}
        previous: Header | None = None
        for at in sorted(self._candidates):
            header = self._candidates[at]
            if previous is not None and at < previous.after:
                continue
            if previous is not None and _completes(previous, header, self._lines):
                previous = _joined(previous, header)
                chosen[previous.line] = previous
                continue
            if self._takes(at, header, closed):
                chosen[at] = previous = header
        return chosen

    # --- the layout -----------------------------------------------------------------------------

    def _enabled(self) -> frozenset[str]:
        """Return the families in which at least one certain or two likely speaker lines stand."""
        certain: Counter[str] = Counter()
        likely: dict[str, set[str]] = {}
        possible: dict[str, Counter[str]] = {}
        for header in self._candidates.values():
            if not self._is_followed(header):
                continue
            certain[header.family] += header.strength >= CERTAIN
            if header.strength >= LIKELY:
                likely.setdefault(header.family, set()).add(header.label.key)
            if header.strength >= POSSIBLE and not doubtful(header.label.name):
                possible.setdefault(header.family, Counter())[header.label.key] += 1
        found = {family for family, count in certain.items() if count}
        found |= {family for family, keys in likely.items() if len(keys) > 1}
        for family, counts in possible.items():
            again = sum(count > 1 for count in counts.values())
            if again > 1 or (again and len(counts) > 2) or (len(counts) > 2 and not found):
                found.add(family)
        if self._heads_are_names():
            found.add("heading")
        if likely.get("colon") and speaks_inline(self._text):
            found.add("colon")
        if not found:
            found |= self._single_names()
        return frozenset(found)

    def _heads_are_names(self) -> bool:
        """Tell whether all headings of one level below the first name people, as data written out do."""
        for level in (2, 3):
            heads = [at for at, line in enumerate(self._lines) if line.level == level]
            named = [self._candidates[at] for at in heads if at in self._candidates]
            if heads and len(named) == len(heads):
                return all(h.strength >= POSSIBLE and not doubtful(h.label.name) for h in named)
        return False

    def _single_names(self) -> set[str]:
        """Return the colon family where speakers are called by one word, again and again."""
        counts = Counter(
            h.label.key for h in self._candidates.values() if h.label.kind == "single" and not doubtful(h.label.name)
        )
        return {"colon"} if sum(count > 1 for count in counts.values()) > 1 else set()

    def _dominant(self) -> str:
        weight: Counter[str] = Counter()
        for header in self._candidates.values():
            if header.family in self._families:
                weight[header.family] += header.strength + (header.strength > POSSIBLE)
        return min(weight, key=lambda family: (-weight[family], family)) if weight else ""

    def _certain_names(self) -> dict[str, str]:
        """Return the first and last names of those who certainly speak, for labels of one word."""
        found: dict[str, str] = {}
        for header in self._candidates.values():
            if header.strength >= POSSIBLE and header.label.kind == "person" and header.family in self._families:
                for word in name_key(header.label.name):
                    found.setdefault(word, header.label.name)
        return found

    def _are_listed(self) -> bool:
        """Tell whether those who certainly speak far outnumber the others; names that come up once are then doubted."""
        people = [h for h in self._candidates.values() if h.label.kind == "person" and h.family == "line"]
        certain = sum(h.strength == CERTAIN for h in people)
        return certain >= _MANY and certain >= _MANY * sum(h.strength == POSSIBLE for h in people)

    # --- one candidate ----------------------------------------------------------------------------

    def _takes(self, at: int, header: Header, closed: set[int]) -> bool:
        if header.family not in self._families or not self._is_followed(header):
            return header.strength == CERTAIN and header.label.kind == "operator" and header.inline
        if (
            header.family != "colon"
            and self._is_attached(at, closed)
            and header.strength + header.label.marked < CERTAIN + 1
        ):
            return header.label.kind == "operator" and header.line + 1 == header.after
        if self._is_wrapped(at, header):
            return False
        if header.strength >= LIKELY:
            return header.strength == CERTAIN or self._is_near_main(header) or self._has_evidence(header)
        if header.label.kind == "role":
            return self._counts[header.label.key] > 1 and header.family == self._main
        if header.strength == WEAK:
            return self._takes_single(header)
        if self._has_evidence(header):
            return True
        if header.family == "line" and (self._all_listed or self._goes_on(header)):
            return False
        return self._is_near_main(header) and not doubtful(header.label.name) and self._is_set_apart(at, header)

    def _takes_single(self, header: Header) -> bool:
        name = header.label.name
        if fold(name) in words("not_names"):
            return False
        if fold(name) in self._people:
            return self._announced(header) or self._counts[header.label.key] > 1 or header.family == self._main
        return header.family == self._main and not self._full_names and self._counts[header.label.key] > 1

    def _is_near_main(self, header: Header) -> bool:
        """Tell whether a header has the text's main form, or one that such texts mix with it."""
        return header.family == self._main or (
            header.family in _LINE_FAMILIES and self._main in _LINE_FAMILIES and bool(header.label.role)
        )

    def _has_evidence(self, header: Header) -> bool:
        return self._counts[header.label.key] > 1 or self._announced(header)

    def _announced(self, header: Header) -> bool:
        """Tell whether a name was said shortly before."""
        before = fold(self._text[max(0, header.start - _BEFORE) : header.start]).split()
        key = name_key(header.label.name)
        return bool(key) and all(word in before for word in (key[0], key[-1]))

    def _is_followed(self, header: Header) -> bool:
        """Tell whether speech may follow; a name at the very end says nothing."""
        return header.inline or header.after < len(self._lines)

    def _is_attached(self, at: int, closed: set[int]) -> bool:
        """Tell whether a line goes on from the one above: no blank line, no end of a sentence."""
        line = self._lines[at]
        if line.gap or at == 0 or at - 1 in closed or line.level or line.bold:
            return False
        above = self._lines[at - 1]
        # A line that is wrapped is about as long as the others.
        return (
            len(above.raw) >= self._filled and not above.closed and above.level == 0 and at - 1 not in self._candidates
        )

    def _goes_on(self, header: Header) -> bool:
        """Tell whether what follows a line goes on with a sentence."""
        return header.after < len(self._lines) and self._lines[header.after].bare[:1].islower()

    def _is_wrapped(self, at: int, header: Header) -> bool:
        """Tell whether a line that only names somebody goes on below, in the middle of a sentence."""
        if header.family != "line" or header.label.marked or self._lines[at].gap or header.after != at + 1:
            return False
        below = self._lines[header.after]
        return not below.gap and (below.bare[:1].islower() or below.bare[:1] in ",;")

    def _is_set_apart(self, at: int, header: Header) -> bool:
        if header.family != "line" or header.label.role or header.label.firm:
            return True
        return self._lines[at].gap


def _width(lines: Sequence[CallLine]) -> int:
    """Return the width of wrapped lines: three quarters of those that another one follows are no longer."""
    lengths = sorted(len(line.raw) for line, below in pairwise(lines) if not below.gap)
    return lengths[len(lengths) * 3 // 4] if lengths else 0


def _completes(previous: Header, header: Header, lines: Sequence[CallLine]) -> bool:
    """Tell whether a line that names an office only belongs to the empty speaker line right above."""
    return (
        header.label.kind == "role"
        and not previous.inline
        and previous.after == header.line
        and previous.label.kind in ("person", "single")
        and not previous.label.role
        and not lines[header.line].gap
    )


def _joined(previous: Header, header: Header) -> Header:
    label = replace(previous.label, role=header.label.role, firm=previous.label.firm or header.label.firm)
    return replace(
        previous,
        after=header.after,
        end=header.end,
        inline=header.inline,
        label=label,
        strength=max(previous.strength, LIKELY),
    )
