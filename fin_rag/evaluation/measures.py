"""Measures of one ranked list against gold passages, all as functions of how many results are read.

Definitions, with *found at rank r*: the first r results together cover at least ``threshold`` of the passage's
characters (or one of them holds the answer row of a long table and names its columns):

- ``recall``: share of the passages found. ``full``: 1 if all are. ``equivalent``: recall when another place that
  states the same fact counts as well. ``evidence``: share of the evidence sentences or rows wholly read.
  ``page``: share of the gold pages that a result touches, where pages are known.
- ``precision``: share of the results that hold gold: half of a passage, or half of the result is gold.
  ``gold_share``: share of the characters read that are gold.
- ``mrr``: 1 / rank at which the first passage is found. ``ndcg``: each passage found at rank r gains
  1 / log2(1 + r), divided by the gain of the ideal list of one passage a rank (at most 1).

Where each result is one whole passage or nothing, they equal R@k, P@k, RR@k and nDCG@k of ``ir_measures``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import Final

from fin_rag.evaluation.hits import Hit, shared, united
from fin_rag.evaluation.resolve import GoldPassage, GoldQuestion, Spot
from fin_rag.schema import Span

MEASURES: Final = (
    "recall", "full", "evidence", "equivalent", "page", "precision", "gold_share", "mrr", "ndcg",
)  # fmt: skip
_WHOLLY: Final = 0.99


@dataclass(frozen=True, slots=True)
class PassageRanks:
    """Hold the 1-based rank at which a passage was found in each sense; ``None``: never, or not known."""

    passage_id: str
    found: int | None
    equivalent: int | None
    evidence: int | None
    page: int | None
    has_evidence: bool
    has_page: bool
    best: float = 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """Hold a ranked list that has been judged: ranks of each passage, and what each result is worth."""

    ranks: tuple[PassageRanks, ...]
    relevant: tuple[bool, ...]
    gold_read: tuple[int, ...]
    characters: tuple[int, ...]
    wanted: int


def judge(gold: GoldQuestion, hits: Sequence[Hit], threshold: float = 0.5) -> Judged:
    """Judge a ranked list against the gold passages of one question.

    ``gold_read`` and ``characters`` are running sums over the results: gold characters read, each once, and
    characters charged.
    """
    return Judged(
        tuple(_ranks(passage, hits, threshold) for passage in gold.passages),
        tuple(any(_holds(hit, passage, threshold) for passage in gold.passages) for hit in hits),
        _gold_read(gold, hits),
        _running([hit.characters for hit in hits]),
        gold.wanted,
    )


def measure(judged: Judged, n: int, *, places: int | None = None) -> dict[str, float | None]:
    """Return every measure over the first ``n`` results; ``None`` where it cannot be known.

    ``places`` is the number of results that might have been returned (``k``): it divides the precision and ends the
    ideal list. Without it, as under a budget, precision is over the results read and the ideal list is whole.
    """
    wanted = judged.wanted
    found = [r.found for r in judged.ranks if r.found is not None and r.found <= n]
    ideal = sum(1 / log2(1 + rank) for rank in range(1, min(wanted, places or wanted) + 1))
    read = judged.characters[min(n, len(judged.characters)) - 1] if n and judged.characters else 0
    relevant, shown = sum(judged.relevant[:n]), places or min(n, len(judged.relevant))
    return {
        "recall": len(found) / wanted,
        "full": float(len(found) == wanted),
        "evidence": _share([r.evidence for r in judged.ranks if r.has_evidence], n),
        "equivalent": sum(r.equivalent is not None and r.equivalent <= n for r in judged.ranks) / wanted,
        "page": _share([r.page for r in judged.ranks if r.has_page], n),
        "precision": relevant / shown if shown else 0.0,
        "gold_share": judged.gold_read[min(n, len(judged.gold_read)) - 1] / read if read else 0.0,
        "mrr": 1 / min(found) if found else 0.0,
        "ndcg": min(1.0, sum(1 / log2(1 + rank) for rank in found) / ideal),
    }


def _share(ranks: Sequence[int | None], n: int) -> float | None:
    return sum(rank is not None and rank <= n for rank in ranks) / len(ranks) if ranks else None


def _running(values: Sequence[int]) -> tuple[int, ...]:
    out, total = [], 0
    for value in values:
        total += value
        out.append(total)
    return tuple(out)


def _ranks(passage: GoldPassage, hits: Sequence[Hit], threshold: float) -> PassageRanks:
    found, best = _found_at(passage.spot, hits, threshold)
    row = _row_at(passage, hits)
    found = min((rank for rank in (found, row) if rank is not None), default=None)
    same = [_found_at(spot, hits, threshold)[0] for spot in passage.equivalents]
    evidence = Spot(passage.spot.doc_id, passage.evidence)
    page = passage.spot.page
    return PassageRanks(
        passage.passage_id,
        found,
        min((rank for rank in (found, *same) if rank is not None), default=None),
        _found_at(evidence, hits, _WHOLLY)[0] if passage.evidence else None,
        None if page is None else _found_at(Spot(evidence.doc_id, (page,), loose=True), hits, threshold)[0],
        bool(passage.evidence),
        page is not None,
        best,
    )


def _found_at(spot: Spot, hits: Sequence[Hit], threshold: float) -> tuple[int | None, float]:
    """Return the rank at which the results together cover the spot, and the share that all of them cover."""
    wanted = united(spot.spans)
    size = sum(map(len, wanted))
    read: tuple[Span, ...] = ()
    rank, share = None, 0.0
    for number, hit in enumerate(hits, 1):
        if hit.doc_id != spot.doc_id or not shared(hit.spans, wanted):
            continue
        read = united((*read, *hit.spans))
        share = shared(read, wanted) / size
        if rank is None and (spot.loose or share >= threshold):
            rank = number
    return rank, share


def _row_at(passage: GoldPassage, hits: Sequence[Hit]) -> int | None:
    """Return the rank of the first result that alone holds the answer row and names every column."""
    if not passage.columns or not passage.evidence:
        return None
    return next((number for number, hit in enumerate(hits, 1) if _holds_row(hit, passage)), None)


def _holds_row(hit: Hit, passage: GoldPassage) -> bool:
    if not passage.columns or not passage.evidence or hit.doc_id != passage.spot.doc_id:
        return False
    row = united(passage.evidence)
    whole = shared(hit.spans, row) >= _WHOLLY * sum(map(len, row))
    return whole and all(column in hit.text for column in passage.columns)


def _holds(hit: Hit, passage: GoldPassage, threshold: float) -> bool:
    if hit.doc_id != passage.spot.doc_id:
        return False
    wanted = united(passage.spot.spans)
    common = shared(hit.spans, wanted)
    if passage.spot.loose:
        return common > 0
    whole, own = sum(map(len, wanted)), sum(map(len, hit.spans))
    return common > 0 and (common >= threshold * whole or 2 * common >= own or _holds_row(hit, passage))


def _gold_read(gold: GoldQuestion, hits: Sequence[Hit]) -> tuple[int, ...]:
    by_document: dict[str, tuple[Span, ...]] = {}
    for passage in gold.passages:
        spot = passage.spot
        by_document[spot.doc_id] = united((*by_document.get(spot.doc_id, ()), *spot.spans))
    read: dict[str, tuple[Span, ...]] = {}
    out = []
    for hit in hits:
        if hit.doc_id in by_document:
            read[hit.doc_id] = united((*read.get(hit.doc_id, ()), *hit.spans))
        out.append(sum(shared(spans, by_document[doc_id]) for doc_id, spans in read.items()))
    return tuple(out)
