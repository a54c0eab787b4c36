"""``FigureGuard``: no answer passes with a figure that is not proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from langchain_core.documents import Document
from langchain_core.runnables import Runnable, RunnableConfig

from fin_rag.answers.report import FigureReport
from fin_rag.answers.verify import FactsLike, verify_figures
from fin_rag.errors import InputError

NO_DISPONIBLE: Final = "NO_DISPONIBLE"
Review: TypeAlias = Callable[[str, FigureReport], str | None]
Outcome: TypeAlias = Literal["passed", "reviewed", "replaced"]


class FigureGuard(Runnable[Mapping[str, Any], dict[str, Any]]):
    """Check the figures of an answer and let it pass, have it reviewed, or replace it.

    It takes the result of a retrieval chain (``answer`` and ``context``) and returns it with the guarded ``answer``,
    the ``draft``, the ``figures`` (the report's JSON record), the ``outcome`` (``passed``, ``reviewed`` or
    ``replaced``) and, where it was replaced, the ``reason``.

    Args:
        facts: a ``FactStore``, a ``FactView``, or facts that figures may also be proved by.
        strict: let only verbatim figures pass.
        unavailable: what stands in place of an answer that failed; ``{reason}`` in it is filled in.
        review: called with an answer that failed and its report; the text that it returns is checked like any other,
            ``None`` replaces the answer.
        answer_key: key of the answer.
        evidence_key: key of the documents.

    Example:
        >>> guard = FigureGuard()
        >>> evidence = [Document(page_content="Sales were $5 million in 2024.")]
        >>> guard.invoke({"answer": "Sales were $5 million.", "context": evidence})["answer"]
        'Sales were $5 million.'
        >>> guard.invoke({"answer": "Sales were $6 million.", "context": evidence})["answer"]
        'NO_DISPONIBLE'
    """

    def __init__(
        self,
        *,
        facts: FactsLike = None,
        strict: bool = False,
        unavailable: str = NO_DISPONIBLE,
        review: Review | None = None,
        answer_key: str = "answer",
        evidence_key: str = "context",
    ) -> None:
        self.facts = facts
        self.strict = strict
        self.unavailable = unavailable
        self.review = review
        self.answer_key = answer_key
        self.evidence_key = evidence_key

    def invoke(
        self,
        input: Mapping[str, Any],  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401  # LangChain's signature
    ) -> dict[str, Any]:
        """Check one result."""
        return self._call_with_config(self._guard, input, config, **kwargs)

    def _guard(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if self.answer_key not in given or self.evidence_key not in given:
            raise InputError(f"FigureGuard needs a mapping with {self.answer_key!r} and {self.evidence_key!r}.")
        draft = str(given[self.answer_key])
        if given.get("outcome") == "replaced":  # an abstention upstream: there is nothing left to check
            return dict(given)
        evidence: list[Document] = list(given[self.evidence_key])
        report = verify_figures(draft, evidence, self.facts, self.strict)
        answer, outcome = draft, "passed"
        if not report.ok and self.review is not None:
            reviewed = self.review(draft, report)
            if reviewed is not None:
                report = verify_figures(reviewed, evidence, self.facts, self.strict)
                answer, outcome = reviewed, "reviewed"
        result = {**given, "draft": draft, "figures": report.record()}
        if report.ok:
            return {**result, self.answer_key: answer, "outcome": outcome}
        reason = failure(report)
        return {
            **result,
            self.answer_key: unavailable(self.unavailable, reason),
            "outcome": "replaced",
            "reason": reason,
        }


def failure(report: FigureReport) -> str:
    """Say which figures of a report failed and why."""
    parts = [
        f"{one.text!r}: {one.verdict if one.verdict != 'equal' else 'not verbatim'}"
        + (f" ({one.reason})" if one.reason else "")
        for one in report.failed
    ]
    return "; ".join(parts)


def unavailable(wording: str, reason: str) -> str:
    """Return the wording for an answer that is not available, with the reason where it asks for it.

    Example:
        >>> unavailable("NO_DISPONIBLE: {reason}", "no filing of X")
        'NO_DISPONIBLE: no filing of X'
    """
    return wording.replace("{reason}", reason)
