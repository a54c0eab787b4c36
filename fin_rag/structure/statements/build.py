"""Build a statement from its draft: periods, units, levels and values."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, NamedTuple

from fin_rag.schema import PageMap, Span
from fin_rag.structure.lines import Line
from fin_rag.structure.statements.body import Draft, Piece
from fin_rag.structure.statements.calendar import Calendar
from fin_rag.structure.statements.columns import UNDATED, Column, align, annual, by_labels, by_order, finish
from fin_rag.structure.statements.facts import Facts
from fin_rag.structure.statements.grid import Grid, GridRow, place, read_piece
from fin_rag.structure.statements.model import Statement, StatementRow
from fin_rag.structure.statements.periods import Mentions, read_mentions
from fin_rag.structure.statements.scales import (
    Units,
    is_share_column,
    mostly_whole,
    read_units,
    symbol_currency,
    unit_row,
)
from fin_rag.structure.statements.vocabulary import squeeze, words
from fin_rag.text.numbers import Number, decimal_mark, parse_number

_NOTE: Final = re.compile(
    r"\(\s?(?:see\s)?(?:notes?|notas?)\s{1,2}"
    r"(\d{1,2}[A-Z]?(?:(?:\.\d)|(?:\s?(?:,|and|y|&|-|to)\s?\d{1,2}[A-Z]?)){0,6})\s?\)",
    re.IGNORECASE,
)
_SPANISH: Final = re.compile(
    r"\bestados?\b|\bcuentas?\b|\bbalances?\s(?:de|general|consolidado)|situaci[oó]n"
    r"|\bmil(?:lon)?es\b|\beuros al\b",
    re.IGNORECASE,
)
_MOST_LEVELS: Final = 8
_MOST_PERIODS: Final = 3
_MOST_BEHIND: Final = 14


class Raw(NamedTuple):
    """Hold what was read of a statement before the periods of all statements are known."""

    draft: Draft
    grids: tuple[Grid, ...]
    places: tuple[tuple[int, ...], ...]
    columns: tuple[Column, ...]
    units: Units


def read_draft(draft: Draft, lines: Sequence[Line]) -> Raw:
    """Read the grids, columns and unit of a draft."""
    grids = tuple(read_piece(lines, piece, grouped=draft.kind != "equity") for piece in draft.pieces)
    main = max(grids, key=lambda grid: len(grid.rows))
    above = [draft.title.text, *main.above]
    title = read_mentions(above)
    own = [_columns(grid, title, draft) for grid in grids]
    columns: list[Column] = []
    places = []
    for grid_columns in own:
        found, columns = align(columns, grid_columns)
        places.append(found)
    heads = [*above, *main.others, *main.labels, *grids[0].above]
    units = read_units([head for head in heads if head])
    if not units.stated:
        behind = read_units(_behind(draft, lines))
        units = behind if behind.stated else units
    return Raw(draft, grids, tuple(places), tuple(columns), units)


def _behind(draft: Draft, lines: Sequence[Line]) -> list[str]:
    """Return the lines right behind a statement up to the next page; a PDF may hold its column heads there."""
    found: list[str] = []
    for line in lines[draft.last : draft.last + _MOST_BEHIND]:
        if words().foot.search(squeeze(line.text)) or line.text.startswith("|"):
            break
        found.append(line.text)
    return [text for text in found if "(" in text]


def share_units(raws: Sequence[Raw], primary: Collection[int]) -> list[Raw]:
    """Give statements of the document's own set that state no unit the one on which the others agree."""
    stated = {raws[i].units for i in primary if raws[i].units.stated}
    scales = {units.scale for units in stated}
    if len(scales) != 1:
        return list(raws)
    unit = min(stated, key=lambda units: (units.currency, units.shares))
    return [raw._replace(units=unit) if i in primary and not raw.units.stated else raw for i, raw in enumerate(raws)]


def _columns(grid: Grid, title: Mentions, draft: Draft) -> list[Column]:
    head = read_mentions(grid.above[1:] or grid.above)
    if draft.kind == "equity" and _are_components(grid, head):
        return [Column(label, UNDATED, 0) for label in grid.labels]
    if grid.aligned:
        return by_labels(grid.labels, title, grid.others)
    return by_order(grid.labels, head, title)


def _are_components(grid: Grid, head: Mentions) -> bool:
    """Tell whether the columns of a statement of equity are its components, not periods."""
    if not grid.aligned:
        return len(grid.labels) > _MOST_PERIODS and len(grid.labels) not in (len(head.years), len(head.dates))
    return not any(found.years or found.dates for found in (read_mentions([label]) for label in grid.labels))


