"""Splitters: outline and budget become chunks with exact offsets."""

from fin_rag.splitters.baselines import FixedWindowTextSplitter, RecursiveTextSplitter
from fin_rag.splitters.chunks import prepared_text
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.document import ChunkRecord, SectionSpan, chunk_document
from fin_rag.splitters.kinds import FinancialReportTextSplitter, SecFilingTextSplitter, splitter_for
from fin_rag.splitters.splitter import StructureTextSplitter, joined_pages

__all__ = [
    "ChunkRecord",
    "ChunkingConfig",
    "FinancialReportTextSplitter",
    "FixedWindowTextSplitter",
    "RecursiveTextSplitter",
    "SecFilingTextSplitter",
    "SectionSpan",
    "StructureTextSplitter",
    "chunk_document",
    "joined_pages",
    "prepared_text",
    "splitter_for",
]
