"""The course of a call: where the questions begin, who asks, which answer belongs to which question."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.structure.calls.affiliation import is_analyst_role, is_firm
from fin_rag.structure.calls.announce import announced
from fin_rag.structure.calls.cast import Speaker
from fin_rag.structure.calls.cues import said
from fin_rag.structure.calls.model import (
    ANALYST,
    ANSWER,
    COMPANY,
    OPERATOR,
    OTHER,
    PREPARED,
    QA,
    QUESTION,
    UNKNOWN,
)
from fin_rag.structure.calls.reading import RawTurn
from fin_rag.structure.calls.vocabulary import fold

# Whoever only gives the word says little; a longer speech answers something as well.
_SHORT_HOSTING: Final = 60
_SENTENCE: Final = re.compile(r"(?<=[.?!])\s+(?=[^\W\d_a-z]|\[)")
_QUESTION_WORDS: Final = ("question", "pregunta", "q a", "coloquio")


@dataclass(slots=True)
class Placed:
    """Hold what the course of the call says of one turn."""

    part: str = ""
    type: str = ""
    exchange: int = 0
    exchange_part: str = ""


class Dialogue:
    """Work out part, speaker type and exchange of every turn."""

    def __init__(self, turns: Sequence[RawTurn], speakers: Sequence[Speaker], text: str) -> None:
        self._turns = turns
        self._speakers = speakers
        self._said = ["\n".join(text[s.start : s.end] for s in turn.texts) for turn in turns]
        self._placed = [Placed(part=turn.part) for turn in turns]
        # Where nobody is named, numbers are all that tells people apart; what they do tells who they are.
        self._numbered = all(speaker.kind == "code" for speaker in speakers)
        self._has_operator = any(speaker.type == OPERATOR for speaker in speakers)

    def place(self) -> list[Placed]:
        """Return the place of every turn."""
        calls: dict[int, list[int]] = {}
        for at, turn in enumerate(self._turns):
            calls.setdefault(turn.call, []).append(at)
        exchange = 0
        for members in calls.values():
            for part in self._again(members):
                self._part_call(part)
                self._type_call(part)
                exchange = self._exchanges(part, exchange)
        return self._placed

    # --- parts ------------------------------------------------------------------------------------

    def _again(self, members: Sequence[int]) -> list[list[int]]:
        """Part turns where an operator says goodbye and then welcomes to another call."""
        parts: list[list[int]] = [[]]
        closed = False
        for at in members:
            if self._speakers[at].type == OPERATOR and len(parts[-1]) > 2:
                if closed and said(self._said[at], "welcome") and not said(self._said[at], "last"):
                    parts.append([])
                    closed = False
                closed = closed or said(self._said[at], "farewell")
            parts[-1].append(at)
        return parts

    @property
    def further_calls(self) -> list[int]:
        """Return the turns with which further calls begin though no title says so."""
        calls: dict[int, list[int]] = {}
        for at, turn in enumerate(self._turns):
            calls.setdefault(turn.call, []).append(at)
        return [part[0] for members in calls.values() for part in self._again(members)[1:]]

    def _part_call(self, members: Sequence[int]) -> None:
        if any(self._placed[at].part == QA for at in members):
            opened = False
            for at in members:
                opened = opened or self._placed[at].part == QA
                self._placed[at].part = self._placed[at].part or (QA if opened else PREPARED)
            return
        start = self._qa_start(members)
        for place, at in enumerate(members):
            self._placed[at].part = QA if place >= start else PREPARED

    def _qa_start(self, members: Sequence[int]) -> int:
        """Return the place of the first turn of the questions, where no title says it."""
        spoken: set[int] = set()
        for place, at in enumerate(members):
            speaker = self._speakers[at]
            following = members[place + 1] if place + 1 < len(members) else -1
            if speaker.type == OPERATOR:
                if self._opens(at, following, spoken) if spoken else self._opens_at_once(at, following):
                    return place
                continue
            if speaker.type == ANALYST and self._asks(at, members[place - 1] if place else -1, spoken=bool(spoken)):
                before = members[place - 1] if place else -1
                given = before >= 0 and (self._speakers[before].type == OPERATOR or self._gives_word(before, at))
                return place - 1 if given and place > 1 else place
            new = following >= 0 and bool(spoken) and id(self._speakers[following]) not in spoken
            if new and self._hands_to_asker(at, following):
                return place
            spoken.add(id(speaker))
        return len(members)

    def _opens(self, at: int, following: int, spoken: set[int]) -> bool:
        text = self._said[at]
        if said(text, "opens"):
            return True
        if not said(text, "announces"):
            return False
        asked = any(word in fold(text) for word in _QUESTION_WORDS)
        next_up = self._speakers[following] if following >= 0 else None
        return asked or (next_up is not None and next_up.type == ANALYST and id(next_up) not in spoken)

    def _opens_at_once(self, at: int, following: int) -> bool:
        """Tell whether a call begins with its questions."""
        if self._calls_question(at, following):
            return True
        return following >= 0 and self._speakers[following].type == ANALYST and said(self._said[at], "opens")

    def _hands_to_asker(self, at: int, following: int) -> bool:
        """Tell whether a speaker gives the word to somebody new so that he may ask."""
        if self._gives_word(at, following):
            asked = any(word in fold(self._said[at][-600:]) for word in _QUESTION_WORDS)
            return asked or not self._has_operator
        # Whoever goes by a number only cannot be called by name.
        return self._speakers[following].kind == "code" and said(self._said[at], "opens")

    def _calls_question(self, at: int, following: int) -> bool:
        """Tell whether one sentence speaks of a question and names the next speaker."""
        if following < 0:
            return False
        asked = (s for s in _SENTENCE.split(self._said[at]) if any(word in fold(s) for word in _QUESTION_WORDS))
        return any(announced(sentence, name).named for sentence in asked for name in self._speakers[following].names)

    def _asks(self, at: int, before: int, *, spoken: bool) -> bool:
        speaker = self._speakers[at]
        stated = is_analyst_role(speaker.role) or speaker.tag == ANALYST or speaker.kind == ANALYST
        if not spoken:
            return stated and ("?" in self._said[at] or before < 0)
        if stated or "?" in self._said[at]:
            return True
        return before >= 0 and said(self._said[before], "announces")

    def _gives_word(self, at: int, following: int) -> bool:
        """Tell whether the speaker of a turn names the next one as somebody who asks."""
        text = self._said[at]
        names = self._speakers[following].names
        return said(text[-800:], "announces") and any(announced(text[-800:], name).named for name in names)

    # --- types ------------------------------------------------------------------------------------

    def _type_call(self, members: Sequence[int]) -> None:
        prepared = {id(self._speakers[at]) for at in members if self._placed[at].part == PREPARED}
        own_firms = {fold(self._speakers[at].firm) for at in members if id(self._speakers[at]) in prepared} - {""}
        self._tell_roles(prepared)
        types: dict[int, str] = {}
        asking = False
        for place, at in enumerate(members):
            speaker = self._speakers[at]
            before = members[place - 1] if place else -1
            if id(speaker) not in types:
                stated = "" if self._numbered and speaker.type == UNKNOWN else speaker.type
                types[id(speaker)] = stated or self._behaves(at, before, prepared, own_firms, asking=asking)
                self._hear(at, before, types[id(speaker)])
            kind = types[id(speaker)]
            if kind == ANALYST and self._placed[at].part == PREPARED:
                kind = OTHER  # a host from outside who opens the call asks nothing
            self._placed[at].type = kind
            asking = kind == ANALYST or (asking and kind != OPERATOR)

    def _tell_roles(self, prepared: set[int]) -> None:
        """Take what stands alone behind the name of a company's own speaker for a role unless it names a firm."""
        everybody = {id(speaker): speaker for speaker in self._speakers}
        shared = Counter(speaker.firm for speaker in everybody.values())
        for key in prepared:
            speaker = everybody[key]
            alone = speaker.firm and not speaker.role and speaker.listed is None and shared[speaker.firm] == 1
            if alone and not is_firm(speaker.firm):
                speaker.role, speaker.firm = speaker.firm, ""

    def _behaves(self, at: int, before: int, prepared: set[int], own: set[str], *, asking: bool) -> str:
        """Tell a speaker's type from what happens round the first turn."""
        speaker = self._speakers[at]
        if id(speaker) in prepared:
            return COMPANY
        if speaker.firm and fold(speaker.firm) not in own:
            return ANALYST
        if speaker.role:
            return COMPANY
        if before >= 0 and self._speakers[before].type == OPERATOR:
            back = said(self._said[before], "last") and not said(self._said[before], "announces")
            return COMPANY if back else ANALYST
        if before >= 0 and self._gives_word(before, at):
            return ANALYST
        return ANALYST if not asking and "?" in self._said[at] else COMPANY

    def _hear(self, at: int, before: int, kind: str) -> None:
        """Take role or firm from the announcement, where neither speaker line nor list states them."""
        speaker = self._speakers[at]
        if before < 0 or kind not in (ANALYST, COMPANY) or speaker.kind not in ("person", "single"):
            return
        by_operator = self._speakers[before].type == OPERATOR
        if not by_operator and (kind == COMPANY or not self._gives_word(before, at)):
            return
        for name in speaker.names:
            heard = announced(self._said[before], name)
            if kind == ANALYST:
                speaker.firm = speaker.firm or heard.firm
            else:
                speaker.role = speaker.role or heard.role

    # --- exchanges --------------------------------------------------------------------------------

    def _exchanges(self, members: Sequence[int], last: int) -> int:
        """Give the exchanges numbers above ``last`` and return the last one used."""
        current, asker, closed, called = 0, -1, False, False
        for place, at in enumerate(members):
            placed = self._placed[at]
            if placed.part != QA:
                continue
            following = members[place + 1] if place + 1 < len(members) else -1
            if placed.type == OPERATOR:
                called = said(self._said[at], "announces")
                closed = said(self._said[at], "last") and not called
            elif placed.type == ANALYST:
                # Several people may ask under no name: who is called up opens an exchange.
                another = called and self._speakers[at].kind not in ("person", "single", "code")
                if id(self._speakers[at]) != asker or not current or another:
                    last += 1
                    current, asker = last, id(self._speakers[at])
                closed = called = False
                placed.exchange, placed.exchange_part = current, QUESTION
            elif placed.type in (COMPANY, UNKNOWN) and current and not closed:
                if placed.type == COMPANY and self._only_hosts(at, following, asker):
                    continue
                placed.exchange, placed.exchange_part = current, ANSWER
        return last

    def _only_hosts(self, at: int, following: int, asker: int) -> bool:
        if following < 0 or self._placed[following].type != ANALYST or id(self._speakers[following]) == asker:
            return False
        return len(self._said[at].split()) <= _SHORT_HOSTING and self._gives_word(at, following)
