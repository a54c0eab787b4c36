"""The keyword side: one small interface, tantivy behind it, rank-bm25 as the in-memory option."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.index.catalogue import Allowed
from fin_rag.index.generations import Generations
from fin_rag.index.keyword_files import KeywordFiles, has_index, make_readable
from fin_rag.text.words import fold, identifiers, topic_words, without_marks

if TYPE_CHECKING:
    import tantivy

Scored = list[tuple[int, float]]

_WORD: Final = re.compile(r"\w+")
_MARKED: Final = re.compile(r"\w+(?:[.,/&'\u2019-]\w+)+")
_TEXT_FIELDS: Final = ("text_en", "text_es")
_TITLE_FIELDS: Final = ("title_en", "title_es")
_ANALYZERS: Final = {"text_en": "en", "text_es": "es", "title_en": "en", "title_es": "es", "exact": "exact"}
_MOST_DOCUMENT_CLAUSES: Final = 512
_HEAP_BYTES: Final = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KeywordRecord:
    """Hold what is indexed of one chunk: its row, document, language, prepared text and section path."""

    row: int
    doc: int
    lang: str
    text: str
    title: str = ""


class KeywordIndex(Protocol):
    """Find chunks that share words with a question."""

    def add(self, records: Iterable[KeywordRecord]) -> None:
        """Index chunks; they are found once this returns."""

    def remove(self, first_row: int, count: int) -> None:
        """Forget rows; rows that are not there are no fault."""

    def replace(self, records: Iterable[KeywordRecord]) -> None:
        """Index these chunks instead of what there is; the old ones are found until this returns."""

    def pin(self) -> None:
        """Let this thread see the chunks of this moment until :meth:`unpin`."""

    def unpin(self) -> None:
        """Let this thread see what is there now."""

    def search(self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None) -> Scored:
        """Return at most ``k`` allowed rows that share a word with the question or ``terms``; ties by row."""

    def search_titles(
        self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None
    ) -> Scored:
        """Return at most ``k`` allowed rows whose section path shares a word with the question; ties by row."""

    def count(self) -> int:
        """Return the number of chunks."""

    def rows(self) -> set[int]:
        """Return the rows of all chunks."""


def _without_numbers(question: str) -> str:
    """Drop 4.2 and 575/2013, which are looked up whole: their halves would match anything."""
    return _MARKED.sub(lambda match: " " if any(c.isdigit() for c in match[0]) else match[0], question)


class TantivyKeywords:
    """Keep a persistent keyword index with English and Spanish stems and exact identifiers."""

    def __init__(self, files: Path | KeywordFiles) -> None:
        self._files = KeywordFiles(Generations(files, "keywords")) if isinstance(files, Path) else files
        self._opened: tuple[Path, tantivy.Index] | None = None
        self._pinned = threading.local()

    @cached_property
    def _schema(self) -> tantivy.Schema:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("row", stored=True, indexed=True, fast=True)
        builder.add_unsigned_field("doc", indexed=True)
        for name, analyzer in _ANALYZERS.items():
            builder.add_text_field(name, stored=False, tokenizer_name=f"fin_rag_{analyzer}")
        return builder.build()

    def _open(self, folder: Path) -> tantivy.Index:
        """Open the index in a folder, or make one."""
        import tantivy

        try:
            index = tantivy.Index(self._schema, path=str(folder))
        except (ValueError, OSError) as error:  # made by another version of tantivy, or damaged
            raise IntegrityError(
                f"The keyword index {str(folder)!r} cannot be read: {error}. Rebuild it with FilingIndex.rebuild()."
            ) from error
        for name, built in self._analyzers.items():
            index.register_tokenizer(f"fin_rag_{name}", built)
        return index

    def _searcher(self) -> tantivy.Searcher | None:
        """Return what this thread searches; ``None`` where nothing was ever written."""
        kept: dict[str, tantivy.Searcher | None] = self._pinned.__dict__
        return kept["searcher"] if "searcher" in kept else self._latest()

    def _latest(self) -> tantivy.Searcher | None:
        for last in (False, True):
            folder = self._files.readable()
            if not has_index(folder):
                return None
            opened = self._opened
            try:
                if opened is None or opened[0] != folder:
                    opened = self._opened = (folder, self._open(folder))
                else:
                    opened[1].reload()
                return opened[1].searcher()
            except (ValueError, OSError, IntegrityError) as error:
                self._opened = None  # replaced a moment ago: look again where it is
                if last and isinstance(error, IntegrityError):
                    raise
                if last:
                    raise IntegrityError(
                        f"The keyword index {str(folder)!r} cannot be read: {error}. "
                        "Rebuild it with FilingIndex.rebuild()."
                    ) from error
        return None

    @cached_property
    def _analyzers(self) -> dict[str, tantivy.TextAnalyzer]:
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        def stemmed(language: str) -> tantivy.TextAnalyzer:
            # Stem first, then fold: the Spanish stemmer needs the accents.
            lower = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
            return lower.filter(Filter.stemmer(language)).filter(Filter.ascii_fold()).build()

        exact = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        return {"en": stemmed("english"), "es": stemmed("spanish"), "exact": exact}

    def add(self, records: Iterable[KeywordRecord]) -> None:
        """Index chunks; they are found once this returns.

        Raises:
            IntegrityError: if the folder cannot be written.
        """
        self._write(self._files.generations.current(), records)

    def remove(self, first_row: int, count: int) -> None:
        """Forget rows; rows that are not there are no fault.

        Raises:
            IntegrityError: if the folder cannot be written.
        """
        if count and has_index(self._files.generations.current()):
            self._write(self._files.generations.current(), (), forget=(first_row, first_row + count - 1))

    def replace(self, records: Iterable[KeywordRecord]) -> None:
        """Index these chunks instead of what there is; the old ones are found until this returns.

        It also mends an index that cannot be read, and leaves no trace of what was removed.
        """
        folder = self._files.generations.emptied_next()
        self._write(folder, records)
        self._files.generations.switch(folder)

    def pin(self) -> None:
        """Let this thread see the chunks of this moment until :meth:`unpin`."""
        self._pinned.searcher = self._latest()

    def unpin(self) -> None:
        """Let this thread see what is there now."""
        self._pinned.__dict__.pop("searcher", None)

    def count(self) -> int:
        """Return the number of chunks."""
        searcher = self._searcher()
        return 0 if searcher is None else int(searcher.num_docs)

    def rows(self) -> set[int]:
        """Return the rows of all chunks."""
        from tantivy import Query

        searcher = self._searcher()
        if searcher is None or not searcher.num_docs:
            return set()
        hits = searcher.search(Query.all_query(), limit=int(searcher.num_docs)).hits
        values = searcher.fast_field_values("row", [address for _, address in hits])
        return {int(row) for row in values if row is not None}

    def search(self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None) -> Scored:
        """Return at most ``k`` allowed rows that share a word with the question, best first, ties by row.

        The score is BM25 (k1 1.2, b 0.75) summed over the fields. ``terms`` are further words, with the
        weight of each.
        """
        return self._search(self._terms(question, terms or {}), k, allowed)

    def search_titles(
        self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None
    ) -> Scored:
        """Return at most ``k`` allowed rows whose section path shares a word with the question; ties by row."""
        found = self._analyzed(" ".join(topic_words(_without_numbers(question))), 1.0, _TITLE_FIELDS)
        for text, weight in (terms or {}).items():
            for key, own in self._analyzed(text, weight, _TITLE_FIELDS).items():
                found[key] = max(own, found.get(key, 0.0))
        return self._search(found, k, allowed)

    def _search(self, terms: Mapping[tuple[str, str], float], k: int, allowed: Allowed) -> Scored:
        """Search, with the filter as a clause without score where few documents are allowed.

        What else the filter forbids is dropped afterwards, and the search goes on until ``k`` rows are found or
        none is left.
        """
        query = self._query(terms, allowed)
        searcher = self._searcher()
        if query is None or not len(allowed.rows) or searcher is None:
            return []
        total = int(searcher.num_docs)
        wanted = k + 8
        while True:
            hits = searcher.search(query, limit=min(wanted, max(total, 1))).hits
            values = searcher.fast_field_values("row", [address for _, address in hits]) if hits else []
            rows = [int(value) for value in values if value is not None]
            kept = self._kept(rows, [float(score) for score, _ in hits], allowed)
            # Hits that tie with the last one may be missing; go on until the k-th is clearly inside.
            settled = len(kept) > k and kept[k - 1][1] > float(hits[-1][0])
            if settled or len(hits) >= total or len(hits) < wanted:
                return kept[:k]
            wanted *= 4

    @staticmethod
    def _kept(rows: Sequence[int], scores: Sequence[float], allowed: Allowed) -> Scored:
        # Rows of a document that is being written, or was just removed, take no place either.
        inside = allowed.lets_through(np.asarray(rows, dtype=np.int64))
        pairs = [(row, score) for row, score, ok in zip(rows, scores, inside, strict=True) if ok]
        return sorted(((int(r), s) for r, s in pairs if s > 0), key=lambda pair: (-pair[1], pair[0]))

    def _terms(self, question: str, further: Mapping[str, float]) -> dict[tuple[str, str], float]:
        """Return the weight of each term of a question, by field; its own words weigh 1."""
        found = self._analyzed(" ".join(topic_words(_without_numbers(question))), 1.0, _TEXT_FIELDS)
        found |= {("exact", term): 1.0 for term in identifiers(question)}
        for text, weight in further.items():
            for key, own in self._analyzed(text, weight, _TEXT_FIELDS).items():
                found[key] = max(own, found.get(key, 0.0))
        return found

    def _analyzed(self, text: str, weight: float, fields: Sequence[str]) -> dict[tuple[str, str], float]:
        return {(f, term): weight for f in fields for term in self._analyzers[_ANALYZERS[f]].analyze(text)}

    def _query(self, terms: Mapping[tuple[str, str], float], allowed: Allowed) -> tantivy.Query | None:
        from tantivy import Occur, Query

        schema = self._schema
        if not terms:
            return None
        should = []
        for (name, term), weight in sorted(terms.items()):
            query = Query.term_query(schema, name, term)
            should.append((Occur.Should, query if weight == 1.0 else Query.boost_query(query, weight)))
        matched = Query.boolean_query(should)
        if allowed.everything or len(allowed.documents) > _MOST_DOCUMENT_CLAUSES:
            return matched
        documents = Query.boolean_query(
            [(Occur.Should, Query.term_query(schema, "doc", doc)) for doc in allowed.documents]
        )
        return Query.boolean_query([(Occur.Must, matched), (Occur.Must, Query.const_score_query(documents, 0.0))])

    def _write(self, folder: Path, records: Iterable[KeywordRecord], *, forget: tuple[int, int] | None = None) -> None:
        """Add chunks and forget a range of rows, in one commit."""
        import tantivy

        try:
            folder.mkdir(parents=True, exist_ok=True)
            writer = self._open(folder).writer(heap_size=_HEAP_BYTES, num_threads=1)
            # A writer that was killed before its commit leaves files under the names that this one will need.
            writer.garbage_collect_files()
            for record in records:
                writer.add_document(_document(record))
            if forget is not None:
                kind = tantivy.FieldType.Unsigned
                writer.delete_documents_by_query(tantivy.Query.range_query(self._schema, "row", kind, *forget))
            writer.commit()
            writer.wait_merging_threads()
            make_readable(folder)
        except (ValueError, OSError) as error:
            raise IntegrityError(
                f"The keyword index {str(folder)!r} could not be written: {error}. The index is as it was after the "
                "last whole document; make room or check the permissions, and run the same again."
            ) from error


def _document(record: KeywordRecord) -> tantivy.Document:
    import tantivy

    document = tantivy.Document()
    document.add_unsigned("row", record.row)
    document.add_unsigned("doc", record.doc)
    lang = "es" if record.lang == "es" else "en"
    document.add_text(f"text_{lang}", without_marks(record.text))
    document.add_text(f"title_{lang}", record.title)
    document.add_text("exact", " ".join(identifiers(record.text)))
    return document


class RankBm25Keywords:
    """Keep chunks in memory and score them with rank-bm25; for small corpora and for comparison.

    Further terms take part with their full weight.
    """

    def __init__(self) -> None:
        self._records: dict[int, list[str]] = {}
        self._titles: dict[int, list[str]] = {}

    @cached_property
    def _engine(self) -> tuple[list[int], object]:
        return _okapi(self._records)

    @cached_property
    def _title_engine(self) -> tuple[list[int], object]:
        return _okapi(self._titles)

    def add(self, records: Iterable[KeywordRecord]) -> None:
        """Index chunks; they are found once this returns."""
        for record in records:
            self._records[record.row] = _plain_tokens(record.text)
            self._titles[record.row] = _plain_tokens(record.title)
        self._changed()

    def remove(self, first_row: int, count: int) -> None:
        """Forget rows; rows that are not there are no fault."""
        for row in range(first_row, first_row + count):
            self._records.pop(row, None)
            self._titles.pop(row, None)
        self._changed()

    def replace(self, records: Iterable[KeywordRecord]) -> None:
        """Index these chunks instead of what there is."""
        self._records.clear()
        self._titles.clear()
        self.add(records)

    def pin(self) -> None:
        """Do nothing: what is in memory changes with this process alone."""

    def unpin(self) -> None:
        """Do nothing, as :meth:`pin` does."""

    def count(self) -> int:
        """Return the number of chunks."""
        return len(self._records)

    def rows(self) -> set[int]:
        """Return the rows of all chunks."""
        return set(self._records)

    def search(self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None) -> Scored:
        """Return at most ``k`` allowed rows that share a word with the question or ``terms``; ties by row."""
        wanted = _question_tokens(question, terms) + identifiers(question)
        return _ranked(self._records, self._engine, wanted, k, allowed) if self._records else []

    def search_titles(
        self, question: str, k: int, allowed: Allowed, *, terms: Mapping[str, float] | None = None
    ) -> Scored:
        """Return at most ``k`` allowed rows whose section path shares a word with the question; ties by row."""
        wanted = _question_tokens(question, terms)
        return _ranked(self._titles, self._title_engine, wanted, k, allowed) if self._titles else []

    def _changed(self) -> None:
        self.__dict__.pop("_engine", None)
        self.__dict__.pop("_title_engine", None)


def _okapi(records: Mapping[int, list[str]]) -> tuple[list[int], object]:
    from rank_bm25 import BM25Okapi

    rows = sorted(records)
    return rows, BM25Okapi([records[row] or [""] for row in rows])


def _question_tokens(question: str, terms: Mapping[str, float] | None) -> list[str]:
    words = [fold(word) for word in topic_words(_without_numbers(question))]
    return words + [fold(word) for text in terms or {} for word in topic_words(text)]


def _ranked(
    records: Mapping[int, list[str]], engine: tuple[list[int], object], terms: list[str], k: int, allowed: Allowed
) -> Scored:
    wanted = set(terms)
    permitted = {int(row) for row in allowed.rows}
    rows, okapi = engine
    at = [i for i, row in enumerate(rows) if row in permitted and wanted & set(records[row])]
    if not at:
        return []
    scores = okapi.get_batch_scores(terms, at)  # type: ignore[attr-defined]  # rank_bm25 has no types
    # Okapi's idf is 0 for a word in half of the corpus: such a hit still shares a word.
    pairs = [(rows[i], max(float(score), 1e-9)) for i, score in zip(at, scores, strict=True)]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


def _plain_tokens(text: str) -> list[str]:
    words = [fold(word) for word in _WORD.findall(without_marks(text))]
    known = set(words)
    return words + [token for token in identifiers(text) if token not in known]
