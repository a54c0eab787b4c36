"""Read the cover page of an SEC filing: registrant, symbol, period, and the filer's own fiscal year."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from fin_rag.loaders.dates import add_months, find_dates, first_date
from fin_rag.schema import FISCAL_PERIOD, FISCAL_YEAR, ISSUER, PERIOD_END, TICKER, MetadataValue

_COVER: Final = 14_000
_BODY: Final = 600_000
_ANNUAL: Final = ("10-K", "20-F", "40-F")

_MARKS: Final = re.compile(r"[*_#|\\]+")
_REGISTRANT: Final = re.compile(
    r"\bname\s+of\s+(?:the\s+)?(?:small\s+business\s+)?(?:registrants?|issuer|company)"
    r"(?:\(s\))?\s*,?\s+as\s+specified\s+in\s+(?:its|their|the|his)?\s*\(?(?:respective\s+)?(?:charters?"
    r"|articles)",
    re.IGNORECASE,
)
_NO_NAME: Final = re.compile(
    r"commission|file\s+n(?:o|umber)|\bform\b|report|pursuant|act\s+of|indicate|state\s+of|jurisdiction|"
    r"transition|fiscal|ended|\bidentification\b|washington|date|registrant|address|telephone|\bor\b\W*$"
    r"|^n/?a$"
    r"|^none$|not\s+applicable|mark\s+one|united\s+states|translation",
    re.IGNORECASE,
)
_FILE_ROW: Final = re.compile(r"^\d{1,3}-\d{3,6}\s+(?P<name>\S.{1,100}?)\s+\d\d-\d{7}\b")
_FILE_NUMBER: Final = re.compile(
    r"commission\s+file\s+n(?:o|umbers?|os)\b\.?\W{0,12}\d{1,3}-\d{2,6}[^\n]{0,20}\n", re.IGNORECASE
)
_SIGNED: Final = re.compile(
    r"^[^\w\n(]{0,80}\([ \t]{0,9}(?:the\s)?registrant[ \t]{0,9}\)[^\w\n]{0,80}$", re.IGNORECASE | re.MULTILINE
)
_FORM_NAME: Final = re.compile(r"(?:form\s+)?(?:10-?[KQ]|20-?F|40-?F|8-?K|6-?K)", re.IGNORECASE)
_LEGAL: Final = re.compile(
    r"\b(?:inc|corp|corporation|company|co|ltd|limited|l\.?p|llc|plc|trust|group|holdings?|n\.v|s\.a|ag|se"
    r"|bank|bancorp)\b\.?$",
    re.IGNORECASE,
)
_LONE_SUFFIX: Final = re.compile(
    r"^(?:and\s+subsidiaries|corporation|company|incorporated|inc|corp|co|ltd|limited|l\.?p|llc|plc|trust"
    r"|holdings?|group"
    r"|n\.?v|s\.?a)\.?(?:,?\s+inc\.?)?$",
    re.IGNORECASE,
)
_ENDED: Final = {
    "annual": re.compile(
        r"\b(?:years?|(?<!transition\s)period)\s+(?:\(\s*\d\d\s+weeks\s*\)\s+)?(?:ended|ending)\b",
        re.IGNORECASE,
    ),
    "quarter": re.compile(r"quarter(?:ly)?(?:\s+period)?\s+(?:ended|ending)\b|\bperiod\s+ended\b", re.IGNORECASE),
    "event": re.compile(r"date\s+of\s+(?:the\s+)?(?:report|earliest\s+event\s+reported)", re.IGNORECASE),
}
_BODY_STARTS: Final = re.compile(
    r"^[^\w\n]{0,80}(?:table\s+of\s+contents[^\w\n]{0,20}\n(?!\W{0,20}united\s+states)|part\s+i\b"
    r"|item\s+1\b|index\W?$)",
    re.IGNORECASE | re.MULTILINE,
)
_EARLIEST: Final = re.compile(r"earliest\s+event\s+reported", re.IGNORECASE)
_SYMBOL_HEAD: Final = re.compile(r"trading\s+symbols?|ticker\s+symbols?", re.IGNORECASE)
_SYMBOL: Final = re.compile(
    r"(?<![\w/.-])(?<![A-Z]{3} )(?<![A-Z]{4} )([A-Z]{1,5}(?:[./-][A-Z]{1,2})?)\s*\|?\s*(?:The\s+"
    r"|the\s+)?(?:New\s+York\s+Stock|NYSE|Nasdaq|NASDAQ|Chicago\s+Stock"
    r"|Cboe|CBOE|London\s+Stock|Toronto\s+Stock|Stock\s+Exchange)"
)
_NO_SYMBOL: Final = frozenset({
    "STOCK", "SHARES", "SHARE", "NONE", "PAR", "VALUE", "CLASS", "THE", "NOTES", "DUE", "PER", "UNITS", "A",
    "B", "C", "LLC", "INC", "NYSE", "ON", "OF", "EACH", "ADS", "NEW", "N/A",
})  # fmt: skip
_EQUITY: Final = re.compile(r"common|ordinary|capital\s+stock|class\s+a\b|shares|depositary|units", re.IGNORECASE)
_FISCAL: Final = re.compile(r"\bfiscal\s+(?:year\s+)?(20\d\d|19\d\d)\b", re.IGNORECASE)
_NAMED_YEAR: Final = re.compile(
    r"\bfiscal\s+(?:year\s+)?(?P<year>(?:19|20)\d\d)\b[^.;\n]{0,60}?\b(?:ended|ending"
    r"|ends)\b(?P<end>[^.;\n]{0,40})",
    re.IGNORECASE,
)
_NUMBER_WORDS: Final = {"three": 3, "six": 6, "nine": 9, "3": 3, "6": 6, "9": 9}
_WEEKS: Final = (
    (3, r"(?:twelve|thirteen|fourteen|sixteen|1[2346])"),
    (6, r"(?:twenty[- ]?(?:four|five|six|seven|eight)|2[4-8])"),
    (9, r"(?:thirty[- ]?(?:six|seven|eight|nine)|forty|3[6-9]|40)"),
)
_MONTHS_ENDED: Final = re.compile(
    r"\b(three|six|nine|3|6|9)[- ]months?(?:\s+period)?\s+(?:ended|year\s+to\s+date)\b", re.IGNORECASE
)
_YEARS_ENDED: Final = re.compile(r"\byears?\s+ended\b", re.IGNORECASE)
_WEEKS_ENDED: Final = re.compile(
    "|".join(rf"(?P<w{months}>\b{words}[- ]weeks?(?:\s+period)?\s+ended\b)" for months, words in _WEEKS),
    re.IGNORECASE,
)
_QUARTER_NAME: Final = re.compile(r"\b(first|second|third|fourth)\s+(?:fiscal\s+)?quarter\b", re.IGNORECASE)


def read_cover(text: str, doc_type: str) -> dict[str, MetadataValue]:
    r"""Return what the cover of an SEC filing states; a key that it does not settle is absent.

    The fiscal year is the filer's own: what the text calls the year that the period belongs to (``fiscal
    2023``). Where the text gives the year no name, a year that ends in January or in the first week of
    February belongs to the calendar year before, any other to the one it ends in. A quarter is told by the
    longest period that its statements cover (nine months make the third), and its fiscal year by the year's
    end that follows.

    Example:
        >>> head = "FORM 10-K\nFor the fiscal year ended May 31, 2021\nORBITAL, Inc.\n"
        >>> read_cover(head + "(Exact name of registrant as specified in its charter)", "10-K")
        {'issuer': 'ORBITAL, Inc.', 'period_end': 20210531, 'fiscal_year': 2021, 'fiscal_period': 'FY'}
    """
    cover = text[:_COVER]
    found: dict[str, MetadataValue] = {}
    issuer = registrant(text)
    if issuer:
        found[ISSUER] = issuer
    ticker = trading_symbol(cover)
    if ticker:
        found[TICKER] = ticker
    end = period_end(cover, doc_type)
    if not end and doc_type in (*_ANNUAL, "10-Q"):
        end = latest_period(text[:_BODY], doc_type)
    if end:
        found[PERIOD_END] = end
        found.update(fiscal_year(text, doc_type, end))
    return found


def registrant(text: str) -> str:
    r"""Return the registrant's name; nothing where no statement names it.

    It stands in front of "(Exact name of registrant as specified in its charter)", in the row of the
    commission file number, right below that number, or in front of "(Registrant)" at the signatures.

    Example:
        >>> registrant("**ORBITAL PLC**\n\n(Exact name of Registrant as specified in its charter)")
        'ORBITAL PLC'
        >>> registrant("| 001-32871 | ORBITAL CORPORATION | 27-0000798 |")
        'ORBITAL CORPORATION'
    """
    cover = text[:_COVER]
    return next(filter(None, chain(_above_charter(cover), _by_number(cover[:6000]), _signed(text))), "")


def _above_charter(cover: str) -> Iterator[str]:
    """Yield the names in front of the words about the charter."""
    for match in _REGISTRANT.finditer(cover):
        before = cover[max(match.start() - 700, 0) : match.start()].rstrip()
        if before[-5:].lower() == "exact":
            before = before[:-5].rstrip()
        yield _last_name(before.rstrip("( "))


def _by_number(cover: str) -> Iterator[str]:
    """Yield the names beside or below the commission file number, or right above the form."""
    for line in cover.split("\n"):
        row = _FILE_ROW.search(_plain(line))
        if row and _is_name(row["name"]):
            yield row["name"]
    below = _FILE_NUMBER.search(cover)
    if below:
        lines = [_plain(line) for line in cover[below.end() : below.end() + 300].split("\n")]
        first = next((line for line in lines if line), "")
        if _is_name(first) and _LEGAL.search(first):
            yield first
    top = [_plain(line) for line in cover[:400].split("\n") if line.strip()][:2]
    if len(top) == 2 and _FORM_NAME.match(top[1]) and _is_name(top[0]) and _LEGAL.search(top[0]):
        yield top[0]


def _signed(text: str) -> Iterator[str]:
    """Yield the names above "(Registrant)" at the signatures."""
    for match in islice(_SIGNED.finditer(text), 9):
        yield _last_name(text[max(match.start() - 200, 0) : match.start()])


def _last_name(text: str) -> str:
    """Return the last line of a text that could be a company's name."""
    names = [line for line in map(_plain, text.split("\n")) if re.search(r"[^\W\d_]", line)]
    if not names:
        return ""
    name = names[-1]
    if _LONE_SUFFIX.match(name) and len(names) > 1 and _is_name(names[-2]):
        name = f"{names[-2].rstrip(',')} {name}"
    name = re.sub(r"^[\d-]{5,12}\s+", "", name)
    return name if _is_name(name) else ""


