"""Line items in words: tokens of labels, and the known line items that a phrase names."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from fin_rag.answers.vocabulary import word_set
from fin_rag.facts.concepts import Concept, concept_map, name_key
from fin_rag.facts.ratios import ratio_map

_MARKUP = re.compile(r"[*_`\\]|\[\^?\w{1,4}\]")
_SHORTEST_STEM = 4


@lru_cache(maxsize=50_000)
def tokens(text: str) -> frozenset[str]:
    """Return the words of a label that carry meaning, folded: lower case, no accents, singular.

    Example:
        >>> sorted(tokens("Total net sales and other revenues (1)"))
        ['net', 'other', 'revenue', 'sale', 'total']
    """
    return frozenset(token_list(text))


def token_list(text: str) -> list[str]:
    """Return the words that carry meaning in order; see :func:`tokens`."""
    return [_stem(word) for word in name_key(_MARKUP.sub(" ", text)).split() if _counts(word)]


@cache
def _stops() -> frozenset[str]:
    return frozenset(name_key(word) for word in word_set("stop") if word not in ("total",))


def _counts(word: str) -> bool:
    return word not in _stops() and not word.isdecimal() and (len(word) > 1 or (word.isalpha() and word in "rd"))


def _stem(word: str) -> str:
    if len(word) > _SHORTEST_STEM and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > _SHORTEST_STEM and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


@lru_cache(maxsize=20_000)
def concept_of(label: str) -> str:
    """Return the id of the line item that a label is, or an empty string.

    Example:
        >>> concept_of("Total net sales"), concept_of("Importe neto de la cifra de negocios")
        ('revenue', 'revenue')
    """
    known = _named(label)
    return known.id if known else ""


def _named(label: str) -> Concept | None:
    keys = [label, label.rstrip(": "), label.partition(",")[0], re.sub(r"\([^()]*\)", " ", label)]
    for key in keys:
        found = concept_map().find_row(key)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=20_000)
def concepts_in(text: str) -> tuple[str, ...]:
    """Return the ids of the line items that a text names, in order; the longest name at each place counts.

    Example:
        >>> concepts_in("the company's net income and total assets")
        ('net_income', 'total_assets')
    """
    return tuple(one for one, _ in concept_names(text))


@lru_cache(maxsize=20_000)
def concept_names(text: str) -> tuple[tuple[str, str], ...]:
    """Return the line items that a text names with the names, as they are compared; see :func:`concepts_in`."""
    names = _names()
    listed = name_key(text).split()
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(listed):
        for length in range(min(9, len(listed) - at), 0, -1):
            name = " ".join(listed[at : at + length])
            one = names.get(name)
            if one is not None:
                found.append((one, name))
                at += length
                break
        else:
            at += 1
    return tuple(found)


@cache
def vocabulary_words() -> frozenset[str]:
    """Return every word of the names of line items and ratios, and of the words for change, as they are compared."""
    found = {word for name in concept_map().names() for word in name.split()}
    found |= {word for ratio in ratio_map().values() for name in ratio.names for word in name.split()}
    for listed in ("stop", "up", "down", "loss", "change", "prior", "approximate", "floor", "ceiling", "units_of_time"):
        found |= {word for phrase in word_set(listed) for word in name_key(phrase).split()}
    return frozenset(found)


@cache
def _names() -> dict[str, str]:
    """Return the names that are looked for in a text; ordinary words would be found everywhere."""
    common = word_set("common_names")
    return {name: one.id for name, one in concept_map().by_names().items() if len(name) >= 3 and name not in common}
