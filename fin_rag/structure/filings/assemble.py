"""Makes sections of what was found: cover, Parts, Items with their sub-headings, signatures, annexes."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from fin_rag.schema import ITEM, ITEM_TITLE, PART, Markup, MetadataValue, Outline, Section, Span
from fin_rag.structure.filings.annexes import annex_sections, link_annexes
from fin_rag.structure.filings.candidates import Candidate
from fin_rag.structure.filings.crossref import Resolved
from fin_rag.structure.filings.ends import Extent, Landmark
from fin_rag.structure.filings.forms import Form
from fin_rag.structure.filings.lines import Lines
from fin_rag.structure.filings.states import ELSEWHERE, references_of, state_of
from fin_rag.structure.filings.subheads import Parent, sub_sections

_PART_NUMBERS: Mapping[str, str] = {"I": "1", "II": "2", "III": "3", "IV": "4"}
_STATEMENT_ITEMS = frozenset({"7", "8", "13", "14", "15", "16", "I-1", "17", "18", "19", "9.01"})
# What is true of an Item as a whole and not of its sub-sections.
OWN_KEYS = frozenset({"state", "confidence", "pages", "index_position", "refers_to", "text_in"})
_INDEX_NOTE = "Items were read from a cross-reference index; their texts stand under other titles."
_STATE_WINDOW, _LOW_CONFIDENCE = 4000, 0.6
_LONG_ITEMS: Mapping[str, frozenset[str]] = {
    "10-K": frozenset({"1", "7", "8"}), "10-Q": frozenset({"I-1", "I-2"}), "20-F": frozenset({"3", "4", "5"}),
}  # fmt: skip
_SHORT_BODY = 400


@dataclass(frozen=True, slots=True)
class ItemSpan:
    """Hold one heading's Items before they become sections. Offsets are code points of the canonical text.

    ``heading_start`` differs from ``start`` where a running head stands above the heading proper.
    """

    keys: tuple[str, ...]
    part: str
    title: str
    start: int
    heading_end: int
    end: int
    confidence: float
    heading_start: int = -1
    state: str = ""
    part_line: int | None = None
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, MetadataValue] = field(default_factory=dict)


def from_extents(lines: Lines, spans: Sequence[Extent], found: Sequence[Candidate], form: Form) -> list[ItemSpan]:
    """Turn picked headings into Items; a heading printed twice in a row counts once."""
    positions = [c.start for c in found]
    items = []
    for extent in spans:
        candidate = extent.pick.candidate
        last, title = candidate, candidate.title
        for other in islice(found, bisect_right(positions, candidate.start), None):
            repeats = set(other.numbers) <= set(candidate.numbers) and other.end <= extent.end
            if not repeats or other.line > last.last_line + 2 or lines.prose_between(last.last_line + 1, other.line):
                break
            last, title = other, max(title, other.title, key=len)
        warnings = _warnings(extent, last.end, form)
        items.append(ItemSpan(
            keys=extent.pick.keys, part=extent.part, title=title or candidate.title, start=extent.start,
            heading_start=last.start, heading_end=last.end, end=max(extent.end, last.end),
            confidence=extent.pick.confidence, part_line=extent.part_line, warnings=warnings,
        ))  # fmt: skip
    return items


def _warnings(extent: Extent, heading_end: int, form: Form) -> tuple[str, ...]:
    notes = []
    if extent.pick.confidence < _LOW_CONFIDENCE:
        notes.append("The heading is uncertain: little speaks for it.")
    if extent.pick.candidate.source != "item":
        notes.append("The heading has no Item number: it was found by the contents page or by its title.")
    if set(extent.pick.keys) & _LONG_ITEMS.get(form.name, frozenset()) and extent.end - heading_end < _SHORT_BODY:
        notes.append(f"The body is unusually short ({max(0, extent.end - heading_end)} code points).")
    return tuple(notes)


def from_index(resolved: Sequence[Resolved], form: Form) -> list[ItemSpan]:
    """Turn the rows of a cross-reference index into Items."""
    items = []
    order = {r.keys: i for i, r in enumerate(sorted(resolved, key=lambda r: r.candidate.start), start=1)}
    for row in resolved:
        note: tuple[str, ...] = ()
        if row.found_by == "row" and row.state == "cross_reference":
            where = f" (pages {row.pages})" if row.pages else ""
            note = (f"The text of this Item was not resolved{where}: the section is the row of the index.",)
        elif row.found_by != "row":
            note = (f"The text was found by {row.found_by} from the cross-reference index.",)
        extra: dict[str, MetadataValue] = {"index_position": order[row.keys]}
        if row.pages:
            extra["pages"] = row.pages
        confidence = {"row": 0.5 if note else 0.9, "title": 0.8, "page": 0.65}[row.found_by]
        items.append(ItemSpan(
            keys=row.keys, part=form.part_of(row.keys[0]), title=row.candidate.title, start=row.span.start,
            heading_start=row.heading.start, heading_end=row.heading.end, end=row.span.end,
            confidence=confidence, state=row.state, warnings=note, extra=extra,
        ))  # fmt: skip
    return items


def assemble(
    lines: Lines, items: Sequence[ItemSpan], marks: Sequence[Landmark], markup: Markup, form: Form,
    furniture: tuple[Span, ...], *, index: Span | None = None,
) -> Outline:  # fmt: skip
    """Build the outline of a filing from its Items.

    ``index`` is the span of the cross-reference index they were read from, if they were.
    """
    by_index = index is not None
    if not items:
        return _without_items(lines, markup, form, furniture)
    sections = _cover(lines, items, form) if index is None else [_index_section(lines, index, form)]
    by_key: dict[str, Section] = {}
    for group in _part_groups(items, by_index=by_index):
        part = _part_section(lines, group, form) if group[0].part and not by_index else None
        sections += [part] if part else []
        for item in group:
            own = _item_sections(lines.text, item, form, nested=part is not None)
            by_key.update(zip(item.keys, own, strict=True))
            sections += [*own, *_inner(lines, item, own[0], markup, furniture)]
    annexes = annex_sections(lines, by_key, marks, markup, form, furniture) if not by_index else []
    notes = (_INDEX_NOTE,) if by_index else ()
    every = _unique([*link_annexes(sections, annexes), *annexes])
    return Outline(tuple(sorted(every, key=lambda s: (s.span.start, -s.span.end, s.level))), notes, furniture)


def _without_items(lines: Lines, markup: Markup, form: Form, furniture: tuple[Span, ...]) -> Outline:
    """Outline a filing without Items by its headings alone."""
    notes = (f"No Items of Form {form.name} were found.",) if form.specs else ()
    if not len(lines):
        return Outline((), notes, furniture)
    whole = Span(lines.starts[0], lines.ends[-1])
    sections = sub_sections(lines, whole, Parent("", (form.family,), 0, {}), markup, furniture, notes=False)
    return Outline(tuple(sections), notes, furniture)


def _index_section(lines: Lines, index: Span, form: Form) -> Section:
    """Return the cross-reference index itself."""
    title = lines.bare(lines.at(index.start))
    printed = title if "index" in title.lower() else "Cross-Reference Index"
    return Section("cross_reference_index", printed, (form.family, "Cross-Reference Index"), index, 1)


def _cover(lines: Lines, items: Sequence[ItemSpan], form: Form) -> list[Section]:
    first = items[0]
    stop = lines.starts[first.part_line] if first.part_line is not None else first.start
    last = lines.at(stop) - 1
    if last < 0:
        return []
    return [Section("cover", "Cover", (form.family, "Cover"), Span(lines.starts[0], lines.ends[last]), 1)]


def _part_groups(items: Sequence[ItemSpan], *, by_index: bool) -> list[list[ItemSpan]]:
    groups: list[list[ItemSpan]] = []
    for item in items:
        if groups and groups[-1][0].part == item.part and not by_index:
            groups[-1].append(item)
        else:
            groups.append([item])
    return groups


def _part_section(lines: Lines, group: Sequence[ItemSpan], form: Form) -> Section:
    first = group[0]
    part = first.part
    heading = None
    start = first.start
    if first.part_line is not None and lines.starts[first.part_line] <= first.start:
        start = lines.starts[first.part_line]
        heading = Span(start, lines.ends[first.part_line]) if lines.ends[first.part_line] <= first.start else None
    name = f"Part {part}"
    printed = heading.slice(lines.text).strip(" *#_|") if heading else name
    return Section(
        f"part{_PART_NUMBERS[part]}",
        printed,
        (form.family, name),
        Span(start, max(i.end for i in group)),
        1,
        heading,
        {PART: name},
    )


def _item_sections(text: str, item: ItemSpan, form: Form, *, nested: bool) -> list[Section]:
    """Return one section for each id of an Item."""
    sections: list[Section] = []
    body = text[item.heading_end : min(item.end, item.heading_end + _STATE_WINDOW)]
    size = len(body.strip()) if item.end - item.heading_end <= _STATE_WINDOW else item.end - item.heading_end
    state = item.state or state_of(item.title, body, size=size)
    prefix = (form.family, f"Part {item.part}") if item.part else (form.family,)
    level = 2 if nested else 1
    for key in item.keys:
        number = key.rpartition("-")[2]
        name = f"Item {number}"
        part_id = f"part{_PART_NUMBERS[item.part]}." if item.part else ""
        metadata: dict[str, MetadataValue] = {
            ITEM: name, ITEM_TITLE: item.title, "state": state, "confidence": item.confidence, **item.extra,
        }  # fmt: skip
        if state in ELSEWHERE and (references := references_of(body)):
            metadata["refers_to"] = references
        if item.part:
            metadata[PART] = f"Part {item.part}"
        if len(item.keys) > 1:
            metadata["merged_with"] = [f"Item {k.rpartition('-')[2]}" for k in item.keys if k != key]
        first = item.heading_start if item.heading_start >= 0 else item.start
        heading = Span(first, item.heading_end) if item.heading_end > first else None
        sections.append(Section(
            f"{part_id}item{number.lower()}", item.title or name, (*prefix, name), Span(item.start, item.end),
            level, heading, metadata, item.warnings,
        ))  # fmt: skip
    return sections


def _inner(lines: Lines, item: ItemSpan, main: Section, markup: Markup, furniture: Sequence[Span]) -> list[Section]:
    """Return the sub-sections of an Item; merged Items have them once, under the first id."""
    if main.metadata.get("state") != "present" or item.end <= item.heading_end:
        return []
    inherited = {k: v for k, v in main.metadata.items() if k not in OWN_KEYS}
    parent = Parent(main.section_id, main.path, main.level, inherited)
    notes = bool(set(item.keys) & _STATEMENT_ITEMS)
    return sub_sections(lines, Span(item.heading_end, item.end), parent, markup, furniture, notes=notes)


def _unique(sections: Sequence[Section]) -> list[Section]:
    """Add a number to ids that occur again."""
    seen: Counter[str] = Counter()
    result = []
    for section in sections:
        seen[section.section_id] += 1
        count = seen[section.section_id]
        if count > 1:
            section = replace(section, section_id=f"{section.section_id}-{count}")
        result.append(section)
    return result
