"""Hold a claimed figure against one figure of the evidence: size, unit, sign, period, line item, company, direction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from fin_rag.answers.claims import APPROXIMATE, CEILING, FLOOR, Claim
from fin_rag.answers.evidence import Evidence, Printed, Source
from fin_rag.answers.sentences import direction_of
from fin_rag.answers.vocabulary import phrases, word_set
from fin_rag.answers.when import When

VERBATIM: Final = "verbatim"
EQUAL: Final = "equal"
ROUNDED: Final = "rounded"
WRONG_SCALE: Final = "wrong_scale"
WRONG_SIGN: Final = "wrong_sign"
_POWERS: Final = tuple(Decimal(10) ** power for power in (3, -3, 6, -6, 9, -9, 2, -2, 1, -1))
_EARLY: Final = 2  # a fiscal year that closes by then may be called by the year before


@dataclass(frozen=True, slots=True)
class Match:
    """Hold a figure of the evidence that has the size of a claim, and in which way."""

    printed: Printed
    how: str
    reason: str = ""


def same_size(claim: Claim, evidence: Evidence, lang: str = "") -> list[Match]:
    """Return the figures of the evidence that have the claimed size, best first."""
    found: list[Match] = []
    for size, step, copied in _sizes(claim, lang):
        kind = "" if claim.size == APPROXIMATE and claim.number.decimals else claim.size
        low, high = _bounds(size, step, kind)
        for value, printed in evidence.between(low, high):
            if not units_agree(claim, printed) or (copied and _digits(printed.text) != _digits(claim.number.text)):
                continue
            if value == size:
                found.append(Match(printed, VERBATIM if _is_verbatim(claim, printed) else EQUAL))
            elif printed.own_scale == 1 or _finer(printed, step):
                found.append(Match(printed, ROUNDED))
        if found:
            break
    order = {VERBATIM: 0, EQUAL: 1, ROUNDED: 2}
    unique: dict[tuple[int, int], Match] = {}
    for one in sorted(found, key=lambda match: order[match.how]):
        unique.setdefault((one.printed.doc, one.printed.span.start), one)
    return list(unique.values())


def _sizes(claim: Claim, lang: str) -> Iterator[tuple[Decimal, Decimal, bool]]:
    """Yield the sizes that a claim may mean: as read, or in the notation of an English original that it copies."""
    yield abs(claim.value), claim.step, False
    other = claim.number.alternative
    if other is not None and lang.startswith("es"):
        yield abs(other), Decimal(claim.number.scale), True


def _bounds(size: Decimal, step: Decimal, kind: str) -> tuple[Decimal, Decimal]:
    half = step / 2
    if kind == FLOOR:
        return size - half, size + step
    if kind == CEILING:
        return max(size - step, Decimal(0)), size + half
    if kind == APPROXIMATE:
        half = max(half, round_step(size, step) / 2)
    return max(size - half, Decimal(0)), size + half


def round_step(size: Decimal, step: Decimal) -> Decimal:
    """Return the step of a round figure: "about 1,400" is right to the hundred."""
    count = int(size / step) if step else 0
    while count and count % 10 == 0:
        count //= 10
        step *= 10
    return step


def _finer(printed: Printed, step: Decimal) -> bool:
    """Tell whether a printed figure is at least as precise as the claim that rounds it."""
    return Decimal(1).scaleb(-printed.decimals) * printed.own_scale <= step


def _is_verbatim(claim: Claim, printed: Printed) -> bool:
    number = claim.number
    return (
        _digits(number.text) == _digits(printed.text)
        and number.scale == printed.own_scale
        and (claim.factor == 1 or number.scale != 1 or bool(number.unit))
    )


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdigit() or char in ".,").strip(".,")


def units_agree(claim: Claim, printed: Printed) -> bool:
    """Tell whether two figures count the same kind of thing."""
    one, two = claim.number.unit, printed.unit
    if one != two and not {one, two} <= {"", "x"}:
        return False
    return currencies_agree(claim.number.currency, printed.currency)


def currencies_agree(one: str, two: str) -> bool:
    """Tell whether two currencies may be the same; a bare dollar sign may be any dollar or peso."""
    if not one or not two or one == two:
        return True
    return one in word_set("dollar_like") and two in word_set("dollar_like") and "USD" in (one, two)


def points_or_basis(claim: Claim, evidence: Evidence) -> list[Match]:
    """Return figures of the same size where basis points and percentage points are counted in each other."""
    if claim.number.unit not in ("pp", "bp"):
        return []
    factor = Decimal(100) if claim.number.unit == "pp" else Decimal("0.01")
    wanted = "bp" if claim.number.unit == "pp" else "pp"
    size, half = abs(claim.value) * factor, claim.step * factor / 2
    return [Match(one, EQUAL) for _, one in evidence.between(size - half, size + half) if one.unit == wanted]


def wrong_unit(claim: Claim, evidence: Evidence) -> Match | None:
    """Return a figure with the claimed digits in another unit or scale."""
    size, step = abs(claim.value), claim.step
    if not size:
        return None
    for _, printed in evidence.between(size - step / 2, size + step / 2):
        pair = {claim.number.unit, printed.unit}
        if pair <= {"%", "pp", "bp"} and len(pair) == 2:
            names = {"%": "percent", "pp": "percentage points", "bp": "basis points"}
            return Match(printed, WRONG_SCALE, f"printed as {names[printed.unit]}, not {names[claim.number.unit]}")
    for power in _POWERS:
        for _, printed in evidence.between(size * power - step * power / 2, size * power + step * power / 2):
            if units_agree(claim, printed) and (printed.value or not size):
                return Match(
                    printed,
                    WRONG_SCALE,
                    f"printed {printed.text!r} stands for {_plain(size * power)}, not {_plain(size)}",
                )
    return None


def _plain(value: Decimal) -> str:
    return f"{value.normalize():,f}"


# --- sign -----------------------------------------------------------------------------------------


def sign_agrees(claim: Claim, printed: Printed) -> bool:
    """Tell whether a claim has the sign of the printed figure, in whatever notation.

    A statement prints payments and expenses in brackets: the same figure without a minus is right for them. A loss
    named as such needs no minus.
    """
    minus, negative = claim.number.value < 0, printed.value < 0
    if minus == negative or not claim.number.value:
        return True
    if claim.change and claim.direction and not minus:
        return True  # "rose" and "fell" are the sign of a change; whether they fit is a question of direction
    label = f"{printed.label} {printed.groups}" if printed.row >= 0 else printed.label
    if negative:
        return claim.loss or claim.direction < 0 or is_outflow(printed.label)
    if claim.change and printed.direction < 0:
        return True
    # A minus in the answer, none in the print: right only where the print says loss or fall in words.
    if printed.row < 0:
        return printed.direction < 0 or bool(phrases("plain_loss").search(label[-80:]))
    return _named_loss(printed.label) and not claim.loss


def is_outflow(label: str) -> bool:
    """Tell whether a line is a payment or an expense, which statements may print in brackets."""
    plain = label.casefold()
    if any(
        word in plain
        for word in ("net income", "net earnings", "resultado", "profit", "beneficio", "(loss)", "income (loss)")
    ):
        return False
    return bool(phrases("outflow_labels").search(label))


def _named_loss(label: str) -> bool:
    plain = label.casefold()
    return any(
        word in plain
        for word in (
            "net loss",
            "loss from operations",
            "operating loss",
            "pérdida neta",
            "accumulated deficit",
            "loss per share",
        )
    )


# --- period ---------------------------------------------------------------------------------------


def period_agrees(claim: Claim, printed: Printed, source: Source) -> bool | None:
    """Tell whether a figure is of the claimed period; ``None`` where one of them is not known."""
    whens = [one for one in claim.whens if one.year or one.part]
    if not whens:
        return None
    theirs = printed.whens
    if not theirs:
        return _by_document(whens, source) if claim.stated else None
    answers = [_agree(one, other, source) for one in whens for other in theirs]
    if any(answers):
        return True
    if not printed.sure and printed.row < 0 and any(one is None for one in answers):
        return None
    return None if all(one is None for one in answers) else False


def _by_document(whens: Sequence[When], source: Source) -> bool | None:
    """Judge by the whole document where a figure names no period: its year must at least be one that it speaks of."""
    years = [one.year for one in whens if one.year]
    if not years or not source.years:
        return None
    if any(year in source.years or (year + 1 in source.years and source.calendar_shift == 1) for year in years):
        return None
    return False


def _agree(one: When, other: When, source: Source) -> bool | None:
    """Compare a claimed period with a printed one."""
    if one.months and other.months and one.months != other.months:
        return False
    if not one.year or not other.year:
        return None if not one.part or not other.part else one.part == other.part
    if not _years_agree(one, other, source):
        return False
    return _parts_agree(one, other, source)


def _years_agree(one: When, other: When, source: Source) -> bool:
    if one.month and other.month:
        if one.year == other.year:
            return True
        # The last days of a year of whole weeks may fall into the next one.
        return (
            abs((one.year * 12 + one.month) - (other.year * 12 + other.month)) <= 1
            and bool(one.day and other.day)
            and abs(one.day - other.day) > 20
        )
    fiscal, dated = (one, other) if other.month else (other, one)
    if not dated.month:
        return one.year == other.year
    shift = source.calendar_shift
    if shift is not None and abs(dated.month - source.close_month) in (0, 1, 11):
        if dated.year - shift == fiscal.year:
            return True
        return shift != 0 and not fiscal.fiscal and dated.year == fiscal.year
    if dated.year == fiscal.year:
        return True
    return shift is None and dated.month <= _EARLY and dated.year - 1 == fiscal.year


def _parts_agree(one: When, other: When, source: Source) -> bool | None:
    if one.part and other.part:
        return one.part == other.part
    if one.month and other.month:
        return abs(one.month - other.month) in (0, 1, 11) if one.day and other.day else one.month == other.month
    named, dated = (one, other) if one.part else (other, one)
    if named.part and dated.month:
        return _quarter_agrees(named, dated, source)
    return not (named.part and other.months in (9, 12))


def _quarter_agrees(named: When, dated: When, source: Source) -> bool | None:
    if dated.months and named.months and dated.months != named.months:
        return False
    default = source.default
    if default is not None and default.part and default.year == named.year:
        return named.part == default.part or None
    calendar = f"Q{(dated.month + 2) // 3}" if named.part.startswith("Q") else f"H{1 if dated.month <= 7 else 2}"
    return True if calendar == named.part else None


# --- direction ------------------------------------------------------------------------------------


def direction_agrees(claim: Claim, printed: Printed, evidence: Evidence) -> bool:
    """Tell whether "rose" or "fell" around a claim goes with what the evidence shows."""
    direction = direction_of(claim.mention, printed.label) if printed.row >= 0 else claim.direction
    if not direction:
        return True
    if direction != claim.direction:
        claim = replace(claim, direction=direction)
    if claim.change:
        return _change_agrees(claim, printed)
    if printed.row < 0:
        return not printed.direction or printed.direction == claim.direction or claim.earlier
    return _level_agrees(claim, printed, evidence)


def _change_agrees(claim: Claim, printed: Printed) -> bool:
    if printed.row < 0:
        if printed.direction:
            return printed.direction == claim.direction
        return True
    if printed.value < 0:
        return claim.direction < 0
    return claim.direction > 0 or not printed.change


def _level_agrees(claim: Claim, printed: Printed, evidence: Evidence) -> bool:
    """Compare with the row's figure of the period before."""
    if claim.earlier or not printed.whens or printed.unit != claim.number.unit:
        return True
    year = printed.whens[0]
    before = [
        one for one in evidence.rows.get(printed.row, ())
        if one is not printed and one.unit == printed.unit and not one.change and one.whens
        and one.whens[0].year == year.year - 1 and one.whens[0].months == year.months
    ]  # fmt: skip
    if len(before) != 1:
        return True
    now, then = printed.value, before[0].value
    if now < 0 and then < 0:
        now, then = abs(now), abs(then)
        if not is_outflow(printed.label) and not claim.loss:
            return True
    if now == then:
        return True
    return (now > then) == (claim.direction > 0)
