"""Judge drafts: is it the statement its title names, whose is it, and which set is the document's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fin_rag.structure.lines import Line
from fin_rag.structure.statements.body import Draft
from fin_rag.structure.statements.model import PRIMARY_TYPES
from fin_rag.structure.statements.vocabulary import squeeze, words

_LEAST_FIGURES: Final = 3
_NEAR_LINES: Final = 60
_LOOK_UP: Final = 8
_MOST_APART: Final = 12_000  # code points between two statements of one set
_PRIMARY_WEIGHT: Final = 20


def judge(draft: Draft) -> bool:
    """Set type and score of a draft by its rows, and tell whether it is a statement at all.

    A statement of comprehensive income that begins with revenue is the income statement.
    """
    if draft.figures < _LEAST_FIGURES or (draft.title.paged and draft.figures < 2 * _LEAST_FIGURES):
        return False
    if draft.kind == "comprehensive_income" and _cues(draft, "income") >= 5 and _opens_with_revenue(draft):
        draft.kind = "income"
    known = words()
    draft.score = _cues(draft, draft.kind)
    needed = all(any(pattern.search(label) for label in draft.labels) for pattern in known.needed[draft.kind])
    return needed and draft.score >= known.least[draft.kind]


def _cues(draft: Draft, kind: str) -> int:
    return sum(any(cue.search(label) for label in draft.labels) for cue in words().cues[kind])


def _opens_with_revenue(draft: Draft) -> bool:
    revenue = words().cues["income"][0]
    costs = words().cues["income"][1]
    return any(revenue.search(label) for label in draft.labels[:12]) and any(
        costs.search(label) for label in draft.labels[:30]
    )


def mark_scope(drafts: Sequence[Draft], lines: Sequence[Line]) -> None:
    """Mark the drafts that are a parent company's alone, or of others (guarantors, ventures, pro forma).

    What a title or the lines right above it say holds for the statements that follow in the same place.
    """
    known = words()
    before: Draft | None = None
    for draft in drafts:
        above = _above(draft, lines, before.last if before else 0)
        draft.parent = bool(known.parent_title.search(draft.title.letters)) or any(
            known.parent.search(letters) for letters in above
        )
        draft.aside = any(known.aside.search(letters) for letters in (draft.title.letters, *above[:3]))
        near = before is not None and lines[draft.first].start - lines[before.last - 1].end < _MOST_APART // 4
        if before is not None and near and "consolidated" not in draft.title.letters:
            draft.parent = draft.parent or before.parent
            draft.aside = draft.aside or before.aside
        before = draft


def _above(draft: Draft, lines: Sequence[Line], behind: int) -> list[str]:
    """Return the letters of the short lines right above a title, nearest first, down to line ``behind``."""
    near = [line.text for line in lines[max(behind, draft.first - _NEAR_LINES) : draft.first] if line.text]
    head = [line.text for line in lines[draft.title.last : draft.pieces[0].rows][:6] if line.text]
    found = [squeeze(text) for text in head if len(text) < 160 and not text.startswith("|")]
    for text in near[: -_LOOK_UP - 1 : -1]:
        if len(text) > 160 or text.startswith("|"):
            break
        if not text[-1].isdigit():  # a row of a contents page says nothing of what stands here
            found.append(squeeze(text))
    return found


def primary_set(drafts: Sequence[Draft], lines: Sequence[Line]) -> set[int]:
    """Return the indexes of the drafts that are the document's own statements.

    Drafts that stand near each other make a set; the set with most of the three primary statements wins,
    then the one whose rows read most like statements. What it lacks is taken from outside.
    """
    sets: list[list[int]] = []
    for index, draft in enumerate(drafts):
        if draft.parent or draft.aside:
            continue
        if sets:
            gap = lines[draft.first].start - lines[drafts[sets[-1][-1]].last - 1].end
            if gap <= _MOST_APART:
                sets[-1].append(index)
                continue
        sets.append([index])
    if not sets:
        return set()
    best = max(sets, key=lambda members: (_worth(drafts, members), -members[0]))
    chosen = set(best)
    have = {drafts[index].kind for index in chosen}
    for kind in PRIMARY_TYPES:
        if kind in have:
            continue
        others = [i for members in sets for i in members if i not in chosen and drafts[i].kind == kind]
        if others:
            chosen.add(max(others, key=lambda i: (drafts[i].score, drafts[i].figures, -i)))
    return chosen


def _worth(drafts: Sequence[Draft], members: Sequence[int]) -> int:
    best: dict[str, int] = {}
    for index in members:
        draft = drafts[index]
        worth = draft.score + min(draft.figures, 30) // 6 + (3 if "consolidated" in draft.title.letters else 0)
        best[draft.kind] = max(best.get(draft.kind, 0), worth)
    return sum(score + (_PRIMARY_WEIGHT if kind in PRIMARY_TYPES else 0) for kind, score in best.items())
