"""The report of an evaluation: one HTML page that opens offline, and the same as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any, Final

from fin_rag.errors import InputError
from fin_rag.evaluation.answers import ANSWER_MEASURES, AnswerReport
from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.diagnosis import Diagnosis
from fin_rag.evaluation.excerpts import passages
from fin_rag.evaluation.gate import GateResult
from fin_rag.evaluation.plots import recall_curves, type_dots
from fin_rag.evaluation.results import Comparison, Cutoff, QuestionResult, RetrievalReport
from fin_rag.evaluation.tables import Table, comparison_table, measures_table, summary_table, type_table

_MEASURES: Final = ("recall", "full", "evidence", "equivalent", "precision", "mrr", "ndcg", "gold_share")
_MOST_IDS: Final = 400


@dataclass(frozen=True, slots=True)
class Report:
    """Hold everything that one evaluation found; the first of ``retrieval`` is the system under test.

    Raises:
        InputError: if there is no report of a retriever.
    """

    retrieval: tuple[RetrievalReport, ...]
    comparisons: tuple[Comparison, ...] = ()
    answers: AnswerReport | None = None
    diagnosis: Diagnosis | None = None
    gate: GateResult | None = None
    places: tuple[str, ...] = ("@5",)

    def __post_init__(self) -> None:
        if not self.retrieval:
            raise InputError("A report needs at least one report of a retriever.")

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON."""
        first = self.retrieval[0]
        return {
            "golden": {"name": first.golden_name, "sha256": first.golden_hash, "questions": len(first.results)},
            "reports": [report.as_dict() for report in self.retrieval],
            "comparisons": [comparison.as_dict() for comparison in self.comparisons],
            "answers": None if self.answers is None else self.answers.as_dict(),
            "diagnosis": None if self.diagnosis is None else self.diagnosis.as_dict(),
            "gate": None if self.gate is None else self.gate.as_dict(),
        }

    def _repr_html_(self) -> str:
        """Show gate, means and pairs in a notebook; :meth:`html` makes the whole page."""
        tables = [self.gate.table()] if self.gate is not None else []
        tables.append(summary_table(self.retrieval))
        tables += [comparison_table(self.comparisons)] if self.comparisons else []
        tables += [answer_table(self.answers)] if self.answers is not None else []
        return "".join(table._repr_html_() for table in tables)

    def html(self, corpus: Corpus, *, drill_down: bool = True) -> str:
        """Return the page: no script and nothing from elsewhere; all text of documents is escaped.

        ``drill_down`` adds for each question the text around gold and returned spans.
        """
        first = self.retrieval[0]
        style = files("fin_rag.evaluation").joinpath("report.css").read_text("utf-8")
        body = [
            f"<h1>Evaluation of {escape(first.name)} on {escape(first.golden_name)}</h1>",
            f'<p class="soft">{len(first.results)} questions; golden set SHA-256 {first.golden_hash}</p>',
            *self._verdicts(),
            "<h2>Retrieval</h2>",
            _table(summary_table(self.retrieval)),
            '<div class="plots">',
            *(recall_curves(self.retrieval, unit) for unit in ("characters", "tokens")),
            *(type_dots(self.retrieval, place) for place in self.places),
            "</div>",
        ]
        for place in self.places:
            body += [
                _table(measures_table(self.retrieval, place, _MEASURES)),
                _table(type_table(self.retrieval, place)),
            ]
        if self.comparisons:
            body += [
                "<h2>Side by side</h2>",
                _table(comparison_table(self.comparisons)),
                *map(_lists, self.comparisons),
            ]
        if self.answers is not None:
            body += ["<h2>Answers</h2>", _table(answer_table(self.answers))]
        notes = dict.fromkeys(note for report in (*self.retrieval, self.answers) if report for note in report.notes)
        if notes:
            body += ["<h2>Notes</h2>", "<ul>", *(f"<li>{escape(note)}</li>" for note in notes), "</ul>"]
        if drill_down:
            body += ["<h2>Questions</h2>", _LEGEND, *self._questions(corpus)]
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>Evaluation: {escape(first.golden_name)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            + "\n".join(body)
            + "\n</body>\n</html>\n"
        )

    def _verdicts(self) -> list[str]:
        out = []
        if self.gate is not None:
            out += ["<h2>Gate</h2>", _table(self.gate.table())]
        if self.diagnosis is not None:
            out += ["<h2>Diagnosis</h2>", f"<p>{escape(self.diagnosis.matrix)}</p>", _table(self.diagnosis.table())]
        return out

    def _questions(self, corpus: Corpus) -> list[str]:
        first = self.retrieval[0]
        cutoff = next((c for c in first.cutoffs if c.name == self.places[0]), first.cutoffs[0])
        stages = {item.question_id: item for item in self.diagnosis.lost} if self.diagnosis else {}
        answers = {r.question.question_id: r for r in self.answers.results} if self.answers else {}
        out = []
        for result in first.results:
            item, answer = stages.get(result.question_id), answers.get(result.question_id)
            lines = (
                [f"<p>Gold answer: {escape(result.gold.question.answer)}</p>"] if result.gold.question.answer else []
            )
            if answer is not None:
                lines.append(f"<p>Answer given: {escape(answer.answer.answer)}</p>")
            if item is not None:
                lines.append(f"<p>Lost: <strong>{escape(item.stage)}</strong>. {escape(item.detail)}</p>")
            out.append(_question(result, cutoff, corpus, lines))
        return out


