"""The splitters by kind of document, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Final

from langchain_core.documents import Document

from fin_rag.loaders.detect import detect_kind
from fin_rag.schema import DOC_TYPE, SOURCE, Markup, Outline
from fin_rag.splitters.calls import EarningsCallTextSplitter
from fin_rag.splitters.regulation import RegulationTextSplitter
from fin_rag.splitters.reports import FinancialReportTextSplitter
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.structure.filings import outline_filing
from fin_rag.tokens import Tokenization

__all__ = [
    "FILING_TYPES",
    "EarningsCallTextSplitter",
    "FinancialReportTextSplitter",
    "RegulationTextSplitter",
    "SecFilingTextSplitter",
    "splitter_for",
]

FILING_TYPES = frozenset({"10-K", "10-Q", "8-K", "20-F", "40-F", "6-K"})


class SecFilingTextSplitter(StructureTextSplitter):
    r"""Split SEC filings by Part, Item and sub-heading.

    Example:
        >>> text = "PART I\n\nItem 1. Business\n\nWe make bolts.\n\nItem 2. Properties\n\nOne plant."
        >>> chunks = SecFilingTextSplitter(chunk_size=128).create_documents([text], [{"doc_type": "10-K"}])
        >>> [chunk.metadata["item"] for chunk in chunks]
        ['Item 1', 'Item 2']
    """

    kind: ClassVar[str] = "filing"

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> Outline:
        return outline_filing(text, metadata=metadata, markup=markup)


_OF_KIND: Final[Mapping[str, type[StructureTextSplitter]]] = {
    **dict.fromkeys(FILING_TYPES, SecFilingTextSplitter),
    "earnings_call": EarningsCallTextSplitter,
    "regulation": RegulationTextSplitter,
}


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
    return _OF_KIND.get(str(doc_type), FinancialReportTextSplitter)(
        chunk_size,
        chunk_overlap,
        tokenization=tokenization,
        length_function=length_function,
        add_context_header=add_context_header,
    )
