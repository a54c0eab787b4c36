"""Prove a figure by reported facts: issuer, line item and period have to fit, not only the value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final, Protocol, runtime_checkable

from fin_rag.answers.claims import Claim
from fin_rag.answers.companies import Company
from fin_rag.answers.evidence import Evidence
from fin_rag.answers.labels import concepts_in
from fin_rag.answers.when import When
from fin_rag.errors import FinRagError
from fin_rag.facts.concepts import concept_map
from fin_rag.facts.lookup import Lookup
from fin_rag.facts.model import Fact
from fin_rag.facts.periods import FiscalPeriod
from fin_rag.schema import CIK, ISSUER, TICKER

_OUTFLOWS: Final = frozenset(one.id for one in concept_map().concepts if one.outflow)


@runtime_checkable
class Lookups(Protocol):
    """Look up line items of issuers for fiscal periods, as a ``FactStore`` or a ``FactView`` does."""

    def lookup(self, issuer: str, concept: str, period: str | FiscalPeriod) -> Lookup:
        """Return the value, or the reason why there is none."""


def fact_for(claim: Claim, facts: Lookups | Iterable[Fact] | None, evidence: Evidence, company: Company) -> Fact | None:
    """Return the fact that proves a claim, or ``None``."""
    if facts is None or company.stranger:
        return None
    concepts = next((found for found in (concepts_in(text) for text in claim.labels) if found), ())
    if not concepts:
        return None
    if isinstance(facts, Lookups):
        listed = _looked_up(facts, claim, concepts, _issuers(evidence, company))
    else:
        listed = _given(facts, concepts)
    return next((fact for fact in listed if _proves(claim, fact)), None)


def _given(facts: Iterable[Fact], concepts: tuple[str, ...]) -> Iterator[Fact]:
    for fact in facts:
        known = concept_map().by_tag(fact.concept) or concept_map().find(fact.concept)
        if known is not None and known.id in concepts:
            yield fact


def _looked_up(facts: Lookups, claim: Claim, concepts: tuple[str, ...], issuers: list[str]) -> Iterator[Fact]:
    wanted = [period for when in claim.whens if when.year for period in _periods(when)]
    for issuer, concept, period in product(issuers, concepts, wanted):
        try:
            found = facts.lookup(issuer, concept, period)
        except FinRagError:
            continue
        if found.fact is not None:
            yield found.fact


def _issuers(evidence: Evidence, company: Company) -> list[str]:
    found: list[str] = []
    for source in evidence.sources:
        if company.docs is not None and source.index not in company.docs:
            continue
        for key in (CIK, TICKER, ISSUER):
            if source.metadata.get(key):
                found.append(str(source.metadata[key]))
                break
    return list(dict.fromkeys(found))


def _periods(when: When) -> list[FiscalPeriod]:
    if when.part:
        return [FiscalPeriod(when.year, when.part)]
    if when.months == 9:
        return [FiscalPeriod(when.year, "9M")]
    return [FiscalPeriod(when.year)]


def _proves(claim: Claim, fact: Fact) -> bool:
    if not _period_fits(claim, fact):
        return False
    value = fact.value * 100 if claim.number.unit == "%" and fact.unit == "pure" else fact.value
    if claim.number.unit not in ("", "x") and fact.unit != "pure":
        return False
    currency = claim.number.currency
    if currency and currency not in fact.unit and not (currency == "USD" and fact.unit in ("CAD", "MXN", "AUD")):
        return False
    known = concept_map().by_tag(fact.concept)
    outflow = known is not None and known.id in _OUTFLOWS
    if (value < 0) != (claim.value < 0) and not (outflow or claim.loss):
        return False
    return abs(abs(claim.value) - abs(value)) * 2 <= claim.step


def _period_fits(claim: Claim, fact: Fact) -> bool:
    whens = [when for when in claim.whens if when.year]
    if not whens:
        return False
    end = fact.end_date
    for when in whens:
        if when.month and (when.year, when.month) == (end.year, end.month):
            return True
        if not when.month and when.year in (end.year, end.year - (end.month <= 2)):
            return True
        if when.fiscal and when.year - 1 == end.year and end.month > 6:
            return False
    return False
