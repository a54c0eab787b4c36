"""Packing evidence under a budget that is never exceeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fin_rag.retrieval.evidence import Evidence, covered_by, cut_identity, is_table
from fin_rag.retrieval.lines import LineScore, paragraphs
from fin_rag.retrieval.statements import clipped
from fin_rag.schema import END_INDEX, Span

_STATEMENT_SHARE: Final = 0.6  # of the budget, for whole statements; beyond it they are clipped
_PROSE_SHARE: Final = 6  # a piece of prose takes at most one part in this many of the budget
_LEAST_FOCUS: Final = 360  # characters
_MOST_SERVED: Final = 2  # clauses that one piece of evidence is given room for
_LEAST_OF_BEST: Final = 0.6
_LONGEST_HEADING: Final = 100  # characters
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
    """Return evidence cut to the parts that say most about the question, within about ``limit`` characters.

    Parts are paragraphs; of a table its rows with their head, and each note that is joined to it. The best part comes
    first; prose that is longer is cut to the sentences around its best, rows stay whole and take no room from their
    notes. What was not read line by line stays as it is.
    """
    reading = evidence.reading
    if reading is None or not reading.lines:
        return evidence
    parts = _table_parts(evidence) if is_table(evidence) else _prose_parts(evidence)
    scored = sorted(
        ((max(_best_line(span, reading.lines) for span in part), part) for part in parts),
        key=lambda pair: (-pair[0], pair[1]),
    )
    top = scored[0][0]
    kept: list[Span] = []
    left = limit
    for score, part in scored:
        if score < _LEAST_OF_BEST * top:
            break
        size = 0 if _is_rows(part[0], evidence) else sum(map(len, part))
        if size <= left:
            kept += part
            left -= size
        elif not kept:
            kept.append(_around(part[0], reading.lines, limit))
            left = 0
    heading = parts[0][0]
    if heading not in kept and _is_heading(heading, evidence) and len(heading) <= left + 40:
        kept.append(heading)
    spans = tuple(sorted(kept))
    if spans == evidence.spans:
        return evidence
    return replace(
        evidence, spans=spans, identity=cut_identity(evidence.source, spans), row=-1,
        children=[*evidence.children, evidence.identity],
        found_by={**evidence.found_by, "focused": f"{sum(map(len, spans))} of {evidence.size} characters"},
    )  # fmt: skip


def _prose_parts(evidence: Evidence) -> list[tuple[Span, ...]]:
    return [(span,) for span in paragraphs(evidence.source.text, evidence.spans)]


def _table_parts(evidence: Evidence) -> list[tuple[Span, ...]]:
    """Return the rows with their head as one part, and each note behind them as one."""
    end = evidence.metadata.get(END_INDEX)
    if not isinstance(end, int):
        return [evidence.spans]
    rows = tuple(span for span in evidence.spans if span.start < end) or evidence.spans[:1]
    return [rows, *((span,) for span in evidence.spans if span not in rows)]


def _is_rows(span: Span, evidence: Evidence) -> bool:
    return span.slice(evidence.source.text).lstrip().startswith("|")


def _is_heading(span: Span, evidence: Evidence) -> bool:
    return len(span) <= _LONGEST_HEADING and "\n" not in span.slice(evidence.source.text)


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
