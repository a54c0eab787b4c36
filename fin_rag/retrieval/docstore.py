"""A docstore view of the index: parent passages for LangChain's ``ParentDocumentRetriever`` and its relatives."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.stores import BaseStore

from fin_rag.errors import InputError, NotFoundError
from fin_rag.index.consistent import consistent
from fin_rag.index.store import FilingIndex
from fin_rag.index.view import DocumentView
from fin_rag.retrieval.scope import Day, parent_key
from fin_rag.schema import (
    DOC_ID,
    END_INDEX,
    PAGE,
    PAGE_END,
    PARENT_ID,
    SECTION_ID,
    SECTION_PATH,
    SPANS,
    START_INDEX,
    Span,
    format_spans,
)

logger = logging.getLogger(__name__)
_READ_ONLY = "The docstore of an index is read only. Take documents in with FilingIndex.add()."


class IndexDocstore(BaseStore[str, Document]):
    """Give parent passages out of the stored source texts; no second copy that could drift.

    A key is ``doc_id#start-end`` (``parent_id`` in the results of this package): any span of any document
    can be asked for. The scope is hard: a document outside of it is not there.

    Args:
        index: the index.
        filter: metadata that the documents must have.
        as_of: a day; only documents filed by its end are there.
        session_id: lets the private documents of that session in.
        missing: ``"error"`` raises for a key that is not there, ``"warn"`` logs it and gives ``None``;
            ``MultiVectorRetriever`` by itself drops it without a word.

    Example:
        ``ParentDocumentRetriever(vectorstore=IndexVectorStore(index), docstore=IndexDocstore(index),
        child_splitter=splitter, id_key="parent_id")``
    """

    def __init__(
        self,
        index: FilingIndex,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  # LangChain's name
        as_of: Day | None = None,
        session_id: str | None = None,
        missing: Literal["error", "warn"] = "error",
    ) -> None:
        if missing not in ("error", "warn"):
            raise InputError(f"'missing' of IndexDocstore must be 'error' or 'warn'. Got {missing!r}.")
        self.index = index
        self.filter = filter
        self.as_of = as_of
        self.session_id = session_id
        self.missing = missing

    @consistent
    def mget(self, keys: Sequence[str]) -> list[Document | None]:
        """Return the passage of each key.

        Raises:
            NotFoundError: if one is not there and ``missing`` is ``"error"``.
            InputError: if a key does not read like ``doc_id#start-end``.
        """
        visible = set(self.index.resolve(self.filter, as_of=self.as_of, session_id=self.session_id).documents)
        views: dict[str, DocumentView | None] = {}
        found: list[Document | None] = []
        for key in keys:
            doc_id, span = read_key(key)
            if doc_id not in views:
                views[doc_id] = self._view(doc_id, visible)
            view = views[doc_id]
            passage = passage_of(view, [span]) if view is not None and span.end <= len(view.text) else None
            if passage is None:
                self._report(key)
            found.append(passage)
        return found

    def mset(self, key_value_pairs: Sequence[tuple[str, Document]]) -> None:
        """Refuse: what is in the index came through ``FilingIndex.add``.

        Raises:
            InputError: always, unless there is nothing to set.
        """
        if key_value_pairs:
            raise InputError(_READ_ONLY)

    def mdelete(self, keys: Sequence[str]) -> None:
        """Refuse, as :meth:`mset` does.

        Raises:
            InputError: always, unless there is nothing to delete.
        """
        if keys:
            raise InputError(_READ_ONLY)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the key of every section in scope, by document and place."""
        visible = set(self.index.resolve(self.filter, as_of=self.as_of, session_id=self.session_id).documents)
        for metadata in self.index.documents(session_id=self.session_id):
            view = self._view(str(metadata[DOC_ID]), visible)
            if view is None:
                continue
            spans = dict.fromkeys((section.span.start, section.span.end) for section in view.sections)
            for start, end in spans:
                key = parent_key(view.doc_id, start, end)
                if key.startswith(prefix or ""):
                    yield key

    def _view(self, doc_id: str, visible: set[int]) -> DocumentView | None:
        try:
            view = self.index.view(doc_id, session_id=self.session_id)
        except NotFoundError:
            return None
        return view if view.number in visible else None

    def _report(self, key: str) -> None:
        if self.missing == "error":
            raise NotFoundError(
                f"The parent passage {key!r} is not in the index, or outside of the scope. Its document was removed "
                "or replaced since the children were indexed: index them again."
            )
        logger.warning("The parent passage %r is not in the index; its children give nothing.", key)


def read_key(key: str) -> tuple[str, Span]:
    """Read what ``parent_key`` wrote.

    Raises:
        InputError: if ``key`` has another form.

    Example:
        >>> read_key("a#b#10-20")
        ('a#b', Span(start=10, end=20))
    """
    doc_id, mark, span = key.rpartition("#")
    start, dash, end = span.partition("-")
    if not (mark and dash and start.isdecimal() and end.isdecimal()):
        raise InputError(f"The key of a parent passage must read like 'doc_id#10-20'. Got {key!r}.")
    return doc_id, Span(int(start), int(end))


def passage_of(view: DocumentView, spans: Sequence[Span], joined: Sequence[Span] = ()) -> Document:
    """Return spans of a document, in order and apart, as one Document with metadata of the place.

    ``joined`` spans (notes that stand elsewhere) follow in the text and do not count for the place.
    """
    whole = Span(spans[0].start, spans[-1].end)
    section = view.section_of(whole)
    own: dict[str, object] = {
        PARENT_ID: parent_key(view.doc_id, whole.start, whole.end),
        SPANS: format_spans([*spans, *joined]),
        START_INDEX: whole.start,
        END_INDEX: whole.end,
    }
    if section is not None:
        own |= {SECTION_ID: section.section_id, SECTION_PATH: section.section_path}
    pages = view.pages_of(whole)
    if pages is not None:
        own |= {PAGE: pages[0], PAGE_END: pages[1]}
    return Document(
        id=str(own[PARENT_ID]),
        page_content="\n\n".join(span.slice(view.text) for span in [*spans, *joined]),
        metadata={**view.metadata, **own},
    )
