"""A call as a table: who takes part, who says what, in which exchange."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from fin_rag.structure.calls import CallOutline, Turn

_WIDEST = 40  # characters of a speaker's name with role or firm
_EXCERPT = 48


def turn_table(outline: CallOutline, text: str) -> Iterator[str]:
    """Yield the lines of a table of turns, parted by section and exchange, below the participants."""
    for person in outline.participants:
        said = ", ".join(part for part in (person.role, person.firm) if part)
        yield f"{person.side or 'listed':9} {person.name}{f' ({said})' if said else ''}"
    if outline.participants:
        yield ""
    width = min(max(len(_shown(turn)) for turn in outline.turns), _WIDEST)
    yield f"{'turn':>4}  {'part':8}  {'exchange':11}  {'speaker':{width}}  {'words':>5}  says"
    for turn in outline.turns:
        exchange = f"{turn.exchange:2} {turn.exchange_part}" if turn.exchange else f"   {_aside(turn)}"
        said = turn.text(text)
        yield (
            f"{turn.index:4}  {turn.section:8}  {exchange:11}  {_cut(_shown(turn), width):{width}}  "
            f"{len(said.split()):5}  {_cut(' '.join(said.split()), _EXCERPT)}"
        )


def turn_records(outline: CallOutline) -> dict[str, object]:
    """Return turns and participants as plain values for JSON; offsets index the canonical text."""
    turns = [
        {
            "turn_index": turn.index,
            "section": turn.section,
            "speaker": turn.speaker,
            "speaker_type": turn.speaker_type,
            "role": turn.role,
            "firm": turn.firm,
            "exchange": turn.exchange or None,
            "exchange_part": turn.exchange_part or None,
            "spans": [[span.start, span.end] for span in turn.texts],
        }
        for turn in outline.turns
    ]
    return {"turns": turns, "participants": [asdict(person) for person in outline.participants]}


def _shown(turn: Turn) -> str:
    known = turn.firm or turn.role if turn.speaker_type == "analyst" else turn.role or turn.firm
    name = turn.speaker or f"[{turn.speaker_type}]"
    return f"{name} ({known})" if known else name


def _aside(turn: Turn) -> str:
    return turn.speaker_type if turn.speaker_type in ("operator", "other", "unknown") else ""


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"
