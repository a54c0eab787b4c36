"""Which documents a sentence may be about: by the companies that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from fin_rag.answers.claims import Claim, company_names
from fin_rag.answers.evidence import Evidence, Source
from fin_rag.answers.labels import vocabulary_words
from fin_rag.answers.vocabulary import word_set
from fin_rag.answers.when import read_periods
from fin_rag.facts.concepts import name_key

_HEAD: Final = 1_500
_MOST_TEXT: Final = 200_000


@dataclass(frozen=True, slots=True)
class Company:
    """Hold what a claim says of companies: the documents of those it names, or a name that no document has."""

    docs: frozenset[int] | None = None
    stranger: str = ""


@dataclass(slots=True)
class Companies:
    """Tell the companies of the evidence apart, and find names that are none of them."""

    evidence: Evidence
    _names: list[list[frozenset[str]]] = field(default_factory=list)
    _words: frozenset[str] = frozenset()
    _known: bool = False
    _seen: dict[str, Company] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words: set[str] = set()
        for source in self.evidence.sources:
            names = [_tokens(name) for name in source.names] or [_tokens(name) for name in _inferred(source)]
            self._names.append([one for one in names if one])
            words.update(re.findall(r"[^\W_]+", name_key(source.text[:_MOST_TEXT])))
            for key in ("title", "source", "doc_name", "section_path", "context_header"):
                words.update(name_key(str(source.metadata.get(key) or "").replace("_", " ")).split())
        self._known = bool(self._names) and all(self._names)
        self._words = frozenset(words)

    def of(self, claim: Claim, inherited: Company) -> Company:
        """Return what the nearest words before a claim, else its sentence, say of companies."""
        earlier = [one.before for one in claim.sentence.mentions if one.number.span.start < claim.number.span.start]
        for text in (claim.mention.before, *reversed(earlier[-4:]), claim.sentence.text):
            found = self._of_text(text)
            if found.docs is not None or found.stranger:
                return found
        return inherited

    def in_question(self, question: str) -> str:
        """Return the company that a question is about if no document is of it, else an empty string."""
        stranger = ""
        for name, subject in company_names(question):
            parts = _tokens(name)
            if not parts or read_periods(name):
                continue
            if any(_same(parts, one) for names in self._names for one in names):
                return ""
            if subject and not stranger and self._is_stranger(name, parts):
                stranger = name
        return stranger

    def _of_text(self, text: str) -> Company:
        if text not in self._seen:
            self._seen[text] = self._read(text)
        return self._seen[text]

    def _read(self, text: str) -> Company:
        docs: set[int] = set()
        for name, subject in company_names(text):
            parts = _tokens(name)
            if not parts or read_periods(name):
                continue
            matching = {at for at, names in enumerate(self._names) if any(_same(parts, one) for one in names)}
            if matching:
                docs |= matching
            elif subject and not docs and self._is_stranger(name, parts):
                return Company(None, name)
        return Company(frozenset(docs)) if docs else Company()

    def _is_stranger(self, name: str, parts: frozenset[str]) -> bool:
        """Tell whether a name is that of a company of which no document speaks."""
        if not self._known:
            return False
        first = next(iter(name_key(name).split()), "")
        return first in parts and first not in self._words and first not in vocabulary_words()


def _tokens(name: str) -> frozenset[str]:
    """Return the words of a company's name that tell it from others.

    Example:
        >>> sorted(_tokens("Bralton Widgets, Inc."))
        ['bralton', 'widgets']
    """
    endings = {name_key(one) for one in word_set("organisations")}
    listed = name_key(re.sub(r"(?<=\b\w)\.(?=\w\b)", "", name)).split()
    return frozenset(
        one
        for one in listed
        if one not in endings
        and one not in ("the", "of", "and", "de", "y", "la", "subsidiaries", "sociedades", "dependientes")
    )


def _same(said: frozenset[str], name: frozenset[str]) -> bool:
    """Tell whether what is said names that company: words of its name and no others."""
    return said <= name or (name <= said and bool(name))


def _inferred(source: Source) -> list[str]:
    """Return the names of companies at the head of a document that does not say whose it is."""
    names = [name for name, _ in company_names(source.text[:_HEAD].replace("\n", " . ")) if _has_ending(name)]
    label = str(source.metadata.get("doc_name") or "")
    if "_" in label:
        names.append(label.partition("_")[0])
    return names[:6]


def _has_ending(name: str) -> bool:
    return any(part.strip(",").lower() in word_set("organisations") for part in name.split()[1:])


def named_sources(sources: Sequence[Source], docs: frozenset[int]) -> str:
    """Return the names of the companies of some documents."""
    found = [
        source.names[0] if source.names else f"document {source.index + 1}"
        for source in sources
        if source.index in docs
    ]
    return ", ".join(dict.fromkeys(found))