def build(
    raw: Raw, lines: Sequence[Line], page_map: PageMap | None, calendar: Calendar, facts: Facts, *, primary: bool
) -> Statement:
    """Return the statement that a draft stands for."""
    draft = raw.draft
    cells = [cell[0] for grid in raw.grids for row in grid.rows for cell in row.cells if cell]
    lang = "es" if _SPANISH.search(draft.title.text) else None
    mark = decimal_mark(" ".join(cells[:400]), lang=lang)
    currency = raw.units.currency or symbol_currency(" ".join(cells[:400]))
    units = Units(currency, raw.units.scale, raw.units.shares, draft.kind)
    whens = calendar.complete([column.when for column in raw.columns])
    instant = draft.kind == "balance_sheet"
    columns = finish(raw.columns, whens, instant=instant)
    placed = [
        place(row, places, len(columns))
        for grid, places in zip(raw.grids, raw.places, strict=True)
        for row in grid.rows
    ]
    columns = annual(facts.complete(columns, placed, kind=draft.kind), instant=instant)
    rows = _rows(placed, [column.label for column in columns], units, mark)
    spans = tuple(Span(lines[p.top].start, _end(lines, p)) for p in draft.pieces)
    headers = tuple(
        _header(span, grid, first=at == 0) for at, (span, grid) in enumerate(zip(spans, raw.grids, strict=True))
    )
    whole = Span(spans[0].start, spans[-1].end)
    return Statement(
        statement_type=draft.kind,
        basis=_basis(draft),
        title=draft.title.text,
        spans=spans,
        headers=headers,
        columns=tuple(columns),
        rows=tuple(rows),
        scale=units.scale,
        currency=currency,
        pages=page_map.range(whole) if page_map else None,
        primary=primary,
        closing_dates=_closing_dates(draft, rows),
    )


def _header(span: Span, grid: Grid, *, first: bool) -> Span:
    """Return the part above a piece's rows; a continuation page that names no columns has none of its own."""
    named = any(grid.labels) or any(read_mentions(grid.above[1:]))
    return Span(span.start, max(span.start, grid.header_end) if first or named else span.start)


def _end(lines: Sequence[Line], piece: Piece) -> int:
    last = piece.last - 1
    while last > piece.top and not lines[last].text:
        last -= 1
    return lines[last].end


def _basis(draft: Draft) -> str:
    known = words()
    if draft.parent:
        return "parent_only"
    if known.condensed.search(draft.title.letters):
        return "condensed"
    return "consolidated" if known.consolidated.search(draft.title.letters) else ""


def _closing_dates(draft: Draft, rows: Sequence[StatementRow]) -> tuple[int, ...]:
    if draft.kind != "equity":
        return ()
    found = [when.number for row in rows if row.total for when in read_mentions([row.label]).dates]
    return tuple(dict.fromkeys(found))


def _rows(flat: Sequence[GridRow], labels: Sequence[str], units: Units, mark: str) -> list[StatementRow]:
    """Turn grid rows into rows with values; groups that are open give the rows below their context."""
    steps = sorted({row.indent for row in flat})
    numbers = [[parse_number(cell[0], decimal=mark) if cell else None for cell in row.cells] for row in flat]
    whole = mostly_whole([n.decimals for parsed in numbers for n in parsed if n is not None and n.kind != "nil"])
    counts = [units.kind == "equity" and is_share_column(label) for label in labels]
    counted = [
        (n.value, n.decimals) for parsed in numbers for n, c in zip(parsed, counts, strict=True) if c and n is not None
    ]
    if units.too_many(counted, units.shares):
        units = replace(units, shares=1)
    rows: list[StatementRow] = []
    open_groups: list[tuple[int, str]] = []
    unindented = len(steps) == 1
    for row, parsed in zip(flat, numbers, strict=True):
        level = 0 if unindented else min(steps.index(row.indent), _MOST_LEVELS)
        group = not any(row.cells)
        if not any(parsed):
            units = unit_row(row.label, units) or units
        total = not group and (not row.label or words().totals.search(squeeze(row.label)) is not None)
        open_groups = _close(open_groups, level, unindented=unindented, closes=group or total)
        path = tuple(label for _, label in open_groups)
        figures = [(n.value, n.decimals) for n in parsed if n is not None and n.kind != "nil"]
        unit = units.of_row(row.label, path, figures, whole=whole)
        shown = level + (len(path) if unindented else 0)
        rows.append(_row(row, parsed, (shown, path, total), unit, [units.shares if c else unit[0] for c in counts]))
        if group:
            open_groups = [*open_groups, (level, row.label)]
    return rows


def _close(groups: list[tuple[int, str]], level: int, *, unindented: bool, closes: bool) -> list[tuple[int, str]]:
    """Return the groups that a row still belongs to."""
    if unindented:
        return [] if closes else groups[-1:]
    return [one for one in groups if one[0] < level or (one[0] == level and not closes)][-_MOST_LEVELS:]


def _row(
    row: GridRow,
    parsed: Sequence[Number | None],
    place: tuple[int, tuple[str, ...], bool],
    unit: tuple[int, str],
    scales: Sequence[int],
) -> StatementRow:
    level, path, total = place
    mention = _NOTE.search(row.label)
    return StatementRow(
        label=row.label,
        values=tuple(_value(number, scale) for number, scale in zip(parsed, scales, strict=True)),
        span=row.span,
        label_span=row.label_span,
        value_spans=tuple(cell[1] if cell else None for cell in row.cells),
        level=level,
        path=path,
        note=row.note or (mention[1] if mention else ""),
        total=total,
        scale=unit[0],
        currency=unit[1],
        placed=row.placed,
    )


def _value(number: Number | None, scale: int) -> Decimal | None:
    if number is None or number.kind == "nil":
        return None
    if number.percent or number.scale != 1:
        return number.value
    return number.value * scale
