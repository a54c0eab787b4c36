"""The parts of ``fin-rag inspect`` that show primary statements and inline facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document

from fin_rag.schema import PAGE_MAP, Markup, Outline, PageMap, SourceDocument
from fin_rag.structure.statements import find_statements

_LABEL = 44  # characters
_VALUE = 18


def statement_report(document: Document, outline: Outline) -> dict[str, list[dict[str, Any]]]:
    """Return the primary statements of a document with their rows, ready for JSON."""
    pages = PageMap.parse(str(document.metadata.get(PAGE_MAP, "")))
    found = find_statements(document.page_content, outline=outline, page_map=pages, markup=_markup(document))
    return {
        "statements": [
            {
                "type": statement.statement_type,
                "basis": statement.basis,
                "primary": statement.primary,
                "title": statement.title,
                "spans": [[span.start, span.end] for span in statement.spans],
                "pages": list(statement.pages or ()),
                "scale": statement.scale,
                "currency": statement.currency,
                "columns": [
                    {"label": c.label, "period_end": c.period_end or None, "months": c.months or None}
                    for c in statement.columns
                ],
                "rows": [
                    {
                        "label": row.label,
                        "level": row.level,
                        "note": row.note,
                        "total": row.total,
                        "values": [None if value is None else str(value) for value in row.values],
                        "spans": [None if span is None else [span.start, span.end] for span in row.value_spans],
                    }
                    for row in statement.rows
                ],
            }
            for statement in found
        ]
    }


def statement_lines(report: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines that show a report of :func:`statement_report` to a reader."""
    if not report["statements"]:
        yield "statement  none found"
    for statement in report["statements"]:
        start, end = statement["spans"][0][0], statement["spans"][-1][1]
        scale = f"x {statement['scale']:,}" if statement["scale"] != 1 else ""
        unit = " ".join(part for part in (statement["currency"], scale) if part)
        what = " ".join(part for part in (statement["type"], statement["basis"]) if part)
        own = "" if statement["primary"] else ", not the document's own"
        yield f"statement  {what}{own}  {start}-{end}  {unit}  {statement['title']}"
        heads = [_period(column) for column in statement["columns"]]
        yield " " * (_LABEL + 2) + "".join(f"{head:>{_VALUE}}" for head in heads)
        for row in statement["rows"]:
            label = ("  " * row["level"] + row["label"])[:_LABEL]
            values = "".join(f"{'' if value is None else value:>{_VALUE}}" for value in row["values"])
            yield f"  {label:{_LABEL}}{values}".rstrip()


def _period(column: dict[str, Any]) -> str:
    if not column["period_end"]:
        return str(column["label"])[-_VALUE + 1 :]
    months = f" {column['months']}m" if column["months"] else ""
    return f"{column['period_end']}{months}"


def fact_report(document: Document) -> dict[str, list[dict[str, Any]]]:
    """Return the inline facts of a document in order, each with what is printed for it, ready for JSON."""
    text = document.page_content
    return {
        "facts": [
            {
                "concept": fact.concept,
                "value": None if fact.value is None else str(fact.value),
                "start": fact.start,
                "end": fact.end,
                "unit": fact.unit,
                "scale": fact.scale,
                "dimensions": [list(pair) for pair in fact.dimensions],
                "span": None if fact.span is None else [fact.span.start, fact.span.end],
                "printed": None if fact.span is None else fact.span.slice(text),
            }
            for fact in _markup(document).facts
        ]
    }


def fact_lines(report: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    """Yield one line for each fact of a report of :func:`fact_report`."""
    if not report["facts"]:
        yield "fact       none: the document carries no inline XBRL"
    for fact in report["facts"]:
        period = f"{fact['start']}..{fact['end']}" if fact["start"] else fact["end"]
        where = "hidden" if fact["span"] is None else f"{fact['span'][0]}-{fact['span'][1]}"
        value = " ".join((fact["value"] or "nil").split())[:_LABEL]
        members = " ".join(member for _, member in fact["dimensions"])
        yield "  ".join(
            part for part in (f"fact  {fact['concept']}", value, fact["unit"], period, members, where) if part
        )


def _markup(document: Document) -> Markup:
    return document.markup if isinstance(document, SourceDocument) else Markup()
