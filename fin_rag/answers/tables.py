"""Cells of tables as figures with label, column period and unit; also rows of pages whose layout was lost."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.answers.flatrows import FlatRow, flat_rows
from fin_rag.answers.vocabulary import phrases
from fin_rag.answers.when import When, read_periods
from fin_rag.schema import CURRENCY, SCALE, Block, Span
from fin_rag.structure.blocks import blocks
from fin_rag.structure.lines import split_lines
from fin_rag.structure.rows import read_rows, without_marks
from fin_rag.structure.tables import Table, table_rows
from fin_rag.structure.units import is_per_share, is_unit_line, unit_of
from fin_rag.text.numbers import Number, decimal_mark, parse_number

_LONGEST_VOTE: Final = 20_000
_PERCENT: Final = re.compile(
    r"%|\bper ?cent(?:age)?\b|\bporcentaje\b|\bpct\b|\bmargin\b|\bmargen\b|\btipo efectivo\b|"
    r"\beffective (?:tax )?rate\b",
    re.IGNORECASE,
)
_PERCENT_HEAD: Final = re.compile(r"%|\bper ?cent(?:age)?\b|\bporcentaje\b|\bpct\b", re.IGNORECASE)
_POINTS: Final = re.compile(r"\bpp\b|p\.p\.|\bpoints?\b|\bpuntos\b|\bbps?\b|\bpb\b", re.IGNORECASE)
_CHANGE: Final = re.compile(
    r"chang|variaci|\bvar\b|\bvar\.|increase|decrease|growth|\bvs\b|\bvs\.|crecimiento|diferenc|δ|interanual|y/y|"
    r"yoy|better|worse",
    re.IGNORECASE,
)
_COUNTS: Final = re.compile(
    r"\bshares?\b|\bacciones\b|\bemployees\b|\bempleados\b|\bstores\b|\btiendas\b|\bpersonas\b|\bplantilla\b|"
    r"\bmw\b|\bgwh\b|\bunits\b|\bveces\b|\bratio\b|\bdays\b|\bdías\b",
    re.IGNORECASE,
)
_NO_UNIT: Final = (1, 1_000, 1_000_000)
_CARRY: Final = 3_000  # code points over which a table goes on without its head


@dataclass(frozen=True, slots=True)
class Cell:
    """Hold one figure of a table."""

    span: Span
    number: Number
    label: str
    groups: str
    whens: tuple[When, ...]
    unit: str
    currency: str
    scales: tuple[int, ...]
    row: int
    column: int
    change: bool


@dataclass(frozen=True, slots=True)
class Tables:
    """Hold the cells of a text, the number of their rows, and the bounds of what is running text.

    ``scales`` are the factors that a figure without any unit may need: 1, and what the text's unit lines name.
    """

    cells: tuple[Cell, ...]
    rows: int
    prose: tuple[tuple[int, int], ...]
    scales: tuple[int, ...]


@dataclass(slots=True)
class _Head:
    """Hold the columns of the last table, for one that goes on without a head of its own."""

    whens: tuple[tuple[When, ...], ...] = ()
    end: int = -_CARRY
    scale: int = 0
    currency: str = ""


def read_tables(text: str, metadata: Mapping[str, object], *, lang: str | None, numbers: Sequence[Number]) -> Tables:
    """Read all tables of a text; see :class:`Tables`."""
    found = blocks(text)
    stated = _stated_units(text, metadata, found)
    cells: list[Cell] = []
    prose: list[tuple[int, int]] = []
    head = _Head()
    rows = 0
    for block in _regions(found):
        if block.kind == "table":
            got, used, head = _table(text, block, lang, stated, head, rows)
            cells += got
            rows += used
            prose += _labels(text, block, got) if got else [(block.span.start, block.span.end)]
            continue
        flat = flat_rows(text, block.span, numbers)
        got, used, head = _flat(flat, stated, head, rows)
        cells += got
        rows += used
        prose += _between(block.span, [one.span for one in flat])
    named = tuple(sorted({1, *(scale for _, scale, _ in stated)}))
    return Tables(tuple(cells), rows, tuple(prose), named if len(named) > 1 else (1,))


def _regions(found: Sequence[Block]) -> Iterator[Block]:
    """Yield the tables, and what lies between them as one block each: lost rows run over blank lines."""
    start = end = -1
    for block in found:
        if block.kind != "table":
            start, end = (block.span.start if start < 0 else start), block.span.end
            continue
        if start >= 0:
            yield Block("prose", Span(start, end))
            start = -1
        yield block
    if start >= 0:
        yield Block("prose", Span(start, end))


def _stated_units(text: str, metadata: Mapping[str, object], found: Sequence[Block]) -> list[tuple[int, int, str]]:
    """Return the unit lines of a text as ``(offset, scale, currency)``; a chunk's own metadata count from its start."""
    stated: list[tuple[int, int, str]] = []
    scale = metadata.get(SCALE)
    if isinstance(scale, int) and scale > 1:
        stated.append((-1, scale, str(metadata.get(CURRENCY) or "")))
    for block in found:
        for line in split_lines(text, block.span):
            if 0 < len(line.text) <= 240 and ("(" in line.text or is_unit_line(line.text)):
                unit = unit_of(line.text)
                if unit and unit[1] > 1:
                    stated.append((line.start, unit[1], unit[0]))
    # A sentence such as "amounts are in millions" holds for what follows it.
    for match in phrases("unit_phrases").finditer(text):
        low = match[0].lower()
        size = 10**9 if "billion" in low else 10**6 if "mill" in low or low.endswith("m") else 1000
        stated.append((match.start(), size, ""))
    return sorted(stated)


