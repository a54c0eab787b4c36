"""Words of transcripts, and the folding under which they are compared."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_NO_WORD: Final = re.compile(r"[\W_]+")
# Letters that do not fall apart into a plain one and a mark.
_PLAIN: Final = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ŋ": "n"}
)
_APOSTROPHE: Final = re.compile(r"(?<=\w)['’](?=\w)")


def fold(text: str) -> str:
    """Return a text for comparing: small letters, no accents, ``&`` as "and", punctuation as a blank.

    Example:
        >>> fold("Questions & Answers:"), fold("Peñalver, O'Shea"), fold("Yıldız Sørensen")
        ('questions and answers', 'penalver oshea', 'yildiz sorensen')
    """
    if text.isascii():
        letters = text.lower()
    else:
        decomposed = unicodedata.normalize("NFKD", text.casefold())
        letters = "".join(c for c in decomposed if not unicodedata.combining(c)).translate(_PLAIN)
    letters = _APOSTROPHE.sub("", letters).replace("&", " and ")
    return _NO_WORD.sub(" ", letters).strip()


@cache
def _data() -> Mapping[str, object]:
    text = files(__package__).joinpath("vocabulary.json").read_text(encoding="utf-8")
    return MappingProxyType(json.loads(text))


@cache
def words(name: str) -> frozenset[str]:
    """Return a list of the vocabulary as a set of folded words or phrases."""
    listed = _data()[name]
    if not isinstance(listed, list):
        raise TypeError(f"the vocabulary's {name!r} is no list")
    return frozenset(str(word) for word in listed)


@cache
def classes(name: str) -> Mapping[str, str]:
    """Return a grouped list of the vocabulary as a mapping from word to the name of its group."""
    groups = _data()[name]
    if not isinstance(groups, dict):
        raise TypeError(f"the vocabulary's {name!r} has no groups")
    flat: dict[str, str] = {}
    for group, listed in groups.items():
        if isinstance(listed, str):
            flat[group] = listed
        else:
            flat.update(dict.fromkeys(listed, group))
    return MappingProxyType(flat)
