"""Cut tables that are too long or too wide: groups of rows under their header, groups of columns under theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from fin_rag.schema import Block, Span
from fin_rag.splitters.regions import trimmed
from fin_rag.splitters.units import Measure, Unit
from fin_rag.structure.cells import pipe_cells
from fin_rag.structure.lines import Line, split_lines
from fin_rag.structure.tables import table_rows

_JOINT: Final = 2  # tokens that the blank line between two spans may cost


class Row(NamedTuple):
    """Hold a row of a table that is being cut.

    ``tokens`` is the cost of the row alone, ``notes`` what is joined to it, with costs; ``group`` is the title
    inside the table under which it stands, ``title`` tells that it is one itself.
    """

    span: Span
    tokens: int
    notes: tuple[tuple[Span, int], ...]
    group: Span | None
    title: bool


def joined_tokens(measure: Measure, span: Span) -> int:
    """Count what is joined to a span."""
    found = list(dict.fromkeys(measure.joined(span)))
    return sum(measure.estimate(found)) + _JOINT * len(found) if found else 0


def row_groups(block: Block, measure: Measure, room: int, lead: int) -> list[Unit]:
    """Cut a table between rows into groups of even size; each later group repeats the header.

    Where the header takes more than half of the room, or a row does not fit beside it, columns are grouped
    too. A row that fits nowhere comes back as a unit of kind ``rows`` that is too long.

    Args:
        block: the table.
        measure: the text and its counts.
        room: the tokens of a chunk's body.
        lead: the tokens of the heading and lead-in that the first group has to take along.
    """
    top = block.header or Span(block.span.start, block.span.start)
    rows = _rows(block, measure, top)
    head = (measure.estimate([top])[0] if len(top) else 0) + _JOINT
    spare = room - head - joined_tokens(measure, top)
    if 2 * spare < room:
        spare = room - head  # the notes of the header are left out rather than the rows cut small
    columns = _columns(measure, top)
    if len(top) and 2 * head > room:
        return _wide(rows, columns, measure, room - lead if 4 * lead <= room else room, top)
    units: list[Unit] = []
    at = 0
    while at < len(rows):
        if rows[at].tokens > spare and columns is not None:
            made = columns.units([rows[at]], room)
            if made:
                units += made if units else _with_top(made, top, measure)
                at += 1
                continue
        first = not units
        end, cost = _reach(rows, at, spare - (min(lead, spare // 2) if first else 0))
        units.append(_group(block, rows, at, end, top, cost + head, first=first))
        at = end
    return units


def _with_top(made: list[Unit], top: Span, measure: Measure) -> list[Unit]:
    """Put a header that no group of rows has said yet in front of groups of columns, as a unit of its own."""
    return [Unit(top, "table", measure.estimate([top])[0]), *made] if len(top) else made


def _rows(block: Block, measure: Measure, top: Span) -> list[Row]:
    """Return the rows below the header; what stands between two rows goes with the one above."""
    text = measure.text
    begin = max(top.end, block.span.start)  # the header of a continuation page stands pages before
    inside = replace(block, header=None) if block.header and top.end < block.span.start else block
    read = [row for row in table_rows(text, inside).rows if row.span.start >= begin]
    starts = [row.span.start for row in read]
    lines = [line for line in split_lines(text, Span(begin, block.span.end)) if line.text]
    if not starts or (lines and lines[0].start < starts[0]):
        starts = [lines[0].start, *starts] if lines else starts
        titles = [False, *(row.kind == "group" for row in read)]
    else:
        titles = [row.kind == "group" for row in read]
    ends = [*starts[1:], block.span.end]
    spans = [trimmed(text, Span(a, b)) for a, b in zip(starts, ends, strict=True)]
    costs = measure.estimate(spans)
    notes = [tuple(dict.fromkeys(measure.joined(span))) for span in spans]
    every = list(dict.fromkeys(note for found in notes for note in found))
    priced = dict(zip(every, measure.estimate(every) if every else [], strict=True))
    rows: list[Row] = []
    group: Span | None = None
    for span, cost, found, title in zip(spans, costs, notes, titles, strict=True):
        rows.append(Row(span, cost + 1, tuple((n, priced[n] + _JOINT) for n in found), None if title else group, title))
        group = span if title else group
    return rows


def _reach(rows: Sequence[Row], at: int, spare: int) -> tuple[int, int]:
    """Return the end of a group of rows from ``at`` and its cost: as even as the rest allows, never a title last."""
    left = 0
    seen: set[Span] = set()
    for row in rows[at:]:
        left += row.tokens + sum(cost for note, cost in row.notes if note not in seen)
        seen.update(note for note, _ in row.notes)
        if left > 4 * spare:
            break
    even = spare if left > 4 * spare else left / max(1, -(-left // max(1, spare)))
    cost, end = 0, at
    carried: set[Span] = set()
    while end < len(rows):
        row = rows[end]
        more = row.tokens + sum(price for note, price in row.notes if note not in carried)
        if end > at and (cost + more > spare or cost + more / 2 > even):
            break
        cost += more
        carried.update(note for note, _ in row.notes)
        end += 1
    while end < len(rows) and end - 1 > at and rows[end - 1].title:
        end -= 1
        cost -= rows[end].tokens
    return end, cost


def _group(block: Block, rows: Sequence[Row], at: int, end: int, top: Span, cost: int, *, first: bool) -> Unit:
    span = Span(rows[at].span.start, rows[end - 1].span.end)
    if first and top.end >= block.span.start:  # stands right below the header: one span, nothing to repeat
        start = top.start if len(top) else span.start
        return Unit(Span(start, span.end), "rows", cost, table=block)
    group = rows[at].group
    front = (*((top,) if len(top) else ()), *((group,) if group is not None else ()))
    return Unit(span, "rows", cost, front, table=block)


def _wide(rows: Sequence[Row], columns: Columns | None, measure: Measure, room: int, top: Span) -> list[Unit]:
    """Cut a table whose header leaves no room: groups of columns, else the header and the rows one by one."""
    whole = columns.units(rows, room) if columns is not None else []
    if whole:
        return whole
    alone = [columns.units([row], room) if columns is not None else [] for row in rows]
    units = [] if any(alone) else [Unit(top, "table", measure.estimate([top])[0])]
    for row, made in zip(rows, alone, strict=True):
        last = units[-1] if units else None
        if made:
            units += made
        elif last is not None and last.kind == "rows" and not last.own and last.tokens + row.tokens <= room:
            units[-1] = Unit(Span(last.span.start, row.span.end), "rows", last.tokens + row.tokens)
        else:
            units.append(Unit(row.span, "rows", row.tokens))
    return units


# --- columns --------------------------------------------------------------------------------------


def _columns(measure: Measure, top: Span) -> Columns | None:
    """Return the columns of a pipe table, or ``None`` for a table of another form."""
    lines = [line for line in split_lines(measure.text, top) if line.text] if len(top) else []
    heads = [line for line in lines if "|" in line.text]
    if not heads:
        return None
    titles = [line for line in lines if "|" not in line.text]
    width = max(len(pipe_cells(line.text)) for line in heads)
    return Columns(measure, heads, titles, width) if width > 2 else None


class Columns:
    """Cut rows of a pipe table into groups of columns; each cell keeps its row's label and its column's head."""

    def __init__(self, measure: Measure, heads: Sequence[Line], titles: Sequence[Line], width: int) -> None:
        self._measure, self._width = measure, width
        self._heads = [_Cells(line.start, line.text, width) for line in heads]
        title = Span(titles[0].start, titles[-1].end) if titles else None
        self._title = title
        self._costs = self._column_costs(self._heads)

    def units(self, rows: Sequence[Row], room: int) -> list[Unit]:
        """Return groups of columns of groups of rows; none if a single column does not fit."""
        text = self._measure.text
        cut = [_Cells(row.span.start, row.span.slice(text), self._width) for row in rows if "|" in row.span.slice(text)]
        if len(cut) != len(rows) or not cut:
            return []
        title = self._measure.estimate([self._title])[0] + _JOINT if self._title else 0
        widest = [max(costs) for costs in zip(*(self._column_costs([row]) for row in cut), strict=True)]
        label = self._costs[0] + _JOINT
        fixed = title + label + widest[0] + 2 * _JOINT
        made: list[Unit] = []
        first = 1
        while first < self._width:
            last, cost = first, fixed
            while last < self._width and cost + self._costs[last] + widest[last] <= room:
                cost += self._costs[last] + widest[last]
                last += 1
            if last == first:
                return []
            made += self._row_units(cut, first, last, room - title)
            first = last
        return sorted(made, key=lambda unit: unit.span)

    def _column_costs(self, rows: Sequence[_Cells]) -> list[int]:
        """Estimate each column's tokens over some rows, bars included."""
        spans = [row.between(column, column + 1) for column in range(self._width) for row in rows]
        counts = iter(self._measure.estimate(spans))
        return [sum(next(counts) + 1 for _ in rows) for _ in range(self._width)]

    def _row_units(self, rows: Sequence[_Cells], first: int, last: int, room: int) -> Iterator[Unit]:
        """Yield as many rows as fit with some columns."""
        left = 0 if first == 1 else first
        heads = [part for head in self._heads for part in self._parts(head, left, last)]
        parts = [self._parts(row, left, last) for row in rows]
        head = sum(self._measure.estimate(heads)) + _JOINT * len(heads)
        flat = iter(self._measure.estimate([span for found in parts for span in found]))
        costs = [sum(next(flat) + _JOINT for _ in found) for found in parts]
        at = 0
        while at < len(rows):
            end, cost = at, head
            while end < len(rows) and (end == at or cost + costs[end] <= room):
                cost += costs[end]
                end += 1
            body = [span for found in parts[at:end] for span in found]
            own = tuple(row.between(left, last) for row in rows[at:end] if len(row.between(left, last)))
            front = [self._title] if self._title else []
            if own:
                yield Unit(own[0], "rows", cost, own=own, spans=(*front, *heads, *body))
            at = end

    @staticmethod
    def _parts(row: _Cells, left: int, last: int) -> list[Span]:
        """Return the label and the cells of a row, as one span where they touch."""
        cells = row.between(left, last)
        label = row.label() if left else None
        return [span for span in (label, cells) if span is not None and len(span)]


class _Cells:
    """Know where the cells of one pipe row stand."""

    def __init__(self, start: int, line: str, width: int) -> None:
        line = line.split("\n", 1)[0]
        bounds = pipe_cells(line)[:width]
        whole = start + len(line.rstrip())
        edges = [start, *(start + a for a, _ in bounds[1:])]
        # cells beyond the width stay with the last column; a short row ends in columns without anything
        self._edges = [*edges, *([whole] * (width + 1 - len(edges)))]
        self._start, self._line = start, line

    def label(self) -> Span:
        """Return the first cell and the bars around it."""
        return self.between(0, 1)

    def between(self, first: int, last: int) -> Span:
        """Return the cells from ``first`` up to ``last``, as printed, with the bar behind them."""
        start, end = self._edges[first], self._edges[last]
        return Span(start, start + len(self._line[start - self._start : end - self._start].rstrip()))
