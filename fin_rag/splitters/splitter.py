"""The ``TextSplitter`` that works on spans; one subclass a kind of document."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, ClassVar

from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter

from fin_rag.errors import InputError, IntegrityError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.metadata import document_metadata
from fin_rag.schema import (
    DOC_ID,
    DOC_TYPE,
    LANG,
    PAGE,
    PAGE_MAP,
    SOURCE,
    SOURCE_SCOPE,
    START_INDEX,
    TEXT_SHA256,
    TITLE,
    Chunk,
    Markup,
    Outline,
    PageMap,
    SourceDocument,
    Span,
)
from fin_rag.splitters.chunks import chunk_documents, chunk_text
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.text.canonical import text_sha256
from fin_rag.tokens import Tokenization, load_tokenization

_logger = logging.getLogger(__name__)

# A document that carries these was described by a loader; nothing is left to find out.
_DESCRIBED = frozenset({DOC_ID, SOURCE, TEXT_SHA256, TITLE, DOC_TYPE, LANG, SOURCE_SCOPE})
PAGE_SEPARATOR = "\n\n"


class StructureTextSplitter(TextSplitter):
    """Split a document along its own structure into chunks with exact offsets.

    Works like any LangChain splitter (``split_text``, ``create_documents``, ``split_documents``,
    ``transform_documents``), on our loader's documents, on plain text, and on the pages of page-wise
    loaders, which are joined again where they have the same ``source`` and rising page numbers. Every
    chunk carries its section path, spans and counts; offsets are code points of the whole document.

    Args:
        chunk_size: the most tokens of a chunk's whole prepared text (prefix, context header, body and
            special tokens), as counted by ``tokenization``.
        chunk_overlap: the target for text shared with the chunk before, in tokens; whole paragraphs only.
        tokenization: the model's tokens; the default model's if neither this nor ``length_function`` is
            given.
        length_function: a function that counts a text, as other LangChain splitters take it.
        add_context_header: put the context header in front of ``page_content``; ``body_offset`` then
            says where the source text begins.

    Raises:
        InputError: if the budget is not positive, not above the overlap, or above the model's limit.
    """

    kind: ClassVar[str] = "report"

    def __init__(
        self,
        chunk_size: int = 512,
        chunk_overlap: int = 0,
        *,
        tokenization: Tokenization | None = None,
        length_function: Callable[[str], int] | None = None,
        add_context_header: bool = False,
    ) -> None:
        name = type(self).__name__
        if chunk_size < 1:
            raise InputError(f"'chunk_size' of {name} must be at least 1 token. Got {chunk_size}.")
        if not 0 <= chunk_overlap < chunk_size:
            raise InputError(
                f"'chunk_overlap' of {name} must be at least 0 and less than chunk_size ({chunk_size}). "
                f"Got {chunk_overlap}. Lower it."
            )
        if tokenization is not None and length_function is not None:
            raise InputError(f"{name} takes 'tokenization' or 'length_function', not both.")
        self.config = ChunkingConfig(max_tokens=chunk_size, overlap_tokens=chunk_overlap)
        self.add_context_header = add_context_header
        self._given = Tokenization.from_length_function(length_function) if length_function else tokenization
        if self._given is not None:
            self.config.check_against(self._given)
        super().__init__(
            chunk_size=chunk_size,
            chunk_overlap=chunk_overlap,
            length_function=self._count,
            add_start_index=True,
        )

    @cached_property
    def tokenization(self) -> Tokenization:
        """Return the tokenization in use; the default model's is loaded at first use."""
        if self._given is not None:
            return self._given
        default = load_tokenization()
        self.config.check_against(default)
        return default

    def _count(self, text: str) -> int:
        return self.tokenization.count_tokens(text)

    @abstractmethod
    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> Outline:
        """Find the sections of a described document."""

    def outline(self, document: Document) -> Outline:
        """Return the sections of a document: ids, titles, paths, spans, states and warnings."""
        whole = self._described(document)
        return self._outline(whole.page_content, whole.metadata, _markup(whole))

    def split_text(self, text: str) -> list[str]:
        """Split a text into the contents of its chunks."""
        return [chunk.page_content for chunk in self.split_documents([Document(page_content=text)])]

    def create_documents(self, texts: list[str], metadatas: list[dict[Any, Any]] | None = None) -> list[Document]:
        """Split texts, each a document of its own, into Documents with the metadata of chunks.

        Raises:
            InputError: if there are not as many metadata as texts.
        """
        given = metadatas or [{}] * len(texts)
        if len(given) != len(texts):
            raise InputError(
                f"create_documents needs one metadata dict a text. Got {len(texts)} texts and {len(given)}."
            )
        return [
            chunk
            for text, metadata in zip(texts, given, strict=True)
            for chunk in self._split(Document(page_content=text, metadata=dict(metadata)))
        ]

    def split_documents(self, documents: Iterable[Document]) -> list[Document]:
        """Split documents; consecutive pages of one source are joined first.

        Raises:
            InputError: if metadata are no flat scalars, or a header leaves no room for a body.
            IntegrityError: if a document's text no longer matches its ``text_sha256``.
        """
        return [chunk for whole in joined_pages(documents) for chunk in self._split(whole)]

    def _split(self, document: Document) -> list[Document]:
        return self.split_whole(document)[2]

    def split_whole(
        self, document: Document, *, outline: Outline | None = None
    ) -> tuple[Document, Outline, list[Document]]:
        """Split one document; return it with its full metadata, its outline and its chunks.

        ``outline`` takes the place of the one that the document itself shows.
        """
        whole = self._described(document)
        text, metadata = whole.page_content, whole.metadata
        if outline is None:
            outline = self._outline(text, metadata, _markup(whole))
        outline = replace(outline, furniture=_united(outline.furniture, _markup(whole).running))
        for warning in outline.warnings:
            _logger.info("%s: %s", metadata.get(SOURCE), warning)
        chunks = self._chunks(text, outline, metadata)
        pieces = chunk_documents(
            chunks, text, metadata, settings=self.settings, add_context_header=self.add_context_header
        )
        return whole, outline, list(pieces)

    def _chunks(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> list[Chunk]:
        """Cut a described document along its outline."""
        return chunk_text(text, outline, metadata, config=self.config, tokenization=self.tokenization)

    @property
    def settings(self) -> str:
        """Name everything besides the text that shapes the chunks; part of every chunk's id."""
        return "|".join(
            (
                type(self).__name__,
                str(self.config.max_tokens),
                str(self.config.overlap_tokens),
                self.tokenization.name,
                self.tokenization.document_prefix,
                str(self.add_context_header),
            )
        )

    def _described(self, document: Document) -> Document:
        """Return the document with the metadata that a loader would have given it."""
        text, metadata = document.page_content, document.metadata
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"The text of {metadata.get(SOURCE)!r} holds half a surrogate pair at offset {error.start}. "
                "Decode the source again with the right encoding."
            ) from error
        if metadata.keys() >= _DESCRIBED:
            if START_INDEX not in metadata and metadata[TEXT_SHA256] != text_sha256(text):
                raise IntegrityError(
                    f"The text of {metadata[SOURCE]!r} has changed since it was loaded: its SHA-256 is not "
                    f"{TEXT_SHA256!r}. Load it again, or drop that key to have it described anew."
                )
            return document
        markup = _markup(document)
        loaded = LoadedText(text, PageMap.parse(str(metadata.get(PAGE_MAP, ""))), markup)
        name = str(metadata.get(SOURCE) or "")
        found = document_metadata(loaded, name=name, caller=metadata)
        kept = {SOURCE: name, TEXT_SHA256: text_sha256(text)}
        if PAGE_MAP in metadata:
            kept[PAGE_MAP] = str(metadata[PAGE_MAP])
        return SourceDocument(page_content=text, metadata={**kept, **found}, markup=markup)


