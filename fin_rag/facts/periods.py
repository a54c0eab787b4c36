"""Periods of facts: how long they last, which fiscal year and quarter they are, and when a filing is known."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

from fin_rag.errors import InputError

QUARTER: Final = "quarter"
HALF: Final = "half"
NINE_MONTHS: Final = "nine_months"
YEAR: Final = "year"
INSTANT: Final = "instant"
OTHER: Final = "other"
KINDS: Final = (INSTANT, QUARTER, HALF, NINE_MONTHS, YEAR, OTHER)
# Days of a period, both ends included. A quarter has 12 to 17 weeks, a year 52 or 53; the rest is between.
_LENGTHS: Final = ((QUARTER, 80, 121), (HALF, 160, 214), (NINE_MONTHS, 248, 311), (YEAR, 346, 380))
_DAYS_A_QUARTER: Final = 91.3
_EARLY_JANUARY: Final = 10  # a year of 52 weeks that closes by then is called by the year before
_SLACK: Final = 10  # days by which the close of a year of whole weeks moves from year to year
_DAY_MICROS: Final = 86_400_000_000
UNKNOWN_FILED: Final = 1 << 61  # filings without a date: known only where no point in time is asked for
_PERIOD: Final = re.compile(
    r"(?:(?P<year>FY|CY|FISCAL(?: YEAR)?|EJERCICIO|A[ÑN]O|YEAR)?[ -]?(?P<y>\d{4}))"
    r"|(?:(?P<part>Q[1-4]|[1-4]Q|[1-4]T|T[1-4]|H[12]|[12]H|[12]S|S[12]|9M)[ -]?(?:FY|DE )?[ -]?(?P<py>\d{4}))"
    r"|(?:(?:FY)?(?P<yp>\d{4})[ -]?(?P<part2>Q[1-4]|[1-4]Q|[1-4]T|T[1-4]|H[12]|[12]H|[12]S|S[12]|9M))",
    re.IGNORECASE,
)


def fact_date(text: str) -> date:
    """Read an ISO date.

    Raises:
        InputError: if it is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"A period needs ISO dates such as '2024-12-31'. Got {text!r}.") from error


def iso_day(value: object) -> str:
    """Return a date given as text, date, datetime or YYYYMMDD number in ISO form; empty for nothing.

    Example:
        >>> iso_day("2024-12-31"), iso_day(20241231), iso_day(None)
        ('2024-12-31', '2024-12-31', '')
    """
    if value is None or value == "" or value != value:  # NaT and NaN differ from themselves
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    text = str(value)
    if len(text) == 8 and text.isdecimal():
        text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
    return fact_date(text[:10]).isoformat()


@lru_cache(maxsize=50_000)
def duration_kind(start: str, end: str) -> str:
    """Name the length of a period by its days, both ends included.

    Example:
        >>> duration_kind("2023-12-31", "2024-04-19"), duration_kind("", "2024-12-31")
        ('quarter', 'instant')
    """
    if not start:
        return INSTANT
    days = (fact_date(end) - fact_date(start)).days + 1
    return next((name for name, low, high in _LENGTHS if low <= days <= high), OTHER)


# --- points in time -------------------------------------------------------------------------------


def instant(value: object, *, name: str = "as_of") -> int:
    """Return a point in time as microseconds since 1970 in UTC.

    A day (``date``, ``"2024-06-30"``, ``20240630``) means its end; a ``datetime`` or a text with a time of day is that
    instant, read as UTC where it names no zone.

    Raises:
        InputError: if it is neither.

    Example:
        >>> instant("1970-01-01"), instant("1970-01-01T00:00:01Z")
        (86399999999, 1000000)
    """
    if isinstance(value, datetime):
        moment = value
    else:
        text = value.isoformat() if isinstance(value, date) else str(value).strip()
        if len(text) == 8 and text.isdecimal():
            text = f"{text[:4]}-{text[4:6]}-{text[6:]}"
        try:
            if len(text) == 10:
                return _micros(datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)) + _DAY_MICROS - 1
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise InputError(f"{name!r} must be a day or a time, such as '2024-06-30'. Got {value!r}.") from error
    return _micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def filed_text(micros: int) -> str:
    """Write when a filing became known: a day where only the day is known, else the instant in UTC.

    Example:
        >>> filed_text(instant("2024-02-01")), filed_text(instant("2024-02-01T17:05:00Z")), filed_text(UNKNOWN_FILED)
        ('2024-02-01', '2024-02-01T17:05:00Z', '')
    """
    if micros >= UNKNOWN_FILED:
        return ""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    if micros % _DAY_MICROS == _DAY_MICROS - 1:
        return moment.date().isoformat()
    return moment.isoformat().replace("+00:00", "Z")


def known_order(filed: int) -> int:
    """Return the order of a filing in time; one without a date counts from the end of its period."""
    return filed - UNKNOWN_FILED if filed >= UNKNOWN_FILED else filed


