"""Chunks with notes: bodies that carry the notes they cite, and notes as chunks of their own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.schema import CURRENCY, SCALE, Block, Chunk, MetadataValue, Outline, Span
from fin_rag.splitters.chunks import chunk_text, root_section
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.pack import Packer
from fin_rag.splitters.regions import Region, context_header, regions_of
from fin_rag.structure.notes import Join, Note, Notes
from fin_rag.structure.notes.segments import is_notes_title
from fin_rag.structure.rows import LinearTables, without_marks
from fin_rag.structure.tables import Table
from fin_rag.tokens import Tokenization

NOTE: Final = "note"
CITED_BY: Final = "cited_by"
NOTES_LEFT_OUT: Final = "notes_left_out"
UNRESOLVED_MARKERS: Final = "unresolved_markers"
_LONGEST_LABEL: Final = 60  # code points of a row's label that may stand in a header
_MOST_CITED_BY: Final = 8
_PATH: Final = " > "


@dataclass(frozen=True, slots=True)
class ReportView:
    """Hold what was read of a report: its blocks, its tables (block and reading), and its notes."""

    blocks: Sequence[Block]
    tables: Sequence[tuple[Block, Table]]
    notes: Notes


class NoteChunker:
    """Cut a report into chunks with the notes that each cites.

    Args:
        text: the canonical text.
        outline: its sections.
        metadata: its keys.
        view: its blocks, tables and notes.
        config: the budget.
        tokenization: the model's tokens.
        linear: writes table rows in words, if they are wanted so.
    """

    def __init__(
        self,
        text: str,
        outline: Outline,
        metadata: Mapping[str, object],
        view: ReportView,
        *,
        config: ChunkingConfig,
        tokenization: Tokenization,
        linear: LinearTables | None = None,
    ) -> None:
        self._text, self._outline, self._metadata, self._view = text, outline, metadata, view
        self._config, self._tokenization = config, tokenization
        self._render: Callable[[Span], str] | None = linear.render if linear else None
        self._regions = regions_of(text, outline.sections, root_section(text, metadata))
        self._region_starts = [region.span.start for region in self._regions]
        self._packer = Packer(text, tokenization, config, self._joined, (), self._render)
        self._rest = {n.start: n.spans[1:] for n in view.notes.notes if len(n.spans) > 1}
        self._account_spans = {part for note in view.notes.notes if note.kind == "account" for part in note.spans}
        self._table_starts = [block.span.start for block, _ in view.tables]
        self._unresolved = [marker.span.start for marker in view.notes.unresolved]
        self._led: dict[int, Span] = {}
        self._citers: dict[str, list[Join]] = {}
        for join in view.notes.joins:
            self._citers.setdefault(join.note.note_id, []).append(join)

    def chunks(self, *, index_notes: bool) -> list[Chunk]:
        """Return the chunks in order of their bodies.

        Args:
            index_notes: make each note a chunk of its own too; else only a note that no chunk carries is one.
        """
        bodies = self._bodies()
        self._led = {note.start: body for body, note in bodies if body.start < note.start < body.end}
        aside = [span for span, _ in bodies]
        aside += [span for span, note in bodies for span in note.spans[1:]]
        furniture = tuple(sorted([*self._outline.furniture, *aside]))
        found = chunk_text(
            self._text,
            replace(self._outline, furniture=furniture),
            self._metadata,
            config=self._config,
            tokenization=self._tokenization,
            joined=self._joined,
            render=self._render,
        )
        found = [self._with_accounts(chunk) for chunk in found]
        carried = {span for chunk in found for span in chunk.spans}
        for body, note in bodies:
            if index_notes or note.row is not None or not carried.issuperset(self._parts(note)):
                found += self._note_chunks(body, note)
        return [self._finished(chunk) for chunk in sorted(found, key=lambda c: c.body.start)]

    # --- notes of their own ---------------------------------------------------------------------

    def _bodies(self) -> list[tuple[Span, Note]]:
        """Return what of the text is a note and stands apart from the other text, with the note."""
        bodies: list[tuple[Span, Note]] = []
        starts = [block.span.start for block in self._view.blocks]
        last = 0
        for note in self._view.notes.notes:
            if note.kind != "footnote":
                continue
            body = note.row or note.spans[0]
            region = self._region(body.start)
            apart = all(not mark.overlaps(span) for span in (body, *note.spans[1:]) for mark in self._near(span))
            if region is None or not region.span.contains(body) or body.start < last or not apart:
                continue
            if note.row is None:
                body = Span(self._title_start(body.start, max(last, region.span.start), starts), body.end)
            bodies.append((body, note))
            last = body.end
        later = [span for _, note in bodies for span in note.spans[1:]]
        return [(body, note) for body, note in bodies if not any(body.overlaps(span) for span in later)]

    def _near(self, span: Span) -> Iterator[Span]:
        furniture = self._outline.furniture
        at = max(bisect_right(furniture, span) - 1, 0)
        yield from furniture[at : at + 2]

    def _region(self, offset: int) -> Region | None:
        at = bisect_right(self._region_starts, offset) - 1
        return self._regions[at] if at >= 0 else None

    def _title_start(self, start: int, floor: int, starts: Sequence[int]) -> int:
        """Return where the titles and lead-ins begin that announce a note and nothing else."""
        at = bisect_right(starts, start) - 1
        block = self._view.blocks[at]
        before = self._text[max(block.span.start, floor) : start].strip()
        if before and not is_notes_title(before, heading=False):
            return start
        if before:
            start = block.span.start
        elif block.span.start < start:
            return start
        while at > 0:
            at -= 1
            block = self._view.blocks[at]
            announces = block.kind in ("heading", "prose") and is_notes_title(
                block.span.slice(self._text)[:400], heading=block.kind == "heading"
            )
            if not announces or block.span.start < floor or self._text[block.span.end : start].strip():
                break
            start = block.span.start
        return start

    def _note_chunks(self, body: Span, note: Note) -> Iterator[Chunk]:
        """Yield a note as a chunk (or as several, where it is long) under the header of what cites it."""
        region = self._region(body.start)
        if region is None:
            return
        header = self._header(region, note)
        keys: dict[str, MetadataValue] = {**region.section.metadata, NOTE: note.marker}
        cited = self._cited_by(note)
        if cited:
            keys[CITED_BY] = cited
        section = replace(region.section, metadata=keys)
        parts = [body]
        while parts:
            part = parts.pop(0)
            block = Block("note", part)
            carried: set[Span] = set()
            for packed in self._packer.pack([block], header, self._packer.estimate([part])):
                carried.update(packed.spans)
                yield Chunk(
                    packed.spans, section, packed.kind, region.parent, header, packed.token_count, 0, packed.pieces
                )
            rest = note.spans[1:] if part is body else ()
            for span in rest:
                owner = self._region(span.start)
                if span not in carried and owner is not None:
                    yield from self._loose(span, owner, section.metadata, header)

    def _loose(self, span: Span, region: Region, keys: Mapping[str, MetadataValue], header: str) -> Iterator[Chunk]:
        """Yield the part of a note that stands overleaf and did not fit beside its beginning."""
        section = replace(region.section, metadata={**region.section.metadata, **keys})
        for packed in self._packer.pack([Block("note", span)], header, self._packer.estimate([span])):
            yield Chunk(packed.spans, section, packed.kind, region.parent, header, packed.token_count, 0, packed.pieces)

    def _header(self, region: Region, note: Note) -> str:
        """Return the context header of the first thing that cites a note; its own where nothing does."""
        path: tuple[str, ...] = region.section.path
        citers = self._citers.get(note.note_id, [])
        if citers:
            citing = self._region(citers[0].marker.span.start)
            label = self._label(citers[0])
            path = citing.section.path if citing else path
            said = label in path or label in note.text(self._text)
            path = (*path, label) if label and not said else path
        return context_header(self._metadata, path, tokenization=self._tokenization, max_tokens=self._config.max_tokens)

    def _label(self, join: Join) -> str:
        """Return the row or column that cites a note, if its name is short."""
        marker = join.marker
        if marker.where == "prose":
            return ""
        span = marker.label if marker.where == "cell" and marker.label else marker.anchor
        label = without_marks(" ".join(span.slice(self._text).split())).strip("*_# ")
        return label if len(label) <= _LONGEST_LABEL and any(c.isalpha() for c in label) else ""

    def _cited_by(self, note: Note) -> list[str]:
        names: dict[str, None] = {}
        for join in self._citers.get(note.note_id, [])[: 4 * _MOST_CITED_BY]:
            region = self._region(join.marker.span.start)
            path = region.section.section_path if region else ""
            names[_PATH.join(part for part in (path, self._label(join)) if part)] = None
        return [name for name in names if name][:_MOST_CITED_BY]

    # --- joining ----------------------------------------------------------------------------------

    def _joined(self, span: Span) -> Sequence[Span]:
        """Return the spans of the notes that the markers inside a span call, and what goes on overleaf."""
        found = [part for note in self._view.notes.notes_of(span) for part in self._parts(note)]
        return [*found, *self._rest.get(span.start, ())]

    def _parts(self, note: Note) -> tuple[Span, ...]:
        """Return a note's spans; the first note below a title of notes has it in front."""
        led = self._led.get(note.start)
        return note.spans if led is None or note.row is not None else (led, *note.spans[1:])

    def _with_accounts(self, chunk: Chunk) -> Chunk:
        """Add the notes of the accounts that a chunk refers to, if there is room for all of them."""
        wanted = self._accounts(chunk)
        if not wanted:
            return chunk
        spans = (*chunk.spans, *wanted)
        count = self._packer.exact(spans, chunk.header)
        if count > self._config.max_tokens:
            return chunk
        return replace(chunk, spans=spans, token_count=count)

    def _accounts(self, chunk: Chunk) -> list[Span]:
        found = [
            part
            for piece in chunk.spans  # a note at the foot may refer to one of the accounts
            if piece in chunk.pieces or piece not in self._account_spans
            for note in self._view.notes.notes_of(piece, "account")
            for part in note.spans
        ]
        return [s for s in dict.fromkeys(found) if not any(span.overlaps(s) for span in chunk.spans)]

    def _left_out(self, chunk: Chunk) -> int:
        """Count the notes that a chunk cites and had no room for."""
        head = chunk.spans[: chunk.spans.index(chunk.pieces[0])]
        wanted = {part for piece in (*head, *chunk.pieces) for part in self._joined(piece)}
        missing = [s for s in wanted if not any(span.contains(s) for span in chunk.spans)]
        return len(missing) + len(self._accounts(chunk))

    def _dangling(self, chunk: Chunk) -> list[str]:
        """Return the markers in a chunk's body whose notes are not in the document."""
        found: dict[str, None] = {}
        for piece in chunk.pieces:
            at = bisect_left(self._unresolved, piece.start)
            while at < len(self._unresolved) and self._unresolved[at] < piece.end:
                found[self._view.notes.unresolved[at].printed] = None
                at += 1
        return list(found)

    def _finished(self, chunk: Chunk) -> Chunk:
        """Set the keys of a chunk that its notes and tables give it."""
        keys: dict[str, MetadataValue] = {}
        left_out = self._left_out(chunk)
        if left_out:
            keys[NOTES_LEFT_OUT] = left_out
        if chunk.kind in ("table", "mixed"):
            keys.update(self._unit(chunk))
        dangling = self._dangling(chunk)
        if dangling:
            keys[UNRESOLVED_MARKERS] = dangling
        content = self._packer.content(chunk.spans) if self._render else None
        if content is not None and content != chunk.text(self._text):
            chunk = replace(chunk, content=content)
        if not keys:
            return chunk
        return replace(chunk, section=replace(chunk.section, metadata={**chunk.section.metadata, **keys}))

    def _unit(self, chunk: Chunk) -> dict[str, MetadataValue]:
        """Return currency and scale of a chunk's tables, where they state one and agree."""
        starts = self._table_starts
        units = set()
        for piece in chunk.pieces:
            at = max(bisect_right(starts, piece.start) - 1, 0)
            for block, table in self._view.tables[at : bisect_right(starts, piece.end)]:
                if block.span.overlaps(piece):
                    units.add((table.currency, table.scale) if table.unit_span else None)
        if len(units) != 1 or None in units:
            return {}
        currency, scale = next(unit for unit in units if unit)
        return {**({CURRENCY: currency} if currency else {}), SCALE: scale}
