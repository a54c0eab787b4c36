"""Chunker shoot-out: recall by offsets within 1,000, 2,000 and 4,000 tokens of context, one search engine for all.

    python benchmarks/chunkers.py [--corpora plain,hard,financebench] [--tokens 256] [--svg FILE] [--json FILE]

Every chunker cuts the same canonical texts under the same budget in tokens; its chunks go into the same BM25 with the
document's title (and the headings, where the chunker knows them) in front. Chunks whose place in the text is not known
are counted. Packages that are not installed are named and left out: ``chonkie``, ``docling-core[chunking]``,
``beautifulsoup4`` (for LangChain's HTML splitter). The corpora lie in ``../shared/data``.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from langchain_core.documents import Document
from langchain_text_splitters import MarkdownHeaderTextSplitter, MarkdownTextSplitter, RecursiveCharacterTextSplitter

from fin_rag import FinancialDocumentLoader, load_tokenization, splitter_for
from fin_rag.evaluation import Corpus, evaluate_retrieval
from fin_rag.evaluation.baselines import Bm25Retriever, structure_pieces
from fin_rag.evaluation.corpus import CorpusDocument
from fin_rag.evaluation.imports import Imported, import_financebench, import_three_tables
from fin_rag.evaluation.plots import recall_curves
from fin_rag.evaluation.quotes import align_quote, find_quote
from fin_rag.evaluation.resolve import resolve
from fin_rag.evaluation.results import RetrievalReport
from fin_rag.evaluation.tables import summary_table
from fin_rag.schema import CONTEXT_HEADER, DOC_ID, SPANS, Span, format_spans
from fin_rag.splitters.baselines import FixedWindowTextSplitter
from fin_rag.structure.blocks import blocks
from fin_rag.structure.tables import table_rows
from fin_rag.tokens import Tokenization, use_tokenizer

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
Chunks = Iterator[tuple[str, Sequence[Span], str]]  # text, spans (none: not located), headings


class Locator:
    """Find the places of chunks that come without offsets, each at or after the one before."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def __call__(self, piece: str) -> Sequence[Span]:
        """Return the spans of a piece; none if its words do not stand in the text in this order."""
        start = self.text.find(piece, max(0, self.at - len(piece)))
        if start >= 0:
            self.at = start + len(piece)
            return [Span(start, start + len(piece))]
        window = Span(max(0, self.at - 2000), min(len(self.text), self.at + 20_000))
        found = find_quote(self.text, piece, window)
        spans = tuple(found[:1]) or align_quote(self.text, piece, window)
        if spans:
            self.at = spans[-1].end
        return spans


