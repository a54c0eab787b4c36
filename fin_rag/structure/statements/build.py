"""Build a statement from its draft: periods, units, levels and values."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from fin_rag.schema import PageMap, Span
from fin_rag.structure.lines import Line
from fin_rag.structure.statements.body import Draft, Piece
from fin_rag.structure.statements.columns import Column, by_labels, by_order, finish
from fin_rag.structure.statements.grid import Grid, GridRow, read_piece
from fin_rag.structure.statements.model import Statement, StatementRow
from fin_rag.structure.statements.periods import Mentions, read_mentions
from fin_rag.structure.statements.scales import Units, looks_per_share, read_units, symbol_currency
from fin_rag.structure.statements.vocabulary import squeeze, words
from fin_rag.text.numbers import Number, decimal_mark, parse_number

_NOTE: Final = re.compile(
    r"\(\s?(?:see\s)?(?:notes?|notas?)\s{1,2}(\d{1,2}[A-Z]?(?:(?:\.\d)|(?:\s?(?:,|and|y|&|-|to)\s?\d{1,2}[A-Z]?)){0,6})\s?\)", re.IGNORECASE
)
_SPANISH: Final = re.compile(r"estado|cuenta|balancede|balancegeneral|situacion|patrimonio|activo")
_INDENT_STEP: Final = 2
_MOST_LEVELS: Final = 8


class Raw(NamedTuple):
    """Hold what was read of a statement before the periods of all statements are known."""

    draft: Draft
    grids: tuple[Grid, ...]
    columns: tuple[Column, ...]
    units: Units


def read_draft(draft: Draft, lines: Sequence[Line]) -> Raw:
    """Read the grids, columns and unit of a draft."""
    grids = tuple(read_piece(lines, piece) for piece in draft.pieces)
    main = max(grids, key=lambda grid: len(grid.rows))
    above = [draft.title.text, *main.above]
    title = read_mentions(above)
    columns: Sequence[Column] = ()
    for grid in (grids[0], main):
        columns = _columns(grid, title, draft)
        if any(column.when.year for column in columns):
            break
    heads = [*above, *main.others, *main.labels, *grids[0].above]
    return Raw(draft, grids, tuple(columns), read_units([head for head in heads if head]))


def _columns(grid: Grid, title: Mentions, draft: Draft) -> list[Column]:
    if grid.aligned:
        components = draft.kind == "equity" and not any(read_mentions([label]).years or read_mentions([label]).dates for label in grid.labels)
        if components:
            return [Column(label, (by_order([label], title, title)[0].when)._replace(year=0), 0) for label in grid.labels]
        return by_labels(grid.labels, title, grid.others)
    if draft.kind == "equity" and len(grid.labels) > 3:
        return [Column("", title_when._replace(year=0), 0) for title_when in [by_order([""], title, title)[0].when] * len(grid.labels)]
    return by_order(grid.labels, read_mentions(grid.above[1:] or grid.above), title)


def closing_days(raws: Sequence[Raw]) -> dict[int, tuple[int, int]]:
    """Return for each year the day (month, day) on which the statements' periods end most often."""
    counts: dict[int, Counter[tuple[int, int]]] = {}
    for raw in raws:
        for column in raw.columns:
            if column.when.number:
                counts.setdefault(column.when.year, Counter())[(column.when.month, column.when.day)] += 1
    known = {year: max(days, key=lambda day: (days[day], day)) for year, days in counts.items()}
    return known


