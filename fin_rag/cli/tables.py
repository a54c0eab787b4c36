"""The part of ``fin-rag inspect`` that shows tables, note markers and the notes that they call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document

from fin_rag.schema import LANG, PAGE_MAP, Markup, Outline, PageMap, SourceDocument
from fin_rag.structure.blocks import blocks
from fin_rag.structure.notes import Marker, find_notes
from fin_rag.structure.rows import read_rows
from fin_rag.structure.tables import table_rows

_EXCERPT = 60  # characters


def table_report(document: Document, outline: Outline) -> dict[str, list[dict[str, Any]]]:
    """Return tables, notes, joins and markers without a note of a document, ready for JSON.

    Args:
        document: a document as a splitter's ``split_whole`` returns it.
        outline: its sections.
    """
    text, metadata = document.page_content, document.metadata
    markup = document.markup if isinstance(document, SourceDocument) else Markup()
    parts = blocks(text, markup=markup)
    pages = PageMap.parse(str(metadata.get(PAGE_MAP, "")))
    notes = find_notes(text, outline=outline, page_map=pages, blocks=parts)
    lang = str(metadata[LANG]) if metadata.get(LANG) else None
    tables: list[dict[str, Any]] = []
    for number, block in enumerate(block for block in parts if block.kind == "table"):
        table = table_rows(text, block)
        rows = read_rows(text, table, block, notes=notes, table=number, lang=lang)
        tables.append(
            {
                "table": number,
                "start": block.span.start,
                "end": block.span.end,
                "title": table.title,
                "columns": list(table.header),
                "currency": table.currency,
                "scale": table.scale,
                "rows": [
                    {
                        "label": row.label,
                        "groups": list(row.groups),
                        "values": [
                            {
                                "column": v.column,
                                "printed": v.printed,
                                "amount": _number(v.amount),
                                "currency": v.currency,
                            }
                            for v in row.values
                        ],
                        "notes": [note.marker for note in row.notes],
                    }
                    for row in rows
                ],
            }
        )
    return {
        "tables": tables,
        "notes": [
            {"marker": n.marker, "kind": n.kind, "start": n.start, "end": n.spans[-1].end, "text": n.text(text)}
            for n in notes.notes
        ],
        "joins": [{**_marker(text, join.marker), "note": join.note.start} for join in notes.joins],
        "unresolved": [_marker(text, marker) for marker in notes.unresolved],
    }


def table_lines(report: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines that show a report of :func:`table_report` to a reader."""
    for table in report["tables"]:
        unit = " ".join(part for part in (table["currency"], _scale(table["scale"])) if part)
        columns = " | ".join(column or "·" for column in table["columns"])
        yield (
            f"table {table['table']:<3} {table['start']}-{table['end']}  {len(table['rows'])} rows"
            + (f", {unit}" if unit else "")
            + (f"  {_short(table['title'])}" if table["title"] else "")
        )
        yield f"          {_short(columns)}"
    by_start = {note["start"]: note for note in report["notes"]}
    for join in report["joins"]:
        note = by_start[join["note"]]
        yield f"marker    {join['marker']} in {join['where']} {_short(join['anchor'])!r} -> {_short(note['text'])!r}"
    for marker in report["unresolved"]:
        yield f"marker    {marker['marker']} in {marker['where']} {_short(marker['anchor'])!r} -> no note"
    called = {join["note"] for join in report["joins"]}
    for note in report["notes"]:
        if note["start"] not in called:
            yield f"note      {note['marker']} at {note['start']}: called by nothing: {_short(note['text'])!r}"


def _marker(text: str, marker: Marker) -> dict[str, Any]:
    return {
        "marker": marker.printed,
        "where": marker.where,
        "anchor": marker.anchor.slice(text),
        "start": marker.span.start,
        "table": marker.table if marker.table >= 0 else None,
    }


def _number(amount: object) -> str | None:
    return None if amount is None else str(amount)


def _scale(scale: int) -> str:
    return f"x {scale:,}" if scale != 1 else ""


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"
