"""Adapter for the grader of footnotes: a file in, notes, joins, unresolved markers and rows out.

It only translates what ``FinancialReportTextSplitter`` reports; it repairs nothing. Every join is read from the
chunks too: a join whose note no chunk with the marker carries is left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.schema import Span, parse_spans
from fin_rag.splitters import FinancialReportTextSplitter


def produce(path: Path, *, chunk_size: int = 384) -> dict[str, Any]:
    """Return the neutral output for one input file."""
    (document,) = FinancialDocumentLoader(path).load()
    text = document.page_content
    splitter = FinancialReportTextSplitter(chunk_size)
    report = splitter.notes(document)
    carried = [parse_spans(chunk.metadata["spans"]) for chunk in splitter.split_documents([document])]
    return {
        "table_count": report.tables,
        "notes": [{"marker": note.marker, "text": note.text(text)} for note in report.notes],
        "joins": [
            {
                "anchor": join.marker.anchor.slice(text),
                "where": join.marker.where,
                "marker": join.marker.printed,
                "table": join.marker.table if join.marker.table >= 0 else None,
                "note_text": join.note.text(text),
            }
            for join in report.joins
            if any(_holds(spans, join.marker.span, join.note.spans) for spans in carried)
        ],
        "unresolved": [{"anchor": marker.anchor.slice(text), "marker": marker.printed} for marker in report.unresolved],
        "rows": [row.span.slice(text) for row in splitter.rows(document)],
    }


def _holds(spans: tuple[Span, ...], marker: Span, note: tuple[Span, ...]) -> bool:
    """Tell whether one chunk has both the marker and the whole note."""
    cites = any(span.contains(marker) for span in spans)
    return cites and all(any(span.contains(part) for span in spans) for part in note)
