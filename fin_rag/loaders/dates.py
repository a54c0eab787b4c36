"""Read dates as documents print them, English and Spanish, into ``YYYYMMDD`` integers."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Final

from fin_rag.errors import InputError

_ENGLISH: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_SPANISH: Final = (
    "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre",
    "noviembre", "diciembre",
)  # fmt: skip
_MONTHS: Final = {
    **{name[:3]: number for number, name in enumerate(_ENGLISH, 1)},
    **{name: number for number, name in enumerate(_ENGLISH, 1)},
    **{name: number for number, name in enumerate(_SPANISH, 1)},
    "sept": 9, "setiembre": 9, "ene": 1, "abr": 4, "ago": 8, "dic": 12,
}  # fmt: skip
_NAME: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"\b(?P<m1>{_NAME})\b\.?,?\s*(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s*(?P<y1>(?:19|20)\d\d)\b"
    rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th|º|\.º)?[\s-]+(?:de\s+)?(?P<m2>{_NAME})\b\.?,?[\s-]+(?:de\s+|del\s+)?(?P<y2>(?:19|20)\d\d)\b"
    r"|\b(?P<y3>(?:19|20)\d\d)-(?P<m3>\d\d)-(?P<d3>\d\d)\b",
    re.IGNORECASE,
)
_DAY_FIRST: Final = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./]((?:19|20)\d\d)\b")


def find_dates(text: str) -> Iterator[tuple[int, int]]:
    """Yield ``(offset, YYYYMMDD)`` of the dates in a text, in order; impossible dates are passed over.

    Dates with a month's name and ISO dates are read. Figures only (``3/4/2024``) are ambiguous and left.

    Example:
        >>> list(find_dates("the year ended December 31, 2023 and al 30 de junio de 2024"))
        [(15, 20231231), (40, 20240630)]
    """
    for match in _DATE.finditer(text):
        parts = match.groupdict()
        year = parts["y1"] or parts["y2"] or parts["y3"]
        day = parts["d1"] or parts["d2"] or parts["d3"]
        name = parts["m1"] or parts["m2"]
        month = _MONTHS[name.lower()] if name else int(parts["m3"])
        value = date_number(int(year), month, int(day))
        if value:
            yield match.start(), value


def first_date(text: str) -> int | None:
    """Return the first date of a text as ``YYYYMMDD``, or ``None``.

    Example:
        >>> first_date("al 31 de diciembre de 2024")
        20241231
    """
    return next((value for _, value in find_dates(text)), None)


def first_numeric_date(text: str) -> int | None:
    """Return the first ``31.12.2024`` or ``31/12/2024`` (day first), or ``None``.

    Example:
        >>> first_numeric_date("cerrado a 31.12.2024")
        20241231
    """
    for match in _DAY_FIRST.finditer(text):
        day, month, year = map(int, match.groups())
        value = date_number(year, month, day)
        if value:
            return value
    return None


def date_number(year: int, month: int, day: int) -> int | None:
    """Return ``YYYYMMDD`` of a date of the calendar, ``None`` of any other.

    Example:
        >>> date_number(2024, 2, 29), date_number(2023, 2, 29)
        (20240229, None)
    """
    if not (1900 <= year <= 2199 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    return year * 10000 + month * 100 + day


def add_months(value: int, months: int) -> int:
    """Return the last day of the month that lies ``months`` after a ``YYYYMMDD`` date.

    Example:
        >>> add_months(20221231, 6)
        20230630
    """
    year, month = divmod(value // 10000 * 12 + value // 100 % 100 - 1 + months, 12)
    return year * 10000 + (month + 1) * 100 + calendar.monthrange(year, month + 1)[1]


def as_date_number(value: object, *, key: str) -> int:
    """Turn what a caller gives for a date into ``YYYYMMDD``.

    Takes a ``date`` or ``datetime``, an integer or digits ``20240201``, and ISO text ``2024-02-01``.

    Raises:
        InputError: if the value is of another type or no date of the calendar.

    Example:
        >>> as_date_number("2024-02-01", key="filed"), as_date_number(date(2024, 2, 1), key="filed")
        (20240201, 20240201)
    """
    number: int | None = None
    if isinstance(value, datetime | date):
        number = date_number(value.year, value.month, value.day)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = date_number(value // 10000, value // 100 % 100, value % 100)
    elif isinstance(value, str):
        match = re.fullmatch(r"\s*(\d{4})(-?)(\d\d)\2(\d\d)(?:[T ][\d:.+Z-]*)?\s*", value)
        if match:
            number = date_number(int(match[1]), int(match[3]), int(match[4]))
    if number is None:
        raise InputError(f"Metadata {key!r} must be a date: 20240201, '2024-02-01' or a date object. Got {value!r}.")
    return number