_LEGEND: Final = (
    '<p class="soft"><mark class="gold">gold that was not returned</mark> '
    '<mark class="both">gold that was returned</mark> <mark class="found">other text that was returned</mark></p>'
)


def _question(result: QuestionResult, cutoff: Cutoff, corpus: Corpus, lines: Sequence[str]) -> str:
    scores = result.scores[cutoff.name]
    recall = scores["recall"] or 0.0
    head = (
        f"<summary>{'✓' if scores['full'] == 1 else '✗'} {escape(result.question_id)} "
        f'<span class="soft">[{escape(result.type)}] recall {cutoff.name} {recall:.2f}</span> '
        f"{escape(result.gold.question.question)}</summary>"
    )
    texts = [
        f"<h3>{escape(title)}</h3>\n<pre>{html}</pre>" for title, html in passages(result, result.read(cutoff), corpus)
    ]
    return "\n".join(["<details>", head, *lines, *texts, "</details>"])


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = ["".join(_cell(cell) for cell in row) for row in table.rows]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table>\n<caption>{escape(table.title)}</caption>\n<tr>{head}</tr>\n{body}\n</table>"


def _cell(cell: str) -> str:
    return f'<td class="words">{escape(cell)}</td>' if len(cell) > 60 else f"<td>{escape(cell)}</td>"


def _lists(comparison: Comparison) -> str:
    parts = []
    for verb, ids in (("won", comparison.won), ("lost", comparison.lost), ("tied", comparison.tied)):
        shown = ", ".join(ids[:_MOST_IDS]) + (f" and {len(ids) - _MOST_IDS} more" if len(ids) > _MOST_IDS else "")
        parts.append(f"<p><strong>{verb}</strong> ({len(ids)}): {escape(shown or 'none')}</p>")
    name = f"{comparison.second} against {comparison.first}, {comparison.measure} {comparison.cutoff}"
    return f"<details><summary>{escape(name)}: questions</summary>{''.join(parts)}</details>"


def answer_table(answers: AnswerReport) -> Table:
    """Return one row a measure that was scored or should have been."""
    rows = []
    for name, meaning in ANSWER_MEASURES.items():
        interval = answers.mean(name)
        if interval.n or interval.unscored:
            rows.append((name, str(interval), str(interval.n), str(interval.unscored), meaning))
    columns = ("measure", "mean [95 % interval]", "n", "not scored", "what it is a mean of")
    return Table(f"{answers.name}: {len(answers.results)} answers, {len(answers.failed)} failed", columns, tuple(rows))
