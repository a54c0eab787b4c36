"""Rows of a statement as read from its lines, before units and periods are applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from fin_rag.schema import Span
from fin_rag.structure.cells import clean, column_labels, is_value, pipe_cells, pipe_head
from fin_rag.structure.layout import is_pipe_separator
from fin_rag.structure.lines import Line, is_rule, plain
from fin_rag.structure.statements.body import Piece
from fin_rag.structure.statements.columns import is_change, is_note_column
from fin_rag.structure.statements.periods import read_mentions
from fin_rag.structure.statements.tokens import count_columns, split_row
from fin_rag.structure.statements.vocabulary import words
from fin_rag.structure.units import is_unit_line

_HEAD_ROWS: Final = 12
_MOST_WRAPPED: Final = 3
_LEADERS: Final = ".·…_ \t"
_SHORT_INDENT: Final = 2


class GridRow(NamedTuple):
    """Hold one row: label, indentation in code points, cells (text and span, ``None`` where empty)."""

    label: str
    indent: int
    span: Span
    label_span: Span
    cells: tuple[tuple[str, Span] | None, ...]
    note: str = ""
    placed: bool = True


class Grid(NamedTuple):
    """Hold a piece's column heads, the lines above its rows, its rows, and where its header ends."""

    labels: tuple[str, ...]
    others: tuple[str, ...]
    above: tuple[str, ...]
    rows: tuple[GridRow, ...]
    header_end: int
    aligned: bool


def read_piece(lines: Sequence[Line], piece: Piece, *, grouped: bool) -> Grid:
    """Read the lines of one piece; with ``grouped`` a title may stand between its heads and its first row."""
    return _pipe_grid(lines, piece) if piece.pipe else _text_grid(lines, piece, grouped=grouped)


def _pipe_grid(lines: Sequence[Line], piece: Piece) -> Grid:
    first = next((i for i in range(piece.top, piece.last) if lines[i].text.startswith("|")), piece.last)
    above = [lines[i].text for i in range(piece.top, first) if lines[i].text]
    table = [lines[i] for i in range(first, piece.last)]
    head = pipe_head([line.text for line in table[:_HEAD_ROWS]]) if table else 0
    heads = [_texts(line.text) for line in table[:head] if not is_pipe_separator(line.text)]
    body = [line for line in table[head:] if not is_pipe_separator(line.text)]
    parsed = [(line, pipe_cells(line.text)) for line in body]
    width = max([len(cells) for _, cells in parsed] + [len(row) for row in heads], default=1)
    labels = column_labels(heads, width)
    kept, notes = _value_columns(labels, parsed, width)
    rows = [_pipe_row(line, cells, kept, notes) for line, cells in parsed if any(b > a for a, b in cells)]
    others = [labels[c] for c in range(width) if c not in kept and labels[c]] if labels else []
    end = table[head - 1].end if head else (lines[first - 1].end if above else table[0].start)
    return Grid(
        tuple(labels[c] for c in kept), tuple(others), tuple(plain(a) for a in above), tuple(rows), end, aligned=True
    )


def _texts(text: str) -> list[str]:
    return [clean(text[a:b]) for a, b in pipe_cells(text)]


def _value_columns(
    labels: Sequence[str], parsed: Sequence[tuple[Line, list[tuple[int, int]]]], width: int
) -> tuple[list[int], list[int]]:
    """Return the columns that hold figures, and those that hold references to notes."""
    filled = [0] * width
    for line, cells in parsed:
        for column, (a, b) in enumerate(cells[1:], 1):
            filled[column] += b > a and is_value(clean(line.text[a:b]))
    notes = [c for c in range(1, width) if is_note_column(labels[c])]
    kept = [c for c in range(1, width) if filled[c] and c not in notes and not is_change(labels[c])]
    return kept, notes


def _pipe_row(line: Line, bounds: Sequence[tuple[int, int]], kept: Sequence[int], notes: Sequence[int]) -> GridRow:
    a, b = bounds[0]
    raw = line.text[1:b] if line.text.startswith("|") else line.text[:b]
    indent = max(0, len(raw) - len(raw.lstrip()) - 1)
    cells: list[tuple[str, Span] | None] = []
    for column in kept:
        left, right = bounds[column] if column < len(bounds) else (0, 0)
        text = clean(line.text[left:right])
        cells.append((text, Span(line.start + left, line.start + right)) if text else None)
    note = next((clean(line.text[slice(*bounds[c])]) for c in notes if c < len(bounds)), "")
    return GridRow(
        clean(line.text[a:b]),
        indent,
        Span(line.start, line.end),
        Span(line.start + a, line.start + b),
        tuple(cells),
        note,
    )


def _text_grid(lines: Sequence[Line], piece: Piece, *, grouped: bool) -> Grid:
    body = [line for line in lines[piece.rows : piece.last] if line.text and not _is_noise(line.text)]
    above = [line for line in lines[piece.top : piece.rows] if line.text and not _is_noise(line.text)]
    heads_end = _heads_end(above) if grouped else len(above)
    above, body = above[:heads_end], [*above[heads_end:], *body]
    head = read_mentions([line.text for line in above[1:]])
    columns = count_columns([line.text for line in body], max(len(head.dates), len(head.years)))
    rows: list[GridRow] = []
    waiting: list[Line] = []
    heads = [plain(line.text) for line in above]
    edges = _edges(body, columns)
    for number, line in enumerate(body):
        pieces = split_row(line.text, columns)
        if number == 0 and pieces[0].start:
            heads.append(plain(line.text[: pieces[0].start]))
        for one in pieces:
            if not one.cells:
                waiting.append(_cut(line, one.start, one.end))
                continue
            label = line.text[one.start : one.end]
            wrapped = _wrapped(label, waiting) if one is pieces[0] else []
            rows.extend(_groups(waiting[: len(waiting) - len(wrapped)], columns))
            waiting = []
            rows.append(_text_row(line, one.start, one.end, one.cells, wrapped, columns, edges))
    rows.extend(_groups(waiting, columns))
    end = above[-1].end if above else (body[0].start if body else 0)
    return Grid(("",) * columns, (), tuple(heads), tuple(rows), end, aligned=False)


