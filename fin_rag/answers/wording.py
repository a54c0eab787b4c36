"""Write figures as sentences, in English and Spanish."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from fin_rag.answers.compute import Computed
from fin_rag.answers.questions import GROWTH, SHARE, FigureQuestion
from fin_rag.facts.concepts import concept_map
from fin_rag.facts.model import number_text

_SYMBOLS: Final = {"USD": "$", "EUR": "€", "GBP": "£"}
_SCALES: Final = ((10**9, "billion", "miles de millones"), (10**6, "million", "millones"), (10**3, "thousand", "miles"))


def figure_sentence(asked: FigureQuestion, done: Computed, issuer: str, lang: str) -> str:
    """Write what was found: line item, issuer, period, value, and a number for each source."""
    spanish = lang.startswith("es")
    period = (
        str(asked.periods[-1])
        if len(asked.periods) == 1 or not (asked.average or asked.kind == GROWTH)
        else f"{asked.periods[0]}–{asked.periods[-1]}"
    )
    label = _label(asked, spanish=spanish)
    value = amount(done.value or Decimal(0), done.unit, factor=asked.factor, lang=lang)
    marks = "".join(f"[{number}]" for number in range(1, len(done.records()) + 1))
    joined = "de" if spanish else "of"
    return f"{label[0].upper() + label[1:]} {joined} {issuer} ({period}): {value} {marks}".rstrip()


def _label(asked: FigureQuestion, *, spanish: bool) -> str:
    names = {one.id: one.label_es if spanish else one.label_en for one in concept_map().concepts}
    if asked.kind == SHARE:
        share = "en % de" if spanish else "as % of"
        label = f"{names[asked.concepts[0]]} {share} {names[asked.concepts[1]]}"
    elif asked.ratio is not None:
        label = asked.ratio.label_es if spanish else asked.ratio.label_en
        if asked.concepts:
            label += f" {'menos' if spanish else 'less'} {names[asked.concepts[-1]]}"
    else:
        label = names[asked.concepts[0]]
        if len(asked.concepts) > 1 and asked.kind == "difference":
            label += f" {'menos' if spanish else 'less'} {names[asked.concepts[-1]]}"
    if asked.kind == GROWTH:
        label = f"{'variación de' if spanish else 'change in'} {label}"
    if asked.average:
        label = f"{'media de' if spanish else 'average'} {label}"
    return label


def amount(value: Decimal, unit: str, *, factor: int = 1, lang: str = "en") -> str:
    """Write a value with its unit, in the scale in which it is exact and short.

    Example:
        >>> amount(Decimal(1_356_200_000), "USD"), amount(Decimal(1_356_200_000), "EUR", lang="es")
        ('$1,356.2 million', '1.356,2 millones de euros')
        >>> amount(Decimal("9.8582"), "%"), amount(Decimal("-5.61"), "USD/shares")
        ('9.9%', '-$5.61')
    """
    spanish = lang.startswith("es")
    if unit == "%":
        return _grouped(value.quantize(Decimal("0.1"), ROUND_HALF_UP), spanish=spanish) + (" %" if spanish else "%")
    if unit in ("x", "days"):
        text = _grouped(value.quantize(Decimal("0.01"), ROUND_HALF_UP), spanish=spanish)
        return text + {"x": "x", "days": " días" if spanish else " days"}[unit]
    currency, _, per = unit.partition("/")
    minus = "-" if value < 0 else ""
    size = abs(value)
    if per or unit == "shares":
        text = _grouped(Decimal(number_text(size.quantize(Decimal("0.0001")))), spanish=spanish)
        return minus + (text if unit == "shares" else _money(text, currency, "", spanish=spanish))
    scale, name = _scale(size, factor, spanish=spanish)
    return minus + _money(
        _grouped(Decimal(number_text(_rounded(size / scale))), spanish=spanish), currency, name, spanish=spanish
    )


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.001"), ROUND_HALF_UP)


def _scale(size: Decimal, factor: int, *, spanish: bool) -> tuple[int, str]:
    for scale, english, other in _SCALES:
        wanted = (
            factor == scale if factor != 1 else size >= scale * (10 if scale == 10**9 else 1) and _short(size / scale)
        )
        if wanted:
            return scale, other if spanish else english
    return 1, ""


def _short(value: Decimal) -> bool:
    return value == value.quantize(Decimal("0.001"))


def _money(text: str, currency: str, scale: str, *, spanish: bool) -> str:
    if spanish:
        name = {"USD": "dólares", "EUR": "euros"}.get(currency, currency)
        parts = [text, scale, "de" if scale.startswith("mill") and name and name != currency else "", name]
        return " ".join(part for part in parts if part)
    symbol = _SYMBOLS.get(currency, f"{currency} " if currency else "")
    return f"{symbol}{text} {scale}".rstrip()


def _grouped(value: Decimal, *, spanish: bool) -> str:
    text = f"{value:,f}"
    return text.translate(str.maketrans(",.", ".,")) if spanish else text
