"""The lines that belong to a statement: from its title to where its rows end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from fin_rag.schema import PageMap
from fin_rag.structure.cells import clean, is_value, pipe_cells
from fin_rag.structure.figures import is_year_row
from fin_rag.structure.layout import is_pipe_separator
from fin_rag.structure.lines import Line, is_rule, is_sentence
from fin_rag.structure.statements.titles import Title
from fin_rag.structure.statements.tokens import split_row
from fin_rag.structure.statements.vocabulary import squeeze, words
from fin_rag.structure.units import is_unit_line

_MOST_HEAD_LINES: Final = 16
_SHORTEST_PROSE: Final = 70
_LONGEST_PROSE: Final = 220
_LONGEST_HEADS: Final = 600  # the heads of a wide statement of equity may have run into one line
_SHORT_LINE: Final = 32  # column heads of a PDF run down the page in short lines
_LINE_WEIGHT: Final = 3
_MOST_BARE: Final = 7
_MOST_GAP: Final = 9
_MOST_ROWS: Final = 400
_LONGEST_ROW: Final = 4_000


@dataclass(slots=True)
class Piece:
    """Mark one run of a statement's lines: ``top`` (title or unit line), first row, and the end (exclusive)."""

    top: int
    rows: int
    last: int
    pipe: bool
    title: Title | None = None


@dataclass(slots=True)
class Draft:
    """Hold what stands below one title, before it is judged."""

    title: Title
    pieces: list[Piece]
    kind: str
    labels: list[str] = field(default_factory=list)
    figures: int = 0
    complete: bool = False
    score: int = 0
    parent: bool = False
    aside: bool = False

    @property
    def first(self) -> int:
        """Return the index of the draft's first line."""
        return self.pieces[0].top

    @property
    def last(self) -> int:
        """Return the index of the line after the draft's last one."""
        return self.pieces[-1].last


def _periods_named(text: str) -> int:
    """Return how many periods a pipe row names; 0 if it holds anything else, or a label."""
    if is_pipe_separator(text):
        return 0
    first, *others = [clean(text[a:b]) for a, b in pipe_cells(text)] or [""]
    filled = [cell for cell in others if cell]
    return len(filled) if not first and all(is_year_row(cell) for cell in filled) else 0


