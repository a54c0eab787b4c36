"""Citations: evidence is numbered for the prompt, and every number in an answer leads back to a span."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from langchain_core.documents import Document

from fin_rag.retrieval.scope import with_result
from fin_rag.schema import CHUNK_ID, DOC_ID, PAGE, PAGE_END, SECTION_PATH, SOURCE, SPANS, TITLE, Span, parse_spans

CITATION: Final = "citation"
EVIDENCE: Final = "evidence"
_MARK: Final = re.compile(r"\[\s?(\d{1,3}(?:\s?[,;-]\s?\d{1,3}){0,20})\s?\]")
_RANGE: Final = re.compile(r"(\d{1,3})\s?-\s?(\d{1,3})")
_SENTENCE_END: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|\n+")
_TRAILING: Final = re.compile(r"\s*(?:\[[\d\s,;-]{1,60}\]\s*)+[.]?")
_WORDY: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Citation:
    """Say what a number in an answer stands for: a document and the spans of its canonical text.

    ``spans`` are 0-based code points, end-exclusive; ``page`` is absent where there are no pages.
    """

    number: int
    doc_id: str
    title: str
    source: str
    section_path: str
    spans: tuple[Span, ...]
    page: int | None
    page_end: int | None
    chunk_id: str


@dataclass(frozen=True, slots=True)
class CitationReport:
    """Hold what the citations of one answer come to.

    ``citations`` are those of numbers that stand for evidence, in the order of first mention; ``unknown`` are
    numbers without evidence; ``uncited`` are the spans, in the answer, of sentences without any number.
    ``cited`` is false for an answer that cites nothing at all.
    """

    citations: tuple[Citation, ...]
    unknown: tuple[int, ...]
    uncited: tuple[Span, ...]

    @property
    def cited(self) -> bool:
        """Tell whether the answer cites at least one piece of evidence."""
        return bool(self.citations)


def number_evidence(documents: Sequence[Document]) -> list[Document]:
    """Return copies with ``citation`` (from 1) and ``evidence``, a one-line label for the prompt.

    Example:
        >>> numbered = number_evidence([Document("Sales rose.", metadata={"title": "10-K 2023", "page": 4})])
        >>> numbered[0].metadata["citation"], numbered[0].metadata["evidence"]
        (1, '10-K 2023, p. 4')
    """
    return [
        with_result(document, **{CITATION: number, EVIDENCE: _label(document)})
        for number, document in enumerate(documents, 1)
    ]


def read_citations(answer: str, documents: Sequence[Document]) -> CitationReport:
    """Look up the numbers that an answer cites, such as ``[2]``, ``[1, 3]`` or ``[1-3]``.

    Args:
        answer: the text of the answer.
        documents: the evidence in the order in which the prompt numbered it.

    Example:
        >>> report = read_citations("Sales rose [1]. Debt fell.", [Document("Sales rose.", metadata={"doc_id": "a"})])
        >>> report.citations[0].doc_id, [span.slice("Sales rose [1]. Debt fell.") for span in report.uncited]
        ('a', ['Debt fell.'])
    """
    numbers = list(dict.fromkeys(number for mark in _MARK.finditer(answer) for number in _numbers(mark[1])))
    known = [number for number in numbers if 1 <= number <= len(documents)]
    return CitationReport(
        tuple(_citation(number, documents[number - 1]) for number in known),
        tuple(number for number in numbers if number not in known),
        tuple(span for span in _sentences(answer) if not _MARK.search(answer, span.start, span.end)),
    )


def _numbers(text: str) -> list[int]:
    found: list[int] = []
    for part in re.split(r"[,;]", text):
        bounds = _RANGE.fullmatch(part.strip())
        if bounds and int(bounds[1]) <= int(bounds[2]):
            found += range(int(bounds[1]), int(bounds[2]) + 1)
        else:
            found += [int(number) for number in re.findall(r"\d+", part)]
    return found


def _sentences(text: str) -> list[Span]:
    """Return the sentences of an answer; a mark that follows the full stop belongs to the sentence before it."""
    cuts = [0]
    for end in _SENTENCE_END.finditer(text):
        at = end.end()
        mark = _TRAILING.match(text, at)
        cuts.append(mark.end() if mark else at)
    cuts.append(len(text))
    spans = []
    for start, end_ in pairwise(cuts):
        part = text[start : max(end_, start)]
        if _WORDY.search(part):
            lead = len(part) - len(part.lstrip())
            spans.append(Span(start + lead, start + len(part.rstrip())))
    return spans


def _citation(number: int, document: Document) -> Citation:
    metadata = document.metadata
    page, page_end = metadata.get(PAGE), metadata.get(PAGE_END)
    return Citation(
        number,
        str(metadata.get(DOC_ID, "")),
        str(metadata.get(TITLE, "")),
        str(metadata.get(SOURCE, "")),
        str(metadata.get(SECTION_PATH, "")),
        parse_spans(str(metadata.get(SPANS, ""))),
        page if isinstance(page, int) else None,
        page_end if isinstance(page_end, int) else None,
        str(metadata.get(CHUNK_ID) or document.id or ""),
    )


def _label(document: Document) -> str:
    metadata = document.metadata
    parts = [str(metadata[key]) for key in (TITLE, SECTION_PATH) if metadata.get(key)]
    page, page_end = metadata.get(PAGE), metadata.get(PAGE_END)
    if page is not None:
        parts.append(f"p. {page}" if page_end in (None, page) else f"pp. {page}-{page_end}")
    return ", ".join(parts) or str(metadata.get(SOURCE, "source unknown"))
