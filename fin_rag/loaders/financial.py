"""Load any financial document as one LangChain ``Document``: the reader by content, the metadata settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Final

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.generic_json import read_json
from fin_rag.loaders.generic_xml import read_xml
from fin_rag.loaders.metadata import caller_metadata, document_metadata
from fin_rag.loaders.pdf import read_pdf
from fin_rag.loaders.plain import read_plain
from fin_rag.loaders.regulation_xml import NO_VERSIONS, as_of_number, read_regulation_xml
from fin_rag.loaders.source import MAX_BYTES, Source, read_source
from fin_rag.loaders.submission import read_submission
from fin_rag.loaders.transcripts import read_transcript
from fin_rag.schema import CHUNK_ONLY_KEYS, DOC_TYPE, PAGE_MAP, SOURCE, TEXT_SHA256, SourceDocument
from fin_rag.text.canonical import text_sha256

_OWN_KEYS: Final = frozenset({TEXT_SHA256, PAGE_MAP}) | CHUNK_ONLY_KEYS


class FinancialDocumentLoader(BaseLoader):
    r"""Load one financial document as one ``Document`` that holds the whole canonical text.

    Formats are HTML and inline XBRL, PDF, Markdown, text, EDGAR submissions, JSON and XML, also with gzip.
    Its metadata are what the document says of itself (kind, issuer, period, ...) and the caller's own;
    pages, where there are any, stand in ``page_map``. It is a :class:`~fin_rag.schema.SourceDocument`:
    headings, links and facts travel along in ``markup``.

    Args:
        path: The file. A folder is the business of an index.
        doc_type: The kind, where detection should not decide: ``10-K``, ``earnings_call``, ``kid``, ...
        part: For full-submission text files: the ``<TYPE>`` of the document wanted, such as ``EX-99.1``.
        as_of: A date (``YYYY-MM-DD`` or ``date``): where the source holds several versions of a provision (BOE
            open data), those in force on that day are read. Without it, the newest ones.
        max_bytes: Largest size in bytes, after decompression, that is taken.
        **metadata: Metadata of the caller; they win over what is found. Dates may be ``date`` objects.

    Raises:
        InputError: if a metadata value has the wrong type, is set by the loader itself, or if a private
            document has no ``session_id``.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "informe.md")
        ...     _ = file.write_text("# Orbital, S.A. — Informe anual 2023\n\nVentas: 12.", encoding="utf-8")
        ...     [document] = FinancialDocumentLoader(file, ticker="ORB").load()
        >>> document.metadata["doc_type"], document.metadata["fiscal_year"], document.metadata["ticker"]
        ('annual_report', 2023, 'ORB')
    """

    def __init__(
        self,
        path: str | Path,
        *,
        doc_type: str | None = None,
        part: str = "",
        as_of: str | date | None = None,
        max_bytes: int = MAX_BYTES,
        **metadata: object,
    ) -> None:
        """Check the caller's metadata before any work; see the class for the arguments."""
        reserved = sorted(_OWN_KEYS & metadata.keys())
        if reserved:
            raise InputError(f"Metadata {reserved[0]!r} is set by the loader or the splitter. Leave it out.")
        if not isinstance(path, str | Path):
            raise InputError(f"'path' must be a str or a Path. Got {type(path).__name__}: {path!r}.")
        self.path = path
        self.part = part
        self.as_of = as_of_number(as_of)
        self.max_bytes = max_bytes
        self.metadata = caller_metadata({**metadata, DOC_TYPE: doc_type})

    def lazy_load(self) -> Iterator[Document]:
        """Yield the document.

        Raises:
            NotFoundError: if there is no such file, or no such part in it.
            InputError: if the path is a directory.
            ParseError: if the file is empty, broken, encrypted, without text, or of no format that is read.
        """
        source = read_source(self.path, max_bytes=self.max_bytes)
        loaded = read_loaded(source, part=self.part, as_of=self.as_of)
        metadata = {
            SOURCE: str(self.path),
            TEXT_SHA256: text_sha256(loaded.text),
            **document_metadata(loaded, name=source.name, caller=self.metadata),
        }
        if loaded.page_map.pages:
            metadata[PAGE_MAP] = loaded.page_map.format()
        yield SourceDocument(page_content=loaded.text, metadata=metadata, markup=loaded.markup)


def read_loaded(source: Source, *, part: str = "", as_of: int | None = None) -> LoadedText:
    """Read a source with the reader of its format; what was odd about the source joins the text's warnings.

    ``as_of`` (YYYYMMDD) chooses among the versions that some statutes hold; a warning says where there are none.

    Raises:
        InputError: if a part is asked for and the source is no full submission.
        NotFoundError: if there is no such part.
        ParseError: if the source cannot be read or holds no text.

    Example:
        >>> from fin_rag.loaders.source import identify
        >>> source = identify(b"<html><body><p>Net sales rose.</p></body></html>", name="a.txt")
        >>> read_loaded(source).markup.warnings
        ('the content is html, though the name ends in .txt',)
    """
    if part and source.format != "submission":
        raise InputError(f"{source.path} is no full submission, so it has no part {part!r}. Leave 'part' out.")
    loaded = _read(source, part, as_of)
    warnings = source.warnings + loaded.markup.warnings
    if as_of is not None and source.format != "xml":
        warnings += (NO_VERSIONS,)
    return replace(loaded, markup=replace(loaded.markup, warnings=warnings)) if warnings else loaded


def _read(source: Source, part: str, as_of: int | None) -> LoadedText:
    if source.format == "pdf":
        return read_pdf(source.data, name=source.path)
    if source.format == "html":
        from fin_rag.loaders.html import read_html

        return read_html(source.data, name=source.path)
    if source.format == "submission":
        return read_submission(source.data, name=source.path, part=part)
    if source.format == "xml":
        return (
            read_regulation_xml(source.data, name=source.path, as_of=as_of)
            or read_transcript(source.data, name=source.path, format="xml")
            or _other_xml(source, as_of)
        )
    if source.format == "json" or source.format == "jsonl":
        transcript = read_transcript(source.data, name=source.path, format=source.format)
        return transcript or read_json(source.data, name=source.path, lines=source.format == "jsonl")
    return read_plain(source.data, name=source.path)


def _other_xml(source: Source, as_of: int | None) -> LoadedText:
    loaded = read_xml(source.data, name=source.path)
    if as_of is None:
        return loaded
    return replace(loaded, markup=replace(loaded.markup, warnings=(*loaded.markup.warnings, NO_VERSIONS)))