def _unit_at(stated: Sequence[tuple[int, int, str]], offset: int) -> tuple[int, str]:
    """Return scale and currency of the last unit line before a place, ``(0, "")`` if there is none."""
    at = bisect_right(stated, offset, key=lambda one: one[0]) - 1
    return (stated[at][1], stated[at][2]) if at >= 0 else (0, "")


def _table(
    text: str, block: Block, lang: str | None, stated: list[tuple[int, int, str]], head: _Head, first_row: int
) -> tuple[list[Cell], int, _Head]:
    view = table_rows(text, block)
    mark = decimal_mark(text[block.span.start : min(block.span.end, block.span.start + _LONGEST_VOTE)], lang=lang)
    records = read_rows(text, view, block, notes=None, table=-1, lang=lang)
    widest = max(records, key=lambda record: len(record.values), default=None)
    columns = len(widest.values) if widest else 0
    whens = _column_periods(view, [value.column for value in widest.values] if widest else [])
    if not any(whens) and len(head.whens) == columns and block.span.start - head.end <= _CARRY:
        whens = head.whens
    elif not any(whens):
        whens = _periods_above(text, block, columns) or whens
    scales, currency = _scales(view, stated, block)
    cells = []
    for number, record in enumerate(records):
        label_whens = tuple(one for one in read_periods(record.label) if one.year)
        for column, value in enumerate(record.values):
            figure = parse_number(value.printed, decimal=mark) or parse_number(
                without_marks(value.printed), decimal=mark
            )
            if figure is None or figure.kind not in ("amount", "nil", "year", "label"):
                continue
            at = Span(value.span.start + figure.span.start, value.span.start + figure.span.end)
            cell = _cell(record.label, value.column, figure, at, whens, column, (scales, currency or value.currency))
            own = _own_unit(record.label, value.scale if view.scale != value.scale else 0)
            cells.append(
                replace(
                    cell, groups=" ".join([*record.groups, view.title]), row=first_row + number,
                    whens=cell.whens or label_whens, scales=own or cell.scales,
                    currency=figure.currency or cell.currency,
                )
            )  # fmt: skip
    state = _Head(whens, block.span.end, scales[0] if len(scales) == 1 else 0, currency) if any(whens) else head
    return cells, len(records), state


def _own_unit(label: str, scale: int) -> tuple[int, ...]:
    if is_per_share(label):
        return (1,)
    return (scale,) if scale else ()


