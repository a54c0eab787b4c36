"""Say in words where questions are lost: the stage of each failed one, and recall against faithfulness as a whole."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from fin_rag.errors import NotFoundError
from fin_rag.evaluation.answers import AnswerReport, AnswerResult
from fin_rag.evaluation.questions import Question
from fin_rag.evaluation.results import Cutoff, QuestionResult, RetrievalReport
from fin_rag.evaluation.tables import Table

SearchedDocuments = Callable[[Question], Collection[str] | None]

# The thresholds of the matrix, as in the gate.
_RECALL: Final = 0.80
_FAITHFUL: Final = 0.85
_MATRIX: Final[Mapping[tuple[bool, bool], str]] = {
    (
        True,
        True,
    ): "Evidence arrives and answers keep to it. What still fails, fails one by one: see the list of stages.",
    (True, False): "Evidence arrives and answers stray from it. Retrieval is not the problem: look at the prompt, the "
    "model and the figure check.",
    (
        False,
        True,
    ): "Answers keep to what they are given, and are given too little. Look at retrieval first: answers that "
    "sound right rest on the wrong passages.",
    (
        False,
        False,
    ): "Evidence does not arrive, and answers stray. Mend retrieval first; faithfulness cannot be judged before.",
}


@cache
def stages() -> Mapping[str, str]:
    """Return every stage that can lose a question, first to last, with what to look at."""
    data: dict[str, str] = json.loads(files("fin_rag.evaluation").joinpath("stages.json").read_text("utf-8"))
    return data


@dataclass(frozen=True, slots=True)
class Lost:
    """Hold one failed question, the stage that lost it, and the particulars."""

    question_id: str
    type: str
    stage: str
    detail: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Hold the failed questions with their stages, and the matrix of recall and faithfulness in words."""

    lost: tuple[Lost, ...]
    measured: int
    cutoff: str
    recall: float
    faithfulness: float | None = None
    faithfulness_name: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Return how many questions each stage lost, most first."""
        order = list(stages())
        found = Counter(item.stage for item in self.lost)
        return dict(sorted(found.items(), key=lambda pair: (-pair[1], order.index(pair[0]))))

    @property
    def matrix(self) -> str:
        """Return what recall and faithfulness together say."""
        high = "high" if self.recall >= _RECALL else "low"
        head = f"Recall {self.cutoff} is {self.recall:.2f} ({high}; the line is {_RECALL:.2f})"
        if self.faithfulness is None:
            return f"{head}; faithfulness was not measured."
        faithful = self.faithfulness >= _FAITHFUL
        name = self.faithfulness_name.replace("_", " ")
        tail = f"{name} is {self.faithfulness:.2f} ({'high' if faithful else 'low'}; the line is {_FAITHFUL:.2f})."
        return f"{head}; {tail} {_MATRIX[self.recall >= _RECALL, faithful]}"

    def table(self) -> Table:
        """Return one row a stage."""
        rows = [(stage, str(count), stages()[stage]) for stage, count in self.counts.items()]
        title = f"{len(self.lost)} of {self.measured} questions lost, by stage ({self.cutoff})"
        return Table(title, ("stage", "questions", "what to look at"), tuple(rows))

    def text(self) -> str:
        """Write stages and questions in lines."""
        lines = [self.matrix]
        for stage, count in self.counts.items():
            ids = ", ".join(item.question_id for item in self.lost if item.stage == stage)
            lines.append(f"{stage}: {count} ({ids}). {stages()[stage]}")
        return "\n".join(lines)

    def markdown(self) -> str:
        """Write matrix and stages in Markdown."""
        return f"{self.matrix}\n\n{self.table().markdown()}"

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as JSON."""
        return {
            "matrix": self.matrix,
            "cutoff": self.cutoff,
            "measured": self.measured,
            "stages": self.counts,
            "lost": [
                {"question_id": i.question_id, "type": i.type, "stage": i.stage, "detail": i.detail} for i in self.lost
            ],
        }


