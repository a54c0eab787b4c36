"""Memos: lines that name, at their end and with a time, who said what they report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fin_rag.structure.calls.headers import LIKELY, Header
from fin_rag.structure.calls.labels import parse_label
from fin_rag.structure.calls.lines import CallLine

_SAID_BY: Final = re.compile(r"\[\(\d{1,2}:\d\d(?::\d\d)?\)\s*(?P<who>[^\[\]]{2,80})\]\s*$")


def memo_headers(text: str, lines: Sequence[CallLine], closed: set[int]) -> dict[int, Header]:
    """Return a header for each line that ends in ``[(time) Name]``; the mark itself is its speaker line.

    Only for texts without any other speaker line; one such line is a note, two or more are a memo.
    """
    found: dict[int, Header] = {}
    for at, line in enumerate(lines):
        if at in closed:
            continue
        low = max(line.start, line.end - 120)
        match = _SAID_BY.search(text, low, line.end)
        label = parse_label(match["who"]) if match else None
        if match and label is not None and label.kind != "letter":
            found[at] = Header(
                at, at, match.start(), line.end, inline=True, family="memo", label=label, strength=LIKELY
            )
    return found if len(found) > 1 else {}
