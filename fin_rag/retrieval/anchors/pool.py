"""The pool: chunks of an index within scope, and the documents and titles around them."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, TypeVar

import numpy as np
from langchain_core.documents import Document

from fin_rag.index.catalogue import Allowed
from fin_rag.index.statements import FiledStatement
from fin_rag.index.store import FilingIndex
from fin_rag.index.view import DocumentView
from fin_rag.query import Library
from fin_rag.retrieval.anchors.model import Passage, Plan
from fin_rag.retrieval.anchors.plan import title_terms
from fin_rag.retrieval.lexical import rarity
from fin_rag.schema import (
    CONTEXT_HEADER,
    DOC_ID,
    END_INDEX,
    PARENT_END,
    PARENT_START,
    SECTION_ID,
    SPANS,
    START_INDEX,
    Section,
    Span,
    parse_spans,
)

_T = TypeVar("_T")
_KEPT_VIEWS: Final = 64
_KEPT_LIBRARIES: Final = 8
_KEPT_TITLES: Final = 50_000
_MOST_DOCUMENTS: Final = 24  # whose titles are read
_TITLE_SHARE: Final = 0.4  # of the weight of a question's terms, from which a title fits as well as any
_MOST_STATEMENTS: Final = 8  # documents whose statements are read
_PATH_WEIGHT: Final = 0.5  # of a word in the titles above a section's own


class Reader:
    """Read documents and titles of an index, and keep what was read.

    Document numbers are never used twice, so what is kept does not grow stale.
    """

    def __init__(self, index: FilingIndex) -> None:
        self.index = index
        self._views: OrderedDict[tuple[str, int], DocumentView] = OrderedDict()
        self._titles: OrderedDict[str, np.ndarray[Any, np.dtype[np.float32]]] = OrderedDict()
        self._libraries: dict[tuple[int, str | None], Library] = {}
        self._spans: OrderedDict[int, dict[int, tuple[Span, ...]]] = OrderedDict()
        self._statements: OrderedDict[int, tuple[FiledStatement, ...]] = OrderedDict()
        self._lock = Lock()

    def view(self, doc_id: str, session_id: str | None) -> DocumentView:
        """Return a document that a search found."""
        key = (doc_id, self.index.number_of(doc_id))
        with self._lock:
            if key in self._views:
                self._views.move_to_end(key)
                return self._views[key]
        view = self.index.view(doc_id, session_id=session_id)
        with self._lock:
            self._views[doc_id, view.number] = view
            while len(self._views) > _KEPT_VIEWS:
                self._views.popitem(last=False)
        return view

    def library(self, session_id: str | None) -> Library:
        """Return the issuers and documents that a session may see, read again only when documents came or went."""
        key = (self.index.state(), session_id)
        with self._lock:
            known = self._libraries.get(key)
        if known is None:
            known = Library(self.index.numbered_documents(session_id=session_id))
            with self._lock:
                if len(self._libraries) >= _KEPT_LIBRARIES:
                    self._libraries.clear()
                self._libraries[key] = known
        return known

    def spans(self, number: int) -> dict[int, tuple[Span, ...]]:
        """Return the spans of each chunk of a document, by row."""
        with self._lock:
            known = self._spans.get(number)
        if known is None:
            known = {chunk.row: parse_spans(str(chunk.metadata[SPANS])) for chunk in self.index.chunks_of(number)}
            self._keep(self._spans, number, known)
        return known

    def statements(self, number: int) -> tuple[FiledStatement, ...]:
        """Return the statements of a document."""
        with self._lock:
            known = self._statements.get(number)
        if known is None:
            source = self.index.sources([number]).get(number)
            known = source.statements if source is not None else ()
            self._keep(self._statements, number, known)
        return known

    def _keep(self, kept: OrderedDict[int, _T], number: int, value: _T) -> None:
        with self._lock:
            kept[number] = value
            while len(kept) > _KEPT_VIEWS:
                kept.popitem(last=False)

    def title_vectors(self, titles: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return one unit vector a title."""
        with self._lock:
            missing = [title for title in dict.fromkeys(titles) if title not in self._titles]
            if missing:
                for title, vector in zip(missing, self.index.embed(missing), strict=True):
                    self._titles[title] = vector
            out = np.stack([self._titles[title] for title in titles])
            while len(self._titles) > _KEPT_TITLES:
                self._titles.popitem(last=False)
            return out