def _is_name(text: str) -> bool:
    return 2 <= len(text) <= 120 and not _NO_NAME.search(text) and bool(re.search(r"[^\W\d_]", text))


def _plain(line: str) -> str:
    """Return a line without marks, rules and odd blanks."""
    bare = _MARKS.sub(" ", re.sub(r"<[^>]{1,40}>", " ", line))
    return " ".join(re.sub(r"[-=]{3,}", " ", bare).split()).strip(" ,;:-–—")


def trading_symbol(cover: str) -> str:
    r"""Return the symbol of the common stock in the table of registered classes; nothing if unclear.

    Example:
        >>> trading_symbol("Trading Symbol(s)\nOrdinary Shares, $0.01 Par ORBT New York Stock Exchange")
        'ORBT'
    """
    head = _SYMBOL_HEAD.search(cover)
    if not head:
        return ""
    for line in cover[max(head.start() - 400, 0) : head.start() + 4000].split("\n"):
        match = _SYMBOL.search(line)
        if match and match.group(1) not in _NO_SYMBOL and _EQUITY.search(line[: match.start()]):
            return match.group(1).replace("/", ".")
    return ""


def period_end(cover: str, doc_type: str) -> int | None:
    """Return the end of the period that a filing covers, or an 8-K's date of the earliest event.

    Example:
        >>> period_end("Date of earliest event reported: July 1, 2022 (June 30, 2022)", "8-K")
        20220630
    """
    if doc_type in ("8-K", "6-K"):
        return _event_date(cover) if doc_type == "8-K" else None
    kind = "annual" if doc_type in _ANNUAL else "quarter"
    flat = _MARKS.sub(" ", cover)
    body = _BODY_STARTS.search(flat)
    flat = flat[: body.start()] if body else flat
    for match in _ENDED[kind].finditer(flat):
        value = first_date(re.sub(r"\s+", " ", flat[match.end() : match.end() + 90]))
        if value:
            return value
    for match in _ENDED[kind].finditer(flat):
        before = list(find_dates(re.sub(r"\s+", " ", flat[max(match.start() - 60, 0) : match.start()])))
        if before:
            return before[-1][1]
    return None


