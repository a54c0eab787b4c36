"""The index: vectors, keywords, texts and catalogue, kept together as one store."""

from fin_rag.index.embeddings import load_embeddings
from fin_rag.index.filters import Filter
from fin_rag.index.ingest import AddReport, Progress
from fin_rag.index.store import FilingIndex

__all__ = ["AddReport", "FilingIndex", "Filter", "Progress", "load_embeddings"]
