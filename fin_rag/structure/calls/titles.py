"""Titles of the parts of a transcript, and the zones that hold no speech."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from fin_rag.structure.calls.labels import parse_label
from fin_rag.structure.calls.lines import CallLine
from fin_rag.structure.calls.vocabulary import classes, fold, words

_LONGEST_TITLE: Final = 80
_WRAPPED: Final = 55
_NUMBERING: Final = re.compile(r"^(?:\d{1,2}[.)]|[IVX]{1,4}[.)-])\s+")
# A misspelling that one publisher prints at the top of every list.
_SLIP: Final = re.compile(r"\bpartici?pi?ants\b")
_ASIDE: Final = re.compile(r"\s*[(\[](?:cont(?:inued|d|\.)?\.?|continuaci[óo]n)[)\]]\s*$", re.IGNORECASE)
_CONTENTS_ENTRY: Final = re.compile(r"^(?P<title>\D{4,60}?)[ .·…_-]*\s\d{1,3}$")
_DECORATED: Final = re.compile(r"[-=+*_~#<]{2,}\s?[^-=+*_~#<>\s].{1,60}[^-=+*_~#<>\s]\s?[-=+*_~#>]{2,}")
_DURATION: Final = re.compile(r"^(?:duration|duraci[óo]n)\b.{0,4}\d{1,3} ?min", re.IGNORECASE)
_TAIL_LINE: Final = re.compile(
    r"^\W*(?:more \S{1,12} analysis$|all earnings call transcripts|read more (?:current )?\S+ analysis"
    r"|this article is a transcript|this transcript (?:is|was|may|has been|contains)"
    r"|(?:note: )?this (?:statement|document|transcript) (?:has been|was|is) (?:edited|a transcript)"
    r"|the information (?:herein|contained (?:herein|in this))|copyright policy|\(?this (?:is a )?transcript"
    r"|esta transcripci[óo]n|este documento (?:es|ha sido|recoge)|la informaci[óo]n contenida en)",
    re.IGNORECASE,
)
_HEAD: Final = re.compile(
    r"(?:\b(?:F?Q[1-4]|[1-4][QTHS]|H[12]|first|second|third|fourth|quarter|half|full[- ]year|fiscal|annual|primer"
    r"|segundo|tercer|cuarto|semestre|trimestre|20\d\d)\b"
    r".{0,80}\b(?:earnings|results|conference|follow[- ]up)\b.{0,30}\b(?:calls?|webcast)\b)"
    r"|\bearnings (?:conference )?call transcripts?\b|^transcripci[óo]n\b|^presentaci[óo]n de resultados\b"
    r"|\bedited transcript of\b|\b(?:earnings|conference) call\b.{0,40}\b20\d\d\b",
    re.IGNORECASE,
)

PREPARED_TITLE: Final = "prepared"
QA_TITLE: Final = "qa"
CONTENTS_TITLE: Final = "contents"
SUMMARY_TITLE: Final = "summary"
TAIL_TITLE: Final = "tail"
HEAD_TITLE: Final = "head"
ROSTER_TITLE: Final = "roster"


@dataclass(frozen=True, slots=True)
class Title:
    """Mark a title line; ``side`` tells whose list a roster is."""

    line: int
    kind: str
    side: str = ""


@lru_cache(maxsize=16_384)
def title_kind(text: str) -> tuple[str, str]:
    """Return kind and side of a title, or two empty strings.

    Example:
        >>> title_kind("Questions & Answers:"), title_kind("Conference Call Participants"), title_kind("Sales")
        (('qa', ''), ('roster', 'external'), ('', ''))
    """
    folded = _SLIP.sub("participants", fold(_NUMBERING.sub("", _ASIDE.sub("", text))))
    side = classes("roster_titles").get(folded)
    if folded in words("prepared_titles"):
        return PREPARED_TITLE, ""
    if folded in words("qa_titles"):
        return QA_TITLE, ""
    if side:
        return ROSTER_TITLE, side
    if folded in words("contents_titles"):
        return CONTENTS_TITLE, ""
    if folded in words("tail_titles"):
        return TAIL_TITLE, ""
    if folded in words("summary_titles"):
        return SUMMARY_TITLE, ""
    return "", ""


def find_titles(lines: Sequence[CallLine], furniture: set[int]) -> list[Title]:
    """Return the title lines in order; a title that only another title follows is an entry of a contents list."""
    found: list[Title] = []
    for i, line in enumerate(lines):
        if i in furniture or len(line.bare) > _LONGEST_TITLE or not line.bare:
            continue
        kind, side = title_kind(line.bare)
        if not kind and _DURATION.match(line.bare):
            kind = TAIL_TITLE
        if not kind and is_head(line):
            kind = HEAD_TITLE
        if kind and _stands_alone(lines, i, kind):
            found.append(Title(i, kind, side))
    return _without_contents(lines, furniture, found)


def is_head(line: CallLine) -> bool:
    """Tell whether a line is the title of a call: a period and "call", no sentence."""
    return (
        not line.ends_sentence
        and (line.gap or line.level > 0)
        and _HEAD.search(line.bare) is not None
        and ":" not in line.bare.rstrip(":")
        and parse_label(line.bare) is None
        and not is_tail_line(line)
    )


def _stands_alone(lines: Sequence[CallLine], at: int, kind: str) -> bool:
    """Tell whether a title is set apart; one word in running text is none."""
    line = lines[at]
    if line.level or line.bold or kind == HEAD_TITLE:
        return True
    if _DECORATED.fullmatch(line.raw):
        return True
    if line.bullet or line.raw.rstrip().endswith((".", ",", "?")) or not line.bare[0].isupper():
        return False
    if kind == ROSTER_TITLE and _is_listed(lines[at - 1]):
        return True
    before = line.gap or lines[at - 1].raw.startswith(("===", "---", "..", "<", "="))
    closed = at == 0 or lines[at - 1].closed or not lines[at - 1].short
    if kind in (TAIL_TITLE, SUMMARY_TITLE):
        return before
    # A line of running text that consists of such words only is what is left of a wrapped, long line.
    return before or closed or len(lines[at - 1].raw) < _WRAPPED or line.raw.isupper()


def _is_listed(line: CallLine) -> bool:
    """Tell whether a line is an entry of a list of participants: name and office or firm."""
    label = parse_label(line.bare) if line.short else None
    return label is not None and label.kind == "person" and bool(label.affiliation)


def _without_contents(lines: Sequence[CallLine], furniture: set[int], found: Sequence[Title]) -> list[Title]:
    """Drop titles that are entries of a contents list: nothing but a title comes after them."""
    places = {title.line: title for title in found}
    kept: list[Title] = []
    for title in found:
        after = title.line + 1
        while after < len(lines) and after in furniture:
            after += 1
        following = places.get(after)
        entry = title.kind in (PREPARED_TITLE, QA_TITLE, ROSTER_TITLE) and (
            (following is not None and following.kind != HEAD_TITLE) or _is_entry(lines, after)
        )
        if title.kind == ROSTER_TITLE and following is not None and following.kind == ROSTER_TITLE:
            entry = False
        if not entry:
            kept.append(title)
    return kept


def _is_entry(lines: Sequence[CallLine], at: int) -> bool:
    entry = _CONTENTS_ENTRY.match(lines[at].bare) if at < len(lines) and lines[at].short else None
    return entry is not None and title_kind(entry["title"].rstrip(" .·…_-"))[0] != ""


def is_tail_line(line: CallLine) -> bool:
    """Tell whether a line begins what publishers print below a call."""
    bracketed = line.bare[:1] in "([*" and line.bare[-1:] in ")]*"
    return (line.gap or bracketed) and _TAIL_LINE.match(line.bare) is not None
