"""``verify_figures``: every figure of an answer, held against the evidence that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, TypeAlias

from langchain_core.documents import Document

from fin_rag.answers.claims import Claim, read_answer
from fin_rag.answers.companies import Companies, Company, named_sources
from fin_rag.answers.derivation import Derivation
from fin_rag.answers.derived import derive
from fin_rag.answers.evidence import Evidence, Printed, read_evidence
from fin_rag.answers.factcheck import Lookups, fact_for
from fin_rag.answers.judge import (
    EQUAL,
    VERBATIM,
    WRONG_SCALE,
    WRONG_SIGN,
    Match,
    direction_agrees,
    period_agrees,
    points_or_basis,
    same_size,
    sign_agrees,
    wrong_unit,
)
from fin_rag.answers.lines import Lines, Named
from fin_rag.answers.report import FigureCheck, FigureReport
from fin_rag.answers.sentences import direction_of, only_direction
from fin_rag.answers.vocabulary import phrases, words
from fin_rag.errors import InputError
from fin_rag.facts.model import Fact
from fin_rag.schema import DOC_ID, SOURCE
from fin_rag.text.numbers import find_numbers

EvidenceLike: TypeAlias = str | Document | Sequence[str | Document]
FactsLike: TypeAlias = Lookups | Iterable[Fact] | None

ROUNDED: Final = "rounded"
DERIVED: Final = "derived"
FACT: Final = "fact"
UNSUPPORTED: Final = "unsupported"
WRONG_PERIOD: Final = "wrong_period"
WRONG_ENTITY: Final = "wrong_entity"
WRONG_LINE: Final = "wrong_line"
WRONG_DIRECTION: Final = "wrong_direction"
PASSING: Final = (VERBATIM, EQUAL, ROUNDED, DERIVED, FACT)
FAILING: Final = (UNSUPPORTED, WRONG_PERIOD, WRONG_SCALE, WRONG_SIGN, WRONG_ENTITY, WRONG_DIRECTION, WRONG_LINE)
_SEVERITY: Final = {
    name: at for at, name in enumerate((WRONG_DIRECTION, WRONG_SIGN, WRONG_ENTITY, WRONG_PERIOD, WRONG_LINE))
}


def verify_figures(
    answer: str,
    evidence: EvidenceLike,
    facts: FactsLike = None,
    strict: bool = False,  # noqa: FBT001, FBT002  # the contract's signature
    *,
    lang: str | None = None,
) -> FigureReport:
    """Check every figure of an answer against its evidence.

    A figure passes as ``verbatim`` (printed so), ``equal`` (same value in another notation or scale, by the table's
    unit line), ``rounded`` (within half a unit of its own last digit), ``derived`` (follows by a named operation) or
    ``fact``. It fails as ``unsupported``, ``wrong_period``, ``wrong_scale``, ``wrong_sign``, ``wrong_entity``,
    ``wrong_direction`` or ``wrong_line``. Years, dates, ordinals, Items and list numbers are no figures.

    Args:
        answer: the text, in English or Spanish.
        evidence: what it cites: documents (their metadata tell company, period and unit) or plain texts.
        facts: a ``FactStore``, or facts, that figures may also be proved by.
        strict: let only verbatim figures pass.
        lang: the language of the answer, which settles figures such as ``1.234``; told from the text by default.

    Raises:
        InputError: if the evidence is of another type.

    Example:
        >>> evidence = "Sales were $1,234 million in 2024 and $1,100 million in 2023."
        >>> report = verify_figures("Sales came to $1.2 billion in 2024.", evidence)
        >>> [(one.text, one.verdict) for one in report.figures]
        [('$1.2 billion', 'rounded')]
        >>> verify_figures("85% in 2021 and 87% in 2022", "87% in 2021").failed[1].verdict
        'wrong_period'
    """
    documents = _documents(evidence)
    read = read_evidence(documents)
    return Verifier(read, facts, strict=strict).check(answer, lang=lang)


def _documents(evidence: EvidenceLike) -> list[Document]:
    listed = [evidence] if isinstance(evidence, str | Document) else list(evidence)
    documents = []
    for one in listed:
        if not isinstance(one, str | Document):
            raise InputError(f"'evidence' must be documents or texts. Got {type(one).__name__}.")
        documents.append(Document(page_content=one) if isinstance(one, str) else one)
    return documents


class Verifier:
    """Check answers against evidence that was read once."""

    def __init__(self, evidence: Evidence, facts: FactsLike = None, *, strict: bool = False) -> None:
        self._evidence = evidence
        self._facts = facts
        self._strict = strict
        self._lines = Lines(evidence)
        self._companies = Companies(evidence)
        self._number_words = _number_words(evidence)

    def check(self, answer: str, *, lang: str | None = None) -> FigureReport:
        """Return the verdicts on an answer."""
        language = lang or _language(answer) or self._evidence.language
        self._lines.lang = language or ""
        read = read_answer(answer, lang=language)
        found: dict[int, FigureCheck] = {}
        proved: list[tuple[Claim, Printed]] = []
        company = Company()
        later: list[tuple[int, Claim, Company]] = []
        for at, claim in enumerate(read.claims):
            company = self._companies.of(claim, company)
            check, printed = self._by_print(claim, company)
            if printed is not None:
                proved.append((claim, printed))
            if check is None or not check.passed:
                later.append((at, claim, company))
            if check is not None:
                found[at] = check
        for at, claim, company in later:
            found[at] = self._otherwise(claim, company, found.get(at), proved)
        checks = tuple(self._strictly(found[at]) for at in sorted(found))
        return FigureReport(_with_own_direction(read.claims, checks), self._strict)

    # --- one claim ----------------------------------------------------------------------------

    def _by_print(self, claim: Claim, company: Company) -> tuple[FigureCheck | None, Printed | None]:
        """Return the verdict by figures of the same size, ``None`` if there is none."""
        matches = same_size(claim, self._evidence, self._lines.lang) or points_or_basis(claim, self._evidence)
        named = self._lines.named_by(claim)
        best: tuple[int, int, FigureCheck, Printed] | None = None
        undated: Match | None = None
        for match in matches:
            faults = self._faults(claim, match, named, company)
            if not faults:
                if self._is_certain(claim, match.printed):
                    return self._verdict(claim, match.how, match.printed), match.printed
                undated = undated or match
                continue
            name, reason = max(faults, key=lambda one: _SEVERITY[one[0]])
            if len(faults) > 1 and {one[0] for one in faults} >= {WRONG_PERIOD, WRONG_LINE}:
                name, reason = UNSUPPORTED, "no figure of this line and period has this value"
            rank = (len(faults), _SEVERITY.get(name, 9))
            if best is None or rank < best[:2]:
                best = (*rank, self._verdict(claim, name, match.printed, reason), match.printed)
        if undated is not None and (
            best is None or best[0] > 1 or best[2].verdict not in (WRONG_PERIOD, WRONG_DIRECTION)
        ):
            return self._verdict(claim, undated.how, undated.printed), undated.printed
        if best is not None:
            return best[2], None
        if self._in_words(claim):
            return self._verdict(claim, EQUAL, None, "printed in words"), None
        return None, None

    def _is_certain(self, claim: Claim, printed: Printed) -> bool:
        """Tell whether a figure says its period and direction; where the same value says another, that counts."""
        agrees = period_agrees(claim, printed, self._evidence.sources[printed.doc]) is True
        dated = not claim.stated or (agrees and printed.sure)
        return dated and (not claim.direction or printed.row >= 0 or printed.direction != 0)

    def _faults(self, claim: Claim, match: Match, named: Named, company: Company) -> list[tuple[str, str]]:
        printed = match.printed
        source = self._evidence.sources[printed.doc]
        faults: list[tuple[str, str]] = []
        if company.stranger:
            faults.append((WRONG_ENTITY, f"the evidence is not about {company.stranger}"))
        elif company.docs is not None and printed.doc not in company.docs:
            faults.append(
                (WRONG_ENTITY, f"printed for {named_sources(self._evidence.sources, frozenset({printed.doc}))}")
            )
        if period_agrees(claim, printed, source) is False:
            theirs = ", ".join(one.text() for one in printed.whens) or "another period"
            faults.append(
                (WRONG_PERIOD, f"printed for {theirs}, not for {' or '.join(one.text() for one in claim.whens)}")
            )
        if printed.row < 0 and printed.change and not _speaks_of_change(claim):
            faults.append((WRONG_LINE, "printed as the amount of a change"))
        elif not self._lines.agrees(named, printed, claim):
            faults.append((WRONG_LINE, f"printed for {_short(printed.label)!r}"))
        if not sign_agrees(claim, printed):
            faults.append((WRONG_SIGN, f"printed as {printed.text!r}"))
        elif not direction_agrees(claim, printed, self._evidence):
            faults.append((WRONG_DIRECTION, "the evidence shows the opposite direction"))
        return faults

    def _otherwise(
        self, claim: Claim, company: Company, failed: FigureCheck | None, proved: Sequence[tuple[Claim, Printed]]
    ) -> FigureCheck:
        """Return the verdict where print does not prove a figure: derived, a fact, or why it fails."""
        named = self._lines.named_by(claim)
        derivation: Derivation | None = None
        for one in () if company.stranger else (named, *self._lines.others(claim, named)):
            derivation = derive(claim, one, self._lines, self._evidence, proved)
            if derivation is not None and not derivation.agrees:
                return self._derived(claim, derivation)
        fact = fact_for(claim, self._facts, self._evidence, company)
        if fact is not None:
            reason = f"{fact.concept} {fact.start or ''} {fact.end}".replace("  ", " ")
            return self._verdict(claim, FACT, None, reason)
        bare = self._as_printed(claim, company, named)
        if bare is not None:
            return bare
        if failed is not None and failed.verdict != UNSUPPORTED:
            return failed
        if derivation is not None:
            return self._verdict(claim, derivation.agrees, derivation.inputs[-1], derivation.reason)
        unit = wrong_unit(claim, self._evidence)
        if unit is not None and self._lines.agrees(named, unit.printed, claim):
            return self._verdict(claim, unit.how, unit.printed, unit.reason)
        return self._verdict(claim, UNSUPPORTED, None, self._expected(claim, named) or "not in the evidence")

    def _as_printed(self, claim: Claim, company: Company, named: Named) -> FigureCheck | None:
        """Let a bare figure pass that is copied from a table whose unit line gives it its scale."""
        if not claim.bare:
            return None
        size = abs(claim.number.value)
        for one in self._evidence.figures:
            if one.row < 0 or abs(one.value) != size or one.own_scale != 1 or one.unit not in ("", "x"):
                continue
            match = Match(one, VERBATIM)
            if not self._faults(claim, match, named, company):
                return self._verdict(claim, VERBATIM, one, "as printed; the table's unit line gives its scale")
        return None

    def _expected(self, claim: Claim, named: Named) -> str:
        """Say what the evidence prints for the line and period that a claim names."""
        for row in self._lines.rows_for(named)[:20]:
            for one in self._evidence.rows[row.number]:
                if one.unit == claim.number.unit and period_agrees(claim, one, self._evidence.sources[one.doc]) is True:
                    return f"the evidence prints {one.text!r} for {_short(one.label)!r}, {one.whens[0].text()}"
        return ""

    def _in_words(self, claim: Claim) -> bool:
        number = claim.number
        return claim.bare and number.value in self._number_words and not number.decimals

    def _derived(self, claim: Claim, one: Derivation) -> FigureCheck:
        check = self._verdict(
            claim, DERIVED, one.inputs[-1] if one.inputs else None, f"{one.operation}: {one.value:.6g}"
        )
        places = tuple((printed.doc, printed.span) for printed in one.inputs)
        return replace(check, inputs=places)

    def _verdict(self, claim: Claim, verdict: str, printed: Printed | None, reason: str = "") -> FigureCheck:
        source = self._evidence.sources[printed.doc] if printed else None
        return FigureCheck(
            text=claim.number.text,
            span=claim.number.span,
            value=claim.value,
            unit=claim.number.unit or claim.number.currency,
            verdict=verdict,
            reason=reason,
            document=printed.doc if printed else None,
            doc_id=str(source.metadata.get(DOC_ID) or source.metadata.get(SOURCE) or "") if source else "",
            evidence_span=printed.span if printed else None,
            source_span=source.source_span(printed.span) if source and printed else None,
            evidence_text=printed.text if printed else "",
            label=_short(printed.label) if printed else "",
            passed=verdict in PASSING,
        )

    def _strictly(self, check: FigureCheck) -> FigureCheck:
        if not self._strict or check.verdict == VERBATIM or not check.passed:
            return check
        return replace(check, passed=False)


def _speaks_of_change(claim: Claim) -> bool:
    text = claim.sentence.text
    return claim.change or bool(
        claim.direction or phrases("change").search(text) or phrases("up").search(text) or phrases("down").search(text)
    )


def _short(label: str) -> str:
    text = " ".join(label.split())
    return text if len(text) <= 80 else "…" + text[-79:]


def _with_own_direction(claims: Sequence[Claim], checks: tuple[FigureCheck, ...]) -> tuple[FigureCheck, ...]:
    """Check "rose from A to B" by its own two figures."""
    changed = list(checks)
    for at in range(1, len(claims)):
        one, two = claims[at - 1], claims[at]
        if one.sentence.index != two.sentence.index or one.number.unit != two.number.unit or one.earlier == two.earlier:
            continue
        if one.change or two.change or (two.earlier and _CLAUSE.search(two.mention.before)):
            continue
        before, after = (one, two) if one.earlier else (two, one)
        places = (at, at - 1) if before is two else (at - 1, at)
        heard = [direction_of(claims[place].mention, checks[place].label) for place in reversed(places)]
        direction = (heard[0] or heard[1]) if before is two else (heard[1] or heard[0])
        direction = direction or only_direction(one.sentence.text, checks[at].label)
        linked = before is two or re.match(r"\s*(?:[\w%(),. ]{0,60})\b(?:to|a|hasta)\b", one.mention.after)
        old, new = abs(before.value), abs(after.value)
        place = at if after is two else at - 1
        if direction and linked and old != new and (new > old) != (direction > 0) and changed[place].passed:
            if before.value < 0 or after.value < 0:
                continue
            reason = f"from {before.number.text} to {after.number.text}"
            changed[place] = replace(changed[place], verdict=WRONG_DIRECTION, passed=False, reason=reason)
    return tuple(changed)


_CLAUSE: Final = re.compile(r"\b(?:while|whereas|and|but|although|mientras|pero|y|aunque|whilst)\b", re.IGNORECASE)


def _number_words(evidence: Evidence) -> frozenset[Decimal]:
    """Return the small numbers that the evidence writes in words."""
    known = words()["small_numbers"]
    found: set[Decimal] = set()
    for source in evidence.sources:
        for word in set(re.findall(r"[^\W\d_]+", source.folded)):
            if word in known and float(known[word]).is_integer() and known[word] > 1:
                found.add(Decimal(known[word]))
    return frozenset(found)


_SPANISH: Final = re.compile(
    r"\b(?:el|la|los|las|de|del|en|fue|fueron|por|con|un|una|que|millones|miles|ejercicio|año|hasta|ascendió|"
    r"ventas|ingresos)\b",
    re.IGNORECASE,
)
_ENGLISH: Final = re.compile(
    r"\b(?:the|of|in|was|were|for|with|from|and|that|million|thousand|fiscal|year|to|net|sales|revenue|at|by)\b",
    re.IGNORECASE,
)


def _language(text: str) -> str | None:
    """Tell English from Spanish by their small words, so that "1.234" is read as its writer meant it."""
    spanish, english = len(_SPANISH.findall(text)), len(_ENGLISH.findall(text))
    if spanish == english:
        return None
    return "es" if spanish > english else "en"


def has_figures(text: str) -> bool:
    """Tell whether a text holds any figure that needs proof."""
    return bool(find_numbers(text)) and bool(read_answer(text).claims)
