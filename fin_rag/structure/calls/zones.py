"""Where a transcript holds no speech: lists of participants, contents, summaries, notices, heads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.structure.calls.directory import Directory
from fin_rag.structure.calls.headers import CERTAIN, LIKELY, POSSIBLE, Header, Reader
from fin_rag.structure.calls.lines import CallLine
from fin_rag.structure.calls.model import Participant
from fin_rag.structure.calls.roster import Roster, is_speech, list_end, read_labelled, read_roster, read_table
from fin_rag.structure.calls.titles import (
    CONTENTS_TITLE,
    HEAD_TITLE,
    PREPARED_TITLE,
    QA_TITLE,
    ROSTER_TITLE,
    TAIL_TITLE,
    Title,
)
from fin_rag.structure.calls.vocabulary import fold

PARTICIPANTS: Final = "participants"
NOTICES: Final = "notices"
_BODY_TITLES: Final = (PREPARED_TITLE, QA_TITLE, HEAD_TITLE)


@dataclass(frozen=True, slots=True)
class Zone:
    """Mark lines ``first`` to ``last`` (exclusive) that hold no speech."""

    first: int
    last: int
    kind: str


@dataclass(frozen=True, slots=True)
class Zones:
    """Hold all zones of a text and the people whom its lists name."""

    zones: tuple[Zone, ...]
    people: tuple[Participant, ...]
    lines: frozenset[int]


def find_zones(reader: Reader, titles: Sequence[Title]) -> Zones:
    """Find the zones of a text and read its lists of participants."""
    lines, furniture = reader.lines, reader.furniture
    places = {title.line for title in titles}
    first_look = {
        at: header
        for at in range(len(lines))
        if at not in furniture and at not in places and (header := reader.header_at(at)) is not None
    }
    zones: list[Zone] = []
    lists: list[tuple[Title, int]] = []
    at, started, begun, seen = 0, False, False, 0
    after_any, after_body = _next_titles(titles, len(lines))
    for number, title in enumerate(titles):
        started = started or _speech_between(lines, first_look, max(at, seen), title.line, begun=begun)
        begun, seen = begun or title.kind in (PREPARED_TITLE, QA_TITLE), title.line
        if title.kind in (PREPARED_TITLE, QA_TITLE) or title.line < at:
            continue
        stop = after_body[number] if started or title.kind == TAIL_TITLE else after_any[number]
        last = stop if started else list_end(lines, title.line + 1, stop, furniture)
        if started and title.kind in (ROSTER_TITLE, HEAD_TITLE):
            last = _next_operator(first_look, lines, title.line, stop)
            if title.kind == HEAD_TITLE:
                started = False
        kind = PARTICIPANTS if title.kind == ROSTER_TITLE else "head" if title.kind == HEAD_TITLE else NOTICES
        kind = "contents" if title.kind == CONTENTS_TITLE else kind
        zones.append(Zone(title.line, last, kind))
        if title.kind == ROSTER_TITLE:
            lists.append((title, last))
        at = max(at, last)
    taken = {i for zone in zones for i in range(zone.first, zone.last)}
    named = _named(first_look, taken)
    rosters = [read_roster(lines, title, furniture, last, named, reader.firms) for title, last in lists]
    # What stands below the title of a call may be a list as well.
    listed = {i for zone in zones if zone.kind != "head" for i in range(zone.first, zone.last)}
    rosters += _labelled(lines[: _first_speech(lines, first_look)], furniture, listed)
    zones += [Zone(r.first, r.last, PARTICIPANTS) for r in rosters if r.first not in listed]
    taken |= {i for zone in zones for i in range(zone.first, zone.last)}
    people = tuple(person for roster in rosters for person in roster.people)
    return Zones(tuple(sorted(zones, key=lambda z: z.first)), people, frozenset(taken))


def _speech_between(
    lines: Sequence[CallLine], headers: Mapping[int, Header], first: int, last: int, *, begun: bool
) -> bool:
    """Tell whether somebody speaks between two lines: a speaker line and a sentence below it."""
    for at in range(first, last):
        header = headers.get(at)
        if header is None:
            continue
        enough = POSSIBLE if begun else LIKELY if header.family == "colon" else CERTAIN
        if header.strength < enough or (header.family == "line" and not begun and header.label.kind != "operator"):
            continue
        if header.inline or (header.after < last and is_speech(lines[header.after])):
            return True
    return False


def _first_speech(lines: Sequence[CallLine], headers: Mapping[int, Header]) -> int:
    """Return the first line on which somebody is named and speaks; lists without a title stand above it."""
    inline = (at for at, header in sorted(headers.items()) if header.inline and header.strength >= POSSIBLE)
    return next((at for at in inline if is_speech(lines[at])), len(lines))


def _next_titles(titles: Sequence[Title], default: int) -> tuple[list[int], list[int]]:
    """Return for each title the line of the next one, and of the next one under which people speak."""
    any_, body = [default] * len(titles), [default] * len(titles)
    for number in range(len(titles) - 2, -1, -1):
        following = titles[number + 1]
        any_[number] = following.line
        body[number] = following.line if following.kind in _BODY_TITLES else body[number + 1]
    return any_, body


def _next_operator(headers: Mapping[int, Header], lines: Sequence[CallLine], first: int, stop: int) -> int:
    """Return the line where an operator speaks again, or ``stop``."""
    for at in range(first + 1, stop):
        header = headers.get(at)
        if header is not None and header.label.kind == "operator":
            below = header.after
            if header.inline or (below < stop and is_speech(lines[below])):
                return at
    return stop


def _named(headers: Mapping[int, Header], taken: set[int]) -> frozenset[str]:
    """Return the folded names on speaker lines outside every zone."""
    counts = Counter(fold(h.label.name) for at, h in headers.items() if at not in taken and h.label.kind == "person")
    return frozenset(counts)


def _labelled(lines: Sequence[CallLine], furniture: set[int], taken: set[int]) -> list[Roster]:
    """Read the lists that have no title: those with a label on the line of their first entry, and tables."""
    rosters: list[Roster] = []
    at = 0
    while at < len(lines):
        roster = None
        if at not in furniture and at not in taken:
            table = lines[at].bare.startswith("|")
            roster = read_table(lines, at) if table else read_labelled(lines, at, furniture, len(lines))
        if roster is not None:
            rosters.append(roster)
        at = roster.last if roster is not None else at + 1
    return rosters


__all__ = ["NOTICES", "PARTICIPANTS", "Directory", "Zone", "Zones", "find_zones"]
