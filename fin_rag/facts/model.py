"""What a fact is: its period, its value with the filing it comes from, and how it was derived."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from fin_rag.facts.periods import duration_kind, fact_date
from fin_rag.schema import Span

EXACT: Final = 1_000_000  # the precision of a value that is stated without rounding ("INF")


@dataclass(frozen=True, slots=True)
class FactSource:
    """Name a filing that reports a value.

    ``filed`` is when it became known, in ISO form: a day, or an instant in UTC; empty if it is not known. ``span``
    indexes the canonical text of ``doc_id``, where the figure is printed there.
    """

    accession: str
    form: str
    filed: str
    value: Decimal
    decimals: int | None = None
    doc_id: str = ""
    span: Span | None = None

    @property
    def amended(self) -> bool:
        """Tell whether the filing amends another one."""
        return self.form.endswith("/A")

    def record(self) -> dict[str, object]:
        """Return the source as plain JSON values; what is not known is absent."""
        row: dict[str, object] = {"accession": self.accession, "form": self.form, "filed": self.filed}
        row["value"] = number_text(self.value)
        if self.decimals is not None:
            row["decimals"] = "INF" if self.decimals >= EXACT else self.decimals
        if self.doc_id:
            row["doc_id"] = self.doc_id
        if self.span:
            row["span"] = [self.span.start, self.span.end]
        if self.amended:
            row["amendment"] = True
        return row


@dataclass(frozen=True, slots=True)
class Fact:
    """Hold one value of one issuer for one period, as it was known at a point in time.

    ``concept`` is the tag that was reported (``us-gaap:Revenues``). ``start`` and ``end`` are ISO dates,
    inclusive; an instant has an empty ``start``. ``value`` is in ``unit``, scale and sign applied. ``sources`` are
    the filings that report this value, the deciding one first; ``restated`` are earlier filings with another
    value, newest first; ``conflicts`` are other values of the deciding filing with equal precision.

    A derived value names its ``formula`` and its ``parts``, and has no sources of its own.
    """

    issuer: str
    concept: str
    start: str
    end: str
    unit: str
    value: Decimal
    sources: tuple[FactSource, ...] = ()
    restated: tuple[FactSource, ...] = ()
    conflicts: tuple[FactSource, ...] = ()
    dimensions: tuple[tuple[str, str], ...] = ()
    formula: str = ""
    parts: tuple[Fact, ...] = ()

    @property
    def derived(self) -> bool:
        """Tell whether the value was computed from other facts."""
        return bool(self.formula)

    @property
    def source(self) -> FactSource | None:
        """Return the filing that decided the value, ``None`` for a derived one."""
        return self.sources[0] if self.sources else None

    @property
    def kind(self) -> str:
        """Return ``instant``, ``quarter``, ``half``, ``nine_months``, ``year`` or ``other``."""
        return duration_kind(self.start, self.end)

    @property
    def end_date(self) -> date:
        """Return the last day of the period."""
        return fact_date(self.end)

    def record(self) -> dict[str, object]:
        """Return the fact as plain JSON values; money is a string, so that nothing is rounded."""
        row: dict[str, object] = {
            "issuer": self.issuer, "concept": self.concept, "start": self.start or None, "end": self.end,
            "duration": self.kind, "unit": self.unit, "value": number_text(self.value), "derived": self.derived,
        }  # fmt: skip
        if self.derived:
            row["formula"] = self.formula
            row["parts"] = [part.record() for part in self.parts]
        else:
            row["sources"] = [source.record() for source in self.sources]
        if self.restated:
            row["restated"] = [source.record() for source in self.restated]
        if self.conflicts:
            row["conflicts"] = [source.record() for source in self.conflicts]
        if self.dimensions:
            row["dimensions"] = dict(self.dimensions)
        return row


def number_text(value: Decimal) -> str:
    """Write a number in plain digits, without an exponent and without useless zeros behind the point.

    Example:
        >>> number_text(Decimal("1.50E+3")), number_text(Decimal("0.10"))
        ('1500', '0.1')
    """
    text = f"{value:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
