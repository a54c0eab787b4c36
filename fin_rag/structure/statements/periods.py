"""Periods named in column heads: dates, fiscal years, and how long a period lasts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple, TypeVar

from fin_rag.structure.statements.vocabulary import words

_One = TypeVar("_One")

_WEEKS: Final = ((8, 18, 3), (19, 30, 6), (31, 44, 9), (45, 54, 12))
_LAST_DAY: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LONGEST: Final = 600


class When(NamedTuple):
    """Hold one mention of an end of period; parts that are not named are 0."""

    year: int
    month: int
    day: int

    @property
    def number(self) -> int:
        """Return the date as YYYYMMDD, or 0 if a part is missing."""
        return self.year * 10000 + self.month * 100 + self.day if self.year and self.month else 0


class Mentions(NamedTuple):
    """Hold what a head says, in reading order: full dates, days without a year, bare years, lengths."""

    dates: tuple[When, ...]
    days: tuple[When, ...]
    years: tuple[int, ...]
    months: tuple[int, ...]


@cache
def _pattern() -> re.Pattern[str]:
    known = words()
    month = "|".join(sorted(known.months, key=len, reverse=True))
    count = "|".join(sorted(known.counts, key=len, reverse=True))
    period = "|".join(sorted(known.periods, key=len, reverse=True))
    year = r"(?:19|20)\d{2}"
    return re.compile(
        rf"(?P<iso>\b{year}-\d{{2}}-\d{{2}}\b)"
        rf"|\b(?P<m1>{month})\b\.?\s{{0,3}}(?P<d1>\d{{1,2}})(?!\d)(?:st|nd|rd|th)?(?:\s{{0,2}},?\s{{0,3}}(?P<y1>{year})(?!\d))?"
        rf"|(?<!\d)(?P<d2>\d{{1,2}})\s{{0,2}}(?:de\s|-|\s)\s{{0,2}}(?P<m2>{month})\b\.?(?:\s{{0,2}}(?:del?|,|-)?\s{{0,3}}(?P<y2>{year})(?!\d))?"
        rf"|(?<![\d/.])(?P<a>\d{{1,2}})(?P<sep>[/.-])(?P<b>\d{{1,2}})(?P=sep)(?P<y3>{year}|\d{{2}})(?![\d/])"
        rf"|\b(?P<count>{count}|\d{{1,2}})(?:\s{{0,3}}-?\s{{0,3}})(?P<unit>months?|weeks?|meses|semanas)\b"
        rf"|\b(?P<m6>{month})[-.’']{{1,2}}(?P<y6>\d{{2}})(?!\d)"
        rf"|\b(?P<month>{month})\b\.?,?\s{{1,3}}(?:del?\s)?(?P<y5>{year})(?!\d)"
        rf"|(?<![\d.,$])(?:fy\s?|cy\s?|[1-4]q\s?|q[1-4]\s{{0,2}})?(?P<year>{year})(?![\d]|[.,]\d)"
        rf"|\b(?P<period>{period})\b",
        re.IGNORECASE,
    )


def read_mentions(lines: Sequence[str]) -> Mentions:
    """Collect the periods that header lines name; a date never runs over a line's end.

    Example:
        >>> read_mentions(["Six Months Ended", "June 30, 2024 and 2023"]).dates
        (When(year=2024, month=6, day=30), When(year=2023, month=6, day=30))
    """
    dates: list[When] = []
    days: list[When] = []
    years: list[int] = []
    months: list[int] = []
    for line in lines:
        last, end = When(0, 0, 0), -1
        for found in _pattern().finditer(line[:_LONGEST]):
            if found["count"] or found["period"]:
                months.extend(_length(found, months))
                continue
            when = _when(found)
            follows = end >= 0 and not line[end : found.start()].strip(" ,;&|$").lower().strip("andy ")
            if not when.month and last.month and follows:
                when = When(when.year, last.month, last.day)
            if when.number:
                dates.append(when)
            elif when.month:
                days.append(when)
            elif when.year:
                years.append(when.year)
            last, end = (when if when.number else When(0, 0, 0)), found.end()
    return Mentions(tuple(dates), tuple(days), tuple(years), tuple(months))


def _length(found: re.Match[str], before: Sequence[int]) -> list[int]:
    known = words()
    if found["period"]:
        name = found["period"].lower()
        # "fiscal year" is one mention, and "year" behind "three months" or "first quarter" names no length
        text = found.string[max(0, found.start() - 12) : found.start()].lower()
        if before and ("fiscal" in text or "first" in text or "ejercicio" in text):
            return []
        return [known.periods[name]]
    raw = found["count"].lower()
    count = known.counts.get(raw) or (int(raw) if raw.isdigit() else 0)
    if found["unit"].lower().startswith(("week", "seman")):
        return [months for low, high, months in _WEEKS if low <= count <= high]
    return [count] if 1 <= count <= 24 else []


def _when(found: re.Match[str]) -> When:
    known = words().months
    if found["iso"]:
        year, month, day = (int(part) for part in found["iso"].split("-"))
        return _checked(year, month, day)
    if found["m1"]:
        return _checked(int(found["y1"] or 0), known[found["m1"].lower()], int(found["d1"]))
    if found["m2"]:
        return _checked(int(found["y2"] or 0), known[found["m2"].lower()], int(found["d2"]))
    if found["month"] or found["m6"]:
        month = known[(found["month"] or found["m6"]).lower()]
        year = _full_year(found["y5"] or found["y6"])
        return When(year, month, 28 if month == 2 and year % 4 else _LAST_DAY[month - 1])
    if found["y3"]:
        year = _full_year(found["y3"])
        one, two = int(found["a"]), int(found["b"])
        return _checked(year, two, one) if one > 12 else _checked(year, one, two)
    return When(int(found["year"]), 0, 0)


def _full_year(printed: str) -> int:
    year = int(printed)
    return year if year > 99 else year + (2000 if year < 70 else 1900)


def _checked(year: int, month: int, day: int) -> When:
    if not 1 <= month <= 12 or not 1 <= day <= _LAST_DAY[month - 1]:
        return When(year, 0, 0)
    return When(year, month, day)


def spread(head: Mentions, title: Mentions, count: int) -> list[tuple[When, int]]:
    """Give each of ``count`` columns its end of period and its length in months (0: not stated).

    ``head`` is what stands above the columns, ``title`` what the statement's title says; the title
    completes what the head leaves out.
    """
    ends = _ends(head, title, count) or _ends(title, title, count) or [When(0, 0, 0)] * count
    lengths = _blocks(head.months, count) or _blocks(title.months, count) or [0] * count
    return list(zip(ends, lengths, strict=True))


def _ends(head: Mentions, title: Mentions, count: int) -> list[When]:
    if len(head.dates) == count:
        return list(head.dates)
    if head.years and count % len(head.years) == 0 and len(head.years) >= len(head.dates):
        years = list(head.years) * (count // len(head.years))
        days = _blocks(head.days, count) or _blocks(head.dates[:1], count)
        days = days or _blocks(title.days[:1] or title.dates[:1], count) or [When(0, 0, 0)] * count
        return [When(year, day.month, day.day) for year, day in zip(years, days, strict=True)]
    if len(head.dates) > count:
        return list(head.dates[-count:])
    if head.dates and count % len(head.dates) == 0:
        return list(head.dates) * (count // len(head.dates))
    return []


def _blocks(found: Sequence[_One], count: int) -> list[_One]:
    """Repeat each of the heads over its share of the columns, or return nothing if they do not fit."""
    if len(found) > count and len(set(found)) == 1:
        found = found[:1]
    if not found or count % len(found):
        return []
    return [one for one in found for _ in range(count // len(found))]
