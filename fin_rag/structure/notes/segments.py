"""Lines that open like notes, with their extent and what stands around them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.schema import Block, PageMap, Span
from fin_rag.structure.lines import Line, is_rule, plain, split_lines
from fin_rag.structure.notes.marks import TOKEN, Opening, follows, opening_of, token_form
from fin_rag.structure.notes.vocabulary import note_words, says_any

WEAK: Final = frozenset({"dot", "dash", "bare"})
_LEAD: Final = re.compile(r"[*_]{0,2}(?:notas?|notes?|footnotes?)[*_]{0,2}\s?[:.][*_]{0,2}\s+(?=\S)", re.IGNORECASE)
_LEGEND: Final = re.compile(
    r"[\"“«(]?[^\W\d_]{1,4}\.(?:\s?[^\W\d_]{1,4}\.?){0,3}[\"”»)]?\s?[:=–-]\s?\S|N[MDAS]\s?[:=]\s"
)
_SHORT: Final = 72
_ENDS: Final = (".", "!", "?", ".)", ".”", '."', ".»", ":", ";")
_LONGEST_TITLE: Final = 160


@dataclass(slots=True)
class Segment:
    """Hold one paragraph or one note-like stretch of it.

    ``opening`` is ``None`` for text that opens like no note; ``aside`` marks sources, legends and the line
    that makes the notes a part of the accounts. ``table`` is the table directly above (only notes and asides
    between), ``below`` the one directly below; ``zone`` says that a title or a lead-in announces notes,
    ``scope`` what that title names. ``listed`` says that a sentence with a colon announces a list. ``tail``
    marks notes at the end of a text without pages, ``first`` notes at the head of a section. ``run`` numbers
    the stretches without a blank line.
    """

    span: Span
    text: str
    opening: Opening | None
    run: int
    block: int
    page: int = 0
    aside: bool = False
    lead: bool = False
    table: int = -1
    below: int = -1
    zone: int = -1
    scope: str = ""
    listed: bool = False
    foot: bool = False
    tail: bool = False
    first: bool = False
    body: int = 0


class Pages:
    """Tell the page of an offset: from the page map, else from form feeds; 0 where there are none."""

    def __init__(self, text: str, page_map: PageMap | None) -> None:
        self._starts: list[int] = [span.start for _, span in page_map.pages] if page_map else []
        if not self._starts and "\f" in text:
            self._starts = [0, *(found.end() for found in re.finditer("\f", text))]
        self.known = bool(self._starts)

    def of(self, offset: int) -> int:
        """Return the page, counted from 1."""
        return bisect_right(self._starts, offset) if self.known else 0


def segments_of(text: str, blocks: Sequence[Block], pages: Pages) -> list[Segment]:
    """Cut everything but tables and code into segments, in order; headings are one each."""
    found: list[Segment] = []
    run = 0
    for index, block in enumerate(blocks):
        if block.kind in ("table", "code"):
            continue
        if block.kind == "heading":
            run += 1
            raw = block.span.slice(text)
            found.append(Segment(block.span, raw, _titled_note(raw), run, index, pages.of(block.span.start)))
            continue
        for lines in _runs(text, block.span):
            run += 1
            found += [replace(piece, page=pages.of(piece.span.start)) for piece in _cut(text, lines, run, index)]
    _mark_feet(found)
    return found


def _titled_note(raw: str) -> Opening | None:
    """Read a note that was taken for a heading, as "Nota 1: incluye las filiales." can be."""
    opening = opening_of(raw.lstrip("# "))
    if opening is None or opening.form != "word" or raw.startswith("#"):
        return None
    sentence = raw.rstrip().endswith(".") and len(raw.split()) > 5
    shift = len(raw) - len(raw.lstrip("# "))
    return opening._replace(length=opening.length + shift) if sentence else None


def _runs(text: str, span: Span) -> Iterator[list[Line]]:
    run: list[Line] = []
    for line in split_lines(text, span):
        if line.text:
            run.append(line)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _cut(text: str, lines: Sequence[Line], run: int, block: int) -> Iterator[Segment]:
    """Cut a stretch of lines where a note, a source or a new paragraph begins."""
    first = 0
    opening, shift, aside = _read(lines[0].text)
    for at in range(1, len(lines) + 1):
        if at < len(lines):
            new, new_shift, new_aside = _read(lines[at].text)
            if not _begins(lines, at, opening, new, aside=aside, new_aside=new_aside):
                continue
        span = Span(lines[first].start, lines[at - 1].end)
        yield from _pieces(text, Segment(span, span.slice(text), opening, run, block, aside=aside), shift)
        if at < len(lines):
            first, opening, shift, aside = at, new, new_shift, new_aside


def _read(line: str) -> tuple[Opening | None, int, bool]:
    """Return a line's opening, how far it stands behind a lead-in ("Notas: (1) ..."), and whether it is an aside."""
    if is_aside(line):
        return None, 0, True
    opening = opening_of(line)
    if opening is None or opening.form == "word":
        lead = _LEAD.match(line)
        inner = opening_of(line[lead.end() :]) if lead else None
        if lead and inner:
            return inner, lead.end(), False
    return opening, 0, False


