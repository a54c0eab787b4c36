"""What an Item says of itself: present, incorporated, reserved, omitted, not applicable, or elsewhere."""

from __future__ import annotations

import re

from fin_rag.structure.filings.forms import vocabulary

_SHORT, _BRIEF = 1500, 400


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
    if (_has(first[:60], states["reserved"]) and len(first) < 60) or (
        not first and _has(heading, states["reserved"])
    ):
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


def _has(text: str, phrases: tuple[str, ...]) -> bool:
    return any(phrase in text for phrase in phrases)
