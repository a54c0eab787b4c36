"""Gather source text into lines, with style, links and anchors; the ground that the walker stands on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from fin_rag.loaders.html_model import (
    CENTER,
    GAP_BLOCK,
    GAP_BREAK,
    LIST_ITEM,
    OUTWARD,
    PREFORMATTED,
    RAW,
    Break,
    Item,
    Line,
)
from fin_rag.loaders.html_style import PLAIN, Style, font_size
from fin_rag.loaders.html_tags import CLEAN, INLINE_TAGS, ODD
from fin_rag.loaders.ixbrl import XbrlReader


class Link(NamedTuple):
    """Hold a link inside the document: its target and the text from ``first`` to ``last``."""

    target: str
    first: Line
    first_at: int
    last: Line
    last_at: int


Closer: TypeAlias = Callable[[], None]

MIXED: Final = "?"
_VISIBLE_GAP: Final = 2.5


class LineBuilder:
    """Build lines from text and inline state; subclasses know the elements.

    ``flow`` holds what was built, ``anchors`` and ``links`` what points into it, ``left_out`` counts what is
    not in it.
    """

    def __init__(self) -> None:
        self.xbrl = XbrlReader()
        self.flow: list[Item] = []
        self.anchors: list[tuple[str, Line]] = []
        self.links: list[Link] = []
        self.left_out: Counter[str] = Counter()
        self._sink = self.flow
        self._line: Line | None = None
        self._last: Line | None = None
        self._gap = GAP_BLOCK
        self._flags = 0
        self._size = 0.0
        self._face = ""
        self._level = 0
        self._indent = 0.0
        self._marker = ""
        self._names: list[str] = []
        self._open_links: list[tuple[str, Line | None, int]] = []

    @property
    def late_anchors(self) -> list[str]:
        """Return the anchors that no text follows."""
        return self._names

    def _add(self, text: str) -> None:
        """Add text as it stands in the source."""
        if not text.isascii() and ODD.search(text):
            text = text.translate(CLEAN)
            if not text:
                return
        if self._flags & PREFORMATTED:
            self._add_raw(text)
            return
        line = self._line
        if line is None:
            if text.isspace():
                return
            line = self._open_line()
        at = line.add(text, self._flags, self._size)
        if at >= 0:
            face = MIXED if self._flags & OUTWARD else self._face
            if line.face != face:
                line.face = face if line.face is None else MIXED
            self._bind(line, at)

    def _open_line(self) -> Line:
        line = Line(self._gap, level=self._level)
        line.indent = self._indent
        line.center = bool(self._flags & CENTER)
        if self._marker:
            line.kind, line.prefix, self._marker = LIST_ITEM, self._marker, ""
        self._line = line
        return line

    def _bind(self, line: Line, at: int) -> None:
        """Tie what waits for the next text (facts, anchors, links) to the text just added."""
        self._last = line
        if self.xbrl.waiting:
            self.xbrl.begin(line, at)
        if self._names:
            self.anchors.extend((name, line) for name in self._names)
            self._names.clear()
        if self._open_links and self._open_links[-1][1] is None:
            self._open_links[-1] = (self._open_links[-1][0], line, at)

    def _add_raw(self, text: str) -> None:
        """Add text whose line ends and blanks count."""
        pieces = text.replace("\r", "").split("\n")
        for number, piece in enumerate(pieces):
            if number:
                self._flush(GAP_BREAK)
            if self._line is None and not piece.strip():
                continue
            line = self._line or self._open_line()
            line.kind = RAW
            at = line.add_raw(piece.expandtabs().replace("\u00a0", " "), self._flags, self._size)
            if at >= 0:
                self._bind(line, at)

    def _flush(self, gap: int = GAP_BLOCK) -> None:
        """End the current line; ``gap`` is what stands before the next one."""
        line = self._line
        if line is not None and line.width:
            if line.kind == RAW:
                line.trim()
            self._sink.append(line)
            self._gap = gap
        else:
            self._gap = GAP_BLOCK
        self._line = None

    def _break_page(self) -> None:
        self._flush()
        self._sink.append(Break())

    def _apply(self, tag: str, attrib: Mapping[str, str], style: Style) -> None:
        """Set the inline state inside the element that starts."""
        flags = self._flags
        if tag in INLINE_TAGS:
            flags |= INLINE_TAGS[tag]
        if style is not PLAIN:
            flags = (flags | style.add) & ~style.clear
            self._size = style.size or self._size * (style.factor or 1.0)
            self._face = style.face or self._face
            if style.indent > _VISIBLE_GAP and self._line is not None:
                self._line.space = True
        if attrib:
            if "align" in attrib:
                flags = flags | CENTER if attrib["align"].lower() == "center" else flags & ~CENTER
            if tag == "font" and "size" in attrib and not style.size:
                self._size = font_size(attrib["size"]) or self._size
            name = attrib.get("id") or attrib.get("name")
            if name and not tag.startswith("ix:"):
                self._names.append(name)
        self._flags = flags