def latest_period(body: str, doc_type: str) -> int | None:
    """Return the latest period end that a report keeps coming back to, for covers without a date.

    Example:
        >>> latest_period("the year ended June 30, 2020 and the year ended June 30, 2021. " * 4, "10-K")
        20210630
    """
    pattern = _YEARS_ENDED if doc_type in _ANNUAL else _MONTHS_ENDED
    counts: Counter[int] = Counter()
    for match in pattern.finditer(body):
        value = first_date(body[match.end() : match.end() + 30])
        if value:
            counts[value] += 1
    most = max(counts.values(), default=0)
    steady = [value for value, count in counts.items() if count >= 3 and count * 6 >= most]
    return max(steady, default=None)


def _event_date(cover: str) -> int | None:
    flat = re.sub(r"\s+", " ", _MARKS.sub(" ", cover))
    match = _EARLIEST.search(flat) or _ENDED["event"].search(flat)
    if not match:
        return None
    after = flat[match.end() : match.end() + 110]
    dates = list(find_dates(after))
    if dates:
        # A second date in brackets right behind the first one is the event's.
        pair = len(dates) > 1 and "(" in after[dates[0][0] : dates[1][0]] and dates[1][0] - dates[0][0] < 24
        return min(dates[0][1], dates[1][1]) if pair else dates[0][1]
    before = list(find_dates(flat[max(match.start() - 90, 0) : match.start()]))
    return before[-1][1] if before else None


