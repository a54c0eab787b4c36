"""Page furniture of transcripts: page marks and numbers, running heads and feet, rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from fin_rag.structure.calls.lines import CallLine
from fin_rag.structure.calls.names import name_kind

_MARK: Final = re.compile(
    r"[=\-–—\s]*<?/?(?:page|página|pagina|p[áa]g\.?)[ >]*\d{0,4}(?: ?(?:of|de|/) ?\d{1,4})?[=\-–—\s>]*"
    r"|<(?:start|end)_of_page_\d{1,5}>|<page>.{0,12}|\[page \d{1,4}\]|\{\d{1,4}\}-{5,}|<!--.{0,80}-->"
    r"|\d{1,4} ?\| ?p ?a ?g ?e|\d{1,4} (?:of|de) \d{1,4}",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[-–—(\s]*\d{1,4}[-–—)\s]*")
_RULE: Final = re.compile(r"(?:[-=_~+#][ \t]?){3,}|(?:\*[ \t]?){3,}|(?:[.·•…][ \t]?){5,}|[─━═╌┄–—_]{3,}")
_FOOT: Final = re.compile(
    r"^(?:copyright\b|©|\(c\) ?\d{4}|all rights reserved)|\ball rights reserved\.?$|^(?:https?://|www\.)\S+$"
    r"|^[\d() +-]{0,6}\d-\d{3}-[\w-]+\s+(?:https?://|www\.)\S+$|^(?:https?://|www\.)?[\w.-]+\.(?:com|net|org)(?:/\S*)?$"
    r"|^\+?\d[\d() -]{6,18}\d$|^[^.?!]{0,60}\|\s*(?:https?://|www\.)\S+(?:\s*\|[^.?!]{0,60})?$",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"(?:\w{3,10},? )?(?:\d{1,2}[ -/.](?:de )?[^\W\d_]{3,10}[ -/.,](?:de )?[ ]?\d{4}"
    r"|[^\W\d_]{3,10}\.? \d{1,2},? \d{4}|\d{4}-\d\d-\d\d|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})"
)
_TITLE_WORDS: Final = re.compile(
    r"\b(?:earnings|conference|results?|follow[- ]up) call\b|\bcorrected transcript\b|\bcall transcript\b"
    r"|\bedited transcript\b|\bpresentaci[óo]n de resultados\b|\btranscripci[óo]n\b",
    re.IGNORECASE,
)
_TIME: Final = r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?"
_STAMP: Final = re.compile(rf"[\[(]?{_TIME}(?: ?-+>? ?{_TIME})?[\])]?")
_DIGITS: Final = re.compile(r"\d+")
_FIRST_PART: Final = re.compile(r"[^,;:(<–—]+?(?=\s*(?:$|[,;:(<–—]|\s-+\s))")
_HEAD_LINES: Final = 12
_TOP_LINES: Final = 2
_NEAR: Final = 6


def is_rule(line: CallLine) -> bool:
    """Tell whether a line is drawn: dashes, dots, equal signs."""
    return line.raw[:1] in "-=_~+#*.·•…─━═╌┄–—" and _RULE.fullmatch(line.raw[: len(line.raw)]) is not None


def find_page_furniture(lines: Sequence[CallLine]) -> tuple[set[int], set[int]]:
    """Return the indexes of lines that are page furniture, and among them those that are rules.

    Marks, rules, copyright lines and bare addresses are known by their form. A short line beside one of them
    is a running head or foot where it comes back, figures aside, or where it is only a date or the title of
    the call. A bare number is a page number beside other furniture or where such numbers count on.
    """
    rules = {i for i, line in enumerate(lines) if is_rule(line)}
    marks = {i for i, line in enumerate(lines) if line.short and _is_mark(line)}
    numbers = [i for i, line in enumerate(lines) if line.short and _NUMBER.fullmatch(line.bare)]
    feet = {i for i, line in enumerate(lines) if line.short and _FOOT.search(line.bare)}
    marks |= feet
    shapes = Counter(_shape(line) for line in lines if line.short and not line.ends_sentence)
    marks |= _page_numbers(lines, numbers, marks, shapes)
    heads = _running(lines, marks, rules, shapes)
    stamps = {i for i, line in enumerate(lines) if line.short and _STAMP.fullmatch(line.bare)}
    return rules | marks | heads | stamps, rules


def _is_mark(line: CallLine) -> bool:
    return (
        len(line.bare) <= 90
        and _MARK.fullmatch(line.bare or line.raw) is not None
        and any(c.isdigit() or c in "<>" for c in line.raw)
    )


def _shape(line: CallLine) -> str:
    return _DIGITS.sub("#", line.bare).casefold()


def _page_numbers(lines: Sequence[CallLine], numbers: Sequence[int], marks: set[int], shapes: Counter[str]) -> set[int]:
    found = set()
    values = {i: int("".join(c for c in lines[i].bare if c.isdigit()) or 0) for i in numbers}
    for at, i in enumerate(numbers):
        beside = any(j in marks for j in (i - 1, i + 1))
        before = at > 0 and values[numbers[at - 1]] + 1 == values[i]
        after = at + 1 < len(numbers) and values[numbers[at + 1]] - 1 == values[i]
        apart = lines[i].gap and (i + 1 >= len(lines) or lines[i + 1].gap)
        headed = apart and any(
            0 <= j < len(lines) and lines[j].short and shapes[_shape(lines[j])] > 1 for j in (i - 1, i + 1)
        )
        if beside or ((before or after) and apart) or headed:
            found.add(i)
    return found


def _running(lines: Sequence[CallLine], marks: set[int], rules: set[int], shapes: Counter[str]) -> set[int]:
    """Return the short lines beside page marks that are running heads or feet."""
    found: set[int] = set()
    head = {_shape(line) for line in lines[:_HEAD_LINES] if line.short}
    top = {_shape(line) for line in lines[:_TOP_LINES] if line.short}
    for mark in sorted(marks):
        for step in (-1, 1):
            at, left = mark + step, _NEAR
            while 0 <= at < len(lines) and left and at not in marks and at not in rules:
                if not _runs(lines[at], shapes, top if _may_name(lines[at]) else head):
                    break
                found.add(at)
                at, left = at + step, left - 1
    return found


def _runs(line: CallLine, shapes: Counter[str], head: set[str]) -> bool:
    if not line.short or line.ends_sentence or line.bare.endswith(":") or len(line.bare) > 160:
        return False
    if line.bare[:1] in "[(" and line.bare[-1:] in ")]":
        return False  # what the room does: "[Technical Difficulty]"
    if _DATE.fullmatch(line.bare):
        return True
    shape = _shape(line)
    if _may_name(line):
        return shapes[shape] > 1 and shape in head
    if shapes[shape] > 1:
        return shape in head or shapes[shape] > 2 or _TITLE_WORDS.search(line.bare) is not None
    return _TITLE_WORDS.search(line.bare) is not None and len(line.bare) <= 80


def _may_name(line: CallLine) -> bool:
    """Tell whether a line begins with what may be a speaker's name."""
    first = _FIRST_PART.match(line.bare)
    return first is not None and name_kind(first.group()) not in ("", "single")
