"""Rows of tables as records: label, level, values with their unit, and the notes that they cite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fin_rag.schema import Block, Span
from fin_rag.structure.cells import clean
from fin_rag.structure.layout import is_pipe_separator
from fin_rag.structure.lines import plain, split_lines
from fin_rag.structure.notes.model import Note, Notes
from fin_rag.structure.notes.places import note_row
from fin_rag.structure.notes.vocabulary import note_words
from fin_rag.structure.tables import Table, TableRow, table_rows
from fin_rag.text.numbers import decimal_mark, parse_number

_PERIOD: Final = re.compile(
    r"(?<!\d)(?:\d{1,2}[./-]\d{1,2}[./-](?:(?:19|20)\d{2}|\d{2})"
    r"|(?:(?:FY|[1-4][QTSH]|[QTSH][1-4])[ -]?)?(?:19|20)\d{2}(?:[/-](?:19|20)?\d{2}(?!\d))?[eEpP]?)"
)
_MARKS: Final = re.compile(
    r"(?:\s?(?:\\?\((?:\d{1,2}|[a-z]|\\?\*{1,4}|[†‡§]+)\\?\)|\\?\[\^?\w{1,4}\\?\]|(?:\\?\*){1,4}|[¹²³⁰⁴-⁹]+|[†‡]+))+\s*$"
)
_SIGNED: Final = re.compile(r"[-−–+(]?\s?[$€£]?\s?\d")
_INDENT_ENTITY: Final = re.compile(r"(?:&nbsp;|&emsp;|&ensp;)+")
_LONGEST_VOTE: Final = 20_000  # code points of a table that settle its decimal mark
_SCALE_WORDS: Final = {
    "en": {1_000: "thousand", 1_000_000: "million", 1_000_000_000: "billion"},
    "es": {1_000: "miles", 1_000_000: "millones", 1_000_000_000: "miles de millones"},
}


@dataclass(frozen=True, slots=True)
class RowValue:
    """Hold one cell of a row.

    ``column`` is the column's label without note markers, ``period`` the date, year or quarter in it, or
    ``""``. ``printed`` is the cell as printed; ``value`` the printed figure (sign applied, not scaled), or
    ``None`` where the cell holds none; ``currency`` and ``scale`` are the cell's own, its row's, its column's
    or its table's. ``notes`` are the notes that the cell or its column's label cites.
    """

    column: str
    period: str
    printed: str
    value: Decimal | None
    currency: str
    scale: int
    span: Span
    notes: tuple[Note, ...] = ()

    @property
    def amount(self) -> Decimal | None:
        """Return the value times its scale."""
        return None if self.value is None else self.value * self.scale


@dataclass(frozen=True, slots=True)
class RowRecord:
    """Hold one data row of a table.

    ``label`` is without note markers. ``level`` counts from 0 by the row's indent; ``groups`` are the titles
    inside the table that the row stands under, outermost first. ``table`` is the table's index in the document
    (0-based), ``-1`` if it is not known. ``notes`` are those that the label, or the row's cell in a column of
    note numbers, cites.
    """

    label: str
    level: int
    groups: tuple[str, ...]
    values: tuple[RowValue, ...]
    span: Span
    table: int = -1
    title: str = ""
    notes: tuple[Note, ...] = ()


def rows_of(
    text: str, block: Block, *, notes: Notes | None = None, table: int = -1, lang: str | None = None
) -> list[RowRecord]:
    r"""Read the data rows of a table block; notes, sources and group titles are no rows.

    Args:
        text: the canonical text.
        block: a block of kind ``table``.
        notes: the document's notes, to tell which of them a row cites.
        table: the table's index in the document, as ``notes`` counts it.
        lang: the language, which settles figures such as ``1.204`` that two notations share.

    Example:
        >>> from fin_rag.structure.blocks import blocks
        >>> text = "| Miles de euros | 2031¹ |\n|---|---:|\n| Ventas | 1.204,5 |"
        >>> (row,) = rows_of(text, blocks(text)[0], lang="es")
        >>> row.label, row.values[0].period, row.values[0].amount, row.values[0].currency
        ('Ventas', '2031', Decimal('1204500.0'), 'EUR')
    """
    view = table_rows(text, block)
    return read_rows(text, view, block, notes=notes, table=table, lang=lang)


def read_rows(
    text: str, view: Table, block: Block, *, notes: Notes | None, table: int, lang: str | None
) -> list[RowRecord]:
    """Read the rows of a table that :func:`fin_rag.structure.tables.table_rows` has read; see :func:`rows_of`."""
    mark = decimal_mark(text[block.span.start : min(block.span.end, block.span.start + _LONGEST_VOTE)], lang=lang)
    labels = [without_marks(label) for label in view.header]
    heads = _header_notes(text, view, notes)
    indents = _levels(text, view.rows)
    records: list[RowRecord] = []
    groups: list[tuple[int, str]] = []
    for row, level in zip(view.rows, indents, strict=True):
        if row.kind == "note" or note_row(text, row):
            continue
        if row.kind == "group":
            groups = [g for g in groups if g[0] < level and level > 0] + [(level, without_marks(row.label))]
            continue
        values = tuple(
            _value(view, row, column, labels, heads, notes, mark)
            for column in range(len(row.cells))
            if not _names_notes(labels, column)
        )
        records.append(
            RowRecord(
                without_marks(row.label),
                level,
                tuple(title for _, title in groups),
                values,
                row.span,
                table,
                view.title,
                _row_notes(row, labels, notes),
            )
        )
    return records


def without_marks(label: str) -> str:
    r"""Return a label or a cell without the note markers at its end.

    Example:
        >>> without_marks("Ebitda²"), without_marks(r"2031\*"), without_marks("Norte (1)(2)"), without_marks("CO2")
        ('Ebitda', '2031', 'Norte', 'CO2')
    """
    bare = _MARKS.sub("", label)
    return bare if bare else label


def _names_notes(labels: Sequence[str], column: int) -> bool:
    return column + 1 < len(labels) and plain(labels[column + 1]).casefold() in note_words()["note_columns"]


def _value(
    view: Table,
    row: TableRow,
    column: int,
    labels: Sequence[str],
    heads: dict[str, tuple[Note, ...]],
    notes: Notes | None,
    mark: str,
) -> RowValue:
    printed = row.cells[column]
    label = labels[column + 1] if column + 1 < len(labels) else ""
    figure = parse_number(printed, decimal=mark) or parse_number(without_marks(printed), decimal=mark)
    currency, scale = view.unit(row, column)
    period = _PERIOD.search(label)
    span = row.cell_spans[column]
    own = notes.notes_of(span) if notes else ()
    head = heads.get(view.header[column + 1], ()) if column + 1 < len(view.header) else ()
    if figure is not None and figure.scale != 1:
        scale = 1  # the cell says its own scale, and the value has it
    if figure is not None and figure.currency:
        currency = figure.currency
    return RowValue(
        label,
        period[0] if period else "",
        printed,
        figure.value if figure else None,
        currency,
        scale,
        span,
        (*own, *(note for note in head if note not in own)),
    )


def _row_notes(row: TableRow, labels: Sequence[str], notes: Notes | None) -> tuple[Note, ...]:
    """Return the notes of a row's label and of its cell in a column of note numbers."""
    if notes is None:
        return ()
    spans = [row.label_span]
    spans += [span for column, span in enumerate(row.cell_spans) if _names_notes(labels, column)]
    found = [note for span in spans for kind in ("footnote", "account") for note in notes.notes_of(span, kind)]
    return tuple(dict.fromkeys(found))


