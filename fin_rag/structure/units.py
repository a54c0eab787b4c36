"""The unit line of a table: currency and scale as printed above it or in its header."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from fin_rag.structure.lines import vocabulary

_Value = TypeVar("_Value", int, str)

# A unit line is short; a longer text is a paragraph that happens to mention a unit.
_LONGEST_UNIT: Final = 240
_LEAST_KNOWN: Final = 0.6
_PARTS: Final = (", ", ". ", ": ", "; ", "– ", "— ")  # a title may close with its unit behind one of these
_BRACKETED: Final = re.compile(r"[(\[]([^()\[\]]{1,160})[)\]]")
_TOKEN: Final = re.compile(
    r"(?:us|u\.s\.|cdn|c|a|hk|mx|r)?\$(?:us)?|[€£¥₹]|['’]?\d{1,3}(?:[.,]\d{3})*(?:['’]?s)?|[^\W\d_]+(?:\.[^\W\d_]+)*\.?|\S"
)
_GLUED: Final = re.compile(r"(?<![^\W\d_])(k|m|mm|mn|bn)(?=[€£$])|(?<=[€£$])(k|m|mm|mn|bn|mill)\b")


class _Words(NamedTuple):
    scales: Mapping[tuple[str, ...], int]
    currencies: Mapping[tuple[str, ...], str]
    fillers: frozenset[str]
    leads: frozenset[str]
    openers: frozenset[str]


@cache
def _words() -> _Words:
    data = json.loads(files("fin_rag.structure").joinpath("unit_words.json").read_text(encoding="utf-8"))
    openers = {name.split()[0] for names in (data["scales"], data["currencies"]) for name in names}
    return _Words(
        MappingProxyType({tuple(name.split()): scale for name, scale in data["scales"].items()}),
        MappingProxyType({tuple(name.split()): code for name, code in data["currencies"].items()}),
        frozenset(data["fillers"]),
        frozenset(data["leads"]),
        frozenset(openers) | frozenset(data["fillers"]),
    )


@cache
def _named() -> re.Pattern[str]:
    """Return the pattern of what every unit line has: the first word or sign of a scale or a currency."""
    words = _words()
    first = sorted({name[0] for names in (words.scales, words.currencies) for name in names})
    spelled = "|".join(re.escape(word) for word in first if word[0].isalpha())
    signs = "|".join(re.escape(word) for word in first if not word[0].isalpha())
    return re.compile(rf"(?<![^\W\d_])(?:{spelled})(?![^\W\d_])|{signs}")


def unit_of(text_line: str) -> tuple[str, int] | None:
    """Read currency and scale from a unit line, a table title or a column label.

    The currency is an ISO 4217 code, or ``""`` where none is named; the scale is the factor that a
    printed figure has to be multiplied by. Text that only mentions money ("3 million dollars were
    paid") is no unit line: the unit has to be a bracketed remark or the whole line.

    Returns:
        ``(currency, scale)``, or ``None`` if the line states no unit.

    Example:
        >>> unit_of("(in millions, except per share data)")
        ('', 1000000)
        >>> unit_of("Miles de euros"), unit_of("Balance (millones de euros)")
        (('EUR', 1000), ('EUR', 1000000))
        >>> unit_of("Movimiento del ejercicio, en miles de euros")
        ('EUR', 1000)
        >>> unit_of("The company paid 3 million dollars.") is None
        True
    """
    if len(text_line) > _LONGEST_UNIT:
        return None
    line = text_line.replace("\u00a0", " ").replace("*", " ").replace("_", " ").replace("\\", " ")
    line = line.replace("’", "'").lower()
    if not _named().search(line):
        return None
    for found in _BRACKETED.finditer(line):
        unit = _read(found[1], bracketed=True)
        if unit:
            return unit
    whole = _BRACKETED.sub(" ", line)
    cut = max(whole.rfind(mark) for mark in _PARTS)
    return _read(whole, bracketed=False) or (_read(whole[cut + 2 :], bracketed=False) if cut >= 0 else None)


def is_unit_line(text_line: str) -> bool:
    """Tell whether a line says nothing but the unit, like ``(in thousands)`` or ``Millones de euros``.

    Example:
        >>> is_unit_line("(in thousands)"), is_unit_line("Deuda (miles de euros)")
        (True, False)
    """
    line = text_line.strip().strip("*_ ")
    if line.startswith("(") and line.endswith((")", "):")) and line.count("(") == 1:
        return unit_of(line) is not None
    return "(" not in line and unit_of(line) is not None


def is_per_share(label: str) -> bool:
    """Tell whether a row is stated per share, so that the table's scale does not apply to it.

    Example:
        >>> is_per_share("Diluted earnings per share")
        True
    """
    low = label.lower()
    return any(words in low for words in vocabulary()["per_share_words"])


def _read(segment: str, *, bracketed: bool) -> tuple[str, int] | None:
    tokens = _TOKEN.findall(_GLUED.sub(lambda found: f" {found[0]} ", segment))
    tokens = [token for token in tokens if token not in ",;:-–—/.'’"]
    words = _words()
    if not tokens or not (bracketed or tokens[0] in words.leads or tokens[0] in words.openers):
        return None
    currency, scale, known, at = "", 0, 0, 0
    while at < len(tokens):
        code, used = _longest(tokens, at, words.currencies)
        factor, scaled = (None, 0) if used else _longest(tokens, at, words.scales)
        if used or scaled:
            currency, scale = currency or code or "", scale or factor or 0
            known += used or scaled
            at += used or scaled
            continue
        known += tokens[at] in words.fillers
        at += 1
    if not (currency or scale) or (len(tokens) == 1 and len(tokens[0]) == 1 and not currency):
        return None
    if any(token[0].isdigit() and token not in _plain_scales() for token in tokens):
        return None
    if known < len(tokens) and not (bracketed and _opens_with_scale(tokens)):
        led = bracketed or (scale and tokens[0] in words.leads)
        if not led or known < _LEAST_KNOWN * len(tokens):
            return None
    return currency, scale or 1


def _opens_with_scale(tokens: list[str]) -> bool:
    """Tell whether a remark counts things: "thousands of tonnes", "miles de metros cúbicos"."""
    _, used = _longest(tokens, 0, _words().scales)
    return bool(used) and len(tokens) <= used + 4 and tokens[used : used + 1] in (["of"], ["de"])


@cache
def _plain_scales() -> frozenset[str]:
    return frozenset(name[0] for name in _words().scales if len(name) == 1)


def _longest(tokens: list[str], at: int, names: Mapping[tuple[str, ...], _Value]) -> tuple[_Value | None, int]:
    for length in (3, 2, 1):
        found = names.get(tuple(tokens[at : at + length]))
        if found is not None and at + length <= len(tokens):
            return found, length
    return None, 0
