"""Judge the text of table cells and join the pieces of a figure that was split over cells."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.loaders.html_model import TABLE_ROW, Cell, Line

_RAISED: Final = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"
_CURRENCY: Final = r"(?:(?:[A-Z]{1,3}\s?)?[$€£¥₹₩]|Cdn\$|USD|EUR|GBP|CHF|JPY|CAD|AUD|RMB|CNY|MXN|Rs\.?|Ps\.?)"
_MARKS: Final = rf"(?:\s?(?:\([a-z0-9]{{1,2}}\)|[*†‡§#]|[{_RAISED},])){{0,6}}"
_NUMBER: Final = re.compile(
    rf"{_CURRENCY}?\s?[(\[]?\s?{_CURRENCY}?\s?[-+−–—~<>≈]?\s?{_CURRENCY}?\s?\.?\d[\d,.'’\u202f ]{{0,30}}"
    r"(?:/\s?\d{1,3})?\s?[)\]]?\s?(?:%|pp|pts?\.?|bps|bp|x|years?|yrs\.?|[MBK]|million|billion|¢|€)?"
    rf"\s?[)\]]?{_MARKS}"
)
_DASH: Final = re.compile(rf"{_CURRENCY}?\s?\(?[-–—−]{{1,3}}\)?\s?%?\)?{_MARKS}")
_DIGIT: Final = re.compile(r"[0-9]")
_MAYBE: Final = re.compile(r"[^A-Za-z]|[A-Z]{2,3}|[A-Z]\s?\$|Rs|Ps|Cdn")
_LONGEST_FIGURE: Final = 48
_LONGEST_DASH: Final = 16
_VOID: Final = frozenset({"n/a", "na", "n.a.", "nm", "n.m.", "n/m", "nmf", "*", "**", "nil", "n.d.", "s/d"})
_OPENER: Final = re.compile(rf"\(?\s?{_CURRENCY}\s?\(?|\(|\[")
_CLOSER: Final = re.compile(rf"[)\]]?\s?(?:%|pp|pts\.?|bps|x|¢|€)?\s?[)\]]?{_MARKS}")
_PAGE: Final = re.compile(
    r"(?:[A-Z]{1,3}-)?\d{1,3}(?:\s?(?:[-–—,&]|and|to)\s?(?:[A-Z]{1,3}-)?\d{1,3}){0,8}\*?|[ivxl]{1,6}",
    re.ASCII,
)
_YEAR: Final = re.compile(rf"(?:FY\s?|fiscal\s|fy\s?)?(?:19|20)\d\d(?:\s?[-–/]\s?(?:19|20)?\d\d)?(?:\s?[A-Z])?{_MARKS}")
_BULLET: Final = re.compile(r"[•●▪■◦○·‣⁃∙◆➢►✓§o]")
_MARKER: Final = re.compile(
    rf"{_BULLET.pattern}|[†‡–—-]|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]|[{_RAISED}]{{1,3}}|\*{{1,4}}"
)
_UNIT_START: Final = re.compile(
    r"(?:all\s)?(?:amounts?|figures|dollars|euros?|expressed|stated|millions?|thousands?|billions?|in|"
    r"u\.?s\.?\s?(?:dollars|\$)|[$€£¥]|usd|eur|cifras|importes|datos|expresad[oa]s|miles|millones|en|unaudited|"
    r"no\sauditad[oa]s?)(?!\w)",
    re.IGNORECASE,
)
_SCALE: Final = re.compile(
    r"\b(?:millions?|thousands?|billions?|dollars|euros?|miles|millones|unaudited|no\sauditad[oa]s?)\b|000\b",
    re.IGNORECASE,
)
_IN_BRACKETS: Final = re.compile(
    r"\b(?:shares|per[\s-]share|percent(?:ages?)?|acciones|porcentajes?)\b|[$€£¥%]", re.IGNORECASE
)
_LONGEST_UNIT: Final = 160


class Field:
    """Hold the text of one cell, or of several that make up one figure.

    ``pieces`` are the lines with their offset in ``text``; ``start`` and ``end`` are columns, end-exclusive.
    """

    __slots__ = (
        "bold",
        "end",
        "glued",
        "header",
        "indent",
        "lines",
        "linked",
        "number",
        "pieces",
        "start",
        "text",
        "year",
    )  # fmt: skip

    def __init__(self, start: int, end: int, lines: list[Line], cell: Cell) -> None:
        self.start = start
        self.end = end
        self.lines = lines
        self.header = cell.header
        self.glued = False
        first = lines[0]
        self.indent = cell.indent or first.indent
        if len(lines) == 1:
            self.text = first.text
            self.pieces = [(first, 0)]
            self.bold = first.total > 0 and first.bold >= first.total
            self.linked = first.linked > 0
        else:
            self._join(lines)
        self._judge()

    def _join(self, lines: list[Line]) -> None:
        texts, shift, self.pieces = [], 0, []
        for line in lines:
            text = line.text
            self.pieces.append((line, shift))
            texts.append(text)
            shift += len(text) + 1
        self.text = " ".join(texts)
        total = sum(line.total for line in lines)
        self.bold = total > 0 and sum(line.bold for line in lines) >= total
        self.linked = any(line.linked for line in lines)

    def glue(self, other: Field, between: str) -> None:
        """Append the next field's text to this one."""
        shift = len(self.text) + len(between)
        self.text = f"{self.text}{between}{other.text}"
        self.pieces.extend((line, at + shift) for line, at in other.pieces)
        self.lines = self.lines + other.lines
        self.glued = True
        self.end = other.end
        self.linked = self.linked or other.linked
        self.bold = self.bold and (other.bold or len(other.text) < 3)
        self._judge()

    def _judge(self) -> None:
        self.number = is_number(self.text)
        self.year = (self.number or self.text[0] in "Ff") and is_year(self.text)

    def settle(self, host: Line, at: int) -> None:
        """Note for each line that its text now stands in ``host`` from ``at`` on; the first host counts."""
        escaped = "|" in self.text and host.kind == TABLE_ROW
        for line, shift in self.pieces:
            if line.host is None:
                line.host = host
                line.shift = at + shift + (self.text.count("|", 0, shift) if escaped else 0)
                line.escaped = escaped
            host.total += line.total
            host.bold += line.bold
            host.italic += line.italic
            host.under += line.under
            host.linked += line.linked
            host.upper += line.upper
            if line.size and (not host.size or line.size < host.size):
                host.size = line.size

    def stand_in(self, other: Field) -> None:
        """Let another field with the same text stand for this one, which is not written again."""
        for (line, shift), (twin, at) in zip(self.pieces, other.pieces, strict=False):
            if line is not twin and line.host is None:
                line.host, line.shift = twin, max(shift - at, 0)
        for line, _ in self.pieces[len(other.pieces) :]:
            line.host = other.pieces[-1][0]

    def write_to(self, host: Line, between: str) -> None:
        """Append the text to a line of prose, behind ``between`` where there is text already."""
        if host.width:
            host.parts.append(between)
            host.width += len(between)
        self.settle(host, host.width)
        host.parts.append(self.text)
        host.width += len(self.text)


