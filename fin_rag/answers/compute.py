"""Compute what a figure question asks for from values that are looked up one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from fin_rag.answers.questions import DIFFERENCE, GROWTH, RATIO, SHARE, FigureQuestion, share_ratio
from fin_rag.facts.concepts import concept_map
from fin_rag.facts.periods import FiscalPeriod
from fin_rag.facts.ratios import Ratio, solve


@dataclass(frozen=True, slots=True)
class Source:
    """Hold one value that went into an answer, and its record for citation."""

    value: Decimal
    unit: str
    record: dict[str, object]
    concept: str
    derived: bool = False


ValueOf: TypeAlias = Callable[[str, FiscalPeriod, int], Source | None]


@dataclass(frozen=True, slots=True)
class Computed:
    """Hold a computed value, or the reason why there is none.

    ``unit`` is ``%``, ``x``, ``days``, ``shares``, a currency, or ``CUR/shares``. ``code`` tells that it was computed.
    """

    value: Decimal | None
    unit: str = ""
    sources: tuple[Source, ...] = ()
    code: bool = False
    reason: str = ""
    certain: bool = True

    def records(self) -> tuple[dict[str, object], ...]:
        """Return the records of the sources, each once."""
        found: list[dict[str, object]] = []
        for one in self.sources:
            if one.record not in found:
                found.append(one.record)
        return tuple(found)


def compute(asked: FigureQuestion, value_of: ValueOf) -> Computed:
    """Compute what is asked; every value that it needs is asked of ``value_of(concept, period, years before)``."""
    if not asked.periods:
        return Computed(None, reason="the question names no period")
    if asked.kind == GROWTH:
        return _growth(asked, value_of)
    if asked.kind == RATIO and asked.ratio is not None:
        return _over_periods(asked, asked.ratio, value_of)
    if asked.kind == SHARE:
        return _over_periods(asked, share_ratio(*asked.concepts), value_of)
    if asked.kind == DIFFERENCE:
        return _difference(asked, value_of)
    return _value(asked, value_of)


def _value(asked: FigureQuestion, value_of: ValueOf) -> Computed:
    concept = asked.concepts[0]
    found = [value_of(concept, period, 0) for period in asked.periods]
    present = [one for one in found if one is not None]
    if len(present) < len(found):
        missing = [str(period) for period, one in zip(asked.periods, found, strict=True) if one is None]
        return Computed(None, reason=f"no {_name(concept)} for {', '.join(missing)}")
    if asked.average and len(present) > 1:
        mean = sum((one.value for one in present), Decimal(0)) / len(present)
        return Computed(mean, _unit(present), tuple(present), code=True)
    last = present[-1]
    value = abs(last.value) if _paid(concept) else last.value
    return Computed(value, last.unit, tuple(present), code=last.derived)


def _over_periods(asked: FigureQuestion, ratio: Ratio, value_of: ValueOf) -> Computed:
    """Compute a ratio for the last period, or its mean over all of them."""
    results = [_ratio(ratio, period, value_of) for period in (asked.periods if asked.average else asked.periods[-1:])]
    failed = next((one for one in results if one.value is None), None)
    if failed is not None:
        return failed
    values = [one.value for one in results if one.value is not None]
    sources = tuple(source for one in results for source in one.sources)
    return Computed(sum(values, Decimal(0)) / len(values), results[0].unit, sources, code=True)


def _ratio(ratio: Ratio, period: FiscalPeriod, value_of: ValueOf) -> Computed:
    used: list[Source] = []

    def known(concept: str, shift: int) -> Decimal | None:
        source = value_of(concept, period, shift)
        if source is None:
            return None
        used.append(source)
        # Statements print payments and expenses in brackets; formulas take them as positive.
        return abs(source.value) if _paid(concept) else source.value

    value, _, reason = solve(ratio, known)
    if value is None:
        return Computed(None, reason=f"{ratio.label_en}: {reason}")
    unit = (
        _unit(used)
        if ratio.unit == "currency"
        else f"{_unit(used)}/shares"
        if ratio.unit == "per share"
        else ratio.unit
    )
    return Computed(value, unit, tuple(used), code=True)


def _growth(asked: FigureQuestion, value_of: ValueOf) -> Computed:
    last = asked.periods[-1]
    first = asked.periods[0] if len(asked.periods) > 1 else FiscalPeriod(last.year - 1, last.part)
    years = last.year - first.year
    pair: list[Computed] = []
    for period in (first, last):
        single = FigureQuestion("value", asked.concepts, None, (period,))
        done = _ratio(asked.ratio, period, value_of) if asked.ratio is not None else _value(single, value_of)
        if done.value is None:
            return done
        pair.append(done)
    old, new = pair[0].value, pair[1].value
    if not old or new is None:
        return Computed(None, reason="growth from zero")
    sources = (*pair[0].sources, *pair[1].sources)
    return Computed((new - old) / abs(old) * 100, "%", sources, code=True, certain=years >= 1)


def _difference(asked: FigureQuestion, value_of: ValueOf) -> Computed:
    period = asked.periods[-1]
    if asked.ratio is not None:
        first = _ratio(asked.ratio, period, value_of)
    else:
        first = _value(FigureQuestion("value", asked.concepts[:1], None, (period,)), value_of)
    second = _value(FigureQuestion("value", asked.concepts[-1:], None, (period,)), value_of)
    for one in (first, second):
        if one.value is None:
            return one
    value = (first.value or Decimal(0)) - (second.value or Decimal(0))
    return Computed(value, first.unit, (*first.sources, *second.sources), code=True)


def _paid(concept: str) -> bool:
    known = next((one for one in concept_map().concepts if one.id == concept), None)
    return known is not None and known.outflow and concept not in ("income_tax",)


def _name(concept: str) -> str:
    return concept.replace("_", " ")


def _unit(sources: Sequence[Source]) -> str:
    return next((one.unit for one in sources if one.unit and one.unit not in ("shares", "pure")), "")
