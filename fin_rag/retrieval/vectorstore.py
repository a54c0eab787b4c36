"""A LangChain vector store view of the index, for LangChain's own retrievers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore

from fin_rag.errors import InputError
from fin_rag.index.consistent import consistent
from fin_rag.index.store import FilingIndex
from fin_rag.retrieval.diversity import maximal_marginal_relevance
from fin_rag.retrieval.scope import Day, both_filters, earlier_day, identified

_READ_ONLY = "This view of an index is read only. Take documents in with FilingIndex.add()."


class IndexVectorStore(VectorStore):
    """Search the vectors of an index through LangChain's ``VectorStore`` interface, under a hard scope.

    Results are chunks with ``chunk_id`` and ``parent_id`` in their metadata. A ``filter`` given to a search
    narrows that of the view.

    Example:
        ``MultiVectorRetriever(vectorstore=IndexVectorStore(index), docstore=IndexDocstore(index),
        id_key="parent_id", search_type="mmr")``
    """

    def __init__(
        self,
        index: FilingIndex,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> None:
        self.index = index
        self.filter = filter
        self.as_of = as_of
        self.session_id = session_id

    @property
    def embeddings(self) -> Embeddings:
        """Return the model of the index."""
        return self.index.embeddings

    @consistent
    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
    ) -> list[tuple[Document, float]]:
        """Return the ``k`` nearest chunks with their cosine similarity, best first."""
        allowed = self.index.resolve(
            both_filters(self.filter, filter), as_of=earlier_day(self.as_of, as_of), session_id=self.session_id
        )
        hits = self.index.dense_search(query, k, allowed)
        documents = self.index.fetch(row for row, _ in hits)
        return [(identified(documents[row]), score) for row, score in hits if row in documents]

    def similarity_search(
        self,
        query: str,
        k: int = 4,
        **kwargs: Any,  # noqa: ANN401  # part of LangChain's signature
    ) -> list[Document]:
        """Return the ``k`` nearest chunks, best first."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        **kwargs: Any,  # noqa: ANN401  # part of LangChain's signature
    ) -> list[Document]:
        """Return ``k`` chunks that are near the question and unlike each other, out of the ``fetch_k`` nearest."""
        with self.index.snapshot():
            scored = self.similarity_search_with_score(query, max(fetch_k, k), **kwargs)
            documents = [document for document, _ in scored]
            rows = self.index.rows_by_id(str(document.id) for document in documents)
            vectors = self.index.vectors_of([rows[str(document.id)] for document in documents])
        chosen = maximal_marginal_relevance([score for _, score in scored], vectors, k, lambda_mult)
        return [documents[i] for i in chosen]

    @consistent
    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the chunks with these ids that are in scope, in the order of ``ids``."""
        rows = self.index.rows_by_id(ids)
        allowed = self.index.resolve(self.filter, as_of=self.as_of, session_id=self.session_id)
        permitted = {int(row) for row in allowed.rows}
        documents = self.index.fetch(row for row in rows.values() if row in permitted)
        return [identified(documents[rows[one]]) for one in ids if rows.get(one) in documents]

    def _select_relevance_score_fn(self) -> Callable[[float], float]:
        return lambda cosine: min(max(cosine, 0.0), 1.0)

    def add_texts(
        self,
        texts: Iterable[str],  # noqa: ARG002
        metadatas: list[dict[str, Any]] | None = None,  # noqa: ARG002
        *,
        ids: list[str] | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> NoReturn:
        """Refuse: documents come in through ``FilingIndex.add``.

        Raises:
            InputError: always.
        """
        raise InputError(_READ_ONLY)

    @classmethod
    def from_texts(
        cls,
        texts: list[str],  # noqa: ARG003
        embedding: Embeddings,  # noqa: ARG003
        metadatas: list[dict[str, Any]] | None = None,  # noqa: ARG003
        *,
        ids: list[str] | None = None,  # noqa: ARG003
        **kwargs: Any,  # noqa: ANN401, ARG003
    ) -> NoReturn:
        """Refuse, as :meth:`add_texts` does.

        Raises:
            InputError: always.
        """
        raise InputError(_READ_ONLY)
