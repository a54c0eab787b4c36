"""Derived values: quarters from cumulative periods, trailing twelve months; refused where they would not be right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final, TypeAlias

from fin_rag.facts.lookup import Lookup, Series
from fin_rag.facts.model import Fact
from fin_rag.facts.periods import (
    HALF,
    INSTANT,
    NINE_MONTHS,
    QUARTER,
    YEAR,
    FiscalCalendar,
    FiscalPeriod,
    duration_kind,
    fact_date,
)
from fin_rag.facts.reading import Current, Reader, Tags

Facts: TypeAlias = Mapping[tuple[str, str], Current]
# What a period is the difference of: the longer one less the shorter one, which start on one day.
_LESS: Final = {
    "Q4": ((YEAR, NINE_MONTHS, "year - nine months"),),
    "Q3": ((NINE_MONTHS, HALF, "nine months - half"),),
    "Q2": ((HALF, QUARTER, "half - first quarter"),),
    "H2": ((YEAR, HALF, "year - first half"),),
}
_SUMS: Final = {"FY": ("Q1", "Q2", "Q3", "Q4"), "9M": ("Q1", "Q2", "Q3"), "H1": ("Q1", "Q2")}
_CLOSE: Final = 3  # periods kept as nearest
_GAP: Final = 3  # days by which two periods that follow each other may be apart
_DERIVABLE: Final = (QUARTER, HALF, NINE_MONTHS, YEAR)


class Refused(Exception):  # noqa: N818  # a reason, not an error of the caller
    """Carry the reason why a value cannot be derived."""


class Deriver:
    """Find the value of a fiscal period, and derive it where it is not reported."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def lookup(
        self,
        issuer: int,
        tags: Tags,
        period: FiscalPeriod,
        cutoff: int | None,
        *,
        unit: str | None = None,
        derive: bool = True,
    ) -> Lookup:
        """Return the value of a fiscal period, reported or derived, or the reason why there is none."""
        facts = self._reader.all_facts(issuer, tags, cutoff, unit=unit)
        calendar = self._reader.calendar(issuer, cutoff)
        name = self._reader.issuer(issuer).label
        if not facts:
            return Lookup(None, f"{name} has not reported {tags.asked!r}" + _known(cutoff))
        reported = _named(facts, calendar, period)
        if reported is not None:
            return Lookup(reported.fact)
        reason = f"{name} has not reported {tags.asked!r} for {period}" + _known(cutoff)
        if derive and any(start for start, _ in facts):
            try:
                return Lookup(_derive(facts, calendar, period, tags))
            except Refused as refusal:
                reason += f"; it cannot be derived: {refusal}"
        return Lookup(None, reason, _nearest(facts, calendar, period))

    def series(
        self,
        issuer: int,
        tags: Tags,
        kind: str,
        cutoff: int | None,
        *,
        unit: str | None = None,
        derive: bool = False,
    ) -> Series:
        """Return the values of all periods of one length, oldest first."""
        derive = derive and kind in (QUARTER, HALF)
        facts = self._reader.all_facts(issuer, tags, cutoff, unit=unit, kind=None if derive else kind)
        points = {key: one.fact for key, one in facts.items() if duration_kind(*key) == kind}
        reasons: list[str] = []
        if derive:
            calendar = self._reader.calendar(issuer, cutoff)
            have = {calendar.part_of(*key) + str(calendar.year_of(fact_date(key[1]))) for key in points}
            for period in _missing(facts, calendar, kind):
                if f"{period.part}{period.year}" in have:
                    continue
                try:
                    fact = _derive(facts, calendar, period, tags)
                except Refused as refusal:
                    reasons.append(f"{period}: {refusal}")
                else:
                    points.setdefault((fact.start, fact.end), fact)
        ordered = tuple(points[key] for key in sorted(points, key=lambda key: (key[1], key[0])))
        return Series(ordered, kind, ordered[0].unit if ordered else "", tuple(reasons))

    def trailing(self, issuer: int, tags: Tags, end: str, cutoff: int | None, *, unit: str | None = None) -> Lookup:
        """Return the sum of the twelve months up to ``end``."""
        facts = self._reader.all_facts(issuer, tags, cutoff, unit=unit)
        calendar = self._reader.calendar(issuer, cutoff)
        name = self._reader.issuer(issuer).label
        if not any(start for start, _ in facts):
            return Lookup(None, f"{name} has reported no period of {tags.asked!r}" + _known(cutoff))
        last = end or max(key[1] for key in facts if duration_kind(*key) in _DERIVABLE or not key[0])
        for key, one in facts.items():
            if key[1] == last and duration_kind(*key) == YEAR:
                return Lookup(one.fact)
        try:
            _additive(tags, next(iter(facts.values())).fact.unit)
            return Lookup(_trailing(facts, calendar, last, tags))
        except Refused as refusal:
            reason = f"The twelve months of {tags.asked!r} up to {last} cannot be added{_known(cutoff)}: {refusal}"
            return Lookup(None, reason)


