"""What a retriever over an index may see, resolved the same way everywhere."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import ConfigDict, Field, field_validator

from fin_rag.errors import InputError
from fin_rag.index.catalogue import Allowed
from fin_rag.index.filters import date_number, parse_filter
from fin_rag.index.store import FilingIndex
from fin_rag.schema import CHUNK_ID, DOC_ID, FILED, PARENT_END, PARENT_ID, PARENT_START, RANK

Day: TypeAlias = int | str | datetime.date


class ScopedRetriever(BaseRetriever):
    """Hold an index and the scope of what may be found in it; base of the retrievers of this package.

    A call may give a further ``filter``, ``as_of`` and ``session_id``: they narrow the retriever's own and
    never widen them.

    Attributes:
        index: the index to search.
        k: how many results to return.
        filter: metadata that results must have, such as ``{"ticker": "ACME", "fiscal_year": 2024}``.
        as_of: a day; only documents filed by its end are known. Documents without ``filed`` are not.
        session_id: lets the private documents of that session in.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: FilingIndex
    k: int = Field(default=5, ge=1)
    filter: Mapping[str, Any] | None = None
    as_of: Day | None = None
    session_id: str | None = None

    @field_validator("filter")
    @classmethod
    def _well_formed(cls, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        parse_filter(value)
        return value

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,  # noqa: ANN401  # arguments of the call, which LangChain's own default refuses
    ) -> list[Document]:
        return await run_in_executor(
            None, self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **kwargs
        )

    def allowed(
        self,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> Allowed:
        """Resolve the retriever's own scope together with that of a call.

        Raises:
            InputError: if the call names another session than the retriever.
        """
        if session_id and self.session_id and session_id != self.session_id:
            raise InputError("This retriever belongs to another session. Make one for the session asked.")
        return self.index.resolve(
            both_filters(self.filter, filter),
            as_of=earlier_day(self.as_of, as_of),
            session_id=self.session_id or session_id,
        )

    def wanted(self, k: int | None) -> int:
        """Return the number of results that a call asks for.

        Raises:
            InputError: if it is not positive.
        """
        chosen = self.k if k is None else k
        if chosen < 1:
            raise InputError(f"'k' of {type(self).__name__} must be at least 1. Got {chosen}.")
        return chosen


def both_filters(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return a filter that both filters must let through."""
    if first and second:
        return {"$and": [first, second]}
    return first or second


def earlier_day(first: Day | None, second: Day | None) -> int | None:
    """Return the earlier of two days as YYYYMMDD; ``None`` if neither is given."""
    days = [date_number(FILED, day) for day in (first, second) if day is not None]
    return min(days) if days else None


def parent_key(doc_id: str, start: int, end: int) -> str:
    """Name a parent passage: the document and the span of its canonical text.

    Example:
        >>> parent_key("0000320193-24-000123", 1577, 9120)
        '0000320193-24-000123#1577-9120'
    """
    return f"{doc_id}#{start}-{end}"


def identified(document: Document) -> Document:
    """Return a chunk with its own id and its parent's in the metadata, for LangChain's ``id_key``.

    LangChain merges results by a metadata key; by default it compares texts, and then the same sentence of
    two years becomes one.
    """
    metadata = document.metadata
    added: dict[str, object] = {CHUNK_ID: document.id}
    if PARENT_START in metadata:
        added[PARENT_ID] = parent_key(str(metadata[DOC_ID]), metadata[PARENT_START], metadata[PARENT_END])
    return document.model_copy(update={"metadata": {**metadata, **added}})


def with_result(document: Document, **added: object) -> Document:
    """Return a copy of a document with result keys added; the given one stays as it is."""
    return document.model_copy(update={"metadata": {**document.metadata, **added}})


def reranked(documents: list[Document]) -> list[Document]:
    """Return copies whose ``rank`` counts from 1 in the order given."""
    return [with_result(document, **{RANK: rank}) for rank, document in enumerate(documents, 1)]
