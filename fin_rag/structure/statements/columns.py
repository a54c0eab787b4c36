"""Columns of a statement: which of them hold figures of a period, and which period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from fin_rag.structure.statements.model import StatementColumn
from fin_rag.structure.statements.periods import Mentions, When, read_mentions, spread
from fin_rag.structure.statements.vocabulary import squeeze, words

_MOST_COMPARED: Final = 2  # an interim statement compares its period with that of the year before


class Column(NamedTuple):
    """Hold a column before its date is complete: ``when`` may name a year only."""

    label: str
    when: When
    months: int


UNDATED = When(0, 0, 0)


def by_labels(labels: Sequence[str], title: Mentions, others: Sequence[str]) -> list[Column]:
    """Read one period from each column's own label; what labels leave out comes from ``others`` and the title.

    Args:
        labels: the heads of the columns of figures, in order.
        title: what the statement's title and the lines below it say.
        others: heads that stand over no column of figures, such as the corner cell.
    """
    corner = read_mentions(others)
    read = [read_mentions([label]) for label in labels]
    found: list[Column] = []
    for label, mentions in zip(labels, read, strict=True):
        when = (mentions.dates or (UNDATED,))[-1]
        if not when.number and mentions.years:
            when = _dated(mentions.years[-1], (*mentions.days, *corner.days), title)
        elif not when.number and mentions.days:
            year = _only(corner.years) or _only(title.years)
            when = When(year, mentions.days[-1].month, mentions.days[-1].day)
        months = _only(mentions.months) or _only(corner.months) or _only(title.months)
        found.append(Column(label, when, months))
    if any(column.when.year for column in found):
        return found
    return by_order(labels, corner, title) if not any(m.dates or m.years for m in read) else found


def _dated(year: int, days: Sequence[When], title: Mentions) -> When:
    """Return the end of a period that a head calls by its year: by its own day, else by the title's dates."""
    if days:
        return When(year, days[0].month, days[0].day)
    same = [when for when in title.dates if when.year == year]
    if same:
        return same[0]
    day = (title.days or _agreed(title.dates) or (UNDATED,))[0]
    return When(year, day.month, day.day)


def _agreed(dates: Sequence[When]) -> tuple[When, ...]:
    """Return the dates if they all name the same day."""
    return tuple(dates[:1]) if len({(when.month, when.day) for when in dates}) == 1 else ()


def by_order(labels: Sequence[str], head: Mentions, title: Mentions) -> list[Column]:
    """Give the periods that the heads name, in reading order, to columns without labels of their own."""
    placed = spread(head, title, len(labels))
    return [Column(label, when, months) for label, (when, months) in zip(labels, placed, strict=True)]


def align(known: list[Column], found: Sequence[Column]) -> tuple[tuple[int, ...], list[Column]]:
    """Return where the columns of a further piece stand among those known, and all columns.

    A piece with as many columns and no other heads goes on with the same ones; else columns meet by their heads
    or their periods, and what is new is added.
    """
    if not known or _same(known, found):
        merged = list(known) or list(found)
        if known:
            merged = [
                new if new.when.number and not old.when.number else old for old, new in zip(known, found, strict=True)
            ]
        return tuple(range(len(found))), merged
    merged = list(known)
    places: list[int] = []
    for column in found:
        at = next((i for i, old in enumerate(merged) if i not in places and _meets(old, column)), len(merged))
        if at == len(merged):
            merged.append(column)
        places.append(at)
    return tuple(places), merged


def _same(known: Sequence[Column], found: Sequence[Column]) -> bool:
    if len(known) != len(found):
        return False
    if all(_meets(old, new) for old, new in zip(known, found, strict=True)):
        return True
    alike = sum(squeeze(old.label) == squeeze(new.label) for old, new in zip(known, found, strict=True))
    return 2 * alike > len(found) and not any(column.when.year for column in found)


def _meets(old: Column, new: Column) -> bool:
    """Tell whether two heads can name the same column."""
    if old.when.year and new.when.year:
        dated = old.when.month and new.when.month
        same = old.when == new.when if dated else old.when.year == new.when.year
        return same and (old.months == new.months or not (old.months and new.months))
    return not (squeeze(old.label) and squeeze(new.label)) or squeeze(old.label) == squeeze(new.label)


def _only(found: Sequence[int]) -> int:
    """Return the value if all mentions agree, else 0."""
    return found[0] if found and len(set(found)) == 1 else 0


def is_change(label: str) -> bool:
    """Tell whether a head names a change or a percentage, not a period.

    Example:
        >>> is_change("% Change"), is_change("2024")
        (True, False)
    """
    mentions = read_mentions([label])
    plain = not (mentions.dates or mentions.years)
    return bool(words().change_columns.search(label)) and (plain or "%" in label)


def is_note_column(label: str) -> bool:
    """Tell whether a head names the column of references to notes."""
    return words().note_columns.fullmatch(label.strip(" .():")) is not None


def annual(columns: Sequence[StatementColumn], *, instant: bool) -> list[StatementColumn]:
    """Give periods that no head measures a year where at least three of them end a year apart.

    Example:
        >>> ends = [StatementColumn("", end) for end in (20241231, 20231231, 20221231)]
        >>> [column.months for column in annual(ends, instant=False)]
        [12, 12, 12]
    """
    ends = sorted(column.period_end for column in columns)
    steps = {later - earlier for earlier, later in pairwise(ends)}
    if instant or len(ends) <= _MOST_COMPARED or any(c.months for c in columns) or steps != {10_000}:
        return list(columns)
    return [replace(column, months=12) for column in columns]


def finish(columns: Sequence[Column], whens: Sequence[When], *, instant: bool) -> list[StatementColumn]:
    """Return the columns with their completed ends of period; a balance sheet's columns have no length."""
    return [
        StatementColumn(column.label, when.number, 0 if instant else column.months)
        for column, when in zip(columns, whens, strict=True)
    ]
