"""Zones of a text: code, tables, lists and contents, marked line by line before headings are looked for."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final, NamedTuple

from fin_rag.structure.lines import Line, bullet, is_rule, is_sentence, ordinal, vocabulary
from fin_rag.structure.units import is_unit_line, unit_of

CODE, TABLE, LIST, CONTENTS = "code", "table", "list", "contents"

_ATX: Final = re.compile(r"(#{1,6})(?:[ \t]+|$)(.*)", re.DOTALL)
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
_TABLE_OPEN: Final = re.compile(r"<table\b", re.IGNORECASE)
_TABLE_CLOSE: Final = re.compile(r"</table\s*>", re.IGNORECASE)
_PIPE_SEPARATOR: Final = frozenset("|-: \t")
_CONTENTS_ENTRY: Final = re.compile(r"(?P<label>.*?\S)(?P<gap>[ \t.·…_]+)(?P<page>\d{1,4}|[ivxlc]{1,6})", re.DOTALL)
_CAPTION: Final = re.compile(r"[*_]*(?P<word>[^\W\d_]+)\.?\s*(?:n\.?º\s*)?\d{1,3}(?:[.-]\d{1,3})?[.:)\s–—-]")
_NUMBERED_TITLE: Final = re.compile(r"[*_]*\d{1,2}(?:\.\d{1,2}){0,4}\.?\s+[^\W\d]")
_LONGEST_FRONT_MATTER: Final = 200
_LONGEST_TITLE: Final = 160
_LONGEST_ENTRY: Final = 250
_LEAST_ENTRIES: Final = 3


class Zone(NamedTuple):
    """Mark lines ``first`` to ``last`` (exclusive) as one thing; ``head`` ends its header lines.

    ``form`` tells how a table is written: ``pipe``, ``tagged`` or ``text``; for the first two ``head`` ends
    the title lines only, since the header rows are part of the markup.
    """

    kind: str
    first: int
    last: int
    head: int
    form: str = ""


class Layout:
    """Hold the lines of a text and the zones found among them.

    ``owner[i]`` is the index of line ``i``'s zone in the order of discovery, or -1. ``fixed`` holds the
    lines that the source itself styled as headings: no zone may take them.
    """

    def __init__(self, lines: list[Line], fixed: Collection[int] = ()) -> None:
        self.lines = lines
        self.fixed = frozenset(fixed)
        self.owner = [-1] * len(lines)
        self.zones: list[Zone] = []

    def claim(self, zone: Zone) -> None:
        """Give the zone's lines to it."""
        for index in range(zone.first, zone.last):
            self.owner[index] = len(self.zones)
        self.zones.append(zone)

    def free(self, index: int) -> bool:
        """Tell whether a line exists and belongs to no zone and to no styled heading."""
        return 0 <= index < len(self.lines) and self.owner[index] < 0 and index not in self.fixed

    def is_text(self, index: int) -> bool:
        """Tell whether a line is free and not blank."""
        return self.free(index) and bool(self.lines[index].text)

    def zone_at(self, index: int) -> Zone | None:
        """Return the zone of a line, or ``None``."""
        at = self.owner[index]
        return self.zones[at] if at >= 0 else None


def atx(text: str) -> tuple[int, str] | None:
    """Return level and title of an ATX heading line (``## Title``), or ``None``.

    Example:
        >>> atx("## Deuda ##"), atx("#1 in sales")
        ((2, 'Deuda'), None)
    """
    found = _ATX.match(text) if text.startswith("#") else None
    if found is None:
        return None
    title = found[2].strip()
    closer = title.rstrip("#")
    if closer != title and (not closer or closer[-1] in " \t"):
        title = closer.strip()
    return len(found[1]), title


def mark_code(layout: Layout, *, at_start: bool) -> None:
    """Claim front matter (only where the text begins) and fenced code; a fence that never closes is text."""
    begin = _front_matter_end(layout.lines) if at_start else 0
    if begin:
        layout.claim(Zone(CODE, 0, begin, 0))
    closings: dict[str, int] = {}  # the last line that can close a fence of each character
    for index in range(len(layout.lines) - 1, begin - 1, -1):
        found = _FENCE.fullmatch(layout.lines[index].text)
        if found:
            closings.setdefault(found[1][0], index)
    opened, mark = -1, ""
    for index in range(begin, len(layout.lines)):
        text = layout.lines[index].text
        found = _FENCE.match(text)
        if found is None:
            continue
        if opened < 0 and closings.get(found[1][0], -1) > index:
            opened, mark = index, found[1]
        elif opened >= 0 and found[1].startswith(mark) and text == found[1]:
            layout.claim(Zone(CODE, opened, index + 1, opened))
            opened = -1


