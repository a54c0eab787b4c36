"""Lines of a PDF page with their place and style, and what their places say about the text.

pdfium already puts what stands on one baseline into one line, so rows of statements are whole. What is
left to do: rejoin lines that it cut at a raised or lowered character, find the gaps that separate
paragraphs, and tell rows of figures from prose, because a gap inside a table separates nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING, Final

from fin_rag.text.canonical import BLANKS

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

# pdfium's mark for a hyphen at the end of a line that it joined to the next one.
LINE_HYPHEN: Final = "\ufffe"

# Bullets of symbol fonts land in the private use area.
_SYMBOLS: Final = {"\uf0b7": "•", "\uf0a7": "▪", "\uf0d8": "➢", "\uf0fc": "✓", "\uf06e": "■", "\uf02d": "-"}
_ODD: Final = re.compile(rf"[\x00-\x09\x0b-\x1f\x7f-\x9f{BLANKS}{''.join(_SYMBOLS)}]")
_PIECES: Final = re.compile(r"_{6,}|(?:[^_]|_(?!_{5}))+")
_RUN: Final = re.compile(r"[ \n]+")
_FIGURE: Final = re.compile(
    r"[(\[]?[-–—−+]?[$€£¥]?[(]?(?:\d[\d.,]*|—|–|-)[)\]]?(?:%|x|pts?|bps|pp)?[)\]]?(?:\(?[a-z0-9]\))?\Z"
    r"|\A(?:NM|N/M|N/A|NA|n/a|nm|n\.s\.|n\.a\.|[$€£%])\Z"
)
_MANY: Final = 12
# Lines that head a table's columns, not a section.
_COLUMN_HEAD: Final = re.compile(
    r"\(?(?:in|amounts in|dollars in|en|importes en|cifras en)? ?\(?(?:\W?in )?"
    r"(?:millions|thousands|billions|millones|miles)\b"
    r"|\b(?:ended|ending|as of|at|al|a) .{0,60}\d|\b(?:19|20)\d\d\b.*\b(?:19|20)\d\d\b"
    r"|^(?:three|six|nine|twelve) months\b|^(?:fiscal )?years? ended\b|^ejercicios? terminados?\b",
    re.IGNORECASE,
)
_BOLD: Final = (b"bold", b"black", b"heavy")
_ITALIC: Final = (b"italic", b"oblique")


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one line: its text, edges and baselines in points, and the style of its first character.

    ``top`` and ``bottom`` are the baselines of the first and the last character; they differ where a
    hyphen joined two printed lines. ``bold`` holds for a line that starts and ends in bold type,
    ``column_head`` for one that was joined from the heads of table columns. ``size`` is the nominal font
    size, comparable inside one file only.
    """

    text: str
    left: float
    right: float
    top: float
    bottom: float
    size: float
    bold: bool
    italic: bool
    column_head: bool = False

    @property
    def style(self) -> tuple[float, bool, bool]:
        """Return what tells headings from body text: size, bold, italic."""
        return (self.size, self.bold, self.italic)


def page_lines(textpage: PdfTextPage) -> list[Line]:
    """Return the lines of a page in reading order, white space made simple.

    A bare line feed inside a line is a blank that some fonts encode so; only carriage return and line
    feed together end a line.
    """
    import ctypes

    from pypdfium2 import raw

    page = textpage.raw
    number = ctypes.c_double
    left, right, bottom, top, x, y = (number() for _ in range(6))
    name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
    lines: list[Line] = []

    def font_style(index: int) -> tuple[bool, bool]:
        raw.FPDFText_GetFontInfo(page, index, name, 128, flags)
        font = name.value.lower()
        return any(word in font for word in _BOLD), any(word in font for word in _ITALIC)

    text = textpage.get_text_range()
    for start, shown in _shown_lines(text):
        first = start + len(shown) - len(shown.lstrip())
        last = start + len(shown.rstrip()) - 1
        raw.FPDFText_GetCharBox(page, first, left, right, bottom, top)
        raw.FPDFText_GetCharOrigin(page, first, x, y)
        begin, upper = left.value, y.value
        size = round(raw.FPDFText_GetFontSize(page, first), 1)
        bold, italic = font_style(first)
        if bold and last > first:
            bold = font_style(last)[0]
        raw.FPDFText_GetCharBox(page, last, left, right, bottom, top)
        raw.FPDFText_GetCharOrigin(page, last, x, y)
        shape = (begin, right.value, upper, y.value, size, bold, italic)
        lines.append(Line(_RUN.sub(" ", shown).strip(), *shape))
    return lines


