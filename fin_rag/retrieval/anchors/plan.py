"""What the detectors look for, read out of the query plan: terms, concepts, shapes, words of section titles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from fin_rag.errors import InputError
from fin_rag.query import Library, QueryPlan, analyse
from fin_rag.query.model import MetricMatch, TopicMatch
from fin_rag.query.vocabulary import metrics_data, phrases
from fin_rag.retrieval.anchors.model import Plan
from fin_rag.retrieval.lexical import question_terms, stem, text_terms
from fin_rag.text.words import fold

_CONCEPT: Final = "="  # in front of the name of a concept; no stem begins with it
_SEARCHED: Final = 3  # wordings of a concept that are searched for with the question


def make_plan(
    question: str,
    library: Library | None = None,
    *,
    keywords: Mapping[str, float] | None = None,
    patterns: Mapping[str, str] | None = None,
    occurs: Callable[[str], bool] = lambda _: True,
) -> Plan:
    """Read out of a question what the detectors look for.

    Names of companies, periods and directions to the reader are no terms. A metric or topic that the question names
    becomes one concept: it stands wherever all words of one of its wordings stand together, in English or
    Spanish.

    Args:
        question: the question.
        library: the issuers and documents of the index.
        keywords: further words with their weights; a word of the question gets the weight given.
        patterns: named regular expressions that lines are searched for.
        occurs: tells whether a word stands in any text of the index.

    Raises:
        InputError: if a pattern is no regular expression, or a weight is not positive.

    Example:
        >>> plan = make_plan("How much capex was there?", keywords={"covenant": 2.0})
        >>> plan.terms["covenant"], "=capex" in plan.terms
        (2.0, True)
        >>> sorted(plan.held("Purchases of property, plant and equipment (12)"))
        ['=capex']
    """
    query = analyse(question, library or Library([]), occurs=occurs)
    concepts = _concepts(query)
    named = [*(metric.text for metric in query.metrics), *(topic.text for topic in query.topics)]
    covered = frozenset(term for text in named for term in question_terms(text))
    said = query.search or question
    terms = {term: 1.0 for term in question_terms(said) if term not in covered}
    # A concept that takes the place of several words weighs as much as they would.
    terms |= {name: float(max(len(question_terms(text)), 1)) for name, (text, _) in concepts.items()}
    for word, weight in (keywords or {}).items():
        if weight <= 0:
            raise InputError(f"The weight of the keyword {word!r} must be above 0. Got {weight!r}.")
        terms |= dict.fromkeys((stem(fold(part)) for part in word.split()), float(weight))
    for name, pattern in (patterns or {}).items():
        try:
            re.compile(pattern)
        except re.error as error:
            raise InputError(f"The pattern {name!r} is no regular expression: {error}.") from error
    wordings = {name: _stemmed(texts) for name, (_, texts) in concepts.items()}
    searched = [text for _, texts in concepts.values() for text in texts[:_SEARCHED]]
    shape = _vocabulary()["shapes"].get(query.shape)
    return Plan(
        query=query,
        terms=terms,
        wordings=wordings,
        shapes={query.shape: str(shape)} if shape else {},
        patterns=dict(patterns or {}),
        title_words=_title_words(query),
        search=" ".join(dict.fromkeys([said, *searched])),
    )


def _concepts(query: QueryPlan) -> dict[str, tuple[str, list[str]]]:
    """Return, for each concept, the words of the question and its wordings, the usual ones first."""
    found: dict[str, tuple[str, list[str]]] = {}
    for metric in query.metrics:
        for item in metric.items:
            found[f"{_CONCEPT}{item}"] = (metric.text if len(metric.items) == 1 else item, _item_wordings(item, metric))
    for topic in query.topics:
        found.setdefault(f"{_CONCEPT}{topic.topic}", (topic.text, [topic.text, *topic.terms]))
    return found


def _item_wordings(item: str, metric: MetricMatch) -> list[str]:
    entry = metrics_data()["item"][item]
    own = [metric.text] if len(metric.items) == 1 else []
    names, rows = list(entry.get("names", ())), list(entry.get("rows", ()))
    # How rows of statements print it leads; then how questions call it.
    return list(dict.fromkeys([*own, *names[:1], *rows, *names[1:]]))


def _stemmed(texts: Iterable[str]) -> tuple[frozenset[str], ...]:
    return tuple(dict.fromkeys(stems for text in texts if (stems := frozenset(question_terms(text)))))


def _title_words(query: QueryPlan) -> dict[str, str]:
    """Return stems of titles where such a question is usually answered, each with the reason."""
    titles: list[tuple[str, str]] = []
    for metric in query.metrics:
        for statement in metric.statements:
            titles += [(name, f"{metric.metric} in {statement}") for name in phrases()["statements"].get(statement, ())]
    for statement in query.statements:
        titles += [(name, statement) for name in phrases()["statements"].get(statement, ())]
    titles += [(title, topic.topic) for topic in query.topics for title in _topic_titles(topic)]
    found: dict[str, str] = {}
    for title, reason in titles:
        for term in title_terms(title):
            found.setdefault(term, reason)
    return found


def _topic_titles(topic: TopicMatch) -> tuple[str, ...]:
    return (*topic.titles, topic.text)


@lru_cache(maxsize=1 << 15)
def title_terms(title: str) -> tuple[str, ...]:
    """Return the stems of a title's topic words.

    Example:
        >>> title_terms("Liquidity and Capital Resources")
        ('liquidit', 'capital', 'resourc')
    """
    return tuple(dict.fromkeys(question_terms(title) if title.strip() else text_terms(title)))


@cache
def _vocabulary() -> dict[str, Any]:
    text = files("fin_rag.retrieval.anchors").joinpath("vocabulary.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
