"""Documents in: source files become canonical text, a page map and metadata."""

from fin_rag.loaders.financial import FinancialDocumentLoader

__all__ = ["FinancialDocumentLoader"]
