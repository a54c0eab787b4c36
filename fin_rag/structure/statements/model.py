"""A financial statement: its place in the text, its columns and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fin_rag.schema import CURRENCY, PERIOD_ENDS, SCALE, STATEMENT_BASIS, STATEMENT_TYPE, MetadataValue, Span

STATEMENT_TYPES: Final = ("balance_sheet", "income", "comprehensive_income", "cash_flow", "equity")
PRIMARY_TYPES: Final = ("balance_sheet", "income", "cash_flow")


@dataclass(frozen=True, slots=True)
class StatementColumn:
    """Name one column of figures.

    ``period_end`` is YYYYMMDD (0: not stated); ``months`` is the length of the period, 0 for an instant or
    where none is stated. ``label`` is the head as printed, joined over its rows.
    """

    label: str
    period_end: int = 0
    months: int = 0


@dataclass(frozen=True, slots=True)
class StatementRow:
    """Hold one row of a statement.

    ``values`` has one entry for each column of the statement: the figure with sign and scale applied, ``None``
    where nothing or a dash is printed. ``value_spans`` tell where each cell stands (``None``: not printed);
    dividing a value by ``scale`` gives the printed figure. ``level`` counts how deep the row is set,
    from 0; ``path`` holds the titles of the groups it belongs to. A group title has no values. ``note`` is the
    reference to a note as printed. ``placed`` is ``False`` where cells are missing and the text does not say
    under which column the others stand.
    """

    label: str
    values: tuple[Decimal | None, ...]
    span: Span
    label_span: Span
    value_spans: tuple[Span | None, ...]
    level: int = 0
    path: tuple[str, ...] = ()
    note: str = ""
    total: bool = False
    scale: int = 1
    currency: str = ""
    placed: bool = True

    @property
    def is_group(self) -> bool:
        """Tell whether the row is a title for the rows below it."""
        return not any(self.value_spans)


@dataclass(frozen=True, slots=True)
class Statement:
    """Hold one financial statement.

    ``spans`` are its pieces in order: title, unit line and rows, then each continuation page; ``headers`` marks
    in each of them the part above the rows, which a piece of the statement has to repeat to be readable; it is empty
    on a continuation page that names no columns. ``basis``
    is ``consolidated``, ``condensed`` (consolidated or not), ``parent_only``, or ``""`` where the title does
    not say. ``primary`` tells the document's own statements from those of a parent alone, of another company or
    of a schedule. ``pages`` are the first and last page, 1-based. ``scale`` is the factor for printed figures that
    are neither per share nor counts of shares.
    """

    statement_type: str
    basis: str
    title: str
    spans: tuple[Span, ...]
    headers: tuple[Span, ...]
    columns: tuple[StatementColumn, ...]
    rows: tuple[StatementRow, ...]
    scale: int = 1
    currency: str = ""
    pages: tuple[int, int] | None = None
    primary: bool = True
    closing_dates: tuple[int, ...] = ()

    @property
    def span(self) -> Span:
        """Return the span from the first piece's start to the last one's end."""
        return Span(self.spans[0].start, self.spans[-1].end)

    @property
    def period_ends(self) -> tuple[int, ...]:
        """Return the period end of each column (YYYYMMDD, 0: not stated).

        A statement of equity whose columns are components gives the dates of its balances instead.
        """
        if any(column.period_end for column in self.columns):
            return tuple(column.period_end for column in self.columns)
        return self.closing_dates

    def metadata(self) -> dict[str, MetadataValue]:
        """Return the flat keys that the chunks of this statement carry; what is not known is absent."""
        keys: dict[str, MetadataValue] = {STATEMENT_TYPE: self.statement_type, SCALE: self.scale}
        if self.basis:
            keys[STATEMENT_BASIS] = self.basis
        ends = list(dict.fromkeys(str(end) for end in self.period_ends if end))
        if ends:
            keys[PERIOD_ENDS] = ends
        if self.currency:
            keys[CURRENCY] = self.currency
        return keys
