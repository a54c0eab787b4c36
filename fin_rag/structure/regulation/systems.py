"""Which family of statutes a text belongs to, and the heading lines of the families with codes of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fin_rag.structure.regulation.headings import (
    ARTICLE_RANK,
    CFR_RANKS,
    SECTION_NUMBER,
    Heading,
    civil_heading,
)
from fin_rag.structure.regulation.lines import Line

CIVIL, CFR, BASEL, FCA, FINRA = "civil", "cfr", "basel", "fca", "finra"

_CFR_SECTION: Final = re.compile(
    rf"§§?[ ]*(?P<number>{SECTION_NUMBER})(?P<to>[ ]?(?:-|–|—|through|to)"
    rf"[ ]?(?:§[ ]?)?{SECTION_NUMBER})?(?P<after>[.:]?[ ]*)(?P<rest>.*)\Z"
)
_CFR_CONTAINER: Final = re.compile(
    r"(?P<word>title|subtitle|chapter|subchapter|parts?|subparts?)[ ]{1,3}(?P<number>[IVXLC]{1,8}(?!\w)"
    r"|\d{1,4}[A-Z]?(?:[ ]?[-–][ ]?\d{1,4})?(?!\w)|[A-Z]{1,3}(?:[-–][A-Z]{1,3})?(?!\w))"
    r"(?P<after>[ ]*(?:[—–:.]|-{1,2})?[ ]*)(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_CFR_APPENDIX: Final = re.compile(
    r"(?P<word>appendix)(?:[ ]{1,3}(?P<number>[A-Z]{1,2}|\d{1,3}[A-Z]?|[IVX]{1,5}))?"
    r"(?P<to>[ ]to[ ](?:(?:sub)?part[ ][\w-]{1,12}(?:[ ]of[ ]part[ ]\w{1,6})?|§?[ ]?[\w.-]{1,20}))?"
    r"(?P<after>[ ]*(?:[—–:]|-{1,2})?[ ]*)(?P<rest>.*)\Z",
    re.IGNORECASE,
)
_BASEL_STANDARD: Final = re.compile(r"(?!FAQ)(?P<number>[A-Z]{3})(?P<after>)\Z")
_BASEL_CHAPTER: Final = re.compile(
    r"(?P<number>(?P<code>(?!FAQ)[A-Z]{3})[ ]?\d{1,3})(?P<after>[ ]*(?:[-–—:][ ]*)?)(?P<rest>[A-Z][^.]*)?\Z"
)
_BASEL_PARAGRAPH: Final = re.compile(
    r"(?P<code>[A-Z]{3})?[ ]?(?P<number>(?P<chapter>\d{1,3})\.\d{1,3})(?P<after>[ ]*)(?=[\[(A-Z“‘\"§]|\Z)"
)
_FCA_UNIT: Final = re.compile(
    r"(?P<code>[A-Z]{2,8})[ ](?P<number>\d{1,3}[A-Z]?(?P<deep>\.\d{1,3}[A-Z]?)?)(?![\w.])"
    r"(?P<after>[ ]*(?:[-–—:][ ]*)?)(?P<rest>[A-Z].*)?\Z"
)
_FCA_ANNEX: Final = re.compile(
    r"(?:(?P<code>[A-Z]{2,8})[ ](?P<chapter>\d{1,3}[A-Z]?)[ ])?(?:Annex|ANNEX)[ ](?P<number>\d{1,2}[A-Z]?)"
    r"[ ]?(?P<status>[RGEDPC]|UK|EU)?(?!\w)(?P<after>[ ]*)(?P<rest>[A-Z].*)?\Z"
)
_FCA_RULE: Final = re.compile(
    r"(?:(?P<code>[A-Z]{2,8})[ ])?(?P<number>(?P<section>(?P<chapter>\d{1,3}[A-Z]?)\.\d{1,3}[A-Z]?)"
    r"\.\d{1,3}(?:[A-Z]{1,2}(?=[RGEDPC]\b|[ ]|\Z))?)[ ]?"
    r"(?P<status>(?:[RGEDPC]|UK|EU)(?![\w]))?(?P<after>[ ]*)(?:(?P<date>\d{1,2}/\d{1,2}/\d{4})[ ]*)?"
)
_STATUS_LINE: Final = re.compile(r"(?P<status>[RGEDPC]|UK|EU)(?:[ ]+\d{1,2}/\d{1,2}/\d{4})?\Z")
DATE_LINE: Final = re.compile(r"\d{1,2}/\d{1,2}/\d{4}\Z")
_FINRA_RULE: Final = re.compile(r"(?:Rule[ ])?(?P<number>\d{4}[A-Z]?)(?P<after>\.[ ]+)(?P<rest>[A-Z“\"\[].*)\Z")


def system_of(lines: Sequence[Line]) -> str:
    """Tell which family of statutes the lines belong to, by the heading lines that each family alone has."""
    votes = dict.fromkeys((CIVIL, CFR, BASEL, FCA, FINRA), 0)
    chapter = ""
    for index, line in enumerate(lines):
        text = line.text
        if (text[0] == "§" and cfr_heading(line, index)) or (
            text[:4].upper() == "PART" and line.level and _CFR_CONTAINER.match(text) and "—" in text
        ):
            votes[CFR] += 1
        elif _FCA_RULE.match(text) and _status(lines, index):
            votes[FCA] += 1
        elif ((found := _BASEL_PARAGRAPH.match(text)) and found["code"]) or re.fullmatch(
            r"(?!FAQ)[A-Z]{3}\d{1,3}", text
        ):
            votes[BASEL] += 1
        elif (titled := _BASEL_CHAPTER.match(text)) and titled["rest"]:
            chapter = titled["number"][3:].strip()
        elif found and chapter == found["chapter"]:
            votes[BASEL] += 1
        elif _FINRA_RULE.match(text):
            votes[FINRA] += 1
        elif civil_heading(line, index, "", in_annex=False):
            votes[CIVIL] += 1
    best = max(votes.values())
    return next(name for name, count in votes.items() if count == best)


def cfr_heading(line: Line, index: int) -> Heading | None:
    """Read a heading line of the Code of Federal Regulations."""
    match = _CFR_SECTION.match(line.text)
    if match:
        rest = match["rest"]
        if not (rest == "" or rest[0].isupper() or rest[0] in '[“"‘0123456789'):
            return None
        if line.level == 0 and (rest.endswith((";", ",")) or len(rest) > 300):
            return None
        number = match["number"] + (
            re.sub(r"[ ]?(?:–|—|through|to|-)[ ]?(?:§[ ]?)?", "-", match["to"]) if match["to"] else ""
        )
        return _found(line, index, "sec", number, ARTICLE_RANK, match)
    match = _CFR_CONTAINER.match(line.text)
    if match and line.text[0].isupper() and _opens_container(line, match):
        kind = match["word"].lower()
        kind = kind[:-1] if kind in ("parts", "subparts") else kind
        number = re.sub(r"[ ]?[-–][ ]?", "-", match["number"])
        return _found(line, index, kind, number.upper() if kind != "part" else number, CFR_RANKS[kind], match)
    match = _CFR_APPENDIX.match(line.text)
    if match and line.text[0].isupper() and (match["number"] or line.level) and _opens_container(line, match):
        return _found(line, index, "appendix", (match["number"] or "").upper(), CFR_RANKS["appendix"], match)
    if line.level:
        return Heading(index, "group", line.text.strip(), CFR_RANKS["group"], line.start, line.start)
    return None


def _opens_container(line: Line, match: re.Match[str]) -> bool:
    rest, after = match["rest"], match["after"].strip()
    if not rest or rest[0] == "[":
        return True
    return bool(after or line.level or line.text[: match.end("word")].isupper()) and not rest[0].islower()


def _found(line: Line, index: int, kind: str, number: str, rank: int, match: re.Match[str]) -> Heading:
    return Heading(index, kind, number, rank, line.start + match.start("after"), line.start + match.end("after"))


def basel_heading(line: Line, index: int, chapter: str) -> Heading | None:
    """Read a heading line of the Basel framework; ``chapter`` is the code of the open chapter (``CRE20``)."""
    match = _BASEL_PARAGRAPH.match(line.text)
    if match:
        code = match["code"] or (chapter[:3] if chapter[3:] == match["chapter"] else "")
        if not code and chapter:
            return None
        inner: tuple[tuple[str, str, int], ...] = ()
        if code:
            inner = (("standard", code, 1), ("chapter", f"{code}{match['chapter']}", 2))
        start = line.start + match.end()
        return Heading(index, "para", f"{code}{match['number']}", ARTICLE_RANK, start, start, inner, titled=False)
    match = _BASEL_CHAPTER.match(line.text)
    if match and (not match["rest"] or match["after"]):
        number = match["number"].replace(" ", "")
        inner = (("standard", str(match["code"]), 1),)
        found = _found(line, index, "chapter", number, 2, match)
        return Heading(index, "chapter", number, 2, found.label_end, found.rest, inner)
    match = _BASEL_STANDARD.match(line.text)
    return _found(line, index, "standard", match["number"], 1, match) if match else None


def fca_heading(lines: Sequence[Line], index: int, module: str) -> Heading | None:
    """Read a heading line of the FCA Handbook; ``module`` is the code of the open chapter (``COBS``)."""
    line = lines[index]
    match = _FCA_RULE.match(line.text)
    status = _status(lines, index) if match else ""
    if match and status:
        code = match["code"] or module
        name = f"{code} " if code else ""
        above = (("chapter", f"{name}{match['chapter']}", 2), ("section", f"{name}{match['section']}", 3))
        inner: tuple[tuple[str, str, int], ...] = above if code else ()
        start = line.start + match.end()
        return Heading(
            index, "rule", f"{name}{match['number']}{status}", ARTICLE_RANK, start, start, inner, titled=False
        )
    match = _FCA_ANNEX.match(line.text)
    if match:
        code = f"{match['code']} {match['chapter']} " if match["code"] else ""
        number = (
            f"{code}Annex {match['number']}{match['status'] or ''}"
            if code
            else f"{match['number']}{match['status'] or ''}"
        )
        return _found(line, index, "annex", number, 3, match)
    match = _FCA_UNIT.match(line.text)
    if match:
        kind, rank = ("section", 3) if match["deep"] else ("chapter", 2)
        number = f"{match['code']} {match['number']}"
        inner = (("chapter", number.rpartition(".")[0], 2),) if match["deep"] else ()
        found = _found(line, index, kind, number, rank, match)
        return Heading(index, kind, number, rank, found.label_end, found.rest, inner)
    return None


def _status(lines: Sequence[Line], index: int) -> str:
    """Return the letter that says what a provision is: beside its number or on the line below."""
    match = _FCA_RULE.match(lines[index].text)
    if match and match["status"]:
        return str(match["status"])
    if match and match.end() == len(lines[index].text) and index + 1 < len(lines):
        below = _STATUS_LINE.match(lines[index + 1].text)
        return str(below["status"]) if below else ""
    return ""


def is_status_line(line: Line) -> bool:
    """Tell whether a line is only the status letter or the date of an FCA provision."""
    return bool(_STATUS_LINE.match(line.text) or DATE_LINE.match(line.text))


def finra_heading(line: Line, index: int) -> Heading | None:
    """Read the heading line of a FINRA rule."""
    match = _FINRA_RULE.match(line.text)
    return _found(line, index, "rule", match["number"], ARTICLE_RANK, match) if match else None
