"""Tables read from the canonical text: title, unit, column labels and rows with their spans."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.schema import Block, Span
from fin_rag.structure.cells import clean, column_labels, is_value, pipe_cells
from fin_rag.structure.htmltables import html_caption, html_rows
from fin_rag.structure.layout import is_pipe_separator
from fin_rag.structure.lines import Line, note_mark, plain, split_lines, vocabulary
from fin_rag.structure.rowtypes import RawRow
from fin_rag.structure.textrows import text_heads, text_rows
from fin_rag.structure.units import is_per_share, is_unit_line, unit_of

__all__ = ["Table", "TableRow", "table_rows", "unit_of"]

_LEAD_IN: Final = 400  # code points above a table in which a sentence may state its unit
_TAGGED: Final = re.compile(r"<table\b", re.IGNORECASE)
_HTML_ROW: Final = re.compile(r"<tr\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableRow:
    """Hold one row: its label, its cells as printed, and where each stands in the canonical text.

    ``kind`` is ``data``, ``group`` (a title for the rows below, without figures) or ``note`` (a note or a
    source that was set as a row). ``currency`` and ``scale`` are those that the row itself states
    ("Shares (millions)", "per share"), else ``None``: then the column's or the table's apply.
    """

    label: str
    cells: tuple[str, ...]
    span: Span
    label_span: Span
    cell_spans: tuple[Span, ...]
    kind: str = "data"
    currency: str | None = None
    scale: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Hold a table that was read from a block.

    ``header`` names every column, the label column first; rows may have fewer cells than the header
    names columns. ``scale`` is the factor for printed figures, 1 where the table states none; ``currency``
    is an ISO 4217 code or ``""``. What stands between two rows (rules, tags) belongs to no row.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    currency: str = ""
    scale: int = 1
    header_span: Span | None = None
    unit_span: Span | None = None

    def unit(self, row: TableRow, column: int) -> tuple[str, int]:
        """Return currency and scale of a cell: the row's own unit, else the column's, else the table's.

        A row stated per share is never scaled; a percentage has neither currency nor scale.

        Args:
            row: one of the table's rows.
            column: index into ``row.cells``.
        """
        cell = row.cells[column] if column < len(row.cells) else ""
        label = self.header[column + 1] if column + 1 < len(self.header) else ""
        if "%" in cell or "%" in label:
            return "", 1
        if row.scale is not None:
            return row.currency or self.currency if is_per_share(row.label) else row.currency or "", row.scale
        unit = unit_of(label)
        return (unit[0] or self.currency, unit[1]) if unit else (self.currency, self.scale)


def table_rows(text: str, block: Block) -> Table:
    r"""Read a table block into column labels and rows.

    Args:
        text: the canonical text that the block's spans index.
        block: a block of kind ``table`` from :func:`fin_rag.structure.blocks.blocks`.

    Example:
        >>> from fin_rag.structure.blocks import blocks
        >>> text = "Deuda (miles de euros)\n| | 2024 |\n|---|---|\n| Bancos | 1.250 |"
        >>> table = table_rows(text, blocks(text)[0])
        >>> table.title, table.header, table.scale, table.rows[0].cells
        ('Deuda (miles de euros)', ('', '2024'), 1000, ('1.250',))
    """
    lines = [line for line in split_lines(text, block.span) if line.text]
    header_end = block.header.end if block.header else block.span.start
    above = [line for line in lines if line.end <= header_end]
    below = [line for line in lines if line.end > header_end]
    body = block.span.slice(text)
    titles: list[Line]
    heads: Sequence[Sequence[str]]
    if _TAGGED.search(body) and _HTML_ROW.search(body):
        titles = [line for line in above if not line.text.startswith("<")]
        heads, raw = html_rows(text, block.span, header_end)
        return _table(text, block, titles, heads, raw, caption=html_caption(text, block.span))
    if any("|" in line.text for line in lines):
        piped = [line for line in above if "|" in line.text]
        titles = above[: len(above) - len(piped)]
        heads = [_texts(line) for line in piped if not is_pipe_separator(line.text)]
        raw = [_pipe_row(line) for line in below if not is_pipe_separator(line.text)]
    else:
        raw, edges = text_rows(below)
        titles, heads = text_heads(above, edges)
        return _table(text, block, titles, heads, raw, fill=False)
    return _table(text, block, titles, heads, raw)


def _texts(line: Line) -> list[str]:
    return [clean(line.text[a:b]) for a, b in pipe_cells(line.text)]


def _pipe_row(line: Line) -> RawRow:
    spans = [Span(line.start + a, line.start + b) for a, b in pipe_cells(line.text)]
    texts = _texts(line)
    return RawRow(Span(line.start, line.end), spans[0], texts[0], tuple(spans[1:]), tuple(texts[1:]))


def _table(
    text: str,
    block: Block,
    titles: Sequence[Line],
    heads: Sequence[Sequence[str]],
    raw: Sequence[RawRow],
    *,
    fill: bool = True,
    caption: str = "",
) -> Table:
    width = max([len(row.cells) + 1 for row in raw] + [len(cells) for cells in heads], default=0)
    header = column_labels(heads, width, fill=fill)
    unit, unit_span = _unit(text, block, titles, heads, caption)
    parts = [plain(line.text) for line in titles if not is_unit_line(line.text)]
    title = " ".join(part for part in (*parts, caption) if part)
    rows = tuple(_row(row) for row in raw)
    return Table(title, header, rows, unit[0], unit[1], block.header, unit_span)


def _unit(
    text: str, block: Block, titles: Sequence[Line], heads: Sequence[Sequence[str]], caption: str
) -> tuple[tuple[str, int], Span | None]:
    """Return the table's unit: its unit line, its corner cell, its title, else the sentence that leads in."""
    for line in sorted(titles, key=lambda line: not is_unit_line(line.text)):
        unit = unit_of(plain(line.text))
        if unit:
            return unit, Span(line.start, line.end)
    stated = unit_of(caption)
    if stated:
        return stated, block.header
    for cells in heads:
        unit = unit_of(cells[0]) if cells else None
        if unit:
            return unit, block.header
    labelled = [unit_of(cell) for cells in heads for cell in cells[1:] if cell]
    shared = {unit for unit in labelled if unit}
    if len(shared) == 1 and len([unit for unit in labelled if unit]) > 1:
        return shared.pop(), block.header
    lead_in = split_lines(text, Span(max(0, block.span.start - _LEAD_IN), block.span.start))
    for line in [line for line in reversed(lead_in) if line.text][:1]:
        unit = unit_of(line.text[-200:])
        if unit and line.text.endswith((":", ")")):
            return unit, Span(line.start, line.end)
    return ("", 1), None


def _row(row: RawRow) -> TableRow:
    kind = _row_kind(row)
    currency: str | None = None
    scale: int | None = None
    if kind == "data":
        own = unit_of(row.label) if "(" in row.label else None
        if is_per_share(row.label):
            currency, scale = (own[0] if own else ""), 1
        elif own:
            currency, scale = own
    return TableRow(row.label, row.cells, row.span, row.label_span, row.cell_spans, kind, currency, scale)


def _row_kind(row: RawRow) -> str:
    if any(row.cells):
        return "data"
    first = row.label.split(" ", 1)[0].rstrip(":.").lower()
    source = ":" in row.label[:12] and first in vocabulary()["source_words"]
    if source or (note_mark(row.label) and len(row.label.split()) > 1):
        return "note"
    return "data" if len(row.cells) == 0 and is_value(row.label) else "group"