def ours(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    whole = Document(page_content=document.text, metadata=dict(document.metadata))
    for chunk in splitter_for(whole, chunk_size=budget, tokenization=tokenization).split_documents([whole]):
        yield _of_ours(chunk)


def fixed(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    whole = Document(page_content=document.text, metadata=dict(document.metadata))
    for chunk in FixedWindowTextSplitter(budget, tokenization=tokenization).split_documents([whole]):
        text, spans, _ = _of_ours(chunk)
        yield text, spans, ""


def _of_ours(chunk: Document) -> tuple[str, Sequence[Span], str]:
    from fin_rag.schema import SECTION_PATH, parse_spans

    return chunk.page_content, parse_spans(chunk.metadata[SPANS]), str(chunk.metadata.get(SECTION_PATH, ""))


def textbook_structure(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:  # noqa: ARG001
    for spans in structure_pieces(document.text):
        yield "\n\n".join(span.slice(document.text) for span in spans), spans, ""


def langchain_recursive(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=budget, chunk_overlap=0, length_function=tokenization.count_tokens, add_start_index=True
    )
    yield from _indexed(splitter.create_documents([document.text]))


def langchain_markdown(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    splitter = MarkdownTextSplitter(
        chunk_size=budget, chunk_overlap=0, length_function=tokenization.count_tokens, add_start_index=True
    )
    yield from _indexed(splitter.create_documents([document.text]))


def langchain_headers(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    """Cut at Markdown headings, and long sections as LangChain's guide says: recursively."""
    first = MarkdownHeaderTextSplitter([("#" * n, f"h{n}") for n in range(1, 5)], strip_headers=False)
    second = RecursiveCharacterTextSplitter(
        chunk_size=budget, chunk_overlap=0, length_function=tokenization.count_tokens
    )
    yield from _located(document, second.split_documents(first.split_text(document.text)))


def langchain_html(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    from langchain_text_splitters import HTMLSemanticPreservingSplitter

    size = 4 * budget  # it counts characters: four a token, as its users reckon
    splitter = HTMLSemanticPreservingSplitter(
        [(f"h{n}", f"h{n}") for n in range(1, 5)], max_chunk_size=size, elements_to_preserve=["table", "ul"]
    )
    del tokenization
    yield from _located(document, splitter.split_text(_as_html(document.text)))


def chonkie_recursive(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:  # noqa: ARG001
    from chonkie import RecursiveChunker

    for chunk in RecursiveChunker(tokenizer=use_tokenizer(), chunk_size=budget).chunk(document.text):
        yield chunk.text, [Span(chunk.start_index, chunk.end_index)], ""


def docling_hybrid(document: CorpusDocument, budget: int, tokenization: Tokenization) -> Chunks:
    from docling_core.transforms.chunker.hybrid_chunker import HybridChunker
    from docling_core.transforms.chunker.tokenizer.base import BaseTokenizer

    class Counter(BaseTokenizer):
        """Let docling count with our tokens."""

        def count_tokens(self, text: str) -> int:
            return tokenization.count_tokens(text)

        def get_max_tokens(self) -> int:
            return budget

        def get_tokenizer(self) -> Any:  # noqa: ANN401  # docling's own signature
            return tokenization.count_tokens

    whole, places = _as_docling(document)
    for chunk in HybridChunker(tokenizer=Counter()).chunk(whole):
        spans: list[Span] = []
        for item in chunk.meta.doc_items:
            place = places.get(item.self_ref)
            if place is not None:
                spans += _part(document.text, chunk.text, place)
        yield chunk.text, spans, " > ".join(chunk.meta.headings or ())


def _part(text: str, piece: str, place: Span) -> Sequence[Span]:
    """Return the part of an item that a chunk holds; the whole item where its table was rewritten in words."""
    if len(piece) >= 0.9 * len(place):
        return [place]
    return find_quote(text, piece, place)[:1] or align_quote(text, piece, place) or [place]


CHUNKERS: dict[str, tuple[Callable[[CorpusDocument, int, Tokenization], Chunks], str]] = {
    "fin_rag": (ours, ""),
    "fixed windows": (fixed, ""),
    "textbook structure": (textbook_structure, ""),
    "LangChain recursive": (langchain_recursive, ""),
    "LangChain Markdown": (langchain_markdown, ""),
    "LangChain headers": (langchain_headers, ""),
    "LangChain HTML": (langchain_html, "bs4"),
    "chonkie recursive": (chonkie_recursive, "chonkie"),
    "docling hybrid": (docling_hybrid, "docling_core"),
}


def _indexed(chunks: Sequence[Document]) -> Chunks:
    for chunk in chunks:
        start = chunk.metadata["start_index"]
        yield chunk.page_content, [Span(start, start + len(chunk.page_content))] if start >= 0 else [], ""


def _located(document: CorpusDocument, chunks: Sequence[Document]) -> Chunks:
    locate = Locator(document.text)
    for chunk in chunks:
        headings = " > ".join(str(v) for k, v in chunk.metadata.items() if k.startswith("h") and k[1:].isdigit())
        yield chunk.page_content, locate(chunk.page_content), headings


def _as_html(text: str) -> str:
    """Write canonical Markdown as plain HTML: headings, tables, paragraphs."""
    out = []
    for block in blocks(text):
        body = block.span.slice(text)
        if block.kind == "heading":
            level = min(max(block.level, 1), 4)
            out.append(f"<h{level}>{escape(body.lstrip('# ').strip('*'))}</h{level}>")
        elif block.kind == "table":
            rows = table_rows(text, block)
            cells = [rows.header, *((row.label, *row.cells) for row in rows.rows)]
            body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in cells)
            out.append(f"<table>{body}</table>")
        else:
            out.append(f"<p>{escape(body)}</p>")
    return "<html><body>" + "\n".join(out) + "</body></html>"


def _as_docling(document: CorpusDocument) -> tuple[Any, dict[str, Span]]:
    """Make a DoclingDocument of a canonical text, and remember where each item stands."""
    from docling_core.types.doc import DocItemLabel, DoclingDocument, TableCell, TableData

    whole = DoclingDocument(name=document.doc_id)
    places = {}
    for block in blocks(document.text):
        body = block.span.slice(document.text)
        if block.kind == "heading":
            item = whole.add_heading(body.lstrip("# ").strip("*"), level=max(block.level, 1))
        elif block.kind == "table":
            table = table_rows(document.text, block)
            rows = [table.header, *((row.label, *row.cells) for row in table.rows)]
            width = max(map(len, rows))
            cells = [
                TableCell(
                    text=row[j] if j < len(row) else "", start_row_offset_idx=i, end_row_offset_idx=i + 1,
                    start_col_offset_idx=j, end_col_offset_idx=j + 1, column_header=i == 0, row_header=j == 0,
                )
                for i, row in enumerate(rows) for j in range(width)
            ]  # fmt: skip
            item = whole.add_table(TableData(table_cells=cells, num_rows=len(rows), num_cols=width))
        else:
            item = whole.add_text(label=DocItemLabel.TEXT, text=body)
        places[item.self_ref] = block.span
    return whole, places


def chunks_of(name: str, corpus: Corpus, budget: int, tokenization: Tokenization) -> tuple[list[Document], int]:
    """Return the chunks of all documents, and how many have no known place."""
    out, lost = [], 0
    for doc_id in corpus.doc_ids:
        document = corpus[doc_id]
        for text, spans, headings in CHUNKERS[name][0](document, budget, tokenization):
            whole = [span for span in spans if len(span)]
            if not whole:
                lost += bool(text.strip())
                continue
            header = f"{document.title} > {headings}" if headings else document.title
            metadata = {DOC_ID: doc_id, SPANS: format_spans(whole), CONTEXT_HEADER: header}
            out.append(Document(id=f"{doc_id}-{len(out)}", page_content=text, metadata=metadata))
    return out, lost


def financebench() -> Imported:
    """Load the PDF files of FinanceBench with our loader, under the names that the set gives them."""
    folder = SHARED / "financebench"
    taken = import_financebench(folder)
    documents = []
    for path in sorted((folder / "pdfs").glob("*.pdf")):
        document = FinancialDocumentLoader(path).load()[0]
        title = path.stem.replace("_", " ")
        documents.append(
            document.model_copy(update={"metadata": {**document.metadata, "doc_id": path.stem, "title": title}})
        )
    return Imported(taken.golden, tuple(documents))


def measure(
    name: str, taken: Imported, corpus: Corpus, options: argparse.Namespace, tokenization: Tokenization
) -> RetrievalReport:
    started = time.perf_counter()
    chunks, lost = chunks_of(name, corpus, options.tokens, tokenization)
    cut = time.perf_counter() - started
    resolved = resolve(taken.golden, corpus)
    depth = max(60, 3 * 4000 // options.tokens)
    report = evaluate_retrieval(
        resolved, Bm25Retriever(chunks=chunks), corpus, name=name, ks=(5,), characters=(),
        tokens=(500, 1000, 2000, 4000, 8000), depth=depth, tokenization=tokenization, cluster_by="issuer",
    )  # fmt: skip
    found = ", ".join(f"{report.mean('recall', c.name).mean:.3f} {c.name}" for c in report.cutoffs)
    print(f"{name}: {len(chunks)} chunks in {cut:.1f} s, {lost} without a known place; recall {found}", flush=True)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default="plain,hard")
    parser.add_argument("--chunkers", default=",".join(CHUNKERS))
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not SHARED.is_dir():
        raise SystemExit("the shared documents (../shared) are not on this machine")
    tokenization = load_tokenization()
    results = {}
    for variant in options.corpora.split(","):
        taken = financebench() if variant == "financebench" else import_three_tables(SHARED / "corpus_es" / variant)
        corpus = Corpus.from_documents(taken.documents)
        print(f"\n== {variant}: {len(corpus)} documents, {len(taken.golden.answerable)} questions")
        reports = []
        for name in options.chunkers.split(","):
            package = CHUNKERS[name][1]
            if package and importlib.util.find_spec(package) is None:
                print(f"{name}: {package} is not installed")
                continue
            reports.append(measure(name, taken, corpus, options, tokenization))
        print()
        print(summary_table(reports).markdown())
        results[variant] = [report.as_dict()["summary"] | {"name": report.name} for report in reports]
        if options.svg:
            path = options.svg.with_name(f"{options.svg.stem}-{variant}.svg")
            path.write_text(recall_curves(reports, "tokens"), encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
