"""Cells of table rows: their bounds, what they hold, and how many rows are header rows."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from fin_rag.structure.figures import figure_tail, is_year_row
from fin_rag.structure.layout import is_pipe_separator
from fin_rag.structure.lines import is_nil, plain
from fin_rag.structure.units import is_unit_line, unit_of

_MOST_HEAD_ROWS: Final = 6
_BREAK_TAG: Final = re.compile(r"<br\s*/?>", re.IGNORECASE)
_MARKS: Final = re.compile(r"(?:\s*(?:\((?:\d{1,2}|[a-z])\)|\\?\*{1,4}|[¹²³⁰⁴-⁹†‡]+|\[\^?\w{1,4}\]))+$")


def pipe_cells(text: str) -> list[tuple[int, int]]:
    r"""Return the bounds of the cells of a pipe row, in code points of the line, blanks trimmed.

    An escaped ``\|`` belongs to its cell. An empty cell has equal bounds.

    Example:
        >>> row = r"| Cash \| banks | 12 | |"
        >>> [row[a:b] for a, b in pipe_cells(row)]
        ['Cash \\| banks', '12', '']
    """
    bars = [i for i, c in enumerate(text) if c == "|" and not (i and text[i - 1] == "\\")]
    edges = ([-1] if not bars or bars[0] != 0 else []) + bars
    if not bars or bars[-1] != len(text) - 1:
        edges.append(len(text))
    cells = []
    for left, right in pairwise(edges):
        start, end = left + 1, right
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        cells.append((start, end))
    return cells


def clean(cell: str) -> str:
    """Return a cell as a reader sees it: breaks as blanks, entities decoded, no marks."""
    if "<" in cell:
        cell = _BREAK_TAG.sub(" ", cell)
    if "&" in cell:
        cell = html.unescape(cell).replace("\u00a0", " ")
    return plain(cell)


def is_value(cell: str) -> bool:
    """Tell whether a cell holds a figure (or stands for none), not a period or words.

    Example:
        >>> [is_value(cell) for cell in ("(1.234,5)", "12,5 %", "—", "2024", "% ventas", "31-12-2024")]
        [True, True, True, False, False, False]
    """
    bare = _MARKS.sub("", cell)
    if not cell or is_year_row(cell) or (bare and is_year_row(bare)):
        return False
    if is_nil(cell):
        return True
    tail = figure_tail(cell)
    if tail.cells and tail.label_end == 0:
        return True
    return bare != cell and bool(bare) and is_value(bare)


def pipe_head(rows: Sequence[str]) -> int:
    """Return how many lines at the top of a pipe table are its header, separator row included.

    Below the separator a row still belongs to the header if it names columns: it holds no figures, the
    rows below do, and the row above left cells empty (a merged head) or it gives units.
    """
    separator = next((i for i, row in enumerate(rows[:_MOST_HEAD_ROWS]) if is_pipe_separator(row)), -1)
    parsed = [[clean(row[a:b]) for a, b in pipe_cells(row)] for row in rows[: 2 * _MOST_HEAD_ROWS + 2]]
    if separator < 0:
        return _leading_heads(parsed)
    end = separator + 1
    above = [cells for index, cells in enumerate(parsed[:separator]) if not is_pipe_separator(rows[index])]
    while end < min(len(parsed), separator + 4) and _is_second_head(parsed[end], above, parsed[end + 1 :]):
        above.append(parsed[end])
        end += 1
    return end


def grid_head(parsed: Sequence[Sequence[str]]) -> int:
    """Return how many rows of a table without any header mark name its columns."""
    return _leading_heads(parsed)


def _leading_heads(parsed: Sequence[Sequence[str]]) -> int:
    count = 0
    while count < min(len(parsed) - 1, _MOST_HEAD_ROWS) and not any(is_value(cell) for cell in parsed[count][1:]):
        count += 1
    has_figures = any(is_value(cell) for cells in parsed[count:] for cell in cells[1:])
    if has_figures:
        while count > 1 and not any(parsed[count - 1][1:]):
            count -= 1  # a group title right above the figures is a row
        return count
    return 1 if len(parsed) > 1 and not any(is_value(cell) for cell in parsed[0][1:]) else 0


def _is_second_head(row: Sequence[str], above: Sequence[Sequence[str]], below: Sequence[Sequence[str]]) -> bool:
    values = row[1:]
    if any(is_value(cell) for cell in row) or not any(row):
        return False
    if not any(values):
        return is_unit_line(row[0])
    if not any(is_value(cell) for cells in below[:3] for cell in cells[1:]):
        return False
    if not any(any(cells) for cells in above) or all(unit_of(c) or unit_of(f"({c})") or c == "%" for c in values if c):
        return True
    last = above[-1]
    merged = "" in last[1:] or len(set(last[1:])) < len(last[1:])
    return merged and all(not cell or len(cell) <= 60 for cell in values)


def column_labels(heads: Sequence[Sequence[str]], width: int, *, fill: bool = True) -> tuple[str, ...]:
    """Join the header rows into one label a column.

    With ``fill`` a cell that a merge left empty takes the label of its neighbour to the left.

    Example:
        >>> column_labels([["", "2024", "", "2023", ""], ["(EUR)", "Total", "%", "Total", "%"]], 5)
        ('(EUR)', '2024 Total', '2024 %', '2023 Total', '2023 %')
    """
    filled: list[list[str]] = []
    for index, cells in enumerate(heads):
        row = [*cells, *([""] * (width - len(cells)))][:width]
        below = [c for later in heads[index + 1 :] for c in later[1:] if c]
        if below and fill:
            for column in range(2, width):
                row[column] = row[column] or row[column - 1]
        filled.append(row)
    labels = []
    for column in range(width):
        parts: list[str] = []
        for row in filled:
            if row[column] and row[column] not in parts:
                parts.append(row[column])
        labels.append(" ".join(parts))
    return tuple(labels)
