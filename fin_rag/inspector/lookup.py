"""What the viewer shows of an index, as plain data: documents, searches step by step, lines, figure checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.answers.verify import verify_figures
from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts.store import FILE_NAME, FactStore
from fin_rag.index.catalogue import Allowed
from fin_rag.index.store import FilingIndex
from fin_rag.index.vectors import Scored
from fin_rag.inspector.page import inspect_page
from fin_rag.retrieval.anchors.explain import explain_lines
from fin_rag.retrieval.retriever import FinancialRetriever
from fin_rag.retrieval.search import PARTS
from fin_rag.schema import (
    CHUNK_INDEX,
    CONTEXT_HEADER,
    DOC_ID,
    DOC_TYPE,
    FILED,
    FISCAL_YEAR,
    FOUND_BY,
    ISSUER,
    KIND,
    LANG,
    PAGE,
    PAGE_END,
    PAGE_MAP,
    REASON,
    SCORE,
    SECTION_PATH,
    SPANS,
    TITLE,
    TOKEN_COUNT,
    Outline,
    SourceDocument,
    parse_spans,
)
from fin_rag.splitters.kinds import splitter_for

_DETECTED: Final = 12  # hits shown of each detector
_FUSED: Final = 20
_PARENT_CHARS: Final = 4000
_MOST_PAGES: Final = 8  # document pages that are kept
_RICH: Final = ("earnings_call", "regulation")  # kinds whose stored outline says less than the document
_RESULT: Final = (
    DOC_ID, CONTEXT_HEADER, SECTION_PATH, SPANS, PAGE, PAGE_END, KIND, TOKEN_COUNT, CHUNK_INDEX, SCORE, FOUND_BY,
    REASON, TITLE, "children",
)  # fmt: skip
_LISTED: Final = (DOC_ID, TITLE, ISSUER, DOC_TYPE, FISCAL_YEAR, FILED, LANG, "chunks")


@dataclass(frozen=True, slots=True)
class Request:
    """Hold what a search asks for.

    ``k`` is the number of results, ``max_tokens`` the budget of the packed context. ``filter`` and ``as_of`` hold in
    every step.
    """

    question: str
    k: int = 8
    max_tokens: int = 1500
    filter: Mapping[str, Any] | None = None
    as_of: str | None = None

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Request:
        """Read a request from JSON values.

        Raises:
            InputError: if a value is of the wrong type or out of range.
        """
        question, wanted = given.get("question"), given.get("filter") or None
        if not isinstance(question, str) or not question.strip():
            raise InputError("A search needs a 'question'. Type one.")
        if wanted is not None and not isinstance(wanted, dict):
            raise InputError(f"'filter' must be a JSON object. Got {wanted!r}.")
        as_of = given.get("as_of") or None
        if as_of is not None and not isinstance(as_of, str):
            raise InputError(f"'as_of' must be a day such as 2024-06-30. Got {as_of!r}.")
        k, budget = (_whole(given, name, at) for name, at in (("k", 8), ("max_tokens", 1500)))
        return cls(question.strip(), k, budget, wanted, as_of)


@dataclass(frozen=True, slots=True)
class Side:
    """Name one way to search: an index, with or without the plan, and parts that are switched off."""

    index: str
    plan: bool = True
    without: tuple[str, ...] = ()


def _whole(given: Mapping[str, Any], name: str, default: int) -> int:
    value = given.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 100_000:
        raise InputError(f"{name!r} must be a whole number from 1 to 100000. Got {value!r}.")
    return value


@dataclass(slots=True)
class Viewer:
    """Answer what the pages ask about one index or two.

    Args:
        indexes: the indexes by the names that the page shows.
        session_id: lets the private documents of that session in.
    """

    indexes: Mapping[str, FilingIndex]
    session_id: str | None = None
    _pages: dict[tuple[object, ...], str] = field(default_factory=dict)
    _stores: dict[str, FactStore | None] = field(default_factory=dict)

    def about(self) -> dict[str, Any]:
        """Return the indexes with their documents, and the names of the parts of a search."""
        return {
            "parts": list(PARTS),
            "indexes": [
                {
                    "name": name,
                    "folder": str(index.folder),
                    "chunks": index.chunk_count,
                    "documents": [_only(one, _LISTED) for one in index.documents(session_id=self.session_id)],
                }
                for name, index in self.indexes.items()
            ],
        }

    def search(self, request: Request, side: Side) -> dict[str, Any]:
        """Return a search step by step: plan, detectors, fused order, parents, packed context."""
        index, retriever = self._index(side.index), self._retriever(request, side)
        explained = retriever.explain(request.question) if side.plan else {}
        fused = retriever.invoke(request.question, k=max(_FUSED, request.k))
        parents: list[Document] = []
        packed = fused[: request.k]
        if side.plan:
            wide = retriever.model_copy(update={"parent_chars": _PARENT_CHARS})
            parents = wide.invoke(request.question, k=request.k)
            packed = retriever.retrieve(request.question, max_tokens=request.max_tokens)
        count = index.tokenization.count
        sizes = [count(one.page_content, header=str(one.metadata.get(CONTEXT_HEADER, ""))) for one in packed]
        return {
            "index": side.index,
            "plan": explained,
            "documents": self._chosen(index, explained),
            "detectors": self._detectors(index, request, explained),
            "fused": [_result(one) for one in fused],
            "parents": [_result(one) for one in parents],
            "packed": [{**_result(one), "size": size} for one, size in zip(packed, sizes, strict=True)],
            "used": sum(sizes),
            "budget": request.max_tokens if side.plan else None,
        }

    def verify(self, request: Request, side: Side, answer: str) -> dict[str, Any]:
        """Check the figures of an answer against the packed context of a search, and the facts of the index."""
        retriever = self._retriever(request, side)
        if side.plan:
            evidence = retriever.retrieve(request.question, max_tokens=request.max_tokens)
        else:
            evidence = retriever.invoke(request.question)
        report = verify_figures(answer, evidence, self._facts(side.index)).record()
        return {**report, "evidence": [_result(one) for one in evidence]}

    def lines(self, index: str, question: str, doc_id: str, spans: str) -> dict[str, Any]:
        """Return the lines of a result with their share in the hit."""
        result = Document(page_content="", metadata={DOC_ID: doc_id, SPANS: spans})
        found = explain_lines(self._index(index), question, result, session_id=self.session_id)
        return {"maximum": found.maximum, "density": found.density, "lines": found.rows()}

    def page(self, index: str, doc_id: str, spans: str = "") -> str:
        """Return the page of a document of an index, with the spans marked.

        Raises:
            NotFoundError: if there is no such index or document.
        """
        store = self._index(index)
        key = (index, store.state(), doc_id, spans)
        if key not in self._pages:
            while len(self._pages) >= _MOST_PAGES:
                del self._pages[next(iter(self._pages))]
            self._pages[key] = self._document_page(store, doc_id, spans)
        return self._pages[key]

    def close(self) -> None:
        """Close the facts that were opened; the indexes are the caller's."""
        for store in self._stores.values():
            if store is not None:
                store.close()
        self._stores.clear()

    # --- inside -------------------------------------------------------------------------------

    def _index(self, name: str) -> FilingIndex:
        if name not in self.indexes:
            raise NotFoundError(f"There is no index {name!r} here. Known: {', '.join(self.indexes)}.")
        return self.indexes[name]

    def _facts(self, name: str) -> FactStore | None:
        if name not in self._stores:
            folder = self._index(name).folder
            known = (folder / FILE_NAME).is_file()
            self._stores[name] = FactStore.open(folder, create=False) if known else None
        return self._stores[name]

    def _retriever(self, request: Request, side: Side) -> FinancialRetriever:
        return self._index(side.index).retriever(
            k=request.k,
            filter=request.filter,
            as_of=request.as_of,
            session_id=self.session_id,
            plan=side.plan,
            without=side.without,
        )

    def _chosen(self, index: FilingIndex, explained: Mapping[str, Any]) -> list[dict[str, Any]]:
        weights = explained.get("documents", {})
        known = dict(index.numbered_documents(session_id=self.session_id))
        chosen = [(float(weight), int(number)) for number, weight in weights.items() if int(number) in known]
        chosen.sort(key=lambda one: (-one[0], one[1]))
        return [{**_only(known[number], _LISTED), "weight": weight} for weight, number in chosen]

    def _detectors(self, index: FilingIndex, request: Request, explained: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the first hits of each detector alone, within the documents that the plan chose."""
        scope = index.resolve(request.filter, as_of=request.as_of, session_id=self.session_id)
        if explained:
            scope = index.narrow(scope, [int(number) for number in explained["documents"]])
        text = str(explained.get("plan", {}).get("search") or request.question)
        runs = {
            "by meaning": index.dense_search(text, _DETECTED, scope),
            "by words": index.keyword_search(text, _DETECTED, scope) if len(scope.rows) else [],
            "by section title": index.title_search(text, _DETECTED, scope) if len(scope.rows) else [],
        }
        return [{"name": name, "hits": _hits(index, run, scope)} for name, run in runs.items()]

    def _document_page(self, index: FilingIndex, doc_id: str, spans: str) -> str:
        view = index.view(doc_id, session_id=self.session_id)
        metadata = {**view.metadata, PAGE_MAP: view.pages.format()}
        whole = SourceDocument(page_content=view.text, metadata=metadata)
        outline = Outline(view.sections)
        if view.metadata.get(DOC_TYPE) in _RICH:
            outline = splitter_for(whole, tokenization=index.tokenization).outline(whole)
        rows = index.rows_in(view.number)
        chunks = index.fetch(rows)
        return inspect_page(
            whole,
            outline,
            [chunks[row] for row in rows if row in chunks],
            max_tokens=index.config.max_tokens,
            highlights=parse_spans(spans),
        )


def _hits(index: FilingIndex, run: Scored, scope: Allowed) -> list[dict[str, Any]]:
    permitted = {int(row) for row in scope.rows}
    found = index.fetch(row for row, _ in run)
    return [
        {**_result(found[row]), SCORE: round(float(score), 4)}
        for row, score in run
        if row in found and row in permitted
    ]


def _result(document: Document) -> dict[str, Any]:
    return {"id": document.id, "text": document.page_content, **_only(document.metadata, _RESULT)}


def _only(record: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: record[key] for key in keys if key in record}
