"""Blocks of a canonical text: headings, prose, tables, lists and code, in order and without gaps."""

from __future__ import annotations

from collections.abc import Sequence

from fin_rag.schema import Block, Markup, Span
from fin_rag.structure.cells import pipe_head
from fin_rag.structure.headings import analyse
from fin_rag.structure.htmltables import html_head
from fin_rag.structure.layout import CODE, CONTENTS, LIST, TABLE, Layout, Zone
from fin_rag.structure.levels import Candidate
from fin_rag.structure.lines import note_mark
from fin_rag.structure.texttables import sgml_head

_KIND = {CODE: "code", TABLE: "table", LIST: "list", CONTENTS: "list"}
_HEAD_ROWS = 40  # rows among which a table's header is looked for


def blocks(
    text: str, span: Span | None = None, *, markup: Markup | None = None, detect_markdown: bool = True
) -> list[Block]:
    r"""Cut a canonical text, or the part of it in ``span``, into blocks.

    Every non-blank character is in exactly one block; blocks are in order and do not overlap. A paragraph,
    a list, a table with its title and unit line, a note and a heading are one block each. Spans are code
    points of the whole canonical text.

    Args:
        text: the whole canonical text.
        span: the part to cut; the whole text by default.
        markup: what the loader saw; its styled lines are headings.
        detect_markdown: with ``False`` only ``markup`` makes headings.

    Example:
        >>> text = "## Sales\n\n(in millions)\n| Zone | 2024 |\n|---|---|\n| North | 40 |\n\nSteady growth."
        >>> [(b.kind, b.span.slice(text)[:13]) for b in blocks(text)]
        [('heading', '## Sales'), ('table', '(in millions)'), ('prose', 'Steady growth')]
    """
    layout, found = analyse(text, span, markup=markup, detect_markdown=detect_markdown)
    return _assemble(text, layout, found)


def _assemble(text: str, layout: Layout, found: Sequence[Candidate]) -> list[Block]:
    result: list[Block] = []
    starts = {candidate.first: candidate for candidate in found}
    index = 0
    while index < len(layout.lines):
        zone = layout.zone_at(index)
        if zone is not None:
            result.append(_zone_block(text, layout, zone))
            index = zone.last
        elif index in starts:
            heading = starts[index]
            result.append(Block("heading", _span(layout, index, heading.last), level=heading.level))
            index = heading.last
        elif not layout.lines[index].text:
            index += 1
        else:
            last = _paragraph_end(layout, index, starts)
            result.append(Block("prose", _span(layout, index, last)))
            index = last
    return result


def _paragraph_end(layout: Layout, index: int, starts: dict[int, Candidate]) -> int:
    """Return the line after a paragraph; each note of a run of notes is a paragraph of its own."""
    lines = layout.lines
    noted = note_mark(lines[index].text)
    last = index + 1
    while last < len(lines) and lines[last].text and layout.owner[last] < 0 and last not in starts:
        if note_mark(lines[last].text) and (noted or lines[last - 1].text[-1] in ".:;?!"):
            break
        last += 1
    return last


def _span(layout: Layout, first: int, last: int) -> Span:
    """Return the span of lines without the blank ones around them."""
    while not layout.lines[first].text:
        first += 1
    while not layout.lines[last - 1].text:
        last -= 1
    return Span(layout.lines[first].start, layout.lines[last - 1].end)


def _zone_block(text: str, layout: Layout, zone: Zone) -> Block:
    span = _span(layout, zone.first, zone.last)
    if zone.kind != TABLE:
        return Block(_KIND[zone.kind], span)
    return Block("table", span, header=_header(text, layout, zone, span))


def _header(text: str, layout: Layout, zone: Zone, span: Span) -> Span | None:
    """Return the span of a table's title, unit line and header rows, or ``None`` if it has none of them."""
    head = zone.head
    if zone.form == "pipe":
        head += pipe_head([line.text for line in layout.lines[head : min(zone.last, head + _HEAD_ROWS)]])
    elif zone.form == "tagged":
        if any("<tr" in line.text.lower() for line in layout.lines[head : head + _HEAD_ROWS]):
            end = html_head(text, Span(layout.lines[head].start, span.end))
            return Span(span.start, end) if end > span.start else None
        head = sgml_head(layout, zone)
    return _span(layout, zone.first, head) if head > zone.first else None
