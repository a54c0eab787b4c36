"""Scores of a model as judge: RAGAS behind an adapter, and a reader for whatever form a judge answers in."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fin_rag.errors import InputError, MissingDependencyError
from fin_rag.evaluation.given import GivenAnswer
from fin_rag.evaluation.questions import Question

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseLanguageModel

JudgeRow: TypeAlias = Mapping[str, Any]
Judge: TypeAlias = Callable[[Sequence[JudgeRow]], Sequence[Mapping[str, object]]]

JUDGED: Final = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
# The names that versions of RAGAS have used for its objects and for its result columns.
_OBJECTS: Final[Mapping[str, tuple[str, ...]]] = {
    "faithfulness": ("faithfulness", "Faithfulness"),
    "answer_relevancy": ("answer_relevancy", "ResponseRelevancy", "AnswerRelevancy"),
    "context_precision": ("context_precision", "LLMContextPrecisionWithReference", "ContextPrecision"),
    "context_recall": ("context_recall", "LLMContextRecall", "ContextRecall"),
}
_COLUMNS: Final[Mapping[str, str]] = {
    "response_relevancy": "answer_relevancy",
    "answer_relevance": "answer_relevancy",
    "llm_context_precision_with_reference": "context_precision",
    "llm_context_recall": "context_recall",
}


def read_score(value: object) -> float | None:
    """Read a score in any of the forms that judges return: a number, a list of one, an object with ``score``.

    NaN, nothing and what is no number are ``None``: not scored.

    Example:
        >>> read_score([0.9]), read_score(float("nan")), read_score({"score": 1})
        (0.9, None, 1.0)
    """
    if isinstance(value, Mapping):
        return read_score(value.get("score", value.get("value")))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return read_score(value[0]) if len(value) == 1 else None
    if isinstance(value, bool) or value is None:
        return None if value is None else float(value)
    try:
        score = float(value) if isinstance(value, int | float | str) else float(getattr(value, "value"))  # noqa: B009
    except (TypeError, ValueError, AttributeError):
        return None
    return score if math.isfinite(score) else None


def judged_scores(
    judge: Judge | None, pairs: Sequence[tuple[Question, GivenAnswer]]
) -> tuple[dict[str, dict[str, float | None]], list[str]]:
    """Ask a judge about every answer that was given; return its scores by question, and what it left out.

    Raises:
        InputError: if the judge does not return one row an answer.
    """
    if judge is None or not pairs:
        return {}, []
    rows = [
        {
            "user_input": question.question,
            "response": answer.answer,
            "retrieved_contexts": [context.text for context in answer.contexts],
            "reference": question.answer,
        }
        for question, answer in pairs
    ]
    returned = judge(rows)
    if len(returned) != len(rows):
        raise InputError(f"The judge returned {len(returned)} rows for {len(rows)} answers.")
    scores = {question.question_id: dict(_named(row)) for (question, _), row in zip(pairs, returned, strict=True)}
    asked: Sequence[str] = getattr(judge, "metrics", None) or sorted({name for row in scores.values() for name in row})
    notes = []
    for name in asked:
        missing = sum(row.get(name) is None for row in scores.values())
        if missing:
            notes.append(f"{name}: {missing} answer(s) not scored by the judge; they are in no mean")
    for row in scores.values():
        for name in asked:
            row.setdefault(name, None)
    return scores, notes


def _named(row: Mapping[str, object]) -> Iterator[tuple[str, float | None]]:
    for key, value in row.items():
        name = _COLUMNS.get(key, key)
        if name in JUDGED:
            yield name, read_score(value)


class RagasJudge:
    """Judge answers with RAGAS and any LangChain model.

    Importing this needs no RAGAS; calling it does (``pip install 'fin-rag[ragas]'``). Names that changed between
    versions of RAGAS are tried in turn; a metric that the installed version lacks is not scored.

    Example:
        ``evaluate_answers(golden, answers, judge=RagasJudge(llm=model, embeddings=embeddings))``
    """

    def __init__(
        self,
        llm: BaseLanguageModel[Any],
        embeddings: Embeddings | None = None,
        *,
        metrics: Sequence[str] = JUDGED,
    ) -> None:
        unknown = [name for name in metrics if name not in JUDGED]
        if unknown:
            raise InputError(f"'metrics' of RagasJudge must be among {', '.join(JUDGED)}. Got {unknown!r}.")
        self.llm = llm
        self.embeddings = embeddings
        self.metrics = tuple(metrics)

    def __call__(self, rows: Sequence[JudgeRow]) -> list[dict[str, object]]:
        """Return one mapping from metric to score for each row.

        Raises:
            MissingDependencyError: if RAGAS is not installed or cannot be imported beside the other packages.
        """
        try:
            import ragas
            from ragas import metrics as known
        except ImportError as error:
            raise MissingDependencyError(
                f"RAGAS cannot be imported ({error}). Install it with: pip install 'fin-rag[ragas]'. If it is "
                "installed, it may not go with the installed langchain-community; use an environment of its own."
            ) from error
        chosen = [metric for metric in (_metric(known, name) for name in self.metrics) if metric is not None]
        if not chosen:
            raise MissingDependencyError(f"RAGAS {getattr(ragas, '__version__', '?')} has none of {self.metrics}.")
        settings: dict[str, object] = {"metrics": chosen, "llm": self.llm}
        if self.embeddings is not None:
            settings["embeddings"] = self.embeddings
        if "show_progress" in inspect.signature(ragas.evaluate).parameters:
            settings["show_progress"] = False
        result = ragas.evaluate(_dataset(ragas, rows), **settings)
        return _score_rows(result)


def _metric(known: object, name: str) -> object | None:
    for candidate in _OBJECTS[name]:
        found: object = getattr(known, candidate, None)
        if found is not None:
            return found() if isinstance(found, type) else found
    return None


def _dataset(ragas: Any, rows: Sequence[JudgeRow]) -> object:  # noqa: ANN401  # a module of any version
    modern = getattr(ragas, "EvaluationDataset", None)
    if modern is not None:
        dataset: object = modern.from_list([dict(row) for row in rows])
        return dataset
    try:
        from datasets import Dataset
    except ImportError as error:
        raise MissingDependencyError("This version of RAGAS needs the package 'datasets'.") from error
    old: object = Dataset.from_dict(
        {
            "question": [row["user_input"] for row in rows],
            "answer": [row["response"] for row in rows],
            "contexts": [row["retrieved_contexts"] for row in rows],
            "ground_truth": [row["reference"] for row in rows],
        }
    )
    return old


def _score_rows(result: Any) -> list[dict[str, object]]:  # noqa: ANN401  # a result of any version
    scores = getattr(result, "scores", None)
    if isinstance(scores, list):
        return [dict(row) for row in scores]
    if scores is not None and hasattr(scores, "to_list"):
        return [dict(row) for row in scores.to_list()]
    return [dict(row) for row in result.to_pandas().to_dict("records")]
