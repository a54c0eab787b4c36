"""Financial statements as they are filed with a document: places, rows and labels, no figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.schema import DOC_TYPE, PAGE_MAP, Markup, Outline, PageMap, SourceDocument, Span
from fin_rag.structure.statements import Statement, find_statements

_WITHOUT: Final = frozenset({"regulation", "earnings_call"})


@dataclass(frozen=True, slots=True)
class FiledRow:
    """Hold one row: its label, span, the titles above it, and whether it is a total or a title itself."""

    label: str
    span: Span
    path: tuple[str, ...]
    total: bool
    group: bool


@dataclass(frozen=True, slots=True)
class FiledStatement:
    """Hold one statement of a filed document; see ``Statement`` for the fields."""

    doc: int
    number: int
    statement_type: str
    basis: str
    title: str
    spans: tuple[Span, ...]
    headers: tuple[Span, ...]
    rows: tuple[FiledRow, ...]
    period_ends: tuple[int, ...]
    primary: bool

    @property
    def size(self) -> int:
        """Return the code points of its spans."""
        return sum(len(span) for span in self.spans)


def statement_records(document: Document, outline: Outline) -> list[dict[str, object]]:
    """Find the statements of a document and return them in the form that is filed."""
    if document.metadata.get(DOC_TYPE) in _WITHOUT:
        return []
    pages = document.metadata.get(PAGE_MAP)
    markup = document.markup if isinstance(document, SourceDocument) else Markup()
    found = find_statements(
        document.page_content,
        outline=outline,
        page_map=PageMap.parse(str(pages)) if pages else None,
        markup=markup,
    )
    return [_record(statement) for statement in found]


def _record(statement: Statement) -> dict[str, object]:
    return {
        "type": statement.statement_type,
        "basis": statement.basis,
        "title": statement.title,
        "spans": [[span.start, span.end] for span in statement.spans],
        "headers": [[span.start, span.end] for span in statement.headers],
        "ends": list(statement.period_ends),
        "primary": statement.primary,
        "rows": [
            [row.label, row.span.start, row.span.end, list(row.path), row.total, row.is_group] for row in statement.rows
        ],
    }


def read_statements(doc: int, records: Sequence[Mapping[str, Any]]) -> list[FiledStatement]:
    """Read what :func:`statement_records` wrote."""
    return [
        FiledStatement(
            doc, number, str(one["type"]), str(one["basis"]), str(one["title"]),
            tuple(Span(a, b) for a, b in one["spans"]), tuple(Span(a, b) for a, b in one["headers"]),
            tuple(FiledRow(r[0], Span(r[1], r[2]), tuple(r[3]), r[4], r[5]) for r in one["rows"]),
            tuple(one["ends"]), bool(one["primary"]),
        )
        for number, one in enumerate(records)
    ]  # fmt: skip
