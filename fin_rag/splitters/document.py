"""Splitting as a plain function: pages and sections from outside, chunks with everything counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.schema import (
    DOC_ID,
    OVERLAP_TOKENS,
    PAGE,
    PAGE_MAP,
    SOURCE,
    SPANS,
    TOKEN_COUNT,
    MetadataValue,
    Outline,
    PageMap,
    Section,
    Span,
    parse_spans,
)
from fin_rag.splitters.chunks import prepared_text
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.kinds import splitter_for
from fin_rag.splitters.splitter import PAGE_SEPARATOR, StructureTextSplitter
from fin_rag.tokens import Tokenization


@dataclass(frozen=True, slots=True)
class SectionSpan:
    """Name a part of a text from outside: offsets of the whole text, 0-based, end-exclusive.

    ``path`` holds the titles above it, outermost first; ``metadata`` further keys for its chunks.

    Example:
        >>> SectionSpan(0, 120, "Debt", section_id="debt").path
        ()
    """

    start: int
    end: int
    title: str
    section_id: str = ""
    path: tuple[str, ...] = ()
    metadata: Mapping[str, MetadataValue] | None = None


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """Hold one chunk: what is cited (``text``), what the model reads (``prepared``), and what it counts.

    ``spans`` are slices of the canonical text, in the order in which ``text`` joins them by blank lines;
    ``token_count`` is of ``prepared``, special tokens included. Pages are 1-based, ``None`` without pages.
    """

    text: str
    prepared: str
    spans: tuple[Span, ...]
    token_count: int
    overlap_tokens: int
    page: int | None
    page_end: int | None
    metadata: dict[str, MetadataValue]


def chunk_document(
    pages: str | Document | Sequence[str | Document | tuple[int, str]],
    metadata: Mapping[str, object] | None = None,
    *,
    config: ChunkingConfig,
    tokenization: Tokenization,
    sections: Sequence[SectionSpan] | None = None,
) -> list[ChunkRecord]:
    r"""Cut one document into chunks under an exact token budget.

    Args:
        pages: the text; or its pages in order, as texts (numbered from 1), ``(number, text)`` pairs or
            Documents with ``page`` in their metadata. Pages are joined by a blank line that is on no page.
        metadata: keys of the document; private documents need a ``session_id``.
        config: the budget.
        tokenization: the model's tokens; it must declare ``max_input_tokens``.
        sections: sections known from elsewhere, instead of those that the text itself shows. Text in no
            section keeps the document's metadata and gets no title.

    Raises:
        InputError: if the tokenization declares no limit or one below the budget; if pages are not
            positive, rising and of one document; if sections are out of order, overlap or reach beyond
            the text; if a title leaves no room for a body.

    Example:
        >>> words = Tokenization("words", lambda text: len(text.split()), max_input_tokens=64)
        >>> budget = ChunkingConfig(max_tokens=16, overlap_tokens=0)
        >>> chunks = chunk_document(["Net debt fell.", "Sales rose."], {"title": "Letter"},
        ...                         config=budget, tokenization=words)
        >>> chunks[0].text, chunks[0].page, chunks[0].page_end
        ('Net debt fell.\n\nSales rose.', 1, 2)
    """
    if tokenization.max_input_tokens is None:
        raise InputError(
            f"The tokenization {tokenization.name!r} does not declare 'max_input_tokens', so nobody can tell "
            "whether the model reads a whole chunk. Set it."
        )
    config.check_against(tokenization)
    whole = _one_document(pages, dict(metadata or {}))
    splitter: StructureTextSplitter
    splitter = splitter_for(
        whole,
        chunk_size=config.max_tokens,
        chunk_overlap=config.overlap_tokens,
        tokenization=tokenization,
    )
    outline = None if sections is None else _given_outline(whole.page_content, sections)
    _, _, chunks = splitter.split_whole(whole, outline=outline)
    return [_record(chunk, tokenization) for chunk in chunks]


def _record(chunk: Document, tokenization: Tokenization) -> ChunkRecord:
    metadata = chunk.metadata
    return ChunkRecord(
        text=chunk.page_content,
        prepared=prepared_text(chunk, tokenization),
        spans=parse_spans(str(metadata[SPANS])),
        token_count=int(metadata[TOKEN_COUNT]),
        overlap_tokens=int(metadata[OVERLAP_TOKENS]),
        page=metadata.get(PAGE),
        page_end=metadata.get("page_end"),
        metadata=metadata,
    )


def _one_document(
    pages: str | Document | Sequence[str | Document | tuple[int, str]], metadata: dict[str, object]
) -> Document:
    if isinstance(pages, str):
        return Document(page_content=pages, metadata=metadata)
    if isinstance(pages, Document):
        return pages.model_copy(update={"metadata": {**pages.metadata, **metadata}})
    numbered = [_numbered(page, position) for position, page in enumerate(pages, 1)]
    if not numbered:
        raise InputError("chunk_document needs at least one page. Got none.")
    for key in (DOC_ID, SOURCE):
        named = {str(page.metadata[key]) for page in pages if isinstance(page, Document) and key in page.metadata}
        if len(named) > 1:
            raise InputError(f"The pages belong to {len(named)} documents by their {key!r}: {sorted(named)}.")
    shared = pages[0].metadata if isinstance(pages[0], Document) else {}
    at, spans = 0, []
    for number, text in numbered:
        spans.append((number, Span(at, at + len(text))))
        at += len(text) + len(PAGE_SEPARATOR)
    kept = {key: value for key, value in {**shared, **metadata}.items() if key != PAGE}
    return Document(
        page_content=PAGE_SEPARATOR.join(text for _, text in numbered),
        metadata={**kept, PAGE_MAP: PageMap(tuple(spans)).format()},
    )


def _numbered(page: str | Document | tuple[int, str], position: int) -> tuple[int, str]:
    if isinstance(page, str):
        return position, page
    if isinstance(page, Document):
        return int(page.metadata.get(PAGE, position)), page.page_content
    return page


def _given_outline(text: str, sections: Sequence[SectionSpan]) -> Outline:
    made: list[Section] = []
    last = 0
    for number, given in enumerate(sections, 1):
        if not 0 <= given.start < given.end <= len(text) or given.start < last:
            raise InputError(
                f"Section {number} ({given.title!r}) at {given.start}-{given.end} must begin at {last} or "
                f"later, end after it begins, and end within the text's {len(text)} code points."
            )
        last = given.end
        made.append(
            Section(
                given.section_id or f"section-{number}",
                given.title,
                (*given.path, given.title) if given.title else given.path,
                Span(given.start, given.end),
                metadata=given.metadata or {},
            )
        )
    return Outline(tuple(made))
