"""Walk an HTML source once, as a parser target: no tree, no recursion, no depth limit.

:class:`Walker` gets the parser's events and builds lines, tables and page breaks; inline XBRL events are
passed on to the :class:`~fin_rag.loaders.ixbrl.XbrlReader`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from fin_rag.loaders.html_model import (
    BOLD, CENTER, GAP_BLOCK, GAP_BREAK, ITALIC, LINKED, LIST_ITEM, PREFORMATTED, RAW, SUPERSCRIPT, TABLE_ROW,
    UNDERLINE, Break, Cell, Item, Line, Table,
)  # fmt: skip
from fin_rag.loaders.html_style import BREAK_AFTER, BREAK_BEFORE, PLAIN, Style, StyleBook, font_size, points
from fin_rag.loaders.html_tables import finish_table
from fin_rag.loaders.ixbrl import XbrlReader

MAX_TABLE_DEPTH: Final = 32
MAX_COLSPAN: Final = 1000
MAX_ROWSPAN: Final = 65534
_MAX_LIST_DEPTH: Final = 8

_ODD: Final = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff\x00-\x08\x0e-\x1b\x7f-\x9f]")
_BLANKS: Final = {0x2028: " ", 0x2029: " ", 0x85: "…"}


def _odd_characters() -> dict[int, str | None]:
    """Map what is no visible character to nothing, and stray Windows-1252 codes to what they meant."""
    table: dict[int, str | None] = dict.fromkeys(range(9))
    table.update(dict.fromkeys(range(0x0E, 0x1C)))
    table.update(dict.fromkeys((0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, 0x7F)))
    for code in range(0x80, 0xA0):
        char = bytes([code]).decode("cp1252", errors="ignore")
        table[code] = char or None
    table.update({0x2028: " ", 0x2029: " "})
    return table


_CLEAN: Final = _odd_characters()

_BOLD_TAGS: Final = {"b": BOLD, "strong": BOLD, "i": ITALIC, "em": ITALIC, "cite": ITALIC, "dfn": ITALIC,
                     "u": UNDERLINE, "ins": UNDERLINE, "sup": SUPERSCRIPT}  # fmt: skip
_BLOCK_TAGS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "caption", "dd", "details", "dir", "div",
    "dl", "document", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "html", "legend", "main", "menu", "nav", "option", "p", "pre", "section",
    "summary", "text", "tbody", "thead", "tfoot", "listing", "xmp", "plaintext",
})  # fmt: skip
_SILENT_TAGS: Final = frozenset({
    "script", "style", "title", "template", "noscript", "svg", "ix:header", "ix:hidden", "ix:references",
    "ix:resources", "object", "applet", "iframe", "select", "textarea",
})  # fmt: skip
_SGML_TAGS: Final = frozenset({"type", "sequence", "filename", "description"})

State = tuple[int, float]


class Walker:
    """Build lines from parser events (``start``, ``end``, ``data``, ``close``)."""

    def __init__(self) -> None:
        self.book = StyleBook()
        self.xbrl = XbrlReader()
        self.flow: list[Item] = []
        self.title: list[str] = []
        self.anchors: list[tuple[str, Line]] = []
        self.links: list[tuple[str, Line, int, Line, int]] = []
        self.left_out: Counter[str] = Counter()
        self.warnings: list[str] = []
        self._sink = self.flow
        self._line: Line | None = None
        self._last: Line | None = None
        self._gap = GAP_BLOCK
        self._flags = 0
        self._size = 0.0
        self._stack: list[tuple[int, float, Callable[[], None] | None]] = []
        self._mute = 0
        self._mute_kind = ""
        self._sheet: list[str] = []
        self._names: list[str] = []
        self._link: list[tuple[str, Line | None, int]] = []
        self._lists: list[int] = []
        self._marker = ""
        self._level = 0
        self._indent = 0.0
        self._tables: list[tuple[Table, list[Item]]] = []
        self._cells: list[Cell] = []
        self._deep = 0
        self._openers: dict[str, Callable[[str, Mapping[str, str], Style], Callable[[], None] | None]] = (
            self._tag_openers()
        )

    # --- parser events ------------------------------------------------------------------------
    def start(self, tag: str, attrib: Mapping[str, str]) -> None:
        """Take the start of an element."""
        if self._mute:
            self._mute += 1
            self.xbrl.start_hidden(tag, attrib)
            return
        style = PLAIN
        if attrib:
            text = attrib.get("style", "")
            if text or self.book.has_rules:
                style = self.book.of(tag, text, attrib.get("class", ""))
                if style.display == "none":
                    self._hide(tag, attrib, "hidden")
                    return
        flags, size = self._flags, self._size
        opener = self._openers.get(tag)
        if opener is None and style is PLAIN and not attrib:
            self._stack.append((flags, size, None))
            return
        after = None
        if opener is not None:
            after = opener(tag, attrib, style)
            if self._mute:
                return
        elif style.display == "block":
            after = self._open_block(tag, attrib, style)
        self._stack.append((flags, size, after))
        self._apply(tag, attrib, style)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if self._mute:
            self._mute -= 1
            self.xbrl.end_hidden(tag)
            if not self._mute:
                self._unmute()
            return
        if not self._stack:
            return
        flags, size, after = self._stack.pop()
        if after is not None:
            after()
        self._flags, self._size = flags, size

    def data(self, text: str) -> None:
        """Take text."""
        if self._mute:
            if self._mute_kind:
                self._sheet.append(text)
            else:
                self.xbrl.data_hidden(text)
            return
        if not text.isascii() and _ODD.search(text):
            text = text.translate(_CLEAN)
            if not text:
                return
        if self._flags & PREFORMATTED:
            self._preformatted(text)
            return
        line = self._line
        if line is None:
            if text.isspace():
                return
            line = self._open_line()
        at = line.add(text, self._flags, self._size)
        if at >= 0:
            self._bind(line, at)

    def close(self) -> Walker:
        """Finish after the last event and return the walker itself."""
        while self._stack:
            self.end("")
        self._flush()
        return self

    @property
    def late_anchors(self) -> list[str]:
        """Return the anchors that no text follows."""
        return self._names

    # --- text ---------------------------------------------------------------------------------
    def _open_line(self) -> Line:
        line = Line(self._gap, level=self._level)
        line.indent = self._indent
        if self._flags & CENTER:
            line.center = True
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
        if self._link and self._link[-1][1] is None:
            self._link[-1] = (self._link[-1][0], line, at)

    def _preformatted(self, text: str) -> None:
        """Add text whose line ends and blanks count."""
        first = True
        for piece in text.expandtabs().replace("\r", "").split("\n"):
            if not first:
                blank = self._line is None
                self._flush()
                self._gap = GAP_BLOCK if blank else GAP_BREAK
            first = False
            if self._line is None and not piece.strip():
                continue
            line = self._line or self._open_line()
            line.kind = RAW
            at = line.add_raw(piece.replace("\u00a0", " "), self._flags, self._size)
            if at >= 0:
                self._bind(line, at)

    def _flush(self, gap: int = GAP_BLOCK) -> None:
        """End the current line."""
        line = self._line
        if line is not None and line.width:
            self._sink.append(line)
            self._gap = gap
        elif gap == GAP_BLOCK or self._line is None:
            self._gap = GAP_BLOCK
        self._line = None

    # --- elements -----------------------------------------------------------------------------
    def _apply(self, tag: str, attrib: Mapping[str, str], style: Style) -> None:
        """Set the inline state inside the element that starts."""
        flags = self._flags | _BOLD_TAGS.get(tag, 0)
        if attrib:
            if "align" in attrib:
                flags = flags | CENTER if attrib["align"].lower() == "center" else flags & ~CENTER
            if style is not PLAIN:
                flags = (flags | style.add) & ~style.clear
                if style.size:
                    self._size = style.size
                elif style.factor:
                    self._size *= style.factor
            elif tag == "font" and "size" in attrib:
                self._size = font_size(attrib["size"]) or self._size
            name = attrib.get("id") or attrib.get("name")
            if name and not tag.startswith("ix:"):
                self._names.append(name)
        self._flags = flags

    def _tag_openers(self) -> dict[str, Callable[[str, Mapping[str, str], Style], Callable[[], None] | None]]:
        openers: dict[str, Callable[[str, Mapping[str, str], Style], Callable[[], None] | None]] = {}
        openers.update(dict.fromkeys(_BLOCK_TAGS, self._open_block))
        openers.update(dict.fromkeys(_SILENT_TAGS, self._open_silent))
        openers.update(dict.fromkeys(_SGML_TAGS, self._open_sgml))
        openers.update(dict.fromkeys(_BOLD_TAGS, self._open_inline))
        openers.update(dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), self._open_heading))
        openers.update(dict.fromkeys(("ul", "ol", "dir", "menu"), self._open_list))
        openers.update(dict.fromkeys(("td", "th"), self._open_cell))
        openers.update(dict.fromkeys(("pre", "listing", "xmp", "plaintext"), self._open_pre))
        openers.update(
            dict.fromkeys(
                ("ix:nonfraction", "ix:nonnumeric", "ix:continuation", "ix:exclude", "ix:fraction"), self._open_fact
            )
        )
        openers.update({
            "a": self._open_link, "br": self._open_br, "center": self._open_center, "hr": self._open_rule,
            "img": self._open_image, "li": self._open_item, "page": self._open_page, "table": self._open_table,
            "tr": self._open_row,
        })  # fmt: skip
        return openers

    def _open_inline(self, tag: str, attrib: Mapping[str, str], style: Style) -> None:
        """Leave the line as it is: the element only changes the inline state."""

    def _open_block(self, _tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        if style.display == "inline":
            return None
        self._flush()
        outer = self._indent
        if style.indent:
            self._indent = style.indent
        if not style.breaks:
            if outer != self._indent:
                return lambda: self._close_indented(outer)
            return self._flush
        if style.breaks & BREAK_BEFORE:
            self._break_page()
        if style.breaks & BREAK_AFTER:
            return lambda: self._close_page(outer)
        return lambda: self._close_indented(outer)

    def _close_indented(self, outer: float) -> None:
        self._flush()
        self._indent = outer

    def _close_page(self, outer: float) -> None:
        self._close_indented(outer)
        self._break_page()

    def _break_page(self) -> None:
        self._flush()
        self._sink.append(Break())

    def _open_page(self, _tag: str, attrib: Mapping[str, str], style: Style) -> None:
        self._break_page()

    def _open_rule(self, _tag: str, attrib: Mapping[str, str], style: Style) -> None:
        self._flush()
        if style.breaks:
            self._break_page()
        elif not self._tables:
            self._sink.append(Break(rule=True))

    def _open_br(self, _tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        if style.breaks:
            self._break_page()
        else:
            self._flush(GAP_BREAK)
        return None

    def _open_heading(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        close = self._open_block(tag, attrib, style)
        outer, self._level = self._level, int(tag[1])

        def after() -> None:
            if close is not None:
                close()
            self._level = outer

        return after

    def _open_center(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        close = self._open_block(tag, attrib, style)
        self._flags |= CENTER
        return close

    def _open_pre(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        close = self._open_block(tag, attrib, style)
        self._flags |= PREFORMATTED
        return close

    def _open_list(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None]:
        self._flush()
        first = attrib.get("start", "1")
        counts = tag == "ol" and attrib.get("type", "1") == "1"
        self._lists.append(int(first) - 1 if counts and first.isdigit() and len(first) < 6 else 0 if counts else -1)
        return self._close_list

    def _close_list(self) -> None:
        self._flush()
        self._lists.pop()
        self._marker = ""

    def _open_item(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None]:
        self._flush()
        pad = "  " * (min(len(self._lists), _MAX_LIST_DEPTH) - 1)
        if self._lists and self._lists[-1] >= 0:
            self._lists[-1] += 1
            self._marker = f"{pad}{self._lists[-1]}. "
        else:
            self._marker = f"{pad}- "
        return self._close_item

    def _close_item(self) -> None:
        self._flush()
        self._marker = ""

    def _open_link(self, _tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        target = attrib.get("href", "").strip()
        if not target.startswith("#") or len(target) < 2:
            return None
        name = target[1:]
        self._link.append((unquote(name) if "%" in name else name, None, 0))
        self._flags |= LINKED
        return self._close_link

    def _close_link(self) -> None:
        name, line, at = self._link.pop()
        if line is not None and self._last is not None:
            self.links.append((name, line, at, self._last, self._last.width))

    def _open_image(self, _tag: str, attrib: Mapping[str, str], style: Style) -> None:
        self.left_out["image"] += 1

    def _open_sgml(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        return self._open_block(tag, attrib, style)

    def _open_fact(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None]:
        mark = self.xbrl.open(tag, attrib)
        return lambda: self.xbrl.shut(mark, self._last)

    # --- what is not text -----------------------------------------------------------------------
    def _open_silent(self, tag: str, attrib: Mapping[str, str], style: Style) -> None:
        kind = "hidden" if tag.startswith("ix:") else ""
        self._hide(tag, attrib, kind)
        self._mute_kind = tag if tag in ("style", "title") else ""
        if not kind and not self._mute_kind:
            self._mute_kind = "script"

    def _hide(self, tag: str, attrib: Mapping[str, str], kind: str) -> None:
        self._mute = 1
        self._mute_kind = ""
        self.xbrl.start_hidden(tag, attrib)
        if kind:
            self._sheet.clear()

    def _unmute(self) -> None:
        kind, text = self._mute_kind, "".join(self._sheet)
        self._sheet.clear()
        self._mute_kind = ""
        if kind == "style":
            self.book.add_sheet(text)
        elif kind == "title":
            self.title.append(text)
        elif self.xbrl.take_hidden_text():
            self.left_out["hidden"] += 1

    # --- tables -------------------------------------------------------------------------------
    def _open_table(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        self._flush()
        if len(self._tables) >= MAX_TABLE_DEPTH:
            if not self._deep:
                self.left_out["deep_table"] += 1
            self._deep += 1
            return self._close_deep
        if style.breaks & BREAK_BEFORE:
            self._break_page()
        self._tables.append((Table(), self._sink))
        if style.breaks & BREAK_AFTER:
            return lambda: self._close_table(broken=True)
        return self._close_table

    def _close_deep(self) -> None:
        self._flush()
        self._deep -= 1

    def _close_table(self, *, broken: bool = False) -> None:
        self._flush()
        table, outer = self._tables.pop()
        self._sink = outer
        lines = finish_table(table)
        outer.extend(lines)
        if table.capped:
            self.left_out["capped_span"] += 1
        if self._cells and any(isinstance(line, Line) and line.kind == TABLE_ROW for line in lines):
            self._cells[-1].nested = True
        if broken:
            self._break_page()

    def _open_row(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        self._flush()
        if not self._tables or self._deep:
            return self._open_block(tag, attrib, style)
        self._tables[-1][0].rows.append([])
        return None

    def _open_cell(self, tag: str, attrib: Mapping[str, str], style: Style) -> Callable[[], None] | None:
        if not self._tables or self._deep:
            return self._open_block(tag, attrib, style)
        self._flush()
        table = self._tables[-1][0]
        if not table.rows:
            table.rows.append([])
        colspan = self._span(table, attrib.get("colspan"), MAX_COLSPAN)
        rowspan = self._span(table, attrib.get("rowspan"), MAX_ROWSPAN)
        cell = Cell(colspan, rowspan, header=tag == "th", indent=style.indent)
        table.rows[-1].append(cell)
        outer = self._sink
        self._sink = cell.items
        self._cells.append(cell)
        return lambda: self._close_cell(outer)

    def _close_cell(self, outer: list[Item]) -> None:
        self._flush()
        self._cells.pop()
        self._sink = outer

    @staticmethod
    def _span(table: Table, value: str | None, limit: int) -> int:
        if value is None or value == "1":
            return 1
        digits = value.strip()
        if not digits.isdecimal():
            return 1
        if len(digits) > 9 or int(digits) > limit:
            table.capped = True
            return limit
        return max(int(digits), 1)
