"""Small tables made whole again: row groups of one table that a budget cut apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from fin_rag.index.catalogue import StoredChunk
from fin_rag.retrieval.evidence import Evidence, cut_identity
from fin_rag.retrieval.lines import Reading
from fin_rag.schema import END_INDEX, KIND, SECTION_ID, SPANS, START_INDEX, Span, parse_spans

_WHOLE: Final = 1200  # characters: a table up to here is read as one
_LOOKED_AT: Final = 12  # results


def completed(ranked: Sequence[Evidence], chunks_of: Callable[[int], Sequence[StoredChunk]]) -> list[Evidence]:
    """Return results in which the first row groups of small tables stand for their whole table.

    A row group without its head cannot be read. Notes that were joined to any of the groups stay joined; the
    other groups of the table are its children.
    """
    out: list[Evidence] = []
    taken: set[str] = set()
    by_id = {one.identity: one for one in ranked}
    for place, one in enumerate(ranked):
        if one.identity in taken:
            continue
        if place < _LOOKED_AT and one.row >= 0 and one.metadata.get(KIND) == "table":
            whole, others = _whole_table(one, chunks_of(one.source.doc))
            taken.update(others)
            whole.reading = _joined_reading([one, *(by_id[other] for other in others if other in by_id)])
            out.append(whole)
        else:
            out.append(one)
    return out


def _whole_table(one: Evidence, chunks: Sequence[StoredChunk]) -> tuple[Evidence, list[str]]:
    at = next((i for i, chunk in enumerate(chunks) if chunk.row == one.row), -1)
    if at < 0:
        return one, []
    first = last = at
    while first > 0 and _goes_on(one, chunks[first - 1], chunks[first]):
        first -= 1
    while last + 1 < len(chunks) and _goes_on(one, chunks[last], chunks[last + 1]):
        last += 1
    body = Span(_body(chunks[first]).start, _body(chunks[last]).end)
    if first == last or len(body) > _WHOLE:
        return one, []
    notes = {
        span for chunk in chunks[first : last + 1] for span in parse_spans(str(chunk.metadata[SPANS]))
        if not body.contains(span)
    }  # fmt: skip
    spans = (body, *sorted(span for span in notes if not span.overlaps(body)))
    others = [chunk.chunk_id for chunk in chunks[first : last + 1] if chunk.row != one.row]
    whole = replace(
        one, spans=spans, identity=cut_identity(one.source, spans), row=-1,
        children=[*one.children, one.identity, *others],
        found_by={**one.found_by, "table": f"whole, of {last - first + 1} row groups"},
    )  # fmt: skip
    return whole, others


def _joined_reading(groups: Sequence[Evidence]) -> Reading | None:
    """Return the reading of the best row group with the lines of all."""
    readings = [one.reading for one in groups if one.reading is not None]
    if not readings:
        return None
    lines = {line.span: line for reading in readings for line in reading.lines}
    return replace(readings[0], lines=tuple(lines[span] for span in sorted(lines)))


def _goes_on(one: Evidence, before: StoredChunk, after: StoredChunk) -> bool:
    """Tell whether two chunks are neighbouring row groups of one table."""
    if {before.metadata.get(KIND), after.metadata.get(KIND)} != {"table"}:
        return False
    gap = one.source.text[_body(before).end : _body(after).start]
    return before.metadata.get(SECTION_ID) == after.metadata.get(SECTION_ID) and gap.strip(" ") == "\n"


def _body(chunk: StoredChunk) -> Span:
    start, end = chunk.metadata[START_INDEX], chunk.metadata[END_INDEX]
    return Span(int(str(start)), int(str(end)))
