"""Which note a marker calls: the nearest one in scope, never a guess across a gap."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.schema import Outline, Span
from fin_rag.structure.notes.model import Marker, Note, NoteKey
from fin_rag.structure.notes.segments import Pages

_MOST_TRIED: Final = 6
# A form that a note may have if none has the marker's own form.
_ONLY: Final = {
    "slash": frozenset({"slash"}),
    "glued": frozenset({"bare", "dot", "raised"}),
    "close": frozenset({"dot"}),
}


@dataclass(frozen=True, slots=True)
class Placed:
    """Hold a note with where it stands.

    ``swallowed`` is the table whose row it was, ``attached`` the table directly above, ``below`` the one
    directly below; ``bound`` is the text that its title names; ``zone`` says that a title announces it.
    """

    note: Note
    swallowed: int = -1
    attached: int = -1
    below: int = -1
    bound: Span | None = None
    zone: bool = False
    foot: bool = False


class Sections:
    """Tell in which section an offset stands, and how two sections relate."""

    def __init__(self, outline: Outline) -> None:
        ordered = sorted(outline.sections, key=lambda s: (s.span.start, -s.span.end))
        self.sections = ordered
        self._starts: list[int] = []
        self._leaf: list[int] = []
        self._parent: list[int] = []
        stack: list[int] = []

        def leave(until: int) -> None:
            while stack and ordered[stack[-1]].span.end <= until:
                self._starts.append(ordered[stack.pop()].span.end)
                self._leaf.append(stack[-1] if stack else -1)

        for index, section in enumerate(ordered):
            leave(section.span.start)
            self._parent.append(stack[-1] if stack else -1)
            stack.append(index)
            self._starts.append(section.span.start)
            self._leaf.append(index)
        leave(max((s.span.end for s in ordered), default=0))

    def leaf(self, offset: int) -> int:
        """Return the index of the innermost section, or -1."""
        at = bisect_left(self._starts, offset + 1) - 1
        return self._leaf[at] if at >= 0 else -1

    def related(self, one: int, other: int) -> bool:
        """Tell whether one of two sections holds the other."""
        return one == other or self._holds(one, other) or self._holds(other, one)

    def _holds(self, outer: int, inner: int) -> bool:
        if outer < 0:
            return False
        section, other = self.sections[outer], self.sections[inner] if inner >= 0 else None
        return other is not None and section.span.contains(other.span)


class Resolver:
    """Resolve markers to notes."""

    def __init__(self, placed: Sequence[Placed], markers: Sequence[Marker], sections: Sections, pages: Pages) -> None:
        self._sections, self._pages = sections, pages
        self._called = {(m.table, m.key) for m in markers if m.table >= 0}
        self._in_prose = {m.key for m in markers if m.table < 0}
        self._tables: dict[tuple[int, NoteKey], list[Placed]] = defaultdict(list)
        self._kinds: set[tuple[int, str]] = set()
        self._above: dict[tuple[int, NoteKey], list[Placed]] = defaultdict(list)
        self._feet: dict[tuple[int, NoteKey], list[Placed]] = defaultdict(list)
        self._bound: dict[NoteKey, list[Placed]] = defaultdict(list)
        self._all: dict[NoteKey, list[Placed]] = defaultdict(list)
        for one in placed:
            self._file(one)
        self._starts = {key: [p.note.start for p in found] for key, found in self._all.items()}

    def _file(self, one: Placed) -> None:
        key = one.note.key
        if one.bound is not None:
            self._bound[key].append(one)
            return
        self._all[key].append(one)
        for table in {one.swallowed, one.attached} - {-1}:
            self._tables[table, key].append(one)
            self._kinds.add((table, key.kind))
        if one.below >= 0:
            self._above[one.below, key].append(one)
        if one.foot:
            self._feet[self._pages.of(one.note.start), key].append(one)

    def resolve(self, marker: Marker) -> Note | None:
        """Return the note that a marker calls, or ``None`` if none is in scope."""
        for exact in (True, False):
            named = [p for p in self._bound.get(marker.key, []) if p.bound and p.bound.contains(marker.span)]
            found = self._first(marker, named, exact=exact)
            if found:
                return found
        table = marker.table
        page = self._pages.of(marker.span.start)
        tiers = [
            self._tables.get((table, marker.key), []) if table >= 0 else [],
            [p for p in self._feet.get((page, marker.key), []) if p.note.start > marker.span.start],
            self._above_of(table, marker.key),
            self._around(marker),
        ]
        for tier in tiers:
            found = self._first(marker, tier, exact=True) or self._first(marker, tier, exact=False)
            if found:
                return found
        return None

    @staticmethod
    def _first(marker: Marker, tier: Sequence[Placed], *, exact: bool) -> Note | None:
        for one in tier:
            note = one.note
            if any(span.start <= marker.span.start < span.end for span in note.spans) and note.form != "caret":
                continue  # a note does not call itself
            only = _ONLY.get(marker.form)
            if (note.form == marker.form) if exact else (only is None or note.form in only):
                return note
        return None

    def _above_of(self, table: int, key: NoteKey) -> list[Placed]:
        """Return notes directly above the table, unless they belong to the table before them."""
        found = self._above.get((table, key), []) if table >= 0 else []
        return [p for p in found if p.attached < 0 or (p.attached, key) not in self._called]

    def _around(self, marker: Marker) -> list[Placed]:
        """Return further notes in the order in which they come into question."""
        found = self._all.get(marker.key, [])
        if not found:
            return []
        at = bisect_left(self._starts[marker.key], marker.span.start)
        after = found[at : at + _MOST_TRIED]
        before = found[max(0, at - _MOST_TRIED) : at][::-1]
        blocked = marker.table >= 0 and (marker.table, marker.key.kind) in self._kinds
        leaf = self._sections.leaf(marker.span.start)
        alone = len(found) == 1
        good = [p for p in after if not blocked and self._reaches(marker, leaf, p)]
        good += [p for p in after[:1] if blocked and self._follows(marker, leaf, p)]
        good += [p for p in after if p.zone and p.attached < 0]
        good += [p for p in after[:1] if not blocked and self._serves(marker, p, alone=alone)]
        good += [p for p in before[:1] if (p.zone and p.attached < 0 and (alone or not after))]
        good += [p for p in before[:1] if not blocked and self._recalls(marker, leaf, p, alone=alone)]
        return good

    def _follows(self, marker: Marker, leaf: int, one: Placed) -> bool:
        """Tell whether a note goes on with those below the table, a paragraph of the same section between them."""
        key = marker.key
        if one.attached >= 0 or one.note.form != marker.form or key.kind != "number" or key in self._in_prose:
            return False
        before = NoteKey("number", str(int(key.value) - 1))
        return (marker.table, before) in self._tables and self._sections.leaf(one.note.start) == leaf

    def _reaches(self, marker: Marker, leaf: int, one: Placed) -> bool:
        """Tell whether a note below stands in the marker's section or on its page, or in one around it."""
        key = marker.key
        page = self._pages.of(marker.span.start)
        if page and page == self._pages.of(one.note.start):
            return True
        if page and one.foot and (page, key) in self._feet:
            return False
        other = self._sections.leaf(one.note.start)
        if leaf == other:
            return True
        if one.attached >= 0 and one.attached != marker.table and (one.attached, key) in self._called:
            return False
        return leaf >= 0 and other >= 0 and self._sections.related(leaf, other)

    def _serves(self, marker: Marker, one: Placed, *, alone: bool) -> bool:
        """Tell whether the only note with that key serves a marker further up."""
        own = one.attached >= 0 and one.attached != marker.table and (one.attached, marker.key) in self._called
        return alone and not own

    def _recalls(self, marker: Marker, leaf: int, one: Placed, *, alone: bool) -> bool:
        """Tell whether a marker goes back to a note above: a named one, or the only one of its section."""
        if one.note.form == "caret":
            return True
        same = self._sections.leaf(one.note.start) == leaf
        return alone and marker.table < 0 and same
