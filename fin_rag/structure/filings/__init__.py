"""Outlines SEC filings: Parts, Items, sub-headings and notes, as spans of the canonical text."""

from fin_rag.structure.filings.outline import outline_filing

__all__ = ["outline_filing"]
