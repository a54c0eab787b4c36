"""Words shared by a question and a few texts, weighed by how rare they are among those texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from fin_rag.text.words import fold, identifiers, topic_words

_WORD: Final = re.compile(r"\w+")
_ENDINGS: Final = ("ies", "ing", "es", "ed", "as", "os", "s", "y", "a", "o", "e")
_SHORTEST_STEM: Final = 4
_K1: Final = 1.2
_B: Final = 0.75


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return a folded word without its inflection, roughly and alike in English and Spanish.

    Words are compared with each other, never shown: the same rule on both sides is what counts.

    Example:
        >>> [stem(word) for word in ("facilities", "facility", "ventas", "riesgo")]
        ['facilit', 'facilit', 'vent', 'riesg']
    """
    if len(word) <= _SHORTEST_STEM or any(char.isdigit() for char in word):
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def question_terms(question: str) -> tuple[str, ...]:
    """Return the stems of a question's topic words, and its identifiers as they are, each once.

    Example:
        >>> question_terms("What were the net sales under Item 7A?")
        ('net', 'sale', 'item', '7a')
    """
    stems = [stem(fold(word)) for word in topic_words(question)]
    return tuple(dict.fromkeys([*stems, *identifiers(question)]))


def text_terms(text: str) -> list[str]:
    """Return the stems of all words of a text, and its identifiers that are no plain words."""
    folded = [stem(word) for word in _WORD.findall(fold(text))]
    known = set(folded)
    return folded + [token for token in identifiers(text) if token not in known]


def rarity(terms: Sequence[str], counts: Mapping[str, int], total: int) -> dict[str, float]:
    """Return the weight of each term: high where few of ``total`` texts hold it.

    Example:
        >>> weights = rarity(["net", "debt"], {"net": 9, "debt": 1}, 10)
        >>> weights["debt"] > weights["net"] > 0
        True
    """
    return {term: math.log(1 + (total - counts.get(term, 0) + 0.5) / (counts.get(term, 0) + 0.5)) for term in terms}


def pool_scores(question: str, texts: Sequence[str], bags: Sequence[Counter[str]] | None = None) -> list[float]:
    """Return BM25 (k1 1.2, b 0.75) of each text for the question, with the texts themselves as the collection.

    ``bags`` are the terms of the texts, where they are known already.

    Example:
        >>> pool_scores("net debt", ["Net debt fell.", "Sales rose."])[1]
        0.0
    """
    wanted = question_terms(question)
    bags = [Counter(text_terms(text)) for text in texts] if bags is None else bags
    counts = Counter(term for bag in bags for term in wanted if term in bag)
    weights = rarity(wanted, counts, len(bags))
    average = sum(sum(bag.values()) for bag in bags) / max(len(bags), 1) or 1.0
    scores = []
    for bag in bags:
        scale = _K1 * (1 - _B + _B * sum(bag.values()) / average)
        gains = (weights[term] * bag[term] * (_K1 + 1) / (bag[term] + scale) for term in wanted if term in bag)
        scores.append(sum(gains, 0.0))
    return scores
