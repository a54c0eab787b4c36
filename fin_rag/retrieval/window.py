"""Which part of a long parent passage is shown: whole lines around the hits, within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from fin_rag.index.view import DocumentView
from fin_rag.schema import Span


def merged(spans: Sequence[Span], gap: int = 0) -> list[Span]:
    """Return spans in order, those that overlap or stand at most ``gap`` code points apart made one.

    Example:
        >>> merged([Span(5, 9), Span(0, 3), Span(8, 12)])
        [Span(start=0, end=3), Span(start=5, end=12)]
    """
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.start <= out[-1].end + gap:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end))
        else:
            out.append(span)
    return out


def window(view: DocumentView, parent: Span, hits: Sequence[Span], max_chars: int | None) -> list[Span]:
    """Return the spans of a parent passage that fit into ``max_chars`` code points around its hits.

    The whole parent if it fits. Else the hits, best first, as long as they fit (the best one always), and then
    whole lines around the best one, after and before it in turn.
    """
    if max_chars is None or len(parent) <= max_chars:
        return [parent]
    taken = [hits[0]]
    left = max_chars - len(hits[0])
    for hit in hits[1:]:
        apart = not any(hit.overlaps(other) for other in taken)
        if apart and len(hit) <= left:
            taken.append(hit)
            left -= len(hit)
    lines = view.lines_in(parent)
    before = [line for line in lines if line.span.end <= hits[0].start]
    after = [line for line in lines if line.span.start >= hits[0].end]
    end = _grow(hits[0].end, [line.span.end for line in after], left - left // 2)
    left -= end - hits[0].end
    start = hits[0].start - (_grow(0, [hits[0].start - line.span.start for line in reversed(before)], left))
    spans = merged([Span(max(start, parent.start), min(end, parent.end)), *taken], gap=2)
    return spans if len(spans) > 1 or spans[0] != parent else [parent]


def _grow(at: int, borders: Sequence[int], left: int) -> int:
    """Return the last border that is at most ``left`` code points beyond ``at``."""
    reached = at
    for border in borders:
        if border - at > left:
            break
        reached = border
    return reached
