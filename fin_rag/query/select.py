"""From a plan to documents: who, when, what kind, which language; what does not hold is given up in the open."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fin_rag.query.analyse import kind_doc_types, named_kind_finder
from fin_rag.query.library import DocumentEntry, Library
from fin_rag.query.model import Period, QueryPlan
from fin_rag.query.vocabulary import tokenize

_KEPT: Final = 0.85  # documents this close to the best period score stay
_MOST_GROUPS: Final = 12
_EVENT_TYPES: Final = frozenset({"8-K", "6-K", "8-K/A"})
_ANNUAL_TYPES: Final = frozenset(kind_doc_types("annual"))
_HINT_WEIGHT: Final = 1.15
_OLDER_WEIGHT: Final = 0.9
_OTHER_LANGUAGE_WEIGHT: Final = 0.8


@dataclass(slots=True)
class Selection:
    """Hold the documents that a plan is about.

    ``weights`` maps document numbers to a weight (1: fits best); ``groups`` are set side by side, each with its
    documents; ``backed_off`` says which derived filters left nothing and were given up. ``empty`` means that the
    question is about issuers that the index does not hold, or not under the filter given.
    """

    weights: dict[int, float] = field(default_factory=dict)
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    reasons: list[str] = field(default_factory=list)
    backed_off: list[str] = field(default_factory=list)
    empty: bool = False


def select_documents(plan: QueryPlan, library: Library, allowed: Iterable[int]) -> Selection:
    """Choose among the documents that the hard filters allow; issuers are never given up."""
    chosen = Selection()
    inside = set(allowed) & library.documents.keys()
    keys = _entities(plan, library, inside, chosen)
    if chosen.empty:
        return chosen
    numbers = inside & library.documents_of(keys) if keys else inside
    entries = [library.documents[number] for number in sorted(numbers)]
    entries = _of_kind(plan, entries, chosen)
    by_key: dict[str, list[DocumentEntry]] = {}
    for entry in entries:
        for key in _keys_of(entry, keys):
            by_key.setdefault(key, []).append(entry)
    for key in sorted(by_key):
        _weigh(plan, by_key[key], key if keys else "", chosen, named=bool(keys))
    chosen.groups = _groups(plan, library, by_key, chosen)
    return chosen


def _entities(plan: QueryPlan, library: Library, inside: set[int], chosen: Selection) -> tuple[str, ...]:
    if not plan.mentions:
        if plan.missing:
            chosen.empty = True
            chosen.reasons.append(f"no document of {', '.join(plan.missing)} in the index")
        return ()
    keys = tuple(dict.fromkeys(key for mention in plan.mentions for key in mention.entities))
    held = tuple(key for key in keys if library.entities[key].documents & inside)
    if not held:
        chosen.empty = True
        chosen.reasons.append(f"no document of {', '.join(keys)} under the filter given")
    chosen.reasons += [f"issuer {key}" for key in held]
    chosen.reasons += [f"{name} is not in the index" for name in plan.missing]
    return held


def _keys_of(entry: DocumentEntry, keys: Sequence[str]) -> tuple[str, ...]:
    if keys:
        return tuple(key for key in entry.entities if key in keys)
    return entry.entities[-1:] or ("",)


def _of_kind(plan: QueryPlan, entries: list[DocumentEntry], chosen: Selection) -> list[DocumentEntry]:
    if not plan.named_kinds:
        return entries
    wanted = {doc_type for kind in plan.named_kinds for doc_type in kind_doc_types(kind)}
    finder = named_kind_finder()
    kept = [
        entry for entry in entries
        if entry.doc_type.removesuffix("/A") in wanted
        or any(hit.label in plan.named_kinds for hit in finder.find(tokenize(entry.title)))
    ]  # fmt: skip
    if kept:
        chosen.reasons.append(f"kind {', '.join(plan.named_kinds)}")
        return kept
    if entries:
        chosen.backed_off.append(f"kind {', '.join(plan.named_kinds)}: no such document, all kinds searched")
    return entries


def _weigh(plan: QueryPlan, entries: list[DocumentEntry], key: str, chosen: Selection, *, named: bool) -> None:
    """Weigh one issuer's documents by language, period and hints."""
    if named and any(entry.lang == plan.lang for entry in entries):
        entries = [entry for entry in entries if entry.lang == plan.lang]
    scores = {entry.number: _period_score(plan, entry) for entry in entries}
    best = max(scores.values(), default=0.0)
    if plan.periods and best <= 0:
        periods = ", ".join(str(period) for period in plan.periods)
        if key:
            chosen.backed_off.append(f"period {periods}: no document of {key} is for it, all of them searched")
        scores = dict.fromkeys(scores, 1.0)
        best = 1.0
    hinted = {t for kind in plan.hinted_kinds for t in kind_doc_types(kind)}
    latest = max((_moment(entry) for entry in entries), default=0)
    for entry in entries:
        score = scores[entry.number]
        if score < best * _KEPT:
            continue
        weight = score if plan.periods else _recency(entry, latest)
        weight *= _HINT_WEIGHT if entry.doc_type in hinted else 1.0
        weight *= 1.0 if entry.lang == plan.lang else _OTHER_LANGUAGE_WEIGHT
        chosen.weights[entry.number] = max(weight, chosen.weights.get(entry.number, 0.0))
    if key and plan.periods and best > 0:
        names = [e.title or e.doc_id for e in entries if scores[e.number] >= best * _KEPT]
        chosen.reasons.append(f"{key}: {', '.join(names[:4])}")


