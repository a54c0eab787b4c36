"""The questions of a golden set: what is asked, what is right, and where the evidence stands."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from fin_rag.errors import InputError
from fin_rag.schema import Span, format_spans, parse_spans

UNANSWERABLE: Final = "unanswerable"
# What we name the usual types; a set may use its own words.
QUESTION_TYPES: Final = (
    "extractive", "table", "note", "table_and_note", "text_and_note", "comparison", "multi-hop", "calculation",
    UNANSWERABLE,
)  # fmt: skip


def _spans(value: object) -> object:
    """Read ``"10-20;30-40"`` or ``[[10, 20], [30, 40]]``."""
    try:
        if isinstance(value, str):
            return parse_spans(value)
        if isinstance(value, list | tuple):
            return tuple(part if isinstance(part, Span) else Span(*part) for part in value)
    except (InputError, TypeError) as error:
        raise ValueError(str(error)) from error
    return value


Spans = Annotated[
    tuple[Span, ...],
    BeforeValidator(_spans, json_schema_input_type=str | list[tuple[int, int]]),
    PlainSerializer(format_spans, return_type=str),
]


class _Row(BaseModel):
    """Refuse keys that nobody reads: a mistyped one would be lost in silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Place(_Row):
    """Name a place in a document: by spans, or by section path, page and quote, to be resolved to spans.

    ``document`` is the document's id, its file name with or without the ending, or its title. ``spans`` are
    0-based code points, end-exclusive, of the canonical text. ``section_path`` is the path of a section or its
    last parts, joined by ``' > '``; ``page`` is 1-based; ``quote`` is text that stands there, in any spacing.

    Example:
        >>> Place(document="acme-10k", spans="10-20").spans
        (Span(start=10, end=20),)
    """

    document: str = Field(min_length=1)
    spans: Spans = ()
    section_path: str = ""
    page: int | None = Field(default=None, ge=1)
    quote: str = ""

    @model_validator(mode="after")
    def _somewhere(self) -> Place:
        if not (self.spans or self.section_path or self.page or self.quote):
            raise ValueError("needs 'spans', 'section_path', 'page' or 'quote'")
        if any(not len(span) for span in self.spans):
            raise ValueError("'spans' must not be empty: start < end")
        return self


class Passage(Place):
    """Name one gold passage: all of them together answer the question.

    ``evidence`` is the sentence or table row that holds the answer, ``equivalents`` are other places that
    state the same fact. ``text_sha256`` is the hash of the text that the spans index; when it is given and the
    document has changed, resolving fails instead of measuring against the wrong text.
    """

    passage_id: str = ""
    kind: str = ""
    evidence: Spans = ()
    equivalents: tuple[Place, ...] = ()
    text_sha256: str = ""


class Question(_Row):
    """Hold one question with its gold answer and passages.

    ``tolerance`` is the largest relative difference that a numeric answer may have (``0.01``: one per cent); without
    it a figure must be right as far as it is printed. ``scale`` multiplies a bare gold figure (``1000000`` for
    "in millions"). ``documents`` are those the question is about, ``as_of`` is YYYYMMDD. ``route`` and
    ``tool_calls`` are what a chain should have done: the name of a branch, and calls as ``name`` plus arguments.
    ``draft`` marks questions that no person has finished; they are never measured.

    Example:
        >>> question = Question(question_id="q1", question="Net debt in 2024?", answer="12.5",
        ...                     passages=[{"document": "acme", "spans": "0-40"}])
        >>> question.answerable, question.type
        (True, 'extractive')
    """

    question_id: str = Field(min_length=1)
    question: str = Field(min_length=1)
    answer: str = ""
    type: str = Field(default="extractive", min_length=1, examples=list(QUESTION_TYPES))
    answerable: bool = True
    passages: tuple[Passage, ...] = ()
    documents: tuple[str, ...] = ()
    tolerance: Decimal | None = Field(default=None, ge=0)
    scale: Decimal | None = Field(default=None, gt=0)
    unit: str = ""
    as_of: int | None = Field(default=None, ge=10000101, le=99991231)
    lang: str = ""
    tags: tuple[str, ...] = ()
    route: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    status: Literal["final", "draft"] = "final"
    note: str = ""

    @model_validator(mode="before")
    @classmethod
    def _type_decides(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("type") == UNANSWERABLE and "answerable" not in data:
            return {**data, "answerable": False}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Question:
        if self.answerable and not self.passages and self.status == "final":
            raise ValueError("an answerable question needs at least one of 'passages'; else set 'answerable' to false")
        if not self.answerable and self.passages:
            raise ValueError("an unanswerable question has no 'passages'; else set 'answerable' to true")
        if any("name" not in call for call in self.tool_calls):
            raise ValueError("each of 'tool_calls' needs a 'name'")
        return self

    @property
    def gold_documents(self) -> tuple[str, ...]:
        """Return the documents of the passages, else those that the question names; sorted, each once."""
        return tuple(sorted({p.document for p in self.passages} or set(self.documents)))
