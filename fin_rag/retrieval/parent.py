"""Parents: chunks are found, the passages that they stand in are returned."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import RetrieverLike
from pydantic import Field

from fin_rag.errors import NotFoundError
from fin_rag.index.catalogue import Allowed
from fin_rag.index.consistent import consistent
from fin_rag.index.view import DocumentView
from fin_rag.retrieval.docstore import passage_of
from fin_rag.retrieval.scope import Day, ScopedRetriever, reranked
from fin_rag.retrieval.window import window
from fin_rag.schema import (
    BODY_OFFSET,
    CHUNK_ID,
    CHUNK_INDEX,
    CONTEXT_HEADER,
    DOC_ID,
    END_INDEX,
    KIND,
    OVERLAP_TOKENS,
    PARENT_END,
    PARENT_START,
    SPANS,
    START_INDEX,
    TOKEN_COUNT,
    Span,
    format_spans,
    parse_spans,
)

logger = logging.getLogger(__name__)
CHILDREN = "children"
CHILD_SPANS = "child_spans"
CLIPPED = "clipped"
# What is true of a chunk and not of the passage around it.
_OF_THE_CHUNK = frozenset({KIND, TOKEN_COUNT, OVERLAP_TOKENS, CHUNK_INDEX, CHUNK_ID, CONTEXT_HEADER, BODY_OFFSET})


@dataclass(slots=True)
class _Family:
    """Hold a parent passage and the chunks found in it, best first."""

    view: DocumentView
    parent: Span
    children: list[Document] = field(default_factory=list)


class ParentRetriever(ScopedRetriever):
    """Return the passages around what another retriever finds, as LangChain's ``ParentDocumentRetriever`` does.

    The parent is the section, turn or article that the chunk belongs to, sliced from the stored source text. It
    takes the place, ``score`` and ``reason`` of its best chunk and lists all of them: ``children`` (ids) and
    ``child_spans``. A parent longer than ``max_chars`` is cut to whole lines around the hits and says
    ``clipped``. A passage inside one that is returned already is not returned again. Equal texts of two
    documents stay two results.

    Attributes:
        base_retriever: finds chunks of this index (with their metadata); its own number of results is the pool.
        expand: ``False`` returns the chunks themselves, cut to ``k``.
        max_chars: code points of one result; ``None`` for whole parents, however long.
        missing: what to do when a chunk's document is no longer in the index: ``"error"``, or ``"warn"`` and
            return the chunk in place of its parent.

    Raises:
        NotFoundError: if a chunk's document is not in the index and ``missing`` is ``"error"``.

    Example:
        ``ParentRetriever(index=index, base_retriever=DenseRetriever(index=index, k=20), k=4)``
    """

    base_retriever: RetrieverLike
    expand: bool = True
    max_chars: int | None = Field(default=6000, ge=1)
    missing: Literal["error", "warn"] = "error"

    @consistent
    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
    ) -> list[Document]:
        wanted, allowed = self.wanted(k), self.allowed(filter, as_of, session_id)
        given = _given(filter=filter, as_of=as_of, session_id=session_id)
        children = self.base_retriever.invoke(query, config={"callbacks": run_manager.get_child()}, **given)
        return self.parents(children, wanted, allowed, session_id=self.session_id or session_id)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **kwargs: Any,  # noqa: ANN401  # those of the method above
    ) -> list[Document]:
        given = dict(kwargs)
        wanted, allowed = self.wanted(given.pop("k", None)), self.allowed(**given)
        session_id = self.session_id or given.get("session_id")
        children = await self.base_retriever.ainvoke(
            query, config={"callbacks": run_manager.get_child()}, **_given(**given)
        )
        return self.parents(children, wanted, allowed, session_id=session_id)

    def parents(
        self, children: Sequence[Document], k: int, allowed: Allowed, *, session_id: str | None = None
    ) -> list[Document]:
        """Return the ``k`` first passages around chunks that are given best first."""
        views: dict[str, DocumentView | None] = {}
        permitted = frozenset(allowed.documents)
        order: list[_Family | Document] = []
        for child in children:
            doc_id = str(child.metadata.get(DOC_ID))
            if doc_id not in views:
                views[doc_id] = self._view(doc_id, session_id)
            view = views[doc_id]
            if view is None:
                order.append(child)
            elif view.number in permitted:
                self._join(order, view, child)
            else:
                logger.warning("The retriever inside found %r, which is out of scope; it is left out.", doc_id)
        if not self.expand:
            flat = [one for entry in order for one in (entry.children if isinstance(entry, _Family) else [entry])]
            return reranked(flat[:k])
        return reranked([self._passage(entry) if isinstance(entry, _Family) else entry for entry in order[:k]])

    def _view(self, doc_id: str, session_id: str | None) -> DocumentView | None:
        try:
            return self.index.view(doc_id, session_id=session_id)
        except NotFoundError as error:
            if self.missing == "error":
                raise NotFoundError(
                    f"A chunk of {doc_id!r} was found, but its document is not in the index, or private to another "
                    "session. Index it again, or use missing='warn' to keep the chunk in place of its parent."
                ) from error
            logger.warning("The document %r is not in the index; its chunks stand in for their parents.", doc_id)
            return None

    def _join(self, order: list[_Family | Document], view: DocumentView, child: Document) -> None:
        """Put a chunk to its parent; one parent inside another becomes one."""
        parent = _parent_span(child) if self.expand else None
        if parent is not None:
            for family in order:
                if not isinstance(family, _Family) or family.view.doc_id != view.doc_id:
                    continue
                if family.parent.contains(parent) or parent.contains(family.parent):
                    family.parent = max(family.parent, parent, key=len)
                    family.children.append(child)
                    return
        order.append(_Family(view, parent or Span(0, 0), [child]))

    def _passage(self, family: _Family) -> Document:
        return passage_around(family.view, family.parent, family.children, self.max_chars)


def passage_around(view: DocumentView, parent: Span, children: Sequence[Document], max_chars: int | None) -> Document:
    """Return the part of a parent passage around chunks of it, given best first, as one Document.

    It takes the metadata of the best chunk where they are true of the passage as well, and lists all of them in
    ``children`` and ``child_spans``; ``clipped`` says that the parent is longer than ``max_chars`` code points.
    """
    hits = [_body(child) for child in children]
    inside = [hit for hit in hits if parent.contains(hit)]
    spans = window(view, parent, inside, max_chars) if inside else [parent]
    # Notes that are joined to a chunk may stand outside of its parent.
    joined = parse_spans(str(children[0].metadata[SPANS]))
    further = [span for span in joined if not any(shown.overlaps(span) for shown in spans)]
    passage = passage_of(view, spans, further)
    kept = {key: value for key, value in children[0].metadata.items() if key not in _OF_THE_CHUNK}
    added: dict[str, object] = {
        CHILDREN: [str(child.metadata.get(CHUNK_ID) or child.id) for child in children],
        CHILD_SPANS: format_spans(hits),
    }
    if spans != [parent]:
        added[CLIPPED] = True
    return passage.model_copy(update={"metadata": {**kept, **passage.metadata, **added}})


def _parent_span(child: Document) -> Span:
    metadata = child.metadata
    start, end = metadata.get(PARENT_START), metadata.get(PARENT_END)
    if not isinstance(start, int) or not isinstance(end, int):
        return _body(child)
    return Span(start, end)


def _body(child: Document) -> Span:
    return Span(child.metadata[START_INDEX], child.metadata[END_INDEX])


def _given(**arguments: object) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}
