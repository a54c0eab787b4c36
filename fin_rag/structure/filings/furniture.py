"""Text that is no content: page tags, page numbers, running heads."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fin_rag.schema import Span
from fin_rag.structure.filings.candidates import Candidate, PartLine
from fin_rag.structure.filings.lines import Lines

if TYPE_CHECKING:
    from fin_rag.structure.filings.assemble import ItemSpan

_TAG = re.compile(r"<page>(?:\s+\d+)?|</?(?:text|document)>", re.IGNORECASE)
_NUMBER = re.compile(r"[-–—\s]*(?:page\s+)?(\d{1,3})[-–—\s]*", re.IGNORECASE)
_BACK_LINK = re.compile(r"[\s*_|]*(?:back to |return to )?table of contents[\s*_|]*", re.IGNORECASE)
_LONGEST, _REPEATS = 100, 3


def find_furniture(
    lines: Lines, found: Sequence[Candidate], parts: Sequence[PartLine], items: Sequence[ItemSpan]
) -> tuple[Span, ...]:
    """Return the spans of page tags, page numbers, links back to the contents and repeated heads."""
    headings = {lines.at(offset) for item in items for offset in (item.start, max(item.start, item.heading_start))}
    kept_parts = {item.part_line for item in items}
    marked = _page_lines(lines)
    body = [c for c in found if c.source == "item" and "contents" not in c.cautions and c.line not in headings]
    repeats = Counter(lines.bare(c.line) for c in body)
    for candidate in body:
        if repeats[lines.bare(candidate.line)] >= _REPEATS - 1 or "continued" in candidate.cautions:
            marked.update(range(candidate.line, candidate.last_line + 1))
    part_repeats = Counter(p.part for p in parts if not p.inline)
    marked.update(
        p.line for p in parts if not p.inline and part_repeats[p.part] > _REPEATS and p.line not in kept_parts
    )  # fmt: skip
    marked.update(_running_heads(lines, marked))
    return tuple(Span(lines.starts[i], lines.ends[i]) for i in sorted(marked - headings))


def _page_lines(lines: Lines) -> set[int]:
    """Return lines that are page tags, links back, or page numbers that count on from one another."""
    marked: set[int] = set()
    links: list[int] = []
    numbered: list[tuple[int, int]] = []
    for i in range(len(lines)):
        if lines.length(i) > 40:
            continue
        raw = lines.raw(i, 40)
        if _TAG.fullmatch(raw):
            marked.add(i)
            continue
        if _BACK_LINK.fullmatch(raw):
            links.append(i)
            continue
        number = _NUMBER.fullmatch(raw)
        alone = lines.apart[i] and (i + 1 >= len(lines) or lines.apart[i + 1])
        if number and (alone or (i + 1 < len(lines) and _TAG.fullmatch(lines.raw(i + 1, 40)))):
            numbered.append((i, int(number[1])))
    for (first, low), (second, high) in itertools.pairwise(numbered):
        if high == low + 1:
            marked |= {first, second}
    return marked | set(links if len(links) >= _REPEATS else [])


def _running_heads(lines: Lines, marked: set[int]) -> set[int]:
    """Return short lines that stand next to page furniture again and again."""
    near: Counter[str] = Counter()
    places: list[tuple[int, str]] = []
    for i in sorted(marked):
        for j in (i - 1, i + 1):
            if 0 <= j < len(lines) and j not in marked and lines.length(j) <= _LONGEST:
                shape = re.sub(r"\d+", "#", lines.bare(j))
                if any(c.isalpha() for c in shape):
                    near[shape] += 1
                    places.append((j, shape))
    return {j for j, shape in places if near[shape] > _REPEATS}