def _cell(
    label: str,
    column: str,
    figure: Number,
    span: Span,
    whens: Sequence[tuple[When, ...]],
    at: int,
    unit: tuple[tuple[int, ...], str],
) -> Cell:
    """Return one cell; percentages, ratios and values per share are never scaled."""
    kind = figure.unit
    change = bool(_CHANGE.search(column)) or (bool(_CHANGE.search(label)) and bool(kind))
    if not kind and (_PERCENT_HEAD.search(column) or (_PERCENT.search(label) and not figure.currency)):
        kind = "pp" if _POINTS.search(column) else "%"
    elif kind == "%" and change and _POINTS.search(column):
        kind = "pp"
    scales, currency = unit
    if kind or figure.scale != 1 or is_per_share(label) or is_per_share(column):
        scales = (1,)
    elif _COUNTS.search(label) and 1 not in scales:
        scales = (*scales, 1)
    own = whens[at] if at < len(whens) else ()
    return Cell(span, figure, label, "", own, kind, "" if kind else currency, scales, -1, at, change)


def _column_periods(view: Table, labels: Sequence[str]) -> tuple[tuple[When, ...], ...]:
    """Return the periods of each column; a head that only names a year takes day and length from the title."""
    found = [tuple(one for one in read_periods(label) if one.year) for label in labels]
    base = next((one for whens in found for one in whens if one.month or one.months), None)
    if base is None:
        base = next((one for one in read_periods(view.title) if one.months or one.month), None)
    if base is None:
        return tuple(found)
    return tuple(
        tuple(_completed(one, base) for one in whens) for whens in found
    )  # fmt: skip


def _completed(one: When, base: When) -> When:
    if one.month or one.part:
        return one
    return replace(one, month=base.month, day=base.day, months=one.months or base.months)


def _periods_above(text: str, block: Block, columns: int) -> tuple[tuple[When, ...], ...]:
    """Return the periods of the line above a table that names as many as it has columns."""
    if columns == 0:
        return ()
    above = text[max(0, block.span.start - 400) : block.span.start].splitlines()
    for line in reversed([one for one in above if one.strip()][-4:]):
        whens = [one for one in read_periods(line) if one.year]
        if len(whens) == columns:
            return tuple((one,) for one in whens)
    return ()


def _scales(view: Table, stated: list[tuple[int, int, str]], block: Block) -> tuple[tuple[int, ...], str]:
    """Return the factor of a table, or all that may apply where neither it nor the text above says."""
    if view.unit_span is not None:
        return (view.scale,), view.currency
    above, currency = _unit_at(stated, block.span.end)
    if above:
        return (above, 1), view.currency or currency
    return _NO_UNIT, view.currency


def _labels(text: str, block: Block, cells: Sequence[Cell]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a table that are no figure cells: titles, labels, notes."""
    at = block.span.start
    for cell in cells:
        if cell.span.start > at and text[at : cell.span.start].strip(" |\n$€£-"):
            yield at, cell.span.start
        at = max(at, cell.span.end)
    if text[at : block.span.end].strip(" |\n"):
        yield at, block.span.end


def _flat(
    rows: Sequence[FlatRow], stated: list[tuple[int, int, str]], head: _Head, first_row: int
) -> tuple[list[Cell], int, _Head]:
    cells: list[Cell] = []
    for number, row in enumerate(rows):
        if row.head:
            head = _Head(tuple((one,) for one in row.head), row.span.end, head.scale, head.currency)
            continue
        whens = head.whens if len(head.whens) == len(row.cells) and row.span.start - head.end <= _CARRY else ()
        scale, currency = _unit_at(stated, row.span.start)
        scales = (scale,) if scale else _NO_UNIT
        if whens:
            head.end = row.span.end
        for column, (span, figure) in enumerate(row.cells):
            cell = _cell(row.label, "", figure, span, whens, column, (scales, currency))
            own = _own_unit(row.label, 0)
            cells.append(
                replace(
                    cell, row=first_row + number, scales=own or cell.scales, currency=figure.currency or cell.currency,
                    whens=cell.whens or tuple(one for one in read_periods(row.label) if one.year),
                )
            )  # fmt: skip
    return cells, len(rows), head


def _between(span: Span, taken: Sequence[Span]) -> Iterator[tuple[int, int]]:
    at = span.start
    for one in taken:
        if one.start > at:
            yield at, one.start
        at = max(at, one.end)
    if at < span.end:
        yield at, span.end
