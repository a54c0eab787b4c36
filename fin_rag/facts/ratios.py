"""Ratios over line items: formulas from the data file, every input with its source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts.arithmetic import calculate, evaluate
from fin_rag.facts.concepts import name_key
from fin_rag.facts.model import Fact, number_text
from fin_rag.facts.periods import FiscalPeriod

if TYPE_CHECKING:
    from fin_rag.facts.store import FactStore, PointInTime

_NAME: Final = re.compile(r"[a-z_]+\??")
_FUNCTIONS: Final = ("average", "change")
_PLACES: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True)
class Ratio:
    """Hold a ratio: ``formula`` over line items of the concept map, ``unit`` of the result.

    ``unit`` is ``%`` (the result is in per cent), ``x``, ``days``, ``currency`` or ``per share``.
    """

    id: str
    formula: str
    unit: str
    names: tuple[str, ...]
    label_en: str
    label_es: str

    @property
    def inputs(self) -> tuple[str, ...]:
        """Return the line items that the formula names, in order."""
        found = [name.rstrip("?") for name in _NAME.findall(self.formula)]
        return tuple(dict.fromkeys(name for name in found if name not in _FUNCTIONS))


@dataclass(frozen=True, slots=True)
class RatioResult:
    """Hold a computed ratio with its inputs, or the reason why it could not be computed.

    ``assumed`` names inputs that are not reported and were counted as zero, as the formula allows.
    """

    ratio: Ratio
    period: str
    value: Decimal | None
    inputs: Mapping[str, Fact] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    reason: str = ""

    def record(self) -> dict[str, object]:
        """Return the result as plain JSON values."""
        row: dict[str, object] = {
            "ratio": self.ratio.id, "formula": self.ratio.formula, "period": self.period, "unit": self.ratio.unit,
            "value": None if self.value is None else number_text(self.value),
            "inputs": {name: fact.record() for name, fact in self.inputs.items()},
        }  # fmt: skip
        if self.assumed:
            row["counted_as_zero"] = list(self.assumed)
        if self.reason:
            row["reason"] = self.reason
        return row


@cache
def ratio_map() -> Mapping[str, Ratio]:
    """Return all ratios by their id."""
    data = json.loads(files("fin_rag.facts").joinpath("concepts.json").read_text(encoding="utf-8"))
    found = {}
    for row in data["ratios"]:
        english, spanish = row["names"]["en"], row["names"]["es"]
        names = tuple(name_key(name) for name in (row["id"].replace("_", " "), *english, *spanish))
        found[row["id"]] = Ratio(row["id"], row["formula"], row["unit"], names, english[0], spanish[0])
    return MappingProxyType(found)


def ratio_names() -> list[str]:
    """Return the ids of all ratios, sorted."""
    return sorted(ratio_map())


def find_ratio(name: str) -> Ratio:
    """Return a ratio by its id or a name in English or Spanish.

    Raises:
        NotFoundError: if there is none of that name.

    Example:
        >>> find_ratio("Margen bruto").id, find_ratio("ROE").formula
        ('gross_margin', 'net_income / average(total_equity)')
    """
    key = name_key(name)
    for ratio in ratio_map().values():
        if key in ratio.names:
            return ratio
    raise NotFoundError(f"There is no ratio {name!r}. Known: {', '.join(ratio_names())}.")


class _Missing(Exception):  # noqa: N818  # a reason, not an error of the caller
    """Carry the reason why an input is absent."""


def solve(ratio: Ratio, value_of: Callable[[str, int], Decimal | None]) -> tuple[Decimal | None, tuple[str, ...], str]:
    """Compute a ratio from values.

    Args:
        ratio: the ratio.
        value_of: returns a line item's value, ``None`` if it is not known; the second argument is 0 for the period
            asked, -1 for the one before (a balance at its start).

    Returns:
        The value (per cent for ``%``), the inputs counted as zero, and the reason where there is no value.

    Example:
        >>> values = {"gross_profit": Decimal(40), "revenue": Decimal(160)}
        >>> solve(find_ratio("gross margin"), lambda name, shift: values.get(name))[0]
        Decimal('25')
    """
    assumed: list[str] = []

    def resolve(name: str) -> Decimal:
        optional = name.startswith("maybe_")
        bare = name.removeprefix("maybe_")
        value = value_of(bare, 0)
        if value is None and not optional:
            raise _Missing(f"{bare} is not reported")
        if value is None:
            assumed.append(bare)
        return Decimal(0) if value is None else value

    def before(name: str) -> Decimal:
        value = value_of(name, -1)
        if value is None:
            raise _Missing(f"{name} of the period before is not reported")
        return value

    functions = {
        "average": lambda name: (resolve(name) + before(name)) / 2,
        "change": lambda name: resolve(name) - before(name),
    }
    formula = re.sub(r"([a-z_]+)\?", r"maybe_\1", ratio.formula)
    try:
        value = evaluate(formula, resolve, functions)
    except _Missing as missing:
        return None, tuple(assumed), str(missing)
    except InputError as error:
        return None, tuple(assumed), str(error)
    value = value * 100 if ratio.unit == "%" else value
    return (
        value.quantize(_PLACES).normalize() if value == value.quantize(_PLACES) else value.quantize(_PLACES),
        tuple(assumed),
        "",
    )


def compute_ratio(
    store: FactStore, issuer: str, ratio: str | Ratio, period: str | FiscalPeriod, as_of: PointInTime = None
) -> RatioResult:
    """Compute a ratio of an issuer for a fiscal period from what was known at ``as_of``; every input is cited.

    Averages are of the balances at the start and the end of the period.

    Raises:
        NotFoundError: if the issuer or the ratio is unknown.
        InputError: if the period is malformed.
    """
    found = ratio if isinstance(ratio, Ratio) else find_ratio(ratio)
    wanted = FiscalPeriod.parse(period) if isinstance(period, str) else period
    store.issuer(issuer)
    inputs: dict[str, Fact] = {}
    spans: list[tuple[str, str]] = []

    def value_of(name: str, shift: int) -> Decimal | None:
        key = name if not shift else f"{name} (start of period)"
        fact = _input(store, issuer, name, wanted, as_of, spans, shift)
        if fact is None:
            return None
        if fact.start:
            spans.append((fact.start, fact.end))
        inputs[key] = fact
        return fact.value

    value, assumed, reason = solve(found, value_of)
    currencies = {fact.unit.partition("/")[0] for fact in inputs.values() if fact.unit not in ("shares", "pure")}
    if value is not None and len(currencies) > 1:
        value, reason = None, f"the inputs are in different units: {', '.join(sorted(currencies))}"
    return RatioResult(found, str(wanted), value, MappingProxyType(dict(inputs)), assumed, reason)


def _input(
    store: FactStore,
    issuer: str,
    name: str,
    period: FiscalPeriod,
    as_of: PointInTime,
    spans: list[tuple[str, str]],
    shift: int,
) -> Fact | None:
    try:
        if not shift:
            return store.lookup(issuer, name, period, as_of).fact
        now = store.lookup(issuer, name, period, as_of).fact
    except NotFoundError:
        return None
    if now is None:
        return None
    if now.start:
        return store.lookup(issuer, name, _before(period), as_of).fact
    # The balance at the start of the period: the day before the flows begin, else a year (or a quarter) earlier.
    if spans:
        day = date.fromisoformat(spans[0][0]) - timedelta(days=1)
        exact = store.fact(issuer, name, None, day.isoformat(), as_of)
        if exact is not None:
            return exact
    return store.lookup(issuer, name, _before(period), as_of).fact


def _before(period: FiscalPeriod) -> FiscalPeriod:
    if period.part in ("FY", "9M"):
        return FiscalPeriod(period.year - 1, period.part)
    kind, number = period.part[0], int(period.part[1])
    if number > 1:
        return FiscalPeriod(period.year, f"{kind}{number - 1}")
    return FiscalPeriod(period.year - 1, f"{kind}{4 if kind == 'Q' else 2}")


def compute_growth(
    store: FactStore,
    issuer: str,
    concept: str,
    period: str | FiscalPeriod,
    as_of: PointInTime = None,
    *,
    since: str | FiscalPeriod | None = None,
) -> RatioResult:
    """Compute the change of a line item in per cent: from the period a year before, or per year from ``since``.

    Over several years it is the compound annual growth rate. Both values are cited.

    Raises:
        NotFoundError: if the issuer or the line item is unknown.
        InputError: if a period is malformed, or ``since`` is no earlier period of the same length.
    """
    wanted = FiscalPeriod.parse(period) if isinstance(period, str) else period
    first = FiscalPeriod.parse(since) if isinstance(since, str) else since
    first = first or FiscalPeriod(wanted.year - 1, wanted.part)
    years = wanted.year - first.year
    if years < 1 or first.part != wanted.part:
        raise InputError(f"Growth needs an earlier period of the same length than {wanted}. Got {first}.")
    formula = "(last / first - 1)" if years == 1 else f"(last / first) ** (1 / {years}) - 1"
    ratio = Ratio("year_over_year" if years == 1 else "cagr", formula, "%", (), "growth", "crecimiento")
    found = {"first": store.lookup(issuer, concept, first, as_of), "last": store.lookup(issuer, concept, wanted, as_of)}
    inputs = {name: one.fact for name, one in found.items() if one.fact is not None}
    missing = [one.reason for one in found.values() if one.fact is None]
    label = f"{first} to {wanted}"
    if missing:
        return RatioResult(ratio, label, None, MappingProxyType(inputs), reason=missing[0])
    old, new = inputs["first"].value, inputs["last"].value
    if not old or (years > 1 and (old < 0 or new < 0)):
        return RatioResult(
            ratio, label, None, MappingProxyType(inputs), reason="growth from zero, or of losses over years"
        )
    value = (new - old) / abs(old) * 100 if years == 1 else calculate(f"cagr({old}, {new}, {years})")
    return RatioResult(ratio, label, value.quantize(_PLACES), MappingProxyType(inputs))
