"""Firms that a transcript prints behind several people: "Chief Executive Officer, Granite Foods" and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fin_rag.structure.calls.affiliation import DASH, is_department, is_role
from fin_rag.structure.calls.lines import CallLine
from fin_rag.structure.calls.names import name_kind
from fin_rag.structure.calls.vocabulary import fold

_COMMA: Final = re.compile(r",\s+")
_GAP: Final = re.compile(r"[ \u00a0]{2,}|\t+")
_LEAST: Final = 5  # letters: shorter tails are names of departments as often as not
_NAME_WORDS: Final = (2, 3, 4)


def shared_firms(lines: Sequence[CallLine], furniture: set[int]) -> frozenset[str]:
    r"""Return the folded words that stand behind at least two offices or names, and behind half of all such.

    Example:
        >>> from fin_rag.structure.calls.lines import call_lines
        >>> shared_firms(call_lines("CEO, Granite Foods\nAnn Lee\nTreasurer, Granite Foods\nHead, Tax"), set())
        frozenset({'granite foods'})
    """
    offices: dict[str, set[str]] = {}
    people: dict[str, set[str]] = {}
    seen: set[str] = set()
    for at, line in enumerate(lines):
        if at in furniture or not line.short or line.ends_sentence or len(line.bare) > 160:
            continue
        for cell in _GAP.split(line.raw) if "  " in line.raw else (line.bare,):
            for head, tail in _behind_offices(cell):
                offices.setdefault(tail, set()).add(head)
                seen.add(head)
            for name, firm in _behind_names(cell):
                people.setdefault(firm, set()).add(name)
    found = {tail for tail, heads in offices.items() if len(heads) > 1 and 2 * len(heads) >= len(seen)}
    return frozenset(found | {firm for firm, names in people.items() if len(names) > 1})


def _behind_offices(cell: str) -> Iterator[tuple[str, str]]:
    """Yield office and what follows it, folded: ``Vice President, Tax, Granite Foods``."""
    segments = _COMMA.split(cell)
    if len(segments) < 2 or not is_role(segments[0]) or DASH.search(cell):
        return
    for cut in range(1, len(segments)):
        if not is_role(segments[cut]) and not is_department(segments[cut]):
            tail = fold(", ".join(segments[cut:]))
            if len(tail) >= _LEAST:
                yield fold(", ".join(segments[:cut])), tail
            return


def _behind_names(cell: str) -> Iterator[tuple[str, str]]:
    """Yield name and firm, folded, of a line that glues them: ``Abel Osei Vance Chemical - President``."""
    dash = DASH.search(cell)
    if dash is None or not is_role(cell[dash.end() :]):
        return
    tokens = cell[: dash.start()].split()
    for count in _NAME_WORDS:
        firm = fold(" ".join(tokens[count:]))
        if len(tokens) - count > 1 and len(firm) >= _LEAST and name_kind(" ".join(tokens[:count])) == "person":
            yield fold(" ".join(tokens[:count])), firm
