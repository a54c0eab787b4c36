"""Means with bootstrap intervals that resample whole clusters, such as the documents or issuers of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fin_rag.errors import InputError


@dataclass(frozen=True, slots=True)
class Interval:
    """Hold a mean and its percentile interval; ``low`` and ``high`` are ``None`` with fewer than two clusters.

    ``n`` counts the values, ``clusters`` the groups that were resampled, ``unscored`` values that could not be
    measured and are in neither mean nor interval.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    unscored: int = 0

    def as_dict(self) -> dict[str, float | int | None]:
        """Return the interval as JSON, rounded to six digits."""

        def shown(value: float | None) -> float | None:
            return None if value is None else round(value, 6)

        return {
            "mean": shown(self.mean),
            "low": shown(self.low),
            "high": shown(self.high),
            "n": self.n,
            "clusters": self.clusters,
            "unscored": self.unscored,
        }

    def __str__(self) -> str:
        if self.mean is None:
            return "-"
        if self.low is None or self.high is None:
            return f"{self.mean:.3f}"
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def mean_interval(
    values: Sequence[float | None],
    clusters: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 13,
) -> Interval:
    """Return the mean of what was measured, and its percentile bootstrap interval over whole clusters.

    Questions on one document succeed and fail together, so single questions would give intervals that are too
    narrow. Same values, same seed, same interval.

    Raises:
        InputError: if there are not as many clusters as values, or ``level`` is not between 0 and 1.

    Example:
        >>> result = mean_interval([1, 1, 0, None], ["a", "a", "b", "b"])
        >>> round(result.mean, 3), result.n, result.clusters, result.unscored
        (0.667, 3, 2, 1)
    """
    if clusters is not None and len(clusters) != len(values):
        raise InputError(f"mean_interval needs one cluster a value. Got {len(values)} and {len(clusters)}.")
    if not 0 < level < 1:
        raise InputError(f"'level' of mean_interval must be between 0 and 1. Got {level!r}.")
    names = clusters if clusters is not None else [str(i) for i in range(len(values))]
    sums: dict[str, list[float]] = {}
    for value, name in zip(values, names, strict=True):
        if value is not None and value == value:  # NaN is not equal to itself
            cell = sums.setdefault(name, [0.0, 0.0])
            cell[0] += value
            cell[1] += 1
    cells = np.array([sums[name] for name in sorted(sums)], dtype=float).reshape(-1, 2)
    n = int(cells[:, 1].sum())
    if not n:
        return Interval(None, None, None, 0, 0, len(values))
    mean = float(cells[:, 0].sum() / n)
    if len(cells) == 1:
        return Interval(mean, None, None, n, 1, len(values) - n)
    draws = np.random.default_rng(seed).integers(0, len(cells), size=(resamples, len(cells)))
    drawn = cells[draws].sum(axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [tail, 1 - tail])
    return Interval(mean, float(low), float(high), n, len(cells), len(values) - n)
