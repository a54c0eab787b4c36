"""Walk over a text and read each figure with the sign, brackets, currency, unit and scale around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fin_rag.schema import Span
from fin_rag.text.number_digits import GROUP_ONLY, Digits, read_digits
from fin_rag.text.number_kinds import Dates, brackets_mean_minus, is_phone, is_year, kind_of_bare
from fin_rag.text.number_words import BLANKS, MINUS_SIGNS, number_words

_RUN: Final = re.compile(rf"[0-9]+(?:[.,{GROUP_ONLY.replace(' ', '')}][0-9]+)*")
_CELL_RUN: Final = re.compile(rf"[0-9]+(?:[.,{GROUP_ONLY}][0-9]+)*")
_PIECE: Final = re.compile(r"[0-9]+")
_BLANK_GROUPS: Final = re.compile(r"(?: [0-9]{3}){1,5}(?:[.,][0-9]{1,9})?(?! ?[0-9]|[.,][0-9])")
_CLOSE: Final = re.compile(rf"[{BLANKS}]?\)")
_DIGITS: Final = frozenset("0123456789")
_REACH_BEFORE: Final = 16
_MAX_DIGITS: Final = 60
# Short scale letters that count without a currency beside them.
_BARE_SHORT: Final = frozenset("kKMB")


@dataclass(frozen=True, slots=True)
class Number:
    """Hold one printed figure.

    ``value`` is the figure with sign and scale word applied; a percentage stays as printed (``12.5`` for
    "12,5 %"; see :attr:`ratio`). ``span`` covers sign, brackets, currency, unit and scale word, and
    ``text`` is its slice. ``scale`` is the factor of the scale word (1000000 for "million"). ``unit`` is
    empty, ``%``, ``pp`` (percentage points), ``bp`` (basis points) or ``x`` (times). ``currency`` is an ISO
    code (a bare ``$`` is read as ``USD``). ``decimals`` counts the printed digits behind the decimal mark.
    ``negative`` names the style of a negative figure: ``minus``, ``parentheses`` or ``trailing_minus``.

    ``kind`` is ``amount``, or says why the figure is hardly one: ``year``, ``date``, ``ordinal``, ``label``
    (an Item, a note, a form, a code), ``note`` (a bracketed note marker), or ``nil`` for a dash in a cell.

    ``alternative`` is the value in the other notation where the print allows both.
    """

    value: Decimal
    span: Span
    text: str
    kind: str = "amount"
    unit: str = ""
    currency: str = ""
    scale: int = 1
    decimals: int = 0
    negative: str = ""
    alternative: Decimal | None = None

    @property
    def percent(self) -> bool:
        """Tell whether the figure is a percentage."""
        return self.unit == "%"

    @property
    def is_year(self) -> bool:
        """Tell whether the figure looks like a year and nothing speaks for an amount."""
        return self.kind == "year"

    @property
    def ratio(self) -> Decimal:
        """Return percentages, percentage points and basis points as a fraction of one, others as they are."""
        shift = {"%": -2, "pp": -2, "bp": -4}.get(self.unit, 0)
        sign, digits, exponent = self.value.as_tuple()
        return Decimal((sign, digits, int(exponent) + shift))


@dataclass(frozen=True, slots=True)
class _Before:
    """What stands directly in front of the digits; ``start`` is where the figure begins."""

    start: int
    bracket: int | None = None
    currency: str = ""
    minus: bool = False
    outside_currency: bool = False


@dataclass(slots=True)
class _After:
    """What follows the digits, read up to ``end``."""

    end: int
    power: int = 0
    unit: str = ""
    currency: str = ""

    @property
    def empty(self) -> bool:
        return not (self.power or self.unit or self.currency)


class Scanner:
    """Walk once over a text; every look around a number is bounded, so the time is linear."""

    def __init__(self, text: str, *, lang: str | None, decimal: str, offset: int, cell: bool = False) -> None:
        self._text = text
        self._spanish = bool(lang) and str(lang).lower().startswith("es")
        self._decimal = decimal
        self._offset = offset
        self._cell = cell
        self._words = number_words()
        self._dates = Dates(text)
        self._floor = 0

    def scan(self) -> Iterator[Number]:
        """Yield the figures in order."""
        for run in (_CELL_RUN if self._cell else _RUN).finditer(self._text):
            if run.start() < self._floor:
                continue
            digits = read_digits(run[0], self._decimal)
            if digits is not None and not self._dates.covers(run.start()) and len(run[0]) <= _MAX_DIGITS:
                yield self._figure(run.start(), run.end(), digits)
            else:
                yield from self._pieces(run)

    def _pieces(self, run: re.Match[str]) -> Iterator[Number]:
        """Yield the parts of a run that is no figure: a date, a section number, a list."""
        is_path = "." in run[0]
        for piece in _PIECE.finditer(self._text, run.start(), run.end()):
            start, end = piece.span()
            digits = Digits(piece[0])
            if self._dates.covers(start):
                kind = "date"
            elif is_path or len(piece[0]) > _MAX_DIGITS:
                kind = "label"
            else:
                kind = kind_of_bare(self._text, start, end, digits)
            yield self._number(start, end, digits, kind=kind)

    def _figure(self, start: int, end: int, digits: Digits) -> Number:
        """Read one figure with everything that belongs to it."""
        text = self._text
        start, digits = self._leading_point(start, digits)
        before = self._before(start)
        after = self._after(end, before.currency, digits)
        longer = None if self._cell else self._blank_groups(start, end, digits, before)
        if longer is not None:
            end, digits, after = longer
        begin, finish, negative = self._sign(before, end, after, digits)
        currency = before.currency or after.currency
        kind = "amount"
        if negative in ("note", "label"):
            kind, negative = negative, ""
        elif not currency and after.empty and not negative:
            kind = kind_of_bare(text, start, end, digits)
            ordinal = self._words.ordinal_after.match(text, end) if kind == "ordinal" else None
            finish = ordinal.end() if ordinal else finish
        return self._number(begin, finish, digits, kind=kind, after=after, currency=currency, negative=negative)

    def _number(
        self,
        start: int,
        end: int,
        digits: Digits,
        *,
        kind: str,
        after: _After | None = None,
        currency: str = "",
        negative: str = "",
    ) -> Number:
        self._floor = end
        power = after.power if after else 0
        value = digits.value(power, negative=bool(negative))
        other = digits.other.value(power, negative=bool(negative)) if digits.other else None
        return Number(
            value=value,
            span=Span(self._offset + start, self._offset + end),
            text=self._text[start:end],
            kind=kind,
            unit=after.unit if after else "",
            currency=currency,
            scale=10**power,
            decimals=len(digits.fraction),
            negative=negative,
            alternative=other,
        )

    def _leading_point(self, start: int, digits: Digits) -> tuple[int, Digits]:
        """Read ``.05`` as a fraction where no digit or letter stands in front of the point."""
        point = start - 1
        if digits.grouped or digits.fraction or point < self._floor or self._text[point] != ".":
            return start, digits
        if point > 0 and (self._text[point - 1].isalnum() or self._text[point - 1] in ".)"):
            return start, digits
        return point, Digits("0", digits.whole)

    def _before(self, start: int) -> _Before:
        match = self._words.before.search(self._text, max(self._floor, start - _REACH_BEFORE), start)
        if match is None or match.start() == start:
            return _Before(start)
        begin, sign, bracket = match.start(), match["sign"] or match["sign2"], match["open"] or match["open2"]
        if match["sign"] and not match["open"] and not self._may_be_sign(begin):
            sign, begin = match["sign2"], begin + 1
            if not match["currency"] and not match["open2"]:
                begin, sign = start, None
        currency = self._words.currencies.get(match["currency"] or "", "")
        opened = match.start("open" if match["open"] else "open2") if bracket else None
        return _Before(
            start=begin,
            bracket=opened,
            currency=currency,
            minus=sign is not None and sign in MINUS_SIGNS,
            outside_currency=bool(currency) and bool(match["open2"]) and not match["open"],
        )

    def _may_be_sign(self, position: int) -> bool:
        """Tell a sign from the dash of a range or a compound."""
        if position == 0:
            return True
        char = self._text[position - 1]
        return char.isspace() or char in '(|[=:;"“'

    def _after(self, end: int, currency: str, digits: Digits) -> _After:
        """Read unit, scale word and currency behind the digits."""
        found = _After(end)
        if self._take_unit(found):
            return found
        for _ in range(2):
            if not found.power:
                self._take_scale(found, currency or found.currency, digits)
            if not currency and not found.currency:
                self._take_currency(found)
        return found

    def _take_unit(self, found: _After) -> bool:
        match = self._words.unit_after.match(self._text, found.end)
        if match is None or (match[1] in "xX" and match.start(1) != found.end):
            return False
        unit = self._words.units.get(_plain(match[1]))
        if unit is None:
            return False
        found.unit, found.end = unit, match.end()
        return True

    def _take_scale(self, found: _After, currency: str, digits: Digits) -> None:
        match = self._words.scale_after.match(self._text, found.end)
        if match is not None:
            word = _plain(match[1])
            power = self._words.scales.get(word)
            if power is None and (self._spanish or self._text.startswith(" de ", match.end())):
                power = self._words.spanish_scales.get(word)
            if power is not None:
                found.power, found.end = power, match.end()
                return
        match = self._words.short_after.match(self._text, found.end)
        if match is None:
            return
        if not currency and not self._currency_at(match.end())[0]:
            attached = match.start(1) == found.end and match[1] in _BARE_SHORT
            if not attached or (len(digits.whole) <= 2 and not digits.fraction):
                return
        found.power, found.end = self._words.short_scales[match[1]], match.end()

    def _currency_at(self, position: int) -> tuple[str, int]:
        """Return the currency printed at ``position`` and its end, or an empty string."""
        match = self._words.currency_after.match(self._text, position)
        if match is None:
            return "", position
        mark = match[1]
        follows = self._text[match.end() : match.end() + 3]
        before_next = follows.lstrip(BLANKS + MINUS_SIGNS + "(")[:1] in _DIGITS
        # A mark in front of digits belongs to them, but for a euro sign that follows the European way.
        if before_next and not mark[-1:].islower() and (mark != "€" or follows[0] in _DIGITS):
            return "", position
        currencies = self._words.currencies
        return currencies.get(mark) or currencies.get(_plain(mark), ""), match.end()

    def _take_currency(self, found: _After) -> None:
        currency, end = self._currency_at(found.end)
        if currency:
            found.currency, found.end = currency, end

    def _blank_groups(self, start: int, end: int, digits: Digits, before: _Before) -> tuple[int, Digits, _After] | None:
        """Join groups set apart by plain blanks, where a currency, unit or scale word vouches for them.

        Without one, ``5 123,4`` is a note number and a figure, or the cells of two columns.
        """
        match = _BLANK_GROUPS.match(self._text, end)
        if match is None or digits.grouped or digits.fraction or len(digits.whole) > 3:
            return None
        left = self._text[max(0, before.start - 3) : before.start].rstrip(BLANKS)
        joined = read_digits(self._text[start : match.end()], self._decimal)
        if joined is None or left[-1:].isdigit():
            return None
        after = self._after(match.end(), before.currency, joined)
        return (match.end(), joined, after) if before.currency or not after.empty else None

    def _sign(self, before: _Before, end: int, after: _After, digits: Digits) -> tuple[int, int, str]:
        """Return where the figure begins and ends and the style of its minus, or a kind."""
        begin, finish = before.start, after.end
        if before.bracket is not None:
            return self._bracketed(before, after, digits)
        if before.minus:
            return begin, finish, "minus"
        if finish == end and self._has_trailing_minus(end, digits):
            return begin, end + 1, "trailing_minus"
        return begin, finish, ""

    def _bracketed(self, before: _Before, after: _After, digits: Digits) -> tuple[int, int, str]:
        text, bracket = self._text, before.bracket or 0
        close = _CLOSE.match(text, after.end)
        if close is None:
            if self._cell and after.end == len(text):
                return before.start, after.end, "parentheses"
            inside = bracket + 1 if not before.outside_currency else before.start
            while text[inside] in BLANKS:
                inside += 1
            return inside, after.end, "minus" if before.minus else ""
        marked = not after.empty or (bool(before.currency) and not before.outside_currency)
        plain = after.empty
        after.end = close.end()
        if plain and not self._take_unit(after):
            self._take_scale(after, before.currency, digits)
        outside = before.outside_currency or (plain and not after.empty)
        if before.minus:
            return before.start, after.end, "minus"
        if is_phone(text, bracket):
            return before.start, after.end, "label"
        if self._cell or outside or brackets_mean_minus(text, bracket, close.end(), digits, marked=marked):
            return before.start, after.end, "parentheses"
        small = len(digits.whole) <= 2 and not digits.fraction
        if not marked and small and not is_year(digits):
            return before.start, after.end, "note"
        return before.start, after.end, ""

    def _has_trailing_minus(self, end: int, digits: Digits) -> bool:
        text = self._text
        if text[end : end + 1] not in tuple(MINUS_SIGNS):
            return False
        rest = text[end + 1 : end + 4].lstrip(BLANKS)[:1]
        if self._cell:
            return not text[end + 1 :].strip()
        return rest == "|" or (rest in ("", "\n", "\r") and (digits.grouped or bool(digits.fraction)))


def _plain(word: str) -> str:
    """Fold case and blanks as the keys of the vocabulary are folded."""
    return " ".join(word.lower().split())
