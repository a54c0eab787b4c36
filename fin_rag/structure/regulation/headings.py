"""Heading lines of statutes: articles, norms, dispositions, titles, chapters, sections, annexes, rules."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from fin_rag.structure.regulation.lines import Line, word_pattern
from fin_rag.structure.regulation.numbers import (
    ARTICLE_NUMBER,
    SUFFIX,
    clean_number,
    ordinal_pattern,
    roman_value,
    vocabulary,
)

ARTICLE_RANK: Final = 10
TOP_RANK: Final = 0
# Containers of statutes of articles, from the outermost.
CIVIL_RANKS: Final = {"book": 1, "part": 2, "title": 3, "chapter": 4, "section": 5, "subsection": 6}
CFR_RANKS: Final = {
    "title": 1, "subtitle": 2, "chapter": 3, "subchapter": 4, "part": 5, "subpart": 6, "appendix": 6, "group": 7,
}  # fmt: skip
SECTION_NUMBER: Final = (
    r"\d{1,4}\.\d{1,5}[a-zA-Z]{0,3}\d{0,3}(?:\([a-z]\)(?=-\d))?"
    r"(?:-\d{1,5}[a-zA-Z]{0,2}(?!\d*\.\d))?(?:-\d{1,3}(?!\d*\.\d))?"
)
# Kinds that hold paragraphs themselves; everything else that has a heading holds provisions.
ARTICLE_KINDS: Final = frozenset(
    {
        "art",
        "norma",
        "da",
        "dt",
        "dd",
        "df",
        "annex",
        "appendix",
        "recital",
        "preamble",
        "sec",
        "para",
        "rule",
    }
)


@dataclass(frozen=True, slots=True)
class Heading:
    """Hold what a heading line says: kind, number, where its label ends and its title begins.

    ``label_end`` and ``rest`` are offsets of the text; ``rest`` is where what follows the number begins.
    ``inner`` names containers that the number implies (a chapter code in a paragraph number), outermost
    first.
    """

    line: int
    kind: str
    number: str
    rank: int
    label_end: int
    rest: int
    inner: tuple[tuple[str, str, int], ...] = ()
    titled: bool = True

    @property
    def address(self) -> str:
        """Return the address of what the heading opens, without what stands above it."""
        if self.kind == "preamble":
            return f"preamble/{self.number}" if self.number else "preamble"
        return f"{self.kind}:{self.number}"


@lru_cache(maxsize=1)
def _article_line() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<word>{word_pattern('articles')})[ ]{{1,4}}"
        rf"(?P<number>{ARTICLE_NUMBER}(?:[.]?[ ]?[ºª°](?:[ ]{{0,2}}{SUFFIX})?)?(?!\d)"
        rf"|{ordinal_pattern()}(?:[ ]{SUFFIX})?|[IVXLC]{{1,7}}(?:[ ]{SUFFIX})?(?![\w])"
        rf"|{word_pattern('cardinals')}(?=[ ]?[.:]|\Z))"
        r"(?P<after>[ ]?(?:[.)][ ]?[-–—]?|[:–—-])?)[ ]*",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _disposition_line() -> re.Pattern[str]:
    kinds = word_pattern("dispositions")
    number = (
        rf"{ordinal_pattern()}(?:[ ]{SUFFIX})?|\d{{1,3}}(?:[.]?[ ]?[ºª°])?(?:[ ]{{0,2}}{SUFFIX})?(?!\d)"
        r"|[IVXLC]{1,6}(?!\w)"
    )
    return re.compile(
        rf"(?:disposici(?:[óo]n|ones)|normas?)[ ]{{1,3}}(?P<kind>{kinds})(?:[ ]{{1,3}}(?P<number>{number}))?"
        r"(?P<after>[ ]?(?:[.)][ ]?[-–—]?|[:–—-])?)[ ]*",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _container_line() -> re.Pattern[str]:
    number = (
        rf"preliminar|preliminary|{ordinal_pattern()}|{word_pattern('english_cardinals')}"
        rf"|\d{{1,3}}[.]?[ ]?[ºª°]|\d{{1,3}}[A-Za-z]?(?![\w.]?\d)"
        rf"|[IVXLC]{{1,8}}(?:[ ][A-Z](?=\Z)|[A-Za-z])?"
        r"|[A-Z]"
    )
    return re.compile(
        rf"(?P<word>{word_pattern('containers')})[ ]{{1,4}}(?P<number>(?:{number})(?![\wáéíóú])"
        rf"(?:[ ]{SUFFIX})?)"
        r"(?P<after>[ ]?(?:[.)][ ]?[-–—]?|[:–—-]{1,2})?)[ ]*",
        re.IGNORECASE,
    )


@lru_cache(maxsize=1)
def _annex_line() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<word>{word_pattern('annexes')})"
        rf"(?:[ ]{{1,4}}(?:n[.]?[º°][ ]?)?(?P<number>[IVXLC]{{1,7}}(?![\w])|\d{{1,3}}[A-Z]{{0,2}}(?!\w)"
        rf"|[A-Z](?!\w)|[uú]nico(?!\w))(?:[ ](?P<suffix>{SUFFIX}))?)?(?P<after>[ ]?(?:[.)][ ]?[-–—]?"
        rf"|[:–—-])?)[ ]*",
        re.IGNORECASE,
    )


_ROMAN_LINE: Final = re.compile(r"(?P<number>[IVXLC]{1,7})[.)]?\Z")
_BARE_ORDINAL: Final = re.compile(rf"(?P<number>{ordinal_pattern()})(?P<after>[ ]?[.:)][ ]?[-–—]?)[ ]*", re.IGNORECASE)


def civil_heading(line: Line, index: int, group: str, *, in_annex: bool) -> Heading | None:
    """Read the heading line of a Spanish, EU or German act, or return ``None``.

    Args:
        line: the line.
        index: its place among the lines.
        group: the kind of disposition that a plural heading above announced, or nothing.
        in_annex: tells whether the line stands in an annex, where containers may have a letter.
    """
    head = line.text[:1]
    if not head.isalpha() or not (head.isupper() or line.level):
        return None
    for read in (_article, _disposition, _annex):
        found = read(line, index)
        if found:
            lesser = in_annex and found.kind == "annex" and line.text[:8].lower() == "schedule"
            return replace(found, kind="part", rank=CIVIL_RANKS["part"]) if lesser else found
    found = _container(line, index, in_annex=in_annex)
    if found is None and group:
        match = _BARE_ORDINAL.match(line.text)
        if match:
            return _heading(line, index, group, clean_number(match["number"]), TOP_RANK, match)
    return found


def _heading(line: Line, index: int, kind: str, number: str, rank: int, match: re.Match[str]) -> Heading:
    return Heading(index, kind, number, rank, line.start + match.start("after"), line.start + match.end())


def _article(line: Line, index: int) -> Heading | None:
    match = _article_line().match(line.text)
    if not match or not _stands_as_heading(line, match, spoken=True):
        return None
    kind = vocabulary()["articles"][match["word"].lower()]
    number = clean_number(match["number"])
    return _heading(line, index, kind, "unico" if number == "unica" else number, ARTICLE_RANK, match)


def _disposition(line: Line, index: int) -> Heading | None:
    match = _disposition_line().match(line.text)
    if not match or not _stands_as_heading(line, match, spoken=True):
        return None
    kind = vocabulary()["dispositions"][match["kind"].lower()]
    if match["number"] is None:
        plural = match.group().lower().startswith(("disposiciones", "normas"))
        if plural or (line.text[match.end() :] and not match["after"].strip()):
            return Heading(index, "group", kind, TOP_RANK, line.end, line.end, titled=False) if plural else None
    number = clean_number(match["number"] or "unica")
    return _heading(line, index, kind, "unica" if number == "unico" else number, TOP_RANK, match)


def _annex(line: Line, index: int) -> Heading | None:
    match = _annex_line().match(line.text)
    if not match or not _stands_as_heading(line, match, spoken=False):
        return None
    rest = line.text[match.end() :]
    word, number = match["word"], match["number"] or ""
    shouted = word.isupper() or line.level > 0
    if not shouted and rest and not match["after"].strip():
        return None
    if not number and rest and not match["after"].strip():
        return None  # "Anexo estadístico": a title of something else
    if number and number.islower() and number != "unico":
        return None
    printed = clean_number(f"{number} {match['suffix'] or ''}".strip()) if number else ""
    return _heading(line, index, vocabulary()["annexes"][word.lower()], printed, TOP_RANK, match)


def _container(line: Line, index: int, *, in_annex: bool) -> Heading | None:
    match = _container_line().match(line.text)
    if not match or not _stands_as_heading(line, match, spoken=False):
        return None
    kind = vocabulary()["containers"][match["word"].lower()]
    number = match["number"]
    if kind not in CIVIL_RANKS:
        return None
    lettered = len(number) == 1 and number.isalpha() and roman_value(number) is None
    if lettered and not (in_annex or match["word"].isupper() or line.level):
        return None
    printed = clean_number(number)
    printed = "preliminar" if printed == "preliminary" else printed
    return _heading(line, index, kind, printed, CIVIL_RANKS[kind], match)


def _stands_as_heading(line: Line, match: re.Match[str], *, spoken: bool) -> bool:
    """Tell a heading from a sentence that begins with a reference, by what follows the number."""
    rest = line.text[match.end() :]
    if not rest:
        return True
    after = match["after"].strip()
    if rest[0] in ",;)" or (
        rest[0] == "("
        and not re.match(r"\((?:[Ss]uprimid|[Dd]erogad|[Ss]in |[Aa]nulad|[Dd]eleted|[Rr]epealed|[Gg]estrichen)", rest)
    ):
        return False
    if not after and _article_line().match(rest):
        return False  # a row of a table of what corresponds to what
    if rest[0].islower() and not (spoken and after and line.level):
        return False
    return bool(after) or line.level > 0 or _title_like(rest)


def _title_like(rest: str) -> bool:
    """Tell whether words after a bare number are a title: short, a capital first, no sentence inside."""
    return len(rest) <= 160 and not re.search(r"[.;:]\s", rest) and not rest.endswith((".", ";", ":", ","))


def roman_part(line: Line, index: int) -> Heading | None:
    """Read a roman numeral that stands alone: a part of a preamble."""
    match = _ROMAN_LINE.match(line.text)
    if not match or roman_value(match["number"]) is None:
        return None
    return Heading(index, "preamble", match["number"], TOP_RANK + 1, line.end, line.end, titled=False)
