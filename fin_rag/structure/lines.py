"""Lines of a canonical text and what can be said of one line alone.

Every offset is absolute: it indexes the whole canonical text, even where only a part of it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, NamedTuple

from fin_rag.schema import Span

_BREAK: Final = re.compile("\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_ODD_BREAK: Final = re.compile("[\r\x0b\x0c\x85\u2028\u2029]")
# A longer line is running text whatever it looks like; only the head and tail of it are ever examined.
LONGEST_ROW: Final = 20_000
_TOO_LONG_FOR_PHRASE: Final = 400
_LONGEST_FIGURE: Final = 48

_BULLET: Final = re.compile(r"(?:[-*+•·●▪■◦‣∙–—]|o(?=\s{2}))\s+(?=\S)|[•·●▪■◦‣∙](?=\S)")
_ORDINAL: Final = re.compile(r"\(?(?P<mark>\d{1,3}|[a-z]{1,2}|[ivxlc]{1,6}|[A-Z])(?P<close>[.)º]|\\\.)\)?\s+(?=\S)")
_NOTE_MARK: Final = re.compile(
    r"(?:[¹²³⁰⁴-⁹]+|\((?:\d{1,2}|\\?\*{1,4}|[a-z])\)|\[\^?\w{1,6}\]:?|[†‡§]+|(?:\\?\*){1,4})\s*(?=[^\s*])"
)
_RULE_CHARS: Final = frozenset("-=_*~—–─═ \t")
_NIL: Final = frozenset({"-", "–", "—", "−", "--", "---", "n/a", "n.a.", "n/d", "n.d.", "n.s.", "nm", "n.m.", "na"})
_DASHES: Final = frozenset({"-", "–", "—", "−", "--"})
_NEUTRAL: Final = frozenset({"$", "€", "£", "%", ")", ")%", "(", "($", "us$", "eur", "usd", "pp", "p.p.", "pb", "bps"})
_FIGURE: Final = re.compile(
    r"[-+−–(]*(?:US\$|R\$|[$€£¥]|[A-Z]{3}(?=\d))?[-−–(]*\d[\d.,'’]*"
    r"(?:%|x|X|×|e|E|pp|bps|pb|€|\$|M€|k€|m|bn|mn)?[)\]]{0,2}%?"
    r"(?:\(\w{1,2}\)|\[\^?\w{1,3}\]|[¹²³⁰⁴-⁹]+|\\?\*{1,3}|[†‡]){0,3}"
)
_YEAR: Final = re.compile(
    r"(?:FY|CY|fy)?\s?(?:19|20)\d{2}[eEpPAa]?(?:[-/](?:\d{2}|(?:19|20)\d{2}))?(?:\(\d\)|[¹²³*†])?"
)
_TAG: Final = re.compile(r"<[/!a-zA-Z][^<>]{0,400}>")
_LINK: Final = re.compile(r"\[([^\[\]]{1,300})\]\([^()\s]{0,300}\)")
_ESCAPE: Final = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|&$%~])")
_EMPHASIS: Final = (
    ("**", re.compile(r"(?<!\\)\*\*([^*]+)\*\*")),
    ("*", re.compile(r"(?<![\w\\*])\*([^*\s][^*]*)(?<!\\)\*(?![\w*])")),
    ("__", re.compile(r"(?<![\w\\])__([^_]+)__(?!\w)")),
    ("_", re.compile(r"(?<![\w\\_])_([^_\s][^_]*)_(?![\w_])")),
)


class Line(NamedTuple):
    """Hold one line: the bounds of its non-blank part and that part's text.

    ``indent`` counts the blank code points before it. A blank line has ``start == end`` and no text.
    """

    start: int
    end: int
    text: str
    indent: int


def split_lines(text: str, span: Span | None = None) -> list[Line]:
    r"""Cut a text (or the part in ``span``) into lines, with absolute offsets in code points.

    A form feed ends a line too, so a page never shares a line with the next one.

    Example:
        >>> [(line.start, line.text) for line in split_lines("a\r\n\r\n  b")]
        [(0, 'a'), (3, ''), (7, 'b')]
    """
    at, end = (span.start, min(span.end, len(text))) if span else (0, len(text))
    lines: list[Line] = []
    if not _ODD_BREAK.search(text, at, end):  # most texts break at line feeds alone
        for raw in text[at:end].split("\n"):
            body = raw.strip()
            if body:
                indent = raw.index(body[0])
                lines.append(Line(at + indent, at + indent + len(body), body, indent))
            else:
                lines.append(Line(at, at, "", 0))
            at += len(raw) + 1
        return lines
    while at <= end:
        found = _BREAK.search(text, at, end)
        stop = found.start() if found else end
        raw = text[at:stop]
        body = raw.lstrip()
        indent = len(raw) - len(body)
        body = body.rstrip()
        lines.append(Line(at + indent, at + indent + len(body), body, indent) if body else Line(at, at, "", 0))
        if found is None:
            break
        at = found.end()
    return lines


@cache
def vocabulary() -> Mapping[str, frozenset[str]]:
    """Return the word lists that the structure of reports rests on, in both languages."""
    data = json.loads(files("fin_rag.structure").joinpath("report_words.json").read_text(encoding="utf-8"))
    return MappingProxyType({name: frozenset(words) for name, words in data.items()})


def is_year(token: str) -> bool:
    """Tell whether a token names a year or fiscal year: ``2024``, ``FY2023``, ``2025e``, ``2023/24``."""
    return _YEAR.fullmatch(token) is not None


def is_figure(token: str) -> bool:
    """Tell whether a token is a printed figure: ``1,234``, ``(5)%``, ``$12.5``, ``4.758,9``."""
    if token.isalpha() or len(token) > _LONGEST_FIGURE or token[-1] in ",." or token.count(")") > token.count("("):
        return False
    return _FIGURE.fullmatch(token) is not None


def is_nil(token: str) -> bool:
    """Tell whether a token stands for "nothing" in a column of figures."""
    return token.lower() in _NIL or token.strip("$€%()") in _DASHES


def is_neutral(token: str) -> bool:
    """Tell whether a token belongs to the figure beside it: a currency sign, a lone ``)`` or ``%``."""
    return token.lower() in _NEUTRAL


def is_rule(text: str) -> bool:
    """Tell whether a line is only a rule: dashes, equal signs, asterisks."""
    return len(text) >= 3 and _RULE_CHARS.issuperset(text) and not text.isspace()


def bullet(text: str) -> int:
    """Return the length of the bullet that opens a line, or 0."""
    found = _BULLET.match(text)
    return found.end() if found else 0


def ordinal(text: str) -> str:
    """Return the number or letter that opens a line as a list mark (``1.``, ``a)``), or ``""``."""
    found = _ORDINAL.match(text)
    return found["mark"] if found else ""


def note_mark(text: str) -> bool:
    """Tell whether a line opens with a note's marker: ``¹``, ``(1)``, ``[^a]``, ``†``, ``*``."""
    return _NOTE_MARK.match(text) is not None


