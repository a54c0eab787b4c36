"""MMR as a LangChain compressor over the fused pool, with the vectors that the index already has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field

from fin_rag.index.store import FilingIndex
from fin_rag.retrieval.diversity import maximal_marginal_relevance
from fin_rag.retrieval.repeats import group_repeats, mark_repeats
from fin_rag.schema import CHUNK_ID, SCORE


class MmrCompressor(BaseDocumentCompressor):
    """Choose results that are relevant and unlike each other, out of what was found.

    Relevance is the ``score`` of the Documents (their place where they have none), likeness the cosine of their
    vectors. A passage that other documents repeat word for word competes once: its repeats come after everything
    else, and are named in ``same_text``; a year is not crowded out without a trace.

    Attributes:
        index: the index that the chunks come from.
        k: how many to return; ``None`` orders all.
        fetch_k: how many of the first are looked at; the others are left out.
        lambda_mult: 1 looks at relevance alone, 0 at difference alone.

    Example:
        ``assemble(index, fetch_k=50, compressor=MmrCompressor(index=index, lambda_mult=0.7))``
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    index: FilingIndex
    k: int | None = Field(default=None, ge=1)
    fetch_k: int = Field(default=50, ge=1)
    lambda_mult: float = Field(default=0.7, ge=0, le=1)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002  # part of LangChain's signature
        callbacks: Callbacks | None = None,  # noqa: ARG002  # part of LangChain's signature
    ) -> list[Document]:
        """Return copies in the order chosen."""
        pool = list(documents[: self.fetch_k])
        if not pool:
            return []
        groups = group_repeats([document.page_content for document in pool])
        marked = mark_repeats(pool, groups)
        leaders = [group[0] for group in groups]
        wanted = len(pool) if self.k is None else self.k
        relevance = [_relevance(pool[i], i) for i in leaders]
        chosen = maximal_marginal_relevance(
            relevance, self._vectors([pool[i] for i in leaders]), wanted, self.lambda_mult
        )
        repeats = sorted(position for group in groups for position in group[1:])
        return [marked[i] for i in [*(leaders[c] for c in chosen), *repeats][:wanted]]

    def _vectors(self, documents: Sequence[Document]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        ids = [str(document.metadata.get(CHUNK_ID) or document.id) for document in documents]
        rows = self.index.rows_by_id(ids)
        if all(one in rows for one in ids):
            return self.index.vectors_of([rows[one] for one in ids])
        return self.index.embed([self.index.prepared(document) for document in documents])


def _relevance(document: Document, position: int) -> float:
    score = document.metadata.get(SCORE)
    return float(score) if isinstance(score, int | float) else 1.0 / (1 + position)
