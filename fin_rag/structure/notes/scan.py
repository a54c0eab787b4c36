"""Markers in places: which tokens call a note, and which only look like it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from fin_rag.schema import Span
from fin_rag.structure.notes.marks import GLUED, RAISED, TOKEN, keys_of, token_form
from fin_rag.structure.notes.model import Marker, NoteKey
from fin_rag.structure.notes.places import Place
from fin_rag.structure.notes.vocabulary import note_words, says_any

_EMPHASIS: Final = re.compile(
    r"(?<!\\)(?P<mark>\*\*|(?<![\w*])\*)(?=[^\s*])(?P<inner>(?:[^*\\]|\\.){1,2000}?)(?<=[^\s\\])(?P=mark)"
)
_MONEY: Final = re.compile(r"[$€£]\s?\d[\d.,]*\Z")
_BLANK: Final = "\x00"
_ENTITY: Final = re.compile(r"&(?:nbsp|#160|#xa0|emsp|ensp|thinsp);", re.IGNORECASE)
_WORD: Final = re.compile(r"[\w/€%.,'’&+-]+\Z")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+\.?)[\s\d.,]*\Z")
_REFERENCE: Final = re.compile(
    r"(?<![\w-])(?:notas?|notes?)\s+(?:(?:n\.?\s?[ºo°]|no|nos|núm)\.?\s?)?(?P<list>\d{1,2}(?:\.\d{1,2}){0,3}"
    r"(?:\s?\([a-z]\)|\.?[a-z](?!\w))?(?:(?:\s?[,;]\s?|\s(?:y|e|and|a|to|al|&)\s|\s?[-–]\s?)\d{1,2}(?!\d)(?:\.\d{1,2}){0,3}(?:\([a-z]\))?){0,12})"
    r"(?!\d|[.,]\d)",
    re.IGNORECASE,
)
_LETTERED: Final = re.compile(r"\((?:[Nn]otas?|[Nn]otes?)\s+(?P<letter>[A-Z])\)")
_NUMBER: Final = re.compile(r"\d{1,2}(?:\.\d{1,2}){0,3}")
_SPREAD: Final = re.compile(r"(\d{1,2})(?:\s(?:a|to|al)\s|\s?[-–]\s?)(\d{1,2})(?!\d|\.\d)")
_SENTENCE_END: Final = re.compile(
    rf"[.!?…][”\"»)]?(?:[{RAISED}]|\[\^?\w{{1,6}}\]|\(\d{{1,2}}\)|\\?\*|[†‡]){{0,6}}\s+(?=[^\W\d_a-z]|[¿¡\"«“(\d])|\n\s*\n"
)
_BEFORE, _AFTER = 300, 160
_HIGHEST: Final = 60
_OPERATORS: Final = "+=×÷"
_LONGEST_SPREAD: Final = 20


class Found(NamedTuple):
    """Hold a marker and whether it is reported where its note is missing (``firm``)."""

    marker: Marker
    firm: bool


def scan(text: str, place: Place, openings: Sequence[Span]) -> Iterator[Found]:
    """Yield what calls a note in one place, in order.

    Args:
        text: the canonical text.
        place: where to look.
        openings: markers that open notes inside the place; they call nothing.
    """
    if place.numbers:
        yield from _numbers(text, place)
        return
    raw = place.span.slice(text)
    working = _EMPHASIS.sub(_without_marks, raw) if "*" in raw else raw
    opened = {span.start for span in openings}
    low = raw.casefold()
    if "not" in low:
        yield from _references(text, place, raw)
    for found in TOKEN.finditer(working):
        form, keys = token_form(found)
        start = place.span.start + found.start()
        if not keys or any(start <= at < place.span.start + found.end() for at in opened):
            continue
        cut = _judge(working, found, form, place)
        if cut < 0:
            continue
        if cut:
            keys = keys_of(found[0][cut:])
        span = Span(start + cut, place.span.start + found.end())
        firm = _is_firm(working, found, form, place)
        for key in keys:
            yield Found(_marker(text, place, span, form, key), firm)


def scan_glued(text: str, place: Place, values: Collection[str]) -> Iterator[Found]:
    """Yield numbers that lost their height: glued to a word, and among ``values``."""
    for found in GLUED.finditer(place.span.slice(text)):
        if found["glued"] in values:
            span = Span(place.span.start + found.start(), place.span.start + found.end())
            yield Found(_marker(text, place, span, "glued", NoteKey("number", found["glued"])), firm=False)


def _without_marks(found: re.Match[str]) -> str:
    """Blank out the stars of emphasis, so that only the stars that mean a note are left."""
    blank = _BLANK * len(found["mark"])
    return f"{blank}{found['inner']}{blank}"


def _marker(text: str, place: Place, span: Span, form: str, key: NoteKey) -> Marker:
    anchor = sentence(text, span, place.span) if place.where == "prose" else place.span
    return Marker(span.slice(text), key, form, span, anchor, place.where, place.table, place.label)


def sentence(text: str, span: Span, within: Span) -> Span:
    """Return the sentence around a marker; what stands behind a marker at a sentence's end is the next one."""
    low = max(within.start, span.start - _BEFORE)
    start = low
    for found in _SENTENCE_END.finditer(text, low, span.start):
        start = found.end()
    if span.start > within.start and text[span.start - 1] in ".!?":
        return Span(start, span.end)
    high = min(within.end, span.end + _AFTER)
    after = _SENTENCE_END.search(text, span.end, high)
    end = after.end() if after else high
    while end > span.end and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _judge(working: str, found: re.Match[str], form: str, place: Place) -> int:
    """Return how many code points of a token belong to what stands before it, or -1 if it is no marker."""
    head = _head(working, found.start())
    if not head:
        return 0 if _fills_cell(working, found, form, place) else -1
    after = working[found.end() : found.end() + 1]
    if form == "raised":
        return _raised(head, found[0], place)
    if form == "star":
        return 0 if _is_attached(working, found.start()) or _at_end(working, found.end(), place) else -1
    if form == "sign":
        glued = _is_attached(working, found.start()) or _at_end(working, found.end(), place)
        return 0 if glued and not after.isdigit() else -1
    if form == "paren":
        return 0 if _is_call(working, found, head, place) else -1
    if form == "bracket":
        return 0 if _is_listed(found) else -1
    if form == "close":
        return 0 if _at_end(working, found.end(), place) else -1
    return 0


