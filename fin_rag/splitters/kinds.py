"""The splitters by kind of document, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

from langchain_core.documents import Document

from fin_rag.loaders.detect import detect_kind
from fin_rag.schema import DOC_TYPE, PAGE_MAP, SOURCE, Block, Chunk, Markup, Outline, PageMap, Section
from fin_rag.splitters.chunks import chunk_text
from fin_rag.splitters.reports import FinancialReportTextSplitter
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.splitters.statements import statement_tables
from fin_rag.structure.filings import add_statements, outline_filing
from fin_rag.structure.statements import find_statements
from fin_rag.tokens import Tokenization

__all__ = ["FILING_TYPES", "FinancialReportTextSplitter", "SecFilingTextSplitter", "splitter_for"]

FILING_TYPES = frozenset({"10-K", "10-Q", "8-K", "20-F", "40-F", "6-K"})


class SecFilingTextSplitter(StructureTextSplitter):
    r"""Split SEC filings by Part, Item, sub-heading and primary statement.

    A balance sheet or a statement of income, comprehensive income, cash flows or equity is one chunk, with
    ``statement_type``, ``statement_basis``, ``period_ends``, ``scale`` and ``currency``; over budget it is cut
    between rows, each part under the title, unit line and column heads. Its parent span is the whole statement.

    Example:
        >>> text = "PART I\n\nItem 1. Business\n\nWe make bolts.\n\nItem 2. Properties\n\nOne plant."
        >>> chunks = SecFilingTextSplitter(chunk_size=128).create_documents([text], [{"doc_type": "10-K"}])
        >>> [chunk.metadata["item"] for chunk in chunks]
        ['Item 1', 'Item 2']
    """

    kind: ClassVar[str] = "filing"

    def __init__(
        self,
        chunk_size: int = 512,
        chunk_overlap: int = 0,
        *,
        tokenization: Tokenization | None = None,
        length_function: Callable[[str], int] | None = None,
        add_context_header: bool = False,
    ) -> None:
        super().__init__(
            chunk_size,
            chunk_overlap,
            tokenization=tokenization,
            length_function=length_function,
            add_context_header=add_context_header,
        )
        self._last: tuple[tuple[Section, ...], list[Block]] = ((), [])

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> Outline:
        outline = outline_filing(text, metadata=metadata, markup=markup)
        pages = PageMap.parse(str(metadata.get(PAGE_MAP, "")))
        statements = find_statements(text, outline=outline, page_map=pages, markup=markup)
        outline = add_statements(text, outline, statements)
        self._last = (outline.sections, statement_tables(outline, statements))
        return outline

    def _chunks(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> list[Chunk]:
        """Cut a filing along its outline; each primary statement is one table."""
        sections, tables = self._last
        return chunk_text(
            text,
            outline,
            metadata,
            config=self.config,
            tokenization=self.tokenization,
            tables=tables if sections is outline.sections else (),
        )


def splitter_for(
    document: Document,
    *,
    chunk_size: int = 512,
    chunk_overlap: int = 0,
    tokenization: Tokenization | None = None,
    length_function: Callable[[str], int] | None = None,
    add_context_header: bool = False,
) -> StructureTextSplitter:
    """Pick the splitter for a document by its ``doc_type``, or by its content where it has none.

    Kinds without a splitter of their own fall back to :class:`FinancialReportTextSplitter`.

    Example:
        >>> document = Document(page_content="...", metadata={"doc_type": "10-Q"})
        >>> type(splitter_for(document)).__name__
        'SecFilingTextSplitter'
    """
    metadata = document.metadata
    doc_type = metadata.get(DOC_TYPE)
    if doc_type is None:
        doc_type = detect_kind(document.page_content, name=str(metadata.get(SOURCE) or "")).doc_type
    chosen = SecFilingTextSplitter if doc_type in FILING_TYPES else FinancialReportTextSplitter
    return chosen(
        chunk_size,
        chunk_overlap,
        tokenization=tokenization,
        length_function=length_function,
        add_context_header=add_context_header,
    )
