"""Which act a place names: numbered, defined, taken up again, or the citing act itself."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.loaders.act_title import NUMBERED, clean_act
from fin_rag.structure.regulation.acts import (
    BACK,
    BARE,
    NAMED,
    OWN,
    US_ACT,
    Acts,
    act_class,
)

_SENTENCE: Final = 600
_STOP: Final = re.compile(r"[.;][ \n]+(?=[A-ZÁÉÍÓÚÑ«(0-9])|\n[ ]*\n")
# A text that another act approved: *texto refundido de la Ley de Aguas, aprobado por Real Decreto Legislativo 1/2001*.
_APPROVED: Final = re.compile(r"[^.;:\n]{0,90}?,?[ ](?:que[ ]fue[ ])?aprobad[oa][ ]por[ ](?:(?:el|la)[ ])?")
_DERIVED: Final = re.compile(
    r"(?:sus?|its)[ ](?:propi[oa][ ]|implementing[ ])?(?:reglamentos?|regulations?|estatutos?)(?:[ ]de[ ](?:desarrollo"
    r"|ejecuci[óo]n))?(?!\w)",
    re.IGNORECASE,
)
_BYLAW: Final = re.compile(
    r"reglamentos?(?:[ ]de[ ](?:desarrollo|ejecuci[óo]n|aplicaci[óo]n))?[ ]de[ ](?:esta|la[ ]presente|la[ ]citada"
    r"|dicha)[ ](?:ley|norma)(?!\w)"
)
_ACT_WORDS: Final = re.compile(
    r"(?<!\w)(?=(?:Ley|Real[ ]Decreto|Decreto|Orden|Circular|Reglamento|Directiva|Decisi[óo]n|C[óo]digo"
    r"|Constituci|Estatuto|Tratado|Treaty|TFEU|TEU|TFUE|TUE|Regulation|Directive|Decision|Commission|Council)"
    r"(?!\w)"
    r"|(?:dich|citad|mencionad|referid|es[ae]|aquel|that|the[ ]said|est[ea]|presente|this)\w{0,2}[ ])"
)


def named_before(view: str, at: int, acts: Acts) -> str:
    """Return the act that the sentence before an offset names last; nothing if it is the citing act itself."""
    start = max(0, at - _SENTENCE)
    for stop in _STOP.finditer(view, start, at):
        start = stop.end()
    found, end = "", start
    for match in _ACT_WORDS.finditer(view, start, at):
        named = name_at(view, match.start(), at, acts) if match.start() >= end else None
        if named is not None:
            found, end = ("" if named[2] else named[0]), named[1]
    return found


def name_at(view: str, at: int, limit: int, acts: Acts) -> tuple[str, int, bool] | None:
    """Read the name of an act at an offset: name, where it ends, and whether it is the citing act itself."""
    found = _name_at(view, at, limit, acts)
    if found is None or found[2]:
        return found
    approved = _APPROVED.match(view, found[1], limit)
    numbered = NUMBERED.match(view, approved.end(), limit) if approved else None
    if numbered is None or NUMBERED.search(found[0]):
        return found
    name = clean_act(view[at : numbered.end()])
    return name, numbered.end(), acts.is_own(name)


def _name_at(view: str, at: int, limit: int, acts: Acts) -> tuple[str, int, bool] | None:
    own = OWN.match(view, at, limit)
    if own:
        return "", own.end(), True
    derived = _DERIVED.match(view, at, limit) or _BYLAW.match(view, at, limit)
    if derived:
        return derived.group(), derived.end(), False
    back = BACK.match(view, at, limit)
    if back:
        name = acts.last.get(act_class(back["type"])) or acts.latest or back.group()
        return name, back.end(), acts.is_own(name)
    numbered = NUMBERED.match(view, at, limit)
    if numbered:
        name = clean_act(numbered.group())
        return name, numbered.end(), acts.is_own(name)
    short = acts.short_at(view, at)
    if short:
        return short[0], short[1], acts.is_own(short[0])
    american = US_ACT.match(view, at, limit)
    if american:
        return american.group(), american.end(), False
    named = NAMED.match(view, at, limit)
    if named and not BARE.fullmatch(named.group()):
        name = clean_act(named.group())
        return name, named.end(), acts.is_own(name)
    return _bare(view, at, limit, acts)


def _bare(view: str, at: int, limit: int, acts: Acts) -> tuple[str, int, bool] | None:
    """Read ``the Directive``, ``la Ley``: the citing act if it is of that sort, else the last one of that sort."""
    bare = BARE.match(view, at, limit)
    if not bare:
        return None
    sort = act_class(bare.group())
    name = acts.last.get(sort, "")
    if sort == acts.own.sort or (not name and not acts.own.sort):
        return "", bare.end(), True
    return name or bare.group(), bare.end(), False
