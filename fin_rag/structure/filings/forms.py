"""The Items that each form asks for: their ids, Parts, order and usual titles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from importlib import resources

_WORD = re.compile(r"[^\W\d_]+(?:['’`´][^\W\d_]+)*")
_FAMILY = re.compile(r"(10-?KSB|10-?K|10-?Q|8-?K|20-?F|40-?F|6-?K)", re.IGNORECASE)
_COVER = re.compile(r"\bform\s*(10-?k(?:sb)?|10-?q|8-?k|20-?f|40-?f|6-?k)", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,2})(?:\.(\d\d))?([A-Z]?)$")
_COVER_WINDOW = 12_000
_LAST_ITEM: Mapping[str, int] = {"10-K": 16, "10-KSB": 16, "10-Q": 6, "8-K": 12, "20-F": 19}
_LETTERS: Mapping[str, str] = {"10-K": "ABCD", "10-KSB": "ABC", "10-Q": "ABT", "20-F": "ABCDEFGHIJK"}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Hold the words by which headings, cross-references and the states of an Item are told apart."""

    stop_words: frozenset[str]
    generic_words: frozenset[str]
    state_phrases: frozenset[str]
    cross_reference_words: frozenset[str]
    states: Mapping[str, tuple[str, ...]]
    after_notes: tuple[str, ...]
    company_endings: tuple[str, ...]

    def is_company(self, title: str) -> bool:
        """Tell whether a title is the name of a company."""
        return title.lower().rstrip(" .,*").endswith(self.company_endings)


@dataclass(frozen=True, slots=True)
class ItemSpec:
    """Describe one Item of a form.

    ``key`` is its id, with the Part in front where numbers repeat; ``by_title`` is false where a heading
    of that title is an Item only if it carries the number too.
    """

    key: str
    part: str
    titles: tuple[str, ...]
    token_sets: tuple[frozenset[str], ...]
    words: frozenset[str]
    by_title: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """Hold the Items of one form family.

    ``parts`` lists the Parts in which a bare number can stand: several where numbers restart in each
    Part, one empty string elsewhere.
    """

    name: str
    family: str
    specs: Mapping[str, ItemSpec]
    parts: tuple[str, ...]

    @property
    def ordered(self) -> bool:
        """Tell whether Items rise through a filing of this form."""
        return self.family != "8-K"

    def key(self, number: str, part: str) -> str:
        """Return the id of the Item ``number`` in ``part``."""
        return f"{part}-{number}" if self.parts != ("",) else number

    def spec(self, key: str) -> ItemSpec:
        """Return what is known of an Item; an unknown one has no titles."""
        return self.specs.get(key) or ItemSpec(key, self.part_of(key), (), (), frozenset())

    def part_of(self, key: str) -> str:
        """Return the Part that an Item stands in by the form's rules, or an empty string."""
        if key in self.specs:
            return self.specs[key].part
        if "-" in key:
            return key.split("-")[0]
        plain = _NUMBER.match(key)
        return self.specs[plain[1]].part if plain and plain[1] in self.specs else ""

    def order(self, key: str) -> tuple[str, int, str]:
        """Return the sort key by which Items rise."""
        part, _, number = key.rpartition("-")
        found = _NUMBER.match(number)
        return (part, int(found[1]), (found[2] or "") + found[3]) if found else (part, 99, number)

    def accepts(self, number: str) -> bool:
        """Tell whether ``number`` can be an Item of this form, whatever its era."""
        found = _NUMBER.match(number)
        if not found or not 1 <= int(found[1]) <= _LAST_ITEM.get(self.name, 19):
            return False
        if self.family == "8-K":
            return not found[3] and (number in self.specs or found[2] is not None)
        if found[2]:
            return False
        known = any(self.key(number, part) in self.specs for part in self.parts)
        return known or (not found[3] and bool(self.specs)) or found[3] in _LETTERS.get(self.name, "")

    def similarity(self, key: str, title: str) -> float:
        """Compare a printed title with the usual ones of an Item: 0 is unlike, 1 the same words."""
        return self.likeness(key, content_words(title))

    def likeness(self, key: str, words: AbstractSet[str]) -> float:
        """Compare the content words of a title with the usual titles of an Item."""
        best = 0.0
        for tokens in self.spec(key).token_sets:
            shared = len(words & tokens)
            if shared:
                f_measure = 2 * shared / (len(words) + len(tokens))
                best = max(best, (f_measure + shared / len(words)) / 2)
        return best


