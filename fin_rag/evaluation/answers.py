"""``evaluate_answers``: figures, abstention, citations, routing, and what a judge says, question by question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

from langchain_core.documents import Document

from fin_rag.answers import verify_figures
from fin_rag.errors import InputError, NotFoundError
from fin_rag.evaluation.claims import citation_correctness, faithfulness_proxy, stems
from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.figures import WRONG, match_answer
from fin_rag.evaluation.given import Excerpt, Figure, GivenAnswer
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.hits import shared, united
from fin_rag.evaluation.intervals import Interval, mean_interval
from fin_rag.evaluation.judges import Judge, judged_scores
from fin_rag.evaluation.questions import Question
from fin_rag.evaluation.resolve import GoldQuestion, ResolvedSet, resolve
from fin_rag.schema import DOC_ID, SPANS, format_spans

Verifier: TypeAlias = Callable[[str, Sequence[Document]], Iterable[tuple[str, str]]]

# The verdicts of ``verify_figures`` that an answer may stand on.
SUPPORTED: Final = frozenset({"verbatim", "equal", "rounded", "derived", "fact"})
# What each measure is a mean of; values that do not apply to a question are left out.
ANSWER_MEASURES: Final[Mapping[str, str]] = {
    "numeric_match": "answerable questions with figures: 1 if each gold figure is given",
    "word_match": "answerable questions without figures: share of the gold answer's words that are given",
    "figure_verification": "answers with figures: share of the figures that the evidence supports",
    "invention": "answers: 1 if a figure has no support",
    "abstention_precision": "declined questions: 1 if nothing could be answered",
    "abstention_recall": "unanswerable questions: 1 if declined",
    "citation_correctness": "answers with citations: share whose text holds the claim",
    "gold_cited": "answers with citations to answerable questions: share of the gold passages cited",
    "context_recall_offsets": "answerable questions: share of the gold passages in the contexts, by offsets",
    "context_precision_offsets": "answerable questions: share of the contexts that hold gold, by offsets",
    "faithfulness_proxy": "answers: share of the sentences whose figures and words are in the contexts",
    "route_match": "questions with a gold route: 1 if taken",
    "tool_calls_match": "questions with gold tool calls: 1 if names and arguments are the same, in order",
    "faithfulness": "a judge's",
    "answer_relevancy": "a judge's",
    "context_precision": "a judge's",
    "context_recall": "a judge's",
}


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """Hold one answer with its question, scores and checked figures; ``match`` is the verdict on its figures."""

    question: Question
    answer: GivenAnswer
    cluster: str
    scores: Mapping[str, float | None]
    figures: tuple[Figure, ...]
    match: str | None

    @property
    def failed(self) -> bool:
        """Tell whether the answer is wrong, made up, or declined without need."""
        if not self.question.answerable:
            return not self.answer.declined
        invented = any(figure.verdict not in SUPPORTED for figure in self.figures)
        return self.answer.declined or self.match == WRONG or (invented and self.match is None)


@dataclass(frozen=True)
class AnswerReport:
    """Hold the results of one system's answers to a golden set."""

    name: str
    golden_name: str
    golden_hash: str
    results: tuple[AnswerResult, ...]
    notes: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)

    def mean(self, measure: str) -> Interval:
        """Return the mean of a measure with its 95 % interval; what was not scored is counted apart.

        Raises:
            NotFoundError: if there is no such measure.
        """
        if measure not in ANSWER_MEASURES:
            raise NotFoundError(f"There is no measure {measure!r}. Known: {', '.join(ANSWER_MEASURES)}.")
        chosen = [r for r in self.results if measure in r.scores]
        return mean_interval([r.scores[measure] for r in chosen], [r.cluster for r in chosen])

    @cached_property
    def failed(self) -> tuple[str, ...]:
        """Return the ids of the questions whose answer failed."""
        return tuple(r.question.question_id for r in self.results if r.failed)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return {
            "name": self.name,
            "golden": {"name": self.golden_name, "sha256": self.golden_hash, "answers": len(self.results)},
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "summary": {name: self.mean(name).as_dict() for name in ANSWER_MEASURES},
            "questions": [
                {
                    "question_id": r.question.question_id,
                    "type": r.question.type,
                    "answer": r.answer.answer,
                    "declined": r.answer.declined,
                    "failed": r.failed,
                    "match": r.match,
                    "scores": dict(r.scores),
                    "figures": [f.model_dump(exclude_defaults=True) for f in r.figures],
                }
                for r in self.results
            ],
        }

    def _repr_html_(self) -> str:
        """Show the means in a notebook."""
        from fin_rag.evaluation.report import answer_table

        return answer_table(self)._repr_html_()


