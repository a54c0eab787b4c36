"""The keyword side: one small interface, tantivy behind it, rank-bm25 as the in-memory option."""

from __future__ import annotations

import json
import re
import shutil
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.index.catalogue import Allowed

if TYPE_CHECKING:
    import tantivy

Scored = list[tuple[int, float]]

# Words with a mark or digit inside (BRK.B, 575/2013, R&D, 1,234.5, 842-10-25) and plain numbers.
_IDENTIFIER: Final = re.compile(r"\w+(?:[.,/&'\u2019-]\w+)+|\w*\d\w*")
_WORD: Final = re.compile(r"\w+")
_MARKED: Final = re.compile(r"\w+(?:[.,/&'\u2019-]\w+)+")
_FIELDS: Final = ("text_en", "text_es", "exact")
_MOST_DOCUMENT_CLAUSES: Final = 512
_HEAP_BYTES: Final = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class KeywordRecord:
    """Hold what is indexed of one chunk: its row, document, language and prepared text."""

    row: int
    doc: int
    lang: str
    text: str


class KeywordIndex(Protocol):
    """Find chunks that share words with a question."""

    def add(self, records: Iterable[KeywordRecord]) -> None:
        """Index chunks; they are found once this returns."""

    def remove(self, first_row: int, count: int) -> None:
        """Forget rows; rows that are not there are no fault."""

    def clear(self) -> None:
        """Forget everything, so that the index can be filled again."""

    def search(self, question: str, k: int, allowed: Allowed) -> Scored:
        """Return at most ``k`` allowed rows that share a word with the question, best first, ties by row."""

    def count(self) -> int:
        """Return the number of chunks."""


def identifiers(text: str) -> list[str]:
    """Return the exact tokens of a text: numbers, codes and words with a mark inside, lower-cased.

    Example:
        >>> identifiers("Item 1A: BRK.B paid 4.2 under 575/2013.")
        ['1a', 'brk.b', '4.2', '575/2013']
    """
    return [match.lower() for match in _IDENTIFIER.findall(text)]


@cache
def function_words() -> frozenset[str]:
    """Return the English and Spanish words that carry no topic, folded; they are dropped from questions."""
    data = json.loads(files("fin_rag.index").joinpath("function_words.json").read_text("utf-8"))
    return frozenset(fold(word) for words in data.values() for word in words)


def fold(text: str) -> str:
    """Lower-case a text and take its accents off.

    Example:
        >>> fold("Información ÚTIL")
        'informacion util'
    """
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def topic_words(question: str) -> list[str]:
    """Return the words of a question without function words; all of them if nothing else is left."""
    words = _WORD.findall(question)
    return [word for word in words if fold(word) not in function_words()] or words


def _without_numbers(question: str) -> str:
    """Drop 4.2 and 575/2013, which are looked up whole: their halves would match anything."""
    return _MARKED.sub(lambda match: " " if any(c.isdigit() for c in match[0]) else match[0], question)


