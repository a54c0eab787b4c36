"""What a question or clause is about, as concepts: own words, and other names of the same thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from fin_rag.query.analyse import _metric_finder, _topic_finder
from fin_rag.query.model import QueryPlan
from fin_rag.query.vocabulary import PhraseFinder, Token, metrics_data, phrases, tokenize, topics_data
from fin_rag.text.words import fold, function_words, stem, stems

TERM_WEIGHT: Final = 0.35  # of another name of the thing, against a word of the question
_SYNONYM_WEIGHT: Final = 0.25


@dataclass(frozen=True, slots=True)
class Concept:
    """Hold one thing that a question is about.

    ``own`` are the stems of its words in the question; ``others`` are other names, each a tuple of stems that have
    to stand together. ``labels`` are names of a line item, folded: a table row may bear one of them.
    """

    name: str
    own: frozenset[str]
    others: tuple[frozenset[str], ...]
    labels: frozenset[str] = frozenset()


def concepts_of(text: str, plan: QueryPlan | None = None) -> tuple[Concept, ...]:
    """Return the concepts of a text in order; terms of the user's own lexicon come from the plan.

    Example:
        >>> [concept.name for concept in concepts_of("capex and employees")]
        ['capex', 'employees']
    """
    own = tuple((topic.topic, topic.text, topic.terms) for topic in plan.topics if topic.own) if plan else ()
    return _concepts(text, own)


@lru_cache(maxsize=512)
def _concepts(text: str, lexicon: tuple[tuple[str, str, tuple[str, ...]], ...]) -> tuple[Concept, ...]:
    tokens = tokenize(text)
    taken: set[int] = set()
    found: dict[str, Concept] = {}
    spans: list[tuple[str, int, int, tuple[str, ...], bool]] = []
    for hit in _metric_finder().find(tokens):
        group, _, key = hit.label.partition(".")
        entry = metrics_data()[group][key]
        names = (*entry["names"], *entry.get("rows", ()))
        spans.append((key, hit.first, hit.last, names, True))
    for hit in _topic_finder().find(tokens):
        entry = topics_data()["topics"][hit.label]
        spans.append((hit.label, hit.first, hit.last, (*entry["en"], *entry["es"]), False))
    if lexicon:
        finder = PhraseFinder({topic: terms for topic, _, terms in lexicon})
        terms_of = {topic: terms for topic, _, terms in lexicon}
        spans += [(h.label, h.first, h.last, terms_of[h.label], False) for h in finder.find(tokens)]
    for name, first, last, names, is_metric in sorted(spans, key=lambda s: (s[1] - s[2], s[1], s[0])):
        places = set(range(first, last))
        if name in found:
            taken |= places
            continue
        if places & taken and not places <= taken:
            continue
        if len(tokens[first].folded) <= 2 and last - first == 1 and not tokens[first].text.isupper():
            continue
        taken |= places
        found[name] = Concept(
            name,
            frozenset(t.stem for t in tokens[first:last] if _counts(t)),
            _phrases(names),
            frozenset(_label(n) for n in names) if is_metric else frozenset(),
        )
    for at, token in enumerate(tokens):
        if at not in taken and _counts(token) and token.folded not in _directions():
            found.setdefault(
                token.stem, Concept(token.folded, frozenset({token.stem}), _phrases(_synonyms().get(token.stem, ())))
            )
    return tuple(found.values())


def _counts(token: Token) -> bool:
    return token.folded not in function_words() and (len(token.folded) > 1 or token.folded.isdigit())


@lru_cache(maxsize=4096)
def _phrases(names: Sequence[str]) -> tuple[frozenset[str], ...]:
    return tuple(dict.fromkeys(s for s in (frozenset(stems(name)) for name in names) if s))


@lru_cache(maxsize=8192)
def _label(name: str) -> str:
    return " ".join(token.folded for token in tokenize(name))


def label_key(text: str) -> str:
    """Return a row's label in the form that labels of line items are compared in.

    Example:
        >>> label_key("Net sales (Note 3)")
        'net sales note 3'
    """
    return " ".join(token.folded for token in tokenize(text))


@cache
def _directions() -> frozenset[str]:
    keep = {"research", "analyst", "analista", "investment", "equity", "equities", "number", "information", "access"}
    return frozenset(fold(word) for word in phrases()["instructions"]) - keep


@cache
def _synonyms() -> dict[str, tuple[str, ...]]:
    """Return the other words of each synonym, by stem; words of several groups have those of all."""
    found: dict[str, list[str]] = {}
    for group in topics_data()["synonyms"]:
        for word in group:
            keys = stems(word)
            if len(keys) == 1:
                found.setdefault(keys[0], []).extend(other for other in group if other != word)
    return {key: tuple(dict.fromkeys(words)) for key, words in found.items()}


def search_terms(concepts: Iterable[Concept], text: str) -> dict[str, float]:
    """Return the further words to look for, each with its weight; the question's own are left out."""
    own = {stem(fold(word)) for word in text.split()}
    terms: dict[str, float] = {}
    for concept in concepts:
        words = _words_of(concept.name)
        weight = TERM_WEIGHT if words else _SYNONYM_WEIGHT
        for phrase in words or _synonyms().get(concept.name, ()) or _synonyms().get(stem(concept.name), ()):
            fresh = [token.folded for token in tokenize(phrase) if _counts(token) and token.stem not in own]
            for word in fresh:
                # A word of a long name says less by itself.
                terms[word] = max(terms.get(word, 0.0), weight / max(len(fresh), 1) ** 0.5)
    return terms


@lru_cache(maxsize=1024)
def _words_of(name: str) -> tuple[str, ...]:
    for group in metrics_data().values():
        if name in group:
            return (*group[name]["names"], *group[name].get("rows", ()))
    topic = topics_data()["topics"].get(name)
    return (*topic["en"], *topic["es"]) if topic else ()
