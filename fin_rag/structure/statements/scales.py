"""The unit of each figure: the statement's scale and currency, and the rows it does not hold for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fin_rag.structure.statements.vocabulary import squeeze, words
from fin_rag.structure.units import unit_of

_EXCEPT: Final = re.compile(r"\b(?:except|excluding|other than|salvo|excepto)\b", re.IGNORECASE)
_SHARES_IN: Final = re.compile(
    r"\b(?:shares|acciones|units)\b[^.;]{0,60}?\b(?:in|en)\s(thousands|millions|miles|millones|billions)", re.IGNORECASE
)
_COUNT: Final = re.compile(r"(?<!per )(?<!per-)\b(?:shares?|units?|acciones)\b(?! price)", re.IGNORECASE)
_PER: Final = re.compile(r"\bper(?:\s+\w{1,12}){0,2}[\s-]+(?:shares?|units?|ads)\b|\bper-share\b|por acci[oó]n", re.IGNORECASE)
_FACTORS: Final = {"thousands": 1_000, "miles": 1_000, "millions": 1_000_000, "millones": 1_000_000, "billions": 1_000_000_000}
_SYMBOLS: Final = (("US$", "USD"), ("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("$", "USD"))
_CENTS: Final = 2
_MOST_PER_SHARE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Units:
    """Hold scale and currency of a statement; ``shares`` is the factor of counts of shares."""

    currency: str = ""
    scale: int = 1
    shares: int = 1

    def of_row(self, label: str, path: Sequence[str], printed: Sequence[Decimal]) -> tuple[int, str]:
        """Return factor and currency of one row.

        A row per share is never scaled; counts of shares follow what the unit line says of them.
        """
        own = unit_of(label) if "(" in label else None
        letters = squeeze(label)
        known = words()
        if known.per_share.search(letters):
            return 1, self.currency
        if own is not None and own[1] > 1:
            counts = known.share_counts.search(letters) is not None
            return own[1], "" if counts else own[0] or self.currency
        if known.share_counts.search(letters):
            return self.shares, ""
        for group in reversed(path):
            above = squeeze(group)
            counts, per_share = known.share_counts.search(above), known.per_share.search(above)
            if counts and not (per_share and counts.start() < per_share.start()):
                group_unit = unit_of(group) if "(" in group else None
                return (group_unit[1] if group_unit else self.shares), ""
            if per_share:
                return 1, self.currency
        return self.scale, self.currency


def read_units(lines: Sequence[str]) -> Units:
    """Read the unit from a statement's title, unit line and column heads.

    Example:
        >>> read_units(["(In millions, except shares, which are in thousands, and per share amounts)"])
        Units(currency='', scale=1000000, shares=1000)
    """
    for line in sorted(lines, key=lambda one: "(" not in one):
        found = _unit(line)
        if found:
            return Units(found[0], found[1], _share_scale(line, found[1]))
    return Units()


def _unit(line: str) -> tuple[str, int] | None:
    found = unit_of(line)
    if found or not 4 < len(line) <= 400:
        return found
    for part in re.split(r"[();]|, except|, salvo|, excepto", line):
        found = unit_of(part.strip(" ,.")) or unit_of(f"({part.strip(' ,.')})")
        if found and found[1] > 1:
            return found
    return None


def _share_scale(line: str, scale: int) -> int:
    """Return the factor of counts of shares by the exceptions of a unit line."""
    except_at = _EXCEPT.search(line)
    if except_at is None:
        return scale
    rest = line[except_at.end() :]
    bare = _PER.sub(" ", rest)
    if not _COUNT.search(bare):
        return scale
    stated = _SHARES_IN.search(rest)
    return _FACTORS[stated[1].lower()] if stated else 1


def symbol_currency(text: str) -> str:
    """Return the ISO code of the first currency sign in a statement's rows, or an empty string."""
    places = [(text.find(sign), code) for sign, code in _SYMBOLS if sign in text]
    return min(places)[1] if places else ""


def looks_per_share(printed: Sequence[tuple[Decimal, int]], *, whole: bool) -> bool:
    """Tell whether figures with cents among whole ones (``whole``) are amounts per share."""
    return whole and bool(printed) and all(
        decimals >= _CENTS and abs(value) < _MOST_PER_SHARE for value, decimals in printed
    )
