"""From lines to turns: who has the word from where to where, before anybody's part in the call is known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fin_rag.schema import Markup, Span
from fin_rag.structure.calls.accept import Layout
from fin_rag.structure.calls.directory import Directory
from fin_rag.structure.calls.firms import shared_firms
from fin_rag.structure.calls.furniture import find_page_furniture
from fin_rag.structure.calls.headers import CERTAIN, POSSIBLE, Header, Reader
from fin_rag.structure.calls.inline import inline_labels, split_inline
from fin_rag.structure.calls.labels import STAMP, Label
from fin_rag.structure.calls.lines import CallLine, call_lines
from fin_rag.structure.calls.memo import memo_headers
from fin_rag.structure.calls.model import PREPARED, QA, Participant
from fin_rag.structure.calls.names import same_person
from fin_rag.structure.calls.roster import is_speech
from fin_rag.structure.calls.titles import HEAD_TITLE, PREPARED_TITLE, QA_TITLE, Title, find_titles, is_tail_line
from fin_rag.structure.calls.vocabulary import fold
from fin_rag.structure.calls.zones import NOTICES, PARTICIPANTS, Zone, Zones, find_zones

_LEADING_STAMP: Final = re.compile(rf"{STAMP.pattern}[ \t]*")


@dataclass(slots=True)
class RawTurn:
    """Hold a speaker line, what follows it, and the speaker lines that only repeat it.

    ``part`` is empty where no title says in which part of the call the turn stands.
    """

    label: Label
    header: Span
    texts: list[Span]
    part: str
    repeats: list[Span] = field(default_factory=list)
    call: int = 0

    @property
    def start(self) -> int:
        """Return where the turn begins, its speaker line included."""
        return min(self.header.start, self.texts[0].start)

    @property
    def end(self) -> int:
        """Return where the turn ends."""
        return max(self.header.end, self.texts[-1].end)


@dataclass(slots=True)
class Reading:
    """Hold what is known once the lines have been read."""

    turns: list[RawTurn]
    titles: list[tuple[Span, str]]
    zones: list[tuple[Span, str]]
    people: tuple[Participant, ...]
    furniture: list[Span]
    warnings: list[str]


def read_lines(text: str, markup: Markup | None, firms: Sequence[str]) -> Reading:
    """Read a transcript's lines into turns; ``firms`` are folded names of the issuer."""
    lines = call_lines(text, markup)
    furniture, rules = find_page_furniture(lines)
    titles = find_titles(lines, furniture)
    firms = sorted({*firms, *shared_firms(lines, furniture)})
    zones = find_zones(Reader(text, lines, furniture, rules, Directory(()), firms), titles)
    directory = Directory(zones.people)
    known_firms = sorted({*firms, *(fold(p.firm) for p in zones.people if p.firm)})
    reader = Reader(text, lines, furniture, rules, directory, known_firms)
    closed = {title.line for title in titles} | zones.lines | furniture
    candidates = {
        at: header for at in range(len(lines)) if at not in closed and (header := reader.header_at(at)) is not None
    }
    opening = _opening(titles, zones)
    listed = _top_list(zones, len(lines))
    candidates = {
        at: h
        for at, h in candidates.items()
        if (at > opening or _surely_speaks(h, lines)) and (at > listed or h.strength > POSSIBLE)
    }
    headers = Layout(text, lines, candidates).accepted(closed)
    if not headers:
        headers = memo_headers(text, lines, furniture | {title.line for title in titles})
        noticed = tuple(z for z in zones.zones if not any(at in headers for at in range(z.first, z.last)))
        zones = replace(zones, zones=noticed, lines=frozenset(i for z in noticed for i in range(z.first, z.last)))
    return _Builder(text, lines, furniture, titles, zones, headers).build()


def _opening(titles: Sequence[Title], zones: Zones) -> int:
    """Return the line of the first title under which people speak, or -1."""
    return next((t.line for t in titles if t.kind == PREPARED_TITLE and t.line not in zones.lines), -1)


