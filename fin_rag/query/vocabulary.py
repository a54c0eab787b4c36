"""The data files of question analysis, read once, and phrase search in token lists."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files
from typing import Any, Final

from fin_rag.text.words import fold, function_words, stem

_TOKEN: Final = re.compile(r"[^\W_]+(?:&[^\W_]+)*|%")


_SETTING_APART: Final = frozenset(("other", "otros", "otras", "otro", "otra", "no", "not", "own"))


@dataclass(frozen=True, slots=True)
class Token:
    """Hold one word of a question: as typed, folded, its stem and its place (code points)."""

    text: str
    folded: str
    stem: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """Split a question into words; ``R&D`` is one.

    Example:
        >>> [token.folded for token in tokenize("¿Capex de R&D?")]
        ['capex', 'de', 'r&d']
    """
    found = []
    for match in _TOKEN.finditer(text):
        folded = fold(match[0])
        found.append(Token(match[0], folded, stem(folded), match.start(), match.end()))
    return found


def read_json(name: str) -> dict[str, Any]:
    """Read one of the JSON files beside this module."""
    data: dict[str, Any] = json.loads(files("fin_rag.query").joinpath(name).read_text("utf-8"))
    return data


@cache
def metrics_data() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the metric file: ``item`` and ``ratio``, by id."""
    return tomllib.loads(files("fin_rag.query").joinpath("metrics.toml").read_text("utf-8"))


@cache
def phrases() -> dict[str, Any]:
    """Return the phrases of questions."""
    return read_json("phrases.json")


@cache
def topics_data() -> dict[str, Any]:
    """Return the topics and synonyms."""
    return read_json("topics.json")


@dataclass(frozen=True, slots=True)
class Hit:
    """Hold a phrase found in a token list: its label and the tokens ``first`` to ``last`` (exclusive)."""

    label: str
    first: int
    last: int


class PhraseFinder:
    """Find phrases in a list of tokens, the longest at each place.

    Words are compared by stems, and function words between them do not count; with ``exact`` they are compared as
    folded, with every word.

    Example:
        >>> finder = PhraseFinder({"debt": ["net debt"], "cash": ["cash"]})
        >>> [(hit.label, hit.first, hit.last) for hit in finder.find(tokenize("cash and net debts"))]
        [('cash', 0, 1), ('debt', 2, 4)]
    """

    def __init__(self, named: Mapping[str, Iterable[str]], *, exact: bool = False) -> None:
        self._exact = exact
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for label, texts in named.items():
            for text in texts:
                tokens = tokenize(text)
                keys = tuple(self._key(token) for token in self._counted(tokens))
                # "Other income" is not income: without the word that sets it apart a name is another's.
                bare = len(keys) == 1 and any(token.folded in _SETTING_APART for token in tokens) and not exact
                if keys and not bare:
                    self._phrases.setdefault(keys[0], []).append((keys, label))
        for found in self._phrases.values():
            found.sort(key=lambda pair: -len(pair[0]))

    def find(self, tokens: Sequence[Token]) -> list[Hit]:
        """Return the phrases in order; of those that start at one place, the longest and all equal to it."""
        places = [at for at, token in enumerate(tokens) if self._counts(token)]
        keys = [self._key(tokens[at]) for at in places]
        hits: list[Hit] = []
        at = 0
        while at < len(keys):
            longest = 0
            for phrase, label in self._phrases.get(keys[at], ()):
                if len(phrase) < longest:
                    break
                if tuple(keys[at : at + len(phrase)]) == phrase:
                    longest = len(phrase)
                    hits.append(Hit(label, places[at], places[at + longest - 1] + 1))
            at += longest or 1
        return hits

    def has(self, tokens: Sequence[Token]) -> bool:
        """Tell whether any phrase is there."""
        return bool(self.find(tokens))

    def _counts(self, token: Token) -> bool:
        return self._exact or token.folded not in function_words()

    def _counted(self, tokens: Sequence[Token]) -> list[Token]:
        return [token for token in tokens if self._counts(token)]

    def _key(self, token: Token) -> str:
        # Short words are abbreviations: stems would bring different ones together.
        return token.folded if self._exact or len(token.folded) < 4 else token.stem


@cache
def finder(group: str, *, exact: bool = False) -> PhraseFinder:
    """Return the finder of one group of ``phrases.json``; a list's label is the group's name."""
    data = phrases()[group]
    return PhraseFinder(data if isinstance(data, dict) else {group: data}, exact=exact)


@cache
def known_words() -> frozenset[str]:
    """Return all words that the data files know, folded."""
    texts: list[str] = []
    for entries in metrics_data().values():
        for entry in entries.values():
            texts += [*entry["names"], *entry.get("rows", ())]
    for topic in topics_data()["topics"].values():
        texts += [text for key in ("en", "es", "titles") for text in topic[key]]
    texts += [word for group in topics_data()["synonyms"] for word in group]
    for group in phrases().values():
        if isinstance(group, dict):
            texts += [text for part in group.values() for text in part]
        elif isinstance(group, list):
            texts += group
    for kind in read_json("kinds.json")["kinds"].values():
        texts += [*kind["named"], *kind["hinted"]]
    return frozenset(token.folded for text in texts for token in tokenize(text))


@cache
def known_stems() -> frozenset[str]:
    """Return the stems of all words that the data files know: none of them is a company's name by itself."""
    return frozenset(stem(word) for word in known_words() | function_words())


_LEAST_CORRECTED: Final = 7  # letters
_CORRECTED_RATIO: Final = 0.84


def corrected(tokens: Sequence[Token], occurs: Callable[[str], bool]) -> tuple[list[Token], list[str]]:
    """Return tokens in which words that occur nowhere are read as the known term one slip away, and what was read.

    Names begin with a capital and are left to the library.

    Example:
        >>> tokens, read = corrected(tokenize("captial expenditure"), lambda word: False)
        >>> tokens[0].text, read
        ('capital', ["'captial': read as 'capital'"])
    """
    out, read = [], []
    for token in tokens:
        word = token.folded
        if (
            len(word) < _LEAST_CORRECTED
            or not word.isalpha()
            or token.text[:1].isupper()
            or token.stem in known_stems()
            or occurs(word)
        ):
            out.append(token)
            continue
        near = max(((_alike(word, other), other) for other in known_words() if other[:1] == word[0]), default=(0.0, ""))
        if near[0] < _CORRECTED_RATIO:
            out.append(token)
            continue
        out.append(Token(near[1], near[1], stem(near[1]), token.start, token.end))
        read.append(f"{token.text!r}: read as {near[1]!r}")
    return out, read


def _alike(word: str, other: str) -> float:
    if abs(len(word) - len(other)) > 1:
        return 0.0
    return SequenceMatcher(None, word, other, autojunk=False).ratio()
