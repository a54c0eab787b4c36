"""Rows of figures in lines of text, where several rows may have run into one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from fin_rag.structure.lines import LONGEST_ROW, is_figure, is_neutral, is_nil, is_year
from fin_rag.structure.statements.vocabulary import squeeze, words

_WORD: Final = re.compile(r"\S+")
_LEADER: Final = re.compile(r"\.(?:\s?\.){2,}|_{3,}")
_AGREE: Final = 4
_JOINS: Final = frozenset({"and", "y", "&"})
_PHRASE_DASHES: Final = frozenset({"-", "–", "—"})
_CLOSING: Final = frozenset({")", "%", ")%", "pp", "p.p."})


class Piece(NamedTuple):
    """Hold a label and the cells behind it, as bounds in code points of the line."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...]
    gapped: bool


def _unclosed(text: str) -> int:
    """Return where a bracket opens that the line does not close, or -1."""
    if "(" not in text:
        return -1
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] == ")":
            depth += 1
        elif text[at] == "(":
            if not depth:
                return at
            depth -= 1
    return -1


class _Run(NamedTuple):
    first: int
    last: int
    cells: tuple[tuple[int, int], ...]


def split_row(text: str, columns: int) -> list[Piece]:
    """Cut a line into rows: each run of as many figures as there are columns ends one.

    With ``columns`` 0 (not known) only the figures that close the line count.

    Example:
        >>> line = "Net income $ 12 $ 14 Other, net (3) —"
        >>> [(line[p.start:p.end], [line[a:b] for a, b in p.cells]) for p in split_row(line, 2)]
        [('Net income', ['$ 12', '$ 14']), ('Other, net', ['(3)', '—'])]
    """
    if len(text) > LONGEST_ROW:
        return [Piece(0, len(text), (), gapped=False)]
    spaced = _LEADER.sub(lambda found: " " * len(found[0]), text)
    tokens = [found.span() for found in _WORD.finditer(spaced)]
    opened = _unclosed(spaced)
    pieces: list[Piece] = []
    begin = 0
    for run in _runs(spaced, tokens):
        if run.cells[-1][1] > opened >= 0:
            break  # "($1.00 and $0.90" goes on in the next line: these are words of a label
        closes = run.last == len(tokens)
        if all(is_year(spaced[a:b].strip("(),")) for a, b in run.cells) and run.first > begin:
            said = spaced[slice(*tokens[run.first - 1])].islower()  # "$310 in 1995": no head
            if not closes and not said and columns - 1 <= len(run.cells) <= columns:
                begin = run.last  # a head that ran into the first row
            continue
        if not closes and not (columns > 1 and len(run.cells) == columns and run.first > begin):
            continue
        cells = run.cells
        extra = len(cells) - columns if columns and len(cells) > columns else 0
        cells = cells[extra:]
        label_end = max((end for _, end in tokens[begin : run.last] if end <= cells[0][0]), default=-1)
        start = tokens[begin][0] if begin < len(tokens) else 0
        gap = spaced[max(label_end, 0) : cells[0][0]]
        pieces.append(Piece(start, max(start, label_end), cells, gapped=len(gap) >= 2 or "\t" in gap))
        begin = run.last
    if begin < len(tokens) or not pieces:
        start = tokens[begin][0] if begin < len(tokens) else 0
        pieces.append(Piece(start, len(spaced.rstrip()), (), gapped=False))
    return pieces


def _runs(text: str, tokens: Sequence[tuple[int, int]]) -> list[_Run]:
    """Return the runs of figures in a line, signs merged with their figure."""
    runs: list[_Run] = []
    index = 0
    while index < len(tokens):
        if not _figurative(text, tokens, index):
            index += 1
            continue
        last = index
        while last < len(tokens) and _figurative(text, tokens, last):
            last += 1
        cells = _cells(text, tokens[index:last])
        if cells and any(c.isdigit() or c in "-–—−" for a, b in cells for c in text[a:b]):
            runs.append(_Run(index, last, tuple(cells)))
        index = last
    return runs


def _figurative(text: str, tokens: Sequence[tuple[int, int]], index: int) -> bool:
    token = text[slice(*tokens[index])]
    if index and _in_phrase(text, tokens, index):
        return False
    if is_neutral(token) or is_nil(token):
        return True
    if not is_figure(token):
        opened = index > 0 and text[tokens[index - 1][1] - 1] == "("
        return opened and token.endswith(")") and is_figure(f"({token}")
    return index == 0 or not _in_date(token, text[slice(*tokens[index - 1])])


def _in_phrase(text: str, tokens: Sequence[tuple[int, int]], index: int) -> bool:
    """Tell whether a dash or a figure is part of a label: "Issued shares — 514 and 521"."""
    token, before = text[slice(*tokens[index])], text[slice(*tokens[index - 1])]
    if before.lower() in _JOINS and index > 1:
        return is_figure(token) and is_figure(text[slice(*tokens[index - 2])])
    head = index if token in _PHRASE_DASHES else index - 1 if before in _PHRASE_DASHES else 0
    if not head or not is_figure(text[slice(*tokens[head + 1])] if head + 1 < len(tokens) else "none"):
        return False
    return words().count_leads.search(squeeze(text[max(0, tokens[head][0] - 40) : tokens[head][0]])) is not None


def _in_date(token: str, before: str) -> bool:
    """Tell whether a figure behind a word is the day or the year of a date: "June 30", "May 2023", "31, 2024"."""
    month = before.lower().strip(".,(") in words().months
    if is_year(token):
        return month or (before.endswith(",") and before[:-1].isdigit())
    return month and len(token) <= 2


def _cells(text: str, tokens: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    cells: list[tuple[int, int]] = []
    opened = -1
    for start, end in tokens:
        token = text[start:end]
        if not is_neutral(token):
            cells.append((start if opened < 0 else opened, end))
            opened = -1
        elif cells and opened < 0 and token in _CLOSING:
            cells[-1] = (cells[-1][0], end)
        elif opened < 0:
            opened = start
    return cells


def count_columns(texts: Sequence[str], headed: int = 0) -> int:
    """Return how many figures the rows of a statement hold, by the count that most figures stand in.

    ``headed`` is the number of periods that stand above the rows; it wins where enough rows agree with it, since
    labels hold figures too ("net of tax of $3, $5 and $1").
    """
    counts: Counter[int] = Counter()
    for text in texts:
        for piece in split_row(text, 0):
            if piece.cells and piece.end > piece.start:
                counts[len(piece.cells)] += 1
    if not counts:
        return 0
    if headed and _AGREE * counts[headed] >= max(counts.values()):
        return headed
    return max(counts, key=lambda n: (counts[n] * n, n))
