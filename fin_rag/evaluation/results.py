"""What an evaluation of retrieval found: scores by question, means with intervals, tables, two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from fin_rag.errors import InputError, NotFoundError
from fin_rag.evaluation.hits import Hit
from fin_rag.evaluation.intervals import Interval, mean_interval
from fin_rag.evaluation.measures import MEASURES, Judged
from fin_rag.evaluation.resolve import GoldQuestion

if TYPE_CHECKING:
    import pandas as pd

Unit: TypeAlias = Literal["results", "characters", "tokens"]
_MARKS: Final[Mapping[str, str]] = {"results": "", "characters": " characters", "tokens": " tokens"}
_LEAST: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Cutoff:
    """Say how much of a ranked list is read: so many results, characters or tokens.

    Example:
        >>> Cutoff("results", 5).name, Cutoff("characters", 1300).name
        ('@5', '@1300 characters')
    """

    unit: Unit
    limit: int

    @property
    def name(self) -> str:
        """Return the name that scores go by."""
        return f"@{self.limit}{_MARKS[self.unit]}"

    def reach(self, hits: Sequence[Hit]) -> int:
        """Return how many results are read: the longest beginning that fits."""
        if self.unit == "results":
            return min(self.limit, len(hits))
        costs = [h.characters if self.unit == "characters" else h.tokens for h in hits]
        return sum(total <= self.limit for total in accumulate(costs))


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Hold what was returned for one question and every measure at every cutoff.

    ``packed`` holds the context of each budget where the retriever was told the budget and packed it itself;
    elsewhere the beginning of ``hits`` is read.
    """

    gold: GoldQuestion
    cluster: str
    hits: tuple[Hit, ...]
    judged: Judged
    scores: Mapping[str, Mapping[str, float | None]]
    packed: Mapping[str, tuple[Hit, ...]] = field(default_factory=dict)

    @property
    def question_id(self) -> str:
        """Return the question's id."""
        return self.gold.question.question_id

    @property
    def type(self) -> str:
        """Return the question's type."""
        return self.gold.question.type

    def read(self, cutoff: Cutoff) -> tuple[Hit, ...]:
        """Return the results that are read up to a cutoff."""
        hits = self.packed.get(cutoff.name, self.hits)
        return hits[: cutoff.reach(hits)]


@dataclass(frozen=True)
class RetrievalReport:
    """Hold the results of one retriever on one golden set, which ``golden_hash`` identifies."""

    name: str
    golden_name: str
    golden_hash: str
    cutoffs: tuple[Cutoff, ...]
    results: tuple[QuestionResult, ...]
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def mean(self, measure: str, cutoff: str, *, type: str | None = None) -> Interval:  # noqa: A002
        """Return the mean of a measure at a cutoff such as ``"@5"``, with its 95 % interval.

        Raises:
            NotFoundError: if there is no such measure or cutoff.
        """
        self._check(measure, cutoff)
        chosen = [r for r in self.results if type is None or r.type == type]
        return mean_interval([r.scores[cutoff][measure] for r in chosen], [r.cluster for r in chosen])

    def _check(self, measure: str, cutoff: str) -> None:
        if measure not in MEASURES:
            raise NotFoundError(f"There is no measure {measure!r}. Known: {', '.join(MEASURES)}.")
        names = [c.name for c in self.cutoffs]
        if cutoff not in names:
            raise NotFoundError(f"There is no cutoff {cutoff!r} in this report. Measured: {', '.join(names)}.")

    def context(self, cutoff: Cutoff) -> tuple[float, float]:
        """Return the mean characters and tokens that the results up to a cutoff cost."""
        read = [r.read(cutoff) for r in self.results]
        characters = sum(h.characters for hits in read for h in hits) / len(self.results)
        return characters, sum(h.tokens for hits in read for h in hits) / len(self.results)

    @cached_property
    def types(self) -> dict[str, int]:
        """Return the number of questions of each type, sorted by type."""
        names = sorted(r.type for r in self.results)
        return {name: names.count(name) for name in dict.fromkeys(names)}

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON: means and intervals, by type as well, and each question's scores."""
        return {
            "name": self.name,
            "golden": {"name": self.golden_name, "sha256": self.golden_hash, "questions": len(self.results)},
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "summary": {
                cutoff.name: {
                    **{m: self.mean(m, cutoff.name).as_dict() for m in MEASURES},
                    "mean_characters": round(self.context(cutoff)[0], 1),
                    "mean_tokens": round(self.context(cutoff)[1], 1),
                }
                for cutoff in self.cutoffs
            },
            "by_type": {
                name: {
                    "questions": count,
                    **{c.name: self.mean("recall", c.name, type=name).as_dict() for c in self.cutoffs},
                }
                for name, count in self.types.items()
            },
            "questions": [_question(r) for r in self.results],
        }

    def frame(self) -> pd.DataFrame:
        """Return one row a question and cutoff, with every measure.

        Raises:
            MissingDependencyError: if pandas is not installed.
        """
        from fin_rag.index.view import make_frame

        rows = [
            (r.question_id, r.type, cutoff.name, *(r.scores[cutoff.name].get(m) for m in MEASURES))
            for r in self.results
            for cutoff in self.cutoffs
        ]
        return make_frame(rows, ("question_id", "type", "cutoff", *MEASURES))

    def _repr_html_(self) -> str:
        """Show the means in a notebook."""
        from fin_rag.evaluation.tables import summary_table

        return summary_table((self,))._repr_html_()


