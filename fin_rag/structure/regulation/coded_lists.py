"""Lists and ranges of coded provisions, and the references made of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_rag.schema import Span
from fin_rag.structure.regulation import us_words as words
from fin_rag.structure.regulation.acts import Acts
from fin_rag.structure.regulation.build import Built
from fin_rag.structure.regulation.model import EXTERNAL, INTERNAL, Reference
from fin_rag.structure.regulation.numbers import roman_value
from fin_rag.structure.regulation.resolve import Resolver, numbers_between


class CodedLists:
    """Read what follows a number, and make references of it."""

    def __init__(self, built: Built, resolver: Resolver, acts: Acts) -> None:
        self._view = built.view
        self._system = built.scan.system
        self._resolver = resolver
        self._acts = acts
        self._chapters = {p.number for p in resolver.of_kind("chapter")}
        self._rules: dict[str, str] = {}
        for provision in resolver.of_kind("rule"):
            self._rules.setdefault(re.sub(r"(?:[RGEDPC]|UK|EU)\Z", "", provision.number), provision.address)

    # --- building -----------------------------------------------------------------------------

    def _internal(self, start: int, end: int, targets: Sequence[str]) -> list[Reference]:
        source = self._resolver.source(start)
        unique = tuple(dict.fromkeys(target for target in targets if target))
        if not unique:
            return []
        missing = tuple(target for target in unique if self._resolver.find(target) is None)
        return [Reference(Span(start, end), source.address if source else "", INTERNAL, unique, missing)]

    def _external(self, start: int, end: int, act: str, provisions: Sequence[str] = ()) -> list[Reference]:
        source = self._resolver.source(start)
        return [
            Reference(
                Span(start, end),
                source.address if source else "",
                EXTERNAL,
                act=act,
                provisions=tuple(provisions),
            )
        ]

    # --- lists of numbers with levels ---------------------------------------------------------

    def _levels(self, at: int, limit: int) -> tuple[list[str], int]:
        labels: list[str] = []
        while len(labels) < 7:
            match = words.LEVEL.match(self._view, at, limit)
            if not match:
                break
            labels.append(match["label"])
            at = match.end()
        return labels, at

    def _list(
        self,
        at: int,
        limit: int,
        bases: list[str],
        number: re.Pattern[str] | None,
        name: str,
        *,
        glue: str = ":",
    ) -> tuple[list[str], int]:
        """Read levels, then further entries and ranges, after a first number; return addresses and the end."""
        labels, at = self._levels(at, limit)
        found = [(bases[-1], labels)]
        out = [_address(bases[-1], labels)]
        while len(out) < words.MOST * 4:
            to = words.TO.match(self._view, at, limit)
            following = (
                self._entry(_past_sign(self._view, to.end()), limit, found[-1], number, name + glue) if to else None
            )
            if following is not None:
                out += self._range(found[-1], following[0])
            else:
                and_ = words.AND.match(self._view, at, limit)
                following = self._entry(and_.end(), limit, found[-1], number, name + glue) if and_ else None
                if following is None:
                    break
                out.append(_address(*following[0]))
            found.append(following[0])
            at = following[1]
        return out, at

    def _entry(
        self, at: int, limit: int, before: tuple[str, list[str]], number: re.Pattern[str] | None, name: str
    ) -> tuple[tuple[str, list[str]], int] | None:
        """Read one more entry: a number of its own, or levels that replace the last ones."""
        match = number.match(self._view, at, limit) if number else None
        if match:
            labels, end = self._levels(match.end(), limit)
            return (f"{name}{match['number']}", labels), end
        labels, end = self._levels(at, limit)
        if not labels:
            return None
        keep = _shared(before[1], labels[0])
        return (before[0], [*before[1][:keep], *labels]), end

    def _range(self, first: tuple[str, list[str]], last: tuple[str, list[str]]) -> list[str]:
        """Return what a range adds to its first entry: the members along the text, else by number, else the end."""
        one, other = _address(*first), _address(*last)
        along = self._resolver.between(one, other)
        if along:
            return along[1:]
        if first[0] == last[0] and len(first[1]) == len(last[1]) and first[1][:-1] == last[1][:-1] and first[1]:
            return [_address(first[0], [*first[1][:-1], n]) for n in numbers_between(first[1][-1], last[1][-1])[1:]]
        low, high = words.LAST_NUMBER.search(first[0]), words.LAST_NUMBER.search(last[0])
        if low and high and not first[1] and not last[1]:
            head = first[0][: low.start()]
            if head == last[0][: high.start()]:
                return [f"{head}{n}" for n in numbers_between(low.group(), high.group())[1:]]
        return [other]


def _past_sign(view: str, at: int) -> int:
    """Return the offset behind a section mark that is repeated in a range."""
    while view[at : at + 1] in ("§", " "):
        at += 1
    return at


def _address(base: str, labels: Sequence[str]) -> str:
    return "/".join([base, *labels])


def _shared(before: Sequence[str], label: str) -> int:
    """Return how many levels of the entry before stay when a label replaces the one of its own sort."""
    for index in range(len(before) - 1, -1, -1):
        if _sort(before, index) in _sorts(label):
            return index
    return len(before)


def _sort(labels: Sequence[str], index: int) -> str:
    """Tell what a level is counted in; a numeral stands below a number or a capital letter."""
    label = labels[index]
    if label.isdigit():
        return "number"
    if label.isupper():
        return "capital"
    below = index > 0 and (labels[index - 1].isdigit() or labels[index - 1].isupper())
    return "numeral" if below and roman_value(label) is not None else "letter"


def _sorts(label: str) -> tuple[str, ...]:
    """Return what a label without its place may be counted in."""
    if label.isdigit():
        return ("number",)
    if label.isupper():
        return ("capital",)
    return ("numeral", "letter") if roman_value(label) is not None else ("letter",)
