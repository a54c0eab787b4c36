"""Tables that plain text draws with blanks or that a PDF leaves as rows of figures."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.structure.figures import figure_tail, is_year_row
from fin_rag.structure.layout import TABLE, Layout, Zone, atx, is_caption_line
from fin_rag.structure.lines import (
    bullet,
    is_figure,
    is_neutral,
    is_nil,
    is_rule,
    is_sentence,
    is_year,
    plain,
)
from fin_rag.structure.titles import is_capitals, is_numbered_title, number_of
from fin_rag.structure.units import is_unit_line, unit_of

_BLANK, _ROW, _WEAK, _RULE, _HEAD, _UNIT, _LABEL, _PROSE, _STYLED, _MID = range(10)
_PAGE_NUMBER: Final = re.compile(r"[-–—]\s?\d{1,4}\s?[-–—]")
_LONGEST_LABEL: Final = 130
_LONGEST_SENTENCE_LABEL: Final = 60
_MOST_LABELS: Final = 3
_LEAST_COLUMN: Final = 3
_MOST_BLANKS: Final = 2
_MOST_HEAD_LINES: Final = 9
_MOST_TITLES: Final = 5


def mark_text_tables(layout: Layout) -> None:
    """Claim runs of at least two rows of figures, with the header lines directly above them.

    Between two rows, wrapped labels, group titles and rules belong to the table. A unit line, a row of
    years or running prose ends it.
    """
    shapes = [_shape(layout, index) for index in range(len(layout.lines))]
    _raise_columns(layout, shapes)
    index, floor = 0, 0
    while index < len(shapes):
        if shapes[index] != _ROW:
            index += 1
            continue
        last, rows = _run(shapes, index)
        while index > floor and shapes[index - 1] == _MID:
            index -= 1
        top = _top(layout, shapes, index, floor)
        headed = any(shapes[at] in (_HEAD, _UNIT) for at in range(top, index))
        if rows >= 2 or headed:
            layout.claim(Zone(TABLE, top, last, _head_end(shapes, top, index), "text"))
            floor = last
        index = last


def _shape(layout: Layout, index: int) -> int:
    """Classify one line; lines of other zones count as prose: they end a table."""
    if layout.owner[index] >= 0:
        return _PROSE
    text = layout.lines[index].text
    if index in layout.fixed:
        return _STYLED if len(text) <= _LONGEST_LABEL and not number_of(plain(text)) else _PROSE
    if not text:
        return _BLANK
    if is_rule(text):
        return _RULE
    if len(text) <= 240 and is_year_row(text):
        return _HEAD
    if is_unit_line(text):
        return _UNIT
    if _PAGE_NUMBER.fullmatch(text):
        return _MID  # no row of figures, but a table may go on behind it
    if atx(text) or (bullet(text) > 1 and text[0] not in "-–—"):
        return _PROSE
    return _figure_shape(text)


def _figure_shape(text: str) -> int:
    tail = figure_tail(text)
    years = [is_year(text[a:b].strip("(),")) for a, b in tail.cells]
    label = text[: tail.label_end]
    if years and all(years):
        return _HEAD if sum(map(is_year, text.split())) >= 2 else _LABEL
    if len(tail.cells) >= 2 and len(label) <= 2 * _LONGEST_LABEL:
        return _ROW
    if len(tail.cells) == 1 and label:
        if tail.gapped:
            return _ROW
        return _WEAK if len(text) <= _LONGEST_LABEL else _PROSE
    if not _is_label(text):
        return _PROSE
    return _MID if _has_columns(text) else _LABEL


def _has_columns(text: str) -> bool:
    """Tell whether two figures stand side by side within a line, which running text does not do."""
    before = False
    for token in text.split():
        figure = is_figure(token) and not is_year(token)
        if figure and before:
            return True
        before = figure or (before and (is_neutral(token) or is_nil(token)))
    return False


def _raise_columns(layout: Layout, shapes: list[int]) -> None:
    """Read three or more lines on end that close with one figure as rows of a table with one column."""
    begin = 0
    for at in range(len(shapes) + 1):
        weak = at < len(shapes) and shapes[at] == _WEAK and _is_short_row(layout.lines[at].text)
        if not weak:
            if at - begin >= _LEAST_COLUMN:
                shapes[begin:at] = [_ROW] * (at - begin)
            begin = at + 1


def _is_short_row(text: str) -> bool:
    letters = sum(c.isalpha() for c in text)
    return len(text) <= 80 and letters >= 3 and not text[0].islower() and not is_sentence(text)


def _is_label(text: str) -> bool:
    if len(text) > _LONGEST_LABEL:
        return False
    ended = text.endswith((".", ";")) or (text.endswith(":") and is_sentence(text))
    return not ended or len(text) <= _LONGEST_SENTENCE_LABEL


def _run(shapes: list[int], index: int) -> tuple[int, int]:
    """Return the line after the last row of the table that starts at ``index``, and its count of rows."""
    last, rows, labels, blanks = index + 1, 1, 0, 0
    for at in range(index + 1, len(shapes)):
        shape = shapes[at]
        if shape == _ROW or (shape in (_WEAK, _MID) and not blanks):
            rows += shape == _ROW
            last, labels, blanks = at + 1, 0, 0
        elif shape == _BLANK:
            blanks += 1
        elif shape in (_LABEL, _WEAK, _MID, _STYLED):
            labels += 1
        elif shape != _RULE:
            break
        if labels > _MOST_LABELS or blanks > _MOST_BLANKS + labels:
            break
    while last < len(shapes) and shapes[last] == _RULE:
        last += 1
    return last, rows


def _top(layout: Layout, shapes: list[int], index: int, floor: int) -> int:
    """Return the first header line of a table whose first row of figures is ``index``.

    A numbered or bold title above the figures is a heading; so is one in capitals above column heads that
    are not in capitals themselves.
    """
    top, titles, capitals = index, 0, 0
    headed, styled = False, False
    for at in range(index - 1, max(floor, index - _MOST_HEAD_LINES) - 1, -1):
        shape, text = shapes[at], layout.lines[at].text
        if shape in (_HEAD, _UNIT, _RULE):
            top, headed, styled = at, headed or shape != _RULE, False
        elif shape == _BLANK:
            if at == floor or shapes[at - 1] not in (_HEAD, _UNIT, _RULE):
                break
        elif shape == _STYLED and not headed and not styled:
            styled = True  # a group title between the column heads and the rows, or else a heading above the table
        elif shape in (_LABEL, _WEAK) and not styled and titles < _MOST_TITLES and _can_head(text):
            if is_capitals(text) and not capitals and (headed or titles):
                break
            titles, capitals, top = titles + 1, capitals + is_capitals(text), at
        else:
            break
    return _trimmed_top(layout, shapes, top, index)


def _trimmed_top(layout: Layout, shapes: list[int], top: int, index: int) -> int:
    """Move the start of a header past lines that only end something else."""
    while top < index and shapes[top] != _UNIT:
        if shapes[top] not in (_BLANK, _RULE, _WEAK) and not layout.lines[top].text[0].islower():
            break
        top += 1
    return top


def _can_head(text: str) -> bool:
    """Tell whether a line may stand above figures as a title or a column head."""
    if is_numbered_title(text) or text.startswith(("**", "__")):
        return False
    if is_caption_line(text) or unit_of(text):
        return True
    return not text.endswith((".", ";", "?", "!")) and not is_sentence(text)


def _head_end(shapes: list[int], top: int, first_row: int) -> int:
    """Return the line after the last header line: group titles below the column heads are rows."""
    for at in range(first_row - 1, top - 1, -1):
        if shapes[at] in (_HEAD, _UNIT, _RULE):
            return at + 1
    return first_row


def sgml_head(layout: Layout, zone: Zone) -> int:
    """Return the line after the header of a 1990s ``<TABLE>``: after ``<S>`` or a rule, before figures."""
    head = zone.head
    for at in range(zone.head, zone.last):
        text = layout.lines[at].text
        if text.lower().startswith("<s>"):
            return at + 1
        tail = figure_tail(text)
        if tail.cells and not is_year_row(text) and tail.label_end:
            return head
        if text and (is_rule(text) or text.startswith("<") or is_year_row(text)):
            head = at + 1
    return zone.head + 1
