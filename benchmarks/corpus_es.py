"""Adapters for the evaluator of the Spanish corpora: fin_rag's chunks under plain BM25 and under the hybrid.

    cd ../shared/data/corpus_es
    python evaluate.py corpus_es:bm25 corpus_es:hybrid --path PATH_OF_THIS_FOLDER

``bm25`` ranks the prepared texts of our chunks with rank-bm25: no filter, no analysis of the question.
``hybrid`` is ``FinancialRetriever`` as it comes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import numpy as np
from langchain_core.documents import Document
from rank_bm25 import BM25Okapi

from fin_rag import ChunkingConfig, FilingIndex, Tokenization, load_tokenization, splitter_for
from fin_rag.text.words import fold, function_words
from fin_rag.schema import parse_spans

KINDS = {"informe_anual": "annual_report", "folleto": "prospectus", "folleto_etf": "prospectus", "kid": "kid", "research": "research"}
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
            splitter = splitter_for(document, chunk_size=budget, tokenization=tokenization, **settings)
            for chunk in splitter.split_documents([document]):
                spans = [(s.start, s.end) for s in parse_spans(chunk.metadata["spans"])]
                text = tokenization.prepare(chunk.page_content, header=chunk.metadata["context_header"])
                self.rows.append(
                    {"id_doc": chunk.metadata["doc_id"], "tramos": spans, "texto_indexado": text}
                )
        self.engine = BM25Okapi([words(row["texto_indexado"]) for row in self.rows])

    def retrieve(self, question: str, k: int) -> list[dict[str, object]]:
        """Return the ``k`` best chunks in the evaluator's form."""
        scores = self.engine.get_scores(words(question))
        return [self.rows[i] for i in np.argsort(-scores, kind="stable")[:k]]


class Hybrid:
    """Rank chunks with the retriever of an index."""

    def __init__(self, docs: Sequence[Row], budget: int) -> None:
        self.index = FilingIndex.open(
            tempfile.mkdtemp(), config=ChunkingConfig(max_tokens=budget, overlap_tokens=0)
        )
        self.index.add(documents(docs))

    def retrieve(self, question: str, k: int) -> list[dict[str, object]]:
        """Return the ``k`` best chunks in the evaluator's form."""
        return [
            {
                "id_doc": found.metadata["doc_id"],
                "tramos": [(s.start, s.end) for s in parse_spans(found.metadata["spans"])],
                "texto_indexado": f"{found.metadata['context_header']}\n\n{found.page_content}",
            }
            for found in self.index.retriever(k=k).invoke(question)
        ]


def bm25(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 256 tokens."""
    return Bm25(docs, 256)


def bm25_384(docs: Sequence[Row]) -> Bm25:
    """Build the BM25 adapter at 384 tokens."""
    return Bm25(docs, 384)


def hybrid(docs: Sequence[Row]) -> Hybrid:
    """Build the hybrid adapter at 256 tokens."""
    return Hybrid(docs, 256)