def evaluate_answers(
    golden: GoldenSet | ResolvedSet,
    answers: Iterable[GivenAnswer],
    corpus: Corpus | None = None,
    *,
    name: str = "answers",
    verify: Verifier | None = None,
    judge: Judge | None = None,
    threshold: float = 0.5,
) -> AnswerReport:
    """Measure answers against a golden set; :data:`ANSWER_MEASURES` says what each measure is.

    Scores that a judge could not give (NaN, as RAGAS returns for answers that decline) are counted apart: they neither
    lower nor raise a mean.

    Args:
        golden: the questions.
        answers: one for each question, at most.
        corpus: the documents; with them contexts and citations are measured by offsets.
        name: what the report calls the system.
        verify: checks the figures of an answer against evidence and returns ``(figure, verdict)`` pairs;
            ``verify_figures`` if none is given. Answers that carry a record of their own keep it.
        judge: a model's scores, such as ``RagasJudge``.
        threshold: the share of a passage's characters that contexts have to hold.

    Raises:
        InputError: if an answer belongs to no question, or two belong to one.

    Example:
        >>> golden = GoldenSet.from_rows([{"question_id": "q", "question": "Sales in 2031?", "type": "unanswerable"}])
        >>> report = evaluate_answers(golden, [GivenAnswer(question_id="q", answer="NO_DISPONIBLE")])
        >>> report.mean("abstention_recall").mean
        1.0
    """
    questions, gold = _questions(golden, corpus)
    given = _by_question(answers, questions)
    judged, judge_notes = judged_scores(judge, [(questions[i], a) for i, a in given.items()])
    results = tuple(
        _result(questions[i], answer, gold.get(i), corpus, verify, threshold, judged.get(i, {}))
        for i, answer in given.items()
    )
    source = golden.golden if isinstance(golden, ResolvedSet) else golden
    silent = sorted(questions.keys() - given.keys())
    notes = (
        [f"{len(silent)} question(s) have no answer and were not measured: {', '.join(silent[:10])}"] if silent else []
    )
    return AnswerReport(
        name=name,
        golden_name=source.name,
        golden_hash=source.content_hash,
        results=results,
        notes=(*notes, *judge_notes),
        settings={
            "figure_check": "given" if verify else "verify_figures",
            "judge": judge is not None,
            "threshold": threshold,
        },
    )


def _questions(
    golden: GoldenSet | ResolvedSet, corpus: Corpus | None
) -> tuple[dict[str, Question], dict[str, GoldQuestion]]:
    source = golden.golden if isinstance(golden, ResolvedSet) else golden
    resolved = golden if isinstance(golden, ResolvedSet) else resolve(golden, corpus) if corpus else None
    gold = {g.question.question_id: g for g in resolved.questions} if resolved else {}
    return {q.question_id: q for q in source.final}, gold


def _by_question(answers: Iterable[GivenAnswer], questions: Mapping[str, Question]) -> dict[str, GivenAnswer]:
    given: dict[str, GivenAnswer] = {}
    for answer in answers:
        if answer.question_id not in questions:
            raise InputError(f"There is no finished question {answer.question_id!r} in the golden set.")
        if answer.question_id in given:
            raise InputError(f"There are two answers to {answer.question_id!r}. Keep one.")
        given[answer.question_id] = answer
    return given