def _head(working: str, end: int) -> str:
    """Return what stands before a token, blanks and emphasis left out; a few dozen code points of it."""
    return _ENTITY.sub(" ", working[max(0, end - 60) : end]).replace(_BLANK, "").rstrip()


def _is_attached(working: str, start: int) -> bool:
    before = working[:start].rstrip(_BLANK)[-1:] if start else ""
    return bool(before) and not before.isspace()


def _at_end(working: str, end: int, place: Place) -> bool:
    return place.where != "prose" and not working[end : end + 40].strip(" \x00)]*†‡")


def _fills_cell(working: str, found: re.Match[str], form: str, place: Place) -> bool:
    """Tell whether a marker stands alone in a cell: never a number in brackets, which is an amount."""
    alone = place.where == "cell" and found[0].strip() == working.replace(_BLANK, "").strip()
    starred = form == "paren" and not any(c.isalnum() for c in found[0])
    return alone and (starred or form in ("raised", "star", "sign", "bracket", "caret"))


def _raised(head: str, token: str, place: Place) -> int:
    """Tell an exponent (m², 10⁶, 2³) from a marker; of "m²¹" the first sign is the exponent."""
    if head[-1] in "⁺⁻^" or (token[0] == "⁻"):
        return -1
    word = _WORD.search(head)
    last = word[0].strip(".,") if word else ""
    units = note_words()["length_units"]
    squared = token[0] in "²³"  # no other sign is printed as the exponent of a unit
    if squared and (last.casefold() in units or (last and last.casefold().rsplit("/", 1)[-1] in units and "/" in last)):
        return 1 if len(token) > 1 and token[1] in RAISED else -1
    small = last.isdecimal() and len(last) <= 2 and head[-1].isdecimal()
    if small and (place.where != "cell" or last == "10"):
        return -1
    return 0


