"""Packing evidence under a budget that is never exceeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fin_rag.retrieval.evidence import Evidence, covered_by, cut_identity, is_table
from fin_rag.retrieval.lines import LineScore, paragraphs
from fin_rag.retrieval.statements import clipped
from fin_rag.schema import Span

_STATEMENT_SHARE: Final = 0.6  # of the budget, for whole statements; beyond it they are clipped
_PROSE_SHARE: Final = 6  # a piece of prose takes at most one part in this many of the budget
_LEAST_FOCUS: Final = 360  # characters
_MOST_SERVED: Final = 2  # clauses that one piece of evidence is given room for
_JOIN: Final = 2  # the blank line between two pieces


def pack(
    ranked: Sequence[Evidence],
    items: Mapping[str, Sequence[str]],
    budget: int,
    measure: Callable[[Evidence], int],
    limit_characters: int,
) -> list[Evidence]:
    """Return the best evidence that fits, in rank order.

    Statements stand whole where all of them fit in three fifths of the budget, else clipped to the rows asked, the
    heads and totals. Prose that would take more than a fifth is cut to the paragraphs or sentences that answer.
    Evidence that does not fit is passed over for smaller one behind it.

    Args:
        ranked: evidence, best first.
        items: the line items asked of a statement, by its identity.
        budget: in the unit of ``measure``.
        measure: the size of evidence, with its header if that is to be counted.
        limit_characters: about as many characters as the budget, for clipping.
    """
    statements = [one for one in ranked if one.statement >= 0]
    whole = sum(measure(one) for one in statements) <= _STATEMENT_SHARE * budget
    room = int(_STATEMENT_SHARE * limit_characters / max(len(statements), 1))
    share = max(limit_characters // _PROSE_SHARE, _LEAST_FOCUS)
    packed: list[Evidence] = []
    left = budget
    for one in ranked:
        chosen: Evidence | None = one
        if one.statement >= 0 and not whole:
            chosen = clipped(one, items.get(one.identity, ()), room)
        elif one.statement < 0 and one.size > share and (len(one.spans) > 1 or not is_table(one)):
            chosen = focused(one, share * min(one.serves, _MOST_SERVED))
        if chosen is None or any(covered_by(chosen, other) for other in packed):
            continue
        cost = measure(chosen) + (_JOIN if packed else 0)
        if cost > left:
            continue
        packed.append(chosen)
        left -= cost
    return packed


def focused(evidence: Evidence, limit: int) -> Evidence:
    """Return evidence cut to the paragraphs that say most about the question, within about ``limit`` characters.

    A table counts as one paragraph, and so does each note that is joined to it. The best paragraph comes first; one
    that is longer is cut to the sentences around its best. What was not read line by line stays whole.
    """
    reading = evidence.reading
    if reading is None or not reading.lines:
        return evidence
    text = evidence.source.text
    parts = list(evidence.spans) if is_table(evidence) else paragraphs(text, evidence.spans)
    scored = sorted(((_best_line(part, reading.lines), part) for part in parts), key=lambda p: (-p[0], p[1]))
    kept: list[Span] = []
    left = limit
    top = scored[0][0]
    for score, part in scored:
        if score < 0.6 * top:
            break
        if part.slice(text).lstrip().startswith("|"):
            kept.append(part)  # whole: a table without its head cannot be read, and its notes need their room
        elif len(part) <= left:
            kept.append(part)
            left -= len(part)
        elif not kept:
            kept.append(_around(part, reading.lines, limit))
            left = 0
    heading = parts[0]
    if heading not in kept and len(heading) <= 100 and len(heading) <= left + 40 and "\n" not in heading.slice(text):
        kept.append(heading)
    spans = tuple(sorted(kept))
    if spans == evidence.spans:
        return evidence
    return replace(
        evidence, spans=spans, identity=cut_identity(evidence.source, spans), row=-1,
        children=[*evidence.children, evidence.identity],
        found_by={**evidence.found_by, "focused": f"{sum(map(len, spans))} of {evidence.size} characters"},
    )  # fmt: skip


def _best_line(part: Span, lines: Sequence[LineScore]) -> float:
    return max((line.score for line in lines if part.overlaps(line.span)), default=0.0)


def _around(part: Span, lines: Sequence[LineScore], limit: int) -> Span:
    """Return the lines of a paragraph around its best one, growing to the better side while they fit."""
    inside = [line for line in lines if part.overlaps(line.span)]
    best = max(range(len(inside)), key=lambda i: (inside[i].score, -i))
    first = last = best
    while True:
        options = []
        if first > 0:
            options.append((inside[first - 1].score, first - 1, last))
        if last + 1 < len(inside):
            options.append((inside[last + 1].score, first, last + 1))
        fitting = [o for o in options if inside[o[2]].span.end - inside[o[1]].span.start <= limit]
        if not fitting:
            break
        _, first, last = max(fitting, key=lambda o: (o[0], o[2]))
    return Span(max(inside[first].span.start, part.start), min(inside[last].span.end, part.end))