class Reader:
    """Read bodies of statements from lines.

    ``titles`` maps the index of a line to the title that starts there; ``page_map`` tells where pages break.
    """

    def __init__(self, lines: Sequence[Line], titles: Mapping[int, Title], page_map: PageMap | None) -> None:
        self.lines = lines
        self.titles = titles
        self._pages = [span.start for _, span in page_map.pages] if page_map else []
        self._known: dict[int, tuple[str, bool]] = {}

    def draft(self, title: Title) -> Draft | None:
        """Return what stands below a title, or ``None`` if no rows of figures do."""
        at = self._first_row(title)
        if at < 0:
            return None
        draft = Draft(title, [], title.kind)
        top = self._top(title)
        if self._is_pipe(at) or title.in_table:
            self._pipes(draft, top, at)
        else:
            self._text(draft, top, at)
        return draft if draft.figures else None

    def page(self, index: int) -> int:
        """Return a number that is the same for all lines of a page."""
        return bisect_right(self._pages, self.lines[index].start)

    def row(self, index: int) -> tuple[str, bool]:
        """Return a line's label as letters, and whether figures stand behind it."""
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._read(self.lines[index].text)
        return known

    def _read(self, text: str) -> tuple[str, bool]:
        if len(text) > _LONGEST_ROW or not text:
            return "", False
        if text[0] == "|":
            if is_pipe_separator(text):
                return "", False
            cells = [clean(text[a:b]) for a, b in pipe_cells(text)]
            return squeeze(cells[0]), any(is_value(cell) for cell in cells[1:])
        if is_year_row(text) or is_unit_line(text):
            return "", False
        pieces = split_row(text, 0)
        label = text[pieces[0].start : pieces[0].end]
        return squeeze(label), bool(pieces[0].cells)

    def _is_pipe(self, index: int) -> bool:
        return self.lines[index].text.startswith("|")

    def _top(self, title: Title) -> int:
        """Return the first line of the statement: a unit line directly above a title in a table is part of it."""
        above = title.first - 1
        if title.in_table and above >= 0 and is_unit_line(self.lines[above].text):
            return above
        return title.first

    def _first_row(self, title: Title) -> int:
        """Return the first line below a title that has figures, or -1 if other text comes before."""
        seen = 0
        for index in range(title.last, len(self.lines)):
            text = self.lines[index].text
            if not text or is_rule(text) or is_pipe_separator(text) or text.startswith("<"):
                continue
            seen += _LINE_WEIGHT if len(text) > _SHORT_LINE else 1
            if index in self.titles or seen > _LINE_WEIGHT * _MOST_HEAD_LINES or self._is_prose(text):
                return -1
            letters, figures = self.row(index)
            if figures and letters:
                return index
            if words().foot.search(letters):
                return -1
        return -1

    def _is_prose(self, text: str) -> bool:
        if text[0] == "|":
            return False
        if len(text) > _LONGEST_HEADS:
            return True
        closed = len(text) > _LONGEST_PROSE or (len(text) > _SHORTEST_PROSE and text[-1] in ".:")
        return closed and is_sentence(text)

    def _pipes(self, draft: Draft, top: int, at: int) -> None:
        """Take the table that holds line ``at``, and the tables behind it that go on with the statement."""
        begin: int = top
        while at >= 0:
            first = at
            while first > begin and self._is_pipe(first - 1):
                first -= 1
            last = at
            while last < len(self.lines) and self._is_pipe(last) and not self._new_title(draft, last):
                last += 1
            top = begin if not draft.pieces else self._unit_above(first)
            for start, end in self._segments(first, last):
                draft.pieces.append(Piece(top if start == first else start, start, end, pipe=True))
            self._count(draft, first, last)
            at = self._next_table(draft, last)
            begin = last

    def _segments(self, first: int, last: int) -> list[tuple[int, int]]:
        """Cut a table where a further row of column heads begins rows of other periods."""
        cuts, figures, headed = [first], False, False
        for index in range(first, last):
            if self.row(index)[1]:
                figures, headed = True, False
            elif figures and not headed and self._is_head(index, last):
                cuts.append(index)
                headed = True
        return list(pairwise([*cuts, last]))

    def _is_head(self, index: int, last: int) -> bool:
        """Tell whether a row, or a merged head and the row below it, name at least two periods."""
        named = _periods_named(self.lines[index].text)
        if named == 1 and index + 1 < last:
            named = _periods_named(self.lines[index + 1].text)
        return named > 1

    def _new_title(self, draft: Draft, index: int) -> bool:
        """Tell whether another statement's title stands in this row of the table."""
        title = self.titles.get(index)
        return title is not None and title.first > draft.title.first and title.kind != draft.kind

    def _unit_above(self, first: int) -> int:
        above = first - 1
        return above if above >= 0 and is_unit_line(self.lines[above].text) else first

    def _next_table(self, draft: Draft, at: int) -> int:
        """Return the first line of the next table if it belongs to the statement, else -1."""
        seen = 0
        for index in range(at, len(self.lines)):
            text = self.lines[index].text
            if not text:
                continue
            if index in self.titles or self._is_prose(text):
                return -1
            if self._is_pipe(index):
                return index if self._goes_on(draft, index) else -1
            seen += 1
            if seen > _MOST_GAP or words().foot.search(squeeze(text)):
                return -1
        return -1

    def _goes_on(self, draft: Draft, first: int) -> bool:
        """Tell whether a table without a title of its own continues the statement."""
        labels = []
        for index in range(first, min(first + 8, len(self.lines))):
            if not self._is_pipe(index):
                break
            labels.append(self.row(index)[0])
        tail = words().tail[draft.kind]
        if draft.complete:
            return any(tail.search(label) for label in labels[:4] if label)
        cues = words().cues[draft.kind]
        return any(cue.search(label) for label in labels for cue in cues if label)

    def _text(self, draft: Draft, top: int, at: int) -> None:
        """Take lines of text from row ``at`` to the end of the statement."""
        last, bare, page = at + 1, 0, self.page(at)
        for index in self._running(at):
            text = self.lines[index].text
            if self._ends(draft, index, text):
                break
            letters, figures = self.row(index)
            if self.page(index) != page:
                if draft.complete or not self._rows_ahead(index):
                    break
                page = self.page(index)
            if figures:
                last, bare = index + 1, 0
                self._note(draft, letters)
            elif text and not is_rule(text):
                bare += 1
                draft.labels.append(letters)
                if bare > _MOST_BARE:
                    break
        draft.pieces.append(Piece(top, at, last, pipe=False))

    def _running(self, at: int) -> Iterator[int]:
        return iter(range(at, min(len(self.lines), at + 2 * _MOST_ROWS)))

    def _ends(self, draft: Draft, index: int, text: str) -> bool:
        if not text:
            return False
        title = self.titles.get(index)
        if title is not None and title.first > draft.title.first:
            return True
        if self._is_pipe(index) or self._is_prose(text):
            return True
        return bool(words().foot.search(self.row(index)[0]))

    def _rows_ahead(self, index: int) -> bool:
        """Tell whether rows of figures go on right behind a page break."""
        seen, rows = 0, 0
        for at in range(index, min(index + 24, len(self.lines))):
            text = self.lines[at].text
            if not text:
                continue
            seen += 1
            if seen > 8 or at in self.titles or self._is_prose(text):
                break
            rows += self.row(at)[1]
        return rows >= 2

    def _count(self, draft: Draft, first: int, last: int) -> None:
        for index in range(first, min(last, first + _MOST_ROWS)):
            letters, figures = self.row(index)
            if figures:
                self._note(draft, letters)
            elif letters:
                draft.labels.append(letters)

    def _note(self, draft: Draft, letters: str) -> None:
        draft.figures += 1
        draft.labels.append(letters)
        if not draft.complete and words().complete[draft.kind].search(letters):
            draft.complete = True