def _question(result: QuestionResult) -> dict[str, object]:
    return {
        "question_id": result.question_id,
        "question": result.gold.question.question,
        "type": result.type,
        "cluster": result.cluster,
        "missing_documents": list(result.gold.missing),
        "ranks": {r.passage_id: r.found for r in result.judged.ranks},
        "scores": {cutoff: dict(scores) for cutoff, scores in result.scores.items()},
        "hits": [
            {"doc_id": h.doc_id, "spans": [[s.start, s.end] for s in h.spans], "characters": h.characters,
             "tokens": h.tokens, "score": h.score}
            for h in result.hits
        ],
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hold two runs over the same questions: the mean of the differences, and who won where.

    ``difference`` is ``second`` minus ``first``; ``won``, ``lost`` and ``tied`` list question ids
    as ``second`` sees it.
    """

    first: str
    second: str
    measure: str
    cutoff: str
    difference: Interval
    won: tuple[str, ...]
    lost: tuple[str, ...]
    tied: tuple[str, ...]
    unscored: tuple[str, ...] = ()

    @property
    def certain(self) -> bool:
        """Tell whether the interval of the difference leaves zero out."""
        low, high = self.difference.low, self.difference.high
        return low is not None and high is not None and (low > 0 or high < 0)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return {
            "first": self.first, "second": self.second, "measure": self.measure, "cutoff": self.cutoff,
            "difference": self.difference.as_dict(), "certain": self.certain, "won": list(self.won),
            "lost": list(self.lost), "tied": list(self.tied), "unscored": list(self.unscored),
        }  # fmt: skip


def compare(first: RetrievalReport, second: RetrievalReport, measure: str = "recall", cutoff: str = "@5") -> Comparison:
    """Compare two runs question by question, on the same golden set.

    Raises:
        InputError: if the runs are of different golden sets.
        NotFoundError: if one of them lacks the measure or cutoff.
    """
    if first.golden_hash != second.golden_hash:
        raise InputError(
            f"{first.name!r} and {second.name!r} were measured on different golden sets "
            f"({first.golden_hash[:12]} and {second.golden_hash[:12]}). Run both on one."
        )
    for report in (first, second):
        report._check(measure, cutoff)
    others = {r.question_id: r for r in second.results}
    outcome: dict[str, list[str]] = {"won": [], "lost": [], "tied": [], "unscored": []}
    differences: list[float | None] = []
    for result in first.results:
        a, b = result.scores[cutoff][measure], others[result.question_id].scores[cutoff][measure]
        difference = None if a is None or b is None else b - a
        differences.append(difference)
        outcome[_verdict(difference)].append(result.question_id)
    interval = mean_interval(differences, [r.cluster for r in first.results])
    return Comparison(
        first.name, second.name, measure, cutoff, interval, **{key: tuple(ids) for key, ids in outcome.items()}
    )


def _verdict(difference: float | None) -> str:
    if difference is None:
        return "unscored"
    if abs(difference) < _LEAST:
        return "tied"
    return "won" if difference > 0 else "lost"
