"""Lines of a transcript with their Markdown marks told apart from their words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fin_rag.schema import Markup, Span

# No speaker line, title or running head is longer; of longer lines only the start is looked at.
LOOKED_AT: Final = 240

_LINE: Final = re.compile(r"[^\n\r\f\v\x85\u2028\u2029]+")
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(?=\S)")
_BULLET: Final = re.compile(r"(?:[*+•·●▪■◦‣-])[ \t]+(?=\S)")
_ESCAPE: Final = re.compile(r"\\([^\w\s])")
_BLANKS: Final = re.compile(r"[ \t\u00a0\u2000-\u200b\u202f\u3000\ufeff]+")
_TERMINAL: Final = re.compile(r"[.?!…:;][\"”'’»)\]*_]*$|[)\]\"”»]$")
_SENTENCE_END: Final = re.compile(r"[.?!…][\"”'’»)\]*_]*$")
_ITALIC: Final = re.compile(r"([*_])(?![*_\s])[^*_]+\1")


@dataclass(slots=True)
class CallLine:
    """Hold one line that is not blank.

    ``start`` and ``end`` bound it without the blanks around; ``bare`` is its beginning without marks, blanks
    made one; ``cells`` keeps wide gaps. ``gap`` tells that a blank line stands before it.
    """

    start: int
    end: int
    bare: str
    raw: str
    level: int
    bold: bool
    italic: bool
    bullet: bool
    indent: int
    gap: bool

    @property
    def span(self) -> Span:
        """Return the line's span, without the blanks around it."""
        return Span(self.start, self.end)

    @property
    def short(self) -> bool:
        """Tell whether the whole line was looked at."""
        return self.end - self.start <= LOOKED_AT

    @property
    def closed(self) -> bool:
        """Tell whether the line ends as sentences, quotations and brackets do."""
        return bool(_TERMINAL.search(self.tail))

    @property
    def ends_sentence(self) -> bool:
        """Tell whether the line ends with a full stop or another end of a sentence."""
        return bool(_SENTENCE_END.search(self.tail))

    @property
    def tail(self) -> str:
        """Return the last characters of what was looked at."""
        return self.raw[-8:]


def call_lines(text: str, markup: Markup | None = None) -> list[CallLine]:
    r"""Return the lines of a text that are not blank.

    Example:
        >>> [(line.bare, line.level, line.bold, line.gap) for line in call_lines("# A\n\n**B C**  \n*d*")]
        [('A', 1, False, True), ('B C', 0, True, True), ('d', 0, False, False)]
    """
    styled = {span.start: rank for span, rank in markup.headings} if markup else {}
    lines: list[CallLine] = []
    last = 0
    for match in _LINE.finditer(text):
        start, end = _trim(text, match.start(), match.end())
        if start == end:
            continue
        breaks = text.count("\n", last, start) if lines else 2
        line = _line(text, start, end, start - match.start(), gap=breaks > 1)
        if not line.level and start in styled and line.short:
            line.level = min(styled[start] + 1, 6)
        lines.append(line)
        last = end
    return lines


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the bounds without blanks; runs of blanks are skipped in one step each."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip(" \t\u00a0\ufeff\u200b"))
    stripped = piece.strip()
    if not stripped:
        return start, start
    return start + max(left, piece.find(stripped[0], left)), start + len(piece.rstrip(" \t\u00a0\ufeff\u200b").rstrip())


def _line(text: str, start: int, end: int, indent: int, *, gap: bool) -> CallLine:
    long = end - start > LOOKED_AT
    raw = text[start : start + LOOKED_AT] if long else text[start:end]
    words = raw
    heading = _HEADING.match(words)
    level = 0
    if heading:
        level = len(heading[1])
        words = words[heading.end() :].rstrip("# \t")
    bullet = not heading and _BULLET.match(words) is not None and not words.startswith("**")
    if bullet:
        words = words[2:].lstrip()
    bold = not long and words.startswith("**") and words.rstrip(": \t").endswith("**") and len(words) > 4
    italic = not long and not bold and _ITALIC.fullmatch(words) is not None
    raw_end = text[max(start, end - 8) : end] if long else ""
    return CallLine(start, end, plain(words), raw + raw_end, level, bold, italic, bullet, indent, gap)


def plain(words: str) -> str:
    r"""Return words without Markdown marks and escapes, runs of blanks made one.

    Example:
        >>> plain("**Ann Lee**  -- *VP \\& CFO*")
        'Ann Lee -- VP & CFO'
    """
    if "*" in words or "_" in words or "\\" in words:
        words = words.replace("\\*", "\x00").replace("**", "").replace("__", "")
        words = re.sub(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)", "", words).replace("\x00", "*")
        words = _ESCAPE.sub(r"\1", words)
    return _BLANKS.sub(" ", words).strip()
