"""Figures that follow from others: growth, differences, shares, sums, averages, and ratios by their name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, DecimalException
from typing import Final

from fin_rag.answers.claims import APPROXIMATE, CEILING, FLOOR, Claim
from fin_rag.answers.derivation import POINTS_NOT_PERCENT, Derivation
from fin_rag.answers.evidence import Evidence, Printed
from fin_rag.answers.judge import is_outflow, period_agrees, round_step
from fin_rag.answers.labels import tokens
from fin_rag.answers.lines import Lines, Named, Row
from fin_rag.answers.ratiocheck import by_ratio
from fin_rag.answers.vocabulary import phrase_pattern, phrases
from fin_rag.facts.ratios import ratio_map

_MOST: Final = 12
_SHARE: Final = re.compile(
    r"\b(?:of|to|over|in|relative to|as a (?:percentage|share|proportion) of|de|del|sobre|de los|"
    r"de las)\s+(?:the\s+|total\s+|its\s+|los\s+|las\s+|el\s+|la\s+)?([^,.;]{3,60})",
    re.IGNORECASE,
)
_TOGETHER: Final = phrase_pattern(
    (
        "total",
        "totalling",
        "totaling",
        "combined",
        "together",
        "sum",
        "altogether",
        "in aggregate",
        "aggregate",
        "conjunto",
        "suma",
        "sumados",
        "en total",
        "juntos",
        "plus",
        "más",
    )
)
_AVERAGE: Final = phrase_pattern(("average", "mean", "on average", "media", "promedio", "de media"))
_TIMES: Final = phrase_pattern(("times", "multiple", "ratio", "veces", "múltiplo", "multiplied", "multiplicó"))


def derive(
    claim: Claim, named: Named, lines: Lines, evidence: Evidence, proved: Sequence[tuple[Claim, Printed]]
) -> Derivation | None:
    """Return how a claim follows from the evidence or from figures of the answer that are proved; best first."""
    found: list[Derivation] = []
    for one in _candidates(claim, named, lines, evidence, proved):
        fit = _fits(claim, one)
        if fit is not None:
            if not fit.agrees:
                return fit
            found.append(fit)
    return found[0] if found else None


def _candidates(
    claim: Claim, named: Named, lines: Lines, evidence: Evidence, proved: Sequence[tuple[Claim, Printed]]
) -> Iterator[Derivation]:
    if claim.change or claim.direction or phrases("change").search(claim.sentence.text):
        yield from _changes(claim, lines.rows_for(named), evidence)
    yield from by_ratio(claim, lines, evidence)
    yield from _shares(claim, named, lines, evidence)
    yield from _pairs(claim, proved)


def _fits(claim: Claim, one: Derivation) -> Derivation | None:
    """Compare a derived value with the claim; ``None`` if it is another size."""
    size, step = abs(claim.value), claim.step
    low, high = size - step / 2, size + step / 2
    if claim.size == FLOOR:
        high = size + step
    elif claim.size == CEILING:
        low = size - step
    elif claim.size == APPROXIMATE:
        wide = step if claim.number.decimals else max(step, round_step(size, step) / 2)
        low, high = size - wide, size + wide
    slack = _slack(one) if claim.number.unit or one.operation in ratio_map() else Decimal(0)
    if not low - slack <= abs(one.value) <= high + slack:
        return None
    if one.agrees or not one.value:
        return one
    wanted = (
        claim.direction
        if claim.direction and (claim.change or one.operation in _SIGNED) and claim.number.value >= 0
        else 0
    )
    if one.operation in _SIGNED:
        if wanted and (one.value > 0) != (wanted > 0):
            return _with(one, "wrong_direction", "the evidence shows the opposite direction")
        if not wanted and not claim.loss and (one.value < 0) != (claim.number.value < 0) and not _negative_words(claim):
            return _with(one, "wrong_sign", f"computed as {one.value:.4g}")
    elif (one.value < 0) != (claim.number.value < 0) and not claim.loss:
        return _with(one, "wrong_sign", f"computed as {one.value:.4g}")
    return one


def _slack(one: Derivation) -> Decimal:
    """Return by how much the rounding of the printed inputs can move the result."""
    if one.operation == "difference in points":
        return sum((Decimal(1).scaleb(-printed.decimals) / 2 for printed in one.inputs), Decimal(0))
    share = Decimal(0)
    for printed in one.inputs:
        if printed.value:
            share += Decimal(1).scaleb(-printed.decimals) * printed.own_scale / 2 / abs(printed.value)
    base = abs(one.value) + 100 if one.operation in ("growth", "compound annual growth") else abs(one.value)
    return base * share


_SIGNED: Final = frozenset({"growth", "difference", "difference in points"})


def _negative_words(claim: Claim) -> bool:
    return claim.direction < 0 or bool(phrases("change").search(claim.sentence.text) and claim.number.value >= 0)


def _with(one: Derivation, verdict: str, reason: str) -> Derivation:
    return Derivation(one.operation, one.inputs, one.value, verdict, reason)


# --- changes over time ----------------------------------------------------------------------------


def _changes(claim: Claim, rows: Sequence[Row], evidence: Evidence) -> Iterator[Derivation]:
    for row in rows[:40]:
        figures = [one for one in evidence.rows[row.number] if one.whens and not one.change]
        for now in figures:
            if not _is_now(claim, now, evidence):
                continue
            for then in figures:
                if then is now or then.unit != now.unit or not _earlier(then, now, claim):
                    continue
                yield from change(claim, then, now)


def _is_now(claim: Claim, printed: Printed, evidence: Evidence) -> bool:
    return period_agrees(claim, printed, evidence.sources[printed.doc]) is not False or len(claim.sentence.whens) > 1


def _earlier(then: Printed, now: Printed, claim: Claim) -> bool:
    one, two = then.whens[0], now.whens[0]
    if one.months != two.months or not one.year or not two.year:
        return False
    if (one.year, one.month) >= (two.year, two.month):
        return False
    years = {when.year for when in claim.sentence.whens if when.year}
    return two.year - one.year == 1 or one.year in years or (one.year == two.year and one.part != two.part)


def change(claim: Claim, then: Printed, now: Printed) -> Iterator[Derivation]:
    """Yield the changes between two figures in the unit of the claim."""
    old, new = then.values[0], now.values[0]
    if old < 0 and new < 0 and is_outflow(now.label):
        old, new = -old, -new  # expenses in brackets grow when there is more of them
    unit = claim.number.unit
    if unit in ("%", "") and then.unit == "" and unit == "%":
        if old:
            yield Derivation("growth", (then, now), (new - old) / abs(old) * 100)
    elif unit in ("pp", "bp") and then.unit == "%":
        yield Derivation("difference in points", (then, now), (new - old) * (100 if unit == "bp" else 1))
    elif unit == "%" and then.unit == "%":
        if old:
            yield Derivation("growth", (then, now), (new - old) / abs(old) * 100)
        yield Derivation(
            "difference in points",
            (then, now),
            new - old,
            "wrong_scale",
            POINTS_NOT_PERCENT,
        )
    elif unit == "" and then.unit == "" and claim.change:
        yield Derivation("difference", (then, now), new - old)
    elif unit == "x" and old:
        yield Derivation("multiple", (then, now), new / old)


# --- ratios by name, shares -----------------------------------------------------------------------


def _shares(claim: Claim, named: Named, lines: Lines, evidence: Evidence) -> Iterator[Derivation]:
    """Yield a line as a share of another: "22 % of net sales"."""
    if claim.number.unit not in ("%", "x") or claim.change:
        return
    match = _SHARE.match(claim.mention.after.lstrip()) or _SHARE.search(claim.mention.before[-90:])
    if match is None:
        return
    whole = lines._named(match[1])  # one room
    parts = [row for row in lines.rows_for(named) if row.plain != tokens(match[1])] or lines.rows_for(
        lines._named(claim.mention.lead)
    )
    bases = lines.rows_for(whole)
    bases += [lines.rows[number] for concept in sorted(whole.concepts) for number in lines.by_concept.get(concept, ())]
    for base in bases[: 2 * _MOST]:
        for row in parts[:_MOST]:
            if row.number == base.number or row.doc != base.doc:
                continue
            yield from _share_of(claim, row, base, evidence)


def _share_of(claim: Claim, row: Row, base: Row, evidence: Evidence) -> Iterator[Derivation]:
    for one in evidence.rows[row.number]:
        if one.unit or period_agrees(claim, one, evidence.sources[one.doc]) is False:
            continue
        for two in evidence.rows[base.number]:
            same = one.whens[:1] == two.whens[:1] or (one.whens and two.whens and one.whens[0].key == two.whens[0].key)
            if same and not two.unit and two.values[0]:
                value = abs(one.values[0] / two.values[0])
                yield Derivation("share", (one, two), value * (100 if claim.number.unit == "%" else 1))


# --- from figures of the answer -------------------------------------------------------------------


def _pairs(claim: Claim, proved: Sequence[tuple[Claim, Printed]]) -> Iterator[Derivation]:
    near = [one for one in proved if abs(one[0].sentence.index - claim.sentence.index) <= 1][-_MOST:]
    moved = claim.change or bool(phrases("change").search(claim.sentence.text)) or bool(claim.direction)
    said = claim.sentence.text
    for first in near:
        for second in near:
            if first is second or first[0].number.span.start == second[0].number.span.start:
                continue
            yield from _pair(claim, first, second, moved=moved)
    values = [(one, printed) for one, printed in near if one.number.unit == claim.number.unit]
    if len(values) >= 2 and _TOGETHER.search(said):
        total = sum((one.value for one, _ in values), Decimal(0))
        yield Derivation("sum", tuple(printed for _, printed in values), total)
        for at in range(len(values) - 1):
            two = values[at : at + 2]
            yield Derivation("sum", tuple(p for _, p in two), sum((c.value for c, _ in two), Decimal(0)))
    if len(values) >= 2 and _AVERAGE.search(said):
        mean = sum((one.value for one, _ in values), Decimal(0)) / len(values)
        yield Derivation("average", tuple(printed for _, printed in values), mean)


def _pair(
    claim: Claim, first: tuple[Claim, Printed], second: tuple[Claim, Printed], *, moved: bool
) -> Iterator[Derivation]:
    """Yield what two proved figures of an answer give together."""
    one, two = first[0], second[0]
    if one.number.unit != two.number.unit:
        return
    try:
        if moved and _order(one, two) >= 0:
            yield from _moved(claim, first, second)
        if one.number.unit == "" and two.value:
            yield from _compared(claim, first, second, moved=moved)
    except DecimalException:
        return


def _moved(claim: Claim, first: tuple[Claim, Printed], second: tuple[Claim, Printed]) -> Iterator[Derivation]:
    """Yield the changes from an earlier figure of an answer to a later one."""
    (one, then), (two, now) = first, second
    old, new, unit, theirs = one.value, two.value, claim.number.unit, one.number.unit
    growth = (new - old) / abs(old) * 100 if old else None
    if unit == "%" and theirs in ("", "%") and growth is not None:
        yield Derivation("growth", (then, now), growth)
    if unit == "%" and theirs == "":
        years = _years_between(one, two)
        if years > 1 and old > 0 and new > 0:
            yield Derivation("compound annual growth", (then, now), ((new / old) ** (Decimal(1) / years) - 1) * 100)
    elif unit == "%" and theirs == "%":
        yield Derivation("difference in points", (then, now), new - old, "wrong_scale", POINTS_NOT_PERCENT)
    elif unit in ("pp", "bp") and theirs == "%":
        yield Derivation("difference in points", (then, now), (new - old) * (100 if unit == "bp" else 1))
    elif unit == "" and theirs == "" and claim.change:
        yield Derivation("difference", (then, now), new - old)


def _compared(
    claim: Claim, first: tuple[Claim, Printed], second: tuple[Claim, Printed], *, moved: bool
) -> Iterator[Derivation]:
    """Yield the share, the multiple or the difference of two figures of an answer."""
    (one, then), (two, now) = first, second
    unit = claim.number.unit
    if unit == "%":
        yield Derivation("share", (then, now), abs(one.value / two.value) * 100)
    elif unit == "x" or _TIMES.search(claim.sentence.text):
        yield Derivation("multiple", (then, now), abs(one.value / two.value))
    elif unit == "" and not moved and _is_difference(claim):
        yield Derivation("difference", (then, now), two.value - one.value)


def _is_difference(claim: Claim) -> bool:
    return bool(
        re.search(
            r"\b(?:less|minus|net of|difference|menos|diferencia|subtract\w*|after deducting)\b",
            claim.sentence.text,
            re.IGNORECASE,
        )
    )


def _order(one: Claim, two: Claim) -> int:
    """Return 1 if the first claim is of an earlier period than the second, -1 if of a later one, 0 if unknown."""
    first = next((when for when in one.whens if when.year), None)
    second = next((when for when in two.whens if when.year), None)
    if first is None or second is None or first.key == second.key:
        return 1 if one.earlier and not two.earlier else -1 if two.earlier and not one.earlier else 0
    return 1 if (first.year, first.month, first.part) < (second.year, second.month, second.part) else -1


def _years_between(one: Claim, two: Claim) -> int:
    first = next((when.year for when in one.whens if when.year), 0)
    second = next((when.year for when in two.whens if when.year), 0)
    return second - first if first and second else 0
