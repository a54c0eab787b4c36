"""Write the lines of an HTML source as canonical Markdown and note where each of them stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from fin_rag.loaders.html_cells import is_bullet, is_unit_line
from fin_rag.loaders.html_lines import MIXED
from fin_rag.loaders.html_model import GAP_BREAK, LEAD, LIST_ITEM, PROSE, RAW, TABLE_ROW, Line
from fin_rag.schema import Span

_LONGEST_BOLD: Final = 400
_LONGEST_SLANTED: Final = 250
_LONGEST_LARGE: Final = 160
_SMALLER: Final = 0.95
_LARGER: Final = 1.15
_MARKDOWN_STARTS: Final = ("# ", "## ", "### ", "#### ", "##### ", "###### ")
_RUNNING_ENDS: Final = frozenset(".,;:)")
_SENTENCE_ENDS: Final = frozenset(".!?:;\"”’'")

# Ranks of headings, most prominent first; h1 to h6 are 1 to 6.
RANK_SIZE: Final = 7
RANK_BOLD_CAPITALS: Final = 8
RANK_BOLD: Final = 9
RANK_BOLD_ITALIC: Final = 10
RANK_UNDERLINE: Final = 11
RANK_ITALIC: Final = 12


class Writer:
    """Write pages of lines; ``text``, ``pages``, ``headings`` and ``running`` hold the result.

    Running heads and page numbers are written as paragraphs of their own and marked in ``running``. Where a
    sentence or table runs on across them they stand behind it, so that they cut nothing.

    Example:
        >>> line = Line()
        >>> _ = line.add("Net sales rose.", 0, 10.0)
        >>> Writer([[line]]).text
        'Net sales rose.'
    """

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        self.headings: list[tuple[Span, int]] = []
        self.running: list[Span] = []
        self.pages: list[tuple[int, Span]] = []
        self._body_size, self._body_face = _body_type(pages)
        self._parts: list[str] = []
        self._at = 0
        self._last: Line | None = None
        self._pending: list[Line] = []
        for number, page in enumerate(pages, 1):
            self._write_page(number, page)
        self._write_running()
        self.text = "".join(self._parts)

    def _write_page(self, number: int, page: Sequence[Line]) -> None:
        begin = -1
        first = True
        for line in page:
            if line.dropped:
                self._pending.append(line)
                continue
            self._write(line, first=first and number > 1)
            if begin < 0:
                begin = line.start
            first = False
        if begin >= 0:
            self.pages.append((number, Span(begin, self._at)))

    def _write(self, line: Line, *, first: bool) -> None:
        rank = 0 if line.kind in (TABLE_ROW, RAW, LEAD) else self._rank(line)
        _dress(line, rank)
        gap = self._gap(line, rank, first=first)
        if self._pending and gap not in ("\n", " "):
            self._write_running()
            gap = "\n\n"
        self._put(gap)
        line.start = self._at
        self._put(line.prefix)
        line.at = self._at
        self._put(line.text)
        self._put(line.suffix)
        if rank:
            self.headings.append((Span(line.start, self._at), rank))
        self._last = line

    def _write_running(self) -> None:
        for line in self._pending:
            self._put("\n\n" if self._at else "")
            line.at = line.start = self._at
            self._put(line.text)
            self.running.append(Span(line.start, self._at))
        self._pending.clear()

    def _rank(self, line: Line) -> int:
        rank = heading_rank(line, self._body_size)
        if rank or line.face in (None, MIXED, self._body_face) or line.kind != PROSE:
            return rank
        plain = line.linked or line.width > _LONGEST_LARGE or line.text[-1] in _RUNNING_ENDS
        small = line.size < self._body_size * _SMALLER
        return 0 if plain or small or not any(map(str.isalpha, line.text)) else RANK_UNDERLINE

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._at += len(text)

    def _gap(self, line: Line, rank: int, *, first: bool) -> str:
        last = self._last
        if last is None:
            return ""
        if line.kind == TABLE_ROW:
            same = last.kind in (TABLE_ROW, LEAD) and line.gap == GAP_BREAK
            unit = last.kind == PROSE and is_unit_line(last.text)
            return "\n" if same or unit else "\n\n"
        if last.kind == TABLE_ROW:
            return "\n\n"
        if line.kind == LIST_ITEM and last.kind == LIST_ITEM:
            return "\n"
        if first and not rank and not last.suffix and _runs_on(last, line):
            return " "
        return "\n" if line.gap == GAP_BREAK and not first else "\n\n"


def heading_rank(line: Line, body_size: float) -> int:
    """Return how prominent a line is styled: 1 (``h1``) to 12 (italic), 0 for running text."""
    text = line.text
    if line.level and line.width <= _LONGEST_BOLD:
        return line.level
    total = line.total
    if not total or line.width > _LONGEST_BOLD or not any(map(str.isalpha, text[:80])):
        return 0
    bold = line.bold >= total
    slanted = line.italic >= total
    if line.kind == LIST_ITEM:
        return 0
    large = bool(body_size) and line.size > body_size * _LARGER
    if large and (bold or line.center or line.width <= _LONGEST_LARGE):
        return RANK_SIZE
    capital = text.isupper() or line.upper >= total
    if bold:
        return RANK_BOLD_CAPITALS if capital else RANK_BOLD_ITALIC if slanted else RANK_BOLD
    if capital and line.center and line.width <= _LONGEST_SLANTED:
        return RANK_BOLD
    if line.width > _LONGEST_SLANTED:
        return 0
    if line.under >= total and not line.linked and line.face != MIXED:
        return RANK_UNDERLINE
    return RANK_ITALIC if slanted else 0


def _dress(line: Line, rank: int) -> None:
    """Give a line its Markdown form."""
    text = line.text
    if line.kind in (TABLE_ROW, RAW):
        return
    if line.kind != LIST_ITEM and len(text) > 2 and is_bullet(text[0]) and (text[1] == " " or text[0] != "o"):
        _bullet(line, text)
    elif line.level and rank:
        line.prefix = f"{line.prefix}{'#' * line.level} "
    elif line.kind == PROSE and rank and "*" not in (text[0], text[-1]):
        mark = "*" if rank == RANK_ITALIC else "**" if line.bold >= line.total else ""
        line.prefix, line.suffix = mark, mark
    elif text.startswith(_MARKDOWN_STARTS):
        line.prefix = f"{line.prefix}\\"


def _bullet(line: Line, text: str) -> None:
    """Turn a printed bullet into a list item; marks inside keep their place."""
    rest = text[1:].lstrip()
    cut = len(text) - len(rest)
    line.kind = LIST_ITEM
    line.prefix = "- "
    line.parts = [rest]
    line.width = len(rest)
    line.cut = cut


def _runs_on(last: Line, line: Line) -> bool:
    """Tell whether a sentence of the page before goes on in the first line of this one."""
    if last.kind not in (PROSE, LIST_ITEM) or line.kind != PROSE or line.level:
        return False
    return last.width > 40 and last.text[-1] not in _SENTENCE_ENDS and line.text[0].islower()


def _body_type(pages: Sequence[Sequence[Line]]) -> tuple[float, str]:
    """Return the font size and the face in which most of the running text is set."""
    sizes: Counter[float] = Counter()
    faces: Counter[str] = Counter()
    for page in pages:
        for line in page:
            if line.kind != TABLE_ROW and line.size:
                sizes[line.size] += line.total
                faces[line.face or ""] += line.total
    size = max(sizes.items(), key=lambda item: (item[1], -item[0]))[0] if sizes else 0.0
    return size, max(faces.items(), key=lambda item: (item[1], item[0]))[0] if faces else ""
