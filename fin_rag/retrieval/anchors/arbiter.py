"""The arbiter: one decision over all candidates, by a model or by the evidence alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from langchain_core.runnables import RunnableConfig

from fin_rag.retrieval.anchors.model import ROLES, Candidate, Decision, Judgement, Role

DETERMINISTIC: Final = "deterministic"


@dataclass(frozen=True, slots=True)
class Case:
    """Hold what an arbiter sees: the question, the table of contents, and the candidates with their texts."""

    question: str
    contents: str
    candidates: Sequence[Candidate]
    texts: Sequence[str]


class Arbiter(Protocol):
    """Decide which role each candidate has."""

    def decide(self, case: Case, config: RunnableConfig | None = None) -> Decision:
        """Return the decision; every candidate has a role in it. ``config`` carries callbacks and tags to a model."""

    async def adecide(self, case: Case, config: RunnableConfig | None = None) -> Decision:
        """Return the decision, without blocking the event loop."""


@dataclass(frozen=True, slots=True)
class EvidenceArbiter:
    """Decide by the evidence of the detectors alone: the same input, the same decision, with its figures as reasons.

    A candidate is primary if it is (nearly) the best and holds most of the weight of the question's terms, or is as
    near in meaning as the best; supporting if it holds a good part of them; discarded if it holds next to none
    and is not near; tangential otherwise. If all are discarded, nothing was found.

    ``least_coverage`` is a share of term weight, ``least_cosine`` a cosine of the index's own model.
    """

    least_coverage: float = 0.2
    least_cosine: float = 0.35

    def decide(self, case: Case, config: RunnableConfig | None = None) -> Decision:  # noqa: ARG002
        """Return the decision."""
        best = max((one.score for one in case.candidates), default=0.0)
        judgements = tuple(self._judge(one, best) for one in case.candidates)
        found = any(judgement.role != "discarded" for judgement in judgements)
        reason = "ranked by the evidence of the detectors, no model was asked"
        if not found:
            reason = (
                f"no candidate holds {self.least_coverage:.0%} of the weight of the question's terms or is as near in "
                f"meaning as {self.least_cosine}; no model was asked"
            )
        return Decision(DETERMINISTIC, found, reason, judgements)

    async def adecide(self, case: Case, config: RunnableConfig | None = None) -> Decision:
        """Return the decision."""
        return self.decide(case, config)

    def _judge(self, candidate: Candidate, best: float) -> Judgement:
        near = candidate.cosine >= self.least_cosine
        role: Role
        if candidate.coverage < self.least_coverage and not near:
            role = "discarded"
        elif candidate.score >= 0.9 * best and (candidate.coverage >= 0.5 or near):
            role = "primary"
        elif candidate.score >= 0.6 * best and (candidate.coverage >= 0.35 or near):
            role = "supporting"
        else:
            role = "tangential"
        return Judgement(candidate.candidate_id, role, describe(candidate))


def describe(candidate: Candidate) -> str:
    """Put the evidence for a candidate into one line.

    It names the figures that a decision rests on: fused score, share of the terms, cosine, detectors.
    """
    words = next((passage.evidence for passage in candidate.passages if passage.evidence), "")
    parts = [f"score {candidate.score:.3f}", f"terms {candidate.coverage:.0%}", f"cosine {candidate.cosine:.3f}"]
    parts.append(f"found by {', '.join(candidate.found_by) or 'no detector'}")
    return "; ".join(parts) + (f"; anchor holds: {words}" if words else "")


def complete(
    judged: Sequence[Judgement], candidates: Sequence[Candidate], *, rest: Role, reason: str
) -> tuple[Judgement, ...]:
    """Return one judgement a candidate, in their order; those that were not judged get ``rest``."""
    by_id = {judgement.candidate_id: judgement for judgement in judged}
    return tuple(by_id.get(one.candidate_id) or Judgement(one.candidate_id, rest, reason) for one in candidates)


def role_rank(role: Role) -> int:
    """Return the place of a role, 0 for primary."""
    return ROLES.index(role)
