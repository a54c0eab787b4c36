"""Periods and days in a question, in the ways that people write them in English and Spanish."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fin_rag.query.model import Period
from fin_rag.text.words import fold

_FIRST_YEAR, _LAST_YEAR = 1980, 2060
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan enero ene", "february feb febrero", "march mar marzo", "april apr abril abr", "may mayo",
            "june jun junio", "july jul julio", "august aug agosto ago", "september sep sept septiembre setiembre",
            "october oct octubre", "november nov noviembre", "december dec diciembre dic",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_YEAR: Final = r"(?:19[89]\d|20[0-5]\d)"
_SHORT: Final = rf"(?:{_YEAR}|['’]?\d\d)"
_FISCAL: Final = r"(?:fy|cy|fiscal(?: year)?|ejercicio(?: fiscal)?|ano fiscal|ano)"
_ORDINAL: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "primer": 1,
    "primero": 1, "segundo": 2, "tercer": 3, "tercero": 3, "cuarto": 4, "1er": 1, "2o": 2, "3er": 3, "4o": 4,
}  # fmt: skip
_ORD: Final = "|".join(sorted(_ORDINAL, key=len, reverse=True))
_OF: Final = r"(?:\s*[,-]?\s*(?:of|in|del?|en)?\s*(?:the\s+)?)"

_DAYS: Final = (
    re.compile(rf"\b(?P<m>{_MONTH})\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>{_YEAR})\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th|o)?\s+(?:of\s+|de\s+)?(?P<m>{_MONTH})\.?,?\s+(?:del?\s+)?(?P<y>{_YEAR})\b"),
    re.compile(rf"\b(?P<y>{_YEAR})-(?P<m>\d\d)-(?P<d>\d\d)\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})[/.-](?P<m>\d{{1,2}})[/.-](?P<y>{_YEAR})\b"),
)  # fmt: skip
_QUARTERS: Final = (
    re.compile(rf"\b[qt](?P<q>[1-4]){_OF}{_FISCAL}?\s*(?P<y>{_SHORT})\b"),
    re.compile(rf"\b(?P<q>[1-4])[qt]{_OF}{_FISCAL}?\s*(?P<y>{_SHORT})\b"),
    re.compile(rf"\b{_FISCAL}?\s*(?P<y>{_YEAR})[\s-]*[qt](?P<q>[1-4])\b"),
    re.compile(rf"\bfy\s*(?P<y>{_SHORT})[\s-]*[qt](?P<q>[1-4])\b"),
    re.compile(rf"\b(?P<o>{_ORD})\s+(?:fiscal\s+)?(?:quarter|trimestre){_OF}{_FISCAL}?\s*(?P<y>{_SHORT})\b"),
)
_HALVES: Final = (
    re.compile(rf"\b[hs](?P<h>[12]){_OF}{_FISCAL}?\s*(?P<y>{_SHORT})\b"),
    re.compile(rf"\b(?P<h>[12])[hs]{_OF}{_FISCAL}?\s*(?P<y>{_SHORT})\b"),
    re.compile(rf"\b(?P<o>first|second|primer|segundo)\s+(?:half|semestre){_OF}{_FISCAL}?\s*(?P<y>{_SHORT})\b"),
)
_RANGE: Final = re.compile(
    rf"\b(?:{_FISCAL}\s*)?(?P<a>{_YEAR})\s*(?:-|–|—|to|through|until|a|hasta)\s*(?:{_FISCAL}\s*)?(?P<b>{_YEAR})\b"
)
_SHORT_RANGE: Final = re.compile(rf"\b{_FISCAL}\s*['’]?(?P<a>\d\d)\s*(?:-|–|to)\s*(?:{_FISCAL}\s*)?['’]?(?P<b>\d\d)\b")
_FISCAL_YEAR: Final = re.compile(rf"\b{_FISCAL}\s*['’]?(?P<y>{_YEAR}|\d\d)\b")
_APOSTROPHE: Final = re.compile(r"(?:^|(?<=\s))['’](?P<y>\d\d)\b")
_PLAIN: Final = re.compile(rf"(?<![\w.,/$€£-])(?P<y>{_YEAR})(?![\d/%€])(?!,\d)(?!\.\d)")
_NOT_A_YEAR: Final = re.compile(
    r"\s*(?:million|billion|thousand|millon|mil\b|miles|euros?|dolar|dollars?|usd|eur|shares|acciones|employees|empleados|"
    r"percent|por ciento|stores|tiendas|units|unidades|tons|toneladas|puntos|points|basis|days|dias|k\b|m\b|bn\b)"
)
_DOCUMENT_CUE: Final = re.compile(
    r"(?:\b(?:informe|folleto|memoria|report|filing|prospectus|10-k|10k|20-f|cuentas|documento|kid|notas?|notes?|statements?|accounts)(?:\s+anual(?:es)?)?"
    r"\s+(?:de|del|for|of|from|correspondiente\s+a)?\s*(?:the\s+|el\s+|ejercicio\s+|fiscal\s+year\s+|fiscal\s+|fy\s*)?$)"
)
_DOCUMENT_AFTER: Final = re.compile(
    r"\s*(?:annual\s+)?(?:report|10-k|10k|10-q|20-f|filing|prospectus|informe|folleto|notes|accounts)\b"
)


def find_periods(question: str) -> list[Period]:
    """Return the periods and days of a question in order; a number with a unit behind it is no year.

    Example:
        >>> [str(period) for period in find_periods("AAPL FY24 capex vs 2T 2023 and May 3, 2022?")]
        ['FY 2024', 'Q2 2023', '20220503']
    """
    text = _folded(question)
    taken: list[tuple[int, int]] = []
    found: list[Period] = []
    for start, end, periods in _all(text):
        if any(a < end and start < b for a, b in taken):
            continue
        taken.append((start, end))
        cue = bool(_DOCUMENT_CUE.search(text, max(start - 60, 0), start) or _DOCUMENT_AFTER.match(text, end))
        found += [Period(year, part, start, end, day, cue) for year, part, day in periods]
    return sorted(found, key=lambda period: (period.start, period.year))


def _folded(question: str) -> str:
    """Fold letter by letter, so that places stay the same."""
    return "".join(part if len(part := fold(char)) == 1 else char.lower()[:1] for char in question)


def _all(text: str) -> Iterator[tuple[int, int, list[tuple[int, str, int]]]]:
    for pattern in _DAYS:
        for match in pattern.finditer(text):
            day = _day(match)
            if day:
                yield match.start(), match.end(), [(day // 10_000, "D", day)]
    for pattern in _QUARTERS:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            quarter = int(groups["q"]) if groups.get("q") else _ORDINAL[groups["o"]]
            yield match.start(), match.end(), [(_year(groups["y"]), f"Q{quarter}", 0)]
    for pattern in _HALVES:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            half = int(groups["h"]) if groups.get("h") else _ORDINAL[groups["o"]]
            yield match.start(), match.end(), [(_year(groups["y"]), f"H{half}", 0)]
    yield from _years(text)


def _years(text: str) -> Iterator[tuple[int, int, list[tuple[int, str, int]]]]:
    for pattern in (_RANGE, _SHORT_RANGE):
        for match in pattern.finditer(text):
            first, last = _year(match["a"]), _year(match["b"])
            if first < last <= first + 12:
                yield match.start(), match.end(), [(year, "FY", 0) for year in range(first, last + 1)]
    for pattern in (_FISCAL_YEAR, _APOSTROPHE):
        for match in pattern.finditer(text):
            yield match.start(), match.end(), [(_year(match["y"]), "FY", 0)]
    for match in _PLAIN.finditer(text):
        if not _NOT_A_YEAR.match(text, match.end()):
            yield match.start(), match.end(), [(int(match["y"]), "FY", 0)]


def _day(match: re.Match[str]) -> int:
    month = int(match["m"]) if match["m"].isdigit() else _MONTHS[match["m"]]
    day, year = int(match["d"]), int(match["y"])
    if month > 12 and day <= 12:  # month first, as in the United States
        month, day = day, month
    return year * 10_000 + month * 100 + day if 1 <= month <= 12 and 1 <= day <= 31 else 0


def _year(text: str) -> int:
    digits = text.strip("'’")
    year = int(digits)
    if len(digits) == 2:
        year += 2000 if year <= _LAST_YEAR % 100 else 1900
    return min(max(year, _FIRST_YEAR), _LAST_YEAR)