def is_number(text: str) -> bool:
    """Tell whether a cell holds a figure (also a dash or "n/a" in place of one).

    Example:
        >>> [is_number(t) for t in ("$1,234)", "(567)", "12.5 %", "—", "001-12345", "Total")]
        [True, True, True, True, False, False]
    """
    if len(text) > _LONGEST_FIGURE:
        return False
    if text.isascii() and text.replace(",", "").replace(".", "", 1).isdigit():
        return True
    if not _MAYBE.match(text):
        return text.lower() in _VOID
    if _DIGIT.search(text):
        return bool(_NUMBER.fullmatch(text))
    return text.lower() in _VOID or (len(text) <= _LONGEST_DASH and bool(_DASH.fullmatch(text)))


def is_opener(text: str) -> bool:
    """Tell whether a cell holds only what stands before a figure."""
    return len(text) <= 8 and bool(_OPENER.fullmatch(text))


def is_closer(text: str) -> bool:
    """Tell whether a cell holds only what stands behind a figure."""
    return len(text) <= 12 and bool(_CLOSER.fullmatch(text))


def is_year(text: str) -> bool:
    """Tell whether a cell holds a year."""
    return len(text) <= 24 and bool(_YEAR.fullmatch(text))


def is_pagelike(text: str) -> bool:
    """Tell whether a cell could hold page numbers of a contents list."""
    return len(text) <= 40 and bool(_PAGE.fullmatch(text))


def is_marker(text: str) -> bool:
    """Tell whether a cell holds only a bullet, a list number or a note marker."""
    return len(text) <= 8 and bool(_MARKER.fullmatch(text))


def is_bullet(text: str) -> bool:
    """Tell whether a text is a bullet sign."""
    return len(text) == 1 and bool(_BULLET.fullmatch(text))


def is_unit_line(text: str) -> bool:
    """Tell whether a line says in what its table counts.

    Example:
        >>> is_unit_line("(In millions, except per share data)"), is_unit_line("In 2024 sales rose")
        (True, False)
    """
    if not 2 < len(text) <= _LONGEST_UNIT:
        return False
    if text[0] in "([" and text[-1] in ")]":
        inner = text[1:-1].strip()
        words = len(inner.split())
        if _SCALE.search(inner):
            return bool(_UNIT_START.match(inner)) or words <= 8
        return words <= 4 and bool(_IN_BRACKETS.search(inner))
    return text[-1] not in ".;" and bool(_UNIT_START.match(text)) and bool(_SCALE.search(text))
