"""Periods that a text names, with their places: years, quarters, halves, dates, and "the year before"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from fin_rag.answers.vocabulary import phrases, words

_LONGEST: Final = 200_000
_WEEKS: Final = ((11, 18, 3), (22, 30, 6), (34, 44, 9), (50, 54, 12))


@dataclass(frozen=True, slots=True)
class When:
    """Hold one mention of a period; parts that are not named are 0.

    ``months`` is the length (3, 6, 9 or 12). ``part`` is ``Q1`` to ``Q4``, ``H1``, ``H2`` or empty. ``fiscal`` tells
    that a year is named as a fiscal one. ``relative`` is -1 for "the year before". ``start`` and ``end`` mark the
    mention (code points of the text that was read).
    """

    year: int = 0
    month: int = 0
    day: int = 0
    part: str = ""
    months: int = 0
    fiscal: bool = False
    relative: int = 0
    start: int = 0
    end: int = 0

    @property
    def key(self) -> tuple[int, int, int, str, int]:
        """Return what tells two periods apart."""
        return (self.year, self.month, self.day, self.part, self.months)

    def text(self) -> str:
        """Write the period for a reason.

        Example:
            >>> When(year=2024, part="Q3").text(), When(year=2024, month=6, day=30).text()
            ('Q3 2024', '2024-06-30')
        """
        if self.month and self.year:
            return f"{self.year:04d}-{self.month:02d}" + (f"-{self.day:02d}" if self.day else "")
        return " ".join(part for part in (self.part, str(self.year) if self.year else "") if part)


@cache
def _pattern() -> re.Pattern[str]:
    known = words()

    def join(name: str) -> str:
        return "|".join(re.escape(one) for one in sorted(known[name], key=len, reverse=True))

    month, ordinal, count = join("months"), join("ordinals"), join("counts")
    year = r"(?:19|20)\d{2}"
    fiscal = r"fiscal\s+years?|fiscal|fy|ejercicio(?:\s+fiscal)?|año\s+fiscal|calendar\s+year"
    link = r"(?:\s*,?\s*(?:of\s+(?:the\s+)?|de\s+l?|del\s+)?\s*)"
    year2 = rf"(?:(?:{fiscal})\s*)?(?:of\s+|de\s+)?(?:{year}|['’]?\d{{2}}(?![\d%.,]))"
    return re.compile(
        rf"(?P<iso>(?<!\d)(?P<iy>{year})-(?P<im>\d{{2}})-(?P<id>\d{{2}})(?!\d))"
        rf"|\b(?P<count>{count}|\d{{1,2}})[\s-]+(?:primeros\s+)?(?P<unit>months?|weeks?|meses|semanas)\b"
        rf"|\b(?P<ord>{ordinal})[\s-]+(?:fiscal\s+)?(?P<ordunit>quarter|trimestre|half|semestre)\b"
        rf"(?:{link}(?P<oy>{year2}))?"
        rf"|\b(?P<q>q[1-4]|[1-4]q|[1-4]t|t[1-4]|h[12]|[12]h|[12]s)(?:{link}|\s*[-/’']?\s*)(?P<qy>{year2})(?!\w)"
        rf"|\b(?:(?:{fiscal})\s*)?(?P<qy2>{year})[\s,-]*(?P<q2>q[1-4]|[1-4]q|[1-4]t|h[12]|"
        rf"(?:{ordinal})\s+(?:quarter|trimestre|half|semestre))\b"
        rf"|\b(?P<q3>q[1-4]|[1-4]q|[1-4]t|h[12])\b"
        rf"|\b(?P<m1>{month})\b\.?\s+(?P<d1>\d{{1,2}})(?!\d)(?:st|nd|rd|th)?(?:\s*,?\s*(?P<y1>{year})(?!\d))?"
        rf"|(?<![\d.,])(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.?º)?\s+(?:de\s+|"
        rf"of\s+)?(?P<m2>{month})\b\.?(?:\s*,?\s*(?:del?\s+)?(?P<y2>{year})(?!\d))?"
        rf"|\b(?P<m3>{month})\b\.?,?\s+(?:del?\s+|of\s+)?(?P<y3>{year})(?!\d)"
        rf"|(?<![\d/.,-])(?P<a>\d{{1,2}})(?P<sep>[/.-])(?P<b>\d{{1,2}})(?P=sep)(?P<y4>{year}|\d{{2}})(?![\d/])"
        rf"|\b(?P<f1>{fiscal})\s*(?:of\s+|de\s+)?['’]?(?P<fy>{year}|\d{{2}}(?![\d%.,]))(?:[/-](?P<fy2>\d{{4}}|"
        rf"\d{{2}})(?!\d))?(?!\d)"
        rf"|(?<![\w$€£¥.,/])(?P<yr>{year})(?:(?P<rsep>[/–—-])(?P<yr2>{year}|\d{{2}})(?!\d))?(?![\d%]|[.,]\d|\s*%)",
        re.IGNORECASE,
    )


def read_periods(text: str) -> list[When]:
    """Return the periods that a text names, in order.

    Example:
        >>> [one.text() for one in read_periods("from $3 in the third quarter of 2023 to $4 in fiscal 2024")]
        ['Q3 2023', '2024']
        >>> read_periods("three months ended June 30, 2024")[0].months
        3
        >>> read_periods("más que el año anterior")[0].relative
        -1
    """
    found: list[When] = []
    length: When | None = None
    for match in _pattern().finditer(text[:_LONGEST]):
        one = _when(match)
        if one is None:
            continue
        if one.months and not one.year and not one.month and not one.part:
            length = one  # "three months", and the date that follows says when they ended
            continue
        if length is not None and one.start - length.end <= 40 and not one.part:
            one = replace(one, months=length.months, start=length.start)
        length = None
        found.append(one)
    taken = [(one.start, one.end) for one in found]
    found += [
        When(relative=-1, start=match.start(), end=match.end())
        for match in phrases("prior").finditer(text[:_LONGEST])
        if not any(start < match.end() and match.start() < end for start, end in taken)
    ]
    return sorted(_dated(found, text), key=lambda one: (one.start, one.end))


def _dated(found: list[When], text: str) -> Iterable[When]:
    """Complete "December 31, 2024 and 2023" and "the first quarters of 2024 and 2023"."""
    last: When | None = None
    for one in sorted(found, key=lambda each: each.start):
        whole = one
        between = (
            text[last.end : one.start].strip(" ,;&").lower() if last is not None and one.start >= last.end else "x"
        )
        if (
            last is not None
            and between in ("", "and", "y", "e", "to")
            and one.year
            and not (one.month or one.part or one.relative)
        ):
            whole = replace(one, month=last.month, day=last.day, part=last.part, months=one.months or last.months)
        elif (
            last is not None
            and last.month
            and not last.year
            and one.year
            and not one.month
            and one.start - last.end < 20
        ):
            whole = replace(one, month=last.month, day=last.day, months=last.months)
        last = whole
        yield whole


def _when(match: re.Match[str]) -> When | None:  # noqa: C901  # one branch for each way of writing a period
    known = words()
    start, end = match.span()
    if match["iso"]:
        return When(int(match["iy"]), int(match["im"]), int(match["id"]), start=start, end=end)
    if match["count"]:
        return _length(match)
    if match["ord"]:
        kind = "Q" if match["ordunit"].lower() in ("quarter", "trimestre") else "H"
        part = f"{kind}{known['ordinals'][match['ord'].lower()]}"
        return When(
            _year(match["oy"]),
            part=part,
            months=3 if kind == "Q" else 6,
            fiscal=_says_fiscal(match["oy"]),
            start=start,
            end=end,
        )
    for name, year in (("q", "qy"), ("q2", "qy2"), ("q3", "")):
        if match[name]:
            part = _part(match[name])
            months = 3 if part[0] == "Q" else 6
            said = match[year] if year else ""
            return When(_year(said), part=part, months=months, fiscal=_says_fiscal(said), start=start, end=end)
    for named, on, year in (("m1", "d1", "y1"), ("m2", "d2", "y2"), ("m3", "", "y3")):
        if match[named]:
            number = int(match[on]) if on else 0
            if number > 31 or (not match[year] and len(match[named]) <= 3):
                return None  # "20 may" is no date
            return When(_year(match[year]), known["months"][match[named].lower()], number, start=start, end=end)
    if match["a"]:
        one, two = int(match["a"]), int(match["b"])
        day, month = (one, two) if one > 12 or two <= 12 else (two, one)
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        return When(_year(match["y4"]), month, day, start=start, end=end)
    if match["f1"]:
        return When(_year(match["fy2"] or match["fy"]), fiscal=True, start=start, end=end)
    if match["yr2"] and match["rsep"] == "/":
        return When(_year(match["yr2"]), fiscal=True, start=start, end=end)
    return When(int(match["yr"]), start=start, end=end)


def _length(match: re.Match[str]) -> When | None:
    raw = match["count"].lower()
    count = words()["counts"].get(raw) or (int(raw) if raw.isdecimal() else 0)
    if match["unit"].lower().startswith(("week", "sem")):
        count = next((months for low, high, months in _WEEKS if low <= count <= high), 0)
    if count not in (3, 6, 9, 12):
        return None
    return When(months=count, start=match.start(), end=match.end())


def _part(text: str) -> str:
    low = text.lower()
    digits = [char for char in low if char in "1234"]
    if len(low) > 2:
        name = low.split()[0]
        kind = "Q" if "quarter" in low or "trimestre" in low else "H"
        return f"{kind}{words()['ordinals'][name]}"
    return ("H" if "h" in low or "s" in low else "Q") + digits[0]


def _says_fiscal(text: str | None) -> bool:
    return bool(text) and any(word in (text or "").lower() for word in ("f", "ejercicio"))


def _year(text: str | None) -> int:
    digits = "".join(char for char in (text or "") if char.isdigit())
    if not digits:
        return 0
    year = int(digits)
    return year if year > 99 else year + (2000 if year < 70 else 1900)
