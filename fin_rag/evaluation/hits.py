"""What a retriever returned, as spans of known documents with the context that each result costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.evaluation.corpus import Corpus
from fin_rag.schema import (
    BODY_OFFSET,
    CONTEXT_HEADER,
    DOC_ID,
    PARENT_END,
    PARENT_START,
    SCORE,
    SOURCE,
    SPANS,
    START_INDEX,
    Span,
    parse_spans,
)
from fin_rag.tokens import HEADER_SEPARATOR

CountTokens: TypeAlias = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold one result: its spans, apart and in order, and the text that would go into the prompt.

    ``characters`` is the larger of the prompt text's length and the characters of the spans; ``tokens`` counts the
    prompt text, and is 0 where tokens are not measured.
    """

    doc_id: str
    spans: tuple[Span, ...]
    text: str
    characters: int
    tokens: int
    score: float | None = None
    chunk_id: str = ""


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order and apart; those that touch or overlap become one.

    Example:
        >>> united([Span(4, 9), Span(0, 5), Span(12, 13)])
        (Span(start=0, end=9), Span(start=12, end=13))
    """
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.start <= out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end))
        elif len(span):
            out.append(span)
    return tuple(out)


def shared(first: Sequence[Span], second: Sequence[Span]) -> int:
    """Count the characters that two lists of spans, each in order and apart, have in common.

    Example:
        >>> shared([Span(0, 5), Span(8, 9)], [Span(3, 20)])
        3
    """
    count, i, j = 0, 0, 0
    while i < len(first) and j < len(second):
        count += max(0, min(first[i].end, second[j].end) - max(first[i].start, second[j].start))
        if first[i].end < second[j].end:
            i += 1
        else:
            j += 1
    return count


def hits_of(results: Iterable[Document], corpus: Corpus, count_tokens: CountTokens | None = None) -> tuple[Hit, ...]:
    """Read results of any retriever over a corpus.

    A result says where it stands by ``spans``, or by ``start_index`` as LangChain's splitters write it. Where the
    text is the parent passage instead, the parent's span counts, for that is what the model reads.

    Raises:
        InputError: if a result names no place, or a place that its document does not have.
    """
    return tuple(_hit(document, corpus, count_tokens) for document in results)


def _hit(document: Document, corpus: Corpus, count_tokens: CountTokens | None) -> Hit:
    metadata = document.metadata
    name = str(metadata.get(DOC_ID) or metadata.get(SOURCE) or "")
    doc_id = corpus.find_id(name) if name else None
    if doc_id is None:
        raise InputError(f"A result belongs to no known document: its 'doc_id' or 'source' is {name!r}.")
    text = corpus[doc_id].text
    spans = united(_spans(document, text))
    if not spans or spans[-1].end > len(text):
        where = [(s.start, s.end) for s in spans]
        raise InputError(f"A result of {doc_id!r} stands at {where}; its document has {len(text)} characters.")
    header = "" if BODY_OFFSET in metadata else str(metadata.get(CONTEXT_HEADER) or "")
    prompt = f"{header}{HEADER_SEPARATOR if header else ''}{document.page_content}"
    score = metadata.get(SCORE)
    return Hit(
        doc_id,
        spans,
        prompt,
        max(len(prompt), sum(map(len, spans))),
        count_tokens(prompt) if count_tokens else 0,
        float(score) if isinstance(score, int | float) else None,
        str(document.id or ""),
    )


def _spans(document: Document, text: str) -> tuple[Span, ...]:
    metadata, content = document.metadata, document.page_content
    start, end = metadata.get(PARENT_START), metadata.get(PARENT_END)
    parent = Span(start, end) if isinstance(start, int) and isinstance(end, int) else None
    if metadata.get(SPANS):
        spans = parse_spans(str(metadata[SPANS]))
        expanded = len(content) > sum(map(len, spans)) and parent is not None and parent.slice(text) == content
        return (parent,) if expanded and parent is not None else spans
    first = metadata.get(START_INDEX)
    if isinstance(first, int) and first >= 0:
        return (Span(first, first + len(content)),)
    raise InputError(
        "A result has neither 'spans' nor 'start_index', so nobody can tell where it stands. With LangChain's "
        "splitters set add_start_index=True."
    )
