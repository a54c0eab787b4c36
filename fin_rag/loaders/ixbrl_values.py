"""Apply the transformation formats of inline XBRL to what is printed."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Final

_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS: Final = {
    **{word: number for number, word in enumerate(_ONES)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    "no": 0, "none": 0, "nil": 0, "a": 1, "an": 1, "dozen": 12,
}  # fmt: skip
_SCALES: Final = {"thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_PLAIN: Final = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")
_WORD: Final = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_DATE_PART: Final = re.compile(r"[A-Za-z]+|\d+")
_DURATION_UNITS: Final = {"year": "Y", "month": "M", "week": "W", "day": "D", "hour": "H"}
_COMMA_FORMATS: Final = frozenset({"numcommadecimal", "numcomma", "numspacecomma", "numdotcomma"})
_ZERO_FORMATS: Final = frozenset({"fixedzero", "zerodash", "numdash", "nocontent"})
_FIXED: Final = {"booleantrue": "true", "fixedtrue": "true", "booleanfalse": "false", "fixedfalse": "false",
                 "fixedempty": "", "nocontent": ""}  # fmt: skip
_TICKED: Final = frozenset("☒☑✓✔þýxX✗✘")


def read_number(raw: str, fmt: str) -> Decimal | None:
    """Return the number that is printed as ``raw``, or ``None`` if it cannot be read.

    Example:
        >>> read_number("1.234,5", "ixt:num-comma-decimal"), read_number("—", "ixt:fixed-zero")
        (Decimal('1234.5'), Decimal('0'))
    """
    kind = format_name(fmt)
    text = raw.strip()
    if kind in _ZERO_FORMATS:
        return Decimal(0)
    if kind.startswith("numwords"):
        return _words(text)
    if len(text) > 100:
        return None
    if _PLAIN.fullmatch(text) and kind not in _COMMA_FORMATS:
        return Decimal(text.replace(",", ""))
    if kind in _COMMA_FORMATS:
        text = text.replace(".", "").replace(",", ".")
    text = "".join(char for char in text.replace(",", "") if not char.isspace() and char not in "$€£'’")
    if kind and text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    try:
        number = Decimal(text)
    except InvalidOperation:
        return Decimal(0) if text and not text.strip("-–—−") else None
    return number if number.is_finite() else None


def read_text(raw: str, fmt: str) -> str:
    """Return the value of a text fact: dates as ISO, durations as ISO 8601, booleans, else as printed.

    Example:
        >>> read_text("September 28, 2024", "ixt:date-monthname-day-year-en")
        '2024-09-28'
        >>> read_text("2", "ixt-sec:duryear"), read_text("☒", "ixt-sec:boolballotbox")
        ('P2Y', 'true')
    """
    kind = format_name(fmt)
    if not kind:
        return raw
    if kind in _FIXED:
        return _FIXED[kind]
    if kind == "boolballotbox":
        return "true" if set(raw.strip()) & _TICKED else "false"
    if kind.startswith("date") and len(raw) <= 60:
        return _date(raw, kind.removeprefix("date")) or raw
    if kind.startswith("dur") and len(raw) <= 120:
        return _duration(raw, kind.removeprefix("dur")) or raw
    if kind.startswith("num"):
        number = read_number(raw, fmt)
        return raw if number is None else f"{number:f}"
    return raw


def format_name(fmt: str) -> str:
    """Return the bare name of a transformation format: no prefix, no hyphens, lower case.

    Example:
        >>> format_name("ixt:num-dot-decimal"), format_name("ixt-sec:durwordsen")
        ('numdotdecimal', 'durwordsen')
    """
    return fmt.rpartition(":")[2].replace("-", "").lower()


def _words(text: str) -> Decimal | None:
    total = current = Decimal(0)
    seen = False
    for word in _WORD.findall(text.lower()[:200]):
        if word in ("and", "of"):
            continue
        if word in _SCALES:
            total += max(current, Decimal(1)) * _SCALES[word]
            current = Decimal(0)
        elif word == "hundred":
            current = max(current, Decimal(1)) * 100
        elif word in _WORDS:
            current += _WORDS[word]
        elif word[0].isdigit():
            current += Decimal(word)
        else:
            return None
        seen = True
    return total + current if seen else None


def _date(raw: str, order: str) -> str | None:
    """Read a date in the order that its format names, such as ``monthnamedayyearen``."""
    parts = _DATE_PART.findall(raw)
    order = order.removesuffix("en").replace("monthname", "month").replace("us", "").replace("eu", "")
    order = {
        "slash": "monthdayyear",
        "dot": "daymonthyear",
        "long": "monthdayyear",
        "short": "monthdayyear",
    }.get(order, order)
    names = re.findall(r"year|month|day", order)
    if not names or len(parts) < len(names):
        return None
    found = dict(zip(names, parts, strict=False))
    month = _month(found.get("month", ""))
    day = found.get("day", "")
    year = found.get("year", "")
    if (month is None and "month" in found) or (day and not day.isdecimal()) or (year and not year.isdecimal()):
        return None
    if year and len(year) == 2:
        year = f"20{year}"
    if year and month and day:
        return f"{int(year):04d}-{month:02d}-{int(day):02d}"
    if year and month:
        return f"{int(year):04d}-{month:02d}"
    if month and day:
        return f"--{month:02d}-{int(day):02d}"
    return year or None


def _month(text: str) -> int | None:
    if text.isdecimal():
        return int(text) if 1 <= int(text[:4]) <= 12 else None
    low = text.lower()
    if len(low) < 3:
        return None
    return next((number for number, name in enumerate(_MONTHS, 1) if name.startswith(low[:3])), None)


def _duration(raw: str, unit: str) -> str | None:
    if unit.startswith("words"):
        return _duration_words(raw)
    number = read_number(raw, "")
    name = _DURATION_UNITS.get(unit)
    if number is None or name is None:
        return None
    return _period(number, name)


def _period(number: Decimal, name: str) -> str:
    sign, number = ("-" if number < 0 else ""), abs(number)
    whole = int(number)
    rest = number - whole
    if not rest:
        return f"{sign}PT{whole}H" if name == "H" else f"{sign}P{whole}{name}"
    if name == "Y":
        months = rest * 12
        days = int((months - int(months)) * 30)
        tail = f"{int(months)}M" + (f"{days}D" if days else "")
        return f"{sign}P{whole}Y{tail}"
    if name == "M":
        return f"{sign}P{whole}M{int(rest * 30)}D"
    if name == "W":
        return f"{sign}P{int(number * 7)}D"
    if name == "D":
        return f"{sign}P{whole}DT{int(rest * 24)}H"
    return f"{sign}PT{number.normalize():f}H"


def _duration_words(raw: str) -> str | None:
    parts: dict[str, Decimal] = {}
    waiting: list[str] = []
    for word in _WORD.findall(raw.lower()):
        name = _DURATION_UNITS.get(word.removesuffix("s"))
        if name is None:
            waiting.append(word)
            continue
        number = _words(" ".join(waiting)) if waiting else None
        if number is None:
            return None
        parts[name] = number
        waiting = []
    if not parts:
        return None
    if len(parts) == 1:
        ((name, number),) = parts.items()
        return _period(number, name)
    text = "".join(f"{int(parts[name])}{name}" for name in ("Y", "M", "W", "D") if name in parts)
    return f"P{text}" if text else None