def diagnose(
    retrieval: RetrievalReport,
    answers: AnswerReport | None = None,
    *,
    cutoff: str = "@5",
    searched: SearchedDocuments | None = None,
) -> Diagnosis:
    """Find for each failed question the first stage that lost it.

    A question fails in retrieval when a gold passage is not found within ``cutoff``, and in answering when its
    answer is wrong, made up, or declined without need.

    Args:
        retrieval: the report of the retriever.
        answers: the report of the answers, if there are any.
        cutoff: how much of the ranking the answers could read.
        searched: returns the ids of the documents that the search of a question was narrowed to, from the plan or
            audit record; ``None`` for all.

    Raises:
        NotFoundError: if the cutoff was not measured.
    """
    at = next((c for c in retrieval.cutoffs if c.name == cutoff), None)
    if at is None:
        names = ", ".join(c.name for c in retrieval.cutoffs)
        raise NotFoundError(f"There is no cutoff {cutoff!r} in the report of {retrieval.name!r}. Measured: {names}.")
    by_question = {r.question.question_id: r for r in answers.results} if answers else {}
    lost = []
    for result in retrieval.results:
        answer = by_question.get(result.question_id)
        found = _in_retrieval(result, at, searched)
        if found is not None and answer is not None and not answer.failed:
            found = None  # answered all the same, from another place
        if found is None and answer is not None and answer.failed:
            found = _in_answer(answer)
        if found is not None:
            lost.append(Lost(result.question_id, result.type, *found))
    lost += [
        Lost(r.question.question_id, r.question.type, "answered without evidence", r.answer.answer[:120])
        for r in by_question.values()
        if not r.question.answerable and r.failed
    ]
    unanswerable = sum(not r.question.answerable for r in by_question.values())
    recall = retrieval.mean("recall", cutoff).mean or 0.0
    name, faithful = _faithfulness(answers)
    return Diagnosis(tuple(lost), len(retrieval.results) + unanswerable, cutoff, recall, faithful, name)


def _faithfulness(answers: AnswerReport | None) -> tuple[str, float | None]:
    for name in ("faithfulness", "faithfulness_proxy") if answers else ():
        mean = answers.mean(name).mean if answers else None
        if mean is not None:
            return name, mean
    return "", None


def _in_retrieval(result: QuestionResult, cutoff: Cutoff, searched: SearchedDocuments | None) -> tuple[str, str] | None:
    if result.scores[cutoff.name]["full"] == 1:
        return None
    if result.gold.missing:
        return "not ingested", ", ".join(result.gold.missing)
    allowed = searched(result.gold.question) if searched else None
    reach = len(result.read(cutoff))
    worst: tuple[str, str] | None = None
    for passage, ranks in zip(result.gold.passages, result.judged.ranks, strict=True):
        if ranks.found is not None and ranks.found <= reach and cutoff.name not in result.packed:
            continue
        found = _passage_stage(passage.spot.doc_id, ranks.passage_id, ranks.found, ranks.best, cutoff, allowed)
        if worst is None or list(stages()).index(found[0]) < list(stages()).index(worst[0]):
            worst = found
    return worst


def _passage_stage(
    doc_id: str, passage_id: str, rank: int | None, best: float, cutoff: Cutoff, allowed: Collection[str] | None
) -> tuple[str, str]:
    name = f"passage {passage_id} of {doc_id}"
    if allowed is not None and doc_id not in allowed:
        return "filtered out", f"{name}: the search was narrowed to {len(allowed)} other document(s)"
    if rank is None and best > 0:
        return "split apart", f"{name}: {best:.0%} of it came back"
    if rank is None:
        return "not found", name
    stage = "ranked low" if cutoff.unit == "results" else "packed out"
    return stage, f"{name}: found at rank {rank}"


def _in_answer(result: AnswerResult) -> tuple[str, str]:
    answer = result.answer
    if answer.refused:
        bad = ", ".join(f"{f.text}: {f.verdict}" for f in result.figures) or answer.note
        return "figure refused", bad
    if answer.declined:
        return "declined", answer.note
    if result.scores.get("gold_cited") == 0:
        return "not cited", answer.answer[:120]
    return "answered wrongly", f"gold {result.question.answer!r}, given {answer.answer[:120]!r}"