def _header_notes(text: str, view: Table, notes: Notes | None) -> dict[str, tuple[Note, ...]]:
    """Return the notes that each column's label cites, by the label."""
    if notes is None or view.header_span is None:
        return {}
    found: dict[str, tuple[Note, ...]] = {}
    joins = [join for join in notes.joins_in(view.header_span) if join.marker.where == "header"]
    for join in joins:
        head = clean(join.marker.anchor.slice(text))
        for label in view.header[1:]:
            if head and head in label and join.note not in found.get(label, ()):
                found[label] = (*found.get(label, ()), join.note)
    return found


def _levels(text: str, rows: Sequence[TableRow]) -> list[int]:
    """Return each row's level: its indent's rank among the indents of the table."""
    indents = []
    for row in rows:
        edge = row.label_span.start
        while edge > row.span.start and text[edge - 1] in " \t\u00a0\u2003\u2002":
            edge -= 1
        if edge == row.span.start:
            line = text.rfind("\n", 0, edge) + 1
            edge = line if not text[line:edge].strip() else edge
        entity = _INDENT_ENTITY.match(text, row.label_span.start, row.label_span.end)
        indents.append(row.label_span.start - edge + (len(entity[0]) // 3 if entity else 0))
    ranks = {indent: rank for rank, indent in enumerate(sorted(set(indents)))}
    return [ranks[indent] for indent in indents]


# --- rows in words --------------------------------------------------------------------------------


def linear_row(record: RowRecord, *, lang: str = "en") -> str:
    """Write a row as one line: ``Label: column = value currency scale; ...``, group titles in front.

    Example:
        >>> value = RowValue("2031", "2031", "1,204", Decimal(1204), "EUR", 1000, Span(0, 5))
        >>> linear_row(RowRecord("Sales", 0, ("Spain",), (value,), Span(0, 9)))
        'Spain > Sales: 2031 = 1,204 EUR thousand'
    """
    words = _SCALE_WORDS["es" if lang.startswith("es") else "en"]
    parts = []
    for value in record.values:
        if not value.printed:
            continue
        unit = ""
        if value.value is not None and _SIGNED.match(value.printed):
            scale = words.get(value.scale, "") if value.scale != 1 else ""
            stated = value.currency if value.currency and value.currency not in value.printed else ""
            unit = "".join(f" {part}" for part in (stated, scale) if part)
        parts.append(f"{value.column} = {value.printed}{unit}" if value.column else f"{value.printed}{unit}")
    label = " > ".join(part for part in (*record.groups, record.label) if part)
    if not parts:
        return label
    return f"{label}: {'; '.join(parts)}" if label else "; ".join(parts)


class LinearTables:
    """Write spans of a text with the rows of its tables in words; the spans themselves stay as they are.

    Column heads are left out, since every row names its columns; titles and unit lines stay. A row that a span
    cuts through is left as printed.

    Args:
        text: the canonical text.
        tables: each table's block, its reading, and its rows.
        lang: the language of the scale words.
    """

    def __init__(
        self, text: str, tables: Sequence[tuple[Block, Table, Sequence[RowRecord]]], *, lang: str = "en"
    ) -> None:
        self._text = text
        self._edits: list[tuple[int, int, str]] = []
        for block, view, records in tables:
            if records:
                self._edits += _edits(text, block, view, records, lang)
        self._edits.sort()
        self._starts = [start for start, _, _ in self._edits]

    def render(self, span: Span) -> str:
        """Return the text of a span with table rows in words; nothing for column heads alone."""
        parts: list[str] = []
        at, edited = span.start, False
        low = _first_at(self._starts, span.start)
        for start, end, words in self._edits[low:]:
            if start >= span.end:
                break
            if end > span.end:
                continue
            parts += [self._text[at:start], words]
            at, edited = end, True
        if not edited:
            return span.slice(self._text)
        parts.append(self._text[at : span.end])
        lines = [line.strip() for line in "".join(parts).split("\n")]
        kept = [line for i, line in enumerate(lines) if line or (i and lines[i - 1] and i + 1 < len(lines))]
        return "\n".join(kept).strip("\n")


def _first_at(starts: Sequence[int], offset: int) -> int:
    low, high = 0, len(starts)
    while low < high:
        middle = (low + high) // 2
        if starts[middle] < offset:
            low = middle + 1
        else:
            high = middle
    return low


def _edits(text: str, block: Block, view: Table, records: Sequence[RowRecord], lang: str) -> list[tuple[int, int, str]]:
    """Return what to write in place of each part of a table."""
    edits: list[tuple[int, int, str]] = []
    words = {record.span.start: linear_row(record, lang=lang) for record in records}
    for row in view.rows:
        if row.span.start in words:
            edits.append((row.span.start, row.span.end, words[row.span.start]))
        elif row.kind == "group":
            edits.append((row.span.start, row.span.end, ""))
    columns = [label for label in view.header[1:] if label]
    if block.header and columns:
        for line in split_lines(text, block.header):
            bare = "|" in line.text or line.text.startswith("<")
            if line.text and (bare or is_pipe_separator(line.text)):
                edits.append((line.start, line.end, ""))
    elif not block.header:
        lines = split_lines(text, block.span)
        edits += [(line.start, line.end, "") for line in lines if is_pipe_separator(line.text)]
    return edits
