"""Fusion of ranked lists by the identity of chunks, never by their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.errors import InputError

# The constant of Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and
# individual rank learning methods", SIGIR 2009.
_RANK_OFFSET: Final = 60


@dataclass(frozen=True, slots=True)
class Fused:
    """Hold one chunk's place after fusion.

    ``score`` is in (0, 1]: 1 means first in every list. ``ranks`` holds the 1-based rank in each list
    that found the chunk, ``scores`` the score it had there.
    """

    row: int
    score: float
    ranks: Mapping[str, int]
    scores: Mapping[str, float]


def reciprocal_rank_fusion(
    runs: Mapping[str, Sequence[tuple[int, float]]], weights: Mapping[str, float]
) -> list[Fused]:
    """Fuse ranked lists of ``(row, score)``: a chunk's score is the weighted sum of 1 / (60 + rank).

    The sum is divided by what a chunk that is first everywhere gets. Ties are broken by row.

    Raises:
        InputError: if a list has no weight, a weight is negative, or all are zero.

    Example:
        >>> fused = reciprocal_rank_fusion(
        ...     {"dense": [(7, 0.9), (3, 0.8)], "keyword": [(3, 5.1)]}, {"dense": 0.6, "keyword": 0.4})
        >>> [(f.row, round(f.score, 3)) for f in fused]
        [(3, 0.99), (7, 0.6)]
    """
    missing = sorted(runs.keys() - weights.keys())
    if missing or any(weights[name] < 0 for name in runs) or not any(weights[name] for name in runs):
        raise InputError(
            f"Fusion needs a weight of at least 0 for each of {sorted(runs)}, one of them above 0. "
            f"Got {dict(weights)!r}."
        )
    ranks: dict[int, dict[str, int]] = {}
    scores: dict[int, dict[str, float]] = {}
    for name, run in runs.items():
        for rank, (row, score) in enumerate(run, 1):
            ranks.setdefault(row, {})[name] = rank
            scores.setdefault(row, {})[name] = score
    best = sum(weights[name] for name in runs) / (_RANK_OFFSET + 1)
    fused = [
        Fused(
            row,
            sum(weights[name] / (_RANK_OFFSET + rank) for name, rank in found.items()) / best,
            found,
            scores[row],
        )
        for row, found in ranks.items()
    ]
    return sorted((f for f in fused if f.score > 0), key=lambda f: (-f.score, f.row))


def score_fusion(runs: Mapping[str, Sequence[tuple[int, float]]], weights: Mapping[str, float]) -> list[Fused]:
    """Fuse by score: each list is brought to 0..1 by its best and worst score, then summed by weight.

    The result is divided by the sum of the weights of lists that found anything. Ties are broken by row.

    Example:
        >>> fused = score_fusion({"dense": [(7, 0.9), (3, 0.5)], "keyword": [(3, 6.0)]}, {"dense": 0.6, "keyword": 0.4})
        >>> [(f.row, round(f.score, 3)) for f in fused]
        [(7, 0.6), (3, 0.4)]
    """
    ranks: dict[int, dict[str, int]] = {}
    scores: dict[int, dict[str, float]] = {}
    sums: dict[int, float] = {}
    total = sum(weights[name] for name, run in runs.items() if run) or 1.0
    for name, run in runs.items():
        if not run:
            continue
        best, worst = run[0][1], run[-1][1]
        # Scores of words start at nothing; similarities of meaning never do.
        low = worst if name == "dense" and best > worst else 0.0
        for rank, (row, score) in enumerate(run, 1):
            ranks.setdefault(row, {})[name] = rank
            scores.setdefault(row, {})[name] = score
            share = (score - low) / (best - low) if best > low else 1.0
            sums[row] = sums.get(row, 0.0) + weights[name] * share / total
    fused = [Fused(row, sums[row], ranks[row], scores[row]) for row in ranks]
    return sorted(fused, key=lambda f: (-f.score, f.row))
