"""Quotations of other provisions inside an amending act, closed or not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from fin_rag.structure.regulation.lines import Line

# What opens a quotation, and what may close it.
_PAIRS: Final = {"«": "»", "“": "”", "‘": "’", "„": "“”", '"': '"', "‚": "‘’"}
_NESTED: Final = "«“"
_AFTER: Final = " .;,:)*_"
_CALL: Final = re.compile(r"<sup>[^<]{0,20}</sup>\Z")


def quoted_lines(
    lines: Sequence[Line], opens: Callable[[int], bool], ends_unclosed: Callable[[int, int], bool]
) -> tuple[list[bool], list[str]]:
    """Tell for each line whether it belongs to a quotation that takes whole paragraphs; and what is odd.

    Args:
        lines: the lines of the text.
        opens: tells whether a line that starts with a quotation mark quotes a provision (it begins with a
            label or follows a colon).
        ends_unclosed: tells whether a quotation that opened at one line and never closes is over at another.
    """
    marks: list[bool] = [False] * len(lines)
    warnings: list[str] = []
    closers = {mark: _closing_lines(lines, mark) for mark in _PAIRS}
    at = 0
    while at < len(lines):
        mark = lines[at].text[:1]
        if mark not in _PAIRS or not opens(at):
            at += 1
            continue
        last = closers[mark][at]
        stop = _broken_by(at, last, lines, ends_unclosed)
        if last is None or stop is not None:
            first_after = stop if stop is not None else _first_after(at, lines, ends_unclosed)
            warnings.append(f"the quotation that opens at {lines[at].start} is not closed")
            last = first_after - 1
        for index in range(at, last + 1):
            marks[index] = True
        at = last + 1
    return marks, warnings


def _broken_by(
    at: int, last: int | None, lines: Sequence[Line], ends_unclosed: Callable[[int, int], bool]
) -> int | None:
    """Return the line where a quotation must be over although a later mark would close it."""
    if last is None:
        return None
    opened_as_heading = lines[at].level > 0
    for index in range(at + 1, last + 1):
        if not opened_as_heading and lines[index].level and ends_unclosed(at, index):
            return index
    return None


def _first_after(at: int, lines: Sequence[Line], ends_unclosed: Callable[[int, int], bool]) -> int:
    for index in range(at + 1, len(lines)):
        if ends_unclosed(at, index):
            return index
    return len(lines)


def _closing_lines(lines: Sequence[Line], mark: str) -> list[int | None]:
    """Return for each line the first line at or after it that closes a quotation opened at its start."""
    return _by_depth(lines, mark) if mark in _NESTED else _by_ending(lines, mark)


def _by_depth(lines: Sequence[Line], mark: str) -> list[int | None]:
    """Count marks: a quotation is closed where as many marks have closed as opened since its line began."""
    total, after = 0, []
    for line in lines:
        text = line.text
        running = text.startswith(_PAIRS[mark])  # a mark repeated before each quoted paragraph closes nothing
        total += text.count(mark) - (text.count(_PAIRS[mark]) - running)
        after.append(total)
    found: list[int | None] = [None] * len(lines)
    waiting: list[tuple[int, int]] = []  # (depth before the line, line), depths rise
    for index, depth in enumerate(after):
        before = after[index - 1] if index else 0
        waiting.append((before, index))
        while waiting and depth <= waiting[-1][0]:
            found[waiting.pop()[1]] = index
    return found


def _by_ending(lines: Sequence[Line], mark: str) -> list[int | None]:
    """Take the first line that ends with a mark for the end, as these marks are apostrophes too."""
    closing = _PAIRS[mark]
    found: list[int | None] = [None] * len(lines)
    following: int | None = None
    for index in range(len(lines) - 1, -1, -1):
        stem = _CALL.sub("", lines[index].text.rstrip(_AFTER)).rstrip(_AFTER)
        if stem[-1:] in closing and len(stem) > 1:
            following = index
        found[index] = following
    return found
