"""Adapters for the evaluator of the Spanish corpora: fin_rag's chunks under plain BM25 and under the hybrid.

    cd ../shared/data/corpus_es
    python evaluate.py corpus_es:bm25 corpus_es:hybrid corpus_es:full --path PATH_OF_THIS_FOLDER

``bm25`` ranks the prepared texts of our chunks with rank-bm25: no filter, no analysis of the question. Its budget
of 160 tokens makes five chunks as long as five of the textbook's structure chunker
(``lesson_chunkers:estructura_cab``).
``hybrid`` is ``FinancialRetriever`` without its plan, ``full`` as it comes.

Figures (recall; @1300 and @2000 are characters), plain and hard:

    splitter                           r@5        @1300      @2000      r@5        @1300      @2000
    textbook, by structure             .919       .849       .894       .824       .637       .735
    bm25        (160, Markdown)        .920       .889       .917       .877       .835       .883
    bm25_192                           .926       .841       .918       .878       .808       .870
    bm25_256                           .915       .824       .880       .896       .787       .884
    bm25_linear (160, rows in words)   .911       .847       .908       .853       .770       .841
    bm25_notes  (160, notes alone too) .869       .855       .885       .860       .830       .876
    full        (256)                  1.000      .989       .998       1.000      .955       .984

Rows in words repeat every column and unit, so fewer chunks fit; notes as chunks of their own crowd out the tables
that cite them as long as nothing filters by issuer and year.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import numpy as np
from langchain_core.documents import Document
from rank_bm25 import BM25Okapi

from fin_rag import ChunkingConfig, FilingIndex, FinancialReportTextSplitter, Tokenization, load_tokenization
from fin_rag.schema import parse_spans
from fin_rag.splitters import prepared_text
from fin_rag.text.words import fold, function_words

KINDS = {
    "informe_anual": "annual_report",
    "folleto": "prospectus",
    "folleto_etf": "prospectus",
    "kid": "kid",
    "research": "research",
}
Row = tuple[str, str, str, str, dict[str, object]]


def documents(docs: Sequence[Row]) -> list[Document]:
    """Turn the evaluator's rows into Documents with the metadata that a loader would give."""
    return [
        Document(
            page_content=text,
            metadata={
                "doc_id": doc_id,
                "source": doc_id,
                "title": title,
                "doc_type": KINDS.get(kind, "report"),
                "issuer": str(meta["emisor"]),
                "fiscal_year": int(str(meta["ejercicio"])),
                "filed": str(meta["fecha"]),
            },
        )
        for doc_id, title, kind, text, meta in docs
    ]


def words(text: str) -> list[str]:
    """Split a text into folded words without function words."""
    marks = "".join(char if char.isalnum() else " " for char in fold(text))
    return [word for word in marks.split() if word not in function_words()]


class Bm25:
    """Rank chunks by BM25 over their prepared texts."""

    def __init__(self, docs: Sequence[Row], budget: int, **settings: object) -> None:
        tokenization: Tokenization = load_tokenization()
        self.rows = []
        for document in documents(docs):
            splitter = FinancialReportTextSplitter(budget, tokenization=tokenization, **settings)
            for chunk in splitter.split_documents([document]):
                spans = [(s.start, s.end) for s in parse_spans(chunk.metadata["spans"])]
                text = prepared_text(chunk, tokenization)
                self.rows.append({"id_doc": chunk.metadata["doc_id"], "tramos": spans, "texto_indexado": text})
        self.engine = BM25Okapi([words(row["texto_indexado"]) for row in self.rows])

    def retrieve(self, question: str, k: int) -> list[dict[str, object]]:
        """Return the ``k`` best chunks in the evaluator's form."""
        scores = self.engine.get_scores(words(question))
        return [self.rows[i] for i in np.argsort(-scores, kind="stable")[:k]]


class Hybrid:
    """Rank chunks with the retriever of an index."""

    def __init__(self, docs: Sequence[Row], budget: int, **settings: object) -> None:
        self.index = FilingIndex.open(tempfile.mkdtemp(), config=ChunkingConfig(max_tokens=budget, overlap_tokens=0))
        self.index.add(documents(docs))
        self.retriever = self.index.retriever(**settings)

    def retrieve(self, question: str, k: int, budget: int | None = None) -> list[dict[str, object]]:
        """Return the ``k`` best results in the evaluator's form, or what fits in ``budget`` characters with headers."""
        if budget is None:
            found = self.retriever.invoke(question, k=k)
        else:
            found = self.retriever.retrieve(question, max_chars=budget, headers=True)[:k]
        return [
            {
                "id_doc": one.metadata["doc_id"],
                "tramos": [(s.start, s.end) for s in parse_spans(one.metadata["spans"])],
                "texto_indexado": f"{one.metadata['context_header']}\n\n{one.page_content}",
            }
            for one in found
        ]


def bm25(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 160 tokens, where five chunks are as long as the textbook's five."""
    return Bm25(docs, 160)


def bm25_192(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 192 tokens."""
    return Bm25(docs, 192)


def bm25_256(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 256 tokens."""
    return Bm25(docs, 256)


def bm25_notes(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 160 tokens with notes as chunks of their own too."""
    return Bm25(docs, 160, index_notes=True)


def bm25_linear(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 160 tokens with table rows in words."""
    return Bm25(docs, 160, tables="linear")


def hybrid(docs: Sequence[Row]) -> Hybrid:
    """Build the plain hybrid, without a plan, at 256 tokens."""
    return Hybrid(docs, 256, plan=False)


def full(docs: Sequence[Row]) -> Hybrid:
    """Build the retriever as it comes, at 256 tokens."""
    return Hybrid(docs, 256)
