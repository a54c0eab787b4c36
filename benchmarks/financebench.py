"""Adapters for the evaluator of FinanceBench: the retriever of an index, alone and with parts switched off.

    cd ../shared/data/financebench
    python evaluate.py --mirror . --spec PATH_OF_THIS_FOLDER/financebench.py:full

Documents are read once and vectors kept in ``FIN_RAG_BENCHMARK_CACHE`` (a folder), where that is set.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from langchain_core.documents import Document

from fin_rag import FilingIndex, FinancialDocumentLoader
from fin_rag.index.embeddings import UseEmbeddings
from fin_rag.schema import PAGE_MAP, SPANS, PageMap, parse_spans


class CachedEmbeddings(UseEmbeddings):
    """Keep the vectors of texts in one file, by hash."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.known: dict[str, np.ndarray] = {}
        if path.is_file():
            data = np.load(path)
            self.known = dict(zip(data["keys"].tolist(), data["vectors"], strict=True))

    def embed_array(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors as one array; only texts that are new are embedded."""
        keys = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
        new = [i for i, key in enumerate(keys) if key not in self.known]
        if new:
            made = super().embed_array([texts[i] for i in new])
            self.known.update({keys[i]: vector for i, vector in zip(new, made, strict=True)})
            if len(new) > 64:
                self.save()
        return np.stack([self.known[key] for key in keys]) if keys else np.zeros((0, 512), dtype=np.float32)

    def save(self) -> None:
        """Write the file."""
        np.savez(self.path, keys=np.array(list(self.known)), vectors=np.stack(list(self.known.values())))


def cache_folder() -> Path:
    """Return where documents and vectors are kept."""
    folder = Path(os.environ.get("FIN_RAG_BENCHMARK_CACHE") or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


_EMBEDDINGS: list[CachedEmbeddings] = []


def embeddings() -> CachedEmbeddings:
    """Return the one model of this process."""
    if not _EMBEDDINGS:
        _EMBEDDINGS.append(CachedEmbeddings(cache_folder() / "vectors.npz"))
    return _EMBEDDINGS[0]


def load(name: str, path: str) -> Document:
    """Load one PDF, or what an earlier run made of it."""
    kept = cache_folder() / f"{name}.pickle"
    if kept.is_file():
        with kept.open("rb") as file:
            document: Document = pickle.load(file)  # noqa: S301  # our own file
            return document
    document = FinancialDocumentLoader(path).load()[0]
    with kept.open("wb") as file:
        pickle.dump(document, file)
    return document


class Adapter:
    """Give results in the evaluator's form: each with its pages."""

    def __init__(self, docs: Sequence[tuple[str, str]], **settings: object) -> None:
        self.index = FilingIndex.open(tempfile.mkdtemp(), embeddings=embeddings())
        loaded = {name: load(name, path) for name, path in docs}
        self.pages = {}
        self.names = {}
        report = self.index.add(list(loaded.values()))
        assert not report.failed, report.failed
        for name, document in loaded.items():
            self.pages[name] = PageMap.parse(document.metadata[PAGE_MAP])
            self.names[document.metadata["source"]] = name
        self.settings = settings
        self.retriever = self.index.retriever(**settings)

    def retrieve(self, question: str, k: int) -> list[dict[str, object]]:
        """Return the ``k`` best results."""
        return self._form(self.retriever.invoke(question, k=k))

    def _form(self, found: Sequence[Document]) -> list[dict[str, object]]:
        out = []
        for one in found:
            name = self.names[one.metadata["source"]]
            for span in parse_spans(one.metadata[SPANS]):
                pages = self.pages[name].range(span)
                text = one.page_content if len(parse_spans(one.metadata[SPANS])) == 1 else None
                if pages:
                    out.append((name, pages, text, span, one))
        return self._merged(out)

    def _merged(self, parts: Sequence[tuple]) -> list[dict[str, object]]:
        """One entry a result; results whose spans stand on several pages are given page by page."""
        entries = []
        for name, pages, text, span, one in parts:
            if text is None:
                source = self.index.text(one.metadata["doc_id"])
                text = span.slice(source)
            entries.append({"doc_name": name, "page": pages[0] - 1, "page_end": pages[1] - 1, "text": text})
        return entries


class Packed(Adapter):
    """Let the retriever pack the evidence under the budget."""

    def retrieve_budget(self, question: str, max_chars: int) -> list[dict[str, object]]:
        """Return evidence of at most ``max_chars`` characters."""
        return self._form(self.retriever.retrieve(question, max_chars=max_chars))


def hybrid(docs: Sequence[tuple[str, str]]) -> Adapter:
    """Build the plain hybrid: no plan, no statements."""
    return Adapter(docs, plan=False)


def full(docs: Sequence[tuple[str, str]]) -> Packed:
    """Build the retriever as it comes."""
    return Packed(docs)
