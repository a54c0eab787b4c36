"""Who the speakers are: one person under all spellings, with role and firm as the transcript states them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from fin_rag.structure.calls.affiliation import is_analyst_role, is_role
from fin_rag.structure.calls.directory import Directory
from fin_rag.structure.calls.model import ANALYST, COMPANY, OPERATOR, OTHER, UNKNOWN, Participant
from fin_rag.structure.calls.names import name_key, same_person
from fin_rag.structure.calls.reading import RawTurn
from fin_rag.structure.calls.vocabulary import fold, words

_MOST_ALIKE = 24


@dataclass(slots=True)
class Speaker:
    """Hold one speaker: how the transcript writes the name, and what it says of the person."""

    kind: str
    names: Counter[str] = field(default_factory=Counter)
    listed: Participant | None = None
    role: str = ""
    firm: str = ""
    tag: str = ""
    type: str = ""

    @property
    def name(self) -> str:
        """Return the name as the transcript writes it most often; a listed spelling wins."""
        if not self.names:
            return ""
        listed = fold(self.listed.name) if self.listed else ""
        return min(self.names, key=lambda n: (fold(n) != listed, -self.names[n], list(self.names).index(n)))


def cast(turns: Sequence[RawTurn], people: Sequence[Participant]) -> list[Speaker]:
    """Return the speaker of each turn; turns of one person share one object."""
    directory = Directory(people)
    known: dict[str, Speaker] = {}
    by_word: dict[str, list[Speaker]] = {}
    speakers: list[Speaker] = []
    for turn in turns:
        label = turn.label
        speaker = known.get(label.key)
        if speaker is None:
            listed = directory.find(label.name) if label.kind in ("person", "single") else None
            speaker = _alike(label.name, listed, by_word) if label.kind in ("person", "single") else None
            if speaker is None:
                speaker = Speaker(label.kind, listed=listed)
                for word in set(name_key(label.name)):
                    alike = by_word.setdefault(word, [])
                    if len(alike) < _MOST_ALIKE:
                        alike.append(speaker)
            known[label.key] = speaker
        if label.name and label.name[0] not in "[(<":  # a gap in the recording is nobody's name
            speaker.names[label.name] += 1
        speaker.role = speaker.role or label.role
        speaker.firm = speaker.firm or label.firm
        speaker.tag = speaker.tag or label.tag
        speakers.append(speaker)
    for speaker in {id(speaker): speaker for speaker in speakers}.values():
        _complete(speaker)
    return speakers


def _alike(name: str, listed: Participant | None, by_word: dict[str, list[Speaker]]) -> Speaker | None:
    """Return the speaker whom another spelling of ``name`` has named already."""
    key = name_key(name)
    if not key:
        return None
    near = {id(s): s for word in (key[0], key[-1]) for s in by_word.get(word, ())}
    fitting = []
    for speaker in near.values():
        if listed is not None and speaker.listed is not None:
            same = speaker.listed is listed
        else:
            same = any(same_person(name, other) for other in speaker.names) or len(key) == 1
        if same:
            fitting.append(speaker)
    return fitting[0] if len(fitting) == 1 else None


def _complete(speaker: Speaker) -> None:
    """Take from the list what the speaker lines do not say, and settle the type where words state it."""
    listed = speaker.listed
    if listed is not None:
        # A list that gives somebody a firm only is right about the firm, and the other way round.
        speaker.role = speaker.role or listed.role
        speaker.firm = speaker.firm or listed.firm
    speaker.type = _stated_type(speaker)


def _stated_type(speaker: Speaker) -> str:
    if speaker.kind == "operator" or fold(speaker.role) in words("operators") or speaker.tag == OPERATOR:
        return OPERATOR
    if speaker.kind == "editor":
        return OTHER
    if speaker.tag in (COMPANY, ANALYST, UNKNOWN):
        return speaker.tag
    if is_analyst_role(speaker.role):
        return ANALYST
    if speaker.kind in (ANALYST, COMPANY):
        return speaker.kind
    if speaker.listed is not None and speaker.listed.side:
        return COMPANY if speaker.listed.side == COMPANY else ANALYST
    if speaker.kind in ("unknown", "code"):
        return COMPANY if is_role(speaker.role) else UNKNOWN
    return COMPANY if is_role(speaker.role) and not speaker.firm else ""
