"""Replaying an audit record on an index: does the same question still lead to the same decision?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.runnables import RunnableConfig

from fin_rag.errors import NotFoundError
from fin_rag.index.store import FilingIndex
from fin_rag.retrieval.anchors.arbiter import Case, EvidenceArbiter, complete
from fin_rag.retrieval.anchors.model import Decision
from fin_rag.retrieval.anchors.model_arbiter import MODEL, check_verdict
from fin_rag.retrieval.anchors.record import read_decision
from fin_rag.retrieval.anchors.retriever import AnchorRetriever
from fin_rag.schema import TEXT_SHA256

_COMPARED: Final = ("plan", "documents", "detectors", "candidates", "decision", "results", "versions")


@dataclass(frozen=True, slots=True)
class Replay:
    """Hold the record that a replay gave, and what differs from the one replayed, one sentence each."""

    record: dict[str, Any]
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Tell whether nothing differs."""
        return not self.differences


def replay(record: Mapping[str, Any], index: FilingIndex) -> Replay:
    """Run the retrieval of a record again, without any model, and compare.

    What a model said is taken from the record and checked again as it was then; what the evidence decided is
    decided anew.

    Raises:
        InputError: if it is no audit record.

    Example:
        ``replay(json.loads(path.read_text()), index).differences``
    """
    decided = read_decision(record)
    settings = dict(record["settings"])
    limits = settings.pop("evidence_arbiter") or {}
    scope = record["scope"]
    given = {key: value for key, value in {**settings, **scope}.items() if value is not None}
    arbiter = RecordedArbiter(decided, EvidenceArbiter(**limits))
    again = AnchorRetriever(index=index, arbiter=arbiter, **given).examine(str(record["question"])).record
    again["settings"] = dict(record["settings"])
    differences = [f"{part!r} differs" for part in _COMPARED if _plain(again[part]) != _plain(record[part])]
    return Replay(again, (*_changed_texts(record, index), *differences))


@dataclass(frozen=True, slots=True)
class RecordedArbiter:
    """Decide as was decided before; the evidence decides anew where it did then."""

    decision: Decision
    evidence: EvidenceArbiter

    def decide(self, case: Case, config: RunnableConfig | None = None) -> Decision:  # noqa: ARG002
        """Return the decision."""
        before = self.decision
        if before.arbiter != MODEL:
            return replace(self.evidence.decide(case), model=before.model, problems=before.problems, raw=before.raw)
        try:
            verdict = json.loads(before.raw)
        except json.JSONDecodeError:
            verdict = None
        if isinstance(verdict, dict):
            return check_verdict(verdict, case, model=before.model, raw=before.raw)
        judged = complete(before.judgements, case.candidates, rest="tangential", reason="not in the record")
        return replace(before, judgements=judged)

    async def adecide(self, case: Case, config: RunnableConfig | None = None) -> Decision:
        """Return the decision."""
        return self.decide(case, config)


def _changed_texts(record: Mapping[str, Any], index: FilingIndex) -> list[str]:
    session = record["scope"].get("session_id")
    changed = []
    for document in record["documents"]:
        doc_id = document["doc_id"]
        try:
            now = index.view(doc_id, session_id=session).metadata.get(TEXT_SHA256)
        except NotFoundError:
            changed.append(f"the document {doc_id!r} is no longer in the index")
        else:
            if now != document["text_sha256"]:
                changed.append(f"the text of {doc_id!r} is another one than it was")
    return changed


def _plain(value: object) -> object:
    return json.loads(json.dumps(value))
