"""Find the notes of a document and join them to what cites them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from fin_rag.schema import Block, Markup, Outline, PageMap, Span
from fin_rag.structure.blocks import blocks as cut_blocks
from fin_rag.structure.notes.accept import Calls, accepted
from fin_rag.structure.notes.accounts import Accounts
from fin_rag.structure.notes.model import Join, Marker, Note, NoteKey, Notes
from fin_rag.structure.notes.places import Place, TableView, places_of, view_tables
from fin_rag.structure.notes.resolve import Placed, Resolver, Sections
from fin_rag.structure.notes.scan import Found, scan, scan_glued
from fin_rag.structure.notes.segments import Pages, Segment, segments_of, surroundings
from fin_rag.structure.reports import outline_report

_INDENTED: Final = re.compile(r"(?:\n[ \t]*)+\n(?: {4}|\t)(?=\S)")
_NO_WORD: Final = re.compile(r"[\W_]+")
_NUMBERED: Final = re.compile(r"^[\d.]+\s+")


def find_notes(
    text: str,
    *,
    outline: Outline | None = None,
    markup: Markup | None = None,
    page_map: PageMap | None = None,
    blocks: Sequence[Block] | None = None,
) -> Notes:
    r"""Find notes of any style, their markers, and which marker calls which note.

    A marker calls the note that its own table has, directly below it or as a row; else the one at the foot of
    its page; else the one above its table; else the next one below in its section, on its page, or under a
    title of notes. A note whose title names a section serves that section only. A marker in a table whose own
    notes lack it stays unresolved unless notes of the whole document have it: a lost note is reported, not
    guessed. Amounts in brackets, exponents, units, list marks and years are no markers.

    Args:
        text: the canonical text; all spans index it.
        outline: its sections; found anew where it is not given.
        markup: what the loader saw.
        page_map: its pages; form feeds part pages where there is none.
        blocks: its blocks, if they are known already.

    Example:
        >>> text = "| Sales | 2031 |\n|---|---|\n| North (1) | 40 |\n| South | (1) |\n\n(1) Includes Andorra."
        >>> [(j.marker.anchor.slice(text), j.note.text(text)) for j in find_notes(text).joins]
        [('North (1)', '(1) Includes Andorra.')]
    """
    parts = list(blocks) if blocks is not None else cut_blocks(text, markup=markup)
    views = view_tables(text, parts)
    pages = Pages(text, page_map)
    segments = segments_of(text, parts, pages)
    surroundings(parts, segments)
    places = places_of(text, parts, views)
    openings = sorted(s.body or s.span.start for s in segments if s.opening)
    found = [f for place in places for f in scan(text, place, _inside(openings, place.span))]
    found += _glued(text, places, segments, found)
    markers = [f.marker for f in found]
    calls = Calls(markers, [pages.of(m.span.start) for m in markers])
    sections = Sections(outline if outline is not None else outline_report(text, metadata={}, markup=markup))
    kept = accepted(segments, calls)
    placed = [*_rows(views, calls), *_placed(text, kept, segments, sections, views, pages)]
    placed.sort(key=lambda p: p.note.start)
    return _joined(text, parts, placed, found, sections, pages, len(views))


def _inside(openings: Sequence[int], span: Span) -> list[Span]:
    low, high = bisect_left(openings, span.start), bisect_left(openings, span.end)
    return [Span(at, at) for at in openings[low:high]]


def _glued(text: str, places: Sequence[Place], segments: Sequence[Segment], found: Sequence[Found]) -> list[Found]:
    """Return numbers glued to words, for notes that nothing else calls."""
    called = {f.marker.key for f in found if f.marker.form != "account"}
    opened = [s.opening for s in segments if s.opening and s.opening.form in ("bare", "raised", "dot")]
    values = {o.key.value for o in opened if o.key.kind == "number" and o.key not in called}
    if not values:
        return []
    return [f for place in places if not place.numbers for f in scan_glued(text, place, values)]


def _rows(views: Sequence[TableView], calls: Calls) -> Iterator[Placed]:
    """Yield the notes that were set as rows of a table."""
    for number, view in enumerate(views):
        for row, opening in view.notes:
            weak = opening.form in ("dot", "dash", "bare", "slash")
            if weak and not calls.in_table(number, opening.key):
                continue
            filled = [s for s, cell in zip(row.cell_spans, row.cells, strict=True) if cell and cell != row.label]
            end = filled[0].end if filled else row.label_span.end
            span = Span(row.label_span.start, end)
            note = Note(f"note-{span.start}", opening.printed, opening.key, opening.form, (span,), table=number,
                        row=row.span)  # fmt: skip
            yield Placed(note, swallowed=number)


def _placed(
    text: str,
    kept: Sequence[Segment],
    segments: Sequence[Segment],
    sections: Sections,
    views: Sequence[TableView],
    pages: Pages,
) -> Iterator[Placed]:
    names = _names(sections, views)
    overleaf = _overleaf(kept, segments) if pages.known else {}
    for segment in kept:
        opening = segment.opening
        if opening is None:
            continue
        start = segment.body or segment.span.start
        spans = (_extent(text, Span(start, segment.span.end), opening.form), *overleaf.get(id(segment), ()))
        leaf = sections.leaf(start)
        note = Note(
            f"note-{start}",
            opening.printed,
            opening.key,
            opening.form,
            spans,
            table=segment.table,
            section_id=sections.sections[leaf].section_id if leaf >= 0 else "",
        )
        bound = names.get(_fold(segment.scope)) if segment.scope else None
        if bound is not None and bound.contains(spans[0]) and segment.table < 0:
            bound = None  # a title that names the section in which it stands says nothing
        zone = segment.zone >= 0
        yield Placed(note, -1, segment.table, segment.below, bound, zone, segment.foot)


def _extent(text: str, span: Span, form: str) -> Span:
    """Return a note with its indented paragraphs, which only Markdown footnotes have."""
    end = span.end
    while form == "caret":
        found = _INDENTED.match(text, end)
        if found is None:
            break
        stop = text.find("\n\n", found.end())
        end = stop if stop >= 0 else len(text.rstrip())
    return Span(span.start, end)


def _names(sections: Sections, views: Sequence[TableView]) -> dict[str, Span]:
    """Return what a title of notes can name: sections and tables, by their folded titles."""
    names: dict[str, Span] = {}
    for view in views:
        if view.table.title:
            names.setdefault(_fold(view.table.title), view.block.span)
    for section in sections.sections:
        for title in (section.title, _NUMBERED.sub("", section.title)):
            names.setdefault(_fold(title), section.span)
        number = _NUMBERED.match(section.title)
        if number:
            names.setdefault(_fold(number[0]), section.span)
    names.pop("", None)
    return names


def _fold(title: str) -> str:
    folded = unicodedata.normalize("NFKD", title.casefold())
    return _NO_WORD.sub("", "".join(c for c in folded if not unicodedata.combining(c)))


def _overleaf(kept: Sequence[Segment], segments: Sequence[Segment]) -> dict[int, tuple[Span, ...]]:
    """Return the parts of notes that stand at the head or foot of the next page, by the note's segment."""
    order = {id(segment): index for index, segment in enumerate(segments)}
    notes = set(map(id, kept))
    found: dict[int, tuple[Span, ...]] = {}
    for segment in kept:
        index = order[id(segment)]
        if not segment.foot or _is_finished(segment.text):
            continue
        following = index + 1
        while following < len(segments) and segments[following].page == segment.page:
            following += 1
        if following >= len(segments) or any(id(segments[at]) in notes for at in range(index + 1, following)):
            continue
        part = _continuation(segments, notes, segment, following)
        if part is not None:
            found[id(segment)] = (part.span,)
    return found


