"""Answers that a system gave, as rows that can be stored beside a golden set and measured later."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from langchain_core.documents import Document
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_rag.errors import InputError
from fin_rag.evaluation.golden import fault_sentences
from fin_rag.evaluation.golden_files import read_rows, write_rows
from fin_rag.evaluation.questions import Spans
from fin_rag.schema import DOC_ID, SOURCE, SPANS, Span, parse_spans

ABSTAINED: Final = "NO_DISPONIBLE"


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Excerpt(_Row):
    """Hold a text with its place: what the model read, or what an answer cites.

    ``marker`` is how the answer names it, such as ``"[1]"``; ``claim`` is the part of the answer that it is cited for,
    by default the sentences that carry the marker.
    """

    document: str = ""
    spans: Spans = ()
    text: str = ""
    marker: str = ""
    claim: str = ""

    @classmethod
    def from_document(cls, document: Document, *, marker: str = "") -> Excerpt:
        """Take a LangChain Document."""
        metadata = document.metadata
        spans: tuple[Span, ...] = parse_spans(str(metadata[SPANS])) if metadata.get(SPANS) else ()
        name = str(metadata.get(DOC_ID) or metadata.get(SOURCE) or "")
        return cls(document=name, spans=spans, text=document.page_content, marker=marker)


class Figure(_Row):
    """Hold one figure of an answer and what the figure check said of it."""

    text: str
    verdict: str
    reason: str = ""


class GivenAnswer(_Row):
    """Hold what a system answered to one question.

    ``abstained`` is true where the system declined; where it is not given, an empty answer or one that says
    ``NO_DISPONIBLE`` counts as declined. ``refused`` is true where a figure check held the answer back. ``figures``
    is the figure check's record, if it ran. ``filter`` is what the search was narrowed to.

    Example:
        >>> GivenAnswer(question_id="q1", answer="NO_DISPONIBLE").declined
        True
    """

    question_id: str = Field(min_length=1)
    answer: str = ""
    abstained: bool | None = None
    refused: bool = False
    contexts: tuple[Excerpt, ...] = ()
    citations: tuple[Excerpt, ...] = ()
    figures: tuple[Figure, ...] | None = None
    route: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    filter: dict[str, Any] | None = None
    note: str = ""

    @property
    def declined(self) -> bool:
        """Tell whether the system gave no answer."""
        if self.abstained is not None:
            return self.abstained
        return self.refused or not self.answer.strip() or ABSTAINED in self.answer

    @classmethod
    def from_chain(cls, question_id: str, output: Mapping[str, Any]) -> GivenAnswer:
        """Take what a LangChain retrieval chain returned: ``answer`` and ``context``.

        Documents under ``context`` become the contexts, with the markers ``[1]``, ``[2]``, ... in order; those whose
        marker stands in the answer become the citations. Keys of this class that the output has are taken over.
        """
        contexts = [
            Excerpt.from_document(document, marker=f"[{number}]")
            for number, document in enumerate(output.get("context") or (), 1)
        ]
        answer = str(output.get("answer") or "")
        own = {key: output[key] for key in cls.model_fields if key in output and key != "answer"}
        cited = [context for context in contexts if context.marker in answer]
        return cls.model_validate(
            {"contexts": contexts, "citations": cited, **own, "question_id": question_id, "answer": answer}
        )


def read_answers(path: str | Path) -> tuple[GivenAnswer, ...]:
    """Read answers from a ``.jsonl``, ``.csv`` or ``.parquet`` file, one a row.

    Raises:
        NotFoundError: if there is no such file.
        InputError: if rows are wrong; the message names the line and the field of each fault.
    """
    answers, faults = [], []
    for place, row in read_rows(Path(path)):
        try:
            answers.append(GivenAnswer.model_validate(row))
        except ValidationError as error:
            faults += [f"{place}: {fault}" for fault in fault_sentences(error, GivenAnswer)]
    if faults:
        raise InputError(f"{path} has {len(faults)} fault(s); nothing was taken:\n  " + "\n  ".join(faults[:20]))
    return tuple(answers)


def write_answers(path: str | Path, answers: Iterable[GivenAnswer]) -> None:
    """Write answers, one a row, by the ending of ``path``."""
    write_rows(Path(path), [a.model_dump(mode="json", exclude_defaults=True) for a in answers])
