"""Diversity: maximal marginal relevance, and passages that several documents repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fin_rag.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def maximal_marginal_relevance(
    relevance: Sequence[float], vectors: NDArray[np.float32], k: int, lambda_mult: float = 0.5
) -> list[int]:
    """Choose ``k`` items, each the best in relevance less its likeness to those already chosen.

    The gain of an item is ``lambda_mult * relevance - (1 - lambda_mult) * max cosine to the chosen``
    (Carbonell and Goldstein, SIGIR 1998). Ties are broken by position; the first is the most relevant one.

    Args:
        relevance: one number an item, on a scale like that of cosines.
        vectors: unit vectors of shape ``(items, dimension)``.
        k: how many to choose, at most as many as there are.
        lambda_mult: 1 looks at relevance alone, 0 at difference alone.

    Raises:
        InputError: if ``lambda_mult`` is not in [0, 1] or the lengths differ.

    Example:
        >>> import numpy as np
        >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
        >>> maximal_marginal_relevance([0.9, 0.9, 0.8], vectors, 2)
        [0, 2]
    """
    if not 0 <= lambda_mult <= 1:
        raise InputError(f"'lambda_mult' must be in [0, 1]. Got {lambda_mult!r}.")
    if len(relevance) != len(vectors):
        raise InputError(f"Got {len(relevance)} relevances for {len(vectors)} vectors. Give one for each.")
    score = np.asarray(relevance, dtype=np.float64)
    left = np.ones(len(score), dtype=bool)
    likeness = np.zeros(len(score))  # to the nearest of the chosen
    chosen: list[int] = []
    while len(chosen) < min(k, len(score)):
        gain = lambda_mult * score - (1 - lambda_mult) * likeness if chosen else score
        best = int(np.argmax(np.where(left, gain, -np.inf)))
        chosen.append(best)
        left[best] = False
        near = vectors @ vectors[best]
        likeness = near if len(chosen) == 1 else np.maximum(likeness, near)
    return chosen
