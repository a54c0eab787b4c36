"""The LangChain retriever over a ``FilingIndex``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from pydantic import Field, PrivateAttr, field_validator

from fin_rag.errors import InputError
from fin_rag.index.catalogue import Allowed
from fin_rag.index.consistent import consistent
from fin_rag.query import Lexicon, Library
from fin_rag.retrieval.evidence import Evidence
from fin_rag.retrieval.fusion import Fused, reciprocal_rank_fusion
from fin_rag.retrieval.packing import pack
from fin_rag.retrieval.parents import with_parents
from fin_rag.retrieval.scope import Day, ScopedRetriever, identified, with_result
from fin_rag.retrieval.search import DENSE, KEYWORD, PARTS, Found, Searcher, explained
from fin_rag.schema import FOUND_BY, RANK, REASON, SCORE

_LEAST_POOL = 50
_CHARACTERS_A_TOKEN = 3  # of figures; only to clip, the count itself is exact


class FinancialRetriever(ScopedRetriever):
    r"""Find evidence in filings and reports.

    The question is read first: issuers, periods, kinds of documents, metrics, topics, clauses, comparisons. What it
    says becomes a filter on documents, searches by meaning, words and section titles, and a route from metrics to the
    statements that print them; results are ranked by what stands together in one line. No model but the index's
    own embeddings is called.

    ``filter``, ``as_of`` and ``session_id`` are hard: resolved once, applied before anything is scored, never
    widened; those of a call narrow those of the retriever. What is derived from the question is given up in
    the open where it leaves nothing (see :meth:`explain`), except the issuer: a question about a company that the
    index does not hold finds nothing.

    Results are Documents with the chunk's metadata plus ``score`` (0 to 1), ``rank`` (1-based), ``found_by`` and
    ``reason``. A statement comes as one Document with its spans.

    Attributes:
        index: the index to search.
        k: how many results to return.
        filter: metadata that results must have, such as ``{"ticker": "ACME", "fiscal_year": 2024}``.
        as_of: a day; only documents filed by its end are known. Documents without ``filed`` are not.
        session_id: lets the private documents of that session in.
        weights: weight of the search by meaning and of the search by words.
        plan: read the question; without it the two searches are fused by rank and that is all.
        without: parts that are switched off, of ``fin_rag.retrieval.search.PARTS``.
        lexicon: the user's own terms.
        parent_chars: return the section, turn, article or note around each hit instead, grown outward to at most about
            this many characters; hits that share one are merged and listed as ``children``.

    Raises:
        InputError: if a filter is malformed, ``k`` is not positive, or a call names another session.

    Example:
        >>> import tempfile
        >>> from fin_rag import FilingIndex
        >>> index = FilingIndex.open(tempfile.mkdtemp())
        >>> letter = "# Letter\n\n## Sales\n\nNet sales were $5 million.\n\n## Audit\n\nOur auditor is Voss LLP."
        >>> _ = index.add(Document(page_content=letter, metadata={"filed": 20320301}))
        >>> retriever = index.retriever(k=1)
        >>> retriever.invoke("What were net sales?", as_of="2032-12-31")[0].metadata["section_path"]
        'Sales'
        >>> retriever.invoke("What were net sales?", as_of="2031-12-31")
        []
        >>> index.close()
    """

    weights: tuple[float, float] = (0.6, 0.4)
    plan: bool = True
    without: tuple[str, ...] = ()
    lexicon: Lexicon | None = None
    parent_chars: int | None = Field(default=None, ge=1)

    _lock: Any = PrivateAttr(default_factory=Lock)
    _libraries: dict[Any, Library] = PrivateAttr(default_factory=dict)

    @field_validator("without")
    @classmethod
    def _known_parts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        unknown = sorted(set(value) - set(PARTS))
        if unknown:
            raise InputError(f"Unknown parts in 'without': {unknown}. Known: {', '.join(PARTS)}.")
        return value

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
        if not self.plan:
            return self._plain(query, wanted, allowed)
        found = self._search(query, allowed, self.session_id or session_id)
        if self.parent_chars is not None:
            return _numbered(with_parents(found.evidence, self.parent_chars, wanted))
        return _numbered(found.evidence[:wanted])

    @consistent
    def retrieve(
        self,
        question: str,
        *,
        max_tokens: int | None = None,
        max_chars: int | None = None,
        headers: bool = False,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> list[Document]:
        """Return the best evidence whose texts, joined by blank lines, stay within a budget.

        Args:
            question: as it was typed.
            max_tokens: budget in tokens of the index's tokenization, each text with its context header.
            max_chars: budget in characters of the texts, or of texts and headers.
            headers: count each text's context header and a blank line in ``max_chars``.
            filter: as in ``invoke``.
            as_of: as in ``invoke``.
            session_id: as in ``invoke``.

        Raises:
            InputError: unless exactly one budget is given, of at least 1.

        Example:
            ``retriever.retrieve("What was ACME's quick ratio in FY2023?", max_chars=4000)``
        """
        if (max_tokens is None) == (max_chars is None) or (max_tokens or max_chars or 0) < 1:
            raise InputError(
                "'retrieve' needs either 'max_tokens' or 'max_chars', at least 1. "
                f"Got max_tokens={max_tokens!r}, max_chars={max_chars!r}."
            )
        allowed = self.allowed(filter, as_of, session_id)
        found = self._search(question, allowed, self.session_id or session_id)
        if max_chars is not None:
            size = partial(_size, headers=headers)
            return _numbered(pack(found.evidence, found.items, max_chars, size, max_chars))
        tokens = max_tokens or 0
        count = self.index.tokenization.count

        def measure(one: Evidence) -> int:
            return count(one.text, header=one.header)

        return _numbered(pack(found.evidence, found.items, tokens, measure, tokens * _CHARACTERS_A_TOKEN))

    @consistent
    def explain(
        self,
        question: str,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> Mapping[str, object]:
        """Return how a question is read, as plain data: plan, documents chosen, reasons, filters given up."""
        allowed = self.allowed(filter, as_of, session_id)
        return explained(self._search(question, allowed, self.session_id or session_id))

    # --- inside ----------------------------------------------------------------------------------

    def _search(self, question: str, allowed: Allowed, session: str | None) -> Found:
        searcher = Searcher(self.index, weights=self.weights, without=self.without, lexicon=self.lexicon)
        return searcher.search(question, self._library(session), allowed, self.index.resolve(session_id=session))

    def _library(self, session: str | None) -> Library:
        """Return what the index holds, read again only when documents came or went."""
        key = (self.index.state(), session)
        with self._lock:
            known = self._libraries.get(key)
        if known is None:
            known = Library(self.index.numbered_documents(session_id=session))
            with self._lock:
                if len(self._libraries) > 8:
                    self._libraries.clear()
                self._libraries[key] = known
        return known

    def _plain(self, query: str, wanted: int, allowed: Allowed) -> list[Document]:
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


def _size(one: Evidence, *, headers: bool) -> int:
    return one.size + (len(one.header) + 2 if headers else 0)


def _numbered(evidence: Sequence[Evidence]) -> list[Document]:
    """Return results whose scores never rise: groups and statements take their places by rule, not by score."""
    documents = [identified(one.document(rank)) for rank, one in enumerate(evidence, 1)]
    least = 1.0
    for document in documents:
        least = min(least, document.metadata[SCORE])
        document.metadata[SCORE] = least
    return documents


def _result(document: Document, hit: Fused, rank: int) -> Document:
    found = [f"{name} rank {hit.ranks[name]} ({hit.scores[name]:.3f})" for name in sorted(hit.ranks)]
    added = {
        SCORE: round(hit.score, 6),
        RANK: rank,
        FOUND_BY: sorted(hit.ranks),
        REASON: ", ".join(found),
    }
    return with_result(identified(document), **added)
