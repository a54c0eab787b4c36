"""Write the paragraphs of a statute as canonical Markdown, whatever its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from fin_rag.schema import MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element

NO_VERSIONS: Final = "this source holds one version of the text; 'as_of' was not applied."
_BLANKS: Final = re.compile(r"[ \t\r\n\f\v]+")
_LIKE_MARKUP: Final = re.compile(r"\A(#{1,6}(?=\s)|>|[|])")


class Writer:
    """Collect paragraphs; blanks are single, odd spaces of the source stay as they are."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._length = 0
        self.anchors: dict[str, int] = {}
        self.left_out: Counter[str] = Counter()
        self.warnings: list[str] = []
        self.hints: dict[str, MetadataValue] = {}

    def text(self) -> str:
        """Return the canonical text."""
        return "\n\n".join(self._blocks)

    def anchor(self, target: str | None) -> None:
        """Let a target name point at the next paragraph."""
        if target:
            self.anchors.setdefault(target, self._length + (2 if self._blocks else 0))

    def paragraph(self, text: str) -> None:
        """Write a paragraph, unless it is blank."""
        shown = squeezed(text)
        if shown:
            self._write(_LIKE_MARKUP.sub(r"\\\1", shown))

    def heading(self, text: str, level: int) -> None:
        """Write a heading of a level from 1 to 6."""
        shown = squeezed(text)
        if shown:
            self._write(f"{'#' * min(max(level, 1), 6)} {shown}")

    def title(self, text: str) -> None:
        """Write the title that stands below the number of a part."""
        shown = squeezed(text)
        if shown:
            self._write(f"**{shown}**")

    def note(self, text: str) -> None:
        """Write an editor's note or footnote as a block quotation."""
        shown = squeezed(text)
        if shown:
            self._write(f"> {shown}")

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Write rows as a pipe table; the first row heads it."""
        kept = [[squeezed(cell).replace("|", "\\|") for cell in row] for row in rows]
        kept = [row for row in kept if any(row)]
        if not kept:
            return
        width = max(map(len, kept))
        lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in kept]
        self._write("\n".join([lines[0], f"|{'---|' * width}", *lines[1:]]))

    def _write(self, block: str) -> None:
        self._length += len(block) + (2 if self._blocks else 0)
        self._blocks.append(block)


def squeezed(text: str) -> str:
    r"""Return text on one line with single blanks; no-break and thin spaces stay.

    Example:
        >>> squeezed("  § 1.1\n Fees ")
        '§ 1.1 Fees'
    """
    return _BLANKS.sub(" ", text).strip(" ")


def inner_text(
    element: _Element, *, mark: Callable[[_Element], tuple[str, str] | None], skip: Callable[[_Element], bool]
) -> str:
    """Return the text inside an element; no recursion.

    Args:
        element: the element.
        mark: returns what to write before and after the text of an element (``("*", "*")`` for italics), or
            ``None``.
        skip: tells which elements to leave out; what ``mark`` puts before them and the text after them stay.
    """
    parts: list[str] = [element.text or ""]
    stack: list[tuple[_Element, bool]] = [(child, False) for child in reversed(element)]
    while stack:
        node, closing = stack.pop()
        if not isinstance(node.tag, str):  # processing instructions have a function for a tag
            parts.append(node.tail or "")  # type: ignore[unreachable]
            continue
        if closing:
            around = mark(node)
            if around:
                _close_mark(parts, around)
            parts.append(node.tail or "")
            continue
        around = mark(node)
        if skip(node):
            parts.append((around[0] if around else "") + (node.tail or ""))
            continue
        if around:
            parts.append(around[0])
        parts.append(node.text or "")
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(node))
    return "".join(parts)


def _close_mark(parts: list[str], around: tuple[str, str]) -> None:
    """Close a mark before the blanks at the end of what it marks; drop a mark around nothing."""
    tail = ""
    while parts and not parts[-1].strip() and parts[-1] != around[0]:
        tail = parts.pop() + tail
    if parts and parts[-1] == around[0]:
        parts.pop()
        parts.append(tail)
        return
    if parts:
        kept = parts[-1].rstrip()
        tail = parts[-1][len(kept) :] + tail
        parts[-1] = kept
    parts.append(around[1])
    parts.append(tail)


def table_rows(rows: Iterable[_Element], cells: frozenset[str], text: Callable[[_Element], str]) -> list[list[str]]:
    """Return the texts of the cells of each row element."""
    return [[text(cell) for cell in row.iter() if cell.tag in cells] for row in rows]
