"""Rank the lines of a PDF that its type marks as headings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from fin_rag.loaders.pdf_lines import Line, is_column_head, is_row

_MAX_LENGTH: Final = 220
_MAX_JOINED: Final = 440
_LARGER: Final = 1.08
_MIN_OF_RANK: Final = 3
_BULLETS: Final = "•▪■●○◦‣➢✓*-–—"
_LETTERS: Final = re.compile(r"[^\W\d_]{3}")
_GOES_ON: Final = re.compile(r"(?:,| (?:of|and|or|the|for|in|to|by|on|de|del|y|o|la|el|los|las|en|por|para))\Z")
_FIGURE_LAST: Final = re.compile(r"\A(?:total|subtotal)\b|\S+ \S+ \S+ .*\s[$€£(]?\d[\d.,)%]*\Z", re.IGNORECASE)


def heading_ranks(lines: Sequence[Line]) -> dict[Line, int]:
    """Return the lines that stand out as headings, with a rank (1 = most prominent).

    A heading is short, is no row of figures, and is larger than the body text or, at its size, bold. The
    body's style is the one that most characters of the document have.

    Example:
        >>> body = [Line("Rates may rise or fall.", 20, 400, y, y, 10, False, False) for y in (600, 588, 576)]
        >>> big = Line("Risk factors", 20, 90, 640, 640, 14, True, False)
        >>> bold = Line("Interest rates", 20, 90, 620, 620, 10, True, False)
        >>> heading_ranks([big, bold, *body]) == {big: 1, bold: 2}
        True
    """
    weights: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        # Tables are often set smaller than the text around them, so rows count for little.
        weights[line.size, line.bold] += len(line.text) if len(line.text) > 40 and not is_row(line.text) else 1
    if not weights:
        return {}
    body = min(weights, key=lambda style: (-weights[style], style))
    found = [line for line in lines if _stands_out(line, body)]
    counts = Counter(map(_prominence, found))
    order: dict[tuple[float, bool, bool, bool], int] = {}
    rank, gathered = 1, 0
    for key in sorted(counts, reverse=True):
        # A style that comes once or twice (a cover page) shares its rank with the next one.
        order[key] = rank
        gathered += counts[key]
        if gathered >= _MIN_OF_RANK or key == max(counts):
            rank, gathered = rank + 1, 0
    return {line: order[_prominence(line)] for line in found}


def joins_heading(before: Line, line: Line, held: str, edge: float) -> bool:
    """Tell whether ``line`` goes on a heading that did not fit its line.

    ``edge`` is the right edge of the page's text: a line was full if the next word would have crossed it.

    Example:
        >>> first = Line("Management's Discussion and Analysis of", 20, 560, 640, 640, 14, True, False)
        >>> joins_heading(first, Line("Results", 20, 90, 625, 625, 14, True, False), first.text, 570)
        True
    """
    if before.style != line.style or len(held) + len(line.text) > _MAX_JOINED or not line.text[0].isalnum():
        return False
    if line.text[0].islower() or _GOES_ON.search(held):
        return True
    if held.endswith((".", ":", "?")):
        return False
    width = (before.right - before.left) / max(len(before.text), 1)
    return before.right + width * (line.text.find(" ") % 20 + 1) > edge


def _stands_out(line: Line, body: tuple[float, bool]) -> bool:
    size, bold = body
    larger = line.size > size * _LARGER
    if not larger and not (line.bold and not bold and line.size >= size * 0.9):
        return False
    text = line.text
    if len(text) > _MAX_LENGTH or not _LETTERS.search(text) or text.endswith((",", ";")):
        return False
    if text[0] in _BULLETS or text[0].islower():
        return False
    return not is_row(text) and not _FIGURE_LAST.match(text) and not is_column_head(line)


def _prominence(line: Line) -> tuple[float, bool, bool, bool]:
    return (line.size, line.bold, line.text.isupper(), not line.italic)
