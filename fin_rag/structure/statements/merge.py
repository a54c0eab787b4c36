"""Join the pages of one statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fin_rag.structure.lines import Line
from fin_rag.structure.statements.body import Draft
from fin_rag.structure.statements.judge import judge

_MOST_BETWEEN: Final = 2_500  # code points between a page's last row and the next page's title


def join(drafts: Sequence[Draft], lines: Sequence[Line]) -> list[Draft]:
    """Return the drafts that are statements, each with the pages that go on with it.

    A page belongs to the statement before it if its title says so, or if one of the two is no statement
    without the other. Statements of equity of several years are one.
    """
    joined: list[Draft] = []
    pending: list[Draft] = []
    for draft in drafts:
        before = (pending or joined)[-1] if pending or joined else None
        if before is not None and _continues(before, draft, lines):
            _append(before, draft)
            continue
        joined.extend(one for one in pending if judge(one))
        pending = [draft]
    joined.extend(one for one in pending if judge(one))
    return joined


def _continues(before: Draft, draft: Draft, lines: Sequence[Line]) -> bool:
    if before.title.kind != draft.title.kind:
        return False
    if not 0 <= lines[draft.first].start - lines[before.last - 1].end <= _MOST_BETWEEN:
        return False
    if draft.title.continued or before.kind == "equity":
        return True
    return not (judge(_copy(before)) and before.complete) or not judge(_copy(draft))


def _copy(draft: Draft) -> Draft:
    return replace(draft, labels=list(draft.labels))


def _append(before: Draft, draft: Draft) -> None:
    first = draft.pieces[0]
    first.title = draft.title
    before.pieces.extend(draft.pieces)
    before.labels.extend(draft.labels)
    before.figures += draft.figures
    before.complete = before.complete or draft.complete
