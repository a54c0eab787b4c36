"""The plan of a question: terms, shapes of the value asked, and where such questions are usually answered."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from fin_rag.errors import InputError
from fin_rag.index.keywords import fold
from fin_rag.retrieval.anchors.model import Plan
from fin_rag.retrieval.lexical import question_terms, stem, text_terms


def make_plan(
    question: str, *, keywords: Mapping[str, float] | None = None, patterns: Mapping[str, str] | None = None
) -> Plan:
    """Read out of a question what the detectors look for.

    Args:
        question: the question, in English or Spanish.
        keywords: further words with their weights; a word of the question gets the weight given.
        patterns: named regular expressions that lines are searched for.

    Raises:
        InputError: if a pattern is no regular expression, or a weight is not positive.

    Example:
        >>> plan = make_plan("How much debt matures in 2026?", keywords={"covenant": 2.0})
        >>> plan.terms["covenant"], sorted(plan.shapes)
        (2.0, ['money'])
    """
    terms = dict.fromkeys(question_terms(question), 1.0)
    for word, weight in (keywords or {}).items():
        if weight <= 0:
            raise InputError(f"The weight of the keyword {word!r} must be above 0. Got {weight!r}.")
        terms |= dict.fromkeys((stem(fold(part)) for part in word.split()), float(weight))
    for name, pattern in (patterns or {}).items():
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(f"The pattern {name!r} is no regular expression: {error}.") from error
    return Plan(terms, _shapes(question), dict(patterns or {}), _title_words(terms))


def _shapes(question: str) -> dict[str, str]:
    words = re.findall(r"\w+", fold(question))
    said = f" {' '.join(words)} "
    return {
        name: str(shape["pattern"])
        for name, shape in _vocabulary()["shapes"].items()
        if any(f" {cue} " in said for cue in shape["asked_by"])
    }


def _title_words(terms: Mapping[str, float]) -> dict[str, str]:
    """Return the title words of the topics that the terms touch, with the topic as the reason."""
    found: dict[str, str] = {}
    for topic, stems, titles in _topics():
        if not stems.isdisjoint(terms):
            for word in titles:
                found.setdefault(word, topic)
    return found


@cache
def _topics() -> tuple[tuple[str, frozenset[str], tuple[str, ...]], ...]:
    return tuple(
        (
            topic,
            frozenset(stem(fold(word)) for word in entry["words"]),
            tuple(dict.fromkeys(term for title in entry["titles"] for term in title_terms(title))),
        )
        for topic, entry in _vocabulary()["topics"].items()
    )


def title_terms(title: str) -> list[str]:
    """Return the stems of a title's topic words.

    Example:
        >>> title_terms("Liquidity and Capital Resources")
        ['liquidit', 'capital', 'resourc']
    """
    return list(dict.fromkeys(question_terms(title) if title.strip() else text_terms(title)))


@cache
def _vocabulary() -> dict[str, Any]:
    text = files("fin_rag.retrieval.anchors").joinpath("vocabulary.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
