"""From a text with an outline to chunks, and from chunks to LangChain Documents."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from langchain_core.documents import Document

from fin_rag.schema import (
    BODY_OFFSET,
    CHUNK_INDEX,
    CHUNK_ONLY_KEYS,
    CONTEXT_HEADER,
    DOC_ID,
    DOC_TYPE,
    END_INDEX,
    KIND,
    OVERLAP_TOKENS,
    PAGE,
    PAGE_END,
    PAGE_MAP,
    PARENT_END,
    PARENT_START,
    PREPARED_BODY,
    SECTION_ID,
    SECTION_PATH,
    SPANS,
    START_INDEX,
    TITLE,
    TOKEN_COUNT,
    Block,
    Chunk,
    MetadataValue,
    Outline,
    PageMap,
    Section,
    Span,
    clean_metadata,
    format_spans,
)
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.pack import Packer, nothing_joined
from fin_rag.splitters.regions import Region, context_header, regions_of, trimmed
from fin_rag.structure.blocks import blocks
from fin_rag.tokens import HEADER_SEPARATOR, Tokenization

ROOT_SECTION_ID = "document"


def chunk_text(
    text: str,
    outline: Outline,
    metadata: Mapping[str, object],
    *,
    config: ChunkingConfig,
    tokenization: Tokenization,
    joined: Callable[[Span], Sequence[Span]] = nothing_joined,
    render: Callable[[Span], str] | None = None,
    tables: Sequence[Block] = (),
) -> list[Chunk]:
    """Cut a canonical text into chunks along its outline, within a token budget.

    Every non-blank character is in a chunk, or in ``outline.furniture``. Chunks rise by their body's start;
    none crosses a section's border. ``joined`` names spans that belong to a body but stand elsewhere, and
    ``render`` writes spans in other words, as :class:`~fin_rag.splitters.pack.Packer` takes them.
    ``tables`` are blocks that are known already, in order and apart; a header may stand before its table.

    Raises:
        InputError: if a section reaches beyond the text, or a header leaves no room for a body.
    """
    regions = regions_of(text, outline.sections, root_section(text, metadata))
    furniture = sorted(outline.furniture)
    packer = Packer(text, tokenization, config, joined, furniture, render)
    per_region = [_content_blocks(text, region, furniture, tables) for region in regions]
    costs = iter(packer.estimate([block.span for found in per_region for block in found]))
    chunks: list[Chunk] = []
    for region, found in zip(regions, per_region, strict=True):
        cost = [next(costs) for _ in found]
        if not found:
            continue
        header = context_header(metadata, region.section.path, tokenization=tokenization, max_tokens=config.max_tokens)
        chunks += [
            Chunk(
                packed.spans,
                region.section,
                packed.kind,
                region.parent,
                header,
                packed.token_count,
                packed.overlap_tokens,
                packed.pieces,
            )
            for packed in packer.pack(found, header, cost)
        ]
    return chunks


def root_section(text: str, metadata: Mapping[str, object]) -> Section:
    """Return the section that owns what no other section does."""
    name = str(metadata.get(DOC_TYPE) or metadata.get(TITLE) or "document")
    return Section(ROOT_SECTION_ID, name, (name,), Span(0, len(text)), level=0)


def _content_blocks(text: str, region: Region, furniture: Sequence[Span], tables: Sequence[Block]) -> list[Block]:
    """Return the blocks of a region that are not furniture; ``furniture`` is sorted and apart."""
    starts = [mark.start for mark in furniture]
    content: list[Block] = []
    for block in _with_tables(text, blocks(text, region.span), region.span, tables):
        at = max(bisect_right(starts, block.span.start) - 1, 0)
        start = block.span.start
        while at < len(furniture) and furniture[at].start < block.span.end:
            content += _part_of(text, block, start, furniture[at].start)
            start = max(start, furniture[at].end)
            at += 1
        content += _part_of(text, block, start, block.span.end)
    return content


def _with_tables(text: str, found: Sequence[Block], span: Span, tables: Sequence[Block]) -> list[Block]:
    """Put tables that are known already in the place of the blocks that stand there."""
    inside = [table for table in tables if span.contains(table.span)]
    if not inside:
        return list(found)
    result: list[Block] = []
    for block in found:
        start = block.span.start
        for table in inside:
            if table.span.overlaps(block.span):
                result += _part_of(text, block, start, table.span.start)
                start = max(start, table.span.end)
        result += _part_of(text, block, start, block.span.end)
    return sorted([*result, *inside], key=lambda one: one.span)


def _part_of(text: str, block: Block, start: int, end: int) -> list[Block]:
    """Return the part of a block between two pieces of furniture, if anything stands there."""
    part = trimmed(text, Span(start, max(start, end)))
    if part == block.span:
        return [block]
    header = block.header
    if header and not (part.contains(header) or header.end <= part.start):
        header = None
    return [replace(block, span=part, header=header)] if len(part) else []


def chunk_documents(
    chunks: Sequence[Chunk],
    text: str,
    metadata: Mapping[str, object],
    *,
    settings: str,
    add_context_header: bool = False,
) -> Iterator[Document]:
    """Yield one Document a chunk, each with metadata of its own.

    ``settings`` is whatever shaped the chunks; it goes into the ids, so that chunks of other settings get
    other ids. A document that is itself a part of another (``start_index`` in its metadata) yields
    offsets into the other.
    """
    base = metadata.get(START_INDEX)
    shift = base if isinstance(base, int) else 0
    pages = PageMap.parse(str(metadata.get(PAGE_MAP, "")))
    inherited = {key: value for key, value in metadata.items() if key not in CHUNK_ONLY_KEYS | {PAGE_MAP}}
    page = metadata.get(PAGE)
    for index, chunk in enumerate(chunks):
        own = _chunk_metadata(chunk, index, shift)
        touched = pages.range(Span(chunk.pieces[0].start, chunk.pieces[-1].end))
        if touched is None and isinstance(page, int):
            touched = (page, page)  # a single page, given with its number
        if touched is not None:
            own[PAGE], own[PAGE_END] = touched
        if chunk.content is not None:
            own[PREPARED_BODY] = chunk.content
        content = chunk.text(text)
        if add_context_header:
            content = f"{chunk.header}{HEADER_SEPARATOR}{content}"
            own[BODY_OFFSET] = len(chunk.header) + len(HEADER_SEPARATOR)
        key = "\x1f".join((str(metadata.get(DOC_ID)), str(own[SPANS]), settings))
        yield Document(
            id=hashlib.sha256(key.encode()).hexdigest()[:32],
            page_content=content,
            metadata=clean_metadata({**inherited, **own}),
        )


def prepared_text(chunk: Document, tokenization: Tokenization) -> str:
    r"""Return what a model reads of a chunk: prefix, context header, and the body or its rows in words.

    Args:
        chunk: a chunk of any splitter of this package.
        tokenization: the model's prefixes.

    Example:
        >>> words = Tokenization("words", lambda text: len(text.split()), document_prefix="passage: ")
        >>> chunk = Document(page_content="| Sales | 40 |", metadata={
        ...     "context_header": "Acme", "prepared_body": "Sales: 2031 = 40"})
        >>> prepared_text(chunk, words)
        'passage: Acme\n\nSales: 2031 = 40'
    """
    metadata = chunk.metadata
    body = metadata.get(PREPARED_BODY)
    if body is None:
        body = chunk.page_content[int(metadata.get(BODY_OFFSET, 0)) :]
    return tokenization.prepare(str(body), header=str(metadata.get(CONTEXT_HEADER, "")))


def _chunk_metadata(chunk: Chunk, index: int, shift: int) -> dict[str, MetadataValue]:
    def moved(span: Span) -> Span:
        return Span(span.start + shift, span.end + shift)

    body, parent = moved(chunk.body), moved(chunk.parent)
    return {
        **chunk.section.metadata,
        SECTION_ID: chunk.section.section_id,
        SECTION_PATH: chunk.section.section_path,
        KIND: chunk.kind,
        SPANS: format_spans(moved(span) for span in chunk.spans),
        START_INDEX: body.start,
        END_INDEX: body.end,
        PARENT_START: parent.start,
        PARENT_END: parent.end,
        CHUNK_INDEX: index,
        CONTEXT_HEADER: chunk.header,
        TOKEN_COUNT: chunk.token_count,
        OVERLAP_TOKENS: chunk.overlap_tokens,
    }
