"""Levels of headings whose styles mix: marks, numbering and the order in which styles appear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fin_rag.structure.lines import vocabulary

ATX, SETEXT, MARKUP, BOLD, ITALIC, CAPS, BARE = "atx", "setext", "markup", "bold", "italic", "caps", "bare"

# How prominent a style is that states no level of its own; ATX and styled headings count ten a level.
_PROMINENCE: Final = {BOLD: 30, CAPS: 25, BARE: 40, ITALIC: 45}
_BOLD_CAPS: Final = 22
_STATED: Final = frozenset({ATX, SETEXT})
_ROMAN: Final = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


class Number(NamedTuple):
    """Hold the number that a heading opens with: ``Note 5`` is ``("note", "arabic", (5,))``."""

    word: str
    scheme: str
    parts: tuple[int, ...]


@dataclass(slots=True)
class Candidate:
    """Hold a heading before its level is known; ``first`` and ``last`` (exclusive) are line indices."""

    first: int
    last: int
    title: str
    style: str
    rank: int = 0
    caps: bool = False
    number: Number | None = None
    level: int = 0
    goes_on: bool = field(default=False)

    @property
    def key(self) -> tuple[str, int, bool]:
        """Return what two headings of one look share."""
        return (self.style, self.rank, self.caps)

    @property
    def prominence(self) -> int:
        """Return the order of prominence, the smaller the more prominent."""
        if self.rank:
            return 10 * self.rank
        return _BOLD_CAPS if self.style == BOLD and self.caps else _PROMINENCE[self.style]


def roman(numeral: str) -> int:
    """Return the value of a roman numeral, without a check of its form.

    Example:
        >>> roman("XIV")
        14
    """
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-v if v < max(values[i + 1 :], default=0) else v for i, v in enumerate(values))


def assign_levels(candidates: Sequence[Candidate]) -> None:
    """Set ``level`` of each candidate: 1 for the outermost, one more for each heading it stands under.

    Numbers speak first: ``3.2`` stands under ``3``, and ``4`` stands level with ``3`` whatever their styles.
    Then the look: the same look, the same level; a new look goes under the heading before it unless it is
    more prominent. A heading without number among numbered ones of its look (between ``5`` and ``6``) is a
    part of ``5``.
    """
    _settle_letters(candidates)
    _mark_sequences(candidates)
    stack: list[Candidate] = []
    for candidate in candidates:
        level = _level(candidate, stack)
        while stack and stack[-1].level >= level:
            stack.pop()
        candidate.level = stack[-1].level + 1 if stack else 1
        stack.append(candidate)


def _level(candidate: Candidate, stack: list[Candidate]) -> int:
    """Return the level of the entry that the candidate replaces, or one below the entry it goes under."""
    if candidate.number:
        for entry in reversed(stack):
            placed = _by_number(candidate, entry)
            if placed:
                return placed
    for entry in reversed(stack):
        if entry.key != candidate.key:
            continue
        child = entry.goes_on and candidate.style not in _STATED and _opens_parts(candidate, entry)
        return entry.level + 1 if child else entry.level
    for entry in reversed(stack):
        if entry.prominence < candidate.prominence:
            return entry.level + 1
    return 1


def _opens_parts(candidate: Candidate, entry: Candidate) -> bool:
    """Tell whether a heading of the same look is a part of a numbered one whose sequence goes on below."""
    if candidate.number is None:
        return not is_outer_title(candidate.title)
    other = entry.number
    new = other is not None and (candidate.number.word, candidate.number.scheme) != (other.word, other.scheme)
    return new and candidate.number.parts == (1,)


def _by_number(candidate: Candidate, entry: Candidate) -> int:
    """Return the level that the numbers of the two headings imply, or 0."""
    mine, other = candidate.number, entry.number
    if mine is None or other is None or (mine.word, mine.scheme) != (other.word, other.scheme):
        return 0
    if candidate.style in _STATED and entry.style in _STATED and candidate.rank < entry.rank:
        return 0
    if len(mine.parts) > len(other.parts):
        return entry.level + 1 if mine.parts[: len(other.parts)] == other.parts else 0
    if len(mine.parts) < len(other.parts) or mine.parts[:-1] != other.parts[:-1]:
        return 0
    if candidate.style in _STATED and entry.style in _STATED and candidate.rank != entry.rank:
        return 0
    return entry.level if mine.parts[-1] > other.parts[-1] else 0


def is_outer_title(title: str) -> bool:
    """Tell whether a title names a part that stands on its own: glossary, annex, notes to the tables.

    Example:
        >>> is_outer_title("NOTAS ACLARATORIAS A LAS TABLAS"), is_outer_title("Lácteos")
        (True, False)
    """
    low = title.lower()
    words = low.split()
    heads = {" ".join(words[:n]) for n in range(1, min(len(words), 5) + 1)}
    return not heads.isdisjoint(vocabulary()["outer_titles"])


def _settle_letters(candidates: Sequence[Candidate]) -> None:
    """Read ``C.`` after ``B.`` as a letter, not as a hundred."""
    before: dict[str, int] = {}
    for candidate in candidates:
        number = candidate.number
        if number is None:
            continue
        if number.scheme == "roman" and len(candidate.title.lstrip()) > 0:
            letter = _as_letter(candidate)
            if letter and before.get(number.word) == letter - 1:
                number = Number(number.word, "letter", (letter,))
                candidate.number = number
        if number.scheme == "letter":
            before[number.word] = number.parts[0]


def _as_letter(candidate: Candidate) -> int:
    number = candidate.number
    for letter, value in _ROMAN.items():
        if number and number.parts == (value,):
            return ord(letter) - ord("A") + 1
    return 0


def _mark_sequences(candidates: Sequence[Candidate]) -> None:
    """Mark each numbered heading that has a successor further down (``5`` where ``6`` follows)."""
    following: dict[tuple[str, str, tuple[int, ...]], int] = {}
    for candidate in reversed(candidates):
        number = candidate.number
        if number is None:
            continue
        key = (number.word, number.scheme, number.parts[:-1])
        candidate.goes_on = following.get(key, 0) > number.parts[-1]
        following[key] = number.parts[-1]
