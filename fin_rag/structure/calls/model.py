"""What a call consists of: participants, turns, and the outline that carries them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from fin_rag.schema import Outline, Span

SpeakerType = Literal["operator", "company", "analyst", "other", "unknown"]
Part = Literal["prepared", "qa"]

OPERATOR: Final = "operator"
COMPANY: Final = "company"
ANALYST: Final = "analyst"
OTHER: Final = "other"
UNKNOWN: Final = "unknown"
PREPARED: Final = "prepared"
QA: Final = "qa"
QUESTION: Final = "question"
ANSWER: Final = "answer"


@dataclass(frozen=True, slots=True)
class Participant:
    """Name somebody whom a transcript lists as taking part.

    ``side`` is ``company``, ``external``, or empty where the list does not say.
    """

    name: str
    role: str = ""
    firm: str = ""
    side: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """Hold all that one person says until somebody else speaks.

    ``span`` reaches from the speaker line to the last word; ``header`` is the speaker line and ``texts`` are
    the spans of what was said, without speaker lines and page furniture. ``speaker`` is empty where the
    transcript does not name anybody; ``role`` and ``firm`` are empty unless the transcript states them.
    ``exchange`` counts from 1; it is 0 outside the questions and answers. ``call`` is the index of the call
    for texts that hold several.
    """

    index: int
    speaker: str
    speaker_type: SpeakerType
    role: str
    firm: str
    section: Part
    span: Span
    header: Span
    texts: tuple[Span, ...]
    exchange: int = 0
    exchange_part: str = ""
    call: int = 0

    def text(self, canonical: str) -> str:
        """Return what was said, the parts around page furniture joined by a line break."""
        return "\n".join(span.slice(canonical) for span in self.texts)


@dataclass(frozen=True, slots=True)
class CallOutline(Outline):
    """Hold the sections of a call together with its turns and participants.

    ``furniture`` holds, besides page furniture, the titles of the parts and the speaker lines that only repeat
    who is speaking, so that the text from the first turn to the last without furniture is the turns in order.
    """

    turns: tuple[Turn, ...] = ()
    participants: tuple[Participant, ...] = ()
