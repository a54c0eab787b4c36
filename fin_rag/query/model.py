"""What a question asks for: the parts of a query plan, each with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

from fin_rag.display import html_table

SHAPES: Final = ("amount", "percent", "ratio", "date", "count", "name", "reason", "definition", "yes_no", "text")


@dataclass(frozen=True, slots=True)
class Mention:
    """Hold one name in a question and the issuers it may mean.

    ``entities`` are keys of the library; several where the name fits several. ``start`` and ``end`` are code points
    in the question. ``exact`` is false where the name was read through a typo.
    """

    text: str
    start: int
    end: int
    entities: tuple[str, ...]
    reason: str
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Period:
    """Hold one period or day of a question.

    ``part`` is ``FY``, ``Q1`` to ``Q4``, ``H1`` or ``H2``; a day has ``day`` (YYYYMMDD) and the part ``D``.
    ``names_document`` tells that the document is called by it ("the 2023 report").
    """

    year: int
    part: str
    start: int
    end: int
    day: int = 0
    names_document: bool = False

    def __str__(self) -> str:
        return str(self.day) if self.day else f"{self.part} {self.year}"


@dataclass(frozen=True, slots=True)
class MetricMatch:
    """Hold a metric that a question names.

    ``items`` are the line items it is made of, ``statements`` where they stand; ``start`` and ``end`` are code
    points in the question.
    """

    metric: str
    text: str
    start: int
    end: int
    items: tuple[str, ...]
    statements: tuple[str, ...]
    formula: str = ""


@dataclass(frozen=True, slots=True)
class TopicMatch:
    """Hold a topic that a question names; ``own`` tells the user's lexicon from the package's."""

    topic: str
    text: str
    start: int
    end: int
    terms: tuple[str, ...]
    titles: tuple[str, ...]
    own: bool = False
    items: tuple[str, ...] = ()
    opening: bool = False


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """Hold what a question asks for.

    ``search`` is the question without names, periods and directions; ``clauses`` are its parts that are searched
    apart, empty where it has one. ``named_kinds`` are filters, ``hinted_kinds`` raise documents. ``missing`` are
    names of companies that the index does not hold. ``statements`` are named in the question. ``compared`` says
    what is set side by side: ``issuers``, ``periods`` or nothing. ``reasons`` tell how each part was read.
    """

    question: str
    lang: str
    search: str
    clauses: tuple[str, ...]
    mentions: tuple[Mention, ...]
    missing: tuple[str, ...]
    periods: tuple[Period, ...]
    named_kinds: tuple[str, ...]
    hinted_kinds: tuple[str, ...]
    metrics: tuple[MetricMatch, ...]
    topics: tuple[TopicMatch, ...]
    statements: tuple[str, ...]
    items: tuple[str, ...]
    shape: str
    identifiers: tuple[str, ...]
    compared: str
    growth: bool
    forward: bool
    breakdown: bool
    adjusted: bool
    newest: bool
    reasons: tuple[str, ...]

    def years(self) -> Iterator[int]:
        """Yield the years of its periods, each once, in order of the question."""
        yield from dict.fromkeys(period.year for period in self.periods)

    def as_dict(self) -> dict[str, object]:
        """Return the plan as plain data, for ``--explain`` and for records."""
        return asdict(self)

    def _repr_html_(self) -> str:
        """Show the plan in a notebook."""
        parts = {
            "searched": (self.search, *self.clauses),
            "issuers": [" or ".join(mention.entities) for mention in self.mentions],
            "not held": self.missing,
            "periods": self.periods,
            "kinds": (*self.named_kinds, *self.hinted_kinds),
            "metrics": [metric.metric for metric in self.metrics],
            "topics": [topic.topic for topic in self.topics],
            "statements": self.statements,
            "items": self.items,
            "shape": (self.shape,),
            "identifiers": self.identifiers,
            "compared": (self.compared,) if self.compared else (),
        }
        rows = [(name, ", ".join(map(str, values))) for name, values in parts.items() if values]
        return html_table(self.question, ("part", "read as"), rows, notes=self.reasons)