def build(
    raw: Raw, lines: Sequence[Line], page_map: PageMap | None, days: dict[int, tuple[int, int]], *, primary: bool
) -> Statement:
    """Return the statement that a draft stands for."""
    draft = raw.draft
    text = " ".join(row.label for grid in raw.grids for row in grid.rows[:40])
    cells = [cell[0] for grid in raw.grids for row in grid.rows for cell in row.cells if cell]
    lang = "es" if _SPANISH.search(squeeze(f"{draft.title.text} {text[:400]}")) else None
    mark = decimal_mark(" ".join(cells[:400]), lang=lang)
    currency = raw.units.currency or symbol_currency(" ".join(cells[:400]))
    units = Units(currency, raw.units.scale, raw.units.shares)
    columns = finish(raw.columns, days, instant=draft.kind == "balance_sheet")
    rows = _rows(raw.grids, len(columns), units, mark)
    spans = tuple(Span(lines[p.top].start, _end(lines, p)) for p in draft.pieces)
    headers = tuple(
        Span(span.start, max(span.start, grid.header_end)) for span, grid in zip(spans, raw.grids, strict=True)
    )
    whole = Span(spans[0].start, spans[-1].end)
    return Statement(
        statement_type=draft.kind,
        scope=_scope(draft),
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


def _end(lines: Sequence[Line], piece: Piece) -> int:
    last = piece.last - 1
    while last > piece.top and not lines[last].text:
        last -= 1
    return lines[last].end


def _scope(draft: Draft) -> str:
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


def _rows(grids: Sequence[Grid], count: int, units: Units, mark: str) -> list[StatementRow]:
    """Turn grid rows into rows with values; groups that are open give the rows below their context."""
    flat = [row for grid in grids for row in grid.rows]
    steps = sorted({row.indent for row in flat})
    numbers = [_numbers(row, count, mark) for row in flat]
    whole = _mostly_whole(numbers)
    rows: list[StatementRow] = []
    open_groups: list[tuple[int, str]] = []
    for row, parsed in zip(flat, numbers, strict=True):
        level = min(steps.index(row.indent), _MOST_LEVELS) if len(steps) > 1 else 0
        flat_text = len(steps) == 1
        group = not any(row.cells)
        total = not group and words().totals.search(squeeze(row.label)) is not None
        open_groups = _close(open_groups, level, flat=flat_text, group=group, total=total)
        path = tuple(label for _, label in open_groups)
        rows.append(_row(row, parsed, level + (len(path) if flat_text else 0), path, units, total=total, whole=whole, count=count))
        if group:
            open_groups = [*open_groups, (level, row.label)]
    return rows


def _close(
    groups: list[tuple[int, str]], level: int, *, flat: bool, group: bool, total: bool
) -> list[tuple[int, str]]:
    """Return the groups that a row still belongs to."""
    if not flat:
        return [one for one in groups if one[0] < level or (one[0] == level and not group and not total)][-_MOST_LEVELS:]
    return [] if group or total else groups[-1:]


def _numbers(row: GridRow, count: int, mark: str) -> list[Number | None]:
    cells = [*row.cells, *([None] * (count - len(row.cells)))][:count]
    return [parse_number(cell[0], decimal=mark) if cell else None for cell in cells]


def _mostly_whole(numbers: Sequence[Sequence[Number | None]]) -> bool:
    found = [number for row in numbers for number in row if number is not None and number.kind != "nil"]
    return bool(found) and sum(number.decimals == 0 for number in found) >= 0.6 * len(found)


def _row(
    row: GridRow,
    parsed: Sequence[Number | None],
    level: int,
    path: tuple[str, ...],
    units: Units,
    *,
    total: bool,
    whole: bool,
    count: int,
) -> StatementRow:
    figures = [n for n in parsed if n is not None and n.kind != "nil"]
    scale, currency = units.of_row(row.label, path, [n.value for n in figures])
    if scale > 1 and looks_per_share([(n.value, n.decimals) for n in figures], whole=whole):
        scale = 1
    note = row.note
    mention = _NOTE.search(row.label)
    if not note and mention:
        note = mention[1]
    cells = [*row.cells, *([None] * (count - len(row.cells)))][:count]
    return StatementRow(
        label=row.label,
        values=tuple(_value(number, scale) for number in parsed),
        span=row.span,
        label_span=row.label_span,
        value_spans=tuple(cell[1] if cell else None for cell in cells),
        level=level,
        path=path,
        note=note,
        total=total,
        scale=scale,
        currency=currency,
        placed=row.placed,
    )


def _value(number: Number | None, scale: int) -> Decimal | None:
    if number is None or number.kind == "nil":
        return None
    if number.percent or number.scale != 1:
        return number.value
    return number.value * scale
