"""Parents: the section, turn, article or note around a hit, as a span of the source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fin_rag.retrieval.evidence import Evidence, cut_identity
from fin_rag.retrieval.lines import paragraphs
from fin_rag.schema import PARENT_END, PARENT_START, Span


def with_parents(ranked: Iterable[Evidence], limit: int, k: int) -> list[Evidence]:
    """Return at most ``k`` results grown to their parents, each parent once, with the hits inside as children.

    A parent that is longer than ``limit`` characters is cut: the hit grows outward, a paragraph at a time, while it
    fits.
    Notes that were joined to a hit stay with it. The parent's rank is that of its best hit.
    """
    grown: list[Evidence] = []
    for one in ranked:
        body = Span(one.spans[0].start, one.spans[0].end)
        home = next((p for p in grown if p.source.doc == one.source.doc and p.spans[0].contains(body)), None)
        if home is not None:
            home.children += [one.identity, *one.children]
            home.spans = _with_notes(home.spans[0], [*home.spans, *one.spans])
            continue
        if len(grown) == k:
            continue
        parent = one if one.statement >= 0 else _grown(one, limit)
        grown.append(parent)
    return grown


def _grown(one: Evidence, limit: int) -> Evidence:
    text = one.source.text
    whole = _parent_span(one)
    span = whole if len(whole) <= limit else _outward(one.spans[0], whole, text, limit)
    spans = _with_notes(span, one.spans)
    if spans == one.spans:
        return replace(one, children=[one.identity])
    return replace(
        one, spans=spans, identity=cut_identity(one.source, spans), row=-1, children=[one.identity],
        found_by={**one.found_by, "parent": f"{len(span)} of {len(whole)} characters"},
    )  # fmt: skip


def _parent_span(one: Evidence) -> Span:
    start, end = one.metadata.get(PARENT_START), one.metadata.get(PARENT_END)
    body = one.spans[0]
    if not isinstance(start, int) or not isinstance(end, int):
        return body
    return Span(min(start, body.start), max(min(end, len(one.source.text)), body.end))


def _outward(body: Span, parent: Span, text: str, limit: int) -> Span:
    """Grow a span by the paragraphs behind and before it, in turns, while it stays within the limit."""
    start, end = body.start, body.end
    behind = paragraphs(text, [Span(end, parent.end)]) if end < parent.end else []
    before = paragraphs(text, [Span(parent.start, start)]) if parent.start < start else []
    while behind or before:
        moved = False
        if behind and behind[0].end - start <= limit:
            end = behind.pop(0).end
            moved = True
        if before and end - before[-1].start <= limit:
            start = before.pop().start
            moved = True
        if not moved:
            break
    return Span(start, end)


def _with_notes(span: Span, others: Iterable[Span]) -> tuple[Span, ...]:
    """Return a span and those of the others that lie outside of it, in reading order behind it."""
    outside = sorted({other for other in others if not span.contains(other)})
    return (span, *(other for other in outside if not other.overlaps(span)))
