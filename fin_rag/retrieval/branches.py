"""The branches of a hybrid, each a LangChain retriever of its own, under one scope."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from fin_rag.index.catalogue import Allowed
from fin_rag.index.consistent import consistent
from fin_rag.index.store import FilingIndex
from fin_rag.retrieval.scope import Day, ScopedRetriever, identified, with_result
from fin_rag.schema import CONTEXT_HEADER, DOC_ID, FOUND_BY, RANK, REASON, SCORE

logger = logging.getLogger(__name__)
_FILL_BATCH = 500
_OVERFETCH = 4


class _Branch(ScopedRetriever):
    """Search one way; sub-classes say how."""

    @consistent
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # part of LangChain's signature
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> list[Document]:
        wanted = self.wanted(k)
        allowed = self.allowed(filter, as_of, session_id)
        if not len(allowed.rows) or not query.strip():
            return []
        hits = self._search(query, wanted, allowed)
        documents = self.index.fetch(row for row, _, _ in hits)
        found = [(identified(documents[row]), score, why) for row, score, why in hits if row in documents]
        label = self._label()
        return [
            with_result(
                document,
                **{SCORE: round(score, 6), RANK: rank, FOUND_BY: [label], REASON: f"{label} rank {rank} ({why})"},
            )
            for rank, (document, score, why) in enumerate(found, 1)
        ]

    def _label(self) -> str:
        raise NotImplementedError

    def _search(self, query: str, k: int, allowed: Allowed) -> list[tuple[int, float, str]]:
        """Return row, score in [0, 1] and the reason of each hit, best first."""
        raise NotImplementedError


class DenseRetriever(_Branch):
    """Find chunks by meaning; ``score`` is the cosine similarity, negative ones as 0.

    Example:
        ``DenseRetriever(index=index, k=20, as_of="2024-06-30").invoke("What drove gross margin?")``
    """

    def _label(self) -> str:
        return "dense"

    def _search(self, query: str, k: int, allowed: Allowed) -> list[tuple[int, float, str]]:
        hits = self.index.dense_search(query, k, allowed)
        return [(row, min(max(score, 0.0), 1.0), f"cosine {score:.3f}") for row, score in hits]


class KeywordRetriever(_Branch):
    """Find chunks that share words with the question; ``score`` is BM25 relative to the best hit.

    Example:
        ``KeywordRetriever(index=index, k=20).invoke("ASC 842 lease liabilities")``
    """

    def _label(self) -> str:
        return "keyword"

    def _search(self, query: str, k: int, allowed: Allowed) -> list[tuple[int, float, str]]:
        hits = self.index.keyword_search(query, k, allowed)
        best = hits[0][1] if hits else 1.0
        return [(row, score / best, f"BM25 {score:.3f}") for row, score in hits]


class StoreRetriever(_Branch):
    """Find chunks with any LangChain vector store that :func:`fill_store` filled, in place of Chroma.

    The store only ranks: text and metadata come from the index, and so does the scope. Stores speak
    many filter dialects and some cut before they filter; so the store is asked for more until ``k`` allowed
    chunks are found or it has no more, which gives what a filter before scoring would. ``score`` is 1/rank,
    since stores disagree on what a score is.

    Attributes:
        vector_store: a store whose Documents have the chunks' ids.
    """

    vector_store: VectorStore

    def _label(self) -> str:
        return "store"

    def _search(self, query: str, k: int, allowed: Allowed) -> list[tuple[int, float, str]]:
        permitted = {int(row) for row in allowed.rows}
        asked = k if allowed.everything else _OVERFETCH * k
        while True:
            hits = self.vector_store.similarity_search(query, k=asked)
            rows = self.index.rows_by_id(str(hit.id) for hit in hits)
            order = dict.fromkeys(rows[str(hit.id)] for hit in hits if str(hit.id) in rows)
            kept = [row for row in order if row in permitted]
            if len(kept) >= min(k, len(permitted)) or len(hits) < asked:
                break
            asked *= _OVERFETCH
        unknown = len({str(hit.id) for hit in hits} - rows.keys())
        if unknown:
            logger.warning("%d hits of the vector store are not in the index; fill the store again.", unknown)
        return [(row, 1 / rank, "vector store") for rank, row in enumerate(kept[:k], 1)]


def fill_store(
    index: FilingIndex,
    vector_store: VectorStore,
    *,
    filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
    session_id: str | None = None,
) -> int:
    """Put the chunks of an index into another vector store and return their number.

    Each is stored as context header and body under its own id, so that filling twice replaces. The store
    embeds with its own model; a document that is private to another session is left out.

    Example:
        ``fill_store(index, InMemoryVectorStore(embeddings))``
    """
    rows = [int(row) for row in index.resolve(filter, session_id=session_id).rows]
    for at in range(0, len(rows), _FILL_BATCH):
        chunks = index.fetch(rows[at : at + _FILL_BATCH])
        documents = [_as_embedded(chunks[row]) for row in sorted(chunks)]
        vector_store.add_documents(documents, ids=[str(document.id) for document in documents])
    return len(rows)


def _as_embedded(chunk: Document) -> Document:
    header = str(chunk.metadata.get(CONTEXT_HEADER, ""))
    text = f"{header}\n\n{chunk.page_content}" if header else chunk.page_content
    return Document(id=chunk.id, page_content=text, metadata={DOC_ID: chunk.metadata[DOC_ID]})
