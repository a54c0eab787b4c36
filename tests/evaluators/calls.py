"""Adapter for the grader of call cases: a file in, the grader's neutral output out.

It only translates names; what is said is the text of the outline's sections without their speaker lines and
without furniture, as a reader of the product gets it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.schema import Outline, Section, Span
from fin_rag.splitters.calls import EarningsCallTextSplitter


def produce(path: str | Path) -> dict[str, Any]:
    """Return the turns and participants of the call in a file, in the grader's words."""
    (document,) = FinancialDocumentLoader(path, doc_type="earnings_call").load()
    outline = EarningsCallTextSplitter().outline(document)
    turns = [section for section in outline if "turn_index" in section.metadata]
    return {
        "turns": [_turn(section, outline, document.page_content) for section in turns],
        "participants": [
            {"name": p.name, "role": p.role, "firm": p.firm, "side": p.side} for p in outline.participants
        ],
    }


def _turn(section: Section, outline: Outline, text: str) -> dict[str, Any]:
    metadata = section.metadata
    turn: dict[str, Any] = {key: metadata.get(key) for key in ("speaker", "speaker_type", "role", "firm", "section")}
    turn["text"] = spoken(section, outline, text)
    turn["qa"] = None
    if "exchange" in metadata:
        turn["qa"] = {"part": metadata["exchange_part"], "exchange": metadata["exchange"]}
    return turn


def spoken(section: Section, outline: Outline, text: str) -> str:
    """Return the text of a section without its speaker line and without furniture."""
    marks = [span for span in outline.furniture if section.span.contains(span)]
    if section.heading is not None:
        marks.append(section.heading)
    parts, at = [], section.span.start
    for mark in sorted(marks):
        parts.append(Span(at, max(at, mark.start)).slice(text).strip())
        at = max(at, mark.end)
    parts.append(Span(at, max(at, section.span.end)).slice(text).strip())
    return "\n".join(part for part in parts if part)
