"""The audit record of one question: everything that led to the decision, as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.index.embeddings import embedding_name
from fin_rag.index.store import FilingIndex
from fin_rag.query import Selection
from fin_rag.retrieval.anchors.detect import Detection
from fin_rag.retrieval.anchors.model import Candidate, Decision, Judgement
from fin_rag.schema import TEXT_SHA256, TITLE, Span, format_spans

RECORD_FORMAT: Final = "fin_rag.anchors/1"


def make_record(
    index: FilingIndex,
    *,
    question: str,
    scope: Mapping[str, Any],
    settings: Mapping[str, Any],
    detection: Detection | None,
    selection: Selection | None,
    candidates: Sequence[Candidate],
    passages: Sequence[Document],
    decision: Decision,
    results: Sequence[str],
) -> dict[str, Any]:
    """Put the record together; it holds JSON values only and validates against :func:`audit_schema`.

    ``passages`` are the Documents shown of the candidates, ``results`` the ids of those that were returned, in order.
    """
    plan = detection.plan if detection else None
    weights = detection.weights if detection else {}
    views = {one.view.doc_id: one.view for one in candidates}
    return {
        "format": RECORD_FORMAT,
        "question": question,
        "scope": dict(scope),
        "settings": dict(settings),
        "plan": {
            "query": _plain(plan.query.as_dict()) if plan else None,
            "selection": {
                "reasons": list(selection.reasons),
                "backed_off": list(selection.backed_off),
                "empty": selection.empty,
                "documents": len(selection.weights),
            }
            if selection
            else None,
            "terms": {term: _short(weight) for term, weight in weights.items()},
            "not_in_pool": [term for term in plan.terms if term not in weights] if plan else [],
            "shapes": dict(plan.shapes) if plan else {},
            "patterns": dict(plan.patterns) if plan else {},
            "title_words": dict(plan.title_words) if plan else {},
        },
        "documents": [
            {"doc_id": one, "text_sha256": str(view.metadata[TEXT_SHA256]), "title": str(view.metadata[TITLE])}
            for one, view in sorted(views.items())
        ],
        "detectors": _detectors(detection),
        "candidates": [_candidate(one, passage) for one, passage in zip(candidates, passages, strict=True)],
        "decision": {**asdict(decision), "problems": list(decision.problems),
                     "judgements": [asdict(judgement) for judgement in decision.judgements]},
        "results": list(results),
        "versions": {
            "fin_rag": _own_version(),
            "langchain_core": version("langchain-core"),
            "embeddings": embedding_name(index.embeddings),
            "chunking": asdict(index.config),
        },
    }  # fmt: skip


def read_decision(record: Mapping[str, Any]) -> Decision:
    """Return the decision of a record.

    Raises:
        InputError: if it is no record of this format.
    """
    if record.get("format") != RECORD_FORMAT:
        raise InputError(f"An audit record must have the format {RECORD_FORMAT!r}. Got {record.get('format')!r}.")
    given = record["decision"]
    return Decision(
        given["arbiter"],
        given["found"],
        given["reason"],
        tuple(Judgement(**judgement) for judgement in given["judgements"]),
        given["model"],
        tuple(given["problems"]),
        given["raw"],
    )


@cache
def audit_schema() -> dict[str, Any]:
    """Return the JSON Schema of audit records (draft 2020-12).

    Example:
        >>> audit_schema()["title"]
        'Audit record of an anchor retrieval'
    """
    text = files("fin_rag.retrieval.anchors").joinpath("audit.schema.json").read_text("utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def _detectors(detection: Detection | None) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in (detection.names if detection else ())}
    for hit in detection.hits if detection else ():
        found[hit.detector].append(
            {
                "doc_id": hit.doc_id,
                "section_id": hit.section_id,
                "span": _span(hit.span),
                "score": _short(hit.score),
                "evidence": hit.evidence,
            }
        )
    return found


def _candidate(candidate: Candidate, passage: Document) -> dict[str, Any]:
    section = candidate.section
    pages = candidate.view.pages_of(candidate.passages[0].body)
    return {
        "candidate_id": candidate.candidate_id,
        "doc_id": candidate.view.doc_id,
        "section_id": section.section_id if section else "",
        "section_path": section.section_path if section else "",
        "unit": _span(candidate.unit),
        "spans": str(passage.metadata["spans"]),
        "anchors": format_spans(candidate.anchors),
        "pages": list(pages) if pages else None,
        "chunk_ids": [passage_.chunk_id for passage_ in candidate.passages],
        "score": _short(candidate.score),
        "cosine": _short(candidate.cosine),
        "coverage": _short(candidate.coverage),
        "detectors": {name: _short(score) for name, score in sorted(candidate.scores.items())},
        "ranks": dict(sorted(candidate.ranks.items())),
    }


def _span(span: Span) -> list[int]:
    return [span.start, span.end]


def _plain(value: object) -> Any:  # noqa: ANN401  # JSON
    return json.loads(json.dumps(value, ensure_ascii=False))


def _short(value: float) -> float:
    return round(float(value), 6)


def _own_version() -> str:
    from fin_rag import __version__

    return __version__
