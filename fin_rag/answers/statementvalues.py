"""Values of line items from the statements of a document, for issuers without XBRL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final

from fin_rag.answers.labels import concept_of
from fin_rag.answers.when import read_periods
from fin_rag.facts.concepts import concept_map, name_key
from fin_rag.facts.periods import FiscalCalendar, FiscalPeriod, calendar_of
from fin_rag.schema import FISCAL_PERIOD, FISCAL_YEAR, PAGE_MAP, PERIOD_END, Markup, PageMap, Span
from fin_rag.structure.statements import Statement, StatementColumn, StatementRow, find_statements

_LEAD: Final = re.compile(r"^(?:less|plus|total|consolidated|net|menos|más|total de)[\s:]+", re.IGNORECASE)
_TAILS: Final = (
    "including",
    "net of",
    "less",
    "excluding",
    "and other",
    "of property",
    "inclusive",
    "and accretion",
    "and impairment",
    "before",
    "attributable to the",
    "attributable to",
    "to shareholders",
)


@dataclass(frozen=True, slots=True)
class StatementValue:
    """Hold a value of a statement: its row, its period end (YYYYMMDD) and where it is printed."""

    concept: str
    value: Decimal
    label: str
    period_end: int
    months: int
    span: Span
    currency: str
    statement: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: tuple[int, int, int, int, int]
    row: StatementRow
    statement: Statement


class StatementValues:
    r"""Find values of line items in one document's statements.

    Example:
        >>> text = (
        ...     "CONSOLIDATED BALANCE SHEETS\n(in thousands)\n| | December 31, 2024 | December 31, 2023 |\n"
        ...     "|---|---|---|\n| Cash | $1,200 | $900 |\n| Inventories | 300 | 250 |\n"
        ...     "| Total assets | $1,500 | $1,150 |\n| Total liabilities | 400 | 300 |\n"
        ...     "| Shareholders' equity | 1,100 | 850 |\n"
        ... )
        >>> values = StatementValues(text, {"fiscal_year": 2024, "period_end": 20241231})
        >>> values.value("total_assets", FiscalPeriod(2023)).value
        Decimal('1150000')
    """

    def __init__(
        self, text: str, metadata: Mapping[str, object], *, page_map: str = "", markup: Markup | None = None
    ) -> None:
        pages = page_map or str(metadata.get(PAGE_MAP) or "")
        statements = find_statements(text, page_map=PageMap.parse(pages) if pages else None, markup=markup)
        self.statements = statements
        self._rows: dict[str, list[_Candidate]] = {}
        for place, statement in enumerate(statements):
            for at, row in enumerate(statement.rows):
                if row.is_group:
                    continue
                for concept, exact in row_concepts(row.label):
                    rank = _rank(concept, statement, row, place, at, exact=exact)
                    self._rows.setdefault(concept, []).append(_Candidate(rank, row, statement))
        for candidates in self._rows.values():
            candidates.sort(key=lambda one: one.rank)
        self._calendar = _calendar(metadata, statements)

    @property
    def concepts(self) -> tuple[str, ...]:
        """Return the line items that the statements hold, sorted."""
        return tuple(sorted(self._rows))

    def value(self, concept: str, period: FiscalPeriod, shift: int = 0) -> StatementValue | None:
        """Return the value of a line item for a fiscal period, or for the one ``shift`` years from it."""
        wanted = FiscalPeriod(period.year + shift, period.part)
        for candidate in self._rows.get(concept, ()):
            for at, column in enumerate(candidate.statement.columns):
                if at >= len(candidate.row.values) or not self._names(column, wanted, candidate.statement):
                    continue
                value, span = candidate.row.values[at], candidate.row.value_spans[at]
                if value is not None and span is not None and candidate.row.placed:
                    return StatementValue(
                        concept, value, candidate.row.label, column.period_end, column.months, span,
                        candidate.row.currency or candidate.statement.currency, candidate.statement.statement_type,
                    )  # fmt: skip
        return None

    def _names(self, column: StatementColumn, wanted: FiscalPeriod, statement: Statement) -> bool:
        if not column.period_end:
            years = [one.year for one in read_periods(column.label) if one.year]
            return years[:1] == [wanted.year] and wanted.part == "FY"
        end = _day(column.period_end)
        if end is None:
            return False
        if statement.statement_type == "balance_sheet":
            return self._calendar.names(wanted, "", end.isoformat())
        months = column.months or 12
        start = end - timedelta(days=round(months * 30.4) - 1)
        return self._calendar.names(wanted, start.isoformat(), end.isoformat())


def _day(number: int) -> date | None:
    try:
        return date(number // 10_000, number // 100 % 100, number % 100)
    except ValueError:
        return None


def _calendar(metadata: Mapping[str, object], statements: Sequence[Statement]) -> FiscalCalendar:
    year, end = metadata.get(FISCAL_YEAR), str(metadata.get(PERIOD_END) or "")
    whole = str(metadata.get(FISCAL_PERIOD) or "FY") == "FY"
    if len(end) == 8 and whole:
        day = f"{end[:4]}-{end[4:6]}-{end[6:]}"
        return calendar_of([(day, year if isinstance(year, int) else 0)])
    ends = sorted(
        {
            column.period_end
            for one in statements
            for column in one.columns
            if column.months == 12 and _day(column.period_end)
        }
    )
    days = [_day(one) for one in ends]
    return calendar_of([(day.isoformat(), 0) for day in days if day])


@lru_cache(maxsize=20_000)
def row_concepts(label: str) -> tuple[tuple[str, bool], ...]:
    """Return the line items that a row may be, each with whether its whole label says so.

    Example:
        >>> row_concepts("Less: Net income attributable to noncontrolling interests")
        (('minority_profit', True),)
        >>> row_concepts("Purchases of property and equipment, including internal-use software")
        (('capital_expenditure', True),)
    """
    bare = _LEAD.sub("", label.strip())
    for text in (label, bare):
        found = concept_of(text)
        if found:
            return ((found, True),)
    key = name_key(bare)
    names = concept_map().by_names()
    words = key.split()
    for length in range(min(len(words) - 1, 9), 1, -1):
        name, rest = " ".join(words[:length]), " ".join(words[length:])
        if name in names and rest.startswith(_TAILS):
            return ((names[name].id, False),)
    return ()


def _rank(
    concept: str, statement: Statement, row: StatementRow, place: int, at: int, *, exact: bool
) -> tuple[int, int, int, int, int]:
    """Rank rows for one line item: its own statement, the whole label, a total, then the order of the document."""
    known = next((one for one in concept_map().concepts if one.id == concept), None)
    home = known is not None and known.statement == statement.statement_type
    total = row.label.lower().startswith("total") or row.total
    return (not home, not statement.primary, not exact, not total, place * 10_000 + at)
