"""A row as the readers of the different kinds of tables hand it over."""

from __future__ import annotations

from typing import NamedTuple

from fin_rag.schema import Span


class RawRow(NamedTuple):
    """Hold a row's spans and texts before its kind and unit are known."""

    span: Span
    label_span: Span
    label: str
    cell_spans: tuple[Span, ...]
    cells: tuple[str, ...]
