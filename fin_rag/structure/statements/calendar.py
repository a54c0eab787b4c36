"""The days on which a document's fiscal periods close, to complete heads that name only a year."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

from fin_rag.structure.lines import Line
from fin_rag.structure.statements.periods import When, read_mentions

_COVER_LINES: Final = 150
_ENDED: Final = re.compile(
    r"\b(?:year|period|quarter|months|weeks)\s{1,3}ended\b|\bejercicio\b|\bcerrado\b", re.IGNORECASE
)
_WEEK: Final = 7
_YEAR_OF_WEEKS: Final = 364
_MOST_WEEKS: Final = 371
_LATE: Final = 6  # a fiscal year that closes by June can be called by the year before


@dataclass(frozen=True, slots=True)
class Calendar:
    """Hold the closing dates that a document names, by calendar year."""

    closings: dict[int, date]

    def complete(self, whens: Sequence[When]) -> list[When]:
        """Complete ends of period that name a year only, where the document tells the day.

        A fiscal year may be called by the year in which it began; years of 52 weeks close on one weekday.

        Example:
            >>> calendar = Calendar({2024: date(2024, 1, 28), 2023: date(2023, 1, 29)})
            >>> [when.number for when in calendar.complete([When(2023, 0, 0), When(2022, 0, 0), When(2021, 0, 0)])]
            [20240128, 20230129, 20220130]
        """
        named = [when.year for when in whens if when.year and not when.month]
        if not named or not self.closings:
            return list(whens)
        latest = max(self.closings)
        behind = latest - max(named) == 1 and self.closings[latest].month <= _LATE
        return [self._closing(when.year + behind) if when.year and not when.month else when for when in whens]

    def _closing(self, year: int) -> When:
        day = self.closings.get(year)
        if day is None:
            day = self._counted(year)
        return When(day.year, day.month, day.day) if day else When(year, 0, 0)

    def _counted(self, year: int) -> date | None:
        """Return the closing day of a year that is not named, from the nearest one that is."""
        nearest = min(self.closings, key=lambda known: (abs(known - year), known))
        day = self.closings[nearest]
        if self._weekly():
            step = timedelta(days=_YEAR_OF_WEEKS * (year - nearest))
            return day + step if (day + step).year == year else None
        if day.month == 2:
            return date(year, 2, 29 if year % 4 == 0 else 28) if day.day >= 28 else date(year, 2, day.day)
        return date(year, day.month, day.day)

    def _weekly(self) -> bool:
        """Tell whether the years close on one weekday instead of one day of the month."""
        days = sorted(self.closings.values())
        gaps = [(b - a).days for a, b in pairwise(days)]
        return any(gap in (_YEAR_OF_WEEKS, _MOST_WEEKS) for gap in gaps)


def read_calendar(stated: Iterable[When], lines: Sequence[Line]) -> Calendar:
    """Return the calendar by the dates that statements state and the period that the cover names."""
    counts: dict[int, Counter[date]] = {}
    for when in stated:
        if when.number:
            day = _day(when)
            if day:
                counts.setdefault(when.year, Counter())[day] += 1
    cover = _cover(lines)
    if cover and cover.year not in counts:
        counts[cover.year] = Counter([cover])
    return Calendar({year: max(days, key=lambda day: (days[day], day)) for year, days in sorted(counts.items())})


def _cover(lines: Sequence[Line]) -> date | None:
    for line in lines[:_COVER_LINES]:
        if line.text and len(line.text) < 300 and _ENDED.search(line.text):
            found = read_mentions([line.text]).dates
            if found:
                return _day(found[0])
    return None


def _day(when: When) -> date | None:
    try:
        return date(when.year, when.month, when.day)
    except ValueError:
        return None  # "February 29" of a year that has none