def _known(cutoff: int | None) -> str:
    return "" if cutoff is None else " in any filing known by then"


def _named(facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod) -> Current | None:
    """Return the fact of a fiscal period; an instant counts for the period that it closes."""
    found = [one for key, one in facts.items() if key[0] and calendar.names(period, *key)]
    if not found:
        found = [one for key, one in facts.items() if not key[0] and calendar.names(period, *key)]
        # Cover pages give counts for days after the close; the day nearest to the close is the balance's.
        found.sort(
            key=lambda one: abs((calendar.close_after(one.fact.end_date) - one.fact.end_date).days), reverse=True
        )
    return found[-1] if found else None


def _nearest(facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod) -> tuple[Fact, ...]:
    kinds = (period.kind, INSTANT)
    known = [one.fact for key, one in facts.items() if duration_kind(*key) in kinds]
    known = known or [one.fact for one in facts.values()]
    known.sort(key=lambda fact: (abs(calendar.year_of(fact.end_date) - period.year), fact.end, fact.start))
    return tuple(known[:_CLOSE])


# --- what may be derived --------------------------------------------------------------------------


def _derive(facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod, tags: Tags) -> Fact:
    _additive(tags, next(iter(facts.values())).fact.unit)
    reasons: list[str] = []
    attempts: list[Callable[[], Fact]] = [
        *(
            (
                lambda longer=longer, shorter=shorter, formula=formula: _less(
                    facts, calendar, period, longer, shorter, formula
                )
            )
            for longer, shorter, formula in _LESS.get(period.part, ())
        ),
        *([lambda: _rest(facts, calendar, period)] if period.part == "Q4" else []),
        *([lambda: _total(facts, calendar, period)] if period.part in _SUMS else []),
    ]
    for attempt in attempts:
        try:
            return attempt()
        except Refused as refusal:
            reasons.append(str(refusal))
    raise Refused(reasons[0] if reasons else f"{period} is not reported")


def _additive(tags: Tags, unit: str) -> None:
    """Refuse what does not add up over time: values per share, averages, ratios, balances."""
    if "/" in unit or unit == "pure":
        raise Refused(f"values in {unit} cannot be added or subtracted")
    if tags.concept is not None and not tags.concept.additive:
        raise Refused(f"{tags.concept.id!r} cannot be added or subtracted over time")
    if unit == "shares":
        raise Refused("counts of shares cannot be added or subtracted over time")


def _less(
    facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod, longer: str, shorter: str, formula: str
) -> Fact:
    whole = _ending(facts, calendar, period, longer)
    key = (whole.fact.start, whole.fact.end)
    parts = [
        one
        for (start, end), one in facts.items()
        if start == key[0] and end < key[1] and duration_kind(start, end) == shorter
    ]
    if not parts:
        raise Refused(f"the {_words(shorter)} from {key[0]} on is not reported")
    part = parts[-1]
    start = (part.fact.end_date + timedelta(days=1)).isoformat()
    if duration_kind(start, key[1]) != period.kind:
        raise Refused(f"{start} to {key[1]} is no {_words(period.kind)}")
    return _combined(start, key[1], formula, [(1, whole), (-1, part)])


def _rest(facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod) -> Fact:
    """Return a fourth quarter as the year less its first three quarters."""
    whole = _ending(facts, calendar, period, YEAR)
    quarters = _chain(facts, calendar, period.year, ("Q1", "Q2", "Q3"))
    if quarters[0].fact.start != whole.fact.start:
        raise Refused("the quarters do not start with the year")
    start = (quarters[-1].fact.end_date + timedelta(days=1)).isoformat()
    terms = [(1, whole), *((-1, one) for one in quarters)]
    return _combined(start, whole.fact.end, "year - first, second and third quarter", terms)


def _total(facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod) -> Fact:
    quarters = _chain(facts, calendar, period.year, _SUMS[period.part])
    terms = [(1, one) for one in quarters]
    return _combined(quarters[0].fact.start, quarters[-1].fact.end, "sum of quarters", terms)


def _chain(facts: Facts, calendar: FiscalCalendar, year: int, parts: Sequence[str]) -> list[Current]:
    """Return the quarters of one fiscal year, which follow each other without a gap."""
    chain: list[Current] = []
    for part in parts:
        wanted = FiscalPeriod(year, part)
        found = [one for key, one in facts.items() if key[0] and calendar.names(wanted, *key)]
        if not found:
            raise Refused(f"{wanted} is not reported")
        chain.append(found[-1])
    for before, after in pairwise(chain):
        if abs((fact_date(after.fact.start) - before.fact.end_date).days - 1) > _GAP:
            raise Refused(f"the quarters do not follow each other: {before.fact.end}, then {after.fact.start}")
    return chain