def _moment(entry: DocumentEntry) -> int:
    return entry.filed or entry.period_end or entry.fiscal_year * 10_000


def _recency(entry: DocumentEntry, latest: int) -> float:
    """Prefer the newest year where no period is asked for, and annual reports to news."""
    years = max(latest // 10_000 - _moment(entry) // 10_000, 0)
    base = 1.0 if entry.doc_type not in _EVENT_TYPES else _OLDER_WEIGHT
    return base * _OLDER_WEIGHT ** min(years, 3)


# --- periods ---------------------------------------------------------------------------------------


def _period_score(plan: QueryPlan, entry: DocumentEntry) -> float:
    """Tell from 0 to 1 how well a document is the one for the periods asked."""
    if not plan.periods:
        return 1.0
    named = [period for period in plan.periods if period.names_document]
    periods = named or list(plan.periods)
    days = [period for period in periods if period.day]
    if days:
        return max(_day_score(period, entry) for period in days)
    parts = [period for period in periods if period.part != "FY"]
    if parts:
        return max(_part_score(period, entry) for period in parts)
    years = sorted({period.year for period in periods})
    return _year_score(years, entry, forward=plan.forward and not named)


def _year_score(years: Sequence[int], entry: DocumentEntry, *, forward: bool) -> float:
    target = years[-1]
    year = entry.fiscal_year or _moment(entry) // 10_000
    partial = entry.fiscal_period in ("Q1", "Q2", "Q3")
    event = entry.doc_type in _EVENT_TYPES
    if year == target:
        score = 0.5 if partial else 0.4 if event else 1.0
    elif forward and year == target - 1:
        score = 0.45 if partial else 0.4 if event else 0.9
    elif year in years:
        score = 0.4 if partial or event else 0.6
    elif year in (target + 1, target + 2) and not partial and not event:
        score = 0.3 / (year - target)
    else:
        return 0.0
    return score


def _part_score(period: Period, entry: DocumentEntry) -> float:
    year = entry.fiscal_year or _moment(entry) // 10_000
    wanted = {"H1": "Q2", "H2": "Q4"}.get(period.part, period.part)
    if year != period.year:
        return 0.2 if year == period.year + 1 and entry.fiscal_period == wanted else 0.0
    if entry.fiscal_period == wanted:
        return 1.0
    if wanted == "Q4" and entry.fiscal_period == "FY":
        return 0.9
    return 0.4 if entry.fiscal_period == "FY" else 0.3


def _day_score(period: Period, entry: DocumentEntry) -> float:
    """Score an event's report by its own day and its filing day, any other by the end of its period."""
    own = _days_between(period.day, entry.period_end)
    filed = _days_between(period.day, entry.filed)
    if entry.doc_type in _EVENT_TYPES:
        if own is not None and -5 <= own <= 1:
            return 1.0 - 0.02 * abs(own)
        if filed is not None and -1 <= filed <= 7:
            return 0.98 - 0.02 * abs(filed)
        return 0.05 if entry.period_end // 10_000 == period.year else 0.0
    if own is not None and abs(own) <= 3:
        return 1.0
    if filed is not None and abs(filed) <= 1:
        return 0.95
    if own is not None and -366 < own < 0:
        return 0.1  # the period was over before that day
    return 0.3 if own is not None and 0 <= own < 366 else 0.05


def _days_between(day: int, other: int) -> int | None:
    """Return how many days ``other`` comes after ``day``; nothing where one is no date."""
    try:
        first = datetime.date(day // 10_000, day // 100 % 100, day % 100)
        second = datetime.date(other // 10_000, other // 100 % 100, other % 100)
    except ValueError:
        return None
    return (second - first).days


# --- groups ----------------------------------------------------------------------------------------


def _groups(
    plan: QueryPlan,
    library: Library,
    by_key: Mapping[str, Sequence[DocumentEntry]],
    chosen: Selection,
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return what is compared: one group an issuer, without the issuer of all and those of another language."""
    if plan.compared != "issuers":
        return ()
    several = len(plan.mentions) > 1
    sets: dict[str, tuple[int, ...]] = {}
    if several:
        for mention in plan.mentions:
            numbers = inside_of(library, mention.entities, chosen)
            sets[mention.text] = numbers
    else:
        for key, entries in by_key.items():
            sets[key] = tuple(entry.number for entry in entries if entry.number in chosen.weights)
        own = {
            key: numbers for key, numbers in sets.items()
            if any(library.documents[number].lang == plan.lang for number in numbers)
        }  # fmt: skip
        sets = own or sets
    sets = {key: numbers for key, numbers in sets.items() if numbers}
    # An issuer whose documents are those of several others is their publisher.
    publishers = {
        key for key, numbers in sets.items()
        if sum(set(other) < set(numbers) for other in sets.values()) > 1
    }  # fmt: skip
    groups = tuple((key, numbers) for key, numbers in sorted(sets.items()) if key not in publishers)
    if len(groups) < 2:
        return ()
    if len(groups) > _MOST_GROUPS:
        chosen.backed_off.append(f"comparison: {len(groups)} issuers are too many to search each")
        return ()
    chosen.reasons.append(f"one search each for {', '.join(key for key, _ in groups)}")
    return groups


def inside_of(library: Library, keys: Iterable[str], chosen: Selection) -> tuple[int, ...]:
    """Return the chosen documents of entities, in order."""
    return tuple(sorted(number for number in library.documents_of(keys) if number in chosen.weights))
