"""What is packed whole into chunks: blocks, and pieces of blocks that are too long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fin_rag.schema import Block, Span

_LEAD_IN_TOKENS = 80  # a longer paragraph is no lead-in of the table below it


@dataclass(frozen=True, slots=True)
class Unit:
    """Hold what is joined whole: a block, or a piece of a block that is too long.

    ``tokens`` estimates the body's cost. ``repeat`` holds what a row group needs in front (the header, the
    group title that its rows stand under). ``table`` is the block that a table or row group is (part) of.
    ``own`` and ``spans`` are set for a group of columns: the cells that are its body, and these with the
    column heads and row labels in reading order.
    """

    span: Span
    kind: str
    tokens: int
    repeat: tuple[Span, ...] = ()
    table: Block | None = field(default=None, compare=False)
    own: tuple[Span, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def is_table(self) -> bool:
        """Tell whether the unit is a table or rows of one."""
        return self.kind in ("table", "rows")


@dataclass(frozen=True, slots=True)
class Measure:
    """Say how a text is counted while it is cut.

    ``estimate`` counts spans on their own in one batch; ``joined`` returns what belongs to a span and stands
    elsewhere.
    """

    text: str
    estimate: Callable[[Sequence[Span]], list[int]]
    joined: Callable[[Span], Sequence[Span]]


def joins(units: Sequence[Unit], at: int, end: int) -> bool:
    """Tell whether the unit at ``end`` may join a run that began at ``at``."""
    unit, before = units[end], units[at:end]
    if units[end - 1].own:
        return False
    if unit.is_table:
        # A table takes along only what introduces it.
        return not unit.repeat and all(b.kind == "heading" or introduces(b) for b in before)
    return not units[at].is_table and not units[end - 1].is_table


def introduces(unit: Unit) -> bool:
    """Tell whether a unit is short enough to introduce a table."""
    return unit.kind == "prose" and unit.tokens <= _LEAD_IN_TOKENS


def lead_tokens(units: Sequence[Unit], text: str) -> int:
    """Count what at the end of a run has to stay with the table below: headings and a lead-in sentence."""
    total, at = 0, len(units)
    if at and introduces(units[at - 1]) and text[units[at - 1].span.end - 1] == ":":
        at -= 1
        total += units[at].tokens + 1
    while at and units[at - 1].kind == "heading":
        at -= 1
        total += units[at].tokens + 1
    return total


def kind_of(parts: Sequence[Block] | Sequence[Unit]) -> str:
    """Return the kind of a chunk made of blocks or units."""
    names = {"rows": "table", "code": "prose"}
    kinds = {names.get(part.kind, part.kind) for part in parts} - {"heading"}
    if "table" in kinds and all(isinstance(p, Unit) and (p.kind != "prose" or introduces(p)) for p in parts):
        kinds = {"table"}
    if not kinds:
        return "prose"
    return kinds.pop() if len(kinds) == 1 else "mixed"
