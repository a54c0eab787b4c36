"""Packing evidence under a budget that is never exceeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fin_rag.retrieval.evidence import Evidence, covered_by
from fin_rag.retrieval.statements import clipped

_STATEMENT_SHARE: Final = 0.6  # of the budget, for whole statements; beyond it they are clipped
_JOIN: Final = 2  # the blank line between two pieces


def pack(
    ranked: Sequence[Evidence],
    items: Mapping[str, Sequence[str]],
    budget: int,
    measure: Callable[[Evidence], int],
    limit_characters: int,
) -> list[Evidence]:
    """Return the best evidence that fits, in rank order.

    Statements stand whole where all of them fit in three fifths of the budget, else clipped to the rows asked, the
    heads and totals. Evidence that does not fit is passed over for smaller one behind it.

    Args:
        ranked: evidence, best first.
        items: the line items asked of a statement, by its identity.
        budget: in the unit of ``measure``.
        measure: the size of evidence, with its header if that is to be counted.
        limit_characters: about as many characters as the budget, for clipping.
    """
    statements = [one for one in ranked if one.statement >= 0]
    whole = sum(measure(one) for one in statements) <= _STATEMENT_SHARE * budget
    room = int(_STATEMENT_SHARE * limit_characters / max(len(statements), 1))
    packed: list[Evidence] = []
    left = budget
    for one in ranked:
        chosen: Evidence | None = one
        if one.statement >= 0 and not whole:
            chosen = clipped(one, items.get(one.identity, ()), room)
        if chosen is None or any(covered_by(chosen, other) for other in packed):
            continue
        cost = measure(chosen) + (_JOIN if packed else 0)
        if cost > left:
            continue
        packed.append(chosen)
        left -= cost
    return packed
