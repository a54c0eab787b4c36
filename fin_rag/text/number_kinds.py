"""Judge by its surroundings whether a printed number is an amount, and whether its brackets mean minus."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from fin_rag.text.number_digits import Digits
from fin_rag.text.number_words import BLANKS, MINUS_SIGNS, number_words

_WORD_REACH: Final = 24
_ROW_REACH: Final = 12
_LIST_MARK: Final = re.compile(r"(?:^|\n)[ \t#>*-]*\(?\Z")
_DATE: Final = re.compile(
    r"(?<![\w./-])(?:[0-9]{1,2}([./-])[0-9]{1,2}\1(?:[0-9]{4}|[0-9]{2})|[0-9]{4}([./-])[0-9]{1,2}\2[0-9]{1,2})"
    r"(?![\w/-]|[.,][0-9])"
)
_PHONE: Final = re.compile(rf"\([0-9]{{3}}\)[{BLANKS}-]?[0-9]{{3}}[{MINUS_SIGNS}. ][0-9]{{4}}(?![0-9])")
_YEAR: Final = re.compile(r"(?:19|20)[0-9]{2}|2100")
_ROW_MARKS: Final = "|$€£¥—%" + MINUS_SIGNS


class Dates:
    """Find dates written in figures once, then tell which digits belong to one.

    Example:
        >>> Dates("due 31/12/2024").covers(4)
        True
    """

    def __init__(self, text: str) -> None:
        spans = [match.span() for match in _DATE.finditer(text) if _is_date(match[0])]
        self._starts = [start for start, _ in spans]
        self._ends = [end for _, end in spans]

    def covers(self, position: int) -> bool:
        """Tell whether the character at ``position`` (code points) stands inside a date."""
        index = bisect_right(self._starts, position) - 1
        return index >= 0 and position < self._ends[index]


def _is_date(text: str) -> bool:
    parts = [int(part) for part in re.split(r"[./-]", text)]
    day_and_month = parts[1:] if parts[0] > 99 else parts[:2]
    low, high = sorted(day_and_month)
    return 1 <= low <= 12 and high <= 31


def is_phone(text: str, start: int) -> bool:
    """Tell whether the bracket at ``start`` opens the area code of a telephone number."""
    return _PHONE.match(text, start) is not None


def is_year(digits: Digits) -> bool:
    """Tell whether the digits look like a year from 1900 to 2100."""
    return not digits.grouped and not digits.fraction and _YEAR.fullmatch(digits.whole) is not None


def kind_of_bare(text: str, start: int, end: int, digits: Digits) -> str:
    """Name the kind of a number that has no currency, scale word, unit or sign.

    ``start`` and ``end`` mark its digits in ``text``. The kinds are ``amount``, ``year``, ``date`` (the
    day beside the name of a month), ``ordinal``, ``note`` (a marker in square brackets) and ``label``
    (it names a place or a thing: an Item, a note, a form, a code).
    """
    if digits.grouped:
        return "amount"
    word = _word_before(text, start)
    kind = "" if digits.fraction else _kind_of_whole(text, start, end, digits, word)
    if kind:
        return kind
    names = word in number_words().labels or (len(digits.whole) > 1 and digits.whole.startswith("0"))
    return "label" if names or _is_joined(text, start, end) else "amount"


def _kind_of_whole(text: str, start: int, end: int, digits: Digits, word: str) -> str:
    """Name the kinds that only a number without decimals can be, or return an empty string."""
    words = number_words()
    if is_year(digits):
        return "year"
    if len(digits.whole) <= 3 and text[max(0, start - 1) : start] == "[" and text[end : end + 1] == "]":
        return "note"
    by_month = word.rstrip(",") in words.months or words.month_after.match(text, end) is not None
    if by_month and len(digits.whole) <= 2 and 1 <= int(digits.whole) <= 31:
        return "date"
    if words.ordinal_after.match(text, end):
        return "ordinal"
    return "label" if _opens_list_item(text, start, end, digits) else ""


def _word_before(text: str, start: int) -> str:
    if not start or text[start - 1] not in BLANKS:
        return ""
    parts = text[max(0, start - _WORD_REACH) : start].split()
    return parts[-1].lstrip("([|*").lower() if parts else ""


def _is_joined(text: str, start: int, end: int) -> bool:
    """Tell whether the digits are a part of a longer code: ``10-K``, ``1A``, ``COVID-19``, ``2014/65``."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before and (_is_letter(before[-1]) or before[-1] in "#§_"):
        return True
    if after and (_is_letter(after[0]) or after[0] == "_"):
        return True
    joined_before = len(before) == 2 and before[1] in MINUS_SIGNS + "/:" and before[0].isalnum()
    joined_after = len(after) == 2 and after[0] in MINUS_SIGNS + "/:" and after[1].isalnum()
    if joined_before and (before[1] in "/:" or _is_letter(before[0]) or joined_after):
        return True
    return joined_after and (after[0] in "/:" or _is_letter(after[1]))


def _is_letter(char: str) -> bool:
    return char.isalpha() and char not in "ºª"


def _opens_list_item(text: str, start: int, end: int, digits: Digits) -> bool:
    mark = text[end : end + 2]
    if len(digits.whole) > 3 or mark[:1] not in (".", ")") or mark[1:] not in (" ", "\t"):
        return False
    return _LIST_MARK.search(text, max(0, start - _ROW_REACH), start) is not None


def brackets_mean_minus(text: str, start: int, end: int, digits: Digits, *, marked: bool) -> bool:
    """Tell whether a number wholly in parentheses is negative, as in a statement.

    ``start`` and ``end`` enclose the parentheses; ``marked`` tells whether a currency, scale or unit is
    inside. In running text "5 % ($2 million)" is an aside, and "(1)" behind a label is a note marker.
    """
    if is_year(digits) and not marked:
        return False
    small = len(digits.whole) <= 2 and not digits.fraction and not marked
    if not small and not marked:
        return True
    if not _row_goes_on(text[end : end + _ROW_REACH].lstrip(BLANKS)):
        return False
    reach = max(0, start - _ROW_REACH)
    left = text[reach:start].rstrip(BLANKS)
    if not left or left[-1] == "\n":
        # Alone at the start of a line, a small number marks a note; behind a wide gap it is a cell.
        return not small or (not left and reach > 0)
    number_before = left[-1] in ")" + _ROW_MARKS or left[-1].isdigit()
    return number_before or (not small and left[-1].isalpha())


def _row_goes_on(after: str) -> bool:
    return not after or after[0] in "\r\n(" + _ROW_MARKS or after[0].isdigit()
