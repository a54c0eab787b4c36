"""Rows and column labels of tables that plain text draws with blanks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from fin_rag.schema import Span
from fin_rag.structure.figures import Tail, figure_tail, is_year_row
from fin_rag.structure.lines import Line, is_rule, is_year, plain, vocabulary
from fin_rag.structure.rowtypes import RawRow
from fin_rag.structure.units import is_unit_line

_PIECE: Final = re.compile(r"\S+(?:[ \u00a0]\S+)*")
_MARK_CELL: Final = re.compile(r"\(\d{1,2}\)")
_LEADERS: Final = ".·…_ \t"
_LONGEST_WRAP: Final = 3


class Edges(NamedTuple):
    """Hold where the columns of figures stand, in code points from the line's start; no bounds if unknown."""

    columns: int
    bounds: tuple[tuple[float, float], ...]


def text_rows(lines: Sequence[Line]) -> tuple[list[RawRow], Edges]:
    """Read the body of a plain-text table; a label that wraps over lines is one row with its figures."""
    kept = [line for line in lines if not is_rule(line.text) and not line.text.startswith("<")]
    tails = [figure_tail(line.text) for line in kept]
    edges = _edges(kept, tails)
    rows: list[RawRow] = []
    waiting: list[Line] = []
    for line, tail in zip(kept, tails, strict=True):
        if not tail.cells or (is_year_row(line.text) and tail.label_end == 0):
            waiting.append(line)
            continue
        tail = _without_mark(line, tail, edges)
        wrapped = _wrapped(line, tail, waiting)
        rows.extend(_groups(waiting[: len(waiting) - len(wrapped)]))
        rows.append(_data(wrapped, line, tail, edges))
        waiting = []
    rows.extend(_groups(waiting))
    return rows, edges


def _edges(lines: Sequence[Line], tails: Sequence[Tail]) -> Edges:
    counts = Counter(len(tail.cells) for tail in tails if tail.cells)
    if not counts:
        return Edges(0, ())
    count = max(counts, key=lambda n: (counts[n] * n, n))
    full = [(line, tail) for line, tail in zip(lines, tails, strict=True) if len(tail.cells) == count and tail.gapped]
    if not full or sum(tail.gapped for tail in tails if tail.cells) * 2 < sum(bool(tail.cells) for tail in tails):
        return Edges(count, ())
    bounds = []
    for c in range(count):
        right = sum(line.indent + tail.cells[c][1] for line, tail in full) / len(full)
        widest = max(tail.cells[c][1] - tail.cells[c][0] for _, tail in full)
        bounds.append((right - widest, right))
    return Edges(count, tuple(bounds))


def _without_mark(line: Line, tail: Tail, edges: Edges) -> Tail:
    """Give a note's marker between label and figures back to the label: ``Losses (2) (10) (12)``."""
    if len(tail.cells) == edges.columns + 1 and _MARK_CELL.fullmatch(line.text[slice(*tail.cells[0])]):
        return Tail(tail.cells[0][1], tail.cells[1:], gapped=tail.gapped)
    return tail


def _wrapped(line: Line, tail: Tail, waiting: Sequence[Line]) -> list[Line]:
    """Return the lines before a row of figures that begin its label."""
    label = line.text[: tail.label_end]
    if not waiting or not (not label or label[0].islower() or label[0] in "(&"):
        return []
    wrapped: list[Line] = []
    for one in reversed(waiting[-_LONGEST_WRAP:]):
        if one.text.endswith(":") or one.text.endswith(".") or is_year_row(one.text):
            break
        wrapped.insert(0, one)
        if not one.text[0].islower():
            break
    return wrapped


def _groups(lines: Sequence[Line]) -> list[RawRow]:
    """Turn lines without figures into rows; a line in small letters goes on with the one before."""
    joined: list[list[Line]] = []
    for line in lines:
        if joined and line.text[0].islower() and not joined[-1][-1].text.endswith((":", ".")):
            joined[-1].append(line)
        else:
            joined.append([line])
    rows = []
    for group in joined:
        span = Span(group[0].start, group[-1].end)
        rows.append(RawRow(span, span, plain(" ".join(one.text.rstrip(_LEADERS) for one in group)), (), ()))
    return rows


def _data(wrapped: Sequence[Line], line: Line, tail: Tail, edges: Edges) -> RawRow:
    label_end = len(line.text[: tail.label_end].rstrip(_LEADERS))
    start = wrapped[0].start if wrapped else line.start
    parts = [one.text for one in wrapped] + [line.text[:label_end]]
    spans = [Span(line.start + a, line.start + b) for a, b in tail.cells]
    texts = [" ".join(line.text[a:b].split()) for a, b in tail.cells]
    placed = _place(line, tail, edges)
    if placed:
        empty = Span(line.end, line.end)
        spans = [spans[at] if at >= 0 else empty for at in placed]
        texts = [texts[at] if at >= 0 else "" for at in placed]
    label_span = Span(start, max(start, line.start + label_end))
    return RawRow(Span(start, line.end), label_span, plain(" ".join(p for p in parts if p)), tuple(spans), tuple(texts))


