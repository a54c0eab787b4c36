"""Headings of any style: ATX, setext, bold, numbered, capitals, bare lines, and what the source styled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from fin_rag.schema import Markup, Span
from fin_rag.structure.detect import detect
from fin_rag.structure.layout import (
    Layout,
    mark_code,
    mark_contents,
    mark_lists,
    mark_pipe_tables,
    mark_tagged_tables,
)
from fin_rag.structure.levels import ATX, MARKUP, SETEXT, Candidate, assign_levels
from fin_rag.structure.lines import Line, split_lines
from fin_rag.structure.texttables import mark_text_tables
from fin_rag.structure.titles import candidate_of, continued_title, title_of

_LEAST_REPEATS = 3  # a title that opens nothing this often is a running head
_LEAST_STACK = 4


class Heading(NamedTuple):
    """Mark a heading: its lines in the canonical text, the title as printed, and its level from 1."""

    span: Span
    title: str
    level: int


def headings(text: str, *, markup: Markup | None = None, detect_markdown: bool = True) -> list[Heading]:
    r"""Find the headings of a canonical text, in order.

    Contents rows, captions and units of tables, table cells, list items and code are no headings.

    Args:
        text: the whole canonical text.
        markup: what the loader saw; its styled lines are headings whatever they look like.
        detect_markdown: with ``False`` only ``markup`` counts: no title is invented.

    Returns:
        Headings with spans in code points and levels that fit each other even where styles mix.

    Example:
        >>> text = "# Informe\n\n**3. Deuda**\n\nBaja.\n\n**3.1 Vencimientos**\n\n2026."
        >>> [(h.level, h.title) for h in headings(text)]
        [(1, 'Informe'), (2, '3. Deuda'), (3, '3.1 Vencimientos')]
    """
    layout, found = analyse(text, markup=markup, detect_markdown=detect_markdown)
    running = {mark.start for mark in markup.running} if markup else set()
    return [h for h in to_headings(layout.lines, found) if h.span.start not in running]


def to_headings(lines: Sequence[Line], found: Iterable[Candidate]) -> list[Heading]:
    """Turn candidates into headings with spans."""
    return [Heading(Span(lines[c.first].start, lines[c.last - 1].end), c.title, c.level) for c in found]


def analyse(
    text: str, span: Span | None = None, *, markup: Markup | None = None, detect_markdown: bool = True
) -> tuple[Layout, list[Candidate]]:
    """Read the lines, zones and headings of a text or of the part in ``span``."""
    lines = split_lines(text, span)
    styled = _styled(lines, markup)
    layout = Layout(lines, {index for c in styled for index in range(c.first, c.last)})
    mark_code(layout, at_start=not span or span.start == 0)
    mark_tagged_tables(layout)
    mark_pipe_tables(layout)
    mark_contents(layout)
    mark_text_tables(layout)
    mark_lists(layout)
    # A styled line that a table took between its column heads and its rows is a group title.
    found = [c for c in styled if all(layout.owner[line] < 0 for line in range(c.first, c.last))]
    if detect_markdown:
        found = sorted([*found, *detect(layout, bare=not styled)], key=lambda c: c.first)
    found = _without_running_heads(layout, _without_stacks(layout, found))
    assign_levels(found)
    return layout, found


def _without_stacks(layout: Layout, found: Sequence[Candidate]) -> list[Candidate]:
    """Drop four or more styled lines of one look with nothing between: column heads of a table, a cover."""
    kept: list[Candidate] = []
    stack: list[Candidate] = []
    for candidate in [*found, None]:
        if stack and (candidate is None or candidate.key != stack[0].key or not _touches(layout, stack[-1], candidate)):
            kept.extend(stack if len(stack) < _LEAST_STACK else [])
            stack = []
        if candidate is None:
            continue
        if candidate.style == MARKUP and candidate.number is None:
            stack.append(candidate)
        else:
            kept.append(candidate)
    return kept


def _touches(layout: Layout, first: Candidate, second: Candidate) -> bool:
    """Tell whether nothing but blank lines stands between two headings."""
    return all(not layout.lines[at].text for at in range(first.last, second.first))


def _without_running_heads(layout: Layout, found: Sequence[Candidate]) -> list[Candidate]:
    """Drop titles that come again and again with nothing under them, and repeats that say "(continued)"."""
    empty: Counter[str] = Counter()
    for one, other in pairwise(found):
        if _touches(layout, one, other):
            empty[one.title.casefold()] += 1
    seen: set[str] = set()
    kept = []
    for candidate in found:
        stem = continued_title(candidate.title)
        repeated = empty[candidate.title.casefold()] >= _LEAST_REPEATS and candidate.style not in (
            ATX,
            SETEXT,
        )
        if not (repeated or (stem and stem.casefold() in seen)):
            kept.append(candidate)
        seen.add((stem or candidate.title).casefold())
    return kept


def _styled(lines: Sequence[Line], markup: Markup | None) -> list[Candidate]:
    """Return the headings that the source styled, if they fill their lines."""
    found: list[Candidate] = []
    index = 0
    begin, end = (lines[0].start, lines[-1].end) if lines else (0, 0)
    inner = [h for h in (markup.headings if markup else ()) if h[0].end > begin and h[0].start < end]
    for span, rank in sorted(inner, key=lambda h: (h[0].start, h[0].end)):
        while index < len(lines) and (lines[index].end <= span.start or not lines[index].text):
            index += 1
        if index >= len(lines) or lines[index].start >= span.end:
            continue
        last = index + 1
        while last < len(lines) and lines[last].text and lines[last].start < span.end:
            last += 1
        inside = sum(len(line.text) for line in lines[index:last])
        title = title_of(lines[index:last])
        if title and 2 * len(span) >= inside:
            found.append(candidate_of(index, last, title, MARKUP, rank=max(1, rank)))
            index = last
    return found