def fiscal_year(text: str, doc_type: str, end: int) -> dict[str, MetadataValue]:
    """Return the filer's own fiscal year and period of an annual or quarterly filing that ends at ``end``.

    Example:
        >>> fiscal_year("For the six months ended December 31, 2022 and 2021", "10-Q", 20221231)
        {'fiscal_year': 2023, 'fiscal_period': 'Q2'}
    """
    body = text[:_BODY]
    if doc_type in _ANNUAL:
        return {FISCAL_YEAR: year_name(body, end), FISCAL_PERIOD: "FY"}
    if doc_type != "10-Q":
        return {}
    quarter = _quarter(body)
    if not quarter:
        return {}
    year_end = add_months(end - end % 100 + 15 if end % 100 > 7 else _month_before(end), 12 - 3 * quarter)
    return {FISCAL_YEAR: year_name(body, year_end), FISCAL_PERIOD: f"Q{quarter}"}


def _month_before(value: int) -> int:
    """Return a date in the month before: weeks that end on the 3rd count as the month they cover."""
    return add_months(value, -1)


def year_name(body: str, end: int) -> int:
    """Return what a filer calls the fiscal year that ends at ``end``.

    Example:
        >>> year_name("Fiscal 2023 ended January 28, 2024.", 20240128), year_name("", 20240928)
        (2023, 2024)
    """
    year, month_day = divmod(end, 10000)
    for match in _NAMED_YEAR.finditer(body):
        ended = first_date(match["end"])
        if ended and ended // 100 == end // 100 and abs(int(match["year"]) - year) <= 1:
            return int(match["year"])
    if month_day > 331:
        return year
    names = Counter(int(found) for found in _FISCAL.findall(body))
    if names[year] or names[year - 1]:
        # Last year is named about as often as this one; next year, only in the outlook.
        return year if 2 * names[year] > names[year - 1] else year - 1
    return year - 1 if month_day <= 207 else year


def _quarter(body: str) -> int:
    """Return 1, 2 or 3 by the longest period of the statements, 0 where nothing tells."""
    counts = Counter(_NUMBER_WORDS[word.lower()] for word in _MONTHS_ENDED.findall(body))
    for match in _WEEKS_ENDED.finditer(body):
        counts[int((match.lastgroup or "w3")[1:])] += 1
    # Longer periods of other years are mentioned in passing; the statements' own come again and again.
    longest = max(counts.values(), default=0)
    for months in (9, 6):
        if counts[months] >= max(2, longest // 6) or (counts[months] and not counts[3]):
            return months // 3
    if counts[3]:
        return 1
    names = Counter(word.lower() for word in _QUARTER_NAME.findall(body[:60_000]))
    best = max(("first", "second", "third"), key=lambda word: (names[word], word))
    return ("", "first", "second", "third").index(best) if names[best] else 0