def is_aside(line: str) -> bool:
    """Tell whether a line is a source, a legend of abbreviations, or says that the notes are a part of it all."""
    head = plain(line[:400]).casefold()
    first = head.split(":", 1)[0].strip("* ") if ":" in head[:40] else ""
    if first in note_words()["source_words"] or head.startswith("elaboración propia"):
        return True
    mentions = "not" in head and says_any(head, "whole_words")
    return mentions or _LEGEND.match(line) is not None


def _begins(
    lines: Sequence[Line], at: int, opening: Opening | None, new: Opening | None, *, aside: bool, new_aside: bool
) -> bool:
    """Tell whether line ``at`` begins something new rather than going on."""
    before, line = lines[at - 1].text, lines[at].text
    if new_aside:
        return True
    finished = before.endswith(_ENDS) or is_rule(before) or (opening is None and is_notes_title(before, heading=False))
    if new is not None:
        if new.form in WEAK:
            return opening is not None and opening.form == new.form and follows(opening.key, new.key)
        return finished or opening is not None or new.form in ("raised", "caret")
    if aside or opening is not None:
        grows = lines[at].indent > lines[at - 1].indent
        starts_anew = line[0].isupper() or line[0] in '¿¡«“"-•|#'
        return finished and starts_anew and not grows and len(before) < _SHORT
    return False


def _pieces(text: str, segment: Segment, shift: int) -> Iterator[Segment]:
    """Cut a segment that holds several notes on one line: "(1) Uno. (2) Dos."."""
    if segment.opening is None:
        yield segment
        return
    start, opening = segment.span.start, segment.opening
    begin = start + shift
    body = begin + opening.length
    for found in TOKEN.finditer(text, body, segment.span.end):
        inner = opening_of(text[found.start() : min(segment.span.end, found.end() + 12)])
        _, keys = token_form(found)
        if inner is None or len(keys) != 1 or not follows(opening.key, inner.key):
            continue
        alike = inner.form == opening.form or {inner.form, opening.form} <= {"star", "sign"}
        if alike and _parts(text, found.start(), found.start() + inner.length):
            end = _rstrip(text, start, found.start())
            yield replace(segment, span=Span(start, end), text=text[start:end], opening=opening, body=begin)
            start = begin = found.start()
            opening = inner
    yield replace(segment, span=Span(start, segment.span.end), text=text[start : segment.span.end],
                  opening=opening, body=begin)  # fmt: skip


def _parts(text: str, start: int, body: int) -> bool:
    """Tell whether a marker inside a line opens a note: behind a stop or a gap, with a capital behind it."""
    before = text[max(0, start - 3) : start]
    if not before.strip() or not before[-1].isspace():
        return bool(before.strip()) and before[-1] in ".;" and text[body : body + 1].isupper()
    stopped = before.rstrip()[-1:] in ".;)»”|·" or len(before) - len(before.rstrip()) > 1
    after = text[body : body + 1]
    return after.isupper() or (stopped and after.isalnum())


