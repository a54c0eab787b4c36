"""From what a citation says to addresses: relative words, ranges, levels that are not printed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from fin_rag.structure.regulation.address import address_key, parse_address, prefixes
from fin_rag.structure.regulation.model import Provision, index_by_key
from fin_rag.structure.regulation.numbers import letter_values, number_value, roman_value
from fin_rag.structure.regulation.segments import NEXT, PREVIOUS, PREVIOUS_TEXT, THIS, Item, Step, Steps

_ITEMS: Final = ("par", "pt", "sub")
_CONTAINERS: Final = ("book", "part", "title", "chapter", "section", "subsection")
_MOST_EXPANDED: Final = 200
_BREAK: Final = re.compile(r"[.:;][ ]*\n")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"


class Resolver:
    """Know the provisions of a text, their order, and who stands where."""

    def __init__(self, view: str, provisions: Sequence[Provision]) -> None:
        self._view = view
        self._provisions = [p for p in provisions if not p.transparent]
        self._starts = [p.span.start for p in self._provisions]
        self._by_key = index_by_key(self._provisions)
        self._siblings: dict[str, list[int]] = {}
        self._place: dict[int, int] = {}
        for at, provision in enumerate(self._provisions):
            family = self._siblings.setdefault(_family(provision), [])
            self._place[at] = len(family)
            family.append(at)

    def top_provisions(self) -> Iterator[Provision]:
        """Yield articles, norms, dispositions, annexes, rules."""
        for provision in self._provisions:
            if "/" not in provision.address and not provision.kind.startswith(
                ("title", "chapter", "section", "sub", "book")
            ):
                yield provision

    def source(self, offset: int) -> Provision | None:
        """Return the innermost provision at an offset."""
        at = self._at(offset)
        return None if at is None else self._provisions[at]

    def _at(self, offset: int) -> int | None:
        at = bisect_right(self._starts, offset) - 1
        tries = 0
        while at >= 0 and self._provisions[at].span.end <= offset:
            at -= 1
            tries += 1
            if tries > 2000:
                return None
        return at if at >= 0 else None

    def find(self, address: str) -> Provision | None:
        """Return the provision with an address, or ``None``."""
        at = self._by_key.get(address_key(address))
        return None if at is None else self._provisions[at]

    def of_kind(self, kind: str) -> Iterator[Provision]:
        """Yield the provisions of one kind."""
        return (provision for provision in self._provisions if provision.kind == kind)

    def known(self, address: str) -> str:
        """Return an address as the text has it, where it has it."""
        found = self.find(address)
        return found.address if found else address

    def between(self, first: str, last: str) -> list[str]:
        """Return the addresses from one provision to a later sibling; nothing if they are no siblings in the text."""
        ends = [self._by_key.get(address_key(address)) for address in (first, last)]
        if ends[0] is None or ends[1] is None:
            return []
        return [self._provisions[at].address for at in self._between(ends[0], ends[1])]

    # --- citations ----------------------------------------------------------------------------

    def plain(self, items: Sequence[Item]) -> list[str]:
        """Return the addresses that a citation of another act names, its ranges expanded by number."""
        found = [
            _joined_steps([step for step in steps if not step[1].startswith("@")])
            for item in items
            for steps in _expanded(item)
        ]
        return [address for address in dict.fromkeys(found) if address]

    def targets(self, items: Sequence[Item], source: Provision | None, offset: int) -> tuple[list[str], list[str]]:
        """Return the addresses that a citation of the own act names, and those of them that are not there."""
        found: list[str] = []
        for item in items:
            for steps in self._members(item, source, offset):
                found += self._addresses(steps, source, offset)
        unique = list(dict.fromkeys(found))
        outer = {
            _joined_steps([steps[-1]]): steps[:-1] for steps in (item.steps for item in items) if _is_nested(steps)
        }
        return unique, [address for address in unique if not self._is_there(address, outer.get(address, ()))]

    def _is_there(self, address: str, outer: Steps) -> bool:
        """Tell whether the text has what was cited; a container must lie in the ones that were cited with it."""
        if not outer:
            return self.find(address) is not None
        wanted = {address_key(_joined_steps([step])) for step in outer}
        key = address_key(address)
        return any(
            address_key(p.address) == key and wanted <= {address_key(step) for step in p.path}
            for p in self.of_kind(key.partition(":")[0])
        )

    def _members(self, item: Item, source: Provision | None, offset: int) -> list[Steps]:
        """Expand a range along the text where both of its ends are there, else by number."""
        if not item.to:
            return [item.steps]
        first, last = (self._addresses(steps, source, offset) for steps in (item.steps, item.to))
        if len(first) == 1 and len(last) == 1:
            ends = [self._by_key.get(address_key(address)) for address in (first[0], last[0])]
            if ends[0] is not None and ends[1] is not None:
                between = self._between(ends[0], ends[1])
                if between:
                    return [tuple((kind, number) for kind, number in _steps_of(self._provisions[at])) for at in between]
        return list(_expanded(item))

    def _between(self, first: int, last: int) -> list[int]:
        family = self._siblings[_family(self._provisions[first])]
        if last not in family[self._place[first] : self._place[first] + _MOST_EXPANDED]:
            return []
        return family[self._place[first] : self._place[last] + 1]

    def _addresses(self, steps: Steps, source: Provision | None, offset: int) -> list[str]:
        if any(number.startswith("@") for _, number in steps):
            return self._relative(steps, source, offset)
        if steps[0][0] in _ITEMS:
            return [self._below_source(steps, source)]
        return [self._absolute(steps, source)]

    def _absolute(self, steps: Sequence[Step], source: Provision | None) -> str:
        containers = [step for step in steps if step[0] in _CONTAINERS]
        if len(containers) == len(steps):
            return self._container(steps[-1], source)
        if steps[0] == ("annex", "") and not self.find("annex:"):
            steps = (*self._own_annex(source), *steps[1:])
        kept = [step for step in steps if step not in containers]
        if containers and kept[0][0] in _ITEMS and not _starts_with_annex(steps):
            above = self._container(containers[-1], source)
            return self._known(f"{above}/{_joined_steps(kept)}", (*_split(above), *kept))
        if _starts_with_annex(steps) or kept[0][0] in _ITEMS:
            kept = list(steps)
            # Containers of an annex are addressed below the annex itself, however deep they stand.
            flat = [step for step in steps if step not in containers[:-1]]
            if len(containers) > 1 and self.find(self._known(_joined_steps(flat), flat)):
                kept = flat
        return self._known(_joined_steps(kept), kept)

    def _own_annex(self, source: Provision | None) -> tuple[Step, ...]:
        """Return the annex that *the Annex* means: the one that the source stands in, or the only one."""
        if source is not None and source.address.startswith("annex:"):
            return (_split(source.address)[0],)
        annexes = [p for p in self.of_kind("annex") if "/" not in p.address]
        return (_split(annexes[0].address)[0],) if len(annexes) == 1 else (("annex", ""),)

    def _container(self, step: Step, source: Provision | None) -> str:
        address = f"{step[0]}:{step[1]}"
        if source is not None and source.address.startswith("annex"):
            inside = f"{source.address.partition('/')[0]}/{address}"
            return inside if self.find(inside) else address
        return address

    def _known(self, address: str, steps: Sequence[Step]) -> str:
        """Return the address under which the text has what was cited; the cited one where it has it not."""
        if self.find(address) or len(steps) < 2:
            found = self.find(address)
            return found.address if found else address
        above = self._known(_joined_steps(steps[:-1]), steps[:-1])
        kind, number = steps[-1]
        for other in (kind, *(k for k in _ITEMS if k != kind), ""):
            tried = f"{above}/{other}:{number}" if other else f"{above}/{number}"
            if self.find(tried):
                return tried
        return self._only_below(above, number) or f"{above}/{kind}:{number}"

    def _only_below(self, above: str, number: str) -> str:
        """Return the one provision two levels down that has a number, where a level was not cited."""
        parent = self._by_key.get(address_key(above))
        if parent is None:
            return ""
        key = address_key(above) + "/"
        found: list[str] = []
        for at in range(parent + 1, min(parent + 400, len(self._provisions))):
            address = self._provisions[at].address
            if not address_key(address).startswith(key):
                break
            if self._provisions[at].number == number and address.count("/") == above.count("/") + 2:
                found.append(address)
        return found[0] if len(found) == 1 else ""

    def _below_source(self, steps: Steps, source: Provision | None) -> str:
        """Complete a paragraph, point or sub-point with the levels above it where it is cited."""
        if source is None:
            return _joined_steps(steps)
        own = source.address.split("/")
        kinds = [kind for kind, _ in parse_address(source.address)]
        wanted = _ITEMS.index(steps[0][0])
        bases = [
            "/".join(own[:length])
            for length in range(len(own), 0, -1)
            if kinds[length - 1] not in _ITEMS or _ITEMS.index(kinds[length - 1]) < wanted
        ]
        for base in bases:
            address = self._known_below(base, steps)
            if address:
                return address
        base = bases[0] if bases else own[0]
        return f"{base}/{_joined_steps(steps)}"

    def _known_below(self, base: str, steps: Steps) -> str:
        tried = [*(((kind, number)) for kind, number in _split(base)), *steps]
        address = self._known(_joined_steps(tried), tried)
        return address if self.find(address) else ""

    # --- relative words -----------------------------------------------------------------------

    def _relative(self, steps: Steps, source: Provision | None, offset: int) -> list[str]:
        if source is None:
            return []
        anchor = next(i for i, (_, number) in enumerate(steps) if number.startswith("@"))
        kind, word = steps[anchor]
        if word == PREVIOUS_TEXT:
            word = THIS if self._has_text_above(source, offset) else PREVIOUS
        found = self._tied(kind, word, source)
        rest = steps[anchor + 1 :]
        if rest and rest[-1][0] in _CONTAINERS:
            return [self._container(rest[-1], source)]
        return [
            self._known_below(address, rest) or f"{address}/{_joined_steps(rest)}" if rest else address
            for address in found
        ]

    def _has_text_above(self, source: Provision, offset: int) -> bool:
        """Tell whether a paragraph of the same provision stands above an offset."""
        return bool(_BREAK.search(self._view[source.label.end : offset].lstrip()))

    def _tied(self, kind: str, word: str, source: Provision) -> list[str]:
        here = self._enclosing(kind, source)
        if here is None:
            return []
        if word == THIS:
            return [self._provisions[here].address]
        if kind == "par" and "/" not in self._provisions[here].address:
            return [self._provisions[here].address]  # its paragraphs have no numbers
        family = self._siblings[_family(self._provisions[here])]
        place = self._place[here]
        if word == PREVIOUS:
            chosen = family[place - 1 : place] if place else []
        elif word == NEXT:
            chosen = family[place + 1 : place + 2]
        else:
            chosen = family[max(0, place - _MOST_EXPANDED) : place]
        return [self._provisions[at].address for at in chosen]

    def _enclosing(self, kind: str, source: Provision) -> int | None:
        """Return the provision of a kind that the source lies in; *this article* is any kind of provision."""
        if kind in ("art", "norma", "da", "dt", "dd", "df", "annex"):
            return self._by_key.get(address_key(source.address.partition("/")[0]))
        if kind in _ITEMS:
            steps = source.address.split("/")
            kinds = [name for name, _ in parse_address(source.address)]
            if kind in kinds:
                return self._by_key.get(address_key("/".join(steps[: kinds.index(kind) + 1])))
            return self._by_key.get(address_key(steps[0])) if kind == "par" and len(steps) == 1 else None
        for above in reversed(prefixes(source.address)):
            if above.rpartition("/")[2].partition(":")[0] == kind:
                return self._by_key.get(address_key(above))
        for step in reversed(source.path):
            if step.partition(":")[0] == kind:
                return self._by_key.get(address_key(step))
        return None


def _is_nested(steps: Steps) -> bool:
    """Tell whether a citation names a container inside another: ``Section 3 of Chapter V``."""
    return len(steps) > 1 and all(kind in _CONTAINERS and not number.startswith("@") for kind, number in steps)


def _family(provision: Provision) -> str:
    """Return what siblings share: the kind and the address above."""
    above, _, own = provision.address.rpartition("/")
    kind = own.partition(":")[0] if ":" in own else ""
    return (
        f"{above}/{kind}"
        if above
        else (kind if kind not in ("chapter", "section", "subsection") else f"{'/'.join(provision.path)}/{kind}")
    )


def _steps_of(provision: Provision) -> Iterator[Step]:
    yield from _split(provision.address)


def _split(address: str) -> list[Step]:
    return list(parse_address(address))


def _joined_steps(steps: Sequence[Step]) -> str:
    return "/".join(f"{kind}:{number}" if kind else number for kind, number in steps)


def _starts_with_annex(steps: Sequence[Step]) -> bool:
    return steps[0][0] in ("annex", "appendix")


def _expanded(item: Item) -> Iterator[Steps]:
    """Yield the members of a range by number, letter or roman numeral; both ends where it cannot be counted."""
    if not item.to:
        yield item.steps
        return
    prefix, (kind, first) = item.steps[:-1], item.steps[-1]
    last = item.to[-1][1]
    for number in numbers_between(first, last):
        yield (*prefix, (kind, number))


def numbers_between(first: str, last: str) -> list[str]:
    """Return the numbers of a range with both ends.

    Example:
        >>> numbers_between("5", "7"), numbers_between("II", "IV"), numbers_between("5 bis", "6")
        (['5', '6', '7'], ['II', 'III', 'IV'], ['5 bis', '6'])
    """
    if first.isdigit() and last.isdigit() and 0 <= int(last) - int(first) <= _MOST_EXPANDED:
        return [str(number) for number in range(int(first), int(last) + 1)]
    low, high = roman_value(first), roman_value(last)
    if low and high and low < high and (first.isupper() or len(first) > 1 or len(last) > 1):
        names = [_roman(number) for number in range(low, high + 1)]
        return names if first.isupper() else [name.lower() for name in names]
    if (
        len(first) == len(last) == 1
        and first.isalpha()
        and last.isalpha()
        and letter_values(first) < letter_values(last)
    ):
        letters = _ALPHABET.upper() if first.isupper() else _ALPHABET
        if first in letters and last in letters:
            return list(letters[letters.index(first) : letters.index(last) + 1])
    if number_value(first) and number_value(last) > number_value(first):
        low_whole, high_whole = int(number_value(first)), int(number_value(last))
        inner = [str(number) for number in range(low_whole + 1, min(high_whole, low_whole + _MOST_EXPANDED))]
        return [first, *inner, *([] if last in inner else [last])]
    return [first, last] if first != last else [first]


def _roman(number: int) -> str:
    out = ""
    for value, sign in (
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ):
        while number >= value:
            out += sign
            number -= value
    return out
