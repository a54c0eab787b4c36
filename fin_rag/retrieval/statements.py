"""The statement route: from the line items of a metric to the statements and rows that print them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from fin_rag.index.catalogue import StoredChunk
from fin_rag.index.statements import FiledRow, FiledStatement
from fin_rag.index.store import StoredSource
from fin_rag.query.concepts import label_key
from fin_rag.query.model import QueryPlan
from fin_rag.query.vocabulary import metrics_data
from fin_rag.retrieval.evidence import Evidence, cut_identity
from fin_rag.schema import (
    CHUNK_INDEX,
    KIND,
    PERIOD_ENDS,
    SPANS,
    STATEMENT_TYPE,
    TOKEN_COUNT,
    MetadataValue,
    Span,
    parse_spans,
)
from fin_rag.text.words import stems

PRIMARY: Final = ("income", "balance_sheet", "cash_flow")
_LEAST_LIKENESS: Final = 0.5
_FIGURE: Final = re.compile(r"\d[\d.,]*")
_MOST_ROWS: Final = 3  # rows taken for one line item


def wanted_items(plan: QueryPlan) -> tuple[str, ...]:
    """Return the line items of all metrics of a plan, each once."""
    return tuple(dict.fromkeys(item for metric in plan.metrics for item in metric.items))


def rows_for(statement: FiledStatement, item: str) -> list[FiledRow]:
    """Return the rows of a statement that print a line item, best first; none where it has no such row.

    A row is taken by its whole label, or where its label holds all words of a name and little else.
    """
    scored = []
    for place, row in enumerate(statement.rows):
        likeness = _likeness(row.label, item)
        if likeness >= _LEAST_LIKENESS and not row.group:
            scored.append((-likeness - 0.05 * row.total, place, row))
    scored.sort(key=lambda entry: entry[:2])
    return [row for _, _, row in scored[:_MOST_ROWS]]


@lru_cache(maxsize=50_000)
def _likeness(label: str, item: str) -> float:
    entry = metrics_data()["item"][item]
    names = (*entry["names"], *entry.get("rows", ()))
    key = label_key(label)
    words = frozenset(stems(label))
    if not words:
        return 0.0
    best = 0.0
    for name in names:
        if label_key(name) == key:
            return 1.0
        own = _name_stems(name)
        if own and own <= words:
            best = max(best, 0.95 * len(own) / len(words) if len(own) > 1 else 0.75 * len(own) / len(words))
    return best


@lru_cache(maxsize=4096)
def _name_stems(name: str) -> frozenset[str]:
    return frozenset(stems(name))


def statement_evidence(
    plan: QueryPlan, sources: Sequence[StoredSource], chunks: Mapping[int, Sequence[StoredChunk]]
) -> list[tuple[Evidence, tuple[str, ...]]]:
    """Return the statements that a plan's metrics and words call for, with the items each of them prints.

    ``sources`` come best first; the first one that prints an item gives it. Statements that the question names
    are given even where no row is asked for.
    """
    items = wanted_items(plan)
    open_items = list(items)
    found: dict[tuple[int, int], list[str]] = {}
    by_key: dict[tuple[int, int], FiledStatement] = {}
    owner = {source.doc: source for source in sources}
    for source in sources:
        primary = [s for s in source.statements if s.primary]
        for item in list(open_items):
            home = metrics_data()["item"][item]["statement"]
            place = _printing(primary, item, home)
            if place is not None:
                found.setdefault((source.doc, place.number), []).append(item)
                by_key[source.doc, place.number] = place
                open_items.remove(item)
        for kind in plan.statements:
            named = next((s for s in primary if s.statement_type == kind), None)
            if named is not None and not any(by_key[key].statement_type == kind for key in found):
                found.setdefault((source.doc, named.number), [])
                by_key[source.doc, named.number] = named
    out = []
    for (doc, number), own in found.items():
        evidence = _whole(owner[doc], by_key[doc, number], chunks[doc])
        if evidence is not None:
            why = f"{evidence.metadata[STATEMENT_TYPE]} statement"
            evidence.found_by["statement"] = why + (f" prints {', '.join(own)}" if own else " is named")
            out.append((evidence, tuple(own)))
    return out


def _printing(statements: Sequence[FiledStatement], item: str, home: str) -> FiledStatement | None:
    """Return the statement that prints an item: the one where it belongs, else the first that has its row."""
    ordered = [s for s in statements if s.statement_type == home]
    ordered += [s for s in statements if s.statement_type != home and s.statement_type in PRIMARY]
    with_row = next((s for s in ordered if rows_for(s, item)), None)
    if with_row is not None:
        return with_row
    return next((s for s in ordered if s.statement_type == home), None)


def _whole(source: StoredSource, statement: FiledStatement, chunks: Sequence[StoredChunk]) -> Evidence | None:
    """Return a statement as one piece of evidence, with the metadata of the chunk where it begins."""
    metadata = _place(statement.spans[0], chunks)
    if metadata is None:
        return None
    own: dict[str, MetadataValue] = {**metadata, KIND: "table", STATEMENT_TYPE: statement.statement_type}
    if statement.period_ends:
        own[PERIOD_ENDS] = [str(end) for end in dict.fromkeys(statement.period_ends) if end] or ["0"]
    return Evidence(
        source, statement.spans, own, cut_identity(source, statement.spans), 0.0, statement=statement.number
    )


def _place(span: Span, chunks: Iterable[StoredChunk]) -> dict[str, MetadataValue] | None:
    for chunk in chunks:
        if any(own.overlaps(span) for own in parse_spans(str(chunk.metadata[SPANS]))):
            return {key: value for key, value in chunk.metadata.items() if key not in (TOKEN_COUNT, CHUNK_INDEX)}
    return None


def clipped(evidence: Evidence, items: Sequence[str], limit: int) -> Evidence | None:
    """Return a statement cut to heads, the rows of ``items``, and totals, within ``limit`` characters.

    Rows asked for come first; totals follow while there is room. Nothing is returned where not even the heads
    and one row fit.
    """
    statement = evidence.source.statements[evidence.statement]
    kept = [header for header in statement.headers if len(header)]
    rows = [row for item in items for row in rows_for(statement, item)]
    totals = [row for row in statement.rows if row.total]
    taken = 0
    for row in dict.fromkeys([*rows, *totals]):
        trial = _joined([*kept, row.span], evidence.source.text)
        if sum(len(span) + 2 for span in trial) > limit:
            continue
        kept.append(row.span)
        taken += 1
    if not taken:
        return None
    spans = _joined(kept, evidence.source.text)
    return Evidence(
        evidence.source, spans, evidence.metadata, cut_identity(evidence.source, spans), evidence.score,
        {**evidence.found_by, "clipped": f"to {taken} of {len(statement.rows)} rows"},
        evidence.unit, list(evidence.children), statement=evidence.statement,
    )  # fmt: skip


def _joined(spans: Iterable[Span], text: str) -> tuple[Span, ...]:
    """Bring spans in order; those with nothing but blanks between them become one."""
    merged: list[Span] = []
    for span in sorted(set(spans)):
        if merged and (span.start <= merged[-1].end or not text[merged[-1].end : span.start].strip()):
            merged[-1] = Span(merged[-1].start, max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return tuple(merged)


def figures_of(evidence: Evidence, item: str) -> int:
    """Return how many figures the row of a line item has; 0 where the statement has no such row."""
    rows = rows_for(evidence.source.statements[evidence.statement], item)
    text = evidence.source.text
    return max((len(_FIGURE.findall(row.span.slice(text)[len(row.label) :])) for row in rows), default=0)