def _front_matter_end(lines: list[Line]) -> int:
    """Return the line after YAML front matter that opens a text, or 0."""
    if not lines or lines[0].text != "---":
        return 0
    for index in range(1, min(len(lines), _LONGEST_FRONT_MATTER)):
        if lines[index].text in {"---", "..."}:
            return index + 1 if any(":" in line.text for line in lines[1:index]) else 0
    return 0


def mark_tagged_tables(layout: Layout) -> None:
    """Claim ``<TABLE>`` to ``</TABLE>``, of 1990s filings or of HTML; unclosed ones stay text."""
    depth, opened = 0, -1
    for index, line in enumerate(layout.lines):
        if "<" not in line.text or not layout.free(index):
            continue
        opens = len(_TABLE_OPEN.findall(line.text))
        closes = len(_TABLE_CLOSE.findall(line.text))
        if depth == 0 and opens and _TABLE_OPEN.match(line.text):
            opened = index
        if opened < 0:
            continue
        depth = max(0, depth + opens - closes)
        if depth == 0 and closes:
            first = caption_start(layout, opened)
            layout.claim(Zone(TABLE, first, index + 1, opened, "tagged"))
            opened = -1


def is_pipe_separator(text: str) -> bool:
    """Tell whether a line is the rule between a pipe table's header and its rows."""
    return "-" in text and "|" in text and _PIPE_SEPARATOR.issuperset(text)


def _is_pipe_row(text: str) -> bool:
    return text.startswith("|") and text.find("|", 1) > 0


def mark_pipe_tables(layout: Layout) -> None:
    """Claim runs of pipe rows, with or without a separator row, with the title or unit line above."""
    lines = layout.lines
    index = 0
    while index < len(lines):
        if not layout.free(index):
            index += 1
            continue
        first = _pipe_start(layout, index)
        if first < 0:
            index += 1
            continue
        last = first + 1
        while (
            layout.free(last)
            and "|" in lines[last].text
            and (_is_pipe_row(lines[last].text) or not _is_pipe_row(lines[first].text))
        ):
            last += 1
        top = caption_start(layout, first)
        layout.claim(Zone(TABLE, top, last, first, "pipe"))
        index = last


def _pipe_start(layout: Layout, index: int) -> int:
    """Return the first line of a pipe table that starts at ``index``, or -1."""
    lines = layout.lines
    text = lines[index].text
    after = lines[index + 1].text if layout.free(index + 1) else ""
    if _is_pipe_row(text):
        closed = text.endswith("|") and text.count("|") > 2
        return index if closed or _is_pipe_row(after) or is_pipe_separator(after) else -1
    if "|" in text and is_pipe_separator(after):
        return index
    return -1


def caption_start(layout: Layout, first: int) -> int:
    """Return the line at which the title and unit lines of a table begin that starts at ``first``.

    Directly above: a short paragraph of one or two lines that is no heading and no sentence. Over one
    blank line: only a line that states the unit or a numbered caption ("Table 3. Debt").
    """
    top = first
    if first and not layout.lines[first - 1].text and _is_caption(layout, first - 2, apart=True):
        top = first - 2
    while first - top < 4 and _is_caption(layout, top - 1, apart=False):
        top -= 1
    paragraph_goes_on = layout.is_text(top - 1) and not _opens_block(layout.lines[top - 1].text)
    if paragraph_goes_on and top < first and not is_unit_line(layout.lines[top].text):
        return first
    return top


def _is_caption(layout: Layout, index: int, *, apart: bool) -> bool:
    if not layout.is_text(index):
        return False
    text = layout.lines[index].text
    if len(text) > _LONGEST_TITLE or _opens_block(text) or is_rule(text):
        return False
    if is_unit_line(text) or is_caption_line(text) or (unit_of(text) and not is_sentence(text)):
        return True
    return not apart and not text.rstrip("*_").endswith((".", ";", ",", "?", "!")) and not is_sentence(text)


def is_caption_line(text: str) -> bool:
    """Tell whether a line is a numbered caption of a table or chart: ``Table 3.``, ``Cuadro 2:``."""
    found = _CAPTION.match(text) if len(text) <= _LONGEST_TITLE else None
    return found is not None and found["word"].lower() in vocabulary()["table_words"]


def _opens_block(text: str) -> bool:
    return atx(text) is not None or bullet(text) > 0 or _NUMBERED_TITLE.match(text) is not None