class TantivyKeywords:
    """Keep a persistent keyword index with English and Spanish stems and exact identifiers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _index(self) -> tantivy.Index:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("row", stored=True, indexed=True, fast=True)
        builder.add_unsigned_field("doc", indexed=True)
        for name in _FIELDS:
            builder.add_text_field(name, stored=False, tokenizer_name=f"fin_rag_{name}")
        schema = builder.build()
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            index = tantivy.Index(schema, path=str(self._folder))
        except ValueError as error:  # made by another version of tantivy, or damaged
            raise IntegrityError(
                f"The keyword index {str(self._folder)!r} cannot be read: {error}. "
                "Rebuild it with FilingIndex.rebuild_keywords()."
            ) from error
        for name, analyzer in self._analyzers.items():
            index.register_tokenizer(f"fin_rag_{name}", analyzer)
        return index

    @cached_property
    def _analyzers(self) -> dict[str, tantivy.TextAnalyzer]:
        from tantivy import Filter, TextAnalyzerBuilder, Tokenizer

        def stemmed(language: str) -> tantivy.TextAnalyzer:
            # Stem first, then fold: the Spanish stemmer needs the accents.
            lower = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.lowercase())
            return lower.filter(Filter.stemmer(language)).filter(Filter.ascii_fold()).build()

        exact = TextAnalyzerBuilder(Tokenizer.whitespace()).build()
        return {"text_en": stemmed("english"), "text_es": stemmed("spanish"), "exact": exact}

    def add(self, records: Iterable[KeywordRecord]) -> None:
        """Index chunks; they are found once this returns."""
        import tantivy

        writer = self._writer()
        for record in records:
            document = tantivy.Document()
            document.add_unsigned("row", record.row)
            document.add_unsigned("doc", record.doc)
            document.add_text("text_es" if record.lang == "es" else "text_en", record.text)
            document.add_text("exact", " ".join(identifiers(record.text)))
            writer.add_document(document)
        self._commit(writer)

    def remove(self, first_row: int, count: int) -> None:
        """Forget rows; rows that are not there are no fault."""
        import tantivy

        if not count:
            return
        writer = self._writer()
        query = tantivy.Query.range_query(
            self._index.schema, "row", tantivy.FieldType.Unsigned, first_row, first_row + count - 1
        )
        writer.delete_documents_by_query(query)
        self._commit(writer)

    def clear(self) -> None:
        """Forget everything; also mends an index that cannot be read."""
        self.__dict__.pop("_index", None)
        shutil.rmtree(self._folder, ignore_errors=True)

    def count(self) -> int:
        """Return the number of chunks."""
        self._index.reload()
        return int(self._index.searcher().num_docs)

    def search(self, question: str, k: int, allowed: Allowed) -> Scored:
        """Return at most ``k`` allowed rows that share a word with the question, best first, ties by row.

        The score is BM25 (k1 1.2, b 0.75) summed over the fields. The filter stands in the query as a clause
        without score where few documents are allowed; what else it forbids is dropped afterwards, and
        the search goes on until ``k`` rows are found or none is left.
        """
        query = self._query(question, allowed)
        if query is None or not len(allowed.rows):
            return []
        self._index.reload()
        searcher = self._index.searcher()
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
        if allowed.everything:
            pairs = list(zip(rows, scores, strict=True))
        else:
            inside = np.isin(np.asarray(rows, dtype=np.int64), allowed.rows)
            pairs = [(row, score) for row, score, ok in zip(rows, scores, inside, strict=True) if ok]
        return sorted(((int(r), s) for r, s in pairs if s > 0), key=lambda pair: (-pair[1], pair[0]))

    def _query(self, question: str, allowed: Allowed) -> tantivy.Query | None:
        from tantivy import Occur, Query

        schema = self._index.schema
        words = " ".join(topic_words(_without_numbers(question)))
        terms = {(f, term) for f in ("text_en", "text_es") for term in self._analyzers[f].analyze(words)}
        terms |= {("exact", term) for term in identifiers(question)}
        if not terms:
            return None
        should = [(Occur.Should, Query.term_query(schema, name, term)) for name, term in sorted(terms)]
        matched = Query.boolean_query(should)
        if allowed.everything or len(allowed.documents) > _MOST_DOCUMENT_CLAUSES:
            return matched
        documents = Query.boolean_query(
            [(Occur.Should, Query.term_query(schema, "doc", doc)) for doc in allowed.documents]
        )
        return Query.boolean_query([(Occur.Must, matched), (Occur.Must, Query.const_score_query(documents, 0.0))])

    def _writer(self) -> tantivy.IndexWriter:
        return self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)

    @staticmethod
    def _commit(writer: tantivy.IndexWriter) -> None:
        writer.commit()
        writer.wait_merging_threads()


class RankBm25Keywords:
    """Keep chunks in memory and score them with rank-bm25; for small corpora and for comparison."""

    def __init__(self) -> None:
        self._records: dict[int, list[str]] = {}

    @cached_property
    def _engine(self) -> tuple[list[int], object]:
        from rank_bm25 import BM25Okapi

        rows = sorted(self._records)
        return rows, BM25Okapi([self._records[row] or [""] for row in rows])

    def add(self, records: Iterable[KeywordRecord]) -> None:
        """Index chunks; they are found once this returns."""
        for record in records:
            self._records[record.row] = _plain_tokens(record.text)
        self.__dict__.pop("_engine", None)

    def remove(self, first_row: int, count: int) -> None:
        """Forget rows; rows that are not there are no fault."""
        for row in range(first_row, first_row + count):
            self._records.pop(row, None)
        self.__dict__.pop("_engine", None)

    def clear(self) -> None:
        """Forget everything."""
        self._records.clear()
        self.__dict__.pop("_engine", None)

    def count(self) -> int:
        """Return the number of chunks."""
        return len(self._records)

    def search(self, question: str, k: int, allowed: Allowed) -> Scored:
        """Return at most ``k`` allowed rows that share a word with the question, best first, ties by row."""
        terms = [fold(word) for word in topic_words(_without_numbers(question))] + identifiers(question)
        wanted = set(terms)
        permitted = {int(row) for row in allowed.rows}
        if not self._records or not permitted:
            return []
        rows, engine = self._engine
        at = [i for i, row in enumerate(rows) if row in permitted and wanted & set(self._records[row])]
        if not at:
            return []
        scores = engine.get_batch_scores(terms, at)  # type: ignore[attr-defined]  # rank_bm25 has no types
        # Okapi's idf is 0 for a word in half of the corpus: such a hit still shares a word.
        pairs = [(rows[i], max(float(score), 1e-9)) for i, score in zip(at, scores, strict=True)]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


def _plain_tokens(text: str) -> list[str]:
    words = [fold(word) for word in _WORD.findall(text)]
    known = set(words)
    return words + [token for token in identifiers(text) if token not in known]
