"""Tell the amount of a change ("rose by 5 %") from a level ("rose to 5")."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.answers.sentences import Mention
from fin_rag.answers.vocabulary import phrases

_NEAR: Final = 28
_CHANGE_BEFORE: Final = re.compile(
    r"\b(?:by|of|un|una|en un|en|del|de|by about|a|an)\s*(?:about|approximately|around|roughly|nearly|almost|over|"
    r"more than|casi|más de|cerca de)?\s*(?:un)?\s*$",
    re.IGNORECASE,
)
_LEVEL_BEFORE: Final = re.compile(
    r"\b(?:to|at|from|reached|hasta|a|was|were|desde|los|las|de|be|is)\s*(?:about|approximately|around|roughly|"
    r"nearly|almost|over|more than|casi|los|las|unos|the)?\s*$",
    re.IGNORECASE,
)
_AMOUNT_OF: Final = re.compile(
    r"\b(?:by|un|en un|up|down)\s*$"
    r"|(?:increase|decrease|growth|decline|drop|rise|aumento|incremento|crecimiento|descenso|caída|disminución|reducción|"
    r"subida|bajada|mejora)\s+(?:\w+\s+){0,3}(?:of|de|del)\s*(?:un\s*)?$",
    re.IGNORECASE,
)
_CHANGE_AFTER: Final = re.compile(
    r"\s*(?:increase|decrease|decline|rise|drop|growth|higher|lower|more|less|más|menos|superior|inferior|de aumento)",
    re.IGNORECASE,
)
_MOVED_BEFORE: Final = re.compile(
    r"\b(?:up|down|rose|fell|grew|declined|increased|decreased|dropped|creció|cayó|aumentó|subió|bajó|descendió)\s*"
    r"(?:un\s*)?$",
    re.IGNORECASE,
)


def is_change(mention: Mention, direction: int) -> bool:
    """Tell whether a figure is the amount of a change."""
    if mention.number.unit in ("pp", "bp"):
        return True
    if not direction and not phrases("change").search(mention.before[-60:] + " " + mention.after[:40]):
        return False
    spoken = mention.run or mention.before  # "rose 5 % ($3 million)": both are amounts of the change
    tail = spoken[-_NEAR:]
    if _LEVEL_BEFORE.search(tail) and not _AMOUNT_OF.search(spoken[-60:]):
        return False
    near = _CHANGE_BEFORE.search(tail) or _CHANGE_AFTER.match(mention.after) or _MOVED_BEFORE.search(tail)
    return mention.number.unit == "%" or bool(near)
