"""Small tables for notebooks: how objects show themselves, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Final

_MOST_ROWS: Final = 60
_LONGEST: Final = 300  # code points of a cell


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    notes: Iterable[str] = (),
    most: int = _MOST_ROWS,
) -> str:
    """Return a small HTML table for a notebook; everything in it is escaped.

    Args:
        title: stands above it.
        columns: names of the columns.
        rows: cells, as text; ``None`` is an empty cell. Long cells are cut.
        notes: lines below it.
        most: rows shown; how many are left out is said.

    Example:
        >>> html_table("Sections", ["title"], [["R&D"]])
        '<table><caption>Sections</caption><tr><th>title</th></tr><tr><td>R&amp;D</td></tr></table>'
    """
    kept = iter(rows)
    body = "".join(_row("td", row) for row in islice(kept, most))
    left = sum(1 for _ in kept)
    lines = [*([f"and {left} more rows"] if left else []), *notes]
    below = f"<ul>{''.join(f'<li>{_cell(line)}</li>' for line in lines)}</ul>" if lines else ""
    return f"<table><caption>{_cell(title)}</caption>{_row('th', columns)}{body}</table>{below}"


def _row(tag: str, cells: Sequence[object]) -> str:
    return "<tr>" + "".join(f"<{tag}>{_cell(cell)}</{tag}>" for cell in cells) + "</tr>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")
