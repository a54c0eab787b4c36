"""The vocabulary of number reading, compiled once from ``number_words.toml``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

BLANKS: Final = " \t\u00a0\u2007\u2009\u202f"
# The hyphen stands first, so that the string can be put into a character class as it is.
MINUS_SIGNS: Final = "-\u2212\u2010\u2011\u2013"

_GAP: Final = f"[{BLANKS}]"


@dataclass(frozen=True, slots=True)
class NumberWords:
    """Hold what the reader looks up and the patterns that find it.

    ``scales``, ``units`` and ``currencies`` map a printed form (folded to lower case but for the short
    scale letters and currency symbols) to a power of ten, a unit or an ISO code. Each pattern has one
    group and is anchored by its caller: ``match`` behind a number, ``search`` with an end in front.
    """

    scales: Mapping[str, int]
    spanish_scales: Mapping[str, int]
    short_scales: Mapping[str, int]
    units: Mapping[str, str]
    currencies: Mapping[str, str]
    labels: frozenset[str]
    months: frozenset[str]
    scale_after: re.Pattern[str]
    short_after: re.Pattern[str]
    unit_after: re.Pattern[str]
    currency_after: re.Pattern[str]
    ordinal_after: re.Pattern[str]
    month_after: re.Pattern[str]
    before: re.Pattern[str]


def _alternatives(words: Iterable[str]) -> str:
    """Return the words as one alternation, longest first, inner blanks of any kind and number."""
    ordered = sorted(set(words), key=lambda word: (-len(word), word))
    return "|".join(re.escape(word).replace(r"\ ", f"{_GAP}{{1,3}}") for word in ordered)


def _inverted(table: Mapping[str, list[str]], *, fold: bool = True) -> dict[str, str]:
    return {(word.lower() if fold else word): key for key, words in table.items() for word in words}


def _powers(table: Mapping[str, list[str]], *, fold: bool = True) -> dict[str, int]:
    return {word: int(power) for word, power in _inverted(table, fold=fold).items()}


def _currencies(data: Mapping[str, Mapping[str, list[str]]]) -> dict[str, str]:
    symbols = _inverted(data["currency_symbol"], fold=False)
    codes = {code: code for code in data["currency"]["codes"]}
    return {**symbols, **codes, **_inverted(data["currency_word"])}


def _before_pattern(data: Mapping[str, Mapping[str, list[str]]]) -> re.Pattern[str]:
    """Match what stands directly in front of the digits: parenthesis, sign, currency, in either order."""
    symbols = [word for words in data["currency_symbol"].values() for word in words]
    marks = f"{_alternatives([*symbols, *data['currency']['codes']])}"
    return re.compile(
        rf"(?P<open>\({_GAP}?)?(?P<sign>[{MINUS_SIGNS}+])?"
        rf"(?:(?<![^\W\d_])(?P<currency>{marks}){_GAP}?)?"
        rf"(?P<open2>\({_GAP}?)?(?P<sign2>[{MINUS_SIGNS}+])?\Z"
    )


@cache
def number_words() -> NumberWords:
    """Read the vocabulary; the result is shared and never changes."""
    source = resources.files("fin_rag.text").joinpath("number_words.toml").read_text(encoding="utf-8")
    data: dict[str, dict[str, list[str]]] = tomllib.loads(source)
    scales, spanish = _powers(data["scale"]), _powers(data["spanish_scale"])
    short = _powers(data["short_scale"], fold=False)
    units, currencies = _inverted(data["unit"]), _currencies(data)
    symbols = [word for words in data["currency_symbol"].values() for word in words]
    words = [word for words in data["currency_word"].values() for word in words]
    end = r"(?![^\W_])"  # no letter or digit follows
    months = data["not_amounts"]["months"]
    return NumberWords(
        scales=scales,
        spanish_scales=spanish,
        short_scales=short,
        units=units,
        currencies=currencies,
        labels=frozenset(data["not_amounts"]["labels"]),
        months=frozenset(months),
        scale_after=re.compile(rf"[{BLANKS}-]?({_alternatives([*scales, *spanish])}){end}", re.IGNORECASE),
        short_after=re.compile(rf"{_GAP}?({_alternatives(short)})(?=EUR|[\W_]|\Z)"),
        unit_after=re.compile(rf"{_GAP}?(%|(?:{_alternatives(set(units) - {'%'})}){end})", re.IGNORECASE),
        currency_after=re.compile(
            rf"{_GAP}?(?:(?i:de|of){_GAP})?"
            rf"({_alternatives(symbols)}|(?:{_alternatives(data['currency']['codes'])}){end}"
            rf"|(?i:{_alternatives(words)}){end})"
        ),
        ordinal_after=re.compile(rf"({_alternatives(data['not_amounts']['ordinals'])}){end}", re.IGNORECASE),
        month_after=re.compile(rf"{_GAP}(?:de{_GAP})?({_alternatives(months)}){end}", re.IGNORECASE),
        before=_before_pattern(data),
    )
