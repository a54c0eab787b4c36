"""The documents that gold passages stand in: texts, titles, sections and pages, found by any of their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import TypeAlias

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.index.store import FilingIndex
from fin_rag.schema import DOC_ID, ISSUER, PAGE_MAP, SOURCE, TITLE, PageMap, Section, Span
from fin_rag.splitters import splitter_for

Sections: TypeAlias = tuple[tuple[tuple[str, ...], Span], ...]


@dataclass(frozen=True, slots=True)
class CorpusDocument:
    """Hold one document: its canonical text, metadata and pages; its sections are read when they are asked for."""

    doc_id: str
    text: str
    metadata: Mapping[str, object]
    pages: PageMap
    read_sections: Callable[[], Sections]

    @property
    def sections(self) -> Sections:
        """Return the sections as ``(path, span)``."""
        return self.read_sections()

    @property
    def title(self) -> str:
        """Return the title, or the id where there is none."""
        return str(self.metadata.get(TITLE) or self.doc_id)

    @property
    def issuer(self) -> str:
        """Return the issuer, or the id where it is not known."""
        return str(self.metadata.get(ISSUER) or self.doc_id)


class Corpus:
    """Find documents by id, file name, file name without its ending, or title; each is read when asked for.

    Example:
        >>> corpus = Corpus.from_documents([Document(page_content="# Debt", metadata={"source": "in/acme.md"})])
        >>> corpus.find("acme").text
        '# Debt'
    """

    def __init__(self, listed: Iterable[Mapping[str, object]], read: Callable[[str], CorpusDocument]) -> None:
        self._read = read
        self._cache: dict[str, CorpusDocument] = {}
        self._listed = {str(metadata[DOC_ID]): metadata for metadata in listed}
        self._names: list[dict[str, set[str]]] = [{}, {}, {}]
        for doc_id, metadata in self._listed.items():
            source = PurePath(str(metadata.get(SOURCE) or ""))
            for names, name in zip(
                self._names, (source.name, source.stem, str(metadata.get(TITLE) or "")), strict=True
            ):
                if name:
                    names.setdefault(name, set()).add(doc_id)

    @classmethod
    def from_index(cls, index: FilingIndex, *, session_id: str | None = None) -> Corpus:
        """Take the documents of an index; private ones of ``session_id`` only."""
        listed = index.documents(session_id=session_id)
        by_id = {str(metadata[DOC_ID]): metadata for metadata in listed}

        def read(doc_id: str) -> CorpusDocument:
            view = index.view(doc_id, session_id=session_id)
            return CorpusDocument(doc_id, view.text, by_id[doc_id], view.pages, cache(lambda: _places(view.sections)))

        return cls(listed, read)

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> Corpus:
        """Take whole LangChain Documents; without a ``doc_id`` they go by their source, else their id.

        Raises:
            InputError: if a document has no name, or two have the same one.
        """
        held: dict[str, Document] = {}
        for document in documents:
            doc_id = str(document.metadata.get(DOC_ID) or document.metadata.get(SOURCE) or document.id or "")
            if not doc_id or doc_id in held:
                raise InputError(f"Each document needs a 'doc_id' or 'source' of its own. Got {doc_id!r}.")
            held[doc_id] = document

        def read(doc_id: str) -> CorpusDocument:
            document = held[doc_id]
            return CorpusDocument(
                doc_id,
                document.page_content,
                {**document.metadata, DOC_ID: doc_id},
                PageMap.parse(str(document.metadata.get(PAGE_MAP) or "")),
                cache(lambda: _places(splitter_for(document).outline(document))),
            )

        return cls([{**document.metadata, DOC_ID: doc_id} for doc_id, document in held.items()], read)

    @property
    def doc_ids(self) -> list[str]:
        """Return the ids of all documents, sorted."""
        return sorted(self._listed)

    def __len__(self) -> int:
        return len(self._listed)

    def __getitem__(self, doc_id: str) -> CorpusDocument:
        if doc_id not in self._cache:
            self._cache[doc_id] = self._read(doc_id)
        return self._cache[doc_id]

    def metadata(self, doc_id: str) -> Mapping[str, object]:
        """Return the metadata of a document without reading its text."""
        return self._listed[doc_id]

    def find(self, name: str) -> CorpusDocument | None:
        """Return the document of that name, or ``None``.

        Raises:
            InputError: if several documents go by that name.
        """
        doc_id = self.find_id(name)
        return None if doc_id is None else self[doc_id]

    def find_id(self, name: str) -> str | None:
        """Return the id of the document of that name, or ``None``; see :meth:`find`."""
        if name in self._listed:
            return name
        for names in self._names:
            found = names.get(name, set())
            if len(found) > 1:
                raise InputError(f"{name!r} names {len(found)} documents: {sorted(found)[:5]}. Use their 'doc_id'.")
            if found:
                return next(iter(found))
        return None


def _places(sections: Iterable[Section]) -> Sections:
    return tuple((section.path, section.span) for section in sections)
