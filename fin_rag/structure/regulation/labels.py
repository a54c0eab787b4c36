"""Labels of paragraphs and points at the start of a line, and which open list each of them continues."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Final

from fin_rag.structure.regulation.lines import word_pattern
from fin_rag.structure.regulation.numbers import (
    SUFFIX,
    clean_number,
    letter_values,
    number_value,
    roman_value,
    vocabulary,
)

_PATTERN: Final = (
    r"(?P<supp>\.\d{{2}})(?=[ ])"
    r"|(?P<ord>\d{{1,3}}[.]?[ ]?[ºª°](?:[ ]{suffix})?)[.)]?[-–—]?(?=[ ]|\Z)"
    r"|(?P<dec>\d{{1,3}}(?:\.\d{{1,3}}){{1,4}})\.?(?=[ ])"
    r"|(?P<num>\d{{1,3}}(?:[ ]?{suffix}|[a-z]{{1,2}})?)[.](?:[ ]?[-–—])?(?=[ ]|\Z)"
    r"|\([ ]?(?P<paren>\d{{1,3}}[a-z]{{0,2}}|[a-zñ]{{1,6}}|[A-Z]{{1,6}})(?:[ ](?P<more>{suffix}))?[ ]?\)"
    r"|(?P<half>\d{{1,3}}[a-z]?|[a-zñ]{{1,5}}|[A-Z])(?:[ ](?P<tail>{suffix}))?['´]?\)(?=[ ]|\Z)"
    r"|(?P<word>{cardinals})[.](?:[ ]?[-–—])?(?=[ ]|\Z)"
)
_SPAN_TO: Final = re.compile(
    r"[ ]?(?:-|–|—|to|through|a)[ ]?\([ ]?(?P<last>\w{1,4})[ ]?\)(?=[ ]*(?:\[|\(|[Rr]eserved))"
)
_LONGEST_GAP: Final = 40


@dataclass(frozen=True, slots=True)
class Label:
    """Hold a label: its span, its number as addresses write it, and each way to read it.

    ``options`` are ``(style, place)`` pairs: ``(i)`` is the ninth letter or the first roman numeral.
    ``last`` is the number at the end of a range of labels that are one entry (``(b)-(d) [Reserved]``).
    """

    start: int
    end: int
    number: str
    options: tuple[tuple[str, float], ...]
    last: str = ""

    @property
    def is_first(self) -> bool:
        """Tell whether the label may be the first of a list."""
        return any(place == 1.0 for _, place in self.options)


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    cardinals = "|".join(word.capitalize() for word in sorted(vocabulary()["cardinals"], key=len, reverse=True))
    return re.compile(_PATTERN.format(suffix=SUFFIX, cardinals=cardinals))


def read_label(view: str, start: int, end: int) -> Label | None:
    """Read the label that stands at ``start``, or return ``None``.

    Example:
        >>> read_label("(i) cash", 0, 8).options
        (('(a', 9.0), ('(i', 1.0))
    """
    match = _pattern().match(view, start, min(end, start + 40))
    if not match:
        return None
    kind = match.lastgroup
    if match["paren"] is not None:
        return _bracketed(match, "(", match["paren"], match["more"] or "", view, end)
    if match["half"] is not None:
        return _bracketed(match, "", match["half"], match["tail"] or "", view, end)
    printed = match[kind] if kind else ""
    if kind == "word":
        place = float(vocabulary()["cardinals"].index(printed.lower()) + 1)
        return Label(start, match.end(), str(int(place)), (("word", place),))
    if kind == "dec":
        return Label(
            start,
            match.end(),
            printed,
            ((f"dec{printed.count('.')}", number_value(printed.rpartition(".")[2])),),
        )
    if kind == "supp":
        return Label(start, match.end(), printed, (("supp", float(printed[1:])),))
    return Label(start, match.end(), clean_number(printed), ((kind or "num", number_value(clean_number(printed))),))


def _bracketed(match: re.Match[str], bracket: str, inner: str, suffix: str, view: str, end: int) -> Label | None:
    options: list[tuple[str, float]] = []
    extra = number_value(f"0 {suffix}") if suffix else 0.0
    if inner[0].isdigit():
        options.append((f"{bracket}1", number_value(inner) + extra))
    else:
        case = ("A", "I") if inner.isupper() else ("a", "i")
        options += [(f"{bracket}{case[0]}", place + extra) for place in letter_values(inner)]
        roman = roman_value(inner)
        if roman is not None:
            options.append((f"{bracket}{case[1]}", roman + extra))
    if not options:
        return None
    number = f"{inner} {suffix.lower()}".strip()
    span = _SPAN_TO.match(view, match.end(), end) if bracket else None
    label_end = span.end() if span else match.end()
    return Label(match.start(), label_end, number, tuple(options), span["last"] if span else "")


def continues(style: str, last: float, label: Label) -> float | None:
    """Return the place at which a label is the very next entry of a list, or ``None``."""
    for option, place in label.options:
        if option == style and last < place <= floor(last) + 1:
            return place
    return None


def skips(style: str, last: float, label: Label) -> float | None:
    """Return the place at which a label is a later entry of a list, or ``None``."""
    for option, place in label.options:
        if option == style and last < place <= last + _LONGEST_GAP:
            return place
    return None


def first_style(label: Label) -> str | None:
    """Return the style in which a label opens a list, or ``None``."""
    return next((style for style, place in label.options if place == 1.0), None)


@lru_cache(maxsize=1)
def reference_ahead() -> re.Pattern[str]:
    """Return a pattern for words after a label that make it the end of a broken reference."""
    return re.compile(rf"[ ]*(?:(?:of|de|del|and|or|y|o|to)[ ]|,[ ]|{word_pattern('conjunctions')}[ ])", re.IGNORECASE)
