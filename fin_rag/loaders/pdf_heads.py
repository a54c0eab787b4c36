"""Put the heads of table columns back side by side.

A head that wraps in its cell comes as a stack of short lines, and the stacks come one after another. Above
the rows they read as a list; joined, they read as the line that they are on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fin_rag.loaders.pdf_lines import Line, is_row

_SHORT: Final = 34
_MAX_STACK: Final = 7
_MAX_RUN: Final = 60
_NEAR: Final = 2


def merge_heads(lines: Sequence[Line]) -> list[Line]:
    """Join stacks of short lines above the rows of a table into one line.

    A stack ends where the next line stands higher. Stacks that do not move to the right begin a new line.

    Example:
        >>> at = lambda x, y, text: Line(text, x, x + 40, y, y, 9, True, False)
        >>> left = [at(150, 70, "Paid-in"), at(150, 60, "capital")]
        >>> right = [at(220, 70, "Total"), at(220, 60, "equity")]
        >>> row = Line("Net income 3,659 3,704", 20, 260, 45, 45, 9, False, False)
        >>> [line.text for line in merge_heads([*left, *right, row])]
        ['Paid-in capital Total equity', 'Net income 3,659 3,704']
    """
    merged: list[Line] = []
    start = 0
    while start < len(lines):
        end = _run_end(lines, start)
        if end - start >= 2 and any(is_row(line.text) for line in lines[end : end + _NEAR]):
            merged.extend(_joined(lines[start:end]))
        else:
            end = max(end, start + 1)
            merged.extend(lines[start:end])
        start = end
    return merged


def _run_end(lines: Sequence[Line], start: int) -> int:
    """Return where a run of short lines that are no rows ends."""
    end = start
    while end < min(len(lines), start + _MAX_RUN):
        line = lines[end]
        if len(line.text) > _SHORT or is_row(line.text):
            break
        end += 1
    return end


def _joined(run: Sequence[Line]) -> list[Line]:
    """Return the run with its stacks joined; a title above the first of them stays as it is."""
    stacks: list[list[Line]] = [[run[0]]]
    for line in run[1:]:
        if line.top > stacks[-1][-1].bottom + 1.0:
            stacks.append([line])
        else:
            stacks[-1].append(line)
    if len(stacks) < 2:
        return list(run)
    # Only lines as high as the later stacks belong to the first one: a title above them does not.
    ceiling = max(stack[0].top for stack in stacks[1:]) + 1.0
    kept = [line for line in stacks[0] if line.top > ceiling]
    stacks[0] = [line for line in stacks[0] if line.top <= ceiling]
    stacks = [stack for stack in stacks if stack]
    if len(stacks) < 2 or max(map(len, stacks)) > _MAX_STACK:
        return list(run)
    heads: list[list[list[Line]]] = []
    for stack in stacks:
        if heads and stack[0].left > heads[-1][-1][0].left:
            heads[-1].append(stack)
        else:
            heads.append([stack])
    return [*kept, *(_one_line([line for stack in head for line in stack]) for head in heads)]


def _one_line(parts: Sequence[Line]) -> Line:
    return replace(
        parts[0],
        text=" ".join(part.text for part in parts),
        left=min(part.left for part in parts),
        right=max(part.right for part in parts),
        top=max(part.top for part in parts),
        bottom=min(part.bottom for part in parts),
        column_head=True,
    )
