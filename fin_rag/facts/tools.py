"""LangChain tools over a ``FactStore``: look up, series, ratios; and a calculator.

A tool answers "not reported" with the reason and the nearest values. It raises ``ToolException`` only for what the
model can correct: an unknown issuer or line item, a malformed period, a unit to choose.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from langchain_core.runnables import run_in_executor
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, Field

from fin_rag.errors import FinRagError, InputError
from fin_rag.facts.arithmetic import calculate
from fin_rag.facts.model import number_text
from fin_rag.facts.periods import KINDS, instant
from fin_rag.facts.ratios import compute_growth, compute_ratio, find_ratio, ratio_map

if TYPE_CHECKING:
    from fin_rag.facts.store import FactStore, PointInTime

_PERIOD: Final = "Fiscal period in the issuer's own calendar: 'FY2024', 'Q3 2024', 'H1 2024' or '9M 2024'."
_ISSUER: Final = "Ticker, CIK, or the name under which the company files."
_CONCEPT: Final = "A line item in words ('net income', 'ingresos') or an XBRL tag ('us-gaap:Revenues')."
_AS_OF: Final = "A day (its end) or an instant; only filings known then count. Leave out for the latest."
_GROWTH: Final = ("growth", "year_over_year", "yoy", "cagr", "crecimiento")


class LookupInput(BaseModel):
    """Arguments of ``xbrl_lookup``."""

    issuer: str = Field(description=_ISSUER)
    concept: str = Field(description=_CONCEPT)
    period: str | None = Field(default=None, description=_PERIOD + " Leave out if start and end are given.")
    start: str | None = Field(default=None, description="First day of the period, ISO. Leave out for a balance.")
    end: str | None = Field(default=None, description="Last day of the period, or the day of the balance, ISO.")
    as_of: str | None = Field(default=None, description=_AS_OF)
    unit: str | None = Field(default=None, description="Unit, such as 'USD'; only where several are reported.")


class SeriesInput(BaseModel):
    """Arguments of ``xbrl_series``."""

    issuer: str = Field(description=_ISSUER)
    concept: str = Field(description=_CONCEPT)
    kind: Literal["year", "quarter", "half", "nine_months", "instant"] = Field(
        default="year", description="Length of the periods; 'instant' for balances."
    )
    last: int = Field(default=8, ge=1, le=100, description="How many of the latest periods to return.")
    as_of: str | None = Field(default=None, description=_AS_OF)
    unit: str | None = Field(default=None, description="Unit, such as 'USD'; only where several are reported.")


class RatioInput(BaseModel):
    """Arguments of ``ratio_calculator``."""

    issuer: str = Field(description=_ISSUER)
    ratio: str = Field(
        description="Name of a ratio in English or Spanish ('gross margin', 'rotación de activos'), or 'growth'."
    )
    period: str = Field(description=_PERIOD)
    concept: str | None = Field(default=None, description="For 'growth' only: the line item that grew.")
    since: str | None = Field(
        default=None, description="For 'growth' only: the first period; over several years the result is a CAGR."
    )
    as_of: str | None = Field(default=None, description=_AS_OF)


class CalculatorInput(BaseModel):
    """Arguments of ``calculator``."""

    expression: str = Field(
        description="Arithmetic: numbers (also '$1,234.5' and '12.5%'), + - * / **, brackets, abs, min, max, sum, "
        "mean, round, sqrt, percent_change(old, new), cagr(first, last, years)."
    )


def xbrl_lookup(store: FactStore, *, as_of: PointInTime = None) -> BaseTool:
    """Make the tool that looks up one value of one issuer for one period.

    Args:
        store: the facts.
        as_of: the latest point in time that the model may see; it can ask for an earlier one.

    Example:
        >>> import tempfile
        >>> from fin_rag.facts import FactStore
        >>> store = FactStore.open(tempfile.mkdtemp())
        >>> row = {"ticker": "ACME", "start": "2023-01-01", "end": "2023-12-31", "unit": "USD", "form": "10-K"}
        >>> row |= {"accession": "0001-24-1", "filed": "2024-02-01", "fiscal_year": 2023, "fiscal_period": "FY"}
        >>> _ = store.add_table([{**row, "concept": "us-gaap:Revenues", "value": 1250}])
        >>> asked = {"issuer": "ACME", "concept": "revenue", "start": "2023-01-01", "end": "2023-12-31"}
        >>> json.loads(xbrl_lookup(store).invoke(asked))["fact"]["value"]
        '1250'
        >>> json.loads(xbrl_lookup(store, as_of="2024-01-31").invoke(asked))["found"]
        False
        >>> store.close()
    """

    def look_up(
        issuer: str,
        concept: str,
        period: str | None = None,
        start: str | None = None,
        end: str | None = None,
        as_of: str | None = None,
        unit: str | None = None,
    ) -> dict[str, object]:
        moment = limit(as_of)
        if period:
            return store.lookup(issuer, concept, period, moment, unit=unit).record()
        if not end:
            raise InputError("xbrl_lookup needs a period ('FY2024'), or an end (and a start, if it is no balance).")
        fact = store.fact(issuer, concept, start, end, moment, unit=unit)
        if fact is not None:
            return {"found": True, "fact": fact.record()}
        kind = "instant" if not start else "year"
        near = list(store.series(issuer, concept, kind, moment, unit=unit))[-3:]
        reason = f"{concept!r} is not reported for {start or ''} {end}".replace("  ", " ")
        return {"found": False, "reason": reason, "nearest": [one.record() for one in near]}

    limit = partial(_earlier, as_of)
    text = "Look up a reported figure of a company as it was known at a date, with the filing it comes from."
    return _tool("xbrl_lookup", text, LookupInput, look_up)


def xbrl_series(store: FactStore, *, as_of: PointInTime = None) -> BaseTool:
    """Make the tool that returns a line item over time; see :func:`xbrl_lookup`."""
    limit = partial(_earlier, as_of)

    def series(
        issuer: str, concept: str, kind: str = "year", last: int = 8, as_of: str | None = None, unit: str | None = None
    ) -> dict[str, object]:
        if kind not in KINDS:
            raise InputError(f"'kind' must be one of {', '.join(KINDS)}. Got {kind!r}.")
        found = store.series(issuer, concept, kind, limit(as_of), unit=unit, derive=kind == "quarter")
        record = found.record()
        record["points"] = [one.record() for one in found.points[-last:]]
        if not found.points:
            record["reason"] = f"{concept!r} is not reported for periods of this length"
        return record

    text = "Return a line item of a company over time: one unbroken series in one unit, each value with its tag."
    return _tool("xbrl_series", text, SeriesInput, series)


def ratio_calculator(store: FactStore, *, as_of: PointInTime = None) -> BaseTool:
    """Make the tool that computes ratios and growth from reported figures; arguments as of :func:`xbrl_lookup`.

    Example:
        >>> import tempfile
        >>> from fin_rag.facts import FactStore
        >>> store = FactStore.open(tempfile.mkdtemp())
        >>> row = {"ticker": "ACME", "start": "2023-01-01", "end": "2023-12-31", "unit": "USD", "form": "10-K"}
        >>> row |= {"accession": "0001-24-1", "filed": "2024-02-01", "fiscal_year": 2023, "fiscal_period": "FY"}
        >>> figures = {"us-gaap:Revenues": 200, "us-gaap:GrossProfit": 90}
        >>> _ = store.add_table([{**row, "concept": name, "value": value} for name, value in figures.items()])
        >>> asked = {"issuer": "ACME", "ratio": "gross margin", "period": "FY2023"}
        >>> json.loads(ratio_calculator(store).invoke(asked))["value"]
        '45'
        >>> store.close()
    """
    limit = partial(_earlier, as_of)

    def ratio(
        issuer: str,
        ratio: str,
        period: str,
        concept: str | None = None,
        since: str | None = None,
        as_of: str | None = None,
    ) -> dict[str, object]:
        if ratio.strip().lower() in _GROWTH or concept:
            if not concept:
                raise InputError("For 'growth', ratio_calculator needs the line item as 'concept'.")
            return compute_growth(store, issuer, concept, period, limit(as_of), since=since).record()
        return compute_ratio(store, issuer, find_ratio(ratio), period, limit(as_of)).record()

    listed = ", ".join(one.label_en for one in ratio_map().values())
    text = f"Compute a ratio of a company from its reported figures; every input is cited. Ratios: {listed}; growth."
    return _tool("ratio_calculator", text, RatioInput, ratio)


def calculator() -> BaseTool:
    """Make the tool that computes an arithmetic expression exactly.

    Example:
        >>> calculator().invoke({"expression": "(1,356.2 - 1,234.5) / 1,234.5 * 100"})[:24]
        '{"expression": "(1,356.2'
    """

    def compute(expression: str) -> dict[str, object]:
        return {"expression": expression, "value": number_text(calculate(expression))}

    return _tool("calculator", "Compute an arithmetic expression exactly.", CalculatorInput, compute)


def fact_tools(store: FactStore, *, as_of: PointInTime = None) -> list[BaseTool]:
    """Return all tools over a store, and the calculator."""
    return [
        xbrl_lookup(store, as_of=as_of),
        xbrl_series(store, as_of=as_of),
        ratio_calculator(store, as_of=as_of),
        calculator(),
    ]


def _earlier(latest: PointInTime, asked: str | None) -> PointInTime:
    """Return the earlier of two points in time: a model never sees more than it may."""
    if not asked:
        return latest
    if latest is None or latest == "":
        return asked
    return asked if instant(asked) <= instant(latest) else latest


def _tool(name: str, text: str, schema: type[BaseModel], work: Callable[..., dict[str, object]]) -> BaseTool:
    def run(**arguments: Any) -> tuple[str, dict[str, object]]:  # noqa: ANN401  # checked by the schema
        try:
            record = work(**arguments)
        except FinRagError as error:
            raise ToolException(str(error)) from error
        return json.dumps(record, ensure_ascii=False), record

    async def arun(**arguments: Any) -> tuple[str, dict[str, object]]:  # noqa: ANN401  # checked by the schema
        waiting: Awaitable[tuple[str, dict[str, object]]] = run_in_executor(None, partial(run, **arguments))
        return await waiting

    return StructuredTool(
        name=name,
        description=text,
        args_schema=schema,
        func=run,
        coroutine=arun,
        response_format="content_and_artifact",
    )
