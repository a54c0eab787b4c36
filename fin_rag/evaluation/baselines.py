"""The three textbook chunkers over BM25, as baselines that everybody knows and can measure against.

``fixed`` cuts windows of 500 characters that share 50; ``recursive`` cuts at paragraphs, then lines, sentences and
blanks, and joins the pieces up to 500 characters; ``structure`` joins the paragraphs of one Markdown section up to 800
characters, keeps each table whole and puts the notes it marks behind it. Each chunk is indexed with the
header ``document title > section`` unless the name ends in ``-bare``.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import numpy as np
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from fin_rag.errors import InputError
from fin_rag.evaluation.corpus import Corpus, CorpusDocument
from fin_rag.schema import CONTEXT_HEADER, DOC_ID, RANK, SCORE, SPANS, Span, format_spans
from fin_rag.text.words import fold

Chunker = Callable[[str], list[tuple[Span, ...]]]

_WINDOW: Final = 500
_SHARED: Final = 50
_SECTION: Final = 800
_SEPARATORS: Final = ("\n\n", "\n", ". ", " ")
_WORD: Final = re.compile(r"\w+")
_HEADING: Final = re.compile(r"^##+ (.*)$", re.MULTILINE)
_NOTE_MARKS: Final = frozenset("¹²³⁴⁵⁶⁷⁸⁹")


def fixed_windows(text: str, size: int = _WINDOW, overlap: int = _SHARED) -> list[tuple[Span, ...]]:
    """Cut a text into windows of ``size`` characters that share ``overlap``.

    Example:
        >>> [(s.start, s.end) for s, in fixed_windows("x" * 1000)]
        [(0, 500), (450, 950), (900, 1000)]
    """
    starts = range(0, max(len(text) - overlap, 1), size - overlap)
    out: list[tuple[Span, ...]] = [(Span(at, min(at + size, len(text))),) for at in starts if len(text)]
    return out


def recursive_pieces(text: str, size: int = _WINDOW) -> list[tuple[Span, ...]]:
    r"""Cut a text at the coarsest separator that serves, and join neighbours up to ``size`` characters.

    Example:
        >>> [s.slice("Net debt fell.\n\nSales rose.") for s, in recursive_pieces("Net debt fell.\n\nSales rose.", 16)]
        ['Net debt fell.', 'Sales rose.']
    """
    out: list[tuple[Span, ...]] = []
    for span in _cut(text, Span(0, len(text)), _SEPARATORS, size):
        part = span.slice(text)
        start = span.start + len(part) - len(part.lstrip())
        end = start + len(part.strip())
        if end > start:
            out.append((Span(start, end),))
    return out


def _cut(text: str, span: Span, separators: Sequence[str], size: int) -> list[Span]:
    if len(span) <= size:
        return [span]
    if not separators:
        return [Span(at, min(at + size, span.end)) for at in range(span.start, span.end, size)]
    mark, edges = separators[0], [span.start]
    at = text.find(mark, span.start, span.end)
    while at >= 0:
        edges.append(at + len(mark))
        at = text.find(mark, at + len(mark), span.end)
    edges.append(span.end)
    joined: list[Span] = []
    for start, end in pairwise(edges):
        for piece in _cut(text, Span(start, end), separators[1:], size) if end > start else ():
            if joined and piece.end - joined[-1].start <= size:
                joined[-1] = Span(joined[-1].start, piece.end)
            else:
                joined.append(piece)
    return joined


def structure_pieces(text: str, size: int = _SECTION) -> list[tuple[Span, ...]]:
    """Join the paragraphs of one section up to ``size`` characters; tables and marked paragraphs stand alone.

    Headings are no chunks. A paragraph that begins with a superscript digit is a note: it is no chunk of its own
    and follows every paragraph that bears its mark.
    """
    sections = _Sections(text)
    paragraphs = _paragraphs(text)
    notes = {text[p.start]: p for p in paragraphs if text[p.start] in _NOTE_MARKS}
    chunks: list[list[Span]] = []
    open_end = False
    for paragraph in paragraphs:
        first = text[paragraph.start]
        if first == "#" or first in _NOTE_MARKS:
            continue
        marked = [notes[char] for char in dict.fromkeys(paragraph.slice(text)) if char in notes]
        alone = first == "|" or bool(marked)
        start = chunks[-1][0].start if chunks else 0
        if open_end and not alone and paragraph.end - start <= size and sections.same(start, paragraph.start):
            chunks[-1][0] = Span(start, paragraph.end)
        else:
            chunks.append([paragraph, *marked])
        open_end = not alone
    return [tuple(chunk) for chunk in chunks]


def _paragraphs(text: str) -> list[Span]:
    """Return runs of lines between blank lines."""
    out, at = [], 0
    for part in text.split("\n\n"):
        lead = len(part) - len(part.lstrip("\n"))
        if part.strip("\n"):
            out.append(Span(at + lead, at + len(part)))
        at += len(part) + 2
    return out


class _Sections:
    """Tell under which Markdown heading (``##`` or deeper) a character stands."""

    def __init__(self, text: str) -> None:
        found = [(match.start(), match[1]) for match in _HEADING.finditer(text)]
        self._starts = [start for start, _ in found]
        self._titles = [title for _, title in found]

    def title(self, at: int) -> str:
        number = bisect_right(self._starts, at)
        return self._titles[number - 1] if number else ""

    def same(self, first: int, second: int) -> bool:
        return self.title(first) == self.title(second)


CHUNKERS: Final[Mapping[str, Chunker]] = {
    "fixed": fixed_windows,
    "recursive": recursive_pieces,
    "structure": structure_pieces,
}


@cache
def _stop_words() -> frozenset[str]:
    """Return the few words that the textbook's BM25 drops; our own longer list would make it another baseline."""
    data = json.loads(files("fin_rag.evaluation").joinpath("textbook_stop_words.json").read_text("utf-8"))
    return frozenset(word for words in data.values() for word in words)


def bm25_words(text: str) -> list[str]:
    """Return the folded words of a text without the textbook's stop words."""
    return [word for word in _WORD.findall(fold(text)) if word not in _stop_words()]


class Bm25Retriever(BaseRetriever):
    """Rank chunks by BM25 over header and text; ties go by order in the corpus.

    Example:
        >>> corpus = Corpus.from_documents([Document(page_content="Net debt fell.", metadata={"doc_id": "a"})])
        >>> baseline("fixed", corpus).invoke("net debt")[0].metadata["spans"]
        '0-14'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    chunks: Sequence[Document]
    k: int = Field(default=5, ge=1)

    @cached_property
    def _engine(self) -> Any:  # noqa: ANN401  # rank-bm25 has no types
        from rank_bm25 import BM25Okapi

        return BM25Okapi([bm25_words(_indexed(chunk)) or [""] for chunk in self.chunks])

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # part of LangChain's signature
        k: int | None = None,
    ) -> list[Document]:
        if not self.chunks:
            return []
        scores = self._engine.get_scores(bm25_words(query))
        best = np.argsort(-scores, kind="stable")[: k or self.k]
        return [
            self.chunks[i].model_copy(
                update={"metadata": {**self.chunks[i].metadata, SCORE: float(scores[i]), RANK: rank}}
            )
            for rank, i in enumerate(best.tolist(), 1)
        ]


def _indexed(chunk: Document) -> str:
    header = str(chunk.metadata.get(CONTEXT_HEADER) or "")
    return f"{header}\n\n{chunk.page_content}" if header else chunk.page_content


def baseline(name: str, corpus: Corpus) -> Bm25Retriever:
    """Make a textbook baseline over a corpus: ``fixed``, ``recursive`` or ``structure``, or any of them ``-bare``.

    Raises:
        InputError: if there is no baseline of that name.
    """
    kind, bare = name.removesuffix("-bare"), name.endswith("-bare")
    if kind not in CHUNKERS:
        raise InputError(f"There is no baseline {name!r}. Known: {', '.join(CHUNKERS)}, each also with '-bare'.")
    chunks = [
        chunk
        for doc_id in corpus.doc_ids
        for chunk in _chunk_documents(corpus[doc_id], CHUNKERS[kind], header=not bare)
    ]
    return Bm25Retriever(chunks=chunks, tags=[name])


def _chunk_documents(document: CorpusDocument, chunker: Chunker, *, header: bool) -> list[Document]:
    sections = _Sections(document.text)
    out = []
    for spans in chunker(document.text):
        metadata = {DOC_ID: document.doc_id, SPANS: format_spans(spans)}
        if header:
            metadata[CONTEXT_HEADER] = f"{document.title} > {sections.title(spans[0].start)}"
        content = "\n\n".join(span.slice(document.text) for span in spans)
        out.append(Document(id=f"{document.doc_id}:{metadata[SPANS]}", page_content=content, metadata=metadata))
    return out
