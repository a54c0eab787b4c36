"""Chooses, among all possible headings, the chain of real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fin_rag.structure.filings.candidates import Candidate
from fin_rag.structure.filings.forms import Form

_INSERT_SCORE, _INSERT_LIKENESS = 6.0, 0.6
_BLOCKING = frozenset({"contents", "glued", "sentence", "comma", "quoted", "continued", "paged", "row", "linked"})
_SAME_HEADING, _LIMIT = 3.5, 4000


@dataclass(frozen=True, slots=True)
class Pick:
    """Hold a chosen heading, the Part it was read in, the ids it opens and how much spoke for it."""

    candidate: Candidate
    part: str
    keys: tuple[str, ...]
    score: float

    @property
    def confidence(self) -> float:
        """Return the score as a figure from 0.05 to 0.99."""
        return round(min(0.99, max(0.05, 0.5 + self.score / 20)), 2)


def choose(found: Sequence[Candidate], form: Form) -> list[Pick]:
    """Return the chosen headings in document order.

    Where Items rise through a form, the chain is the ascending sequence of ids with the highest sum of
    scores; Items that stand out of order join afterwards if they are beyond doubt. On Form 8-K, where
    order is free, each id keeps its best heading.
    """
    picks = [p for c in found for p in _readings(c, form) if p.score > 0]
    if len(picks) > _LIMIT:
        picks = _strongest(picks)
    if not form.ordered:
        return _best_per_key(picks)
    return _with_strays(_from_first_page(_ascending(picks, form), picks), picks)


def _readings(candidate: Candidate, form: Form) -> list[Pick]:
    readings = []
    for part in form.parts:
        keys = candidate.keys(form, part)
        if len(form.parts) == 1 or any(k in form.specs for k in keys):
            readings.append(Pick(candidate, part, keys, candidate.score(form, part)))
    return readings


def _strongest(picks: list[Pick]) -> list[Pick]:
    """Keep the best readings of each id, in document order."""
    by_key: dict[tuple[str, ...], list[Pick]] = {}
    for pick in picks:
        by_key.setdefault(pick.keys, []).append(pick)
    keep = [p for group in by_key.values() for p in sorted(group, key=lambda p: (-p.score, p.candidate.start))[:100]]
    return sorted(keep, key=lambda p: p.candidate.start)


def _ascending(picks: Sequence[Pick], form: Form) -> list[Pick]:
    """Return the heaviest ascending chain (ids strictly rise)."""
    ranks = {key: i for i, key in enumerate(sorted({k for p in picks for k in p.keys}, key=form.order))}
    best: list[tuple[float, int]] = [(0.0, -1)] * (len(ranks) + 1)  # best[r]: chain whose last rank is below r
    back: list[int] = []
    pending: list[tuple[int, float, int]] = []  # readings of one heading must not follow one another
    for index, pick in enumerate(picks):
        if index and picks[index - 1].candidate is not pick.candidate:
            _settle(best, pending)
        value, previous = best[min(ranks[k] for k in pick.keys)]
        back.append(previous)
        pending.append((max(ranks[k] for k in pick.keys) + 1, value + pick.score, index))
    _settle(best, pending)
    chain: list[Pick] = []
    index = best[-1][1]
    while index >= 0:
        chain.append(picks[index])
        index = back[index]
    return chain[::-1]


def _settle(best: list[tuple[float, int]], pending: list[tuple[int, float, int]]) -> None:
    """Enter finished chains into the table of best ones and forget them."""
    for first, value, index in pending:
        for rank in range(first, len(best)):
            if value <= best[rank][0]:
                break
            best[rank] = (value, index)
    pending.clear()


def _from_first_page(chosen: list[Pick], picks: Sequence[Pick]) -> list[Pick]:
    """Move each heading up to its first good occurrence: running heads repeat an Item's heading."""
    result: list[Pick] = []
    position = 0
    for pick in chosen:
        after = result[-1].candidate.last_line if result else -1
        best = pick
        while position < len(picks) and picks[position].candidate.start < pick.candidate.start:
            other = picks[position]
            position += 1
            good = other.score > pick.score - _SAME_HEADING and not other.candidate.cautions & _BLOCKING
            if best is pick and other.keys == pick.keys and other.candidate.line > after and good:
                best = other
        result.append(best)
    return result


def _best_per_key(picks: Sequence[Pick]) -> list[Pick]:
    chosen: dict[tuple[str, ...], Pick] = {}
    for pick in picks:
        if "contents" in pick.candidate.cautions:
            continue
        held = chosen.get(pick.keys)
        if held is None or pick.score > held.score + 1.0:
            chosen[pick.keys] = pick
    return sorted(chosen.values(), key=lambda p: p.candidate.start)


def _with_strays(chosen: list[Pick], picks: Sequence[Pick]) -> list[Pick]:
    """Add Items that stand out of order and are beyond doubt."""
    taken = {k for p in chosen for k in p.keys}
    used = {id(p.candidate) for p in chosen}
    strays: dict[tuple[str, ...], Pick] = {}
    for pick in picks:
        candidate = pick.candidate
        if taken & set(pick.keys) or id(candidate) in used or candidate.cautions & _BLOCKING:
            continue
        if pick.score < _INSERT_SCORE or candidate.similarity.get(pick.part, 0.0) < _INSERT_LIKENESS:
            continue
        held = strays.get(pick.keys)
        if held is None or pick.score > held.score:
            strays[pick.keys] = pick
    return sorted([*chosen, *strays.values()], key=lambda p: p.candidate.start)