class Pool:
    """Gather passages for one question, each once, with the likeness of its vector to the question's.

    ``words`` are what the search by words is asked, ``question`` what the search by meaning is; ``weights`` say how
    well documents fit the question, by number.
    """

    def __init__(
        self,
        reader: Reader,
        question: str,
        words: str,
        allowed: Allowed,
        session_id: str | None,
        weights: Mapping[int, float] | None = None,
    ) -> None:
        self._reader = reader
        self._index = reader.index
        self._words = words
        self._weights = weights or {}
        self._allowed = allowed
        self._session_id = session_id
        self.vector = self._index.embed_question(question)
        self.passages: dict[int, Passage] = {}
        self.cosines: dict[int, float] = {}

    def search(self, size: int, allowed: Allowed | None = None) -> list[int]:
        """Take in what both searches find within ``allowed`` (all that is in scope by default); return the new rows."""
        within = self._allowed if allowed is None else allowed
        hits = [
            *self._index.keyword_search(self._words, size, within),
            *self._index.nearest(self.vector, size, within),
            *self._index.title_search(self._words, max(size // 2, 1), within),
        ]
        return self.take(row for row, _ in hits)

    def take(self, rows: Iterable[int]) -> list[int]:
        """Take in rows that are in scope; return those that were not there before."""
        new = [row for row in dict.fromkeys(rows) if row not in self.passages]
        documents = self._index.fetch(new)
        present = [row for row in new if row in documents]
        vectors = self._index.vectors_of(present)
        for row, cosine in zip(present, vectors @ self.vector if present else (), strict=True):
            self.passages[row] = self._passage(row, documents[row])
            self.cosines[row] = float(cosine)
        return present

    def at(self, view: DocumentView, spans: Sequence[Span]) -> list[int | None]:
        """Return, for each span of a document, the row of the chunk in scope that holds its start, taken in."""
        chunks = self._reader.spans(view.number)
        permitted = set(np.intersect1d(self._allowed.rows, list(chunks)).tolist())
        found: list[int | None] = []
        for span in spans:
            holding = (row for row in permitted if any(own.start <= span.start < own.end for own in chunks[row]))
            found.append(min(holding, default=None))
        self.take(row for row in found if row is not None)
        return [row if row in self.passages else None for row in found]

    def within(self, section: Section, view: DocumentView) -> Allowed:
        """Return what of a section, and of the sections inside it, is in scope."""
        inside = [one.section_id for one in view.sections if section.span.contains(one.span)]
        found = self._index.resolve({DOC_ID: view.doc_id, SECTION_ID: {"$in": inside}}, session_id=self._session_id)
        rows = np.intersect1d(found.rows, self._allowed.rows, assume_unique=True)
        return Allowed(rows, (view.number,) if len(rows) else (), everything=False)

    def documents(self) -> list[DocumentView]:
        """Return the documents whose statements are read: those best chosen by the question, at most 8."""
        order = sorted(self._weights, key=lambda number: (-self._weights[number], number))
        by_number = {view.number: view for view in self.views()}
        chosen = [by_number[number] for number in order if number in by_number]
        return (chosen or list(by_number.values()))[:_MOST_STATEMENTS]

    def statements(self, numbers: Iterable[int]) -> list[tuple[int, tuple[FiledStatement, ...]]]:
        """Return the statements of documents, by their numbers."""
        return [(number, self._reader.statements(number)) for number in numbers]

    def views(self) -> list[DocumentView]:
        """Return the documents of the passages, those with the most likely passage first, at most 24."""
        order = sorted(self.passages, key=lambda row: (-self.cosines[row], row))
        views = {self.passages[row].view.doc_id: self.passages[row].view for row in order}
        return list(views.values())[:_MOST_DOCUMENTS]

    def _passage(self, row: int, document: Document) -> Passage:
        metadata = document.metadata
        body = Span(metadata[START_INDEX], metadata[END_INDEX])
        view = self._reader.view(str(metadata[DOC_ID]), self._session_id)
        header = str(metadata.get(CONTEXT_HEADER, ""))
        return Passage(
            row=row,
            chunk_id=str(document.id),
            view=view,
            body=body,
            parent=Span(metadata.get(PARENT_START, body.start), metadata.get(PARENT_END, body.end)),
            section=view.section(str(metadata.get(SECTION_ID, ""))),
            text=f"{header}\n{document.page_content}" if header else document.page_content,
            joined=parse_spans(str(metadata[SPANS])),
        )


class Titles:
    """Score the sections of some documents for words and meaning of their titles."""

    def __init__(self, reader: Reader, views: Iterable[DocumentView]) -> None:
        self._reader = reader
        self.entries = [(view, section) for view in views for section in view.sections]
        self._terms = [
            (
                frozenset(title_terms(section.title)),
                frozenset(t for part in section.path[:-1] for t in title_terms(part)),
            )
            for _, section in self.entries
        ]

    def by_words(self, plan: Plan) -> list[tuple[float, str]]:
        """Return the score of each section, in [0, 1], and the words it rests on.

        A word counts by its weight and by how rare it is among the titles; words of the titles above count
        half, and so do the words of titles where such questions are usually answered.
        """
        weights = {**dict.fromkeys(plan.title_words, 0.5), **plan.terms}
        held = [(own | _concepts(own, plan), above) for own, above in self._terms]
        counts = Counter(term for own, _ in held for term in own)
        rare = rarity(sorted(weights), counts, max(len(held), 1))
        value = {term: weight * rare[term] for term, weight in weights.items() if counts.get(term)}
        out: list[tuple[float, str]] = []
        for own, above in held:
            shared = sorted(own & value.keys())
            score = sum(value[term] for term in shared)
            score += _PATH_WEIGHT * sum(value[term] for term in sorted((above - own) & value.keys()))
            # A long title that holds one word by the way says less than a title that is that word.
            focus = len(shared) / len(own) if own else 0.0
            out.append((score * (0.5 + 0.5 * focus), ", ".join(shared)))
        # The best title counts fully only if it holds a good part of what is asked; one common word is little.
        total = sum(weights[term] * rare[term] for term in plan.terms)
        best = max(max((score for score, _ in out), default=0.0), _TITLE_SHARE * total)
        return [(score / best, words) for score, words in out] if best else out

    def by_meaning(self, vector: np.ndarray[Any, np.dtype[np.float32]]) -> list[float]:
        """Return the cosine of each title with the question, with the title above it as context."""
        if not self.entries:
            return []
        titles = [" > ".join(section.path[-2:]) for _, section in self.entries]
        return [float(value) for value in self._reader.title_vectors(titles) @ vector]


def _concepts(stems: frozenset[str], plan: Plan) -> frozenset[str]:
    return plan.held_in(stems) - stems
