"""Sub-headings inside an Item, up to three levels, and the numbered notes of financial statements."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fin_rag.schema import Markup, MetadataValue, Section, Span
from fin_rag.structure.filings.forms import vocabulary
from fin_rag.structure.filings.lines import Lines, is_page_line
from fin_rag.structure.filings.notes import Note, by_start, find_notes
from fin_rag.structure.headings import Heading, headings

_DEPTH, _REPEATS, _LONGEST_ID, _LONGEST_PATH = 3, 3, 48, 160
_ROW_PAGE = re.compile(r"[\s.…](?:[A-Z]-?)?\d{1,3}$")
_NOT_A_TITLE = re.compile(r"(?:page|table of contents|\(?continued\)?|index|note|item|\W+)(?:\s+no\.?)?", re.IGNORECASE)
_REMARK = re.compile(r"(?:see|the) accompanying notes\b.*|.*\bintegral part of\b.*", re.IGNORECASE)
_NOTES_TITLE = re.compile(r"\W*notes? to (?:the |our )?.{0,40}financial statements?.{0,40}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parent:
    """Hold what sub-sections inherit: the parent's id, path, level and metadata."""

    section_id: str
    path: tuple[str, ...]
    level: int
    metadata: Mapping[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class _Node:
    start: int
    end: int
    depth: int
    title: str
    name: str
    slug: str
    note: int = 0


def sub_sections(
    lines: Lines, span: Span, parent: Parent, markup: Markup, furniture: Sequence[Span], *, notes: bool
) -> list[Section]:
    """Return the sub-sections of ``span``, at most three levels deep, in document order.

    Args:
        lines: the lines of the whole text.
        span: the body of the parent.
        parent: what the sub-sections inherit.
        markup: what the loader saw.
        furniture: spans in order that are no headings.
        notes: whether the parent holds financial statements, whose numbered notes become sections.
    """
    found = _headings(lines, span, markup, furniture)
    numbered = find_notes(lines, span, found) if notes else []
    return _sections(lines.text, _nodes(found, numbered), span, parent)


def _headings(lines: Lines, span: Span, markup: Markup, furniture: Sequence[Span]) -> list[Heading]:
    """Return the headings in ``span`` that open something, with spans in the whole text."""
    shift = span.start
    starts = [s.start for s, _ in markup.headings]
    low, high = bisect_left(starts, span.start), bisect_left(starts, span.end)
    styled = tuple(
        (Span(s.start - shift, s.end - shift), rank) for s, rank in markup.headings[low:high] if s.end <= span.end
    )
    raw = headings(span.slice(lines.text), markup=Markup(headings=styled))
    found = [Heading(Span(h.span.start + shift, h.span.end + shift), h.title, h.level) for h in raw]
    starts = [mark.start for mark in furniture]
    found = [h for h in found if not _begins_in(furniture, starts, h.span) and not _is_remark(h.title)]
    return _without_repeats(lines, _without_rows(lines, found))


def _begins_in(marks: Sequence[Span], starts: Sequence[int], span: Span) -> bool:
    """Tell whether a span shares text with the mark that begins last before its end."""
    at = bisect_left(starts, span.end) - 1
    return at >= 0 and marks[at].overlaps(span)


def _without_rows(lines: Lines, found: Sequence[Heading]) -> list[Heading]:
    """Drop rows of a list of contents inside an Item: titles with page numbers, one right after another."""
    paged = [bool(_ROW_PAGE.search(h.title)) for h in found]
    near = [not lines.text[a.span.end : b.span.start].strip(" \n\t|") for a, b in pairwise(found)]
    kept = []
    for i, heading in enumerate(found):
        beside = (i > 0 and near[i - 1] and paged[i - 1]) or (i < len(near) and near[i] and paged[i + 1])
        if not (paged[i] and beside):
            kept.append(heading)
    return kept


def _is_remark(title: str) -> bool:
    """Tell whether a styled line names nothing: column heads, signatures, units, remarks under statements."""
    plain = title.strip()
    if plain.startswith(("/s/", "(signed)")) or (plain.startswith("(") and plain.endswith(")")):
        return True
    return bool(_NOT_A_TITLE.fullmatch(plain) or _REMARK.fullmatch(plain[:200]) or is_page_line(plain))


def _without_repeats(lines: Lines, found: Sequence[Heading]) -> list[Heading]:
    """Drop titles that come again and open nothing: names above statements, running heads."""
    counts = Counter(h.title.lower() for h in found)
    kept: list[Heading] = []
    seen: set[str] = set()
    for i, heading in enumerate(found):
        title = heading.title.lower()
        following = found[i + 1].span.start if i + 1 < len(found) else len(lines.text)
        empty = not lines.text[heading.span.end : min(following, heading.span.end + 200)].strip()
        running = title in seen and (title.endswith("continued)") or bool(_NOTES_TITLE.fullmatch(title[:200])))
        issuer = counts[title] > 1 and vocabulary().is_company(title)
        if (counts[title] >= _REPEATS and empty) or running or issuer:
            continue
        seen.add(title)
        kept.append(heading)
    return kept


def _nodes(found: Sequence[Heading], notes: Sequence[Note]) -> list[_Node]:
    """Give each heading its depth: notes stand directly under the parent, their headings under them."""
    starts = by_start(notes)
    regions: dict[int, list[Heading]] = {}
    bounds = [n.span.start for n in notes]
    closing = next(
        (h.span.start for h in found if notes and h.span.start > bounds[-1] and _closes_notes(h.title)), None
    )
    bounds += [] if closing is None else [closing]
    for heading in found:
        if heading.span.start not in starts:
            regions.setdefault(bisect_left(bounds, heading.span.start + 1), []).append(heading)
    nodes = [_Node(n.span.start, n.span.end, 1, n.title, n.name, f"note{n.number}", n.number) for n in notes]
    outside = {0, len(notes) + 1}
    for region, members in regions.items():
        nodes += _ranked(members, 1 if region in outside else 2, flat=_NOTES_TITLE if notes and region == 0 else None)
    return sorted((n for n in nodes if n.depth <= _DEPTH), key=lambda n: n.start)


def _closes_notes(title: str) -> bool:
    """Tell whether a title opens what follows the notes: the auditor's report, schedules."""
    return title.lower().startswith(vocabulary().after_notes)


def _ranked(members: Sequence[Heading], base: int, *, flat: re.Pattern[str] | None = None) -> list[_Node]:
    """Turn levels into depths without gaps, the outermost at ``base``; ``flat`` titles are outermost."""
    nodes = []
    stack: list[int] = []
    for heading in members:
        while stack and (stack[-1] >= heading.level or (flat and flat.fullmatch(heading.title[:200]))):
            stack.pop()
        stack.append(heading.level)
        title = heading.title.strip()
        nodes.append(_Node(heading.span.start, heading.span.end, base + len(stack) - 1, title, title, slug(title)))
    return nodes


def _sections(text: str, nodes: Sequence[_Node], span: Span, parent: Parent) -> list[Section]:
    ends = [span.end] * len(nodes)
    open_nodes: list[int] = []
    for i, node in enumerate(nodes):
        while open_nodes and nodes[open_nodes[-1]].depth >= node.depth:
            ends[open_nodes.pop()] = node.start
        open_nodes.append(i)
    sections: list[Section] = []
    trail: list[tuple[int, str, str]] = []
    taken: Counter[str] = Counter()
    for node, end in zip(nodes, ends, strict=True):
        while trail and trail[-1][0] >= node.depth:
            trail.pop()
        base = trail[-1][1] if trail else parent.section_id
        own = f"{base}.{node.slug or 'section'}" if base else node.slug or "section"
        taken[own] += 1
        own = own if taken[own] == 1 else f"{own}-{taken[own]}"
        trail.append((node.depth, own, _clip(node.name)))
        metadata = dict(parent.metadata) | ({"note": node.note} if node.note else {})
        sections.append(Section(
            own, node.title, (*parent.path, *(name for _, _, name in trail)),
            Span(node.start, _tight(text, node.end, end)), parent.level + len(trail),
            Span(node.start, node.end), metadata,
        ))  # fmt: skip
    return sections


def _tight(text: str, low: int, end: int) -> int:
    """Return ``end`` without the blanks before it."""
    while end > low and text[end - 1].isspace():
        end -= 1
    return end


def slug(title: str) -> str:
    """Return a title as a part of an id.

    Example:
        >>> slug("Liquidity & Capital Resources"), slug("Información clave")
        ('liquidity-capital-resources', 'informacion-clave')
    """
    plain = unicodedata.normalize("NFKD", title[:200]).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_ID].strip("-")


def _clip(title: str) -> str:
    """Shorten a title for paths: risk factors are whole sentences."""
    if len(title) <= _LONGEST_PATH:
        return title
    return title[:_LONGEST_PATH].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
