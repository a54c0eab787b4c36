"""Turn an HTML table into lines: a pipe table where it holds data, plain lines where it only lays out.

Cells are placed on a grid with their spans, pieces of one figure (``$``, ``1,234``, ``)``) are joined,
columns that never hold text disappear, and header rows are joined into one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from fin_rag.loaders.html_cells import (
    Field,
    is_bullet,
    is_closer,
    is_marker,
    is_opener,
    is_pagelike,
)  # fmt: skip
from fin_rag.loaders.html_model import LIST_ITEM, Break, Cell, Item, Line, Table
from fin_rag.loaders.html_pipes import Grid, pipe_lines

_MAX_COLSPAN: Final = 1000
_MAX_ROWSPAN: Final = 65534
_MAX_COLUMNS: Final = 4096
_MAX_BUSY: Final = 64
_ITEM_ROW: Final = re.compile(r"(?:items?|part|punto)\s{0,2}[\divx]", re.IGNORECASE)
_PAGE_HEAD: Final = re.compile(r"page|pág|pagina", re.IGNORECASE)
_LONG_TEXT: Final = 600
_LONG_LABEL: Final = 160


def finish_table(table: Table) -> list[Item]:
    """Return the lines of a table that has been read to its end."""
    rows = [placed for placed in _place(table) if placed]
    if not rows:
        return [Break()] if _breaks(table) else []
    if any(cell.nested for row in rows for cell in row):
        return [item for row in rows for cell in row for item in cell.items]
    fields = [_join_figures(_fields(row)) for row in rows]
    fields = [row for row in fields if row]
    grid = Grid(fields)
    lines: list[Item] = list(pipe_lines(grid)) if _is_data(grid) else _flatten(fields)
    if _breaks(table):
        if len(fields) == 1 and len(fields[0]) == 1:
            return rows[0][0].items
        lines.append(Break())
    return lines


def read_colspan(table: Table, value: str) -> int:
    """Return how many columns a cell covers, at most 1,000; an absurd value marks the table as capped."""
    return _read_span(table, value, _MAX_COLSPAN)


def read_rowspan(table: Table, value: str) -> int:
    """Return how many rows a cell covers, at most 65,534; an absurd value marks the table as capped."""
    return _read_span(table, value, _MAX_ROWSPAN)


def _read_span(table: Table, value: str, limit: int) -> int:
    if len(value) == 1:
        return int(value) or 1 if "0" <= value <= "9" else 1
    digits = value.strip()
    if not (digits.isascii() and digits.isdecimal()):
        return 1
    if len(digits) > 9 or int(digits) > limit:
        table.capped = True
        return limit
    return max(int(digits), 1)


def _breaks(table: Table) -> bool:
    return any(isinstance(item, Break) for row in table.rows for cell in row for item in cell.items)


def _place(table: Table) -> list[list[Cell]]:
    """Give each cell its columns; return the cells that hold something, row by row."""
    placed = []
    busy: dict[int, tuple[int, int]] = {}
    for number, row in enumerate(table.rows):
        column = 0
        kept = []
        for cell in row:
            while column in busy:
                end, until = busy[column]
                if until <= number:
                    del busy[column]
                    break
                column = end
            cell.start = column
            column += cell.colspan
            cell.end = column
            if cell.rowspan > 1 and len(busy) < _MAX_BUSY:
                busy[cell.start] = (column, number + cell.rowspan)
            if cell.items:
                if column <= _MAX_COLUMNS:
                    kept.append(cell)
                else:
                    table.capped = True
                    cell.end = cell.start + 1
                    kept.append(cell)
        placed.append(kept)
    return placed


def _fields(row: Sequence[Cell]) -> list[Field]:
    fields = []
    for cell in row:
        lines = [item for item in cell.items if isinstance(item, Line)]
        if lines:
            fields.append(Field(cell.start, cell.end, lines, cell))
    return fields


def _join_figures(fields: list[Field]) -> list[Field]:
    """Join the pieces of one figure that stand in neighbouring cells."""
    if len(fields) < 2:
        return fields
    joined: list[Field] = []
    for field in fields:
        last = joined[-1] if joined else None
        if last is None or field.start - last.end > 1:
            joined.append(field)
        elif field.number and is_opener(last.text):
            last.glue(field, "")
        elif last.number and not last.year and len(field.text) <= 12 and _closes(last.text, field.text):
            last.glue(field, " " if field.text[0] == "(" else "")
        else:
            joined.append(field)
    return joined


def _closes(number: str, text: str) -> bool:
    """Tell whether ``text`` ends the figure before it, and is not a figure of its own."""
    if not is_closer(text):
        return False
    if text[0] == "(":  # a note marker such as (a); (1) alone could be a loss of one
        return not text[1].isdigit()
    return text[0] != ")" or "(" in number or text == ")"


def _flatten(rows: Sequence[Sequence[Field]]) -> list[Item]:
    """Write a layout table: the cells of a row on one line, blocks of text one after the other."""
    lines: list[Item] = []
    for row in rows:
        lines.extend(_flat_row(list(row)))
    return lines


def _flat_row(row: list[Field]) -> list[Line]:
    if len(row) > 1 and is_bullet(row[0].text):
        bullet, text = row[0].lines[0], row[1].lines[0]
        bullet.host, bullet.shift = text, 0
        text.kind, text.prefix = LIST_ITEM, "- "
        return row[1].lines + [line for field in row[2:] for line in field.lines]
    if len(row) == 1 and not row[0].glued:
        return row[0].lines
    several = [field for field in row if len(field.lines) > 1 and not field.glued]
    if len(several) > 1 and sum(len(field.text) for field in row) > _LONG_TEXT:
        return [line for field in row for line in field.lines]
    host = Line()
    rest: list[Line] = []
    if several == [row[-1]] and len(row[-1].text) > 120:
        last = row[-1]
        rest = last.lines[1:]
        for field in row[:-1]:
            field.write_to(host, " ")
        host.adopt(last.lines[0], " ")
    else:
        for field in row:
            field.write_to(host, " ")
    host.level = max(field.lines[0].level for field in row)
    host.center = all(field.lines[0].center for field in row)
    return [host, *rest]


# --- data or layout ---------------------------------------------------------------------------
def _is_data(grid: Grid) -> bool:
    """Tell whether a table holds data, to be written with pipes."""
    if grid.width < 2 or grid.sparse or _is_contents(grid):
        return False
    figures = figure_rows = heads = 0
    for row in grid.rows:
        count = sum(1 for field in row if field.number and grid.first(field) > 0 and not field.year)
        figures += count
        figure_rows += count > 0
        heads += len(row) > 1 and all(field.header or field.bold or field.year for field in row)
    if grid.width == 2 and sum(len(row[0].text) for row in grid.rows) > _LONG_LABEL * len(grid.rows):
        return False
    if figure_rows:
        return figure_rows > 1 or figures > 1 or (heads > 0 and len(grid.rows) > 1)
    return _is_text_table(grid, heads)


def _is_text_table(grid: Grid, heads: int) -> bool:
    rows = grid.rows
    first = rows[0]
    headed = len(first) > 1 and all(field.header or field.bold for field in first)
    plain = any(not field.bold for row in rows[1:] for field in row)
    if len(rows) < 3:
        return headed and plain and len(first) >= 3 and len(rows[-1]) >= 3
    wide = sum(1 for row in rows if len(row) >= 3)
    labels = [row[0].text for row in rows if grid.first(row[0]) == 0]
    if labels and sum(1 for text in labels if is_marker(text)) * 2 > len(labels):
        return False
    if sum(1 for text in labels if _ITEM_ROW.match(text)) * 2 > len(labels):
        return False
    if wide >= 3 and wide * 2 >= len(rows):
        return True
    return headed and plain and sum(1 for row in rows if len(row) >= 2) * 3 >= len(rows) * 2 and heads < len(rows)


def _is_contents(grid: Grid) -> bool:
    """Tell whether a table lists contents: titles with page numbers, item numbers or links."""
    rows = grid.rows
    last = grid.width - 1
    linked = sum(1 for row in rows if any(field.linked for field in row))
    items = sum(1 for row in rows if _ITEM_ROW.match(row[0].text))
    money = any(
        field.number and not is_pagelike(field.text) and grid.first(field) > 0 and not field.year
        for row in rows
        for field in row
    )
    if money and linked * 2 < len(rows):
        return False
    if linked * 2 >= len(rows) or items * 2 >= len(rows):
        return True
    pages = [row[-1].text for row in rows if len(row) > 1 and grid.first(row[-1]) == last and is_pagelike(row[-1].text)]
    if len(pages) < 3 or any(field.number and 0 < grid.first(field) < last for row in rows for field in row):
        return False
    headed = any(_PAGE_HEAD.match(row[-1].text) for row in rows[:2])
    numbers = [int(found[0]) for text in pages if (found := re.search(r"\d{1,3}", text))]
    rising = sum(1 for a, b in pairwise(numbers) if a <= b)
    if headed or items >= 2:
        return True
    return len(numbers) >= 5 and rising >= len(numbers) - 2 and not any(row[-1].year for row in rows[:2])
