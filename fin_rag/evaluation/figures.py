"""Compare the figures of an answer with the gold ones, and with those printed in the evidence.

One rule for both. A figure is *exact* when the values are equal, whatever the notation (``$1,577 million``,
``1577000000``, ``1.577,0 millones``); *rounded* when it is the other one as far as one of them is printed, and at most
5 % away (``$1.58 billion`` for ``$1,577 million``; never ``$2 billion``); *tolerated* when a tolerance is given and the
relative difference is within it; *wrong* otherwise. Percentages equal their ratios (``8 %`` and ``0.08``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Final

from fin_rag.text.numbers import Number, find_numbers

EXACT, ROUNDED, TOLERATED, WRONG = "exact", "rounded", "tolerated", "wrong"
_RANK: Final = {EXACT: 0, ROUNDED: 1, TOLERATED: 2, WRONG: 3}
_FARTHEST: Final = Decimal("0.05")
_SCALES: Final = (Decimal(10) ** 3, Decimal(10) ** 6, Decimal(10) ** 9)
_AMOUNTS: Final = ("amount", "nil")


def match_answer(
    gold: str,
    answer: str,
    *,
    tolerance: Decimal | None = None,
    scale: Decimal | None = None,
    lang: str | None = None,
) -> str | None:
    """Judge the figures of an answer by those of the gold answer: the worst verdict over the gold figures.

    ``scale`` multiplies gold figures that name no scale themselves. Without it, a bare gold figure takes the scale
    of the figure it is compared with: gold sets often print ``1577`` for a question asked in millions. Years and
    dates count only where the gold answer holds nothing else. ``None``: the gold answer has no figure.

    Example:
        >>> [match_answer("$1,577.00", text) for text in ("1577 million", "$1.58 billion", "1,600")]
        ['exact', 'rounded', 'wrong']
        >>> match_answer("8.0 %", "It grew by 8,0 por ciento", lang="es"), match_answer("No", "No") is None
        ('exact', True)
    """
    wanted = figures(gold, lang=lang)
    if not wanted:
        return None
    given = find_numbers(answer, lang=lang)
    verdicts = [_best(number, given, tolerance, scale, open_scale=True, other=not lang) for number in wanted]
    return max(verdicts, key=_RANK.__getitem__)


def figures(text: str, *, lang: str | None = None) -> list[Number]:
    """Return the amounts of a text; its years, dates and labels only where it has no amount."""
    numbers = find_numbers(text, lang=lang)
    return [n for n in numbers if n.kind in _AMOUNTS] or [n for n in numbers if n.kind in ("year", "date")]


def printed_figures(answer: str, evidence: Sequence[str], *, lang: str | None = None) -> list[tuple[str, str]]:
    """Return each amount of an answer with ``verbatim``, ``equal``, ``rounded`` or ``unsupported``.

    The plain check that needs nothing but texts: is that value printed in the evidence, as it is or in the scale of
    a table ("in millions")? It knows no rows, periods or units; ``fin_rag.answers`` has the check that does.
    """
    printed = [number for text in evidence for number in find_numbers(text, lang=lang)]
    texts = {number.text for number in printed}
    names = {EXACT: "equal", ROUNDED: "rounded", WRONG: "unsupported"}
    out = []
    for number in find_numbers(answer, lang=lang):
        if number.kind != "amount":
            continue
        if number.text in texts:
            out.append((number.text, "verbatim"))
            continue
        best = min((_compare(n, number, None, open_scale=True) for n in printed), key=_RANK.__getitem__, default=WRONG)
        out.append((number.text, names[best]))
    return out


def _best(
    wanted: Number,
    given: Iterable[Number],
    tolerance: Decimal | None,
    scale: Decimal | None,
    *,
    open_scale: bool,
    other: bool,
) -> str:
    readings = [wanted.value] + ([wanted.alternative] if other and wanted.alternative is not None else [])
    best = WRONG
    for number in given:
        for value in readings:
            factor = scale if scale is not None and _bare(wanted) else Decimal(1)
            open_here = open_scale and scale is None
            verdict = _compare(wanted, number, tolerance, open_scale=open_here, value=value * factor, unit=factor)
            best = min(best, verdict, key=_RANK.__getitem__)
    return best


def _bare(number: Number) -> bool:
    """Tell whether a figure leaves its scale open: no scale word and no unit of its own."""
    return number.scale == 1 and not number.unit


def _compare(
    wanted: Number,
    given: Number,
    tolerance: Decimal | None,
    *,
    open_scale: bool,
    value: Decimal | None = None,
    unit: Decimal = Decimal(1),
) -> str:
    if wanted.currency and given.currency and wanted.currency != given.currency:
        return WRONG
    value = wanted.value if value is None else value
    best = WRONG
    for target, found, fine, coarse in _pairs(wanted, value, unit, given, open_scale=open_scale):
        best = min(best, _verdict(target, found, fine, coarse, tolerance), key=_RANK.__getitem__)
    return best


def _pairs(
    wanted: Number, value: Decimal, unit: Decimal, given: Number, *, open_scale: bool
) -> Iterator[tuple[Decimal, Decimal, Decimal, Decimal]]:
    """Yield the values to compare, in one scale, with the last printed place of each."""
    last_wanted = unit * wanted.scale * Decimal(10) ** -wanted.decimals
    last_given = given.scale * Decimal(10) ** -given.decimals
    for found in (given.value, given.alternative):
        if found is None:
            continue
        if wanted.unit == given.unit or not (wanted.unit and given.unit) or {wanted.unit, given.unit} == {"%", "pp"}:
            yield value, found, last_wanted, last_given
        if wanted.unit in ("%", "pp") and not given.unit:
            yield value / 100, found, last_wanted / 100, last_given
        if given.unit in ("%", "pp") and not wanted.unit:
            yield value, found / 100, last_wanted, last_given / 100
        if open_scale and _bare(wanted) and not given.unit and given.scale != 1:
            for scale in _SCALES:
                yield value * scale, found, last_wanted * scale, last_given


def _verdict(target: Decimal, found: Decimal, fine: Decimal, coarse: Decimal, tolerance: Decimal | None) -> str:
    difference = abs(target - found)
    if not difference:
        return EXACT
    size = abs(target)
    if difference <= max(fine, coarse) / 2 and difference <= size * _FARTHEST:
        return ROUNDED
    if tolerance is not None and difference <= size * tolerance:
        return TOLERATED
    return WRONG