def _continuation(segments: Sequence[Segment], notes: set[int], note: Segment, following: int) -> Segment | None:
    """Return the segment of the next page that goes on with a note which its page cut off."""
    page = segments[following].page
    if page != note.page + 1:
        return None
    head = segments[following]
    if _goes_on(head) and _body_is_finished(segments, note):
        return head
    last = None
    for at in range(following, len(segments)):
        if segments[at].page != page or id(segments[at]) in notes:
            break
        last = segments[at]
    return last if last is not None and last is not head and _goes_on(last) else None


def _goes_on(segment: Segment) -> bool:
    return segment.opening is None and not segment.aside and segment.text[0].islower()


def _body_is_finished(segments: Sequence[Segment], note: Segment) -> bool:
    """Tell whether the running text of the note's page ends with a sentence."""
    last = None
    for segment in segments:
        if segment.span.start >= note.span.start:
            break
        if segment.page == note.page and segment.opening is None and not segment.aside:
            last = segment
    return last is None or _is_finished(last.text)


def _is_finished(text: str) -> bool:
    return text.rstrip("*_ ¹²³⁴⁵⁶⁷⁸⁹⁰")[-1:] in '.!?»”")]'


def _joined(
    text: str,
    parts: Sequence[Block],
    placed: Sequence[Placed],
    found: Sequence[Found],
    sections: Sections,
    pages: Pages,
    tables: int,
) -> Notes:
    markers = [f.marker for f in found]
    resolver = Resolver(placed, markers, sections, pages)
    accounts = Accounts(text, parts, markers)
    ordered = sorted(found, key=lambda f: (f.marker.span.start, f.marker.span.end, f.marker.key))
    joins: list[Join] = []
    unresolved: list[Marker] = []
    seen: set[tuple[Span, NoteKey]] = set()
    for marker, firm in ordered:
        if (marker.span, marker.key) in seen:
            continue
        seen.add((marker.span, marker.key))
        if marker.form == "account":
            note = _worded(placed, marker) or accounts.resolve(marker) or resolver.resolve(marker)
        else:
            note = resolver.resolve(marker)
        if note is not None:
            joins.append(Join(marker, note))
        elif firm:
            unresolved.append(marker)
    notes = sorted([*(p.note for p in placed), *accounts.notes], key=lambda n: (n.start, n.note_id))
    kept = [join.marker for join in joins] + unresolved
    kept.sort(key=lambda m: (m.span.start, m.span.end, m.key))
    starts = tuple(join.marker.span.start for join in joins)
    return Notes(tuple(notes), tuple(kept), tuple(joins), tuple(unresolved), tables, starts)


def _worded(placed: Sequence[Placed], marker: Marker) -> Note | None:
    """Return the note "Nota 1: ..." below the table in which "(Nota 1)" stands."""
    if marker.table < 0:
        return None
    for one in placed:
        if one.attached == marker.table and one.note.form == "word" and one.note.key == marker.key:
            return one.note
    return None
