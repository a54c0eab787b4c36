"""The unit of each figure: the statement's scale and currency, and the rows it does not hold for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from fin_rag.structure.statements.vocabulary import squeeze, words
from fin_rag.structure.units import unit_of

_EXCEPT: Final = re.compile(r"\b(?:except|excluding|other than|salvo|excepto)\b", re.IGNORECASE)
_SHARES_IN: Final = re.compile(
    r"\b(?:shares|acciones|units)\b[^.;]{0,60}?\b(?:in|en)\s(thousands|millions|miles|millones|billions)", re.IGNORECASE
)
_COUNT: Final = re.compile(r"(?<!per )(?<!per-)\b(?:shares?|units?|acciones)\b(?! price)", re.IGNORECASE)
_COUNT_END: Final = re.compile(r"(?:\bshares?|\bnumber|\bunits?|\bacciones|#)[\s()*\d]{0,6}$", re.IGNORECASE)
_NO_COUNT: Final = re.compile(r"amount|value|\$|capital|treasury|importe", re.IGNORECASE)
_PER: Final = re.compile(
    r"\bper(?:\s+\w{1,12}){0,2}[\s-]+(?:shares?|units?|ads)\b|\bper-share\b|por acci[oó]n", re.IGNORECASE
)
_FACTORS: Final = {
    "thousands": 1_000,
    "miles": 1_000,
    "millions": 1_000_000,
    "millones": 1_000_000,
    "billions": 1_000_000_000,
}
_SYMBOLS: Final = (("US$", "USD"), ("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("$", "USD"))
_CENTS: Final = 2
_MOSTLY: Final = 0.6
_IMPLAUSIBLE: Final = Decimal(10) ** 15
_MOST_SHARES: Final = Decimal(10) ** 11
_MOST_PER_SHARE: Final = 10_000


@dataclass(frozen=True, slots=True)
class Units:
    """Hold scale and currency of a statement; ``shares`` is the factor of counts of shares."""

    currency: str = ""
    scale: int = 1
    shares: int = 1
    kind: str = ""
    stated: bool = field(default=False, repr=False)

    def of_row(
        self, label: str, path: Sequence[str], figures: Sequence[tuple[Decimal, int]], *, whole: bool
    ) -> tuple[int, str]:
        """Return factor and currency of one row.

        A row per share is never scaled; counts of shares follow what the unit line says of them. Only an
        income statement has rows of either kind as a rule: elsewhere "$1 par value, 900 shares issued" says
        what a stock is, and the figures are money.

        Args:
            label: the row's label.
            path: the titles of the groups it belongs to, outermost first.
            figures: the printed figures, each with its count of decimals.
            whole: whether the statement's figures have no decimals as a rule.
        """
        if any(abs(value) * self.scale >= _IMPLAUSIBLE for value, _ in figures) and self.scale > 1:
            return 1, ""  # nobody owns this much: a count of shares that the unit line forgets
        cents = whole and bool(figures) and all(d >= _CENTS and abs(v) < _MOST_PER_SHARE for v, d in figures)
        if cents:
            return 1, self.currency
        for number, text in enumerate((label, *reversed(path))):
            if self.kind == "income" or words().leads_count.match(squeeze(text)):
                meaning = _meaning(text)
                own = unit_of(text) if "(" in text else None
                if meaning == "count":
                    factor = own[1] if own and own[1] > 1 else self.shares
                    return (1 if self.too_many(figures, factor) else factor), ""
                if meaning == "per_share":
                    return 1, self.currency
                if number == 0 and own is not None and own[1] > 1:
                    return own[1], own[0] or self.currency
        return self.scale, self.currency

    def too_many(self, figures: Iterable[tuple[Decimal, int]], factor: int) -> bool:
        """Tell whether counts of shares are too high to be scaled: the unit line forgets to except them."""
        return factor > 1 and any(abs(value) * factor >= _MOST_SHARES for value, _ in figures)


def _meaning(text: str) -> str:
    """Tell whether a label names a count of shares or an amount per share."""
    letters = squeeze(text)
    counts, per_share = words().share_counts.search(letters), words().per_share.search(letters)
    if counts and not (per_share and per_share.start() < counts.start()):
        return "count"
    return "per_share" if per_share else ""


def is_share_column(label: str) -> bool:
    """Tell whether a column's head names counts of shares, as in a statement of equity.

    Example:
        >>> is_share_column("Common Stock Shares"), is_share_column("Common Stock Amount")
        (True, False)
    """
    if _COUNT_END.search(label):
        return True
    return _COUNT.search(label) is not None and _NO_COUNT.search(label) is None


def mostly_whole(decimals: Sequence[int]) -> bool:
    """Tell whether most of a statement's figures are printed without decimals."""
    return bool(decimals) and sum(count == 0 for count in decimals) >= _MOSTLY * len(decimals)


def read_units(lines: Sequence[str]) -> Units:
    """Read the unit from a statement's title, unit line and column heads.

    Example:
        >>> read_units(["(In millions, except shares, which are in thousands, and per share amounts)"])
        Units(currency='', scale=1000000, shares=1000, kind='')
    """
    apart = next((stated for stated in map(_stated_shares, lines) if stated), 0)
    for line in sorted(lines, key=lambda one: "(" not in one):
        found = _unit(line)
        if found:
            return Units(found[0], found[1], apart or _share_scale(line, found[1]), stated=True)
    return Units(shares=apart or 1)


def _stated_shares(line: str) -> int:
    """Return the factor that a line states for shares: "shares in thousands"; 0 if it states none."""
    found = _SHARES_IN.search(line)
    return _FACTORS[found[1].lower()] if found else 0


def unit_row(label: str, units: Units) -> Units | None:
    """Return the units that hold from a row on which states nothing but a unit, or ``None``.

    Example:
        >>> unit_row("(Number of shares)", Units("USD", 1000000, 1000000)).scale
        1
    """
    bare = label.strip()
    if not (bare.startswith("(") and bare.endswith(")")):
        return None
    if _COUNT.search(bare) and not _EXCEPT.search(bare):
        factor = _stated_shares(bare) or 1
        return Units("", factor, factor, units.kind)
    found = unit_of(bare)
    return Units(found[0] or units.currency, found[1], units.shares, units.kind) if found and found[1] > 1 else None


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
    return _stated_shares(rest) or 1


def symbol_currency(text: str) -> str:
    """Return the ISO code of the first currency sign in a statement's rows, or an empty string."""
    places = [(text.find(sign), code) for sign, code in _SYMBOLS if sign in text]
    return min(places)[1] if places else ""