def _result(
    question: Question,
    answer: GivenAnswer,
    gold: GoldQuestion | None,
    corpus: Corpus | None,
    verify: Verifier | None,
    threshold: float,
    judged: Mapping[str, float | None],
) -> AnswerResult:
    lang = question.lang or None
    checked = _figures(answer, corpus, verify, lang)
    match = None
    if question.answerable and question.answer:
        match = match_answer(
            question.answer, answer.answer, tolerance=question.tolerance, scale=question.scale, lang=lang
        )
    scores: dict[str, float | None] = dict(judged)
    scores |= _given_scores(question, answer, match)
    if not answer.declined:
        scores["invention"] = float(any(f.verdict not in SUPPORTED for f in checked))
        scores["faithfulness_proxy"] = faithfulness_proxy(answer, lang=lang)
        scores["citation_correctness"] = citation_correctness(answer, lang=lang)
        if checked:
            scores["figure_verification"] = sum(f.verdict in SUPPORTED for f in checked) / len(checked)
    if gold is not None and corpus is not None:
        scores |= _offset_scores(gold, answer, corpus, threshold)
    cluster = " + ".join(question.gold_documents) or question.question_id
    return AnswerResult(question, answer, cluster, scores, checked, match)


def _figures(
    answer: GivenAnswer, corpus: Corpus | None, verify: Verifier | None, lang: str | None
) -> tuple[Figure, ...]:
    if answer.figures is not None:
        return answer.figures
    if answer.declined:
        return ()
    evidence = [_document(context, corpus) for context in answer.contexts]
    if verify is not None:
        return tuple(Figure(text=text, verdict=verdict) for text, verdict in verify(answer.answer, evidence))
    checked = verify_figures(answer.answer, evidence, lang=lang).figures
    return tuple(Figure(text=one.text, verdict=one.verdict, reason=one.reason) for one in checked)


def _document(context: Excerpt, corpus: Corpus | None) -> Document:
    """Give a context the metadata of its document: a figure is read by its language, company and period."""
    metadata: dict[str, Any] = {}
    if context.document:
        doc_id = corpus.find_id(context.document) if corpus else None
        known = corpus.metadata(doc_id) if corpus and doc_id else {}
        metadata = {**known, DOC_ID: doc_id or context.document}
    if context.spans:
        metadata[SPANS] = format_spans(context.spans)
    return Document(page_content=context.text, metadata=metadata)


def _given_scores(question: Question, answer: GivenAnswer, match: str | None) -> dict[str, float | None]:
    scores: dict[str, float | None] = {}
    if answer.declined:
        scores["abstention_precision"] = float(not question.answerable)
    if not question.answerable:
        scores["abstention_recall"] = float(answer.declined)
    elif match is not None:
        scores["numeric_match"] = float(not answer.declined and match != WRONG)
    elif question.answer:
        wanted = stems(question.answer)
        if wanted:
            scores["word_match"] = len(wanted & stems(answer.answer)) / len(wanted) if not answer.declined else 0.0
    if question.route:
        scores["route_match"] = float(answer.route == question.route)
    if question.tool_calls:
        scores["tool_calls_match"] = float(list(answer.tool_calls) == list(question.tool_calls))
    return scores


def _offset_scores(
    gold: GoldQuestion, answer: GivenAnswer, corpus: Corpus, threshold: float
) -> dict[str, float | None]:
    def found(excerpts: Sequence[Excerpt], least: float) -> tuple[int, int]:
        """Return how many passages the excerpts hold, and how many excerpts hold gold."""
        placed = [(corpus.find_id(e.document) if e.document else None, united(e.spans)) for e in excerpts]
        held, useful = 0, [False] * len(placed)
        for passage in gold.passages:
            wanted = united(passage.spot.spans)
            size = sum(map(len, wanted))
            here = [spans for doc_id, spans in placed if doc_id == passage.spot.doc_id]
            common = shared(united(s for spans in here for s in spans), wanted)
            held += common > 0 if passage.spot.loose else common >= least * size
            for number, (doc_id, spans) in enumerate(placed):
                useful[number] |= doc_id == passage.spot.doc_id and shared(spans, wanted) > 0
        return held, sum(useful)

    scores: dict[str, float | None] = {}
    if any(context.spans for context in answer.contexts):
        held, useful = found(answer.contexts, threshold)
        scores["context_recall_offsets"] = held / gold.wanted
        scores["context_precision_offsets"] = useful / len(answer.contexts)
    if any(citation.spans for citation in answer.citations) and not answer.declined:
        scores["gold_cited"] = found(answer.citations, 1e-9)[0] / gold.wanted
    return scores