def _top_list(zones: Zones, count: int) -> int:
    """Return the first line of the list of participants that stands at the top, or -1; a title stands above it."""
    return next((zone.first for zone in zones.zones if zone.kind == PARTICIPANTS and zone.first < count // 4), -1)


def _surely_speaks(header: Header, lines: Sequence[CallLine]) -> bool:
    if header.strength < CERTAIN:
        return False
    return header.inline or (header.after < len(lines) and is_speech(lines[header.after]))


class _Builder:
    """Walk over the lines once and collect the turns."""

    def __init__(
        self, text: str, lines: Sequence[CallLine], furniture: set[int], titles: Sequence[Title], zones: Zones,
        headers: Mapping[int, Header],
    ) -> None:  # fmt: skip
        self._text = text
        self._lines = lines
        self._furniture = furniture
        self._titles = {title.line: title for title in titles if title.line not in zones.lines}
        self._zones = list(zones.zones)
        self._zone_at = {i: zone for zone in zones.zones for i in range(zone.first, zone.last)}
        self._people = zones.people
        self._headers = headers
        self._inline = inline_labels(text, headers.values(), zones.people)
        self._last_header = max(headers, default=-1)
        self._part = ""
        self._call = 0
        self._turn: RawTurn | None = None
        self._broken = True  # whether the next line of speech begins a new span
        self.turns: list[RawTurn] = []
        self.extra: list[Span] = []
        self.warnings: list[str] = []
        self._empty = 0

    def build(self) -> Reading:
        """Return the turns, with empty ones dropped and those of one speaker joined."""
        at = 0
        while at < len(self._lines):
            at = self._step(at)
        self._close()
        if self._empty:
            self.warnings.append(f"{self._empty} speaker lines without words were left out")
        furniture = [self._lines[i].span for i in sorted(self._furniture)]
        return Reading(
            turns=list(_joined(self.turns)),
            titles=[
                (self._lines[i].span, t.kind)
                for i, t in sorted(self._titles.items())
                if t.kind in (PREPARED_TITLE, QA_TITLE)
            ],
            zones=[(Span(self._lines[z.first].start, self._lines[z.last - 1].end), z.kind) for z in self._zones],
            people=self._people,
            furniture=furniture + self.extra,
            warnings=self.warnings,
        )

    def _step(self, at: int) -> int:
        """Take one line, or the lines of a speaker line; return the next one."""
        line = self._lines[at]
        zone = self._zone_at.get(at)
        if zone is not None:
            self._enter(zone, at)
            return at + 1
        if at in self._furniture:
            self._broken = True
            return at + 1
        title = self._titles.get(at)
        if title is not None and title.kind in (PREPARED_TITLE, QA_TITLE):
            self._enter_part(title, line)
            return at + 1
        header = self._headers.get(at)
        if header is not None:
            return self._open(header, line)
        if at > self._last_header and self._turn is not None and self._turn.texts and is_tail_line(line):
            return self._end_of_speech(at)
        self._say(line.start, line.end)
        return at + 1

    def _enter(self, zone: Zone, at: int) -> None:
        self._close()
        spoken = len(self.turns) > 1 or any(turn.part == QA for turn in self.turns)
        if zone.kind == "head" and at == zone.first and spoken and at < self._last_header:
            self._new_call(self._lines[at].start)

    def _enter_part(self, title: Title, line: CallLine) -> None:
        self._close()
        if title.kind == PREPARED_TITLE and self._part == QA and self.turns and self.turns[-1].call == self._call:
            self._new_call(line.start)
        self._part = PREPARED if title.kind == PREPARED_TITLE else QA if self.turns or self._part else self._part
        if title.kind == QA_TITLE and not self._part:
            self._part = QA

    def _new_call(self, start: int) -> None:
        self._call += 1
        self._part = ""
        self.warnings.append(
            f"the text seems to hold more than one call: another one begins at {start}. Split it there."
        )

    def _end_of_speech(self, at: int) -> int:
        self._close()
        self._zones.append(Zone(at, len(self._lines), NOTICES))
        return len(self._lines)

    def _open(self, header: Header, line: CallLine) -> int:
        self._close()
        self._turn = RawTurn(header.label, Span(header.start, header.end), [], self._part, call=self._call)
        self._broken = True
        if header.family == "memo":
            begin = line.start + (2 if line.bullet else 0)
            self._say(begin, begin + len(self._text[begin : header.start].rstrip()), stamped=False)
            return header.line + 1
        if not header.inline:
            return header.after
        last = self._lines[header.after]
        self._say(max(header.end, last.start), last.end, stamped=False)
        return header.after + 1

    def _say(self, start: int, end: int, *, stamped: bool = True) -> None:
        """Add speech to the open turn; labels of other speakers inside it open turns of their own."""
        if self._turn is None:
            return
        stamp = _LEADING_STAMP.match(self._text, start, end) if stamped and self._text[start] in "[(" else None
        if stamp:
            self.extra.append(Span(stamp.start(), stamp.start() + len(stamp.group().rstrip())))
            start = stamp.end()
            self._broken = True
        for begin, stop, label, marker in split_inline(self._text, start, end, self._inline):
            if label is not None and marker is not None:
                self._close()
                self._turn = RawTurn(label, marker, [], self._part, call=self._call)
                self._broken = True
            if begin >= stop:
                continue
            if self._broken or not self._turn.texts:
                self._turn.texts.append(Span(begin, stop))
            else:
                self._turn.texts[-1] = Span(self._turn.texts[-1].start, stop)
            self._broken = False

    def _close(self) -> None:
        turn, self._turn = self._turn, None
        self._broken = True
        if turn is None:
            return
        if not any(self._text[span.start : span.end].strip() for span in turn.texts):
            self._empty += 1
            self.extra.append(turn.header)
            return
        self.turns.append(turn)


def _joined(turns: Sequence[RawTurn]) -> Iterator[RawTurn]:
    """Yield the turns with consecutive ones of one speaker in one part made one."""
    last: RawTurn | None = None
    for turn in turns:
        if last is not None and _same_speaker(last, turn) and last.part == turn.part and last.call == turn.call:
            last.texts += turn.texts
            last.repeats += [turn.header, *turn.repeats]
            last.label = _completed(last.label, turn.label)
            continue
        if last is not None:
            yield last
        last = turn
    if last is not None:
        yield last


def _same_speaker(one: RawTurn, other: RawTurn) -> bool:
    a, b = one.label, other.label
    if a.key == b.key and a.tag == b.tag:
        return True
    return a.kind == b.kind == "person" and same_person(a.name, b.name)


def _completed(label: Label, other: Label) -> Label:
    return replace(label, role=label.role or other.role, firm=label.firm or other.firm, tag=label.tag or other.tag)


__all__ = ["HEAD_TITLE", "RawTurn", "Reading", "read_lines"]
