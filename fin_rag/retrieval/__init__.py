"""Retrieval: filter, search by meaning and by words, fuse, rerank, expand; names load when they are used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.retrieval.assembly import assemble, retrieval_chain
    from fin_rag.retrieval.branches import DenseRetriever, KeywordRetriever, StoreRetriever, fill_store
    from fin_rag.retrieval.citations import Citation, CitationReport, number_evidence, read_citations
    from fin_rag.retrieval.docstore import IndexDocstore
    from fin_rag.retrieval.ensemble import HybridEnsemble
    from fin_rag.retrieval.fusion import Fused, reciprocal_rank_fusion
    from fin_rag.retrieval.parent import ParentRetriever
    from fin_rag.retrieval.retriever import FinancialRetriever
    from fin_rag.retrieval.vectorstore import IndexVectorStore

_HOMES = {
    "Citation": "citations",
    "CitationReport": "citations",
    "DenseRetriever": "branches",
    "FinancialRetriever": "retriever",
    "Fused": "fusion",
    "HybridEnsemble": "ensemble",
    "IndexDocstore": "docstore",
    "IndexVectorStore": "vectorstore",
    "KeywordRetriever": "branches",
    "ParentRetriever": "parent",
    "StoreRetriever": "branches",
    "assemble": "assembly",
    "fill_store": "branches",
    "number_evidence": "citations",
    "read_citations": "citations",
    "reciprocal_rank_fusion": "fusion",
    "retrieval_chain": "assembly",
}

__all__ = [
    "Citation",
    "CitationReport",
    "DenseRetriever",
    "FinancialRetriever",
    "Fused",
    "HybridEnsemble",
    "IndexDocstore",
    "IndexVectorStore",
    "KeywordRetriever",
    "ParentRetriever",
    "StoreRetriever",
    "assemble",
    "fill_store",
    "number_evidence",
    "read_citations",
    "reciprocal_rank_fusion",
    "retrieval_chain",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag.retrieval' has no attribute {name!r}")
    return getattr(import_module(f"fin_rag.retrieval.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
