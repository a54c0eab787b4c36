"""Lexicons of the user's own: expert vocabulary in YAML or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fin_rag.errors import InputError, NotFoundError, ParseError
from fin_rag.query.model import TopicMatch
from fin_rag.query.vocabulary import PhraseFinder, Token


@dataclass(frozen=True, slots=True)
class Entry:
    """Hold one term: what else it is called, patterns of the question, and words that tell it from others.

    ``patterns`` are regular expressions, ignoring case. With ``disambiguators`` the term is meant only where one
    of them is in the question too.
    """

    term: str
    variants: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    disambiguators: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()


class Lexicon:
    """Find a user's own terms in questions.

    Example:
        >>> from fin_rag.query.vocabulary import tokenize
        >>> lexicon = Lexicon([Entry("AT1", variants=("contingent convertible", "CoCo"))])
        >>> [match.topic for match in lexicon.find("Any CoCo issue?", tokenize("Any CoCo issue?"))]
        ['AT1']
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.entries = tuple(entries)
        try:
            self._patterns = [[re.compile(p, re.IGNORECASE) for p in entry.patterns] for entry in self.entries]
        except re.error as error:
            raise InputError(f"A pattern of the lexicon is no regular expression: {error}. Correct it.") from error
        self._finder = PhraseFinder({e.term: (e.term, *e.variants) for e in self.entries})
        self._helpers = [PhraseFinder({e.term: e.disambiguators}) for e in self.entries]

    @classmethod
    def load(cls, path: str | Path) -> Lexicon:
        """Read a file: a list of ``{term, variants, patterns, disambiguators, titles}`` in YAML or JSON.

        Raises:
            NotFoundError: if there is no such file.
            ParseError: if it is neither YAML nor JSON.
            InputError: if an entry has no term, or a key that is not known.
        """
        file = Path(path)
        if not file.is_file():
            raise NotFoundError(f"The lexicon {str(path)!r} does not exist. Check the path.")
        text = file.read_text("utf-8")
        data = _read_json(text, str(path)) if file.suffix.lower() == ".json" else _read_yaml(text, str(path))
        if not isinstance(data, list):
            raise InputError(f"The lexicon {str(path)!r} must be a list of terms. Got {type(data).__name__}.")
        return cls(_entry(item, str(path)) for item in data)

    def find(self, question: str, tokens: list[Token]) -> list[TopicMatch]:
        """Return the terms that a question means."""
        at: dict[str, tuple[int, int]] = {}
        for hit in self._finder.find(tokens):
            at.setdefault(hit.label, (tokens[hit.first].start, tokens[hit.last - 1].end))
        found = []
        for entry, patterns, helpers in zip(self.entries, self._patterns, self._helpers, strict=True):
            place = at.get(entry.term)
            for pattern in patterns:
                match = pattern.search(question)
                if match is not None and place is None:
                    place = match.span()
            if place is None or (entry.disambiguators and not helpers.has(tokens)):
                continue
            terms = (entry.term, *entry.variants)
            found.append(TopicMatch(entry.term, question[place[0] : place[1]], *place, terms, entry.titles, own=True))
        return found


def _read_json(text: str, source: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ParseError(f"The lexicon {source!r} is no JSON: {error}. Correct it.") from error


def _read_yaml(text: str, source: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ParseError(f"The lexicon {source!r} is no YAML: {error}. Correct it.") from error


def _entry(item: object, source: str) -> Entry:
    known = ("term", "variants", "patterns", "disambiguators", "titles")
    if not isinstance(item, Mapping) or not isinstance(item.get("term"), str):
        raise InputError(f"Each entry of {source!r} needs a 'term'. Got {item!r}.")
    unknown = sorted(set(item) - set(known))
    if unknown:
        raise InputError(f"Unknown keys {unknown} in {source!r}. Known: {', '.join(known)}.")
    lists = {key: tuple(str(text) for text in item.get(key) or ()) for key in known[1:]}
    return Entry(str(item["term"]), **lists)
