"""What the HTML reader builds before there is a text: lines, cells, tables and page breaks.

A :class:`Line` is one line of the canonical text to be. It remembers how much of it was bold, italic
and so on, and where it came to stand, so that every mark made while reading (a fact, a link, an
anchor) is turned into an offset by arithmetic and never by a search.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

# Inline state, as bits.
BOLD: Final = 1
ITALIC: Final = 2
UNDERLINE: Final = 4
CENTER: Final = 8
SUPERSCRIPT: Final = 16
PREFORMATTED: Final = 32
CAPITALS: Final = 64
LINKED: Final = 128
OUTWARD: Final = 256

# What stands between a line and the one before it.
GAP_BLOCK: Final = 0
GAP_BREAK: Final = 1

# Kinds of lines.
PROSE: Final = 0
TABLE_ROW: Final = 1
LIST_ITEM: Final = 2
RAW: Final = 3
LEAD: Final = 4

_SUPERSCRIPTS: Final = str.maketrans("0123456789+-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")
_LETTERS: Final = str.maketrans("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ")
_SIGNS: Final = {"tm": "™", "sm": "℠", "(tm)": "™", "(sm)": "℠"}


def raise_text(text: str) -> str:
    """Write a superscript in plain text: digits and single letters raised, brackets as printed.

    Example:
        >>> raise_text("2"), raise_text("(1)"), raise_text("TM"), raise_text("th")
        ('²', '(1)', '™', 'th')
    """
    if text.isascii():
        if text.strip("0123456789,+-* ") == "":
            return text.translate(_SUPERSCRIPTS)
        if len(text) == 1 and text.islower():
            return text.translate(_LETTERS)
        return _SIGNS.get(text.lower(), text)
    return text


class Line:
    """Gather one line of text with its style, and know later where it stands.

    ``width`` is the length so far in code points. ``host`` and ``shift`` say that the line became a part of
    another one (a cell of a row); ``at`` is the offset of the text in the canonical text once written.
    """

    __slots__ = (
        "at", "bold", "center", "cut", "dropped", "escaped", "face", "gap", "host", "indent", "italic",
        "kind", "level", "linked", "parts", "prefix", "shift", "size", "space", "start", "suffix", "total",
        "under", "upper", "width",
    )  # fmt: skip

    def __init__(self, gap: int = GAP_BLOCK, kind: int = PROSE, level: int = 0) -> None:
        self.parts: list[str] = []
        self.width = 0
        self.space = False
        self.gap = gap
        self.kind = kind
        self.level = level
        self.prefix = ""
        self.suffix = ""
        self.total = self.bold = self.italic = self.under = self.linked = self.upper = 0
        self.center = False
        self.size = 0.0
        self.face: str | None = None
        self.indent = 0.0
        self.at = self.start = 0
        self.dropped = ""
        self.host: Line | None = None
        self.shift = 0
        self.escaped = False
        self.cut = 0

    @property
    def text(self) -> str:
        """Return the text gathered so far, blanks settled."""
        if len(self.parts) > 1:
            self.parts = ["".join(self.parts)]
        return self.parts[0] if self.parts else ""

    def add(self, raw: str, flags: int, size: float) -> int:
        """Append source text and return the offset where it begins in the line, or -1 for blanks only."""
        words = raw.split()
        if not words:
            self.space = True
            return -1
        text = words[0] if len(words) == 1 else " ".join(words)
        if self.width and (self.space or raw[0].isspace()):
            self.parts.append(" ")
            self.width += 1
        self.space = raw[-1].isspace()
        if flags & SUPERSCRIPT:
            text = raise_text(text)
        return self._put(text, flags, size)

    def add_raw(self, text: str, flags: int, size: float) -> int:
        """Append preformatted text of one line, blanks kept; return where it begins, or -1 for none."""
        if not text:
            return -1
        return self._put(text, flags, size)

    def trim(self) -> None:
        """Cut blanks off the end."""
        text = self.text.rstrip()
        self.parts = [text]
        self.width = len(text)

    def _put(self, text: str, flags: int, size: float) -> int:
        begin = self.width
        length = len(text)
        self.parts.append(text)
        self.width = begin + length
        if length > 2 or text.isalnum():
            self.total += length
            if flags & 199:  # any of bold, italic, underline, capitals, linked
                self._count(flags, length)
            if not self.size or size < self.size:
                self.size = size
        return begin

    def _count(self, flags: int, length: int) -> None:
        if flags & BOLD:
            self.bold += length
        if flags & ITALIC:
            self.italic += length
        if flags & UNDERLINE:
            self.under += length
        if flags & LINKED:
            self.linked += length
        if flags & CAPITALS:
            self.upper += length

    def adopt(self, child: Line, glue: str) -> None:
        """Append another line behind ``glue``; from now on it stands inside this one."""
        text = child.text
        shift = self.width + len(glue) if self.width else 0
        if self.width and glue:
            self.parts.append(glue)
        self.parts.append(text)
        self.width = shift + len(text)
        child.host, child.shift = self, shift
        self.total += child.total
        self.bold += child.bold
        self.italic += child.italic
        self.under += child.under
        self.linked += child.linked
        self.upper += child.upper
        if child.size and (not self.size or child.size < self.size):
            self.size = child.size

    def position(self, offset: int) -> int:
        """Return the offset in the canonical text of ``offset`` in this line, once all is written."""
        line: Line = self
        while line.host is not None:
            if line.escaped:
                offset += line.text.count("|", 0, offset)
            offset += line.shift
            line = line.host
        return line.at + max(0, min(offset - line.cut, line.width))


class Break:
    """Mark the end of a page, or a plain rule that may be one."""

    __slots__ = ("rule",)

    def __init__(self, *, rule: bool = False) -> None:
        self.rule = rule


Item: TypeAlias = Line | Break


class Cell:
    """Hold what one table cell contains, and the columns ``start`` to ``end`` that it covers."""

    __slots__ = ("colspan", "end", "header", "indent", "items", "nested", "rowspan", "start")

    def __init__(self, *, header: bool, indent: float) -> None:
        self.items: list[Item] = []
        self.colspan = 1
        self.rowspan = 1
        self.header = header
        self.indent = indent
        self.nested = False
        self.start = 0
        self.end = 0


@dataclass(slots=True)
class Table:
    """Hold the rows of one table while it is read."""

    rows: list[list[Cell]] = field(default_factory=list)
    capped: bool = False
