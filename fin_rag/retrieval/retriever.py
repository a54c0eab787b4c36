"""The LangChain retriever over a ``FilingIndex``."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from fin_rag.errors import InputError
from fin_rag.index.filters import date_number, parse_filter
from fin_rag.index.store import FilingIndex
from fin_rag.retrieval.fusion import Fused, reciprocal_rank_fusion
from fin_rag.schema import FILED, FOUND_BY, RANK, REASON, SCORE

DENSE = "dense"
KEYWORD = "keyword"
_LEAST_POOL = 50


class FinancialRetriever(BaseRetriever):
    """Find evidence by meaning and by words, under a filter that holds in both.

    The filter, ``as_of`` and ``session_id`` are resolved once and applied before anything is scored. A
    call may give further ones; they narrow those of the retriever and never widen them. Results
    are Documents with the chunk's metadata plus ``score`` (0 to 1, 1 is first in every search),
    ``rank`` (1-based), ``found_by`` and ``reason``.

    Attributes:
        index: the index to search.
        k: how many results to return.
        filter: metadata that results must have, such as ``{"ticker": "ACME", "fiscal_year": 2024}``.
        as_of: a day; only documents filed by its end are known. Documents without ``filed`` are not.
        session_id: lets the private documents of that session in.
        weights: weight of the search by meaning and of the search by words.

    Raises:
        InputError: if a filter is malformed, ``k`` is not positive, or a call names another session.

    Example:
        ``retriever = index.retriever(k=5, filter={"ticker": "ACME"})``, then
        ``retriever.invoke("What drove gross margin?", as_of="2024-06-30")``
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    index: FilingIndex
    k: int = Field(default=5, ge=1)
    filter: Mapping[str, Any] | None = None
    as_of: int | str | datetime.date | None = None
    session_id: str | None = None
    weights: tuple[float, float] = (0.6, 0.4)

    @field_validator("filter")
    @classmethod
    def _well_formed(cls, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        parse_filter(value)
        return value

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # part of LangChain's signature
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: int | str | datetime.date | None = None,
        session_id: str | None = None,
    ) -> list[Document]:
        wanted = self.k if k is None else k
        if wanted < 1:
            raise InputError(f"'k' of FinancialRetriever must be at least 1. Got {wanted}.")
        if session_id and self.session_id and session_id != self.session_id:
            raise InputError("This retriever belongs to another session. Make one for the session asked.")
        allowed = self.index.resolve(
            _both(self.filter, filter),
            as_of=_earlier(self.as_of, as_of),
            session_id=self.session_id or session_id,
        )
        pool = max(_LEAST_POOL, 4 * wanted)
        runs = {}
        if self.weights[0] > 0:
            runs[DENSE] = self.index.dense_search(query, pool, allowed)
        if self.weights[1] > 0:
            runs[KEYWORD] = self.index.keyword_search(query, pool, allowed)
        fused = reciprocal_rank_fusion(runs, {DENSE: self.weights[0], KEYWORD: self.weights[1]})[:wanted]
        documents = self.index.fetch(hit.row for hit in fused)
        found = [(documents[hit.row], hit) for hit in fused if hit.row in documents]
        return [_result(document, hit, rank) for rank, (document, hit) in enumerate(found, 1)]


def _both(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if first and second:
        return {"$and": [first, second]}
    return first or second


def _earlier(first: int | str | datetime.date | None, second: int | str | datetime.date | None) -> int | None:
    days = [date_number(FILED, day) for day in (first, second) if day is not None]
    return min(days) if days else None


def _result(document: Document, hit: Fused, rank: int) -> Document:
    found = [f"{name} rank {hit.ranks[name]} ({hit.scores[name]:.3f})" for name in sorted(hit.ranks)]
    added = {
        SCORE: round(hit.score, 6),
        RANK: rank,
        FOUND_BY: sorted(hit.ranks),
        REASON: ", ".join(found),
    }
    return document.model_copy(update={"metadata": {**document.metadata, **added}})