# --- fiscal periods -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FiscalPeriod:
    """Name a fiscal period: ``part`` is ``FY``, ``Q1`` to ``Q4``, ``H1``, ``H2`` or ``9M``."""

    year: int
    part: str = "FY"

    @classmethod
    def parse(cls, text: str) -> FiscalPeriod:
        """Read ``FY2024``, ``2024``, ``Q3 2024``, ``2024Q3``, ``3T 2024`` or ``H1 2024``.

        Raises:
            InputError: if the text names no period.

        Example:
            >>> FiscalPeriod.parse("Q3 2024"), FiscalPeriod.parse("ejercicio 2023")
            (FiscalPeriod(year=2024, part='Q3'), FiscalPeriod(year=2023, part='FY'))
        """
        found = _PERIOD.fullmatch(" ".join(text.split()))
        if not found:
            raise InputError(f"A fiscal period must read like 'FY2024', 'Q3 2024' or 'H1 2024'. Got {text!r}.")
        if found["y"]:
            return cls(int(found["y"]))
        part = (found["part"] or found["part2"]).upper()
        if part != "9M":
            digit = next(char for char in part if char.isdigit())
            part = ("H" if part.strip(digit) in ("H", "S") else "Q") + digit
        return cls(int(found["py"] or found["yp"]), part)

    @property
    def kind(self) -> str:
        """Return the length that a period of this name has."""
        return {"FY": YEAR, "9M": NINE_MONTHS}.get(self.part, HALF if self.part[0] == "H" else QUARTER)

    def __str__(self) -> str:
        return f"{self.part}{self.year}" if self.part == "FY" else f"{self.part} {self.year}"


@dataclass(frozen=True, slots=True)
class FiscalCalendar:
    """Tell the fiscal year and quarter of a date for one issuer.

    ``closes`` are the known ends of its fiscal years, sorted; ``shift`` is what has to be added to the calendar
    year of a close to get the year's name. Without any close, years end in December.
    """

    closes: tuple[date, ...] = ()
    shift: int = 0

    def year_of(self, end: date) -> int:
        """Return the name of the fiscal year in which a period that ends on ``end`` lies.

        Example:
            >>> FiscalCalendar((date(2023, 9, 30),)).year_of(date(2023, 12, 30))
            2024
        """
        close = self.close_after(end)
        early = close.month == 1 and close.day <= _EARLY_JANUARY
        return close.year - early + self.shift

    def close_after(self, end: date) -> date:
        """Return the close of the fiscal year that is running on ``end``."""
        near = min(self.closes, key=lambda close: (abs((close - end).days), close), default=date(end.year, 12, 31))
        close = near
        while (close - end).days > 365 - _SLACK:
            close = _years_later(near, close.year - near.year - 1)
        while (close - end).days < -_SLACK:
            close = _years_later(near, close.year - near.year + 1)
        return close

    def part_of(self, start: str, end: str) -> str:
        """Return ``FY``, ``Q1`` to ``Q4``, ``H1``, ``H2``, ``9M``, or an empty string for any other period.

        Example:
            >>> FiscalCalendar((date(2024, 12, 31),)).part_of("2024-04-01", "2024-06-30")
            'Q2'
        """
        kind = duration_kind(start, end)
        last = fact_date(end)
        left = (self.close_after(last) - last).days
        quarter = 4 - round(left / _DAYS_A_QUARTER)
        if kind in (QUARTER, INSTANT):
            return f"Q{quarter}" if 1 <= quarter <= 4 else ""
        if kind == YEAR:
            return "FY" if quarter == 4 else ""
        if kind == NINE_MONTHS:
            return "9M" if quarter == 3 else ""
        return {2: "H1", 4: "H2"}.get(quarter, "") if kind == HALF else ""

    def names(self, period: FiscalPeriod, start: str, end: str) -> bool:
        """Tell whether the period from ``start`` to ``end`` is the one named; an instant by its quarter's end."""
        part = self.part_of(start, end)
        if not start:
            wanted = {"FY": "Q4", "H1": "Q2", "H2": "Q4", "9M": "Q3"}.get(period.part, period.part)
            return part == wanted and self.year_of(fact_date(end)) == period.year
        return part == period.part and self.year_of(fact_date(end)) == period.year


def _years_later(day: date, years: int) -> date:
    if day.month == 2 and day.day >= 28:
        return date(day.year + years, 3, 1) - timedelta(days=1)
    return day.replace(year=day.year + years)


def calendar_of(years: Iterable[tuple[str, int]]) -> FiscalCalendar:
    """Return the calendar of an issuer from the ends of its years and the names that filings give them.

    ``years`` holds ``(end, fiscal year that the filing says it is about, 0 if it does not say)``, the end being the
    last one that this filing reports. The names only settle how the issuer counts (a year that ends in January
    2024 may be called 2023 or 2024); a figure's own period is always its dates.

    Example:
        >>> calendar_of([("2024-01-28", 2024), ("2023-01-29", 2023)]).year_of(date(2022, 1, 30))
        2022
        >>> calendar_of([("2024-02-03", 2023)]).year_of(date(2024, 2, 3))
        2023
    """
    closes: set[date] = set()
    votes: dict[int, int] = {}
    for end, name in years:
        day = fact_date(end)
        closes.add(day)
        if name:
            shift = name - (day.year - (day.month == 1 and day.day <= _EARLY_JANUARY))
            if -1 <= shift <= 1:
                votes[shift] = votes.get(shift, 0) + 1
    shift = max(votes, key=lambda one: (votes[one], -abs(one), one)) if votes else 0
    return FiscalCalendar(tuple(sorted(closes)), shift)
