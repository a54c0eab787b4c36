"""Pages to look at: one document as the package reads it, and a local viewer of an index."""

from fin_rag.inspector.page import inspect_page

__all__ = ["inspect_page"]
