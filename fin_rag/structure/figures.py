"""Rows of plain-text tables: a label and the figures that close the line."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from fin_rag.structure.lines import LONGEST_ROW, is_figure, is_neutral, is_nil, is_year, vocabulary

_LEADER: Final = re.compile(r"\.(?:\s?\.){2,}")
_WORD: Final = re.compile(r"\S+")
_GAP: Final = 2
# What a row of figures can end with: digits, signs, note marks, the letters of "n/a", "NM", "2025e", "1.5x".
_LAST: Final = frozenset(")%]€$£-–—−†‡*¹²³⁴⁵⁶⁷⁸⁹⁰eEpPaAxXmMnNrRdDsSbBkK×.")
_MONEY: Final = frozenset({"$", "€", "£", "EUR", "USD", "US$"})
_CLOSING: Final = frozenset({")", "%", ")%", "pp", "p.p.", "pb", "bps"})


class Tail(NamedTuple):
    """Tell how a line ends: the label's end and the bounds of each figure, in code points of the line.

    ``gapped`` says that the figures stand apart: two blanks, a tab or dot leaders before the first one.
    """

    label_end: int
    cells: tuple[tuple[int, int], ...]
    gapped: bool


def figure_tail(text: str) -> Tail:
    """Split a line into its label and the run of figures at its end.

    Currency signs, brackets and percent signs that stand apart are merged with their figure; a year that
    closes a date ("December 31, 2024") stays with the label.

    Example:
        >>> line = "Net sales ($m) $ 1,234 $ (56) (5)%"
        >>> [line[a:b] for a, b in figure_tail(line).cells]
        ['$ 1,234', '$ (56)', '(5)%']
    """
    none = Tail(len(text), (), gapped=False)
    if len(text) > LONGEST_ROW or not text or not (text[-1].isdigit() or text[-1] in _LAST):
        return none
    last = text.rsplit(None, 1)[-1]
    plain = last[-1] != ")" and ".." not in text and ". ." not in text
    if plain and not (is_neutral(last) or is_nil(last) or is_figure(last)):
        return none  # a word; most lines end with one
    spaced = _LEADER.sub(lambda found: " " * len(found[0]), text)
    tokens = [found.span() for found in _WORD.finditer(spaced)]
    first = len(tokens)
    while first and _is_part(spaced, tokens, first - 1):
        first -= 1
    first = _label_keeps(spaced, tokens, first)
    cells = _cells(spaced, tokens[first:])
    if not any(c.isdigit() for a, b in cells for c in spaced[a:b]):
        return none
    label_end = tokens[first - 1][1] if first else 0
    gap = spaced[label_end : tokens[first][0]]
    return Tail(label_end, tuple(cells), gapped=first == 0 or len(gap) >= _GAP or "\t" in gap)


def _is_part(text: str, tokens: list[tuple[int, int]], index: int) -> bool:
    """Tell whether a token can belong to a column; ``10)`` only behind a bracket that stands apart."""
    token = text[slice(*tokens[index])]
    if is_neutral(token) or is_nil(token) or is_figure(token):
        return True
    opened = index > 0 and text[tokens[index - 1][1] - 1] == "("
    return opened and token.endswith(")") and is_figure(f"({token}")


def _label_keeps(text: str, tokens: list[tuple[int, int]], first: int) -> int:
    """Move the start of the figures past tokens that belong to the label."""
    gaps = [index for index in range(max(first, 1), len(tokens)) if _wide(text, tokens, index)]
    if first == 0 and len(tokens) > 1 and is_year(text[slice(*tokens[0])]):
        # "2026 1,250" is the row of a year, "2026 2025" the head of two columns
        return 1 if any(not is_year(text[slice(*token)]) for token in tokens[1:]) else 0
    if first and gaps and gaps[0] != first and not is_neutral(text[slice(*tokens[gaps[0] - 1])]):
        first = gaps[0]
    periods = vocabulary()["period_words"]
    while 0 < first < len(tokens) and is_year(text[slice(*tokens[first])]):
        before = text[slice(*tokens[first - 1])]
        if not (before.endswith(",") or before.lower() in periods) or _wide(text, tokens, first):
            break
        first += 1
    while first < len(tokens) and text[slice(*tokens[first])] in _CLOSING:
        first += 1
    return first + _governed(text, tokens, first)


def _governed(text: str, tokens: list[tuple[int, int]], first: int) -> int:
    """Return how many tokens a preposition before the figures claims: "net of tax of $5 and $(3) 533"."""
    if not 0 < first < len(tokens) - 1 or _wide(text, tokens, first):
        return 0
    if text[slice(*tokens[first - 1])].lower() not in vocabulary()["title_particles"]:
        return 0
    return 2 if is_neutral(text[slice(*tokens[first])]) else 1


def _wide(text: str, tokens: list[tuple[int, int]], index: int) -> bool:
    """Tell whether a wide gap or a tab stands before a token."""
    gap = text[tokens[index - 1][1] : tokens[index][0]]
    return len(gap) >= _GAP or "\t" in gap


def _cells(text: str, tokens: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge signs that stand apart with their figure: before it, or behind it where no figure follows."""
    cells: list[tuple[int, int]] = []
    opened = -1  # start of signs that wait for their figure
    signs_trail = bool(tokens) and text[slice(*tokens[-1])] in _MONEY
    for start, end in tokens:
        token = text[start:end]
        if not is_neutral(token):
            cells.append((start if opened < 0 else opened, end))
            opened = -1
        elif cells and opened < 0 and (token in _CLOSING or signs_trail):
            cells[-1] = (cells[-1][0], end)
        elif opened < 0:
            opened = start
    return cells


def is_year_row(text: str) -> bool:
    """Tell whether a line holds nothing but years or words of periods, as a row of column heads does.

    Example:
        >>> is_year_row("2024 2023"), is_year_row("Year Ended December 31,"), is_year_row("Total 12 13")
        (True, True, False)
    """
    tokens = text.replace("|", " ").split()
    if not tokens or len(text) > LONGEST_ROW:
        return False
    words = vocabulary()
    marked = False
    years, noted = 0, False
    for token in tokens:
        bare = token.strip(".,;:()*%$€").lower()
        if is_year(bare) or is_year(token) or bare in words["period_marks"] or _is_date(bare):
            marked = True
            years += is_year(bare)
        elif bare in words["source_words"]:
            noted = True  # a column of note numbers, if two columns of years stand beside it
        elif bare and bare not in words["period_words"] and not (bare.isdigit() and len(bare) <= 2):
            return False
    return marked and (years > 1 or not noted)


_DATE: Final = re.compile(
    r"(?:\d{1,2}[-/.]){1,2}(?:19|20)?\d{2}|[1-4][qQtThHsS](?:19|20)?\d{2}"
    r"|[qQtThHsS][1-4](?:[-/]?(?:19|20)?\d{2})?"
)


def _is_date(token: str) -> bool:
    return _DATE.fullmatch(token) is not None
