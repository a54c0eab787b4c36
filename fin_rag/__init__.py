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
    from fin_rag.answers import FigureGuard, answer_chain, ask, verify_figures
    from fin_rag.evaluation import Gate, GoldenSet, evaluate_answers, evaluate_retrieval
    from fin_rag.facts import FactStore, ratio_calculator, xbrl_lookup
    from fin_rag.index import FilingIndex, load_embeddings
    from fin_rag.loaders import FinancialDocumentLoader
    from fin_rag.retrieval import AnchorRetriever, FinancialRetriever
    from fin_rag.schema import Outline, Section, SourceDocument, Span
    from fin_rag.splitters import (
        ChunkingConfig,
        EarningsCallTextSplitter,
        FinancialReportTextSplitter,
        RegulationTextSplitter,
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
    "EarningsCallTextSplitter",
    "FactStore",
    "FigureGuard",
    "FilingIndex",
    "FinancialDocumentLoader",
    "FinancialReportTextSplitter",
    "FinancialRetriever",
    "Gate",
    "GoldenSet",
    "Outline",
    "RegulationTextSplitter",
    "SecFilingTextSplitter",
    "Section",
    "SectionSpan",
    "SourceDocument",
    "Span",
    "Tokenization",
    "answer_chain",
    "ask",
    "chunk_document",
    "evaluate_answers",
    "evaluate_retrieval",
    "load_embeddings",
    "load_tokenization",
    "ratio_calculator",
    "splitter_for",
    "verify_figures",
    "xbrl_lookup",
]

_HOMES = {
    "AnchorRetriever": "fin_rag.retrieval",
    "ChunkingConfig": "fin_rag.splitters",
    "EarningsCallTextSplitter": "fin_rag.splitters",
    "FactStore": "fin_rag.facts",
    "FigureGuard": "fin_rag.answers",
    "FilingIndex": "fin_rag.index",
    "FinancialDocumentLoader": "fin_rag.loaders",
    "FinancialReportTextSplitter": "fin_rag.splitters",
    "FinancialRetriever": "fin_rag.retrieval",
    "Gate": "fin_rag.evaluation",
    "GoldenSet": "fin_rag.evaluation",
    "Outline": "fin_rag.schema",
    "RegulationTextSplitter": "fin_rag.splitters",
    "SecFilingTextSplitter": "fin_rag.splitters",
    "Section": "fin_rag.schema",
    "SectionSpan": "fin_rag.splitters",
    "SourceDocument": "fin_rag.schema",
    "Span": "fin_rag.schema",
    "Tokenization": "fin_rag.tokens",
    "answer_chain": "fin_rag.answers",
    "ask": "fin_rag.answers",
    "chunk_document": "fin_rag.splitters",
    "evaluate_answers": "fin_rag.evaluation",
    "evaluate_retrieval": "fin_rag.evaluation",
    "load_embeddings": "fin_rag.index",
    "load_tokenization": "fin_rag.tokens",
    "ratio_calculator": "fin_rag.facts",
    "splitter_for": "fin_rag.splitters",
    "verify_figures": "fin_rag.answers",
    "xbrl_lookup": "fin_rag.facts",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
