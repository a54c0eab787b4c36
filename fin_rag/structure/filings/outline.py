"""The way from a canonical text to the outline of a filing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fin_rag.errors import InputError
from fin_rag.schema import PAGE_MAP, Markup, Outline, PageMap
from fin_rag.structure.filings.assemble import ItemSpan, assemble, from_extents, from_index
from fin_rag.structure.filings.candidates import (
    Candidate,
    PartLine,
    add_body_weight,
    find_candidates,
    mark_contents,
)
from fin_rag.structure.filings.chain import Pick, choose
from fin_rag.structure.filings.contents import add_titles, apply_targets, link_targets, mark_links
from fin_rag.structure.filings.crossref import index_rows, index_span, resolve
from fin_rag.structure.filings.ends import Landmark, extents, find_landmarks
from fin_rag.structure.filings.forms import Form, form_of
from fin_rag.structure.filings.furniture import find_furniture
from fin_rag.structure.filings.lines import Lines, main_document, read_lines


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold what was read of a filing before sections are made of it."""

    form: Form
    lines: Lines
    found: Sequence[Candidate]
    parts: Sequence[PartLine]
    pages: Sequence[tuple[int, int]]
    marks: Sequence[Landmark]
    picks: Sequence[Pick]


def outline_filing(text: str, *, metadata: Mapping[str, object], markup: Markup | None = None) -> Outline:
    r"""Outline a filing: Parts, Items, sub-headings, numbered notes, signatures and exhibits.

    Args:
        text: the canonical text.
        metadata: keys of the document; ``doc_type`` names the form (variants such as ``10-K405`` or
            ``10-Q/A`` are read as their family; without it the cover decides), ``page_map`` helps where a
            filing gives only page numbers.
        markup: what the loader saw (anchors, links, styled headings); everything works without it.

    Returns:
        Sections in document order with spans in code points. Each Item says in its metadata what it is
        (``item``, ``item_title``, ``part``, ``state``, ``confidence``). What is odd or unresolved is a
        warning of the section or of the outline; odd text never raises.

    Example:
        >>> text = "Item 1. Business\n\nWe sell valves.\n\nItem 2. Properties\n\nNone.\n"
        >>> outline = outline_filing(text, metadata={"doc_type": "10-K"})
        >>> [(s.section_id, s.title) for s in outline if "item" in s.metadata]
        [('part1.item1', 'Business'), ('part1.item2', 'Properties')]
    """
    markup = markup or Markup()
    reading = read_filing(text, metadata.get("doc_type"), markup)
    rows = index_rows(reading.found, reading.picks, reading.form)
    items: list[ItemSpan]
    if rows:
        items = from_index(resolve(reading.lines, rows, markup, _page_map(metadata), reading.form), reading.form)
    else:
        spans = extents(reading.lines, reading.picks, reading.parts, reading.marks, reading.pages, reading.form)
        items = from_extents(reading.lines, spans, reading.found, reading.form)
    marked = find_furniture(reading.lines, reading.found, reading.parts, items)
    furniture = tuple(sorted({*marked, *markup.running}))
    return assemble(
        reading.lines,
        items,
        reading.marks,
        markup,
        reading.form,
        furniture,
        index=index_span(reading.lines, rows) if rows else None,
    )


def read_filing(text: str, doc_type: object, markup: Markup) -> Reading:
    """Read lines, possible headings and contents pages, and choose the real headings."""
    form = form_of(doc_type, text)
    lines = read_lines(text, main_document(text), markup)
    found, parts = find_candidates(lines, form)
    mark_links(lines, found, markup)
    pages = mark_contents(lines, found)
    targets = link_targets(lines, found, markup, form)
    apply_targets(lines, found, parts, targets, form)
    add_titles(lines, found, parts, targets, form)
    add_body_weight(lines, found)
    picks = choose(found, form)
    marks = _once(find_landmarks(lines), lines, markup)
    if form.family == "8-K":
        picks = _before_signatures(picks, marks)
    return Reading(form, lines, found, parts, pages, marks, picks)


def _once(marks: Sequence[Landmark], lines: Lines, markup: Markup) -> list[Landmark]:
    """Drop landmarks that a running head repeats on every page."""
    running = {mark.start for mark in markup.running}
    kept: list[Landmark] = []
    for mark in marks:
        if lines.starts[mark.line] not in running or all(known.kind != mark.kind for known in kept):
            kept.append(mark)
    return kept


def _before_signatures(picks: Sequence[Pick], marks: Sequence[Landmark]) -> list[Pick]:
    """Drop headings after the signatures of a current report: they belong to exhibits."""
    first = min((p.candidate.line for p in picks), default=0)
    signed = next((m.line for m in marks if m.kind == "signatures" and m.line > first), None)
    return [p for p in picks if signed is None or p.candidate.line < signed]


def _page_map(metadata: Mapping[str, object]) -> PageMap | None:
    raw = metadata.get(PAGE_MAP)
    try:
        return PageMap.parse(raw) if isinstance(raw, str) else None
    except InputError:
        return None  # a page map that cannot be read is no reason to have no outline
