"""Splitters: outline and budget become chunks with exact offsets."""

from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.kinds import FinancialReportTextSplitter, SecFilingTextSplitter, splitter_for
from fin_rag.splitters.splitter import StructureTextSplitter, joined_pages

__all__ = [
    "ChunkingConfig",
    "FinancialReportTextSplitter",
    "SecFilingTextSplitter",
    "StructureTextSplitter",
    "joined_pages",
    "splitter_for",
]