def _shown_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that print something, with their offsets in the page's characters."""
    at = 0
    for line in text.split("\r\n"):
        shown = _ODD.sub(lambda odd: _SYMBOLS.get(odd.group(), " "), line)
        # pdfium glues rules drawn with underscores to the next line; rows on one baseline are rejoined later.
        for piece in _PIECES.finditer(shown):
            if piece.group().strip():
                yield at + piece.start(), piece.group()
        at += len(line) + 2


def merge_rows(lines: Sequence[Line]) -> list[Line]:
    """Rejoin lines that stand side by side: a bullet and its text, a raised note mark, a cell.

    Example:
        >>> bullet = Line("•", 20, 24, 700, 700, 10, False, False)
        >>> item = Line("of the register", 30, 200, 699, 699, 10, False, False)
        >>> [line.text for line in merge_rows([bullet, item])]
        ['• of the register']
    """
    merged: list[Line] = []
    for line in lines:
        before = merged[-1] if merged else None
        if before and _side_by_side(before, line):
            glue = "" if line.left - before.right < 0.15 * usual_gap(lines) else " "
            widest = before if len(before.text) >= len(line.text) else line
            merged[-1] = replace(
                widest,
                text=f"{before.text}{glue}{line.text}",
                left=before.left,
                right=line.right,
                top=before.top,
                bottom=line.bottom,
            )
        else:
            merged.append(line)
    return merged


def usual_gap(lines: Sequence[Line]) -> float:
    """Return the page's usual distance of baselines in points; 10 where nothing tells."""
    gaps = [a.bottom - b.top for a, b in pairwise(lines)]
    usual = [gap for gap in gaps if 3 < gap < 40]
    return median(usual) if usual else 10.0


def _side_by_side(before: Line, line: Line) -> bool:
    """Tell whether ``line`` goes on to the right of ``before`` on about the same baseline."""
    return abs(before.bottom - line.top) < 4.5 and line.left >= before.right - 1.0


def is_rule(text: str) -> bool:
    """Tell whether a line is drawn, not written.

    Example:
        >>> is_rule("__________"), is_rule("- - - - -"), is_rule("—")
        (True, True, False)
    """
    return len(text) >= 5 and not text.strip("_-=–—. ·*~")


def is_row(text: str) -> bool:
    """Tell whether a line reads like a row of a table: it ends in two cells or more.

    Example:
        >>> is_row("Cost of sales (2,980) (2,862)"), is_row("We hold 3 to 5 % of the shares in 2024")
        (True, False)
    """
    tail = text[-200:].split(" ")[-_MANY:]
    cells = 0
    for token in reversed(tail):
        if not _FIGURE.search(token):
            break
        cells += 1
    return cells >= 2


def is_column_head(line: Line) -> bool:
    """Tell whether a line heads the columns of a table: joined from stacks, a period or a unit."""
    return line.column_head or _COLUMN_HEAD.search(line.text) is not None


def breaks(lines: Sequence[Line]) -> list[bool]:
    """Tell for each line whether a blank line belongs in front of it.

    A gap separates when it is clearly larger than the smaller of its two neighbours, so text that is
    spaced evenly, whatever its spacing, stays together. Between rows of one table only a very large gap
    separates, and a short label between rows counts as a row.

    Example:
        >>> at = lambda y, text: Line(text, 20, 500, y, y, 10, False, False)
        >>> page = [at(700, "Risks"), at(680, "Rates may rise."), at(668, "They may fall."), at(640, "Costs")]
        >>> breaks(page)
        [False, True, False, True]
    """
    if not lines:
        return []
    usual = usual_gap(lines)
    gaps = [usual, *(a.bottom - b.top for a, b in pairwise(lines))]
    rows = _table_zone([is_row(line.text) for line in lines], lines)
    found = [False]
    for index in range(1, len(lines)):
        gap = gaps[index]
        around = [g for g in (gaps[index - 1] if index > 1 else 0, *gaps[index + 1 : index + 2]) if g > 3]
        base = max(min([*around, usual * 1.6]), usual * 0.7)
        inside = rows[index] and rows[index - 1]
        found.append(gap > (4.0 if inside else 1.3) * base or gap < -12 * usual)
    return found


def _table_zone(rows: list[bool], lines: Sequence[Line]) -> list[bool]:
    """Extend rows over up to two short lines between them (``Current assets:``) and over their heads."""
    zone = list(rows)
    last = -10
    for index, row in enumerate(rows):
        if not row:
            continue
        between = range(last + 1, index)
        if 0 < len(between) <= 2 and all(len(lines[i].text) <= 90 for i in between):
            for i in between:
                zone[i] = True
        last = index
    for index in range(len(zone) - 2, -1, -1):
        if zone[index + 1] and is_column_head(lines[index]):
            zone[index] = True
    return zone