def _place(line: Line, tail: Tail, edges: Edges) -> list[int]:
    """Return for each column the index of the row's figure in it (-1: none), or nothing if unknown."""
    if not edges.bounds or len(tail.cells) >= edges.columns:
        return []
    placed = [-1] * edges.columns
    column = 0
    for index, (_, end) in enumerate(tail.cells):
        x = line.indent + end
        last = edges.columns - (len(tail.cells) - index)
        while column < last and abs(edges.bounds[column + 1][1] - x) <= abs(edges.bounds[column][1] - x):
            column += 1
        placed[column] = index
        column += 1
    return placed


def text_heads(lines: Sequence[Line], edges: Edges) -> tuple[list[Line], list[list[str]]]:
    """Split the lines above the rows into title lines and rows of column labels, the label column first."""
    titles: list[Line] = []
    heads: list[list[str]] = []
    for index, line in enumerate(lines):
        if is_rule(line.text) or line.text.startswith("<"):
            continue
        rule = lines[index + 1] if index + 1 < len(lines) and is_rule(lines[index + 1].text) else None
        cells = [] if is_unit_line(line.text) else _head_cells(line, edges, rule)
        if cells:
            heads.append(cells)
        else:
            titles.append(line)
    return titles, heads


def _head_cells(line: Line, edges: Edges, rule: Line | None) -> list[str]:
    """Return a header line's cells, one a column behind the label's, or nothing if it names no columns."""
    if not edges.columns:
        return []
    pieces = _pieces(line)
    if edges.bounds and (len(pieces) > 1 or rule or is_year_row(line.text)):
        return _by_position(pieces, edges, _pieces(rule) if rule else [])
    tokens = line.text.split()
    if edges.columns > 1 and len(tokens) == edges.columns and (all(map(is_year_row, tokens)) or len(pieces) > 1):
        return ["", *tokens]
    if edges.columns == 1 and is_year_row(line.text):
        return ["", plain(line.text)]
    return _spread(tokens, edges.columns) if is_year_row(line.text) or _ends_in_periods(tokens) else []


def _pieces(line: Line) -> list[tuple[int, int, str]]:
    """Return the pieces of a line that wide gaps separate: start and end from the line's start, and text."""
    return [(line.indent + found.start(), line.indent + found.end(), found[0]) for found in _PIECE.finditer(line.text)]


def _by_position(
    pieces: Sequence[tuple[int, int, str]], edges: Edges, rules: Sequence[tuple[int, int, str]]
) -> list[str]:
    """Give each piece to the columns it stands over; a rule right below shows how far a piece reaches."""
    cells: list[list[str]] = [[] for _ in range(edges.columns + 1)]
    left = edges.bounds[0][0]
    for start, end, piece in pieces:
        reach = next(((a, b) for a, b, _ in rules if a < end and start < b), (start, end))
        begin, stop = min(start, reach[0]), max(end, reach[1])
        over = [c for c, (a, b) in enumerate(edges.bounds) if begin < b and a < stop and _mostly(begin, stop, a, b)]
        if not over and (begin + stop) / 2 < left - (stop - begin) / 2:
            cells[0].append(piece)
            continue
        for column in over or [min(range(edges.columns), key=lambda c: abs(sum(edges.bounds[c]) - begin - stop))]:
            cells[column + 1].append(piece)
    return [plain(" ".join(cell)) for cell in cells]


def _mostly(begin: float, stop: float, left: float, right: float) -> bool:
    """Tell whether a piece covers at least half of a column, or the column half of the piece."""
    shared = min(stop, right) - max(begin, left)
    return 2 * shared >= min(right - left, stop - begin)


def _ends_in_periods(tokens: Sequence[str]) -> bool:
    return sum(is_year(token.strip(",.()")) for token in tokens) >= 2 and is_year(tokens[-1].strip(",.()"))


def _spread(tokens: Sequence[str], count: int) -> list[str]:
    """Spread a header line of periods over the columns: "Three Months Ended ..., Six Months Ended ..."."""
    leads = vocabulary()["period_leads"]
    years = [i for i, token in enumerate(tokens) if is_year(token.strip(",.()"))]
    if len(years) == count:
        bounds = [-1, *years]
        parts = [" ".join(tokens[a + 1 : b + 1]) for a, b in pairwise(bounds)]
        alike = len(parts) > 1 and len(parts[0].split()) == len(parts[1].split())
        if alike or is_year_row(parts[0]):
            return ["", *parts]
        return [" ".join(tokens[: years[0]]), tokens[years[0]], *parts[1:]]
    starts = [
        i for i, token in enumerate(tokens) if token.lower() in leads and not (i and tokens[i - 1].lower() in leads)
    ]
    if not starts and is_year_row(" ".join(tokens)):
        return ["", *[" ".join(tokens)] * count]
    if not starts or starts[0] != 0 or count % len(starts):
        return []
    each = count // len(starts)
    cells = [""]
    for begin, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        cells.extend([" ".join(tokens[begin:end])] * each)
    return cells
