"""Rows of pages whose layout was lost: a label and its figures on one line, or each on a line of its own."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.answers.when import When, read_periods
from fin_rag.schema import Span
from fin_rag.structure.figures import figure_tail
from fin_rag.structure.lines import Line, split_lines
from fin_rag.text.numbers import Number, parse_number

_SIGNS: Final = re.compile(r"[\s$€£%()—–-]*")
_LONGEST_LABEL: Final = 160
_LEAST_ROWS: Final = 2
_ENDS_SENTENCE: Final = re.compile(r"[.!?:;]\s*$")


@dataclass(frozen=True, slots=True)
class FlatRow:
    """Hold a row: its label and its figures with their places; ``head`` holds the periods of a row of heads."""

    label: str
    span: Span
    cells: tuple[tuple[Span, Number], ...]
    head: tuple[When, ...] = ()


def flat_rows(text: str, span: Span, numbers: Sequence[Number]) -> list[FlatRow]:
    r"""Return the rows in a part of a text, in order; nothing where it reads like running text.

    Example:
        >>> from fin_rag.text.numbers import find_numbers
        >>> text = "Net cash\n5,794\n4,225\nInventories\n32\n43"
        >>> rows = flat_rows(text, Span(0, len(text)), find_numbers(text))
        >>> [(row.label, [str(n.value) for _, n in row.cells]) for row in rows]
        [('Net cash', ['5794', '4225']), ('Inventories', ['32', '43'])]
    """
    found: list[FlatRow] = []
    label: Line | None = None
    cells: list[tuple[Span, Number]] = []
    heads: list[When] = []
    start = span.start

    def close(end: int) -> None:
        if label is not None and cells:
            found.append(FlatRow(label.text.strip(), Span(label.start, end), tuple(cells)))
        cells.clear()

    for line in split_lines(text, span):
        body = line.text
        if not body.strip():
            continue
        periods = _only_periods(body)
        if periods:
            close(line.start)
            start = start if heads else line.start
            heads += periods
            label = None
            continue
        alone = _figures_alone(line, numbers)
        if alone is not None:
            cells += alone if label is not None else []
            continue
        close(line.start)
        if heads:
            found.append(FlatRow("", Span(start, line.start), (), tuple(heads)))
            heads = []
        row = _one_line(line)
        if row is not None:
            found.append(row)
            label = None
            continue
        label = line if len(body) <= _LONGEST_LABEL and not _ENDS_SENTENCE.search(body.rstrip(":")) else None
    close(span.end)
    return found if sum(1 for row in found if row.cells) >= _LEAST_ROWS else []


def _only_periods(body: str) -> list[When]:
    """Return the periods of a line that holds nothing else: "At December 31, 2019", "2023 2022 2021"."""
    if len(body) > _LONGEST_LABEL:
        return []
    whens = [one for one in read_periods(body) if one.year]
    if not whens:
        return []
    rest = body
    for one in reversed(whens):
        rest = rest[: one.start] + " " + rest[one.end :]
    left = re.findall(r"[^\W\d_]{3,}", rest)
    return whens if len(left) <= 5 and not re.search(r"\d", rest) else []


def _figures_alone(line: Line, numbers: Sequence[Number]) -> list[tuple[Span, Number]] | None:
    """Return the figures of a line that holds figures or money signs and nothing else, ``None`` for any other line."""
    if _SIGNS.fullmatch(line.text):
        return []
    figure = parse_number(line.text.strip().lstrip("$€£ ").strip() or "x")
    if figure is None:
        return None
    at = bisect_left(numbers, line.start, key=lambda one: one.span.start)
    end = line.start + len(line.text)
    if at < len(numbers) and numbers[at].span.start < end:
        return [(numbers[at].span, figure)]
    return None


def _one_line(line: Line) -> FlatRow | None:
    """Return the row of a line that ends in figures behind a label."""
    tail = figure_tail(line.text)
    if not tail.cells or not tail.label_end or len(line.text) > _LONGEST_LABEL * 2:
        return None
    label = line.text[: tail.label_end].strip()
    if not label or len(label) > _LONGEST_LABEL or (len(tail.cells) < 2 and not tail.gapped):
        return None
    cells = []
    for start, end in tail.cells:
        figure = parse_number(line.text[start:end])
        if figure is not None:
            cells.append((Span(line.start + start, line.start + end), figure))
    return FlatRow(label, Span(line.start, line.start + len(line.text)), tuple(cells)) if cells else None
