"""``fin-rag inspect``: how a document is read: metadata, outline, tables, statements, facts, chunks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from langchain_core.documents import Document

from fin_rag.cli.references import graph_lines, references_report
from fin_rag.cli.reproduction import LENGTHS, anonymise_html, anonymise_text, skeleton
from fin_rag.cli.statements import fact_lines, fact_report, statement_lines, statement_report
from fin_rag.cli.tables import table_lines, table_report
from fin_rag.cli.turns import turn_records, turn_table
from fin_rag.errors import InputError
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.loaders.html import decode_html
from fin_rag.loaders.source import read_source
from fin_rag.schema import DOC_TYPE, PAGE_MAP, Outline, PageMap, Section, SourceDocument
from fin_rag.splitters import splitter_for
from fin_rag.structure.calls import CallOutline

_EXCERPT = 60  # characters


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    document = FinancialDocumentLoader(options.file, doc_type=options.doc_type, as_of=options.as_of).load()[0]
    if options.report:
        return _write_report(options, document)
    splitter = splitter_for(document, chunk_size=options.max_tokens)
    whole, outline, chunks = splitter.split_whole(document)
    if options.html:
        return _write_page(options, whole, outline, chunks)
    tables = table_report(whole, outline) if options.tables else None
    statements = statement_report(whole, outline) if options.statements else None
    facts = fact_report(whole) if options.facts else None
    if options.json:
        report = _report(whole, outline, chunks if options.chunks else [])
        print(
            json.dumps(
                {**report, **(tables or {}), **(statements or {}), **(facts or {})}, ensure_ascii=False, indent=1
            )
        )
        return 0
    _print_outline(whole, outline, len(chunks))
    shown = (
        graph_lines(outline, whole.page_content),
        table_lines(tables) if tables else (),
        statement_lines(statements) if statements else (),
        fact_lines(facts) if facts else (),
    )
    for lines in map(list, shown):
        if lines:
            print("", *lines, sep="\n")
    if options.chunks:
        print()
        for chunk in chunks:
            print(_border(chunk))
    return 0


def _print_outline(whole: Document, outline: Outline, chunks: int) -> None:
    """Print metadata, warnings, and the sections as a tree or the turns as a table."""
    metadata = {key: value for key, value in whole.metadata.items() if key != PAGE_MAP}
    for key, value in metadata.items():
        print(f"{key:14} {value}")
    pages = PageMap.parse(str(whole.metadata.get(PAGE_MAP, "")))
    print(f"{'text':14} {len(whole.page_content)} characters, {len(pages.pages)} pages, {chunks} chunks")
    for warning in (*_markup_warnings(whole), *outline.warnings):
        print(f"warning        {warning}")
    print()
    if isinstance(outline, CallOutline) and outline.turns:
        print("\n".join(turn_table(outline, whole.page_content)))
    else:
        for section in outline:
            print(_branch(section, pages))


def _write_page(options: argparse.Namespace, whole: Document, outline: Outline, chunks: list[Document]) -> int:
    from fin_rag.inspector import inspect_page

    page = inspect_page(whole, outline, chunks, max_tokens=options.max_tokens)
    try:
        Path(options.html).write_text(page, encoding="utf-8")
    except OSError as error:
        raise InputError(f"The page {options.html!r} cannot be written: {error.strerror}.") from error
    if options.json:
        print(json.dumps({"html": options.html, "bytes": len(page.encode()), "chunks": len(chunks)}))
    else:
        print(
            f"{options.html}: {len(outline)} sections, {len(chunks)} chunks. Open it in a browser; it needs no network."
        )
    return 0


def _write_report(options: argparse.Namespace, document: Document) -> int:
    """Write a copy without content and tell whether it is read as the document is."""
    source = read_source(options.file)
    text = decode_html(source.data)[0] if source.format == "html" else document.page_content
    anonymise = anonymise_html if source.format == "html" else anonymise_text
    out, doc_type = Path(options.report), str(document.metadata.get(DOC_TYPE))
    before = skeleton(splitter_for(document).outline(document))
    after: list[tuple[int, str, str]] = []
    for longest in LENGTHS:
        try:
            out.write_text(anonymise(text, longest), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{options.report!r} cannot be written: {error.strerror}. Name another file.") from error
        copy = FinancialDocumentLoader(out, doc_type=doc_type).load()[0]
        after = skeleton(splitter_for(copy).outline(copy))
        if after == before:
            break
    same = before == after
    size, whole = out.stat().st_size, len(source.data)
    if options.json:
        print(json.dumps({"report": str(out), "bytes": size, "of": whole, "same_outline": same, "doc_type": doc_type}))
        return 0
    told = f"the same outline ({len(after)} sections)" if same else f"{len(after)} sections instead of {len(before)}"
    print(f"{out}: {size} bytes of {whole}, {told}. Read it before you send it: inspect {out} --doc-type {doc_type}")
    return 0


def _branch(section: Section, pages: PageMap) -> str:
    touched = pages.range(section.span)
    where = "" if touched is None else _pages(*touched)
    state = section.metadata.get("state", "")
    notes = "".join(f"  ! {warning}" for warning in section.warnings)
    name = " ".join(dict.fromkeys(part for part in (section.path[-1], section.title) if part))
    indent = "  " * (section.level - 1)
    address = section.metadata.get("address", "")
    name = f"{address}  {name}" if address and state != "editorial_note" else name
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
        **(turn_records(outline) if isinstance(outline, CallOutline) else {}),
        "references": references_report(outline, document.page_content),
        "chunks": [{"id": c.id, "text": c.page_content, "metadata": c.metadata} for c in chunks],
    }
