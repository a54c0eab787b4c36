"""The issuers that an index knows: names, tickers and documents, as questions may mean them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from fin_rag.query.vocabulary import read_json
from fin_rag.schema import (
    CIK,
    DOC_TYPE,
    FILED,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    LANG,
    PERIOD_END,
    TICKER,
    TITLE,
)
from fin_rag.text.words import fold

_WORD: Final = re.compile(r"[^\W_]+")
_DOTTED: Final = re.compile(r"\b(?:[^\W\d_]\.){2,}")
_TITLE_BREAK: Final = re.compile(r"\s+[—–|]\s+|\s+-\s+")
_MOST_NAME_WORDS: Final = 10
ALIASES: Final = ("aliases", "former_names")  # further keys of a document that hold names of its issuer


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """Hold what the choice of documents looks at. ``number`` is the document's number in the index."""

    number: int
    doc_id: str
    title: str
    doc_type: str
    fiscal_year: int
    fiscal_period: str
    period_end: int
    filed: int
    lang: str
    entities: tuple[str, ...]


@dataclass(slots=True)
class Entity:
    """Hold one issuer or product: its key, names as folded words, tickers and the numbers of its documents."""

    key: str
    names: set[tuple[str, ...]] = field(default_factory=set)
    tickers: set[str] = field(default_factory=set)
    documents: set[int] = field(default_factory=set)


@cache
def legal_suffixes() -> frozenset[str]:
    """Return the words of legal forms."""
    return frozenset(read_json("companies.json")["suffixes"])


@cache
def generic_words() -> frozenset[str]:
    """Return words that name no company alone."""
    return frozenset(read_json("companies.json")["generic"])


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a name without its legal form, folded.

    Example:
        >>> name_words("The Coca-Cola Company"), name_words("Hidra Aguas, S.A.")
        (('coca', 'cola'), ('hidra', 'aguas'))
    """
    joined = _DOTTED.sub(lambda match: match[0].replace(".", ""), name)
    words = [word for word in _WORD.findall(fold(joined)) if word != "s"]
    while len(words) > 1 and words[-1] in legal_suffixes():
        words.pop()
    if len(words) > 1 and words[0] == "the":
        words = words[1:]
    return tuple(words[:_MOST_NAME_WORDS])


class Library:
    """Know the documents of an index by issuer.

    Documents of one CIK or ticker belong to one issuer whatever name they bear. What stands before the dash
    of a title ("Fund X — Prospectus") is an entity too: funds share an issuer.

    Example:
        >>> library = Library([(0, {"issuer": "Acme, Inc.", "ticker": "ACM", "title": "10-K 2024"})])
        >>> [(entity.key, sorted(entity.documents)) for entity in library.entities.values()]
        [('Acme, Inc.', [0])]
    """

    def __init__(self, documents: Iterable[tuple[int, Mapping[str, object]]]) -> None:
        self.entities: dict[str, Entity] = {}
        self.documents: dict[int, DocumentEntry] = {}
        self._by_name: dict[tuple[str, ...], str] = {}
        self._by_mark: dict[str, str] = {}
        for number, metadata in documents:
            keys = self._entities_of(number, metadata)
            self.documents[number] = _entry(number, metadata, keys)
        self._add_well_known()
        self.name_index: dict[str, list[tuple[str, tuple[str, ...], int]]] = {}
        for key, entity in self.entities.items():
            for name in sorted(entity.names):
                for at, word in enumerate(name):
                    self.name_index.setdefault(word, []).append((key, name, at))

    def documents_of(self, keys: Iterable[str]) -> set[int]:
        """Return the numbers of the documents of entities."""
        return {number for key in keys for number in self.entities[key].documents}

    def _entities_of(self, number: int, metadata: Mapping[str, object]) -> tuple[str, ...]:
        issuer = str(metadata.get(ISSUER) or "")
        names = [issuer] if issuer else []
        for key in ALIASES:
            value = metadata.get(key)
            names += [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []
        keys = []
        if names:
            marks = [f"{mark}:{metadata[mark]}" for mark in (CIK, TICKER) if metadata.get(mark)]
            keys.append(self._entity(names, marks, str(metadata.get(TICKER) or "")))
        subject = _subject(str(metadata.get(TITLE) or ""))
        if subject and name_words(subject) not in self._by_name:
            keys.append(self._entity([subject], [], ""))
        elif subject:
            keys.append(self._by_name[name_words(subject)])
        for key in keys:
            self.entities[key].documents.add(number)
        return tuple(dict.fromkeys(keys))

    def _entity(self, names: Sequence[str], marks: Sequence[str], ticker: str) -> str:
        """Return the entity of these names or marks (CIK, ticker), made if there is none."""
        words = [w for w in map(name_words, names) if w]
        known = [self._by_mark[mark] for mark in marks if mark in self._by_mark]
        known += [self._by_name[w] for w in words if w in self._by_name]
        key = known[0] if known else names[0]
        entity = self.entities.setdefault(key, Entity(key))
        entity.names.update(words)
        if ticker:
            entity.tickers.add(ticker.upper())
        for mark in marks:
            self._by_mark.setdefault(mark, key)
        for w in words:
            self._by_name.setdefault(w, key)
        return key

    def _add_well_known(self) -> None:
        """Give entities the other names that their company goes by."""
        for group in read_json("companies.json")["names"]:
            words = [name_words(name) for name in group]
            for entity in self.entities.values():
                if any(_begins(name, w) for name in entity.names for w in words):
                    entity.names.update(w for w in words if w)


def _begins(name: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return name == wanted or (len(wanted) > 1 and name[: len(wanted)] == wanted)


def _subject(title: str) -> str:
    """Return what a title with a dash is about, or nothing."""
    parts = _TITLE_BREAK.split(title, maxsplit=1)
    words = name_words(parts[0])
    if len(parts) < 2 or not 1 <= len(words) <= _MOST_NAME_WORDS or set(words) <= generic_words():
        return ""
    return parts[0].strip() if not any(word.isdigit() for word in words) else ""


def _entry(number: int, metadata: Mapping[str, object], keys: tuple[str, ...]) -> DocumentEntry:
    def integer(key: str) -> int:
        value = metadata.get(key)
        return value if isinstance(value, int) else 0

    return DocumentEntry(
        number, str(metadata.get("doc_id", "")), str(metadata.get(TITLE) or ""), str(metadata.get(DOC_TYPE) or ""),
        integer(FISCAL_YEAR), str(metadata.get(FISCAL_PERIOD) or ""), integer(PERIOD_END), integer(FILED),
        str(metadata.get(LANG) or ""), keys,
    )  # fmt: skip