def _is_call(working: str, found: re.Match[str], head: str, place: Place) -> bool:
    """Tell whether brackets call a note: not an item of an enumeration, a formula or a provision."""
    after = working[found.end() : found.end() + 3].strip()
    if place.where != "prose":
        ranged = after[:1] in "-–" and after[1:2] == "("
        return (
            not (after[:1] and after[:1] in _OPERATORS)
            and head[-1] not in _OPERATORS
            and not (after[:1] in "-–" and after and not ranged)
        )
    if head[-1] in ":;,(—–-":
        return False
    if head[-1].isdigit() and working[found.start() - 1] == head[-1]:
        return _MONEY.search(head) is not None  # "5(2)" is a provision, "$0.10(2)" a figure with its note
    last = _LAST_WORD.search(head)
    word = last[1].casefold() if last else ""
    return word not in note_words()["list_words"] and word not in note_words()["cited_words"]


def _is_listed(found: re.Match[str]) -> bool:
    keys = keys_of(found["inbracket"])
    values = [int(key.value) for key in keys if key.kind == "number"]
    zero = any(part.strip() == "0" for part in found["inbracket"].split(","))
    return bool(keys) and not zero and values == sorted(values)


def _is_firm(working: str, found: re.Match[str], form: str, place: Place) -> bool:
    """Tell whether a marker without a note is worth a report: it can hardly be anything else."""
    if form in ("slash", "glued", "close"):
        return False
    if form in ("caret", "raised", "sign"):
        return True
    if any(c.isupper() for c in found[0]):
        return False  # "(A)" is as often a rating, an actual or a share class
    if place.where == "prose":
        cites = form == "paren" and _head(working, found.start()).casefold().endswith(("nota", "note"))
        return cites or (form != "paren" and _is_attached(working, found.start()))
    if place.where == "cell" and form == "paren":
        head = _head(working, found.start())
        return _is_attached(working, found.start()) or not head[-1].isdigit()
    return True


def _references(text: str, place: Place, raw: str) -> Iterator[Found]:
    """Yield references to numbered notes: "see note 5", "(Notas 5 y 7.2)"."""
    for found in _REFERENCE.finditer(raw):
        line = raw.rfind("\n", 0, found.start()) + 1
        opens = not raw[line : found.start()].strip(" #*_>(-")
        if opens and (place.where == "title" or raw[found.end() : found.end() + 2].strip()[:1] in ".:–—)-"):
            continue  # the title of the note itself
        span = Span(place.span.start + found.start(), place.span.start + found.end())
        around = sentence(text, span, place.span)
        if says_any(around.slice(text), "whole_words"):
            continue
        anchor = around if place.where == "prose" else place.span
        for value in reference_values(found["list"]):
            key = NoteKey("number", value)
            yield Found(Marker(found[0], key, "account", span, anchor, place.where, place.table), firm=True)
    for found in _LETTERED.finditer(raw):
        span = Span(place.span.start + found.start(), place.span.start + found.end())
        yield Found(_marker(text, place, span, "account", NoteKey("letter", found["letter"])), firm=False)


def reference_values(listed: str) -> list[str]:
    """Return the numbers that a reference names, ranges expanded, letters of sub-notes left out.

    Example:
        >>> reference_values("5, 7.2 y 10(b)"), reference_values("5 a 8")
        (['5', '7.2', '10'], ['5', '6', '7', '8'])
    """
    values: list[str] = []
    at = 0
    for found in _SPREAD.finditer(listed):
        values += _NUMBER.findall(listed[at : found.start()])
        first, last = int(found[1]), int(found[2])
        fits = first < last <= first + _LONGEST_SPREAD
        values += [str(n) for n in range(first, last + 1)] if fits else [found[1], found[2]]
        at = found.end()
    return [*values, *_NUMBER.findall(listed[at:])]


def _numbers(text: str, place: Place) -> Iterator[Found]:
    """Yield what a cell of the column of note numbers names; its anchor is the row's label."""
    raw = place.span.slice(text).strip()
    anchor = place.label if place.label is not None and len(place.label) else place.span
    forms = [(m, *token_form(m)) for m in TOKEN.finditer(raw)]
    bracketed = [(form, key) for _, form, keys in forms for key in keys if form != "star"]
    if bracketed and raw[:1] in "([¹²³⁴⁵⁶⁷⁸⁹†‡":
        for form, key in bracketed:
            yield Found(Marker(raw, key, form, place.span, anchor, "row_label", place.table), firm=True)
        return
    if any(int(part) > _HIGHEST for part in re.findall(r"\d+", raw)):
        return
    for value in reference_values(raw):
        key = NoteKey("number", value)
        yield Found(Marker(raw, key, "account", place.span, anchor, "row_label", place.table), firm=True)
