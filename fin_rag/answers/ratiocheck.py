"""Ratios that an answer names, computed from the rows of the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Final

from fin_rag.answers.claims import Claim
from fin_rag.answers.derivation import POINTS_NOT_PERCENT, Derivation
from fin_rag.answers.evidence import Evidence, Printed
from fin_rag.answers.judge import period_agrees
from fin_rag.answers.lines import Lines
from fin_rag.answers.vocabulary import phrase_pattern
from fin_rag.facts.concepts import name_key
from fin_rag.facts.ratios import Ratio, ratio_map, solve

_MOST: Final = 12


@cache
def _ratio_names() -> dict[str, Ratio]:
    return {name: ratio for ratio in ratio_map().values() for name in ratio.names}


@cache
def _ratio_pattern() -> re.Pattern[str]:
    return phrase_pattern(sorted(_ratio_names()))


def ratios_in(text: str) -> list[Ratio]:
    """Return the ratios that a text names, in order.

    Example:
        >>> [one.id for one in ratios_in("El margen bruto y el ROE")]
        ['gross_margin', 'return_on_equity']
    """
    return [ratio for ratio, _, _ in ratio_mentions(text)]


def ratio_mentions(text: str) -> list[tuple[Ratio, int, int]]:
    """Return the ratios that a text names with their places in ``name_key(text)``, in order."""
    return [
        (_ratio_names()[match[0]], match.start(), match.end()) for match in _ratio_pattern().finditer(name_key(text))
    ]


def by_ratio(claim: Claim, lines: Lines, evidence: Evidence) -> Iterator[Derivation]:
    """Yield the values of the ratios that the words of a claim name."""
    for text in claim.labels[:-1]:
        named = ratios_in(text)
        for ratio in named[-2:]:
            yield from _one_ratio(claim, ratio, lines, evidence)
        if named:
            return


def _one_ratio(claim: Claim, ratio: Ratio, lines: Lines, evidence: Evidence) -> Iterator[Derivation]:
    unit = claim.number.unit
    fits = {"%": ("%", "pp", "bp"), "x": ("x", ""), "days": ("",), "currency": ("",), "per share": ("",)}[ratio.unit]
    if unit not in fits:
        return
    for doc in sorted({row.doc for row in lines.rows.values()}):
        now, inputs = _solve(claim, ratio, lines, evidence, doc, 0)
        if now is None:
            continue
        if unit in ("pp", "bp") or (claim.change and unit == "%"):
            then, more = _solve(claim, ratio, lines, evidence, doc, -1)
            if then is not None:
                factor = 100 if unit == "bp" else 1
                wrong = "" if unit in ("pp", "bp") else "wrong_scale"
                reason = POINTS_NOT_PERCENT if wrong else ""
                yield Derivation("difference in points", (*inputs, *more), (now - then) * factor, wrong, reason)
            continue
        if claim.earlier:
            then, more = _solve(claim, ratio, lines, evidence, doc, -1)
            if then is not None:
                yield Derivation(ratio.id, more, then)
        yield Derivation(ratio.id, inputs, now)


def _solve(
    claim: Claim, ratio: Ratio, lines: Lines, evidence: Evidence, doc: int, shift: int
) -> tuple[Decimal | None, tuple[Printed, ...]]:
    used: list[Printed] = []

    def value_of(name: str, before: int) -> Decimal | None:
        printed = _figure(claim, name, lines, evidence, doc, shift + before)
        if printed is None:
            return None
        used.append(printed)
        value = printed.values[0]
        return abs(value) if _is_deducted(name) else value

    value, _, _ = solve(ratio, value_of)
    return value, tuple(used)


def _is_deducted(name: str) -> bool:
    return name in ("cost_of_revenue", "capital_expenditure", "dividends_paid", "interest_expense", "share_repurchases")


def _figure(claim: Claim, concept: str, lines: Lines, evidence: Evidence, doc: int, shift: int) -> Printed | None:
    """Return the figure of a line item in the claimed period, or in the one before it."""
    for number in lines.by_concept.get(concept, ())[:_MOST]:
        if lines.rows[number].doc != doc:
            continue
        figures = [one for one in evidence.rows[number] if not one.unit and not one.change]
        dated = [one for one in figures if one.whens]
        wanted = [one for one in dated if period_agrees(claim, one, evidence.sources[doc]) is True]
        if not any(when.year for when in claim.whens):
            wanted = dated[:1] or figures[:1]
        if shift == 0:
            if wanted:
                return wanted[0]
            continue
        for now in wanted:
            for then in dated:
                if then.whens[0].year == now.whens[0].year + shift and then.whens[0].months == now.whens[0].months:
                    return then
    return None
