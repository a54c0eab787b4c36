"""Primary statements as tables that are packed whole, or cut between rows under their heads and unit."""

from __future__ import annotations

from collections.abc import Sequence

from fin_rag.schema import STATEMENT_TYPE, Block, Outline, Span
from fin_rag.structure.statements import Statement


def statement_tables(outline: Outline, statements: Sequence[Statement]) -> list[Block]:
    """Return a block for each piece of the statements that have a section of their own, in order.

    A continuation page without column heads is read under the heads of the first page.
    """
    ends = {section.span.start: section.span.end for section in outline if STATEMENT_TYPE in section.metadata}
    tables: list[Block] = []
    for statement in statements:
        end = ends.get(statement.span.start)
        if end is None:
            continue
        first = statement.headers[0]
        # The remark below the last row ("See accompanying notes") goes with it.
        stops = [*(piece.end for piece in statement.spans[:-1]), end]
        for piece, header, stop in zip(statement.spans, statement.headers, stops, strict=True):
            part = Span(piece.start, max(piece.start, min(stop, end)))
            if len(part):
                own = header if len(header) else first
                tables.append(Block("table", part, header=own if len(own) else None))
    return tables
