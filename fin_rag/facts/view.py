"""Facts as they were known at one point in time: what a chain or a check may see, and nothing later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fin_rag.facts.lookup import Lookup, Series
from fin_rag.facts.model import Fact
from fin_rag.facts.periods import FiscalPeriod, instant
from fin_rag.facts.reading import Issuer

if TYPE_CHECKING:
    from fin_rag.facts.store import FactStore, PointInTime


@dataclass(frozen=True, slots=True)
class FactView:
    """Read a ``FactStore`` as of one point in time; a call may ask for an earlier one, never for a later one."""

    store: FactStore
    as_of: PointInTime = None

    def issuer(self, name: str) -> Issuer:
        """Return an issuer; see ``FactStore.issuer``."""
        return self.store.issuer(name)

    def fact(
        self,
        issuer: str,
        concept: str,
        start: object,
        end: object,
        as_of: PointInTime = None,
        *,
        unit: str | None = None,
        dimensions: Mapping[str, str] | None = None,
    ) -> Fact | None:
        """Return a reported value; see ``FactStore.fact``."""
        return self.store.fact(issuer, concept, start, end, self._known(as_of), unit=unit, dimensions=dimensions)

    def lookup(
        self,
        issuer: str,
        concept: str,
        period: str | FiscalPeriod,
        as_of: PointInTime = None,
        *,
        unit: str | None = None,
        derive: bool = True,
    ) -> Lookup:
        """Look up a line item; see ``FactStore.lookup``."""
        return self.store.lookup(issuer, concept, period, self._known(as_of), unit=unit, derive=derive)

    def series(
        self,
        issuer: str,
        concept: str,
        kind: str = "year",
        as_of: PointInTime = None,
        *,
        unit: str | None = None,
        derive: bool = False,
    ) -> Series:
        """Return a series; see ``FactStore.series``."""
        return self.store.series(issuer, concept, kind, self._known(as_of), unit=unit, derive=derive)

    def _known(self, asked: PointInTime) -> PointInTime:
        if asked is None or asked == "":
            return self.as_of
        if self.as_of is None or self.as_of == "":
            return asked
        return asked if instant(asked) <= instant(self.as_of) else self.as_of
