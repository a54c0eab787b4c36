"""Which lines carried a hit: scores line by line, as data and as a heat map."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.index.store import FilingIndex
from fin_rag.index.view import DocumentView, Line
from fin_rag.retrieval.anchors.detect import term_weights
from fin_rag.retrieval.anchors.lines import score_lines
from fin_rag.retrieval.anchors.plan import make_plan
from fin_rag.schema import DOC_ID, SPANS, Span, parse_spans

if TYPE_CHECKING:
    import pandas as pd

_MEANING_SHARE: Final = 0.4
_SHADES: Final = " ░▒▓█"
_COLUMNS: Final = ("line", "page", "section_id", "start", "end", "score", "terms", "text")


@dataclass(frozen=True, slots=True)
class ExplainedLine:
    """Hold one line with its share in the hit: a score in [0, 1] and the question's terms that stand in it."""

    line: Line
    text: str
    score: float
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LineExplanation:
    """Hold the lines of a result and what they come to.

    ``maximum`` is the score of the best line: one line can carry a hit. ``density`` is the share of lines that
    score at least ``threshold``: many lines can. Both are in [0, 1].
    """

    doc_id: str
    question: str
    lines: tuple[ExplainedLine, ...]
    threshold: float

    @property
    def maximum(self) -> float:
        """Return the best score of a line."""
        return max((line.score for line in self.lines), default=0.0)

    @property
    def density(self) -> float:
        """Return the share of lines at or above the threshold."""
        return sum(line.score >= self.threshold for line in self.lines) / len(self.lines) if self.lines else 0.0

    def carriers(self) -> tuple[ExplainedLine, ...]:
        """Return the lines at or above the threshold, best first; the best line if there is none."""
        ordered = sorted(self.lines, key=lambda one: (-one.score, one.line.number))
        above = tuple(one for one in ordered if one.score >= self.threshold)
        return above or tuple(ordered[:1])

    def rows(self) -> list[dict[str, Any]]:
        """Return one mapping of JSON values a line: number, page, section, offsets, score, terms, text."""
        return [dict(zip(_COLUMNS, _row(one), strict=True)) for one in self.lines]

    def frame(self) -> pd.DataFrame:
        """Return the lines as a data frame with the columns of :meth:`rows`."""
        from fin_rag.index.view import make_frame

        return make_frame([_row(one) for one in self.lines], _COLUMNS)

    def heat_map(self) -> str:
        """Return the lines as an HTML table, each the warmer the more of the hit it carries."""
        rows = []
        for one in self.lines:
            place = f"p. {one.line.page}, l. {one.line.number}" if one.line.page else f"l. {one.line.number}"
            shade = f"background:rgba(255,140,0,{one.score:.2f})"
            terms = html.escape(", ".join(one.terms))
            rows.append(
                f'<tr style="{shade}" title="{terms}"><td>{place}</td><td>{one.score:.2f}</td>'
                f"<td>{html.escape(one.text)}</td></tr>"
            )
        caption = f"{html.escape(self.question)} (best line {self.maximum:.2f}, density {self.density:.2f})"
        head = "<tr><th>place</th><th>score</th><th>line</th></tr>"
        return f"<table><caption>{caption}</caption>{head}{''.join(rows)}</table>"

    def text_map(self, width: int = 100) -> str:
        """Return the lines as text, each behind a block that is the fuller the more of the hit it carries."""
        return "\n".join(
            f"{_SHADES[min(int(one.score * len(_SHADES)), len(_SHADES) - 1)]} {one.score:.2f} "
            f"{one.line.number:>5} {one.text[:width]}"
            for one in self.lines
        )


def explain_lines(
    index: FilingIndex,
    question: str,
    result: Document,
    *,
    threshold: float = 0.5,
    meaning: bool = False,
    session_id: str | None = None,
) -> LineExplanation:
    """Score every line of a result for the question.

    A line scores by the question's terms in it, alone and together with its neighbours; terms weigh by how
    rare they are among the lines of the document. With ``meaning`` the likeness of the line in meaning, between the
    least and the most like one, makes 0.4 of the score.

    Args:
        index: the index that the result comes from.
        question: the question.
        result: a Document with ``doc_id`` and ``spans``.
        threshold: score from which a line counts for the density.
        meaning: embed every line as well; slower.
        session_id: of a private document.

    Raises:
        InputError: if the result names no document or spans, or the threshold is not in [0, 1].
        NotFoundError: if the document is not in the index.
    """
    if not 0 <= threshold <= 1:
        raise InputError(f"'threshold' must be in [0, 1]. Got {threshold!r}.")
    if DOC_ID not in result.metadata or SPANS not in result.metadata:
        raise InputError("The result has no 'doc_id' and 'spans'. Give a result of a retriever of this package.")
    view = index.view(str(result.metadata[DOC_ID]), session_id=session_id)
    lines = list(
        dict.fromkeys(line for span in parse_spans(str(result.metadata[SPANS])) for line in view.lines_in(span))
    )
    plan = make_plan(question)
    weights = term_weights(plan.terms, [plan.held(line.span.slice(view.text)) for line in view.lines])
    scored = score_lines(view.text, [line.span for line in lines], weights, plan.held)
    scores = [one.score for one in scored]
    if meaning and lines:
        likeness = _likeness(index, question, view, [line.span for line in lines])
        scores = [(1 - _MEANING_SHARE) * a + _MEANING_SHARE * b for a, b in zip(scores, likeness, strict=True)]
    explained = tuple(
        ExplainedLine(line, line.span.slice(view.text), round(score, 6), one.terms)
        for line, one, score in zip(lines, scored, scores, strict=True)
    )
    return LineExplanation(view.doc_id, question, explained, threshold)


def _likeness(index: FilingIndex, question: str, view: DocumentView, spans: Sequence[Span]) -> list[float]:
    vectors = index.embed([span.slice(view.text) for span in spans])
    cosines = [float(value) for value in vectors @ index.embed_question(question)]
    low, high = min(cosines), max(cosines)
    return [(cosine - low) / (high - low) if high > low else 0.0 for cosine in cosines]


def _row(one: ExplainedLine) -> tuple[object, ...]:
    line = one.line
    return (
        line.number,
        line.page,
        line.section_id,
        line.span.start,
        line.span.end,
        one.score,
        list(one.terms),
        one.text,
    )
