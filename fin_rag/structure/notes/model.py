"""What is known of a document's notes: notes, markers, and the joins between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fin_rag.schema import Span


class NoteKey(NamedTuple):
    """Name what a marker says, whatever its form: ``(1)``, ``¹`` and ``[1]`` are ``("number", "1")``.

    ``kind`` is ``number``, ``letter``, ``roman``, ``star``, ``dagger`` or ``name``; stars are counted.
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Note:
    """Hold one note.

    ``spans`` are its text, its own marker included; a note that goes on overleaf has one span a page.
    ``kind`` is ``footnote``, or ``account`` for a numbered note of the accounts, which has a heading; of that
    the spans hold the heading and the first paragraphs. ``table`` is the index (0-based, document order) of
    the table that the note stands in or directly below, ``-1`` where there is none. ``row`` is the whole row
    of a table where the note was set as one.
    """

    note_id: str
    marker: str
    key: NoteKey
    form: str
    spans: tuple[Span, ...]
    kind: str = "footnote"
    table: int = -1
    section_id: str = ""
    row: Span | None = None

    @property
    def start(self) -> int:
        """Return where the note begins."""
        return self.spans[0].start

    def text(self, canonical: str) -> str:
        """Return the note as printed; the parts of one that goes on overleaf are joined by a blank."""
        return " ".join(span.slice(canonical) for span in self.spans)


@dataclass(frozen=True, slots=True)
class Marker:
    """Hold one marker: a call for a note.

    ``anchor`` is what it is attached to: the cell, the row's label, the header cell, the title, or the
    sentence in prose (``where``). ``span`` is the marker itself, ``printed`` its text. ``key`` is one of
    those that it names: "(1, 3)" makes two markers with one span. ``table`` is ``-1`` outside tables.
    ``form`` is ``account`` for a reference to a numbered note of the accounts. ``label`` is the row's label
    for markers in its cells.
    """

    printed: str
    key: NoteKey
    form: str
    span: Span
    anchor: Span
    where: str
    table: int = -1
    label: Span | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """Say that a marker calls a note."""

    marker: Marker
    note: Note


@dataclass(frozen=True, slots=True)
class Notes:
    """Report the notes of one document: all of them, all markers, the joins, and markers without a note.

    Every sequence is in document order. ``tables`` counts the tables.
    """

    notes: tuple[Note, ...] = ()
    markers: tuple[Marker, ...] = ()
    joins: tuple[Join, ...] = ()
    unresolved: tuple[Marker, ...] = ()
    tables: int = 0
    _starts: tuple[int, ...] = field(default=(), repr=False, compare=False)

    def joins_in(self, span: Span) -> Iterator[Join]:
        """Yield the joins whose markers stand inside ``span``, in order.

        Args:
            span: code points of the canonical text.
        """
        for index in range(bisect_left(self._starts, span.start), len(self.joins)):
            join = self.joins[index]
            if join.marker.span.start >= span.end:
                return
            if join.marker.span.end <= span.end:
                yield join

    def notes_of(self, span: Span, kind: str = "footnote") -> tuple[Note, ...]:
        """Return the notes of one kind that the markers inside ``span`` call, each once, in order."""
        found = {join.note.note_id: join.note for join in self.joins_in(span) if join.note.kind == kind}
        return tuple(found.values())