def _rstrip(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _mark_feet(segments: Sequence[Segment]) -> None:
    """Mark what stands at the foot of its page: nothing but notes, asides and page numbers behind it."""
    page, foot = -1, False
    for segment in reversed(segments):
        if segment.page != page:
            page, foot = segment.page, True
        number = len(segment.text) <= 12 and any(c.isdigit() for c in segment.text)
        if segment.opening is None and not segment.aside and not number:
            foot = False
        segment.foot, segment.tail = foot and page > 0, foot and not page


def surroundings(blocks: Sequence[Block], segments: Sequence[Segment]) -> None:
    """Tell each segment what stands around it: tables above and below, titles and lead-ins of notes."""
    tables = {index: number for number, index in enumerate(i for i, b in enumerate(blocks) if b.kind == "table")}
    numbers = sorted(tables)
    attached, zone, scope, level, listed, block = -1, -1, "", 0, False, -1
    led, first = False, True
    for segment in segments:
        for at in numbers[bisect_right(numbers, block) : bisect_right(numbers, segment.block)]:
            attached, listed = tables[at], False
            zone = -1 if led else zone
            led = first = False
        block = segment.block
        kind = blocks[block].kind
        if kind == "heading" and segment.opening is None:
            titled = is_notes_title(segment.text, heading=True)
            if titled or zone < 0 or led or blocks[block].level <= level:
                level = blocks[block].level if titled else 0
                zone = segment.span.start if titled else -1
                led = False
            scope = (_scope(segment.text) or ("" if titled else _title(segment.text))) if zone >= 0 else ""
            attached, listed, first = -1, False, True
            segment.lead = titled
        elif segment.opening is None and is_notes_title(segment.text, heading=False):
            zone, led = (zone if zone >= 0 and not led else segment.span.start), led or zone < 0
            scope, listed, segment.lead = _scope(segment.text), False, True
        segment.table, segment.zone, segment.scope, segment.listed = attached, zone, scope, listed
        segment.first = first
        if segment.opening is None and not segment.aside and not segment.lead and kind != "heading":
            listed, first = segment.text.rstrip("*_ ").endswith(":"), False
            attached = -1
            if led:
                zone, scope, led = -1, "", False
    _look_below(blocks, segments, tables)


def _look_below(blocks: Sequence[Block], segments: Sequence[Segment], tables: dict[int, int]) -> None:
    """Tell segments which table stands directly below them; at the head of a section its title may be between."""
    below, block, titled = -1, len(blocks), False
    for segment in reversed(segments):
        for at in range(segment.block + 1, block):
            if at in tables:
                below, titled = tables[at], False
                break
        block = segment.block
        segment.below = below if segment.first or not titled else -1
        if segment.opening is None and not segment.aside:
            heads = blocks[block].kind == "heading" or len(segment.text) <= _LONGEST_TITLE
            below = below if heads and not titled else -1
            titled = True


def is_notes_title(text: str, *, heading: bool) -> bool:
    """Tell whether a title or lead-in announces notes to tables, not the notes of the accounts.

    Example:
        >>> is_notes_title("Notas:", heading=False), is_notes_title("## Notas a las cuentas anuales", heading=True)
        (True, False)
    """
    if len(text) > _LONGEST_TITLE:
        return False
    bare = plain(text.lstrip("# ")).casefold()
    if not heading and not bare.endswith((":", ".")) and bare not in note_words()["note_titles"]:
        return False
    if says_any(bare, "account_words"):
        return False
    words = bare.rstrip(":. ").split()
    heads = {" ".join(words[:n]) for n in range(1, min(len(words), 6) + 1)}
    if heading:
        bare_title = bare.rstrip(":. ") in note_words()["note_titles"]
        longer = {h for h in heads if " " in h} & note_words()["note_titles"]
        return bare_title or bool(longer) or (bool(heads & note_words()["note_titles"]) and bool(_scope(text)))
    exact = bare.rstrip(":. ") in note_words()["note_titles"]
    return exact or (bool(heads & note_words()["note_titles"]) and bare.endswith(":") and len(words) <= 16)


def _title(text: str) -> str:
    return plain(text.lstrip("# ")).rstrip(":. ")


def _scope(text: str) -> str:
    """Return what a lead-in names: "Notas del apartado «3. Magnitudes»:" gives "3. Magnitudes"."""
    bare = plain(text.lstrip("# ")).rstrip(":. ")
    quoted = re.search(r"[«“\"‘]([^»”\"’]{1,120})[»”\"’]", bare)
    if quoted:
        return quoted[1]
    words = "|".join(sorted(note_words()["scope_words"], key=len, reverse=True))
    named = re.search(rf"\b(?:{words})\s+(?:de\s|of\s|on\s|sobre\s)?(.{{1,100}})$", bare, re.IGNORECASE)
    if named:
        return named[1].strip(" ()")
    after = re.match(
        r"\S+\s+(?:de|del|a|al|sobre|on|to|for|[-–—(:])\s?(?:la\s|el\s|las\s|los\s|the\s)?(.{1,100})$", bare
    )
    return after[1].strip(" ()") if after else ""