def _ending(facts: Facts, calendar: FiscalCalendar, period: FiscalPeriod, kind: str) -> Current:
    """Return the cumulative period that ends with the fiscal period asked for."""
    part = {YEAR: "FY", NINE_MONTHS: "9M", HALF: "H1"}[kind]
    wanted = FiscalPeriod(period.year, part)
    found = [one for key, one in facts.items() if key[0] and calendar.names(wanted, *key)]
    if not found:
        raise Refused(f"{wanted} is not reported")
    return found[-1]


def _combined(start: str, end: str, formula: str, terms: Sequence[tuple[int, Current]]) -> Fact:
    """Add up terms that are of one tag, one unit and one basis."""
    facts = [one.fact for _, one in terms]
    tags = sorted({fact.concept for fact in facts})
    if len(tags) > 1:
        raise Refused(f"its parts are reported under different tags: {', '.join(tags)}")
    for _, one in terms:
        changed = one.changed
        stale = [
            other.fact for _, other in terms
            if other is not one and changed is not None and other.changed is None and other.last_report < changed
        ]  # fmt: skip
        if stale:
            raise Refused(
                f"{one.fact.start} to {one.fact.end} was restated, {stale[0].start} to {stale[0].end} was not: "
                "they are not on one basis"
            )
    value = sum((sign * one.fact.value for sign, one in terms), Decimal(0))
    first = facts[0]
    return Fact(
        issuer=first.issuer, concept=first.concept, start=start, end=end, unit=first.unit, value=value,
        formula=formula, parts=tuple(facts),
    )  # fmt: skip


def _words(kind: str) -> str:
    return kind.replace("_", " ")


# --- series and trailing sums ---------------------------------------------------------------------


def _missing(facts: Facts, calendar: FiscalCalendar, kind: str) -> Iterable[FiscalPeriod]:
    parts = ("Q1", "Q2", "Q3", "Q4") if kind == QUARTER else ("H1", "H2")
    years = sorted({calendar.year_of(fact_date(end)) for start, end in facts if start})
    return (FiscalPeriod(year, part) for year in years for part in parts)


def _trailing(facts: Facts, calendar: FiscalCalendar, last: str, tags: Tags) -> Fact:
    """Return the last year plus the time since it less the same time a year before, else four quarters."""
    try:
        return _rolled(facts, last)
    except Refused as refusal:
        first_reason = str(refusal)
    try:
        return _four_quarters(facts, calendar, last, tags)
    except Refused as refusal:
        raise Refused(f"{refusal}; {first_reason}") from refusal


def _rolled(facts: Facts, last: str) -> Fact:
    since = [
        one for key, one in facts.items() if key[1] == last and duration_kind(*key) in (QUARTER, HALF, NINE_MONTHS)
    ]
    for part in sorted(since, key=lambda one: one.fact.start):
        year_end = fact_date(part.fact.start) - timedelta(days=1)
        years = [
            one for key, one in facts.items()
            if duration_kind(*key) == YEAR and abs((fact_date(key[1]) - year_end).days) <= _GAP
        ]  # fmt: skip
        for year in years:
            before = [
                one for key, one in facts.items()
                if key[0] == year.fact.start and duration_kind(*key) == part.fact.kind
            ]  # fmt: skip
            if before:
                start = (before[0].fact.end_date + timedelta(days=1)).isoformat()
                formula = "last year + year to date - year to date of the year before"
                return _combined(start, last, formula, [(1, year), (1, part), (-1, before[0])])
    raise Refused(f"no year and no comparable period that lead up to {last}")


def _four_quarters(facts: Facts, calendar: FiscalCalendar, last: str, tags: Tags) -> Fact:
    terms: list[tuple[int, Current]] = []
    end: date = fact_date(last)
    for _ in range(4):
        at = end
        found = [
            one for key, one in facts.items()
            if duration_kind(*key) == QUARTER and abs((fact_date(key[1]) - at).days) <= _GAP
        ]  # fmt: skip
        if found:
            terms.insert(0, (1, found[-1]))
            end = fact_date(found[-1].fact.start) - timedelta(days=1)
            continue
        quarter = calendar.part_of("", at.isoformat())
        name = f"{quarter} {calendar.year_of(at)}" if quarter else f"the quarter to {at}"
        fact = _derive(facts, calendar, FiscalPeriod.parse(name), tags) if quarter else None
        if fact is None:
            raise Refused(f"{name} is not reported")
        terms.insert(0, (1, Current(fact, ())))
        end = fact_date(fact.start) - timedelta(days=1)
    return _combined(terms[0][1].fact.start, last, "sum of four quarters", terms)
