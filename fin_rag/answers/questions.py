"""Figure questions: which line item, ratio or change is asked for, over which periods, in which unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from fin_rag.answers.labels import concept_names
from fin_rag.answers.ratiocheck import ratio_mentions
from fin_rag.answers.sentences import sentence_spans
from fin_rag.answers.vocabulary import phrases
from fin_rag.answers.when import When, read_periods
from fin_rag.facts.concepts import name_key
from fin_rag.facts.periods import FiscalPeriod
from fin_rag.facts.ratios import Ratio

VALUE: Final = "value"
RATIO: Final = "ratio"
GROWTH: Final = "growth"
SHARE: Final = "share"
DIFFERENCE: Final = "difference"
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_SENTENCE: Final = re.compile(r"(?<=[?!:])\s+|\n+")
_DEFINES: Final = re.compile(
    r"\b(?:is|are|be)\s+defined\s+as\b|\bdefine\b|\bse\s+define\b|\bdefinid[oa]s?\s+como\b|"
    r"\bcalculate\s+[^.]{0,40}\busing\b|\bround\s+your\b|\banswer\s+in\b"
    r"|\bbase\s+your\b|\bbasing\b|\brespond\b|\baddress\s+the\b|\bapproach\s+the\b|"
    r"\bcalculate\s+(?:\(or\s+extract\)|what)\b|\bplease\s+(?:utilize|base|help)\b"
    r"|\bwe\s+(?:want|need)\s+to\b|\bwhen\s+primarily\b|\banswer\s+the\s+following\b|\bgive\s+a\s+response\b|"
    r"\bredondea\b|\bexpresa\b",
    re.IGNORECASE,
)
_ASKS: Final = re.compile(
    r"\?|\b(?:what|how\s+much|how\s+many|which|cuál|cuáles|cuánto|cuánta|cuántos|cuántas|qué|dime|give|compute|"
    r"calculate|calcula|report|state)\b",
    re.IGNORECASE,
)
_AVERAGE: Final = re.compile(
    r"\b(?:three|3|two|2|five|5|four|4|tres|dos|cinco|cuatro)[\s-]*(?:year|años?)\s*(?:average|avg|mean)|"
    r"\b(?:average|media|promedio)\s+(?:de\s+)?(?:los\s+)?(?:three|3|tres|últimos)",
    re.IGNORECASE,
)
_GROWTH: Final = phrases("growth_words")
_SHARE_LINK: Final = re.compile(
    r"\bas\s+(?:a\s+)?(?:%|percent(?:age)?)\s+of\b|\bas\s+a\s+(?:share|proportion)\s+of\b|\b(?:como|"
    r"en)\s+(?:un\s+)?(?:%|porcentaje)\s+(?:de|sobre)\b|\bover\s+(?=\w+\s+revenue)|\brepresent\w*\s+(?:of|de|"
    r"sobre)\b",
    re.IGNORECASE,
)
_MARGIN: Final = re.compile(r"(?:%|percent)?\s*\bmargin\b|\bmargen\b", re.IGNORECASE)
_LESS: Final = re.compile(r"\b(?:less|minus|menos)\b", re.IGNORECASE)
_RANGE: Final = re.compile(r"(?:FY\s?)?(20\d{2})\s*(?:-|–|—|to|through|a|hasta)\s*(?:FY\s?)?(20\d{2})", re.IGNORECASE)
_UNIT: Final = r"\b(?:in|en)\s+(?:usd\s+|us\$\s*|eur\s+|\$\s*)?(?:{0})|\b(?:usd|eur)\s+(?:{0})"
_UNITS: Final = tuple(
    (re.compile(_UNIT.format(names), re.IGNORECASE), factor)
    for names, factor in (
        ("billions?|miles de millones", 10**9),
        ("millions?|millones|mm?\\b", 10**6),
        ("thousands?|miles", 10**3),
    )
)


@dataclass(frozen=True, slots=True)
class FigureQuestion:
    """Hold what a question wants counted.

    ``kind`` is ``value``, ``ratio``, ``growth``, ``share`` (a line item in per cent of another) or ``difference``.
    ``concepts`` are ids of line items in the order of the question; ``ratio`` is set for a ratio, and for the growth
    or difference of one. ``average`` asks for the mean over the periods. ``factor`` is the unit that the answer is
    wanted in, 1 where none is named.
    """

    kind: str
    concepts: tuple[str, ...]
    ratio: Ratio | None
    periods: tuple[FiscalPeriod, ...]
    average: bool = False
    factor: int = 1
    day: str = ""


def read_question(question: str) -> FigureQuestion | None:
    """Return what a question wants counted, ``None`` if it asks for no figure that a statement gives.

    Example:
        >>> read_question("What was Acme's net income in FY2023?").concepts
        ('net_income',)
        >>> asked = read_question("¿Cuánto crecieron las ventas de Acme de 2022 a 2023?")
        >>> asked.kind, asked.concepts, [str(one) for one in asked.periods]
        ('growth', ('revenue',), ['FY2022', 'FY2023'])
    """
    core = _core(question)
    plain = _BRACKETS.sub(" ", core)
    periods = _periods(core) or _periods(question)
    factor = next((factor for pattern, factor in _UNITS if pattern.search(question)), 1)
    average = bool(_AVERAGE.search(question))
    day = next((f"{one.year}-{one.month:02d}-{one.day:02d}" for one in read_periods(core) if one.day and one.year), "")

    def asked(kind: str, concepts: Sequence[str], ratio: Ratio | None = None) -> FigureQuestion:
        return FigureQuestion(kind, tuple(concepts), ratio, periods, average, factor, day)

    named = concept_names(plain)
    growth = bool(_GROWTH.search(_without_names(plain, [name for _, name in named]))) and not average
    special = _share(plain, asked) or _by_ratio(plain, named, asked, growth=growth)
    if special is not None or not named:
        return special
    if _MARGIN.search(plain):
        return asked(SHARE, (named[0][0], "revenue"))
    if growth:
        return asked(GROWTH, (named[0][0],))
    if len(named) > 1 and _LESS.search(plain):
        return asked(DIFFERENCE, (named[0][0], named[1][0]))
    return asked(VALUE, tuple(dict.fromkeys(one for one, _ in named)))


def _share(plain: str, asked: Callable[..., FigureQuestion]) -> FigureQuestion | None:
    """Read "A as a percentage of B"."""
    link = _SHARE_LINK.search(plain)
    if link is None:
        return None
    before, after = concept_names(plain[: link.start()]), concept_names(plain[link.end() :])
    return asked(SHARE, (before[-1][0], after[0][0])) if before and after else None


def _by_ratio(
    plain: str, named: Sequence[tuple[str, str]], asked: Callable[..., FigureQuestion], *, growth: bool
) -> FigureQuestion | None:
    """Read a ratio by its name, and "ratio less line item"."""
    ratios = ratio_mentions(plain)
    if not ratios:
        return None
    ratio, start, end = ratios[0]
    key = name_key(plain)
    later = concept_names(key[end:])
    if _LESS.search(key[end : end + 12]) and later:
        return asked(DIFFERENCE, (later[0][0],), ratio)
    if not named or not _inside(key, named[0][1], start, end) or len(named[0][1]) < end - start:
        return asked(GROWTH if growth and ratio.unit == "currency" else RATIO, (), ratio)
    return None


def _without_names(text: str, names: Sequence[str]) -> str:
    """Return a text without names of line items, whose own words ("net change in cash") ask for nothing."""
    key = name_key(text)
    for name in names:
        if len(name.split()) > 1:
            key = key.replace(name, " ")
    return key


def _inside(key: str, name: str, start: int, end: int) -> bool:
    """Tell whether a line item's name stands apart from a ratio's."""
    at = key.find(name)
    return not (start <= at < end)


def _core(question: str) -> str:
    """Return the sentences that ask; definitions and directions are left out."""
    pieces = [question[start:end] for start, end in sentence_spans(question)]
    pieces = [part for piece in pieces for part in _SENTENCE.split(piece) if part.strip()]
    asking = [part for part in pieces if _ASKS.search(part) and not _DEFINES.search(part.partition("?")[0])]
    asking = asking or [part for part in pieces if "?" in part] or pieces
    text = " ".join(asking)
    for lead in ("what is", "what was", "what were", "how much", "¿cuál", "¿cuánt"):
        at = text.lower().find(lead)
        if at > 0:
            return text[at:]
    return text


def _periods(text: str) -> tuple[FiscalPeriod, ...]:
    found: list[FiscalPeriod] = []
    span = _RANGE.search(text)
    if span and 0 < int(span[2]) - int(span[1]) <= 10:
        return tuple(FiscalPeriod(year) for year in range(int(span[1]), int(span[2]) + 1))
    for one in read_periods(text):
        period = _period(one)
        if period is not None and period not in found:
            found.append(period)
    return tuple(sorted(found, key=lambda one: (one.year, one.part)))


def _period(one: When) -> FiscalPeriod | None:
    if not one.year or one.relative:
        return None
    if one.part:
        return FiscalPeriod(one.year, one.part)
    return FiscalPeriod(one.year, {9: "9M", 6: "H1"}.get(one.months, "FY"))


def share_ratio(part: str, whole: str) -> Ratio:
    """Return a ratio that gives a line item in per cent of another."""
    return Ratio(f"{part}_to_{whole}", f"{part} / {whole}", "%", (), f"{part} / {whole}", f"{part} / {whole}")


def in_unit(value: Decimal, factor: int) -> Decimal:
    """Return a value in the unit that a question wants."""
    return value / factor if factor != 1 else value
