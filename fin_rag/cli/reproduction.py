"""``fin-rag inspect --report``: a small copy of a document that shows its structure and none of its content.

Words of the field and of grammar stay, all other words become made-up ones of the same length and case, the
same word everywhere; figures keep their shape. Long paragraphs are cut. HTML keeps its elements and the
attributes that shape a reading.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from typing import Final

from fin_rag.schema import ITEM, PART, Outline

_WORD: Final = re.compile(r"[^\W\d_]+|(?<![^\W\d_])\d{3,}|\d*[.,]\d+")
_YEAR: Final = re.compile(r"(?:19|20)\d{2}")
_TOKEN: Final = re.compile(r"<!--.*?-->|<[!?/a-zA-Z][^<>]*>|[^<]+|<", re.DOTALL)
_ATTRIBUTE: Final = re.compile(r"""([\w:.-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""")
_TAG: Final = re.compile(r"</?([\w:.-]+)")
_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
LENGTHS: Final = (320, 1_200, 1_000_000)  # code points of a paragraph that are kept; more where it takes more
_KEPT_ATTRIBUTES: Final = frozenset(
    {"class", "align", "width", "colspan", "rowspan", "size", "type", "start", "scale", "sign", "format", "decimals"}
)
_KEPT_STYLES: Final = (
    "font-weight", "font-size", "font-style", "text-", "display", "page-break", "break-", "margin-left",
    "padding-left", "visibility",
)  # fmt: skip
_TARGET: Final = re.compile(r"""(?:href\s*=\s*["']?#|continuedat\s*=\s*["']?)([^"'\s>]+)""", re.IGNORECASE)
_NAMES: Final = frozenset({"id", "name", "href", "continuedat", "contextref", "unitref"})
_TAXONOMIES: Final = frozenset(
    {"us-gaap", "dei", "srt", "ifrs-full", "country", "currency", "iso4217", "xbrli", "xbrldi", "ix", "ixt", "link"}
)


class Anonymiser:
    """Replace the words and figures of one document, each always by the same.

    Example:
        >>> Anonymiser().text("Item 7. Orrin Bank earned $1,234 in 2031; Orrin grew.")
        'Item 7. Bbbbb Bank bbbbbb $7,777 in 2031; Bbbbb grew.'
    """

    def __init__(self, targets: AbstractSet[str] = frozenset()) -> None:
        self.targets = targets
        self._words: dict[str, str] = {}
        self._lengths: dict[int, int] = {}
        self._names: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return a text with its own words and figures replaced; it is as long as before."""
        return _WORD.sub(lambda found: self._replaced(found[0]), text)

    def _replaced(self, word: str) -> str:
        if not word[0].isalpha():
            return word if _YEAR.fullmatch(word) else re.sub(r"\d", "7", word)
        low = word.lower()
        if low in _kept() or len(word) == 1:
            return word
        made = self._words.get(low)
        if made is None:
            count = self._lengths[len(low)] = self._lengths.get(len(low), -1) + 1
            made = self._words[low] = _coded(count, len(low))
        return "".join(new.upper() if old.isupper() else new for old, new in zip(word, made, strict=True))

    def name(self, name: str) -> str:
        """Return a made-up name for an anchor, a context or a unit."""
        return self._names.setdefault(name, f"n{len(self._names)}")

    def concept(self, concept: str) -> str:
        """Return a concept's name; one that is the filer's own is made up."""
        prefix, _, _ = concept.partition(":")
        return concept if prefix in _TAXONOMIES else f"own:{self.name(concept)}"


@cache
def _kept() -> frozenset[str]:
    """Return the words that stay: those of the vocabularies by which structure is recognised."""
    words = set(json.loads(files("fin_rag.cli").joinpath("kept_words.json").read_text(encoding="utf-8"))["words"])
    for room in ("fin_rag.structure", "fin_rag.structure.filings"):
        for entry in files(room).iterdir():
            if entry.name.endswith(".json"):
                words.update(re.findall(r"[^\W\d_]+", entry.read_text(encoding="utf-8").lower()))
    words.update(
        json.loads(files("fin_rag.structure.statements").joinpath("vocabulary.json").read_text("utf-8"))["months"]
    )
    return frozenset(words)


def _coded(number: int, length: int) -> str:
    """Write a number in letters, as long as the word that it stands for."""
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[rest])
    return "".join(reversed(letters))


def anonymise_text(text: str, longest: int) -> str:
    """Return a canonical text without its content; paragraphs are cut at ``longest`` code points."""
    known = Anonymiser()
    lines = text.split("\n")
    return "\n".join(known.text(line if line.startswith("|") else _short(line, longest)) for line in lines)


def anonymise_html(source: str, longest: int) -> str:
    """Return an HTML source without its content: elements, layout and inline facts stay."""
    return "".join(_pieces(source, longest))


def _pieces(source: str, longest: int) -> Iterator[str]:
    known = Anonymiser(set(_TARGET.findall(source)))
    raw = ""
    for found in _TOKEN.finditer(source):
        token = found[0]
        if token.startswith(("<!", "<?")):
            continue
        tag = _TAG.match(token)
        if tag is None:
            if token != "<" and raw != "script":
                yield (
                    token
                    if raw == "style"
                    else html.escape(known.text(_short(html.unescape(token), longest)), quote=False)
                )
            continue
        name = tag[1].lower()
        if name in ("script", "style"):
            raw = "" if token.startswith("</") else name
        if name != "script":
            yield _element(token, tag[1], known)


def _element(token: str, name: str, known: Anonymiser) -> str:
    prefix, colon, _ = name.lower().partition(":")
    shown = known.name(name) if colon and prefix not in _TAXONOMIES else name
    if token.startswith("</"):
        return f"</{shown}>"
    parts = [shown]
    for key, value in _ATTRIBUTE.findall(token[1 + len(name) :]):
        kept = _attribute(name.lower(), key.lower(), value.strip("\"'"), known)
        if kept is not None:
            parts.append(f'{key}="{kept}"')
    return f"<{' '.join(parts)}{'/' if token.endswith('/>') else ''}>"


def _attribute(tag: str, key: str, value: str, known: Anonymiser) -> str | None:
    if key == "style":
        rules = [rule.strip() for rule in value.split(";")]
        return ";".join(rule for rule in rules if rule.lower().startswith(_KEPT_STYLES))
    if key in ("name", "dimension") and ":" in tag:
        return known.concept(value)
    if key in _NAMES:
        if key == "href":
            return f"#{known.name(value[1:])}" if value.startswith("#") else "#"
        if key in ("id", "name") and value not in known.targets and "context" not in tag and "unit" not in tag:
            return None
        return known.name(value)
    return value if key in _KEPT_ATTRIBUTES or key.endswith("nil") else None


def _short(text: str, longest: int) -> str:
    """Cut a long paragraph at a blank; it goes on to end like a sentence."""
    if len(text) <= longest:
        return text
    at = text.rfind(" ", 0, longest)
    tail = text[len(text.rstrip()) :]
    return f"{text[: at if at > 0 else longest]}.{tail}"


def skeleton(outline: Outline) -> list[tuple[int, str, str]]:
    """Return what two outlines must share to be the same: level, Part and Item of each section."""
    return [(s.level, str(s.metadata.get(PART, "")), str(s.metadata.get(ITEM, ""))) for s in outline]
