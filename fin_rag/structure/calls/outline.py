"""Outline of a call: its parts, one section a turn, and what belongs to no turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from fin_rag.schema import DOC_TYPE, FISCAL_PERIOD, FISCAL_YEAR, ISSUER, Markup, MetadataValue, Section, Span
from fin_rag.structure.calls.cast import Speaker, cast
from fin_rag.structure.calls.dialogue import Dialogue, Placed
from fin_rag.structure.calls.model import ANALYST, COMPANY, QA, QUESTION, CallOutline, Participant, Turn
from fin_rag.structure.calls.names import name_key, name_kind
from fin_rag.structure.calls.reading import RawTurn, Reading, read_lines
from fin_rag.structure.calls.titles import QA_TITLE
from fin_rag.structure.calls.vocabulary import fold
from fin_rag.structure.calls.zones import PARTICIPANTS

TURN_INDEX: Final = "turn_index"
EXCHANGE: Final = "exchange"
_PARTS: Final = {"prepared": "Prepared remarks", "qa": "Q&A"}
_LISTS: Final = {"participants": "Participants", "contents": "Contents", "notices": "Notices", "head": "Title"}
_ENDED: Final = re.compile(r"[.?!…\"”'’»)\]:;—–-][*_]*\s*$")
_LONGEST_TITLE: Final = 120


def outline_call(text: str, *, metadata: Mapping[str, object], markup: Markup | None = None) -> CallOutline:
    r"""Outline an earnings call: prepared remarks, questions and answers, one section a turn.

    Every section of a turn says in its metadata who speaks (``speaker``, ``speaker_type``, ``role``, ``firm``), in
    which part (``section``), at which place (``turn_index``, from 0) and in which ``exchange`` (from 1) as
    ``question`` or ``answer``. What the transcript does not state is absent. Nothing is ever raised: what is odd
    stands in ``warnings``; a transcript that names no speakers has no turns.

    Args:
        text: the canonical text.
        metadata: keys of the document; ``issuer`` and ``doc_type`` are read.
        markup: what the loader saw, if anything.

    Example:
        >>> text = "Operator: Our first question comes from Lia Baum with Orrin Bank.\nLia Baum: Is growth durable?\n"
        >>> outline = outline_call(text + "Ned Stone (CFO): Yes.", metadata={})
        >>> [(turn.speaker, turn.speaker_type, turn.firm, turn.exchange_part) for turn in outline.turns][1:]
        [('Lia Baum', 'analyst', 'Orrin Bank', 'question'), ('Ned Stone', 'company', '', 'answer')]
    """
    issuer = fold(str(metadata.get(ISSUER) or ""))
    reading = read_lines(text, markup, [issuer] if issuer else [])
    speakers = cast(reading.turns, reading.people)
    dialogue = Dialogue(reading.turns, speakers, text)
    placed = dialogue.place()
    turns = tuple(_turns(reading.turns, speakers, placed))
    root = str(metadata.get(DOC_TYPE) or "earnings_call")
    furniture = [*reading.furniture, *(span for span, _ in reading.titles)]
    for raw in reading.turns:
        furniture += raw.repeats
        if raw.header.start > raw.texts[0].start:
            furniture.append(raw.header)
    warnings = [*reading.warnings, *_warnings(text, turns, reading)]
    warnings += [
        f"the text seems to hold more than one call: another one begins at {turns[at].span.start}. Split it there."
        for at in dialogue.further_calls
    ]
    sections = _sections(turns, reading, root)
    return CallOutline(
        tuple(sections),
        tuple(warnings),
        united(furniture),
        turns,
        _participants(reading.people, turns),
    )


def call_title(metadata: Mapping[str, object]) -> str:
    """Return the short title of a call: ``Q3 2024 call``; empty where the year is not known.

    Example:
        >>> call_title({"fiscal_period": "Q3", "fiscal_year": 2024}), call_title({"fiscal_year": 2024})
        ('Q3 2024 call', '2024 call')
    """
    year = metadata.get(FISCAL_YEAR)
    if not isinstance(year, int):
        return ""
    period = metadata.get(FISCAL_PERIOD)
    return f"{period} {year} call" if isinstance(period, str) and period else f"{year} call"


def _turns(raws: Sequence[RawTurn], speakers: Sequence[Speaker], placed: Sequence[Placed]) -> list[Turn]:
    return [
        Turn(
            index=at,
            speaker=speaker.name,
            speaker_type=place.type,  # type: ignore[arg-type]  # one of the words of SpeakerType
            role="" if place.type == "operator" and fold(speaker.role) == fold(speaker.name) else speaker.role,
            firm=speaker.firm,
            section=place.part,  # type: ignore[arg-type]  # "prepared" or "qa"
            span=Span(raw.start, raw.end),
            header=raw.header,
            texts=tuple(raw.texts),
            exchange=place.exchange,
            exchange_part=place.exchange_part,
            call=raw.call,
        )
        for at, (raw, speaker, place) in enumerate(zip(raws, speakers, placed, strict=True))
    ]


# --- sections ---------------------------------------------------------------------------------------


def _sections(turns: Sequence[Turn], reading: Reading, root: str) -> list[Section]:
    sections: list[Section] = []
    names: dict[str, int] = {}

    def unique(name: str) -> str:
        names[name] = names.get(name, 0) + 1
        return name if names[name] == 1 else f"{name}-{names[name]}"

    for span, kind in reading.zones:
        section_id = unique(PARTICIPANTS if kind == PARTICIPANTS else kind)
        sections.append(Section(section_id, _LISTS[kind], (root, _LISTS[kind]), span))
    askers = {turn.exchange: turn for turn in reversed(turns) if turn.exchange_part == QUESTION}
    for run in _runs(turns, [span for span, _ in reading.zones]):
        first = turns[run[0]]
        part = _PARTS[first.section]
        heading = _title_above(first, reading, turns[run[0] - 1].span.end if run[0] else 0)
        start = heading.start if heading else first.span.start
        span = Span(start, turns[run[-1]].span.end)
        sections.append(Section(unique(first.section), part, (root, part), span, heading=heading))
        sections += [_section(turns[at], askers, (root, part)) for at in run]
    return sorted(sections, key=lambda s: (s.span.start, -s.span.end, s.level))


def _runs(turns: Sequence[Turn], zones: Sequence[Span]) -> list[list[int]]:
    """Gather consecutive turns of one part of one call that no list or notice stands between."""
    runs: list[list[int]] = []
    zone = 0
    for at, turn in enumerate(turns):
        parted = False
        while zone < len(zones) and zones[zone].start < turn.span.start:
            parted = parted or (at > 0 and zones[zone].start >= turns[at - 1].span.end)
            zone += 1
        last = turns[runs[-1][-1]] if runs else None
        if last is not None and last.section == turn.section and last.call == turn.call and not parted:
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _title_above(turn: Turn, reading: Reading, after: int) -> Span | None:
    wanted = QA_TITLE if turn.section == QA else "prepared"
    above = [s for s, kind in reading.titles if kind == wanted and after <= s.start < turn.span.start]
    between = [s for s, _ in reading.zones if above and above[-1].start < s.start < turn.span.start]
    return above[-1] if above and not between else None


def _section(turn: Turn, askers: Mapping[int, Turn], path: tuple[str, ...]) -> Section:
    title = _turn_title(turn, askers)
    metadata: dict[str, MetadataValue] = {
        "speaker": turn.speaker,
        "speaker_type": turn.speaker_type,
        "role": turn.role,
        "firm": turn.firm,
        "section": turn.section,
        TURN_INDEX: turn.index,
        "exchange_part": turn.exchange_part,
    }
    metadata = {key: value for key, value in metadata.items() if value != ""}
    if turn.exchange:
        metadata[EXCHANGE] = turn.exchange
    heading = turn.header if turn.header.start == turn.span.start else None
    return Section(f"turn-{turn.index}", title, (*path, title), turn.span, 2, heading, metadata)


def _turn_title(turn: Turn, askers: Mapping[int, Turn]) -> str:
    """Return how a turn is named in paths: speaker with role or firm, and whom he answers."""
    title = _named(turn)
    asker = askers.get(turn.exchange)
    if turn.exchange and turn.exchange_part != QUESTION and asker is not None:
        answered = _named(asker)
        if len(title) + len(answered) <= _LONGEST_TITLE:
            title = f"{title}, answering {answered}"
    return title


def _named(turn: Turn) -> str:
    known = turn.firm or turn.role if turn.speaker_type == ANALYST else turn.role
    if turn.speaker_type == "operator":
        known = ""
    speaker = turn.speaker or {ANALYST: "Analyst", COMPANY: "Company"}.get(turn.speaker_type, "Speaker")
    return f"{speaker} ({known})" if known and fold(known) != fold(speaker) else speaker


# --- people and warnings ----------------------------------------------------------------------------


def _participants(people: Sequence[Participant], turns: Sequence[Turn]) -> tuple[Participant, ...]:
    """Return those whom the lists name, completed by what the turns say, then the other speakers."""
    found = {name_key(person.name): person for person in reversed(people)}
    found = dict(reversed(found.items()))
    for turn in turns:
        if turn.speaker_type not in (ANALYST, COMPANY) or name_kind(turn.speaker) not in ("person", "single"):
            continue
        side = "company" if turn.speaker_type == COMPANY else "external"
        key = name_key(turn.speaker)
        old = found.get(key, Participant(turn.speaker))
        found[key] = replace(old, role=old.role or turn.role, firm=old.firm or turn.firm, side=old.side or side)
    return tuple(found.values())


def _warnings(text: str, turns: Sequence[Turn], reading: Reading) -> list[str]:
    if not text.strip():
        return []
    if not turns:
        return ["no speakers are named: the text has no turns, and none were made up"]
    found = []
    last = turns[-1].texts[-1]
    tail = text[max(last.start, last.end - 40) : last.end]
    if not _ENDED.search(tail):
        found.append(f"the text breaks off in the middle of a sentence, at {last.end}")
    if not any(turn.section == QA for turn in turns) and not any(kind == QA_TITLE for _, kind in reading.titles):
        found.append("no questions and answers were found")
    return found


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans in order, those that touch or overlap made one.

    Example:
        >>> united([Span(4, 6), Span(0, 2), Span(2, 3)])
        (Span(start=0, end=3), Span(start=4, end=6))
    """
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return tuple(merged)
