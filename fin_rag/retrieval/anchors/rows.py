"""The statement detector: rows of filed statements that print what a metric is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.index.statements import FiledRow, FiledStatement
from fin_rag.query import QueryPlan
from fin_rag.query.vocabulary import metrics_data
from fin_rag.retrieval.statements import PRIMARY, rows_for, wanted_items
from fin_rag.schema import Span

_ROWS: Final = 2  # of one line item in one statement
_LATER: Final = 0.85  # of the weight of the row before it


@dataclass(frozen=True, slots=True)
class RowHit:
    """Hold one row of a statement of a document, the line item that it prints, and a score in (0, 1]."""

    doc: int
    span: Span
    item: str
    statement_type: str
    label: str
    score: float


def statement_rows(plan: QueryPlan, documents: Iterable[tuple[int, Sequence[FiledStatement]]]) -> Iterator[RowHit]:
    """Yield the rows that print the line items of a plan's metrics, in the statement where each item belongs.

    ``documents`` are numbers with their statements. Where that statement lacks the row, the other primary
    statements are looked through. A named statement without a metric gives its first rows.
    """
    items = wanted_items(plan)
    for doc, statements in documents:
        primary = [one for one in statements if one.primary]
        for item in items:
            for statement, row, score in _printed(primary, item):
                yield RowHit(doc, row.span, item, statement.statement_type, row.label, score)
        for kind in plan.statements if not items else ():
            named = next((one for one in primary if one.statement_type == kind), None)
            for row in named.rows[:_ROWS] if named else ():
                yield RowHit(doc, row.span, kind, kind, row.label, _LATER)


def _printed(statements: Sequence[FiledStatement], item: str) -> Iterator[tuple[FiledStatement, FiledRow, float]]:
    home = metrics_data()["item"][item]["statement"]
    ordered = [one for one in statements if one.statement_type == home]
    ordered += [one for one in statements if one.statement_type != home and one.statement_type in PRIMARY]
    for statement in ordered:
        rows = rows_for(statement, item)[:_ROWS]
        if rows:
            for place, row in enumerate(rows):
                yield statement, row, _LATER**place
            return
