"""Periods of columns by the inline facts that are printed in them."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from fin_rag.schema import InlineFact, Span
from fin_rag.structure.statements.grid import GridRow
from fin_rag.structure.statements.model import StatementColumn

_DAYS_A_MONTH: Final = 30.4
_MOST_CELLS: Final = 60
_ROUND: Final = ((2, 4, 3), (5, 7, 6), (8, 10, 9), (11, 13, 12))


class Facts:
    """Hold the figures of a document's inline facts in the order in which they are printed."""

    def __init__(self, facts: Iterable[InlineFact]) -> None:
        placed = [(fact.span, fact) for fact in facts if fact.span is not None and fact.end and fact.unit]
        self._facts = sorted(placed, key=lambda one: one[0].start)
        self._starts = [span.start for span, _ in self._facts]

    def complete(
        self, columns: Sequence[StatementColumn], rows: Sequence[GridRow], *, kind: str
    ) -> list[StatementColumn]:
        """Complete the periods that the heads leave open; what a head states stays as it is."""
        if not self._facts or kind == "equity":
            return list(columns)
        result = []
        for index, column in enumerate(columns):
            if column.period_end and (column.months or kind == "balance_sheet"):
                result.append(column)
                continue
            end, months = self._period(index, rows)
            result.append(replace(column, period_end=column.period_end or end, months=column.months or months))
        return result

    def _period(self, index: int, rows: Sequence[GridRow]) -> tuple[int, int]:
        """Return end and length of the period that most facts of a column have."""
        counts: Counter[tuple[str, str]] = Counter()
        for row in rows[:_MOST_CELLS]:
            cell = row.cells[index]
            fact = self._at(cell[1]) if cell else None
            if fact is not None:
                counts[fact.start, fact.end] += 1
        if not counts:
            return 0, 0
        start, end = max(counts, key=lambda period: (counts[period], period))
        return int(end.replace("-", "")), _months(start, end)

    def _at(self, span: Span) -> InlineFact | None:
        at = bisect_left(self._starts, span.start)
        if at < len(self._facts) and span.contains(self._facts[at][0]):
            return self._facts[at][1]
        return None


def _months(start: str, end: str) -> int:
    if not start:
        return 0
    try:
        days = (date.fromisoformat(end) - date.fromisoformat(start)).days + 1
    except ValueError:
        return 0
    months = round(days / _DAYS_A_MONTH)
    return next((whole for low, high, whole in _ROUND if low <= months <= high), months)
