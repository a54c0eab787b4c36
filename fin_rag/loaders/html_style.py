"""Read what a style attribute or a simple style sheet says about a piece of text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from fin_rag.loaders.html_model import BOLD, CAPITALS, CENTER, ITALIC, PREFORMATTED, SUPERSCRIPT, UNDERLINE

BREAK_BEFORE: Final = 1
BREAK_AFTER: Final = 2

_LENGTH: Final = re.compile(r"(-?\d*\.?\d+)\s*(pt|px|em|rem|in|cm|mm|%)?")
_POINTS: Final = {
    "pt": 1.0,
    "px": 0.75,
    "in": 72.0,
    "cm": 28.35,
    "mm": 2.835,
    "em": 10.0,
    "rem": 10.0,
    "": 0.75,
}
_SIZES: Final = {
    "xx-small": 7.0, "x-small": 8.0, "small": 10.0, "medium": 12.0, "large": 14.0, "x-large": 18.0,
    "xx-large": 24.0,
}  # fmt: skip
_FONT_SIZES: Final = (8.0, 8.0, 10.0, 12.0, 14.0, 18.0, 24.0, 36.0)
_RULE: Final = re.compile(r"([^{}]{1,400})\{([^{}]{0,4000})\}")
_SELECTOR: Final = re.compile(r"[a-z][a-z0-9]*|(?:[a-z][a-z0-9]*)?\.[\w-]+", re.IGNORECASE)
_BLACK: Final = frozenset({"", "#000000", "#000", "black", "windowtext", "rgb(0,0,0)", "inherit", "auto"})
_BREAKS: Final = frozenset({"always", "page", "left", "right"})


@dataclass(frozen=True, slots=True)
class Style:
    """Hold the effect of one style: bits to set and to clear, size in points, and layout.

    ``size`` is 0 where the style says nothing; ``factor`` scales the inherited size. ``display`` is
    ``inline``, ``block`` or empty; ``face`` names font family and colour.
    """

    add: int = 0
    clear: int = 0
    size: float = 0.0
    factor: float = 0.0
    display: str = ""
    breaks: int = 0
    indent: float = 0.0
    hidden: bool = False
    face: str = ""


PLAIN: Final = Style()


def points(value: str) -> float:
    """Return a CSS length in points; percentages and unreadable lengths are 0.

    Example:
        >>> points("12px"), points("18.5pt"), points("auto")
        (9.0, 18.5, 0.0)
    """
    found = _LENGTH.match(value.strip())
    if not found or found[2] == "%":
        return 0.0
    return float(found[1]) * _POINTS[found[2] or ""]


def declarations(style: str) -> dict[str, str]:
    """Return the declarations of a style attribute, names and values in lower case."""
    found = {}
    for part in style.lower().split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip()] = value.replace("!important", "").strip()
    return found


def parse_style(style: str) -> Style:
    """Read a style attribute.

    Example:
        >>> parse_style("FONT-WEIGHT : 700; display : none").hidden
        True
    """
    rules = declarations(style)
    add = clear = 0
    for bit, state in (
        (BOLD, _is_bold(rules)),
        (ITALIC, _one_of(rules.get("font-style", ""), ("italic", "oblique"), ("normal",))),
        (UNDERLINE, _is_underlined(rules)),
        (CENTER, _one_of(rules.get("text-align", ""), ("center",), ("left", "right", "justify", "start"))),
        (CAPITALS, _is_capital(rules)),
        (SUPERSCRIPT, _is_raised(rules)),
        (PREFORMATTED, _one_of(rules.get("white-space", ""), ("pre",), ("normal", "nowrap"))),
    ):
        if state:
            add |= bit
        elif state is False:
            clear |= bit
    size, factor = _font_size(rules)
    indent = sum(points(rules.get(key, "")) for key in ("padding-left", "margin-left", "text-indent"))
    indent += _fourth(rules.get("padding", "")) if "padding-left" not in rules else 0.0
    indent += _fourth(rules.get("margin", "")) if "margin-left" not in rules else 0.0
    display = rules.get("display", "")
    return Style(
        add,
        clear,
        size,
        factor,
        display if display in ("inline", "block") else "",
        _breaks(rules),
        indent,
        face=_face(rules),
        hidden=display == "none" or rules.get("visibility") in ("hidden", "collapse"),
    )


def font_size(value: str) -> float:
    """Return the points of a ``<font size>`` of 1 to 7; relative sizes are 0 (as inherited)."""
    return _FONT_SIZES[min(int(value), 7)] if value.isdigit() else 0.0


class StyleBook:
    """Look up the style of an element, each different attribute parsed once.

    Example:
        >>> book = StyleBook()
        >>> book.add_sheet(".b { font-weight: bold }")
        >>> book.of("p", "", "b").add == BOLD
        True
    """

    def __init__(self) -> None:
        self.has_rules = False
        self._rules: dict[str, str] = {}
        self._parsed: dict[str, Style] = {}
        self._classed: dict[tuple[str, str, str], Style] = {}

    def add_sheet(self, sheet: str) -> None:
        """Take the simple rules (``.name``, ``tag.name``, ``tag``) of a style sheet."""
        for selectors, body in _RULE.findall(sheet):
            for selector in selectors.lower().split(","):
                name = selector.strip()
                if _SELECTOR.fullmatch(name):
                    self._rules[name] = f"{self._rules.get(name, '')};{body}"
        self.has_rules = bool(self._rules)
        self._classed.clear()

    def of(self, tag: str, style: str, classes: str) -> Style:
        """Return the style of an element from its attributes and the sheets."""
        if not self._rules:
            return self.parsed(style) if style else PLAIN
        key = (tag, style, classes)
        found = self._classed.get(key)
        if found is None:
            names = classes.lower().split()[:20]
            rules = [self._rules.get(tag, "")]
            rules += [self._rules.get(f".{name}", "") for name in names]
            rules += [self._rules.get(f"{tag}.{name}", "") for name in names]
            found = self._classed[key] = self.parsed(";".join([rule for rule in rules if rule] + [style]))
        return found

    def parsed(self, style: str) -> Style:
        """Return the parsed form of a style attribute."""
        found = self._parsed.get(style)
        if found is None:
            found = self._parsed[style] = parse_style(style[:4000])
        return found


def _one_of(value: str, yes: tuple[str, ...], no: tuple[str, ...]) -> bool | None:
    return True if value in yes else False if value in no else None


def _is_bold(rules: dict[str, str]) -> bool | None:
    value = rules.get("font-weight") or rules.get("font", "")
    first = value.split(" ", 1)[0]
    if first.isdigit():
        return int(first[:4]) >= 600
    if first in ("bold", "bolder"):
        return True
    return False if first in ("normal", "lighter") and "font-weight" in rules else None


def _is_underlined(rules: dict[str, str]) -> bool | None:
    value = rules.get("text-decoration") or rules.get("text-decoration-line", "")
    if "underline" in value:
        return True
    return False if value == "none" else None


def _is_capital(rules: dict[str, str]) -> bool | None:
    return (
        True
        if rules.get("text-transform") == "uppercase" or rules.get("font-variant") in ("small-caps", "all-small-caps")
        else None
    )


def _is_raised(rules: dict[str, str]) -> bool | None:
    value = rules.get("vertical-align", "")
    if value in ("super", "text-top") and "font-size" in rules:
        return value == "super" or None
    if value == "super":
        return True
    raised = rules.get("position") == "relative" and points(rules.get("top", "")) < 0
    return True if raised and 0 < points(rules.get("font-size", "")) <= 8 else None


def _font_size(rules: dict[str, str]) -> tuple[float, float]:
    value = rules.get("font-size", "")
    if not value:
        return 0.0, 0.0
    if value in _SIZES:
        return _SIZES[value], 0.0
    found = _LENGTH.match(value)
    if not found:
        return 0.0, 0.0
    number, unit = float(found[1]), found[2]
    if unit == "%":
        return 0.0, number / 100
    if unit in ("em", "rem"):
        return 0.0, number
    return number * _POINTS[unit or ""], 0.0


def _fourth(value: str) -> float:
    """Return the left part of a CSS box shorthand, in points."""
    parts = value.split()[:4]
    if not parts:
        return 0.0
    return points(parts[(0, 1, 1, 3)[len(parts) - 1]])


def _face(rules: dict[str, str]) -> str:
    """Return font family and colour as one name, empty where neither is given; black is no colour."""
    family = rules.get("font-family", "").partition(",")[0].strip("'\" ")
    color = rules.get("color", "").replace(" ", "")
    return f"{family}/{'' if color in _BLACK else color}" if family or color not in _BLACK else ""


def _breaks(rules: dict[str, str]) -> int:
    found = 0
    for key, value in rules.items():
        if value in _BREAKS:
            if key in ("page-break-before", "break-before"):
                found |= BREAK_BEFORE
            elif key in ("page-break-after", "break-after"):
                found |= BREAK_AFTER
    return found