def stem(word: str) -> str:
    """Return the form of a word by which titles are compared.

    Example:
        >>> stem("Management’s"), stem("Disclosures")
        ('management', 'disclosure')
    """
    plain = re.sub(r"['’`´]", "", word.lower())
    return plain[:-1] if len(plain) > 3 and plain.endswith("s") and not plain.endswith("ss") else plain


@cache
def vocabulary() -> Vocabulary:
    """Return the word lists of this package."""
    raw = json.loads(resources.files(__package__).joinpath("vocabulary.json").read_text("utf-8"))
    states = ("reserved", "not_applicable", "omitted", "incorporated", "cross_reference")
    return Vocabulary(
        stop_words=frozenset(stem(w) for w in raw["stop_words"]) | frozenset(raw["stop_words"]),
        generic_words=frozenset(stem(w) for w in raw["generic_words"]),
        state_phrases=frozenset(raw["state_phrases"]),
        cross_reference_words=frozenset(raw["cross_reference_words"]),
        states={name: tuple(raw[name]) for name in states},
        after_notes=tuple(raw["after_notes"]),
        company_endings=tuple(f" {ending}" for ending in raw["company_endings"]),
    )


def content_words(title: str) -> frozenset[str]:
    """Return the stems of a title's words, without stop words.

    Example:
        >>> sorted(content_words("Controls and Procedures"))
        ['control', 'procedure']
    """
    stops = vocabulary().stop_words
    return frozenset(s for s in (stem(m.group()) for m in _WORD.finditer(title[:400])) if s not in stops)


def _spec(raw: Mapping[str, object]) -> ItemSpec:
    titles = raw["titles"]
    names = tuple(str(t) for t in titles) if isinstance(titles, list) else ()
    sets = tuple(content_words(t) for t in names)
    return ItemSpec(
        str(raw["key"]),
        str(raw["part"]),
        names,
        sets,
        frozenset().union(*sets),
        bool(raw.get("by_title", True)),
    )


@cache
def form_named(name: str) -> Form:
    """Return the form with that catalogue name (``10-K``, ``10-KSB``, ``10-Q``, ``8-K``, ``20-F``)."""
    raw = json.loads(resources.files(__package__).joinpath("items.json").read_text("utf-8"))
    specs = {spec.key: spec for spec in map(_spec, raw.get(name, []))}
    family = "10-K" if name == "10-KSB" else name
    return Form(name, family, specs, ("I", "II") if name == "10-Q" else ("",))


def family_name(doc_type: str) -> str:
    """Return the catalogue name for a form as filers write it, or an empty string.

    Example:
        >>> family_name("10-K405/A"), family_name("10KSB"), family_name("letter")
        ('10-K', '10-KSB', '')
    """
    found = _FAMILY.match(doc_type.strip())
    if not found:
        return ""
    raw = found[1].upper().replace("-", "")
    return {"10KSB": "10-KSB", "10K": "10-K", "10Q": "10-Q", "8K": "8-K", "20F": "20-F", "40F": "40-F"}.get(raw, "6-K")


def form_of(doc_type: object, text: str) -> Form:
    """Return the form that ``doc_type`` states, else the one that the cover names."""
    name = family_name(doc_type) if isinstance(doc_type, str) else ""
    if not name:
        found = _COVER.search(text, 0, _COVER_WINDOW)
        name = family_name(found[1]) if found else "10-K"
    return form_named(name)


def union_words(form: Form, keys: Iterable[str]) -> frozenset[str]:
    """Return all words of the usual titles of ``keys``."""
    return frozenset().union(*(form.spec(key).words for key in keys))
