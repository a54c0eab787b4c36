"""Answers of the store: a value or the reason why there is none, and series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fin_rag.facts.model import Fact


@dataclass(frozen=True, slots=True)
class Lookup:
    """Hold a value, or why there is none and what is nearest to it."""

    fact: Fact | None
    reason: str = ""
    nearest: tuple[Fact, ...] = ()

    @property
    def found(self) -> bool:
        """Tell whether there is a value."""
        return self.fact is not None

    def record(self) -> dict[str, object]:
        """Return the answer as plain JSON values."""
        if self.fact is not None:
            return {"found": True, "fact": self.fact.record()}
        return {"found": False, "reason": self.reason, "nearest": [fact.record() for fact in self.nearest]}


@dataclass(frozen=True, slots=True)
class Series:
    """Hold the values of one line item over time, oldest first, in one unit."""

    points: tuple[Fact, ...] = ()
    kind: str = "year"
    unit: str = ""
    reasons: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def record(self) -> dict[str, object]:
        """Return the series as plain JSON values."""
        row: dict[str, object] = {"kind": self.kind, "unit": self.unit, "points": [one.record() for one in self.points]}
        if self.reasons:
            row["left_out"] = list(self.reasons)
        return row
