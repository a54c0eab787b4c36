"""HTML tables that stand inside Markdown: rows with spans, read without a parser's tree."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from fin_rag.schema import Span
from fin_rag.structure.cells import clean, grid_head
from fin_rag.structure.rowtypes import RawRow

_TAG: Final = re.compile(
    r"<(?P<close>/?)(?P<name>table|thead|tbody|tr|td|th|caption)\b(?P<rest>[^<>]*)>", re.IGNORECASE
)
_COLSPAN: Final = re.compile(r"colspan\s*=\s*[\"']?(\d{1,4})", re.IGNORECASE)
_INNER_TAG: Final = re.compile(r"<(/?)(sup|sub|br|p|div|li)?\b[^<>]*>", re.IGNORECASE)
_WIDEST: Final = 1000


class _Row(NamedTuple):
    span: Span
    cells: list[tuple[Span, str]]
    heads: int


def html_rows(text: str, span: Span, header_end: int) -> tuple[list[list[str]], list[RawRow]]:
    """Return the header rows' labels and the body rows of an HTML table in ``span`` of the canonical text."""
    heads: list[list[str]] = []
    rows: list[RawRow] = []
    for row in _rows(text, span):
        texts = [value for _, value in row.cells]
        if row.span.end <= header_end:
            heads.append(texts)
        elif row.cells:
            spans = [where for where, _ in row.cells]
            rows.append(RawRow(row.span, spans[0], texts[0], tuple(spans[1:]), tuple(texts[1:])))
    return heads, rows


def html_caption(text: str, span: Span) -> str:
    """Return the text of the table's ``<caption>``, or ``""``."""
    start = -1
    for tag in _TAG.finditer(text, span.start, span.end):
        name = tag["name"].lower()
        if name == "tr":
            break
        if name == "caption" and not tag["close"]:
            start = tag.end()
        elif name == "caption" and start >= 0:
            return _visible(text[start : tag.start()])
    return ""


def html_head(text: str, span: Span) -> int:
    """Return the offset at which the header rows of an HTML table end; the table's start if it has none."""
    rows = _rows(text, span)
    count = 0
    while count < len(rows) and rows[count].heads and rows[count].heads >= max(1, len(rows[count].cells) - 1):
        count += 1
    count = count or grid_head([[value for _, value in row.cells] for row in rows[:14]])
    return rows[count - 1].span.end if count and count < len(rows) else span.start


def _rows(text: str, span: Span) -> Sequence[_Row]:
    rows: list[_Row] = []
    row_start, cell_start, width, head = -1, -1, 1, False
    cells: list[tuple[Span, str]] = []
    heads = 0

    def close_cell(end: int) -> None:
        nonlocal cell_start, heads
        if cell_start >= 0:
            where = Span(cell_start, max(cell_start, end))
            cells.append((_trimmed(text, where), _visible(where.slice(text))))
            cells.extend([(Span(where.end, where.end), "")] * (width - 1))
            heads += head * width
        cell_start = -1

    def close_row(end: int) -> None:
        nonlocal row_start, heads
        close_cell(end)
        if row_start >= 0 and cells:
            rows.append(_Row(Span(row_start, end), list(cells), heads))
        cells.clear()
        row_start, heads = -1, 0

    for tag in _TAG.finditer(text, span.start, span.end):
        name = tag["name"].lower()
        if name in ("td", "th"):
            close_cell(tag.start())
            if not tag["close"]:
                row_start = tag.start() if row_start < 0 else row_start
                found = _COLSPAN.search(tag["rest"])
                width = min(max(int(found[1]), 1), _WIDEST) if found else 1
                cell_start, head = tag.end(), name == "th"
        elif name == "tr":
            close_row(tag.end() if tag["close"] else tag.start())
            row_start = -1 if tag["close"] else tag.start()
        else:
            close_row(tag.start())
    close_row(span.end)
    return rows


def _trimmed(text: str, span: Span) -> Span:
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _visible(markup: str) -> str:
    spaced = _INNER_TAG.sub(lambda found: " " if (found[2] or "").lower() in ("br", "p", "div", "li") else "", markup)
    return clean(html.unescape(spaced))
