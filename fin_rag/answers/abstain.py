"""Abstention: say that there is no evidence, and why, instead of answering from something else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from langchain_core.documents import Document

from fin_rag.answers.companies import Companies
from fin_rag.answers.evidence import Evidence, read_evidence
from fin_rag.answers.labels import concept_names, concepts_in, tokens
from fin_rag.answers.lines import Lines
from fin_rag.answers.ratiocheck import ratios_in
from fin_rag.answers.when import read_periods
from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts.concepts import concept_map
from fin_rag.schema import SCORE

FILE_NAME: Final = "abstention.json"
_FUTURE: Final = re.compile(
    r"\b(?:guidance|outlook|forecast|expect\w*|previsi\w+|perspectiva\w*|objetivo\w*)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Threshold:
    """Hold the least score at which evidence is taken for an answer, with its error rates where it was fitted.

    ``answered_wrongly`` is the share of unanswerable questions that pass, ``refused_wrongly`` that of answerable ones
    that do not.
    """

    score: float
    answered_wrongly: float = 0.0
    refused_wrongly: float = 0.0
    answerable: int = 0
    unanswerable: int = 0

    def save(self, folder: str | Path) -> None:
        """Write it into the folder of an index."""
        (Path(folder) / FILE_NAME).write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> Threshold:
        """Read it from the folder of an index.

        Raises:
            NotFoundError: if none was fitted for this index.
        """
        path = Path(folder) / FILE_NAME
        if not path.is_file():
            raise NotFoundError(f"There is no threshold in {str(folder)!r}. Fit one with: fin-rag evaluate")
        return cls(**json.loads(path.read_text(encoding="utf-8")))


def fit_threshold(answerable: Sequence[float], unanswerable: Sequence[float]) -> Threshold:
    """Return the least score that tells best answerable from unanswerable questions, with its error rates.

    The sum of the two error rates is least; of equal ones the higher score is taken, which refuses more.

    Raises:
        InputError: if one of the two is empty.

    Example:
        >>> fit_threshold([0.9, 0.8, 0.4], [0.3, 0.5]).score
        0.8
    """
    if not answerable or not unanswerable:
        raise InputError("A threshold needs scores of answerable and of unanswerable questions.")
    best: tuple[float, float] | None = None
    for score in sorted({*answerable, *unanswerable, max(unanswerable) + 1e-9}):
        cost = _share_from(unanswerable, score) + (1 - _share_from(answerable, score))
        if best is None or cost <= best[0]:
            best = (cost, score)
    score = best[1] if best else 0.0
    return Threshold(
        score, _share_from(unanswerable, score), 1 - _share_from(answerable, score), len(answerable), len(unanswerable)
    )  # fmt: skip


def _share_from(scores: Sequence[float], least: float) -> float:
    return sum(1 for one in scores if one >= least) / len(scores)


def abstention_reason(question: str, documents: Sequence[Document], *, threshold: Threshold | None = None) -> str:
    """Return why the evidence cannot answer a question, an empty string if it may.

    It looks for the company, the period and the line item that the question names; it never judges wording.

    Example:
        >>> about = {"issuer": "Bralton Widgets, Inc."}
        >>> found = [Document(page_content="Net sales were $5 million in 2024.", metadata=about)]
        >>> abstention_reason("What were Norvella's net sales in 2024?", found)
        'no document of Norvella is in the evidence'
        >>> abstention_reason("What were Bralton's net sales in 2019?", found)
        'the evidence says nothing of 2019'
        >>> abstention_reason("What were Bralton's net sales in 2024?", found)
        ''
    """
    if not documents:
        return "no evidence was found"
    if threshold is not None:
        scores = [float(one.metadata[SCORE]) for one in documents if SCORE in one.metadata]
        if scores and max(scores) < threshold.score:
            return f"the best evidence scores {max(scores):.3f}, below the threshold of {threshold.score:.3f}"
    evidence = read_evidence(documents)
    return _company(question, evidence) or _period(question, evidence) or _line(question, evidence)


def _company(question: str, evidence: Evidence) -> str:
    companies = Companies(evidence)
    found = companies.in_question(question)
    return f"no document of {found} is in the evidence" if found else ""


def _period(question: str, evidence: Evidence) -> str:
    years = {one.year for one in read_periods(question) if one.year}
    if not years or _FUTURE.search(question):
        return ""
    known: set[int] = set()
    for source in evidence.sources:
        known |= source.years
    if not known or years & known:
        return ""
    return f"the evidence says nothing of {', '.join(map(str, sorted(years)))}"


def _line(question: str, evidence: Evidence) -> str:
    """Tell whether a line item that the question asks for stands anywhere in the evidence."""
    asked = concepts_in(question)
    if not asked or ratios_in(question):
        return ""
    lines = Lines(evidence)
    said = [source.text for source in evidence.sources]
    for concept in asked:
        if lines.by_concept.get(concept) or any(concept in concepts_in(text) for text in said):
            return ""
    names = [name for _, name in concept_names(question)]
    if any(tokens(name) <= tokens(text) for name in names for text in said):
        return ""
    known = {one.id: one.label_en for one in concept_map().concepts}
    return f"the evidence says nothing of {', '.join(known[one] for one in asked)}"
