"""Text with marks in it: slices of the canonical text as HTML, everything escaped."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from html import escape
from itertools import pairwise

from langchain_core.documents import Document

from fin_rag.schema import CHUNK_INDEX, END_INDEX, SPANS, START_INDEX, Span, parse_spans


@dataclass(frozen=True, slots=True)
class Annotation:
    """Mark a part of the text: ``name`` is a CSS class, ``data`` become ``data-`` attributes, ``href`` a link."""

    span: Span
    name: str
    data: Mapping[str, str] = field(default_factory=dict)
    href: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Point:
    """Put an element without text of its own at an offset; ``order`` decides among those at one place."""

    offset: int
    html: str
    order: int = 0


@dataclass(frozen=True, slots=True)
class Owned:
    """Tell which chunks read a stretch of text; the first of ``chunks`` has it as its body."""

    span: Span
    chunks: tuple[int, ...]


class Flow:
    """Write a text from front to back as HTML with annotations and points.

    Slices must be asked for in document order. A point stands in front of the first slice that begins at or
    behind its offset, so that none is lost between two slices.

    Example:
        >>> flow = Flow("a <b> c", [Annotation(Span(2, 5), "fact", {"f": "0"})], [Point(0, '<i id="x"></i>')])
        >>> flow.slice(0, 7)
        '<i id="x"></i>a <span class="fact" data-f="0">&lt;b&gt;</span> c'
    """

    def __init__(self, text: str, annotations: Iterable[Annotation], points: Iterable[Point]) -> None:
        self._text = text
        self._waiting = sorted(
            (one for one in annotations if len(one.span)), key=lambda one: (one.span.start, -one.span.end, one.name)
        )
        self._points = sorted(points, key=lambda one: (one.offset, one.order, one.html))
        self._next, self._point = 0, 0
        self._open: list[Annotation] = []
        self._anchored: set[str] = set()

    def slice(self, start: int, end: int) -> str:
        """Return the text from ``start`` to ``end`` (code points, end-exclusive) as HTML."""
        return "".join(self._pieces(start, end))

    def rest(self) -> str:
        """Return the points behind the last slice."""
        left, self._point = self._points[self._point :], len(self._points)
        return "".join(one.html for one in left)

    def _pieces(self, start: int, end: int) -> Iterator[str]:
        at = start
        while at < end:
            self._advance(at)
            while self._point < len(self._points) and self._points[self._point].offset <= at:
                yield self._points[self._point].html
                self._point += 1
            stops = [end, *(one.span.end for one in self._open)]
            if self._next < len(self._waiting):
                stops.append(self._waiting[self._next].span.start)
            if self._point < len(self._points):
                stops.append(self._points[self._point].offset)
            stop = min(stop for stop in stops if stop > at)
            yield self._marked(escape(self._text[at:stop]))
            at = stop

    def _advance(self, at: int) -> None:
        while self._next < len(self._waiting) and self._waiting[self._next].span.start <= at:
            self._open.append(self._waiting[self._next])
            self._next += 1
        self._open = [one for one in self._open if one.span.end > at]

    def _marked(self, html: str) -> str:
        if not self._open:
            return html
        names = " ".join(dict.fromkeys(one.name for one in self._open))
        data: dict[str, list[str]] = {}
        for one in self._open:
            for key, value in one.data.items():
                data.setdefault(key, []).append(value)
        attributes = "".join(f' data-{key}="{escape(" ".join(values))}"' for key, values in sorted(data.items()))
        href = next((one.href for one in reversed(self._open) if one.href), "")
        anchor = next((one.anchor for one in self._open if one.anchor and one.anchor not in self._anchored), "")
        if anchor:
            self._anchored.add(anchor)
            attributes = f' id="{escape(anchor)}"{attributes}'
        if href:
            return f'<a class="{names}" href="{escape(href)}"{attributes}>{html}</a>'
        return f'<span class="{names}"{attributes}>{html}</span>'


def owners(chunks: Sequence[Document]) -> list[Owned]:
    """Return the stretches of text that chunks read, in order and apart.

    A chunk owns its body; what only goes with it (a repeated table head, a joined note) it shares.

    Example:
        >>> one = Document(page_content="", metadata={
        ...     "chunk_index": 0, "start_index": 0, "end_index": 4, "spans": "0-4;8-9"})
        >>> two = Document(page_content="", metadata={
        ...     "chunk_index": 1, "start_index": 4, "end_index": 9, "spans": "4-9"})
        >>> [(o.span.start, o.span.end, o.chunks) for o in owners([one, two])]
        [(0, 4, (0,)), (4, 8, (1,)), (8, 9, (1, 0))]
    """
    opening: list[tuple[int, int, int, int]] = []
    for chunk in chunks:
        metadata = chunk.metadata
        body = Span(metadata[START_INDEX], metadata[END_INDEX])
        for span in parse_spans(str(metadata[SPANS])):
            shared = 0 if body.overlaps(span) else 1
            opening.append((span.start, span.end, shared, int(metadata[CHUNK_INDEX])))
    opening.sort()
    borders = sorted({at for start, end, _, _ in opening for at in (start, end)})
    result: list[Owned] = []
    active: list[tuple[int, int, int]] = []
    at = 0
    for start, end in pairwise(borders):
        while at < len(opening) and opening[at][0] <= start:
            heappush(active, (opening[at][1], opening[at][2], opening[at][3]))
            at += 1
        while active and active[0][0] <= start:
            heappop(active)
        if active:
            ordered = sorted((shared, chunk) for _, shared, chunk in active)
            result.append(Owned(Span(start, end), tuple(dict.fromkeys(chunk for _, chunk in ordered))))
    return result


class Runs:
    """Cut parts of a text where the chunk that owns it changes."""

    def __init__(self, text: str, owned: Sequence[Owned]) -> None:
        self._text = text
        self._owned = owned
        self._starts = [one.span.start for one in owned]

    def chunks_at(self, offset: int) -> tuple[int, ...]:
        """Return the chunks that read the character at ``offset``."""
        at = bisect_right(self._starts, offset) - 1
        return self._owned[at].chunks if at >= 0 and offset < self._owned[at].span.end else ()

    def cut(self, span: Span) -> list[Owned]:
        """Return the parts of ``span`` in order without gaps; parts in no chunk have no ``chunks``."""
        parts: list[Owned] = []
        chunks: tuple[int, ...]
        at, number = span.start, max(bisect_right(self._starts, span.start) - 1, 0)
        while at < span.end:
            while number < len(self._owned) and self._owned[number].span.end <= at:
                number += 1
            if number == len(self._owned) or self._owned[number].span.start >= span.end:
                stop, chunks = span.end, ()
            elif self._owned[number].span.start > at:
                stop, chunks = self._owned[number].span.start, ()
            else:
                stop, chunks = min(self._owned[number].span.end, span.end), self._owned[number].chunks
            blank = not chunks and not self._text[at:stop].strip()
            if parts and (blank or parts[-1].chunks == chunks):
                parts[-1] = Owned(Span(parts[-1].span.start, stop), parts[-1].chunks)
            else:
                parts.append(Owned(Span(at, stop), chunks))
            at = stop
        return parts
