"""Stand-ins that several tests share: an embedding model without weights, documents, invariants."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from fin_rag.schema import Span, check_chunk_metadata, parse_spans
from fin_rag.tokens import Tokenization


class WordEmbeddings(Embeddings):
    """Embed a text as its words hashed into a few dimensions: equal words, equal vectors."""

    def __init__(self, dimension: int = 24, salt: str = "") -> None:
        self.model_name = f"words-{dimension}{salt}"
        self.dimension = dimension
        self.salt = salt
        self.calls = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls += len(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        out = [0.0] * self.dimension
        for word in text.lower().split():
            digest = hashlib.sha256((self.salt + word).encode()).digest()
            out[digest[0] % self.dimension] += 1.0 if digest[1] % 2 else -1.0
        length = math.sqrt(sum(x * x for x in out))
        return [x / length for x in out] if length else [1.0] + [0.0] * (self.dimension - 1)


def words() -> Tokenization:
    """Count words, as a tokenizer that has no special tokens."""
    return Tokenization("words", lambda text: len(text.split()), max_input_tokens=512)


def byte_level() -> Tokenization:
    """Count UTF-8 bytes and two special tokens, as a byte-level model without merges would."""
    return Tokenization("bytes", lambda text: len(text.encode()) + 2, max_input_tokens=100_000)


def report(text: str, **metadata: object) -> Document:
    """Make a document of a kind that needs no detection."""
    return Document(page_content=text, metadata={"doc_type": "report", "lang": "en", **metadata})


def assert_sound(
    text: str,
    chunks: list[Document],
    tokenization: Tokenization,
    budget: int,
    furniture: Sequence[Span] = (),
) -> None:
    """Assert what holds for the chunks of any document: slices, order, coverage, budget, contract."""
    covered = bytearray(len(text))
    for mark in furniture:
        covered[mark.start : mark.end] = b"\x01" * len(mark)
    last = -1
    for index, chunk in enumerate(chunks):
        metadata = chunk.metadata
        assert check_chunk_metadata(metadata) == []
        spans = parse_spans(metadata["spans"])
        assert chunk.page_content == "\n\n".join(span.slice(text) for span in spans)
        assert any((s.start, s.end) == (metadata["start_index"], metadata["end_index"]) for s in spans)
        assert metadata["start_index"] > last
        assert metadata["parent_start"] <= metadata["start_index"] < metadata["end_index"] <= metadata["parent_end"]
        counted = tokenization.count(chunk.page_content, header=metadata["context_header"])
        assert metadata["token_count"] == counted <= budget
        assert metadata["chunk_index"] == index
        last = metadata["start_index"]
        for span in spans:
            covered[span.start : span.end] = b"\x01" * len(span)
    lost = [i for i, char in enumerate(text) if not char.isspace() and not covered[i]]
    assert not lost, text[max(lost[0] - 20, 0) : lost[0] + 40]
    assert len({chunk.id for chunk in chunks}) == len(chunks)
