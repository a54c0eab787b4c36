"""Resolve the places of a golden set to spans of the documents at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from fin_rag.errors import InputError, NotFoundError
from fin_rag.evaluation.corpus import Corpus, CorpusDocument
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.questions import Passage, Place, Question
from fin_rag.evaluation.quotes import align_quote, find_quote
from fin_rag.schema import Span
from fin_rag.text.canonical import text_sha256

_MOST_FAULTS: Final = 20


@dataclass(frozen=True, slots=True)
class Spot:
    """Hold a place as spans of one document.

    ``loose`` marks a place known by its page or section only: any returned text there counts.
    ``page`` is the span of the page that was named, where one was.
    """

    doc_id: str
    spans: tuple[Span, ...]
    loose: bool = False
    page: Span | None = None


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """Hold a gold passage as spans; ``columns`` are the column names of a long table, which a row has to keep."""

    passage_id: str
    spot: Spot
    evidence: tuple[Span, ...] = ()
    columns: tuple[str, ...] = ()
    equivalents: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """Hold a question with its passages; ``missing`` are documents that are not there."""

    question: Question
    passages: tuple[GoldPassage, ...]
    missing: tuple[str, ...] = ()

    @property
    def wanted(self) -> int:
        """Return the number of passages, those of missing documents included."""
        return len(self.question.passages)


@dataclass(frozen=True, slots=True)
class ResolvedSet:
    """Hold the answerable questions with spans; ``notes`` say what was resolved with less than certainty."""

    golden: GoldenSet
    questions: tuple[GoldQuestion, ...]
    notes: tuple[str, ...] = field(default=())


def resolve(golden: GoldenSet, corpus: Corpus, *, long_table: int = 1200) -> ResolvedSet:
    r"""Resolve every passage of the answerable questions to spans.

    A document that is not there makes its passages missed, not wrong. Tables over ``long_table``
    characters also get their column names, so that their answer row can count (see ``evaluate_retrieval``).

    Raises:
        InputError: if a span lies beyond the text, a page, section or quote is not found, a name is ambiguous, or
            the text has changed since the spans were taken; all faults are named.

    Example:
        >>> from langchain_core.documents import Document
        >>> corpus = Corpus.from_documents([Document(page_content="# Debt\n\nIt fell.", metadata={"doc_id": "a"})])
        >>> golden = GoldenSet.from_rows([{"question_id": "1", "question": "Debt?",
        ...                                "passages": [{"document": "a", "quote": "it fell"}]}])
        >>> resolve(golden, corpus).questions[0].passages[0].spot.spans
        (Span(start=8, end=15),)
    """
    resolver = _Resolver(corpus, long_table)
    questions = [resolver.question(question) for question in golden.answerable]
    if resolver.faults:
        shown = resolver.faults[:_MOST_FAULTS]
        more = len(resolver.faults) - len(shown)
        raise InputError(
            f"{golden.name}: {len(resolver.faults)} place(s) cannot be resolved:\n  "
            + "\n  ".join(shown)
            + (f"\n  and {more} more" if more else "")
        )
    return ResolvedSet(golden, tuple(questions), tuple(resolver.notes))


class _Resolver:
    def __init__(self, corpus: Corpus, long_table: int) -> None:
        self._corpus = corpus
        self._long_table = long_table
        self.faults: list[str] = []
        self.notes: list[str] = []

    def question(self, question: Question) -> GoldQuestion:
        passages, missing = [], []
        for number, passage in enumerate(question.passages, 1):
            where = f"question {question.question_id}, passage {passage.passage_id or number}"
            try:
                document = self._corpus.find(passage.document)
                if document is None:
                    missing.append(passage.document)
                    self.notes.append(f"{where}: {passage.document!r} is not among the documents; it counts as missed")
                    continue
                passages.append(self._passage(passage, document, where, str(number)))
            except (InputError, NotFoundError) as error:
                self.faults.append(f"{where}: {error}")
        return GoldQuestion(question, tuple(passages), tuple(dict.fromkeys(missing)))

    def _passage(self, passage: Passage, document: CorpusDocument, where: str, number: str) -> GoldPassage:
        if passage.text_sha256 and passage.text_sha256 != text_sha256(document.text):
            raise InputError(f"the text of {passage.document!r} has changed since the spans were taken")
        spots = self._spots(passage, document, where)
        others = []
        for place in passage.equivalents:
            home = self._corpus.find(place.document)
            if home is None:
                self.notes.append(f"{where}: equivalent place in {place.document!r}, which is not there; passed over")
            else:
                others += self._spots(place, home, where)[:1]
        _check(passage.evidence, document)
        return GoldPassage(
            passage.passage_id or number,
            spots[0],
            passage.evidence,
            self._columns(spots[0], document, is_table=passage.kind == "table"),
            (*others, *spots[1:]),
        )

    def _spots(self, place: Place, document: CorpusDocument, where: str) -> list[Spot]:
        """Return the place, and after it others where the same quote stands."""
        page = _page(place, document)
        if place.spans:
            _check(place.spans, document)
            return [Spot(document.doc_id, place.spans, page=page)]
        region = _region(place, document, page)
        if not place.quote:
            return [Spot(document.doc_id, (region,), loose=True, page=page)]
        found = find_quote(document.text, place.quote, region)
        if found:
            return [Spot(document.doc_id, (span,), page=page) for span in found]
        runs = align_quote(document.text, place.quote, region)
        if runs:
            return [Spot(document.doc_id, runs, page=page)]
        if page is None and not place.section_path:
            raise NotFoundError(f"the quote {place.quote[:60]!r} does not stand in {place.document!r}")
        self.notes.append(f"{where}: the quote was not found there; any text of that page or section counts")
        return [Spot(document.doc_id, (region,), loose=True, page=page)]

    def _columns(self, spot: Spot, document: CorpusDocument, *, is_table: bool) -> tuple[str, ...]:
        text = spot.spans[0].slice(document.text)
        first = text.split("\n", 1)[0].strip()
        if spot.loose or not (is_table or first.startswith("|")):
            return ()
        if sum(map(len, spot.spans)) <= self._long_table:
            return ()
        rows = (line.strip() for line in text.split("\n"))
        header = next((row for row in rows if row.startswith("|")), first)
        return tuple(cell.strip() for cell in header.strip("|").split("|") if cell.strip())


def _check(spans: Sequence[Span], document: CorpusDocument) -> None:
    for span in spans:
        if span.end > len(document.text):
            raise InputError(
                f"{span.start}-{span.end} lies beyond {document.doc_id!r} ({len(document.text)} characters)"
            )


def _page(place: Place, document: CorpusDocument) -> Span | None:
    if place.page is None:
        return None
    for number, span in document.pages.pages:
        if number == place.page:
            return span
    if place.spans:
        return None
    last = document.pages.pages[-1][0] if document.pages.pages else None
    known = "it has no pages" if last is None else f"its last page is {last}"
    raise NotFoundError(f"{place.document!r} has no page {place.page}; {known}")


def _region(place: Place, document: CorpusDocument, page: Span | None) -> Span:
    if not place.section_path:
        return page or Span(0, len(document.text))
    wanted = [_plain(part) for part in place.section_path.split(" > ")]
    paths = [([_plain(part) for part in path], span) for path, span in document.sections]
    whole = [span for path, span in paths if path == wanted]
    found = whole or [span for path, span in paths if path[-len(wanted) :] == wanted]
    if page is not None:
        found = [Span(max(s.start, page.start), min(s.end, page.end)) for s in found if s.overlaps(page)]
    if not found:
        on = "" if page is None else f" on page {place.page}"
        raise NotFoundError(f"{place.document!r} has no section {place.section_path!r}{on}")
    if len(set(found)) > 1:
        raise InputError(
            f"{place.section_path!r} names {len(found)} sections of {place.document!r}; give more of the path"
        )
    return found[0]


def _plain(title: str) -> str:
    return " ".join(title.casefold().split())
