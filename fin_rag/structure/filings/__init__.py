"""Outlines SEC filings: Parts, Items, sub-headings and notes, as spans of the canonical text."""

from fin_rag.structure.filings.outline import outline_filing
from fin_rag.structure.filings.statements import add_statements

__all__ = ["add_statements", "outline_filing"]
