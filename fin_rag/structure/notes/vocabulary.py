"""Words that tell notes, sources and references apart, in both languages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType


@cache
def note_words() -> Mapping[str, frozenset[str]]:
    """Return the word lists that the grammar of notes rests on."""
    source = files("fin_rag.structure.notes").joinpath("note_words.json")
    data = json.loads(source.read_text(encoding="utf-8"))
    return MappingProxyType({name: frozenset(words) for name, words in data.items()})


def says_any(text: str, words: str) -> bool:
    """Tell whether a short text holds one of the phrases of the list named ``words``."""
    low = text.casefold()
    return any(phrase in low for phrase in note_words()[words])
