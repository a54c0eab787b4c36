"""From passages to candidates: anchors with their context, ranked by several compositions of the detectors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from fin_rag.retrieval.anchors.detect import Detection
from fin_rag.retrieval.anchors.model import (
    CHUNK_EMBEDDINGS,
    CONTENT_KEYWORDS,
    DETECT_THEN_EXTRACT,
    DETECTORS,
    HYBRID_EMBEDDING,
    REASON_THEN_MATCH,
    SECTION_WEIGHTED_MATCH,
    SHAPES,
    STATEMENT_ROWS,
    TITLE_EMBEDDINGS,
    TITLE_KEYWORDS,
    Candidate,
    Passage,
)


def detect_then_extract(passage: Passage) -> float:
    """Score by the lines found: words together, a value of the shape asked beside them, the row of a statement."""
    return passage.score(CONTENT_KEYWORDS) + 0.3 * passage.score(SHAPES) + passage.score(STATEMENT_ROWS)


def section_weighted_match(passage: Passage) -> float:
    """Score by content, weighed by how well the titles around it fit."""
    title = max(passage.score(TITLE_KEYWORDS), passage.score(TITLE_EMBEDDINGS), passage.score(STATEMENT_ROWS))
    return passage.score(CONTENT_KEYWORDS) * (0.5 + title)


def hybrid_embedding(passage: Passage) -> float:
    """Score by meaning, with shared words as the second voice."""
    return 0.6 * passage.score(CHUNK_EMBEDDINGS) + 0.4 * passage.score(CONTENT_KEYWORDS)


def reason_then_match(passage: Passage) -> float:
    """Score within the sections where such a question is usually answered; nothing outside of them."""
    title = passage.score(TITLE_KEYWORDS) + passage.score(TITLE_EMBEDDINGS) + 2 * passage.score(STATEMENT_ROWS)
    return title * (0.2 + hybrid_embedding(passage))


_SCORES: Final[Mapping[str, Callable[[Passage], float]]] = {
    DETECT_THEN_EXTRACT: detect_then_extract,
    SECTION_WEIGHTED_MATCH: section_weighted_match,
    HYBRID_EMBEDDING: hybrid_embedding,
    REASON_THEN_MATCH: reason_then_match,
}


def candidates(
    detection: Detection,
    compositions: Mapping[str, float],
    limit: int,
    max_chars: int,
    documents: Mapping[int, float] | None = None,
) -> list[Candidate]:
    """Return the candidates, best first, numbered from 1.

    Passages of one structural unit that stand within ``max_chars`` code points of each other make one candidate.
    Each composition scores a candidate by its best passage, relative to the best of all; the score of a candidate
    is the weighted mean over the compositions, so 1 means first in every one. ``documents`` holds weights of
    documents by their number, for how well they fit the question; others weigh 1.
    """
    passages = detection.passages
    fits = {passage.row: (documents or {}).get(passage.view.number, 1.0) for passage in passages}
    relative = {name: _relative(passages, _SCORES[name], fits) for name in compositions}
    fused = {
        passage.row: sum(weight * relative[name].get(passage.row, 0.0) for name, weight in compositions.items())
        for passage in passages
    }
    shortlist: set[int] = set()
    for scores in (*relative.values(), fused):
        shortlist.update(_best(scores)[: 2 * limit])
    made = []
    for group in _groups([passage for passage in passages if passage.row in shortlist], max_chars):
        group.sort(key=lambda passage: (-fused[passage.row], passage.row))
        candidate = _candidate(group, detection)
        means = (weight * _of_group(group, relative[name]) for name, weight in compositions.items())
        candidate.score = sum(means) / sum(compositions.values())
        made.append(candidate)
    for name, scores in relative.items():
        _rank(made, name, scores)
    made.sort(key=lambda one: (-one.score, one.view.doc_id, one.passages[0].body))
    for number, one in enumerate(made[:limit], 1):
        one.number = number
    return made[:limit]


def _relative(
    passages: Sequence[Passage], score: Callable[[Passage], float], fits: Mapping[int, float]
) -> dict[int, float]:
    """Return the scores above 0 by row, divided by the best."""
    scores = {passage.row: score(passage) * fits[passage.row] for passage in passages}
    best = max(scores.values(), default=0.0)
    return {row: value / best for row, value in scores.items() if value > 0}


def _best(scores: Mapping[int, float]) -> list[int]:
    return [row for row in sorted(scores, key=lambda row: (-scores[row], row)) if scores[row] > 0]


def _of_group(group: Sequence[Passage], scores: Mapping[int, float]) -> float:
    return max(scores.get(passage.row, 0.0) for passage in group)


def _rank(made: Sequence[Candidate], name: str, scores: Mapping[int, float]) -> None:
    """Note the place that a composition gives to each candidate that it scores."""
    scored = [(-_of_group(one.passages, scores), i) for i, one in enumerate(made)]
    for rank, (_, i) in enumerate(sorted(entry for entry in scored if entry[0] < 0), 1):
        made[i].ranks[name] = rank


def _groups(passages: Collection[Passage], max_chars: int) -> list[list[Passage]]:
    groups: list[list[Passage]] = []
    ordered = sorted(passages, key=lambda p: (p.view.doc_id, p.parent, p.body))
    for passage in ordered:
        last = groups[-1] if groups else None
        if (
            last is not None
            and (last[0].view.doc_id, last[0].parent) == (passage.view.doc_id, passage.parent)
            and passage.body.end - last[0].body.start <= max_chars
        ):
            last.append(passage)
        else:
            groups.append([passage])
    return groups


def _candidate(group: Sequence[Passage], detection: Detection) -> Candidate:
    scores = {name: max(passage.score(name) for passage in group) for name in DETECTORS}
    return Candidate(
        number=0,
        passages=list(group),
        scores={name: score for name, score in scores.items() if score},
        cosine=max(detection.pool.cosines[passage.row] for passage in group),
        coverage=max(detection.coverage(passage) for passage in group),
    )
