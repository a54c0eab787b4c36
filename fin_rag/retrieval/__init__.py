"""Retrieval: filter, search by meaning and by words, fuse."""

from fin_rag.retrieval.fusion import Fused, reciprocal_rank_fusion
from fin_rag.retrieval.retriever import FinancialRetriever

__all__ = ["FinancialRetriever", "Fused", "reciprocal_rank_fusion"]
