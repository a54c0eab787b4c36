"""What each line of a statute is, before the tree is built: headings, labels, zones, quotations, contents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from fin_rag.schema import Markup
from fin_rag.structure.regulation import zones as zone
from fin_rag.structure.regulation.headings import TOP_RANK, Heading, civil_heading, roman_part
from fin_rag.structure.regulation.labels import Label, read_label, reference_ahead
from fin_rag.structure.regulation.lines import Line, lines_of, view_of, word_pattern, wrap_width
from fin_rag.structure.regulation.numbers import vocabulary
from fin_rag.structure.regulation.quotes import quoted_lines
from fin_rag.structure.regulation.systems import (
    BASEL,
    CFR,
    CIVIL,
    FCA,
    FINRA,
    basel_heading,
    cfr_heading,
    fca_heading,
    finra_heading,
    system_of,
)

_FULL: Final = 0.75
_LEAST_CONTENTS: Final = 3
_MOST_UNLISTED: Final = 3  # headings of the text that a contents list may leave out before its first entry
_NEXT_ITEM: Final = re.compile(r"[;,][ ]{0,3}(?:and|or|y|e|o|u|und|oder)\Z")
_OPENING: Final = '«“‘"„‚'
_RECITAL: Final = re.compile(r"\([ ]?\d{1,3}[ ]?\)(?=[ ]|\Z)")


@dataclass(slots=True)
class Scan:
    """Hold what is known of every line; the lists run beside ``lines``.

    ``width`` is where the source breaks its lines (0: nowhere), ``preamble`` the line at which text before
    the first provision begins (-1: there is none), ``recitals`` the labels of recitals by line, ``closing``
    the lines that end them.
    """

    view: str
    lines: list[Line]
    system: str
    width: int
    headings: list[Heading | None]
    labels: list[Label | None]
    zones: list[str]
    recitals: dict[int, Label] = field(default_factory=dict)
    closing: set[int] = field(default_factory=set)
    preamble: int = -1
    warnings: list[str] = field(default_factory=list)

    def label_at(self, start: int, end: int) -> Label | None:
        """Return the label at an offset."""
        return read_label(self.view, start, end)


def scan_text(text: str, markup: Markup) -> Scan:
    """Find out what each line of a statute is."""
    view = view_of(text)
    lines = lines_of(text, view)
    width = wrap_width(lines)
    system = system_of(lines)
    headings = _headings(lines, system, width)
    labels = [None if headings[i] else _label(view, lines, headings, i, width) for i in range(len(lines))]
    zones = zone.zones_of(lines, system, markup, lambda i: headings[i] is not None, lambda i: labels[i] is not None)
    scan = Scan(view, lines, system, width, headings, labels, zones)
    _mark_quotes(scan)
    for index, kind in enumerate(zones):
        if kind:
            headings[index] = labels[index] = None
    _mark_contents(scan)
    if system == CIVIL:
        _mark_preamble(scan)
    return scan


# --- headings and labels ----------------------------------------------------------------------


def _headings(lines: Sequence[Line], system: str, width: int) -> list[Heading | None]:
    found: list[Heading | None] = []
    code, group, annex, started = "", "", False, False
    previous: Line | None = None
    last: Heading | None = None
    for index, line in enumerate(lines):
        heading = _read(lines, index, system, code, group, annex=annex)
        if heading is None and system == CIVIL and not started:
            heading = roman_part(line, index)
        if heading is not None and not _stands_alone(line, previous, last, width, civil=system == CIVIL):
            heading = None
        found.append(heading)
        if zone.is_furniture(line):
            continue
        previous, last = line, heading
        if heading is None:
            continue
        code = heading.number if heading.kind in ("chapter", "standard", "section") else code
        if heading.rank == TOP_RANK:
            group = heading.number if heading.kind == "group" else (group if heading.kind == group else "")
        started = started or heading.kind != "preamble"
        annex = heading.kind in ("annex", "appendix") or (annex and heading.rank > TOP_RANK)
    return found


def _read(lines: Sequence[Line], index: int, system: str, code: str, group: str, *, annex: bool) -> Heading | None:
    line = lines[index]
    if system == CFR:
        return cfr_heading(line, index)
    if system == BASEL:
        return basel_heading(line, index, code if len(code) > 3 else "")
    if system == FCA:
        return fca_heading(lines, index, code.partition(" ")[0])
    if system == FINRA:
        return finra_heading(line, index)
    return civil_heading(line, index, group, in_annex=annex) or _preamble_heading(line, index)


@lru_cache(maxsize=1)
def _preamble_words() -> re.Pattern[str]:
    return re.compile(rf"{word_pattern('preambles')}\Z", re.IGNORECASE)


def _preamble_heading(line: Line, index: int) -> Heading | None:
    if _preamble_words().match(line.text) and (line.level or line.text[0].isupper()):
        return Heading(index, "preamble", "", TOP_RANK, line.end, line.end, titled=False)
    return None


def _stands_alone(line: Line, previous: Line | None, last: Heading | None, width: int, *, civil: bool) -> bool:
    """Tell a heading from the rest of a sentence that the source broke before a reference."""
    if previous is None or line.level or previous.level or last is not None:
        return True
    if previous.dangling and civil:
        return False
    if line.blank_before or previous.finished or line.text.isupper():
        return True
    return len(previous.text) < _FULL * width or width == 0


def _label(
    view: str, lines: Sequence[Line], headings: Sequence[Heading | None], index: int, width: int
) -> Label | None:
    line = lines[index]
    label = read_label(view, line.start, line.end)
    if label is None or index == 0 or line.blank_before or headings[index - 1] is not None:
        return label
    previous = lines[index - 1]
    ended = previous.finished or bool(_NEXT_ITEM.search(previous.text))
    if previous.dangling or (not ended and reference_ahead().match(view, label.end, line.end)):
        return None
    full = width > 0 and len(previous.text) >= _FULL * width
    return None if full and not (previous.finished or previous.joins) else label


# --- quotations -------------------------------------------------------------------------------


def _mark_quotes(scan: Scan) -> None:
    lines, zones = scan.lines, scan.zones
    cardinal = tuple(f"{word.capitalize()}." for word in vocabulary()["cardinals"])
    current = _headings_above(scan)

    def opens(index: int) -> bool:
        line = lines[index]
        if zones[index] not in (zone.BODY, zone.QUOTE) or len(line.text) < 2:
            return False
        inner = line.text[1:].lstrip(_OPENING + " ")
        shown = Line(line.outer, line.start, line.end, inner, line.level, line.quoted, line.blank_before)
        if inner and (read_label(inner, 0, len(inner)) or _read_any(shown, index, scan.system)):
            return True
        before = _before(lines, zones, index)
        return before is not None and before.text.endswith(":") and _whole_lines(line)

    def ends_unclosed(start: int, index: int) -> bool:
        line = lines[index]
        if line.text.startswith(cardinal):
            return True
        heading = scan.headings[index]
        if heading is not None:
            if line.level and not lines[start].level:
                return True
            return _follows(current[start], heading)
        reopened = index + 1 < len(lines) and lines[index + 1].text[:1] == lines[start].text[:1]
        return reopened and line.text.endswith(":") and not scan.labels[index]

    marks, warnings = quoted_lines(lines, opens, ends_unclosed)
    for index, marked in enumerate(marks):
        if marked and zones[index] != zone.FURNITURE:
            zones[index] = zone.QUOTE
    scan.warnings += warnings


def _headings_above(scan: Scan) -> list[Heading | None]:
    """Return for each line the heading that it stands below."""
    found: list[Heading | None] = []
    last: Heading | None = None
    for heading, kind in zip(scan.headings, scan.zones, strict=True):
        found.append(last)
        if heading is not None and not kind:
            last = heading
    return found


def _read_any(line: Line, index: int, system: str) -> Heading | None:
    return civil_heading(line, index, "", in_annex=True) or (cfr_heading(line, index) if system == CFR else None)


def _whole_lines(line: Line) -> bool:
    """Tell whether a quotation that opens a line goes beyond a phrase of that line."""
    mark = line.text[0]
    closing = {"«": "»", "“": "”", "‘": "’", "„": "“", '"': '"', "‚": "‘"}[mark]
    at = line.text.find(closing, 1)
    return at < 0 or at >= len(line.text.rstrip(" .;,")) - 1


def _before(lines: Sequence[Line], zones: Sequence[str], index: int) -> Line | None:
    at = index - 1
    while at >= 0 and zones[at] in (zone.FURNITURE, zone.NOTE):
        at -= 1
    return lines[at] if at >= 0 else None


def _follows(before: Heading | None, heading: Heading) -> bool:
    """Tell whether a heading is the next one of the same kind, or the first of the dispositions after articles."""
    if before is None:
        return False
    if before.kind == heading.kind:
        numbers = before.number.split()[0:1] + heading.number.split()[0:1]
        return len(numbers) == 2 and all(n.isdigit() for n in numbers) and int(numbers[1]) == int(numbers[0]) + 1
    return (
        before.kind in ("art", "da", "dt", "dd")
        and heading.kind in ("da", "dt", "dd", "df")
        and heading.number
        in (
            "1",
            "unica",
        )
    )


# --- contents ---------------------------------------------------------------------------------


def _mark_contents(scan: Scan) -> None:
    """Set aside a contents list that repeats the headings of what follows it."""
    order = [(i, h) for i, h in enumerate(scan.headings) if h is not None and h.kind not in ("preamble", "group")]
    keys = [(h.kind, h.number) for _, h in order]
    last_place = {key: at for at, key in enumerate(keys)}
    for first in range(min(5, len(order))):
        end = first
        while end + 1 < len(order) and last_place[keys[end + 1]] > end + 1 and _is_thin(scan, order, end):
            end += 1
        listed = keys[first : end + 1]
        restart = next((at for at in range(end + 1, len(keys)) if keys[at] in listed), len(keys))
        if end + 1 - first < _LEAST_CONTENTS or restart > end + 1 + _MOST_UNLISTED:
            continue
        last, heading = order[end]
        stop = order[end + 1][0]
        untitled = heading.rest >= scan.lines[last].end
        if untitled and last + 1 < stop and _is_entry(scan, last + 1):
            last += 1
        for index in range(order[first][0], last + 1):
            scan.zones[index] = zone.CONTENTS
            scan.headings[index] = scan.labels[index] = None
        return


def _is_thin(scan: Scan, order: Sequence[tuple[int, Heading]], at: int) -> bool:
    """Tell whether hardly a line stands between a heading and the next one."""
    between = range(order[at][0] + 1, order[at + 1][0])
    return len(between) <= 2 and all(_is_entry(scan, index) for index in between)


def _is_entry(scan: Scan, index: int) -> bool:
    line = scan.lines[index]
    return len(line.text) <= 200 and not line.text.endswith((":", ";")) and scan.labels[index] is None


# --- what stands before the provisions --------------------------------------------------------


@lru_cache(maxsize=1)
def _recital_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    starts = re.compile(rf"{word_pattern('recital_starts')}\b.{{0,20}}\Z", re.IGNORECASE)
    return starts, re.compile(rf".{{0,80}}\b{word_pattern('recital_ends')}\b", re.IGNORECASE)


def _mark_preamble(scan: Scan) -> None:
    starts, ends = _recital_words()
    inside = False
    first = next((i for i, h in enumerate(scan.headings) if h is not None and h.kind != "preamble"), len(scan.lines))
    for index in range(first):
        if scan.zones[index]:
            continue
        line = scan.lines[index]
        if starts.match(line.text):
            inside = True
        elif inside and ends.match(line.text) and scan.labels[index] is None:
            scan.closing.add(index)
            inside = False
        elif inside and _RECITAL.match(line.text):
            label = scan.labels[index] or read_label(scan.view, line.start, line.end)
            if label is not None:
                scan.recitals[index] = label
    named = any(h is not None and h.kind == "preamble" for h in scan.headings[:first])
    if first < len(scan.lines) and not named:
        scan.preamble = next((i for i in range(first) if _says_something(scan, i)), -1)


def _says_something(scan: Scan, index: int) -> bool:
    """Tell a sentence from the title of the act."""
    line = scan.lines[index]
    return not scan.zones[index] and line.level == 0 and index > 0 and line.text[-1] in ".,:;" and len(line.text) > 20
