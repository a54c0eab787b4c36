"""Provisions without a text of their own: reserved, deleted, repealed."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from fin_rag.structure.regulation.nodes import Node
from fin_rag.structure.regulation.numbers import vocabulary

RESERVED: Final = "reserved"
DELETED: Final = "deleted"
_LONGEST: Final = 120
_DASHES: Final = re.compile(r"[-–—_\s.]{3,}\Z")


@lru_cache(maxsize=1)
def _words() -> tuple[frozenset[str], frozenset[str]]:
    words = vocabulary()
    return frozenset(words["reserved"]), frozenset(words["deleted"])


def state_of(view: str, node: Node) -> str:
    """Tell whether a node says only that it is reserved or deleted.

    The heading counts too: ``§ 240.5 [Reserved]``, ``Artículo 7. (Suprimido)``.
    """
    if node.children and not all(child.state for child in node.children):
        return ""
    body = view[node.label_end : min(node.end, node.label_end + _LONGEST + 1)]
    if len(body) <= _LONGEST:
        said = " ".join(body.split()).strip(" .:;").casefold()
        for state, words in zip((RESERVED, DELETED), _words(), strict=True):
            if said in words or any(said.endswith(f" {word}") and word[0] in "[(" for word in words):
                return state
        if body.strip() and _DASHES.match(body.strip()) and "." not in body.strip(". \n"):
            return DELETED
    title = node.title.casefold()
    for state, words in zip((RESERVED, DELETED), _words(), strict=True):
        if title in words or any(word[0] in "[(" and title.endswith(word) for word in words):
            return state
    return ""


def is_state_word(title: str) -> bool:
    """Tell whether a title is nothing but the word that says the provision is gone."""
    return any(title.casefold() in words for words in _words())