def _united(*marks: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans sorted and apart: those that touch or overlap become one."""
    united: list[Span] = []
    for span in sorted(span for part in marks for span in part):
        if united and span.start <= united[-1].end:
            united[-1] = Span(united[-1].start, max(united[-1].end, span.end))
        else:
            united.append(span)
    return tuple(united)


def _markup(document: Document) -> Markup:
    return document.markup if isinstance(document, SourceDocument) else Markup()


def joined_pages(documents: Iterable[Document]) -> list[Document]:
    """Join consecutive Documents that are pages of one source; pass all others on as they are.

    Page numbers count from 1; loaders that count from 0 are recognised by their first page. The joined
    document keeps the metadata that all its pages share and gets a page map. Pages that do not rise are
    no pages of one document and stay apart, with a warning in the log.

    Example:
        >>> pages = [Document(page_content=t, metadata={"source": "a.pdf", "page": n})
        ...          for n, t in enumerate(["One.", "Two."])]
        >>> joined_pages(pages)[0].metadata["page_map"]
        '1:0-4;2:6-10'
    """
    whole: list[Document] = []
    for source, group in groupby(documents, key=_page_of_source):
        run = list(group)
        if source is None or len(run) < 2:
            whole += [_counted_from_one(d) for d in run] if source is not None else run
            continue
        numbers = [int(document.metadata[PAGE]) for document in run]
        if any(b <= a for a, b in pairwise(numbers)):
            _logger.warning("The pages of %r do not rise; each is taken as a document of its own.", source)
            whole += run
        else:
            whole.append(_joined(run, numbers))
    return whole


def _page_of_source(document: Document) -> str | None:
    metadata = document.metadata
    is_page = isinstance(metadata.get(PAGE), int) and START_INDEX not in metadata and SOURCE in metadata
    return str(metadata[SOURCE]) if is_page else None


def _counted_from_one(document: Document) -> Document:
    if document.metadata[PAGE] != 0:
        return document
    return document.model_copy(update={"metadata": {**document.metadata, PAGE: 1}})


def _joined(pages: Sequence[Document], numbers: Sequence[int]) -> Document:
    first = 1 if numbers[0] == 0 else 0
    spans: list[tuple[int, Span]] = []
    at = 0
    for number, page in zip(numbers, pages, strict=True):
        spans.append((number + first, Span(at, at + len(page.page_content))))
        at += len(page.page_content) + len(PAGE_SEPARATOR)
    shared = {
        key: value
        for key, value in pages[0].metadata.items()
        if key != PAGE and all(key in p.metadata and p.metadata[key] == value for p in pages)
    }
    return Document(
        page_content=PAGE_SEPARATOR.join(page.page_content for page in pages),
        metadata={**shared, PAGE_MAP: PageMap(tuple(spans)).format()},
    )
