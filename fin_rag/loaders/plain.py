"""Read Markdown and plain text: their own canonical text, with pages where the source marks them."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.schema import Markup, PageMap, Span
from fin_rag.text.canonical import decode

# One marker a line: a form feed, the <PAGE> tag of paginated filings, or the marks of PDF converters.
_PAGE_MARK: Final = re.compile(
    r"\f"
    r"|^[ \t]*<PAGE>[ \t]*[\w.-]{0,12}[ \t]*\r?$"
    r"|^[ \t]*(?:=+|-+)[ \t]*(?:PAGE|Page|PÁGINA|Página)[ \t]+\d{1,5}[ \t]*(?:=+|-+)[ \t]*\r?$"
    r"|^[ \t]*<(?:start|end)_of_page_\d{1,5}>[ \t]*\r?$",
    re.MULTILINE,
)


def read_plain(data: bytes, *, name: str = "") -> LoadedText:
    r"""Decode Markdown or plain text; nothing else is changed.

    Form feeds, ``<PAGE>`` tags and ``=== PAGE 3 ===`` lines give the page map; they stay in the text and
    belong to no page. Pages are numbered from 1 in order.

    Raises:
        ParseError: if there is no visible character.

    Example:
        >>> read_plain(b"First page\fSecond page").page_map.format()
        '1:0-10;2:11-22'
    """
    decoded = decode(data)
    if not decoded.text.strip("\ufeff\x00 \t\r\n\f\x0b"):
        raise ParseError(f"{name or 'The text'} holds no visible character. Fetch it again, or leave it out.")
    return LoadedText(
        text=decoded.text,
        page_map=plain_pages(decoded.text),
        markup=Markup(warnings=decoded.warnings),
    )


def plain_pages(text: str) -> PageMap:
    r"""Return the pages that page marks in a plain text delimit; none if there is no mark.

    A stretch without visible characters between two marks is a page only after the first visible text,
    so that a mark at the top opens page 1, and a blank page still counts.

    Example:
        >>> plain_pages("<PAGE>\nCover\n<PAGE>\nItem 1").format()
        '1:6-13;2:19-26'
    """
    marks = list(_PAGE_MARK.finditer(text))
    if not marks:
        return PageMap(())
    pages: list[tuple[int, Span]] = []
    start, number = 0, 0
    closing = False
    for match in [*marks, None]:
        end = match.start() if match else len(text)
        blank = not text[start:end].strip()
        if not (blank and (not pages or closing or match is None)):
            number += 1
            pages.append((number, Span(start, end)))
        if match:
            start = match.end()
            closing = "end_of_page" in match.group()
    return PageMap(tuple(pages))
