"""Walk an HTML source once, as a parser target: no tree, no recursion, no depth limit.

:class:`Walker` gets the parser's events and builds lines, tables and page breaks; inline XBRL events are
passed on to the :class:`~fin_rag.loaders.ixbrl.XbrlReader`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote

from fin_rag.loaders.html_lines import Closer, LineBuilder, Link
from fin_rag.loaders.html_model import (
    CENTER,
    GAP_BLOCK,
    GAP_BREAK,
    LINKED,
    OUTWARD,
    PREFORMATTED,
    TABLE_ROW,
    Break,
    Cell,
    Item,
    Line,
    Table,
)
from fin_rag.loaders.html_style import BREAK_AFTER, BREAK_BEFORE, PLAIN, Style, StyleBook
from fin_rag.loaders.html_tables import finish_table, read_colspan, read_rowspan
from fin_rag.loaders.html_tags import (
    BLOCK_TAGS,
    FACT_TAGS,
    HEADING_TAGS,
    INLINE_TAGS,
    LIST_TAGS,
    RAW_TAGS,
    SGML_TAGS,
    SILENT_TAGS,
)
from fin_rag.loaders.ixbrl import Mark

_MAX_TABLE_DEPTH: Final = 32
_MAX_LIST_DEPTH: Final = 8


class Element(NamedTuple):
    """Hold an element that starts."""

    tag: str
    attrib: Mapping[str, str]
    style: Style


Opener: TypeAlias = Callable[[Element], Closer | None]


class Walker(LineBuilder):
    """Build lines from parser events (``start``, ``end``, ``data``, ``close``).

    Example:
        >>> walker = Walker()
        >>> walker.start("p", {})
        >>> walker.data(" Net  sales ")
        >>> walker.end("p")
        >>> [item.text for item in walker.close().flow]
        ['Net sales']
    """

    def __init__(self) -> None:
        super().__init__()
        self.title: list[str] = []
        self._book = StyleBook()
        self._styles: dict[str, Style] = {}
        self._stack: list[tuple[int, float, str, Closer | None]] = []
        self._mute = 0
        self._mute_kind = ""
        self._muted: list[str] = []
        self._header_line = False
        self._submission = False
        self._lists: list[int] = []
        self._tables: list[tuple[Table, list[Item]]] = []
        self._cells: list[Cell] = []
        self._sinks: list[list[Item]] = []
        self._deep = 0
        self._cell_closer = self._close_cell
        self._openers = self._tag_openers()

    # --- parser events ------------------------------------------------------------------------
    def start(self, tag: str, attrib: Mapping[str, str]) -> None:
        """Take the start of an element."""
        if self._mute:
            self._mute += 1
            self.xbrl.start_hidden(tag, attrib)
            return
        self._header_line = False
        style = PLAIN
        if attrib:
            text = attrib.get("style", "")
            if self._book.has_rules:
                style = self._book.of(tag, text, attrib.get("class", ""))
            elif text:
                style = self._styles.get(text) or self._styles.setdefault(text, self._book.parsed(text))
            if style.hidden:
                self._hide(tag, attrib, "")
                return
        opener = self._openers.get(tag)
        if opener is not None:
            self._open(opener, Element(tag, attrib, style))
        elif style.display == "block":
            self._open(self._open_block, Element(tag, attrib, style))
        elif tag in SILENT_TAGS:
            self._hide(tag, attrib, "" if tag.startswith("ix:") else tag)
        else:
            self._stack.append((self._flags, self._size, self._face, None))
            if attrib:
                self._apply(tag, attrib, style)

    def _open(self, opener: Opener, element: Element) -> None:
        flags, size, face = self._flags, self._size, self._face
        self._stack.append((flags, size, face, opener(element)))
        self._apply(*element)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if self._mute:
            self._mute -= 1
            self.xbrl.end_hidden(tag)
            if not self._mute:
                self._unmute()
        elif self._stack:
            self._header_line = False
            flags, size, face, after = self._stack.pop()
            if after is not None:
                after()
            self._flags, self._size, self._face = flags, size, face

    def data(self, text: str) -> None:
        """Take text."""
        if self._mute:
            if self._mute_kind:
                self._muted.append(text)
            else:
                self.xbrl.data_hidden(text)
        elif not self._header_line:
            self._add(text)

    def close(self) -> Walker:
        """Finish after the last event and return the walker itself."""
        while self._mute or self._stack:
            self.end("")
        self._flush()
        return self

    # --- elements -----------------------------------------------------------------------------
    def _tag_openers(self) -> dict[str, Opener]:
        openers: dict[str, Opener] = {}
        for tags, opener in (
            (BLOCK_TAGS, self._open_block),
            (SGML_TAGS, self._open_header_line),
            (INLINE_TAGS, _open_inline),
            (HEADING_TAGS, self._open_heading),
            (LIST_TAGS, self._open_list),
            (("td", "th"), self._open_cell),
            (RAW_TAGS, self._open_raw),
            (FACT_TAGS, self._open_fact),
            (("a",), self._open_link),
            (("br",), self._open_br),
            (("center",), self._open_center),
            (("hr",), self._open_rule),
            (("img",), self._open_image),
            (("li",), self._open_item),
            (("page",), self._open_page),
            (("table",), self._open_table),
            (("tr",), self._open_row),
        ):
            openers.update(dict.fromkeys(tags, opener))
        return openers

    def _open_block(self, element: Element) -> Closer | None:
        style = element.style
        if style.display == "inline":
            return None
        self._flush()
        if style is PLAIN:
            if element.tag == "document":
                self._submission = True
            return self._flush
        if style.breaks & BREAK_BEFORE:
            self._break_page()
        outer = self._indent
        if not style.indent and not style.breaks:
            return self._flush
        self._indent = style.indent or outer
        return partial(self._close_block, outer, broken=bool(style.breaks & BREAK_AFTER))

    def _close_block(self, indent: float, *, broken: bool) -> None:
        self._flush()
        self._indent = indent
        if broken:
            self._break_page()

    def _open_page(self, _: Element) -> None:
        self._break_page()

    def _open_rule(self, element: Element) -> None:
        self._flush()
        if element.style.breaks:
            self._break_page()
        elif not self._tables:
            self._sink.append(Break(rule=True))

    def _open_br(self, element: Element) -> None:
        if element.style.breaks:
            self._break_page()
        else:
            self._flush(GAP_BREAK)

    def _open_heading(self, element: Element) -> Closer:
        close = self._open_block(element)
        outer, self._level = self._level, int(element.tag[1])
        return partial(self._close_heading, close, outer)

    def _close_heading(self, close: Closer | None, outer: int) -> None:
        if close is not None:
            close()
        self._level = outer

    def _open_center(self, element: Element) -> Closer | None:
        close = self._open_block(element)
        self._flags |= CENTER
        return close

    def _open_raw(self, element: Element) -> Closer | None:
        close = self._open_block(element)
        self._flags |= PREFORMATTED
        return close

    def _open_list(self, element: Element) -> Closer:
        self._flush()
        first = element.attrib.get("start", "1")
        counts = element.tag == "ol" and element.attrib.get("type", "1") == "1"
        start = int(first) - 1 if first.isdecimal() and len(first) < 6 else 0
        self._lists.append(start if counts else -1)
        return self._close_list

    def _close_list(self) -> None:
        self._close_item()
        self._lists.pop()

    def _open_item(self, _: Element) -> Closer:
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

    def _open_link(self, element: Element) -> Closer | None:
        target = element.attrib.get("href", "").strip()
        if not target.startswith("#") or len(target) < 2:
            self._flags |= OUTWARD if target else 0
            return None
        self._open_links.append((unquote(target[1:]), None, 0))
        self._flags |= LINKED
        return self._close_link

    def _close_link(self) -> None:
        target, line, at = self._open_links.pop()
        if line is not None and self._last is not None:
            self.links.append(Link(target, line, at, self._last, self._last.width))

    def _open_image(self, _: Element) -> None:
        self.left_out["image"] += 1

    def _open_header_line(self, _: Element) -> None:
        self._flush()
        self._header_line = self._submission

    def _open_fact(self, element: Element) -> Closer:
        return partial(self._close_fact, self.xbrl.open(element.tag, element.attrib))

    def _close_fact(self, mark: Mark | None) -> None:
        self.xbrl.shut(mark, self._last)

    # --- what is not text -----------------------------------------------------------------------
    def _hide(self, tag: str, attrib: Mapping[str, str], kind: str) -> None:
        self._mute = 1
        self._mute_kind = kind
        self.xbrl.start_hidden(tag, attrib)

    def _unmute(self) -> None:
        kind, text = self._mute_kind, "".join(self._muted)
        self._muted.clear()
        self._mute_kind = ""
        if kind == "style":
            self._book.add_sheet(text)
        elif kind == "title":
            self.title.append(text)
        elif not kind and self.xbrl.take_hidden_text():
            self.left_out["hidden"] += 1

    # --- tables -------------------------------------------------------------------------------
    def _open_table(self, element: Element) -> Closer:
        self._flush()
        self._flags &= ~CENTER
        if len(self._tables) >= _MAX_TABLE_DEPTH:
            self.left_out["deep_table"] += 1
            self._deep += 1
            return self._close_deep
        if element.style.breaks & BREAK_BEFORE:
            self._break_page()
        self._tables.append((Table(), self._sink))
        return partial(self._close_table, broken=bool(element.style.breaks & BREAK_AFTER))

    def _close_deep(self) -> None:
        self._flush()
        self._deep -= 1

    def _close_table(self, *, broken: bool) -> None:
        self._flush()
        table, self._sink = self._tables.pop()
        lines = finish_table(table)
        self._sink.extend(lines)
        self.left_out["capped_span"] += table.capped
        if self._cells and any(isinstance(line, Line) and line.kind == TABLE_ROW for line in lines):
            self._cells[-1].nested = True
        if broken:
            self._break_page()

    def _open_row(self, element: Element) -> Closer | None:
        if not self._tables or self._deep:
            return self._open_block(element)
        self._flush()
        self._tables[-1][0].rows.append([])
        return None

    def _open_cell(self, element: Element) -> Closer | None:
        if not self._tables or self._deep:
            return self._open_block(element)
        if self._line is not None:
            self._flush()
        table = self._tables[-1][0]
        attrib = element.attrib
        cell = Cell(header=element.tag == "th", indent=element.style.indent)
        if attrib and "colspan" in attrib:
            cell.colspan = read_colspan(table, attrib["colspan"])
        if attrib and "rowspan" in attrib:
            cell.rowspan = read_rowspan(table, attrib["rowspan"])
        if not table.rows:
            table.rows.append([])
        table.rows[-1].append(cell)
        self._cells.append(cell)
        self._sinks.append(self._sink)
        self._sink = cell.items
        return self._cell_closer

    def _close_cell(self) -> None:
        if self._line is not None:
            self._flush()
        self._gap = GAP_BLOCK
        self._cells.pop()
        self._sink = self._sinks.pop()


def _open_inline(_: Element) -> None:
    """Leave the line as it is: the element only changes the inline state."""
