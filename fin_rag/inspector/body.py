"""The text column of a page: blocks in order, tables as tables, borders of chunks where they fall."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from fin_rag.inspector.flow import Flow, Owned, Runs
from fin_rag.schema import Block, Outline, Span
from fin_rag.structure.calls import CallOutline
from fin_rag.structure.cells import pipe_cells
from fin_rag.structure.layout import is_pipe_separator
from fin_rag.structure.lines import Line, split_lines


def text_column(text: str, parts: Sequence[Block], outline: Outline, flow: Flow, runs: Runs) -> Iterator[str]:
    """Yield the HTML of a document's text, block by block.

    Args:
        text: the canonical text.
        parts: its blocks.
        outline: its sections; exchanges of a call are set apart.
        flow: writes the slices, in order.
        runs: knows which chunk reads what.
    """
    exchanges = _exchanges(outline)
    starts = [span.start for span, _ in exchanges]
    for block in parts:
        name = f"block {block.kind}" + (f" h{min(block.level, 6)}" if block.kind == "heading" else "")
        at = bisect_right(starts, block.span.start) - 1
        if at >= 0 and block.span.start < exchanges[at][0].end:
            name += f" exchange x{exchanges[at][1] % 2}"
        yield f'<div class="{name}" data-o="{block.span.start}">'
        if block.kind == "table" and "|" in block.span.slice(text):
            yield from _table(text, block, flow, runs)
        else:
            yield from (_run(text, one, block.span, flow) for one in runs.cut(block.span))
        yield "</div>\n"
    yield flow.rest()


def _exchanges(outline: Outline) -> list[tuple[Span, int]]:
    turns = outline.turns if isinstance(outline, CallOutline) else ()
    return [(turn.span, turn.exchange) for turn in turns if turn.exchange]


def _run(text: str, run: Owned, whole: Span, flow: Flow) -> str:
    start, end = run.span.start, run.span.end
    goes_on = start > whole.start and text[start - 1] != "\n"
    return f'<div class="run{_tone(run.chunks)}{" cut" if goes_on else ""}"{_read_by(run.chunks)}>' + (
        f"{flow.slice(start, end)}</div>"
    )


def _tone(chunks: Sequence[int]) -> str:
    return f" t{chunks[0] % 2}" if chunks else " unread"


def _read_by(chunks: Sequence[int]) -> str:
    return f' data-c="{" ".join(map(str, chunks))}"' if chunks else ""


def _table(text: str, block: Block, flow: Flow, runs: Runs) -> Iterator[str]:
    head_end = block.header.end if block.header else block.span.start
    inside = False
    for line in split_lines(text, block.span):
        if not line.text or is_pipe_separator(line.text):
            continue
        piped = "|" in line.text
        if piped != inside:
            yield "<table>" if piped else "</table>"
            inside = piped
        chunks = runs.chunks_at(line.start)
        if piped:
            yield _row(line, chunks, flow, head=line.end <= head_end)
        else:
            yield _run(text, Owned(Span(line.start, line.end), chunks), block.span, flow)
    if inside:
        yield "</table>"


def _row(line: Line, chunks: Sequence[int], flow: Flow, *, head: bool) -> str:
    tag = "th" if head else "td"
    cells = "".join(f"<{tag}>{flow.slice(line.start + a, line.start + b)}</{tag}>" for a, b in pipe_cells(line.text))
    return f'<tr class="{_tone(chunks).strip()}"{_read_by(chunks)}>{cells}</tr>'
