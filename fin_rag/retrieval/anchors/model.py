"""What anchors are made of: the plan of a question, hits of detectors, candidates, the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from fin_rag.index.view import DocumentView
from fin_rag.query import QueryPlan
from fin_rag.retrieval.lexical import text_terms
from fin_rag.schema import Section, Span

Role: TypeAlias = Literal["primary", "supporting", "tangential", "discarded"]
ROLES: Final[tuple[Role, ...]] = ("primary", "supporting", "tangential", "discarded")

TITLE_KEYWORDS: Final = "title_keywords"
TITLE_EMBEDDINGS: Final = "title_embeddings"
CONTENT_KEYWORDS: Final = "content_keywords"
SHAPES: Final = "shapes"
STATEMENT_ROWS: Final = "statement_rows"
CHUNK_EMBEDDINGS: Final = "chunk_embeddings"
DETECTORS: Final = (TITLE_KEYWORDS, TITLE_EMBEDDINGS, CONTENT_KEYWORDS, SHAPES, STATEMENT_ROWS, CHUNK_EMBEDDINGS)

DETECT_THEN_EXTRACT: Final = "detect_then_extract"
SECTION_WEIGHTED_MATCH: Final = "section_weighted_match"
HYBRID_EMBEDDING: Final = "hybrid_embedding"
REASON_THEN_MATCH: Final = "reason_then_match"
COMPOSITIONS: Final = (DETECT_THEN_EXTRACT, SECTION_WEIGHTED_MATCH, HYBRID_EMBEDDING, REASON_THEN_MATCH)


@dataclass(frozen=True, slots=True)
class Plan:
    """Say what the detectors look for.

    ``query`` is the plan of the question itself. ``terms`` maps a stem, or a concept (``=capex``), to its weight before
    rarity; ``wordings`` holds the ways in which a concept is put, each the stems that must stand together; ``shapes``
    and ``patterns`` map a name to a regular expression; ``title_words`` are stems of titles where such a
    question is usually answered, each with the reason; ``search`` is what the searches are asked.
    """

    query: QueryPlan
    terms: Mapping[str, float]
    wordings: Mapping[str, tuple[frozenset[str], ...]]
    shapes: Mapping[str, str]
    patterns: Mapping[str, str]
    title_words: Mapping[str, str]
    search: str

    def held(self, text: str) -> frozenset[str]:
        """Return the terms and concepts that stand in a text."""
        return self.held_in(frozenset(text_terms(text)))

    def held_in(self, stems: frozenset[str]) -> frozenset[str]:
        """Return the terms and concepts that stand in a text of these stems."""
        concepts = (name for name, ways in self.wordings.items() if any(way <= stems for way in ways))
        return (stems & self.terms.keys()) | frozenset(concepts)


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold what one detector found: a line or a section, with a score in (0, 1] and the evidence in words."""

    detector: str
    doc_id: str
    span: Span
    score: float
    evidence: str
    section_id: str


@dataclass(slots=True)
class Passage:
    """Hold one chunk of the pool with what every detector says of it; ``anchor`` is the line that carries it."""

    row: int
    chunk_id: str
    view: DocumentView
    body: Span
    parent: Span
    section: Section | None
    text: str
    joined: tuple[Span, ...] = ()
    bag: Counter[str] = field(default_factory=Counter)
    held: frozenset[str] = frozenset()
    anchor: Span | None = None
    evidence: str = ""
    scores: dict[str, float] = field(default_factory=dict)

    def score(self, detector: str) -> float:
        """Return what a detector says, 0 if nothing."""
        return self.scores.get(detector, 0.0)


@dataclass(slots=True)
class Candidate:
    """Hold a part of one structural unit: anchor lines, and the passages of the pool that stand around them.

    ``cosine`` and ``coverage`` (share of the weight of the question's terms) are those of the best passage;
    ``ranks`` holds the place, from 1, that each composition gave.
    """

    number: int
    passages: list[Passage]
    scores: dict[str, float]
    cosine: float
    coverage: float
    ranks: dict[str, int] = field(default_factory=dict)
    score: float = 0.0

    @property
    def candidate_id(self) -> str:
        """Return the name that the arbiter knows the candidate by."""
        return f"C{self.number}"

    @property
    def view(self) -> DocumentView:
        """Return the document."""
        return self.passages[0].view

    @property
    def unit(self) -> Span:
        """Return the structural unit: the section, turn or article."""
        return self.passages[0].parent

    @property
    def section(self) -> Section | None:
        """Return the innermost section of the best passage."""
        return self.passages[0].section

    @property
    def anchors(self) -> list[Span]:
        """Return the anchor lines, best passage first."""
        return list(dict.fromkeys(passage.anchor for passage in self.passages if passage.anchor is not None))

    @property
    def found_by(self) -> list[str]:
        """Return the detectors that found anything in it."""
        return [name for name in DETECTORS if self.scores.get(name)]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Hold the role of one candidate and the reason for it."""

    candidate_id: str
    role: Role
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """Hold what an arbiter decided.

    ``arbiter`` is ``deterministic`` or ``model``; ``model`` names the model that was asked, also where its answer was
    of no use; ``problems`` says what was wrong with the answer; ``raw`` is the answer as it came.
    """

    arbiter: str
    found: bool
    reason: str
    judgements: tuple[Judgement, ...]
    model: str = ""
    problems: tuple[str, ...] = ()
    raw: str = ""

    def role_of(self, candidate_id: str) -> Role:
        """Return the role of a candidate."""
        return next((j.role for j in self.judgements if j.candidate_id == candidate_id), "discarded")
