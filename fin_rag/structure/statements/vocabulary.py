"""Words and patterns of financial statements, in English and Spanish, read once from the data file."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

_NO_LETTER: Final = re.compile(r"[^a-z]+")


@dataclass(frozen=True, slots=True)
class Words:
    """Hold the vocabulary; every pattern reads text that :func:`squeeze` made, unless it says otherwise."""

    titles: Mapping[str, re.Pattern[str]]
    gate: Sequence[str]
    bare_balance: re.Pattern[str]
    prefix_banned: re.Pattern[str]
    suffix_leads: re.Pattern[str]
    suffix_banned: re.Pattern[str]
    continued: re.Pattern[str]
    parent: re.Pattern[str]
    parent_title: re.Pattern[str]
    aside: re.Pattern[str]
    condensed: re.Pattern[str]
    consolidated: re.Pattern[str]
    foot: re.Pattern[str]
    cues: Mapping[str, Sequence[re.Pattern[str]]]
    needed: Mapping[str, Sequence[re.Pattern[str]]]
    least: Mapping[str, int]
    complete: Mapping[str, re.Pattern[str]]
    tail: Mapping[str, re.Pattern[str]]
    totals: re.Pattern[str]
    share_counts: re.Pattern[str]
    per_share: re.Pattern[str]
    months: Mapping[str, int]
    counts: Mapping[str, int]
    periods: Mapping[str, int]
    change_columns: re.Pattern[str]
    note_columns: re.Pattern[str]
    selected: re.Pattern[str]
    own_place: re.Pattern[str]
    count_leads: re.Pattern[str]
    component_heads: re.Pattern[str]
    remark: re.Pattern[str]
    open_ends: frozenset[str]
    leads_count: re.Pattern[str]
    breaks_off: re.Pattern[str]


@cache
def words() -> Words:
    """Return the vocabulary."""
    raw = json.loads(files("fin_rag.structure.statements").joinpath("vocabulary.json").read_text(encoding="utf-8"))

    def one_of(name: str, form: str = "(?:{})") -> re.Pattern[str]:
        return re.compile(form.format("|".join(raw[name])))

    def pattern(name: str) -> re.Pattern[str]:
        return re.compile(raw[name])

    def by_kind(name: str) -> Mapping[str, re.Pattern[str]]:
        return MappingProxyType({kind: re.compile(text) for kind, text in raw[name].items()})

    return Words(
        titles=MappingProxyType({kind: re.compile("|".join(texts)) for kind, texts in raw["titles"].items()}),
        gate=tuple(raw["gate"]),
        bare_balance=pattern("bare_balance"),
        prefix_banned=one_of("prefix_banned"),
        suffix_leads=one_of("suffix_leads"),
        suffix_banned=one_of("suffix_banned"),
        continued=pattern("continued"),
        parent=pattern("parent"),
        parent_title=pattern("parent_title"),
        aside=pattern("aside"),
        condensed=pattern("condensed"),
        consolidated=pattern("consolidated"),
        foot=one_of("foot"),
        cues=MappingProxyType({k: tuple(re.compile(text) for text in v) for k, v in raw["cues"].items()}),
        needed=MappingProxyType({k: tuple(re.compile(text) for text in v[0]) for k, v in raw["needed"].items()}),
        least=MappingProxyType({k: v[1] for k, v in raw["needed"].items()}),
        complete=by_kind("complete"),
        tail=by_kind("tail"),
        totals=pattern("totals"),
        share_counts=pattern("share_counts"),
        per_share=pattern("per_share"),
        months=MappingProxyType(raw["months"]),
        counts=MappingProxyType(raw["counts"]),
        periods=MappingProxyType(raw["periods"]),
        change_columns=re.compile(raw["change_columns"], re.IGNORECASE),
        note_columns=re.compile(raw["note_columns"], re.IGNORECASE),
        selected=pattern("selected"),
        own_place=pattern("own_place"),
        count_leads=pattern("count_leads"),
        component_heads=pattern("component_heads"),
        remark=pattern("remark"),
        open_ends=frozenset(raw["open_ends"]),
        leads_count=pattern("leads_count"),
        breaks_off=pattern("breaks_off"),
    )


def squeeze(text: str) -> str:
    """Return the letters of a text alone: small, without accents, blanks, digits and punctuation.

    Titles whose letters are set apart or run together read the same afterwards.

    Example:
        >>> squeeze("C ONSOLIDATED Balance  Sheets (1)"), squeeze("Situación")
        ('consolidatedbalancesheets', 'situacion')
    """
    low = text.lower()
    if not low.isascii():
        low = unicodedata.normalize("NFKD", low)
    return _NO_LETTER.sub("", low)
