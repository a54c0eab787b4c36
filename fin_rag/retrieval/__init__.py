"""Retrieval: filter, search by meaning and by words, fuse, rerank, expand; names load when they are used."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.retrieval.anchors.arbiter import EvidenceArbiter
    from fin_rag.retrieval.anchors.explain import LineExplanation, explain_lines
    from fin_rag.retrieval.anchors.model_arbiter import ModelArbiter
    from fin_rag.retrieval.anchors.record import audit_schema
    from fin_rag.retrieval.anchors.replay import Replay, replay
    from fin_rag.retrieval.anchors.retriever import AnchorRetriever, Examination
    from fin_rag.retrieval.assembly import assemble, retrieval_chain
    from fin_rag.retrieval.branches import DenseRetriever, KeywordRetriever, StoreRetriever, fill_store
    from fin_rag.retrieval.citations import Citation, CitationReport, number_evidence, read_citations
    from fin_rag.retrieval.diversity import maximal_marginal_relevance
    from fin_rag.retrieval.docstore import IndexDocstore
    from fin_rag.retrieval.ensemble import HybridEnsemble
    from fin_rag.retrieval.fusion import Fused, reciprocal_rank_fusion
    from fin_rag.retrieval.mmr import MmrCompressor
    from fin_rag.retrieval.multiquery import ParaphraseRetriever, QueryListParser, parse_queries
    from fin_rag.retrieval.parent import ParentRetriever
    from fin_rag.retrieval.repeats import RepeatGrouper, group_repeats
    from fin_rag.retrieval.rerank import BlendReranker, CohereReranker, CrossEncoderReranker, Reranker
    from fin_rag.retrieval.retriever import FinancialRetriever
    from fin_rag.retrieval.vectorstore import IndexVectorStore

_HOMES = {
    "AnchorRetriever": "anchors.retriever",
    "BlendReranker": "rerank",
    "Citation": "citations",
    "CitationReport": "citations",
    "CohereReranker": "rerank",
    "CrossEncoderReranker": "rerank",
    "DenseRetriever": "branches",
    "EvidenceArbiter": "anchors.arbiter",
    "Examination": "anchors.retriever",
    "FinancialRetriever": "retriever",
    "Fused": "fusion",
    "HybridEnsemble": "ensemble",
    "IndexDocstore": "docstore",
    "IndexVectorStore": "vectorstore",
    "KeywordRetriever": "branches",
    "LineExplanation": "anchors.explain",
    "MmrCompressor": "mmr",
    "ModelArbiter": "anchors.model_arbiter",
    "ParaphraseRetriever": "multiquery",
    "ParentRetriever": "parent",
    "QueryListParser": "multiquery",
    "RepeatGrouper": "repeats",
    "Replay": "anchors.replay",
    "Reranker": "rerank",
    "StoreRetriever": "branches",
    "assemble": "assembly",
    "audit_schema": "anchors.record",
    "explain_lines": "anchors.explain",
    "fill_store": "branches",
    "group_repeats": "repeats",
    "maximal_marginal_relevance": "diversity",
    "number_evidence": "citations",
    "parse_queries": "multiquery",
    "read_citations": "citations",
    "reciprocal_rank_fusion": "fusion",
    "replay": "anchors.replay",
    "retrieval_chain": "assembly",
}

__all__ = [
    "AnchorRetriever",
    "BlendReranker",
    "Citation",
    "CitationReport",
    "CohereReranker",
    "CrossEncoderReranker",
    "DenseRetriever",
    "EvidenceArbiter",
    "Examination",
    "FinancialRetriever",
    "Fused",
    "HybridEnsemble",
    "IndexDocstore",
    "IndexVectorStore",
    "KeywordRetriever",
    "LineExplanation",
    "MmrCompressor",
    "ModelArbiter",
    "ParaphraseRetriever",
    "ParentRetriever",
    "QueryListParser",
    "RepeatGrouper",
    "Replay",
    "Reranker",
    "StoreRetriever",
    "assemble",
    "audit_schema",
    "explain_lines",
    "fill_store",
    "group_repeats",
    "maximal_marginal_relevance",
    "number_evidence",
    "parse_queries",
    "read_citations",
    "reciprocal_rank_fusion",
    "replay",
    "retrieval_chain",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag.retrieval' has no attribute {name!r}")
    return getattr(import_module(f"fin_rag.retrieval.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
