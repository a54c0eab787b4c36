"""``fin-rag inspect``: how a document is read: metadata, outline, warnings, tables and notes, chunk borders."""

from __future__ import annotations

import argparse
import json

from langchain_core.documents import Document

from fin_rag.cli.tables import table_lines, table_report
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.schema import PAGE_MAP, Outline, PageMap, Section, SourceDocument
from fin_rag.splitters import splitter_for

_EXCERPT = 60  # characters


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    document = FinancialDocumentLoader(options.file, doc_type=options.doc_type).load()[0]
    splitter = splitter_for(document, chunk_size=options.max_tokens)
    whole, outline, chunks = splitter.split_whole(document)
    tables = table_report(whole, outline) if options.tables else None
    if options.json:
        report = _report(whole, outline, chunks if options.chunks else [])
        print(json.dumps({**report, **(tables or {})}, ensure_ascii=False, indent=1))
        return 0
    metadata = {key: value for key, value in whole.metadata.items() if key != PAGE_MAP}
    for key, value in metadata.items():
        print(f"{key:14} {value}")
    pages = PageMap.parse(str(whole.metadata.get(PAGE_MAP, "")))
    print(f"{'text':14} {len(whole.page_content)} characters, {len(pages.pages)} pages, {len(chunks)} chunks")
    for warning in (*_markup_warnings(whole), *outline.warnings):
        print(f"warning        {warning}")
    print()
    for section in outline:
        print(_branch(section, pages))
    if tables:
        print()
        for line in table_lines(tables):
            print(line)
    if options.chunks:
        print()
        for chunk in chunks:
            print(_border(chunk))
    return 0


def _branch(section: Section, pages: PageMap) -> str:
    touched = pages.range(section.span)
    where = "" if touched is None else _pages(*touched)
    state = section.metadata.get("state", "")
    notes = "".join(f"  ! {warning}" for warning in section.warnings)
    name = " ".join(dict.fromkeys(part for part in (section.path[-1], section.title) if part))
    indent = "  " * (section.level - 1)
    return f"{indent}{name}  [{len(section.span)} characters{where}{f', {state}' if state else ''}]{notes}"


def _pages(first: int, last: int) -> str:
    return f", p. {first}" if first == last else f", pp. {first}-{last}"


def _border(chunk: Document) -> str:
    metadata = chunk.metadata
    excerpt = " ".join(chunk.page_content.split())
    excerpt = excerpt if len(excerpt) <= _EXCERPT else excerpt[: _EXCERPT - 1] + "…"
    return (
        f"{metadata['chunk_index']:5} {metadata['spans']:>17} {metadata['token_count']:4} tokens "
        f"{metadata['kind']:6} {metadata['section_id']}: {excerpt}"
    )


def _markup_warnings(document: Document) -> tuple[str, ...]:
    return document.markup.warnings if isinstance(document, SourceDocument) else ()


def _report(document: Document, outline: Outline, chunks: list[Document]) -> dict[str, object]:
    sections = [
        {
            "section_id": section.section_id,
            "title": section.title,
            "path": list(section.path),
            "level": section.level,
            "start": section.span.start,
            "end": section.span.end,
            "metadata": dict(section.metadata),
            "warnings": list(section.warnings),
        }
        for section in outline
    ]
    return {
        "metadata": document.metadata,
        "characters": len(document.page_content),
        "warnings": [*_markup_warnings(document), *outline.warnings],
        "sections": sections,
        "chunks": [{"id": c.id, "text": c.page_content, "metadata": c.metadata} for c in chunks],
    }
