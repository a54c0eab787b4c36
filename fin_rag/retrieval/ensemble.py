"""LangChain's ensemble, keeping what it would lose: scores, reasons, twins, and the arguments of a call."""

from __future__ import annotations

from typing import Any

from langchain_classic.retrievers.ensemble import EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig

from fin_rag.errors import InputError
from fin_rag.retrieval.scope import with_result
from fin_rag.schema import CHUNK_ID, FOUND_BY, RANK, REASON, SCORE


class HybridEnsemble(EnsembleRetriever):
    """Fuse retrievers by rank, as ``EnsembleRetriever`` does, by the identity of chunks.

    What differs: results carry ``score`` (1 means first everywhere), ``rank``, ``found_by`` and ``reason`` of
    every member that found them; ties are broken by id; arguments of a call (``as_of``, ``session_id``,
    ``filter``, ``k``) reach every member instead of being dropped without a word.

    Attributes:
        id_key: metadata key that tells results apart; ``chunk_id`` here, never the text.

    Raises:
        InputError: if a result lacks the key.

    Example:
        ``HybridEnsemble(retrievers=[dense, keyword], weights=[0.6, 0.4]).invoke("net debt", as_of="2024-06-30")``
    """

    id_key: str | None = CHUNK_ID

    def invoke(
        self,
        input: str,  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401  # arguments of the members
    ) -> list[Document]:
        """Return the fused results; further arguments go to every member."""
        return EnsembleRetriever.invoke(self._given(kwargs), input, config)

    async def ainvoke(
        self,
        input: str,  # noqa: A002  # LangChain's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401  # arguments of the members
    ) -> list[Document]:
        """Return the fused results; further arguments go to every member."""
        return await EnsembleRetriever.ainvoke(self._given(kwargs), input, config)

    def _given(self, kwargs: dict[str, Any]) -> HybridEnsemble:
        if not kwargs:
            return self
        return self.model_copy(update={"retrievers": [member.bind(**kwargs) for member in self.retrievers]})

    def weighted_reciprocal_rank(self, doc_lists: list[list[Document]]) -> list[Document]:
        """Fuse ranked lists; a result's score is the weighted sum of 1 / (c + rank), divided by the best possible."""
        first: dict[str, Document] = {}
        score: dict[str, float] = {}
        names: dict[str, list[str]] = {}
        reasons: dict[str, list[str]] = {}
        for number, (documents, weight) in enumerate(zip(doc_lists, self.weights, strict=True), 1):
            for rank, document in enumerate(documents, 1):
                key = self._key(document)
                first.setdefault(key, document)
                score[key] = score.get(key, 0.0) + weight / (self.c + rank)
                member = document.metadata.get(FOUND_BY) or [f"retriever {number}"]
                names.setdefault(key, []).extend(member)
                reasons.setdefault(key, []).append(str(document.metadata.get(REASON) or f"{member[0]} rank {rank}"))
        best = sum(self.weights) / (self.c + 1)
        order = sorted(first, key=lambda key: (-score[key], key))
        return [
            with_result(
                first[key],
                **{
                    SCORE: round(score[key] / best, 6),
                    RANK: rank,
                    FOUND_BY: sorted(set(names[key])),
                    REASON: ", ".join(reasons[key]),
                },
            )
            for rank, key in enumerate(order, 1)
        ]

    def _key(self, document: Document) -> str:
        key = self.id_key or CHUNK_ID
        value = document.metadata.get(key) or (document.id if key == CHUNK_ID else None)
        if not value:
            raise InputError(
                f"A result of the ensemble has no {key!r} in its metadata, so twins cannot be told apart. "
                "Use the retrievers of this package, or give 'id_key' a key that all results have."
            )
        return str(value)