def mark_contents(layout: Layout) -> None:
    """Claim runs of contents rows: titles that end in page numbers which never fall."""
    run: list[int] = []
    pages: list[int] = []
    gap = 0

    def close() -> None:
        if len(run) >= _LEAST_ENTRIES:
            layout.claim(Zone(CONTENTS, run[0], run[-1] + 1, run[0]))
        run.clear()
        pages.clear()

    for index, line in enumerate(layout.lines):
        if not layout.free(index):
            close()
            continue
        page = _entry_page(line.text)
        if page is None:
            gap += bool(line.text)
            if gap > 1 or is_sentence(line.text):
                close()
            continue
        if pages and page < pages[-1]:
            close()
        run.append(index)
        pages.append(page)
        gap = 0
    close()


def _entry_page(text: str) -> int | None:
    """Return the page that a contents row names: dot leaders first, else a small bare number."""
    if not text or len(text) > _LONGEST_ENTRY or not (text[-1].isdigit() or text[-1] in "ivxlc"):
        return None
    stem = text.rstrip("0123456789") if text[-1].isdigit() else text.rstrip("ivxlc")
    number = text[len(stem) :]
    label = stem.rstrip(" \t.·…_")
    gap = stem[len(label) :]
    if not label or not gap or not any(c.isalpha() for c in label):
        return None
    led = sum(c in ".·…_" for c in gap) >= 3 or "…" in gap
    if number.isdigit():
        titled = label[0].isupper() or label[0].isdigit() or label[0] in '¿«“"['
        small = len(number) <= 3 and label[-1] not in ",$€£(-–—" and not label[-1].isdigit()
        return int(number) if led or (titled and small and len(gap) == gap.count(" ")) else None
    return 0 if led else None


def mark_lists(layout: Layout) -> None:
    """Claim runs of bulleted or numbered items; blank lines between items do not end a list."""
    index = 0
    while index < len(layout.lines):
        mark = _item(layout, index)
        if mark is None:
            index += 1
            continue
        last, items = _list_end(layout, index, mark)
        if items > 1 or (mark[0] == "bullet" and mark[1] not in "*+"):
            layout.claim(Zone(LIST, index, last, index))
        index = last


def _list_end(layout: Layout, index: int, mark: tuple[str, str]) -> tuple[int, int]:
    """Return the line after the list whose first item stands at ``index``, and its count of items."""
    items = 1
    while True:
        last = _item_end(layout, index)
        index = _skip_blank(layout, last)
        following = _item(layout, index) if index >= 0 else None
        if following is None or not _continues(mark, following):
            return last, items
        mark = following
        items += 1


def _item(layout: Layout, index: int) -> tuple[str, str] | None:
    """Return the kind and mark of the list item that a line opens, or ``None``."""
    if not layout.is_text(index):
        return None
    text = layout.lines[index].text
    if bullet(text):
        return None if is_rule(text) else ("bullet", text[0])
    mark = ordinal(text)
    if not mark or (text[0] == "(" and mark.isdigit()):
        return None
    kind = "number" if mark.isdigit() else "letter"
    return (kind, mark)


def _continues(mark: tuple[str, str], after: tuple[str, str]) -> bool:
    """Tell whether an item carries on the list: the same bullet, or the next number or letter."""
    if mark[0] != after[0]:
        return False
    if mark[0] == "bullet":
        return True
    if mark[0] == "number":
        return int(after[1]) == int(mark[1]) + 1
    if len(mark[1]) == len(after[1]) == 1:
        return ord(after[1]) - ord(mark[1]) in (1, 2) or {mark[1], after[1]} <= set("ivxIVX")
    return set(mark[1].lower() + after[1].lower()) <= set("ivxlc")


def _item_end(layout: Layout, index: int) -> int:
    """Return the line after an item and the lines that continue it."""
    lines = layout.lines
    last = index + 1
    while layout.is_text(last) and _item(layout, last) is None:
        before, text = lines[last - 1].text, lines[last].text
        indented = lines[last].indent > lines[index].indent
        goes_on = text[0].islower() or before[-1] not in ".;:!?" or indented
        if atx(text) or not goes_on or _starts_anew(before, text):
            break
        last += 1
    return last


def _starts_anew(before: str, text: str) -> bool:
    """Tell whether a short line that starts large follows a line which was not filled."""
    return text[0].isupper() and len(before) < 50 and len(text) < 60 and not is_sentence(text)


def _skip_blank(layout: Layout, index: int) -> int:
    while index < len(layout.lines) and layout.free(index) and not layout.lines[index].text:
        index += 1
    return index if layout.is_text(index) else -1