def plain(text: str) -> str:
    r"""Return a title or cell as printed: without Markdown marks, tags, escapes and doubled blanks.

    Only paired marks go: a star that stands alone is a note's marker.

    Example:
        >>> plain("**3.4.1  Deuda\\. [Detalle](#x)**"), plain("**Total** 2031\\*"), plain("Clase I**")
        ('3.4.1 Deuda. Detalle', 'Total 2031*', 'Clase I**')
    """
    if len(text) <= LONGEST_ROW:
        if "<" in text:
            text = _TAG.sub(" ", text)
        if "](" in text:
            text = _LINK.sub(r"\1", text)
        for mark, paired in _EMPHASIS:
            if mark in text:
                text = paired.sub(r"\1", text)
        if "\\" in text:
            text = _ESCAPE.sub(r"\1", text)
    return " ".join(text.split())


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a short line, without punctuation around them."""
    return [w for w in (part.strip(".,;:!?¿¡()[]«»\"'“”‘’*_") for part in text.lower().split()) if w]


def is_sentence(text: str) -> bool:
    """Tell whether a line reads as a sentence: it holds a finite verb or a pronoun that titles avoid.

    Questions are titles as often as not, so they are none.
    """
    if len(text) > _TOO_LONG_FOR_PHRASE:
        return True
    if text.rstrip("*_ ").endswith("?"):
        return False
    known = vocabulary()["sentence_words"]
    return any(word in known for word in words_of(text)[1:])