def _heads_end(above: Sequence[Line]) -> int:
    """Return how many of the lines above the first row are heads; group titles of the rows may follow them."""
    for count in range(len(above), 0, -1):
        text = above[count - 1].text
        if any(read_mentions([text])) or is_unit_line(text):
            return count
    return len(above)


def _is_noise(text: str) -> bool:
    return is_rule(text) or text.startswith("<") or (not any(c.isalnum() for c in text) and "—" not in text)


def _cut(line: Line, start: int, end: int) -> Line:
    return Line(line.start + start, line.start + end, line.text[start:end], line.indent if start == 0 else 0)


def _wrapped(label: str, waiting: Sequence[Line]) -> list[Line]:
    """Return the lines before a row of figures that begin its label."""
    if not waiting:
        return []
    taken: list[Line] = []
    for line in reversed(waiting[-_MOST_WRAPPED:]):
        last = line.text.rsplit(None, 1)[-1].lower().strip("(")
        hangs = last in words().open_ends or line.text[-1] in ",;–—-/&" or line.text.count("(") > line.text.count(")")
        begins = taken[0].text if taken else label
        goes_on = not begins or begins[0].islower() or begins[0] in "(&"
        if line.text[-1] == ":" or is_unit_line(line.text) or not (hangs or goes_on):
            break
        taken.insert(0, line)
    return taken


def _groups(waiting: Sequence[Line], columns: int) -> list[GridRow]:
    """Turn lines without figures into group rows; a line that goes on with the one before is joined to it."""
    joined: list[list[Line]] = []
    for line in waiting:
        if joined and (line.text[0].islower() or joined[-1][-1].text[-1] in ",–-&"):
            joined[-1].append(line)
        else:
            joined.append([line])
    rows = []
    for group in joined:
        span = Span(group[0].start, group[-1].end)
        label = plain(" ".join(line.text.rstrip(_LEADERS) for line in group))
        rows.append(GridRow(label, group[0].indent, span, span, (None,) * columns))
    return rows


class _Edges(NamedTuple):
    rights: tuple[float, ...]


def _edges(body: Sequence[Line], columns: int) -> _Edges:
    """Return where the columns end, in code points from the line's start, if blanks set the rows apart."""
    if columns < 2:
        return _Edges(())
    full = []
    seen = gapped = 0
    for line in body:
        one = split_row(line.text, columns)[-1]
        if not one.cells:
            continue
        seen += 1
        gapped += one.gapped
        if len(one.cells) == columns and one.gapped:
            full.append([line.indent + b for _, b in one.cells])
    if not full or 2 * gapped < seen:
        return _Edges(())
    return _Edges(tuple(sum(row[c] for row in full) / len(full) for c in range(columns)))


def _text_row(
    line: Line,
    start: int,
    end: int,
    cells: Sequence[tuple[int, int]],
    wrapped: Sequence[Line],
    columns: int,
    edges: _Edges,
) -> GridRow:
    label_end = start + len(line.text[start:end].rstrip(_LEADERS))
    label = plain(" ".join([*(one.text for one in wrapped), line.text[start:label_end]]))
    begin = wrapped[0].start if wrapped else line.start + start
    indent = wrapped[0].indent if wrapped else (line.indent if start == 0 else 0)
    found = [(" ".join(line.text[a:b].split()), Span(line.start + a, line.start + b)) for a, b in cells]
    placed: list[tuple[str, Span] | None] = [None] * max(columns, len(found))
    for column, cell in zip(_places(line, cells, columns, edges), found, strict=True):
        placed[column] = cell
    return GridRow(
        label,
        indent,
        Span(begin, line.start + cells[-1][1]),
        Span(begin, max(begin, line.start + label_end)),
        tuple(placed),
        placed=len(found) == columns or bool(edges.rights),
    )


def _places(line: Line, cells: Sequence[tuple[int, int]], columns: int, edges: _Edges) -> list[int]:
    """Return the column of each cell: by position where columns are aligned, else from the left."""
    if not edges.rights or len(cells) >= columns:
        return list(range(len(cells)))
    places: list[int] = []
    column = 0
    for index, (_, end) in enumerate(cells):
        x = line.indent + end
        last = columns - (len(cells) - index)
        while column < last and abs(edges.rights[column + 1] - x) <= abs(edges.rights[column] - x):
            column += 1
        places.append(column)
        column += 1
    return places


def place(row: GridRow, places: Sequence[int], count: int) -> GridRow:
    """Return a row with its cells in the statement's own columns."""
    cells: list[tuple[str, Span] | None] = [None] * count
    for column, cell in zip(places, row.cells, strict=False):
        cells[column] = cell
    return row._replace(cells=tuple(cells))
