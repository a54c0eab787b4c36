"""What an Item says of itself: present, incorporated, reserved, omitted, not applicable, or elsewhere."""

from __future__ import annotations

import re

from fin_rag.structure.filings.forms import vocabulary

_REFERENCE = re.compile(
    r"\bItems?\s\d{1,2}[A-K]?\b|\bNotes?\s\d{1,2}\b"
    r"|\bpages?\s(?:[A-Z]{1,2}-)?\d{1,3}(?:\s?(?:-|–|to|through)\s?(?:[A-Z]{1,2}\s?-)?\d{1,3})?"
    r"|\bExhibits?\s\d{1,2}(?:\.\d{1,2})?|\b(?:[Dd]efinitive )?[Pp]roxy [Ss]tatement\b|\bSchedule 14A\b"
    r"|\bAnnual Report to (?:Share|Stock)holders\b|\bFinancial Section\b"
)
# The text of an Item in one of these states stands somewhere else.
ELSEWHERE = frozenset({"cross_reference", "incorporated_by_reference"})
_SHORT, _BRIEF, _MOST_REFERENCES = 1500, 400, 12


def state_of(title: str, body: str, *, size: int) -> str:
    """Return the state of an Item from its title and the beginning of its body.

    Args:
        title: the printed title.
        body: the body, or its first few thousand code points.
        size: length of the whole body in code points.

    Example:
        >>> state_of("[Reserved]", "", size=0), state_of("Properties", "Not applicable.", size=15)
        ('reserved', 'not_applicable')
    """
    states = vocabulary().states
    plain = re.sub(r"\s+", " ", body[:_SHORT]).strip().lower()
    first = plain.strip(" .*_[]()|#-–—")
    heading = title.lower()
    if (_has(first[:60], states["reserved"]) and len(first) < 60) or (not first and _has(heading, states["reserved"])):
        return "reserved"
    if not first:
        return "present" if not _has(heading, states["omitted"]) else "omitted"
    if size <= _BRIEF and _has(first[:120], states["not_applicable"]):
        return "not_applicable"
    if size <= _SHORT and _has(plain, states["incorporated"]):
        return "incorporated_by_reference"
    if size <= _BRIEF and _has(first, states["omitted"]):
        return "omitted"
    if size <= _BRIEF and _has(plain, states["cross_reference"]):
        return "cross_reference"
    return "present"


def references_of(body: str) -> list[str]:
    """Return where a short body sends its reader, as printed, in order.

    Example:
        >>> references_of("See Note 16 in Item 8 and our Proxy Statement; statements begin on page F-1.")
        ['Note 16', 'Item 8', 'Proxy Statement', 'page F-1']
    """
    found = (re.sub(r"\s+", " ", m.group()) for m in _REFERENCE.finditer(body[:_SHORT]))
    return list(dict.fromkeys(found))[:_MOST_REFERENCES]


def _has(text: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in text for phrase in phrases)
