"""Financial documents as retrievable, citable evidence inside LangChain.

Names are loaded when they are first used: importing the package loads no store and no model.

Example:
    >>> import fin_rag
    >>> fin_rag.ChunkingConfig(max_tokens=384, overlap_tokens=48).max_tokens
    384
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.index import FilingIndex, load_embeddings
    from fin_rag.loaders import FinancialDocumentLoader
    from fin_rag.retrieval import AnchorRetriever, FinancialRetriever
    from fin_rag.schema import Outline, Section, SourceDocument, Span
    from fin_rag.splitters import (
        ChunkingConfig,
        FinancialReportTextSplitter,
        SecFilingTextSplitter,
        SectionSpan,
        chunk_document,
        splitter_for,
    )
    from fin_rag.tokens import Tokenization, load_tokenization

__version__ = "0.1.0"

__all__ = [
    "AnchorRetriever",
    "ChunkingConfig",
    "FilingIndex",
    "FinancialDocumentLoader",
    "FinancialReportTextSplitter",
    "FinancialRetriever",
    "Outline",
    "SecFilingTextSplitter",
    "Section",
    "SectionSpan",
    "SourceDocument",
    "Span",
    "Tokenization",
    "chunk_document",
    "load_embeddings",
    "load_tokenization",
    "splitter_for",
]

_HOMES = {
    "AnchorRetriever": "fin_rag.retrieval",
    "ChunkingConfig": "fin_rag.splitters",
    "FilingIndex": "fin_rag.index",
    "FinancialDocumentLoader": "fin_rag.loaders",
    "FinancialReportTextSplitter": "fin_rag.splitters",
    "FinancialRetriever": "fin_rag.retrieval",
    "Outline": "fin_rag.schema",
    "SecFilingTextSplitter": "fin_rag.splitters",
    "Section": "fin_rag.schema",
    "SectionSpan": "fin_rag.splitters",
    "SourceDocument": "fin_rag.schema",
    "Span": "fin_rag.schema",
    "Tokenization": "fin_rag.tokens",
    "chunk_document": "fin_rag.splitters",
    "load_embeddings": "fin_rag.index",
    "load_tokenization": "fin_rag.tokens",
    "splitter_for": "fin_rag.splitters",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
