"""Load any financial document as one LangChain ``Document``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.generic_json import read_json
from fin_rag.loaders.generic_xml import read_xml
from fin_rag.loaders.metadata import document_metadata
from fin_rag.loaders.pdf import read_pdf
from fin_rag.loaders.plain import read_plain
from fin_rag.loaders.source import Source, read_source
from fin_rag.loaders.submission import read_submission
from fin_rag.schema import SourceDocument
from fin_rag.text.canonical import text_sha256


def read_loaded(source: Source, *, part: str = "") -> LoadedText:
    """Read a source with the reader of its format."""
    if source.format == "pdf":
        return read_pdf(source.data, name=source.name)
    if source.format == "html":
        from fin_rag.loaders.html import read_html

        return read_html(source.data, name=source.name)
    if source.format == "submission":
        return read_submission(source.data, name=source.name, part=part)
    if source.format == "xml":
        return read_xml(source.data, name=source.name)
    if source.format in ("json", "jsonl"):
        return read_json(source.data, name=source.name, lines=source.format == "jsonl")
    return read_plain(source.data, name=source.name)


class FinancialDocumentLoader(BaseLoader):
    """Load one financial document."""

    def __init__(self, path: str | Path, *, doc_type: str | None = None, **metadata: object) -> None:
        self.path = path
        self.metadata = metadata | ({"doc_type": doc_type} if doc_type else {})

    def lazy_load(self) -> Iterator[Document]:
        """Yield one document."""
        source = read_source(self.path)
        loaded = read_loaded(source)
        metadata = document_metadata(loaded, name=source.name, caller=self.metadata)
        metadata["source"] = str(self.path)
        metadata["text_sha256"] = text_sha256(loaded.text)
        if loaded.page_map.pages:
            metadata["page_map"] = loaded.page_map.format()
        yield SourceDocument(page_content=loaded.text, metadata=metadata, markup=loaded.markup)
