"""Evidence while it is ranked and packed: spans of a source with a score and the reasons for it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.documents import Document

from fin_rag.index.store import StoredSource
from fin_rag.retrieval.lines import Reading
from fin_rag.schema import (
    CONTEXT_HEADER,
    DOC_ID,
    END_INDEX,
    FOUND_BY,
    KIND,
    PAGE,
    PAGE_END,
    RANK,
    REASON,
    SCORE,
    SPANS,
    START_INDEX,
    MetadataValue,
    Span,
    format_spans,
)

CHILDREN = "children"  # ids of the chunks that a result stands for


@dataclass(slots=True)
class Evidence:
    """Hold one piece of evidence.

    ``found_by`` maps a detector to the reason in words; ``unit`` tells which sub-question (group and clause)
    it answers; ``children`` are ids of chunks it stands for. ``statement`` is the number of a statement of the
    document, -1 where it is none; ``row`` the chunk's row, -1 where it is none. ``serves`` counts the sub-questions
    that it answers well.
    """

    source: StoredSource
    spans: tuple[Span, ...]
    metadata: Mapping[str, MetadataValue]
    identity: str
    score: float
    found_by: dict[str, str] = field(default_factory=dict)
    unit: int = 0
    children: list[str] = field(default_factory=list)
    row: int = -1
    statement: int = -1
    reading: Reading | None = None
    serves: int = 1

    @property
    def text(self) -> str:
        """Return the slices of its spans, joined by a blank line."""
        return "\n\n".join(span.slice(self.source.text) for span in self.spans)

    @property
    def size(self) -> int:
        """Return the length of its text (code points)."""
        return sum(map(len, self.spans)) + 2 * (len(self.spans) - 1)

    @property
    def header(self) -> str:
        """Return its context header."""
        return str(self.metadata.get(CONTEXT_HEADER, ""))

    def document(self, rank: int) -> Document:
        """Return it as a result."""
        keys = {**self.source.metadata, **self.metadata, SPANS: format_spans(self.spans)}
        if self.row < 0:
            keys |= {START_INDEX: self.spans[0].start, END_INDEX: self.spans[0].end}
        pages = self.pages()
        if pages:
            keys |= {PAGE: pages[0], PAGE_END: pages[1]}
        added: dict[str, object] = {
            SCORE: round(min(max(self.score, 0.0), 1.0), 6),
            RANK: rank,
            FOUND_BY: sorted(self.found_by),
            REASON: "; ".join(f"{name}: {why}" for name, why in sorted(self.found_by.items())),
        }
        if self.children:
            added[CHILDREN] = list(self.children)
        return Document(id=self.identity, page_content=self.text, metadata={**keys, **added})

    def pages(self) -> tuple[int, int] | None:
        """Return the first and last page that its spans touch."""
        touched = [pages for span in self.spans if (pages := self.source.pages.range(span))]
        return (min(first for first, _ in touched), max(last for _, last in touched)) if touched else None


def cut_identity(source: StoredSource, spans: Sequence[Span]) -> str:
    """Return an id for spans that are no chunk."""
    text = f"{source.metadata[DOC_ID]}|{format_spans(spans)}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def covered_by(inner: Evidence, outer: Evidence) -> bool:
    """Tell whether the spans of one lie within those of the other."""
    return inner.source.doc == outer.source.doc and all(
        any(wide.contains(span) for wide in outer.spans) for span in inner.spans
    )


def is_table(evidence: Evidence) -> bool:
    """Tell whether evidence is a table or a statement."""
    return evidence.statement >= 0 or evidence.metadata.get(KIND) == "table"
