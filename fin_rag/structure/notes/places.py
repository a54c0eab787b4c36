"""Places where a marker can stand: header cells, labels, cells, titles and prose, with their spans."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from fin_rag.schema import Block, Span
from fin_rag.structure.cells import pipe_cells
from fin_rag.structure.layout import atx, is_pipe_separator
from fin_rag.structure.lines import is_sentence, plain, split_lines
from fin_rag.structure.notes.marks import Opening, opening_of
from fin_rag.structure.notes.vocabulary import note_words
from fin_rag.structure.tables import Table, TableRow, table_rows

_TAG: Final = re.compile(r"<[^<>]*>")
_INLINE: Final = re.compile(r"<(?:/?(?:sup|sub|b|i|em|strong|span|a|font|u)\b|br\b)[^<>]*>", re.IGNORECASE)
_GAP: Final = re.compile(r"\s{2,}|\t")
_LONGEST_TITLE: Final = 200


class Place(NamedTuple):
    """Mark a place: its span, what it is (``where``), its table, and for a cell what row label it stands by.

    ``numbers`` says that the place is a cell of the column which names notes.
    """

    span: Span
    where: str
    table: int = -1
    label: Span | None = None
    numbers: bool = False


class TableView(NamedTuple):
    """Hold a table's block, its rows, and the rows that are really notes with their openings."""

    block: Block
    table: Table
    notes: tuple[tuple[TableRow, Opening], ...]


def view_tables(text: str, blocks: Sequence[Block]) -> list[TableView]:
    """Read every table block once."""
    views = []
    for block in blocks:
        if block.kind == "table":
            table = table_rows(text, block)
            noted = [(row, note_row(text, row)) for row in table.rows]
            views.append(TableView(block, table, tuple((row, opening) for row, opening in noted if opening)))
    return views


def note_row(text: str, row: TableRow) -> Opening | None:
    """Return how a table row opens as a note, or ``None`` if it is data, a group title or a source.

    A note that was set as a row fills one cell (or the same text fills several that were merged), or has its
    marker in the first cell and its words in one other.

    Args:
        text: the canonical text.
        row: one row of :func:`fin_rag.structure.tables.table_rows`.
    """
    filled = [cell for cell in row.cells if cell]
    label = row.label_span.slice(text)
    opening = opening_of(label)
    if opening is None and len(filled) == 1:
        opening = opening_of(f"{label} {filled[0]}") if label and _is_wordy(filled[0]) else None
        return opening if opening and opening.form not in ("dot", "dash", "bare") else None
    if opening is None or (filled and set(filled) != {row.label}):
        return None
    weak = opening.form in ("dot", "dash", "bare")
    words = len(label[opening.length :].split())
    return None if weak and (words < 3 or not row.cells) else opening


def _is_wordy(cell: str) -> bool:
    return len(cell.split()) > 1 and sum(c.isalpha() for c in cell) > len(cell) / 2


def places_of(text: str, blocks: Sequence[Block], views: Sequence[TableView]) -> list[Place]:
    """Return all places of a text in order."""
    places: list[Place] = []
    number = 0
    for index, block in enumerate(blocks):
        after = blocks[index + 1] if index + 1 < len(blocks) else None
        if block.kind == "table":
            places += _table_places(text, number, views[number])
            number += 1
        elif block.kind == "heading":
            table = number if after and after.kind == "table" else -1
            places.append(Place(_title_span(text, block.span), "title", table))
        elif block.kind != "code":
            titled = after is not None and after.kind == "table" and _is_title(text, block)
            places.append(Place(block.span, "title" if titled else "prose", number if titled else -1))
    return places


def _title_span(text: str, span: Span) -> Span:
    """Return a heading without the marks in front of it."""
    raw = span.slice(text)
    marked = atx(raw.split("\n", 1)[0])
    skipped = len(raw) - len(raw.lstrip("# \t")) if marked else 0
    return Span(span.start + skipped, span.end)


def _is_title(text: str, block: Block) -> bool:
    raw = block.span.slice(text)
    short = "\n" not in raw and len(raw) <= _LONGEST_TITLE
    return (
        block.kind == "prose"
        and short
        and not raw.endswith((".", ";", ":", "?"))
        and not is_sentence(raw)
        and opening_of(raw) is None
    )


def _table_places(text: str, number: int, view: TableView) -> Iterator[Place]:
    if view.block.header:
        yield from _header_places(text, view.block.header, number)
    columns = [plain(label).casefold() in note_words()["note_columns"] for label in view.table.header]
    skipped = {row.span.start for row, _ in view.notes}
    for row in view.table.rows:
        if row.span.start in skipped:
            continue
        if len(row.label_span):
            yield Place(row.label_span, "row_label", number)
        for index, span in enumerate(row.cell_spans):
            if len(span):
                numbers = index + 1 < len(columns) and columns[index + 1]
                yield Place(span, "cell", number, row.label_span, numbers)


def _header_places(text: str, header: Span, number: int) -> Iterator[Place]:
    for line in split_lines(text, header):
        if not line.text or is_pipe_separator(line.text):
            continue
        if "|" in line.text:
            bounds, where = pipe_cells(line.text), "header"
        elif "<" in line.text and _TAG.search(_INLINE.sub("", line.text)):
            bounds, where = _between_tags(line.text), "header"
        else:
            bounds, where = _pieces(line.text)
        for start, end in bounds:
            if end > start:
                yield Place(Span(line.start + start, line.start + end), where, number)


def _between_tags(line: str) -> list[tuple[int, int]]:
    """Return the bounds of what stands between the tags of cells; tags inside a cell do not cut it."""
    cuts = [found.span() for found in _TAG.finditer(line) if not _INLINE.fullmatch(found[0])]
    edges = [0, *(at for cut in cuts for at in cut), len(line)]
    return [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2) if line[edges[i] : edges[i + 1]].strip()]


def _pieces(line: str) -> tuple[list[tuple[int, int]], str]:
    """Return the bounds of a header line of a text table: one title, or column heads with gaps between."""
    gaps = [found.span() for found in _GAP.finditer(line)]
    edges = [0, *(at for gap in gaps for at in gap), len(line)]
    pieces = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    return pieces, "header" if gaps else "title"
