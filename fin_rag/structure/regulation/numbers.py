"""Numbers of provisions: ordinal words, signs, Latin suffixes, roman numerals and list labels."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

_ROMAN: Final = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN_FORM: Final = re.compile(r"(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
_ALPHABET: Final = "abcdefghijklmnñopqrstuvwxyz"
_SPACES: Final = re.compile(r"\s+")


@lru_cache(maxsize=1)
def vocabulary() -> Mapping[str, Any]:
    """Return the words that statutes use for their parts, from ``vocabulary.json``."""
    data: dict[str, Any] = json.loads(files(__package__).joinpath("vocabulary.json").read_text(encoding="utf-8"))
    return data


def fold(text: str) -> str:
    """Return small letters without accents; the length may change.

    Example:
        >>> fold("Décima")
        'decima'
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def alternatives(words: object) -> str:
    """Return a pattern that matches any of the words, the longest first; blanks match any white space."""
    assert isinstance(words, list | dict | tuple | set)  # noqa: S101 -- lists of our own data file
    ordered = sorted((str(word) for word in words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", r"[ ]") for word in ordered)


SUFFIX: Final = r"(?:{})(?![a-zñáéíóú])".format(alternatives(vocabulary()["suffixes"]))
# 12, 4 bis, 5a, 83 bis a); no decimal, no year before a slash.
ARTICLE_NUMBER: Final = rf"\d{{1,4}}(?:[a-z]{{1,3}}(?![\w])|[ ]{{0,2}}{SUFFIX}(?:[ ][a-z](?=\)))?)?"


@lru_cache(maxsize=1)
def _cardinals() -> dict[str, int]:
    words = vocabulary()
    return {
        fold(word): number for key in ("cardinals", "english_cardinals") for number, word in enumerate(words[key], 1)
    }


@lru_cache(maxsize=1)
def _ordinals() -> dict[str, int]:
    """Return folded ordinal words without their gender ending, one word each."""
    words = vocabulary()
    units, tens = list(words["ordinal_units"]), list(words["ordinal_tens"])
    table: dict[str, int] = {unit: index for index, unit in enumerate(units, 1)}
    table |= {str(word): int(number) for word, number in words["ordinal_others"].items()}
    for ten_index, ten in enumerate(tens, 1):
        table[ten] = 10 * ten_index
        for index, unit in enumerate(units, 1):
            table[f"{ten}o{unit}"] = table[f"{ten}a{unit}"] = 10 * ten_index + index
    return table


@lru_cache(maxsize=1)
def ordinal_pattern() -> str:
    """Return a pattern for Spanish ordinals in words, compounds of two words included; case must be ignored."""
    stems = sorted(_ordinals(), key=lambda stem: (-len(stem), stem))
    accented = "|".join(_with_accents(stem) for stem in stems)
    word = rf"(?:{accented})(?:o|a|os|as|)(?![a-záéíóúñ])"
    return rf"(?:{word}(?:[ ]{word})?|[uú]nic[oa](?![a-z]))"


def _with_accents(stem: str) -> str:
    marks = {"a": "[aá]", "e": "[eé]", "i": "[ií]", "o": "[oó]", "u": "[uú]"}
    return "".join(marks.get(char, char) for char in stem)


def ordinal_value(words: str) -> int | None:
    """Return the number that a Spanish ordinal says, or ``None``.

    Example:
        >>> ordinal_value("vigésimo segundo"), ordinal_value("decimosexta"), ordinal_value("única")
        (22, 16, None)
    """
    total = 0
    for word in fold(words).split():
        stem = re.sub(r"(?:os|as|o|a)\Z", "", word)
        value = _ordinals().get(stem)
        if value is None:
            return None
        total += value
    return total or None


def roman_value(text: str) -> int | None:
    """Return the value of a roman numeral in either case, or ``None``.

    Example:
        >>> roman_value("XIV"), roman_value("iiii")
        (14, None)
    """
    small = text.lower()
    if not small or len(small) > 12 or not _ROMAN_FORM.match(small):
        return None
    total = 0
    for char, following in zip(small, f"{small[1:]} ", strict=True):
        value = _ROMAN[char]
        total += -value if value < _ROMAN.get(following, 0) else value
    return total


def letter_values(text: str) -> list[float]:
    """Return the places in a list that a letter label may have: ``b`` 2, ``aa`` between a and b or 27.

    Example:
        >>> letter_values("c"), letter_values("aa")
        ([3.0], [1.01, 27.0])
    """
    small = text.lower()
    places = [_place(char) for char in small]
    if not places or None in places or len(small) > 2:
        return []
    first = places[0] or 0.0
    if len(small) == 1:
        return [first]
    second = places[1] or 0.0
    inserted = first + second / 100
    return [inserted, 26.0 + first] if small[0] == small[1] else [inserted]


def _place(char: str) -> float | None:
    if char == "ñ":
        return 14.5
    at = _ALPHABET.replace("ñ", "").find(char)
    return float(at + 1) if at >= 0 else None


def number_value(text: str) -> float:
    """Return the place of an arabic number with its suffix: ``4`` 4.0, ``4 bis`` 4.02, ``5a`` 5.01.

    Example:
        >>> number_value("4 bis") < number_value("4 ter") < number_value("5")
        True
    """
    match = re.match(r"\d+", text)
    if not match:
        return 0.0
    rest = text[match.end() :].strip().casefold()
    base = float(match.group())
    if not rest:
        return base
    suffixes = list(dict.fromkeys(fold(word) for word in vocabulary()["suffixes"]))
    word = fold(rest).split()[0]
    if word in suffixes:
        return base + (suffixes.index(word) + 2) / 100
    found = letter_values(rest[:2])
    return base + found[0] / 100 if found else base


def clean_number(printed: str) -> str:
    """Return a printed number in the form of addresses.

    Numbers in words and ordinal signs become digits, roman numerals are in capitals, suffixes stand after one blank.

    Example:
        >>> [clean_number(n) for n in ("vigésimo segundo", "2.ª", "4  BIS", "xiv", "única", "83 bis a)")]
        ['22', '2', '4 bis', 'XIV', 'unica', '83 bis a']
    """
    text = _SPACES.sub(" ", printed).strip(" .:-–—)\u200b")
    plain = re.fullmatch(r"(\d{1,4})\.?[ ]?(?:[ºª°]|er|o|a)?", text)
    if plain and not text[-1:].isalpha():
        return plain[1]
    if re.fullmatch(r"(\d{1,4})\.?[ ]?[ºª°]", text):
        return re.sub(r"\D", "", text)
    suffixed = re.fullmatch(rf"(\d{{1,4}})\.?[ ]?[ºª°]?[ ]?({SUFFIX})([ ][a-z])?", text, re.IGNORECASE)
    if suffixed:
        return f"{suffixed[1]} {suffixed[2].lower()}{suffixed[3] or ''}"
    folded = fold(text)
    if folded in ("unico", "unica", "preliminar", "preliminary"):
        return folded
    if folded in _cardinals():
        return str(_cardinals()[folded])
    head, _, tail = text.partition(" ")
    if roman_value(head) is not None and (not tail or re.fullmatch(SUFFIX, tail, re.IGNORECASE)):
        return f"{head.upper()} {tail.lower()}".strip()
    value = ordinal_value(text)
    if value is not None:
        return str(value)
    parts = re.fullmatch(rf"(.+?)[ ]({SUFFIX})", text, re.IGNORECASE)
    if parts and (value := ordinal_value(parts[1])) is not None:
        return f"{value} {parts[2].lower()}"
    return text.lower() if text[:1].isdigit() else text
