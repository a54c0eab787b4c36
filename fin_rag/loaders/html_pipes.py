"""Write a data table with pipes: find its columns, its header rows, its lead lines and its notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from fin_rag.loaders.html_cells import Field, is_marker, is_unit_line
from fin_rag.loaders.html_model import GAP_BREAK, LEAD, TABLE_ROW, Line

_MAX_HEADER_ROWS: Final = 8
_MAX_LEVELS: Final = 6
_MAX_MERGED: Final = 200
_SPARSE: Final = 40
_SMALL: Final = 20_000
_NOTE_LENGTH: Final = 25
_SHORT_HEAD: Final = 40


class Grid:
    """Find the columns of a table from the fields that stand in its rows.

    A column is a run of grid columns that fields share; narrow fields make columns, wide ones span them.
    """

    def __init__(self, rows: list[list[Field]]) -> None:
        self.rows = rows
        self._owner = self._cluster({(field.start, field.end) for row in rows for field in row})
        self._covers: dict[tuple[int, int], tuple[int, int]] = {}
        self.width = len(set(self._owner.values()))
        self._merge()

    @property
    def sparse(self) -> bool:
        """Tell whether nearly all of the grid would be empty cells, so that pipes would only bloat."""
        filled = sum(map(len, self.rows))
        return self.width * len(self.rows) > _SPARSE * filled + _SMALL

    def first(self, field: Field) -> int:
        """Return the index of the first column that a field covers."""
        return self.covers(field)[0]

    def covers(self, field: Field) -> tuple[int, int]:
        """Return the indexes of the first and last column that a field covers."""
        key = (field.start, field.end)
        found = self._covers.get(key)
        if found is None:
            owned = [self._owner[column] for column in range(*key) if column in self._owner]
            found = self._covers[key] = (owned[0], owned[-1])
        return found

    @staticmethod
    def _cluster(spans: set[tuple[int, int]]) -> dict[int, int]:
        owner: dict[int, int] = {}
        count = 0
        for start, end in sorted(spans, key=lambda span: (span[1] - span[0], span[0])):
            found = {owner[column] for column in range(start, end) if column in owner}
            if len(found) > 1:
                continue
            if found:
                cluster = found.pop()
            else:
                cluster, count = count, count + 1
            for column in range(start, end):
                owner.setdefault(column, cluster)
        order: dict[int, int] = {}
        for column in sorted(owner):
            order.setdefault(owner[column], len(order))
        return {column: order[owner[column]] for column in sorted(owner)}

    def _merge(self) -> None:
        """Join neighbouring columns that no row fills both, where at most one holds figures."""
        if not 2 <= self.width <= _MAX_MERGED:
            return
        filled: list[set[int]] = [set() for _ in range(self.width)]
        figures = set()
        for number, row in enumerate(self.rows):
            for field in row:
                first, last = self.covers(field)
                if first == last:
                    filled[first].add(number)
                    if field.number and not field.year:
                        figures.add(first)
        target = [0] * self.width
        group, has_figures = filled[0], 0 in figures
        for column in range(1, self.width):
            both = has_figures and column in figures
            apart = column == 1 or both or not group.isdisjoint(filled[column])
            target[column] = target[column - 1] + apart
            group = filled[column] if apart else group | filled[column]
            has_figures = column in figures or (has_figures and not apart)
        if target[-1] + 1 < self.width:
            self._owner = {column: target[index] for column, index in self._owner.items()}
            self.width = target[-1] + 1
            self._covers.clear()


def pipe_lines(grid: Grid) -> Iterator[Line]:
    """Write a data table: lead lines, one header row, a rule, the rows, then its notes as lines."""
    lead, header, body, notes = _parts(grid)
    columns, units = _header_cells(grid, header)
    for field in lead + units:
        unit = is_unit_line(field.text)
        for line in field.lines:
            line.kind = LEAD if unit else line.kind
            yield line
    close = bool(lead + units) and is_unit_line((lead + units)[-1].text)
    head = _row(columns, 0)
    head.gap = GAP_BREAK if close else 0
    yield head
    rule = Line(GAP_BREAK, TABLE_ROW)
    rule.add("|" + " --- |" * grid.width, 0, 0.0)
    rule.total = 0
    yield rule
    levels = _levels(grid, body)
    for row in body:
        cells: list[list[Field]] = [[] for _ in range(grid.width)]
        for field in row:
            cells[grid.first(field)].append(field)
        yield _row(cells, levels.get(round(row[0].indent), 0) if grid.first(row[0]) == 0 else 0)
    for row in notes:
        if len(row) == 1 and not row[0].glued:
            yield from row[0].lines
            continue
        host = Line()
        for field in row:
            field.write_to(host, " ")
        yield host


def _parts(
    grid: Grid,
) -> tuple[list[Field], list[list[Field]], Sequence[list[Field]], Sequence[list[Field]]]:
    """Split the rows into lead lines, header rows, body and notes."""
    rows = grid.rows
    lead: list[Field] = []
    header: list[list[Field]] = []
    at = 0
    filled = _figure_columns(grid)
    while at < len(rows) - 1 and len(header) < _MAX_HEADER_ROWS:
        row = rows[at]
        if len(row) == 1 and (grid.first(row[0]) == 0 or is_unit_line(row[0].text)):
            if not _leads(grid, rows, at, header):
                break
            lead.append(row[0])
        elif _heads(grid, row, header, filled):
            header.append(row)
        else:
            break
        at += 1
    end = len(rows)
    while end > at + 1 and _is_note(grid, rows[end - 1]):
        end -= 1
    return lead, header, rows[at:end], rows[end:]


def _has_figure(grid: Grid, row: Sequence[Field]) -> bool:
    return any(field.number and not field.year and grid.first(field) > 0 and not is_marker(field.text) for field in row)


def _leads(grid: Grid, rows: Sequence[Sequence[Field]], at: int, header: Sequence[Sequence[Field]]) -> bool:
    """Tell whether a row of one cell is a title or unit line over the table rather than a row label."""
    field = rows[at][0]
    if is_unit_line(field.text):
        return True
    if header:
        return False
    if grid.covers(field)[1] > 0 and at == 0:
        return True
    for row in rows[at + 1 : at + 4]:
        if len(row) > 1 or grid.first(row[0]) > 0:
            return not _has_figure(grid, row) and _looks_like_head(row)
    return False


def _looks_like_head(row: Sequence[Field]) -> bool:
    return all(field.bold or field.header or field.year or is_unit_line(field.text) for field in row)


def _figure_columns(grid: Grid) -> set[int]:
    """Return the columns in which figures stand."""
    return {
        grid.first(field)
        for row in grid.rows
        for field in row
        if field.number and not field.year and grid.first(field) > 0
    }


def _heads(grid: Grid, row: Sequence[Field], header: Sequence[Sequence[Field]], filled: set[int]) -> bool:
    """Tell whether a row belongs to the header."""
    if _has_figure(grid, row):
        return False
    styled = _looks_like_head(row)
    if not filled:
        return styled or (not header and _centered_over(grid, row))
    if grid.first(row[0]) > 0 or is_unit_line(row[0].text):
        return True
    if not header:
        return True
    if styled and not any(grid.first(above[0]) == 0 for above in header):
        return True
    others = [field for field in row if grid.first(field) > 0]
    return bool(others) and all(
        len(field.text) <= _SHORT_HEAD and not field.year and not field.number and _over(grid, field, filled)
        for field in others
    )


def _over(grid: Grid, field: Field, filled: set[int]) -> bool:
    """Tell whether a field stands in a column of figures."""
    first, last = grid.covers(field)
    return any(column in filled for column in range(first, last + 1))


def _centered_over(grid: Grid, row: Sequence[Field]) -> bool:
    """Tell whether a first row of text is set centred above columns that are not."""
    if len(row) < 2 or not all(field.lines[0].center for field in row):
        return False
    below = [field for other in grid.rows[1:4] for field in other if grid.first(field) == 0]
    return bool(below) and not any(field.lines[0].center for field in below)


def _is_note(grid: Grid, row: Sequence[Field]) -> bool:
    last = row[-1]
    if last.number or len(last.text) < _NOTE_LENGTH or len(row) > 2:
        return False
    if len(row) == 2 and not is_marker(row[0].text):
        return False
    first, end = grid.covers(last)
    return end > first and end > 0


def _header_cells(grid: Grid, header: Sequence[Sequence[Field]]) -> tuple[list[list[Field]], list[Field]]:
    """Return the header fields of each column, and the unit lines that stood among them."""
    columns: list[list[Field]] = [[] for _ in range(grid.width)]
    units = []
    for row in header:
        for field in row:
            first, last = grid.covers(field)
            if first == 0 and is_unit_line(field.text):
                units.append(field)
                continue
            for column in range(first, last + 1):
                above = columns[column][-1] if columns[column] else None
                if above is None or above.text != field.text:
                    columns[column].append(field)
                elif above is not field:
                    field.stand_in(above)
    return columns, units


def _levels(grid: Grid, rows: Sequence[Sequence[Field]]) -> dict[int, int]:
    """Map the indents of row labels to levels from 0."""
    indents = sorted({round(row[0].indent) for row in rows if grid.first(row[0]) == 0})
    if len(indents) > _MAX_LEVELS:
        return {}
    return {indent: level for level, indent in enumerate(indents)}


def _row(cells: Sequence[Sequence[Field]], level: int) -> Line:
    """Write one row; the label keeps its level as leading blanks, two a level."""
    host = Line(GAP_BREAK, TABLE_ROW)
    parts = ["|" + "  " * level]
    at = 1 + 2 * level
    for fields in cells:
        for field in fields:
            text = field.text
            at += 1
            parts.append(" ")
            field.settle(host, at)
            if "|" in text:
                text = text.replace("|", "\\|")
            parts.append(text)
            at += len(text)
        parts.append(" |")
        at += 2
    host.parts = ["".join(parts)]
    host.width = at
    return host
