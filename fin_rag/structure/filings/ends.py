"""Where Items end: Part lines, signatures, exhibit indexes and statements after the last Item."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from fin_rag.structure.filings.candidates import PartLine
from fin_rag.structure.filings.chain import Pick
from fin_rag.structure.filings.forms import Form
from fin_rag.structure.filings.lines import Lines

_SIGNATURE = re.compile(r"[^\w\n]{0,12}s ?i ?g ?n ?a ?t ?u ?r ?e(?: ?s)?(?: page)?\W{0,6}", re.IGNORECASE)
_SIGNATURE_HINT = re.compile(r"^[^\w\n]{0,12}s ?i ?g ?n ?a ?t ?u ?r ?e", re.IGNORECASE | re.MULTILINE)
_ANNEX = re.compile(
    r"\W{0,12}(?:(?P<exhibits>(?:exhibits? index|index (?:to|of) exhibits))"
    r"|(?P<statements>index (?:to|of) (?:\w+ ){0,3}financial (?:statements?|information|section)[\w ,]{0,60}))"
    r"\W{0,8}",
    re.IGNORECASE,
)
_ANNEX_HINT = re.compile(r"^[^\w\n]{0,12}(?:exhibits?|index)\s", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Landmark:
    """Hold a line that ends an Item without opening one: ``signatures``, ``exhibits`` or ``statements``."""

    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class Extent:
    """Hold where a picked Item starts and ends, and the Part line that opens its Part, if one is printed."""

    pick: Pick
    start: int
    end: int
    part: str
    part_line: int | None


def find_landmarks(lines: Lines) -> list[Landmark]:
    """Find the lines that open signatures, exhibit indexes and annexed statements, in document order."""
    found = []
    for pattern, hint, kind in ((_SIGNATURE, _SIGNATURE_HINT, "signatures"), (_ANNEX, _ANNEX_HINT, "")):
        for match in hint.finditer(lines.text, lines.starts[0], lines.ends[-1]) if len(lines) else ():
            index = lines.at(match.end() - 1)
            full = pattern.fullmatch(lines.raw(index, 140))
            if full:
                found.append(Landmark(index, kind or ("exhibits" if full["exhibits"] else "statements")))
    return sorted(set(found), key=lambda mark: (mark.line, mark.kind))


def extents(
    lines: Lines,
    picks: Sequence[Pick],
    parts: Sequence[PartLine],
    marks: Sequence[Landmark],
    pages: Sequence[tuple[int, int]],
    form: Form,
) -> list[Extent]:
    """Return where each picked Item starts and ends."""
    result: list[Extent] = []
    final = lines.ends[-1] if len(lines) else 0
    positions = [p.line for p in parts]
    signed = next(
        (
            m.line
            for m in marks
            if m.kind == "signatures" and picks and m.line > picks[-1].candidate.last_line
        ),
        None,
    )
    previous_line = 0
    for i, pick in enumerate(picks):
        following = picks[i + 1] if i + 1 < len(picks) else None
        part_line = _opening(parts, positions, previous_line, pick, _part_of(pick, form))
        start_line = pick.candidate.line
        limit = following.candidate.line if following else len(lines)
        stop = _stop(lines, start_line, limit, pick, following, parts, positions, marks, form)
        page = next(
            (
                first
                for first, last in reversed(pages)
                if start_line < first < stop and lines.prose_between(first, stop) == 0
            ),
            None,
        )
        stop = page if page is not None and page > pick.candidate.last_line else stop
        if signed is not None and stop > signed > pick.candidate.last_line:
            stop = signed
        end = lines.ends[stop - 1] if stop > pick.candidate.last_line else pick.candidate.end
        end = min(max(end, pick.candidate.end), following.candidate.start if following else final)
        part = parts[part_line].part if part_line is not None else _part_of(pick, form)
        result.append(
            Extent(
                pick,
                pick.candidate.start,
                end,
                part,
                parts[part_line].line if part_line is not None else None,
            )
        )
        previous_line = pick.candidate.last_line
    return result


def _part_of(pick: Pick, form: Form) -> str:
    return pick.part or form.part_of(pick.keys[0])


def _opening(
    parts: Sequence[PartLine], positions: list[int], after: int, pick: Pick, part: str
) -> int | None:
    """Return the index of the Part line that opens the pick's Part, if it stands right before it."""
    index = bisect_left(positions, pick.candidate.line + 1) - 1
    while index >= 0 and positions[index] >= after:
        if parts[index].part == part:
            return index
        index -= 1
    return None


def _stop(
    lines: Lines, first: int, limit: int, pick: Pick, following: Pick | None, parts: Sequence[PartLine],
    positions: list[int], marks: Sequence[Landmark], form: Form,
) -> int:  # fmt: skip
    """Return the line at which a pick's body ends: the next Item, its Part line, or a landmark."""
    stop = limit
    if following is not None and _part_of(following, form) != _part_of(pick, form):
        index = bisect_left(positions, limit) - 1
        cut = None
        while index >= 0 and positions[index] > pick.candidate.last_line:
            if parts[index].part == _part_of(following, form) and not parts[index].inline:
                if cut is not None and lines.prose_between(positions[index], cut) > 0:
                    break
                cut = positions[index]
            index -= 1
        if cut is not None:
            stop = cut
    wanted = {"signatures"} if following else {"signatures", *_annexes(pick, form)}
    line = next(
        (m.line for m in marks if pick.candidate.last_line < m.line < stop and m.kind in wanted), None
    )
    if line is not None and (following is None or _closes(lines, line)):
        stop = line
    return max(stop, first + 1)


def _annexes(pick: Pick, form: Form) -> set[str]:
    """Return which annexes are no part of a last Item; an Item of exhibits and schedules owns both."""
    words = form.spec(pick.keys[-1]).words
    owns = "exhibit" in words and not (
        pick.keys[-1] == "16" and "exhibit" not in pick.candidate.title.lower()
    )
    return set() if owns else {"exhibits", "statements"}


def _closes(lines: Lines, index: int) -> bool:
    """Tell whether a signature line opens real signatures, not a row of a list."""
    text = lines.text[lines.ends[index] : lines.ends[index] + 400].lower()
    return "pursuant to" in text or "/s/" in text or "duly" in text
