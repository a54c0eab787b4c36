"""Filings without Item headings: a cross-reference index at the end says where each Item's text stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fin_rag.schema import Markup, PageMap, Span
from fin_rag.structure.filings.candidates import Candidate
from fin_rag.structure.filings.chain import Pick
from fin_rag.structure.filings.contents import row_keys, title_keys, title_like
from fin_rag.structure.filings.forms import Form, vocabulary
from fin_rag.structure.filings.grammar import is_state_phrase
from fin_rag.structure.filings.lines import Lines
from fin_rag.structure.filings.states import state_of

_RANGES = re.compile(r"(?<![\w(])(\d{1,3})(?:\s?[-–—]\s?(\d{1,3}))?(?![\w)])")
_NOTE = re.compile(r"\(([a-z])\)|[¹²³⁴⁵⁶⁷⁸⁹]", re.IGNORECASE)
_ROW_PAGE = re.compile(r"[\s.|…](\d{1,3})[\s|]*$")
_ROW_GAP, _MIN_ROWS, _MIN_PAIRS, _NOTE_LINES, _TITLE_LENGTH, _TITLE_LINES, _BELOW = 4, 4, 3, 40, 200, 6, 8


@dataclass(frozen=True, slots=True)
class Resolved:
    """Hold where a row of the index leads; ``span`` is the row itself where no text was found."""

    candidate: Candidate
    keys: tuple[str, ...]
    span: Span
    heading: Span
    state: str
    pages: str
    found_by: str


@dataclass(frozen=True, slots=True)
class _Pages:
    """Map printed page numbers to offsets: by the page map where known, by contents rows otherwise."""

    starts: Mapping[int, int]
    ends: Mapping[int, int]
    rows: Sequence[tuple[int, int]]

    def start(self, page: int) -> int | None:
        listed = [offset for number, offset in self.rows if number == page]
        return min(listed) if listed else self.starts.get(page)

    def end(self, page: int) -> int | None:
        if page in self.ends:
            return self.ends[page]
        later = [offset for number, offset in self.rows if number > page]
        return min(later) if later else None


def index_rows(found: Sequence[Candidate], picks: Sequence[Pick], form: Form) -> list[Candidate]:
    """Return the rows of a cross-reference index, if the filing has one in place of Item headings."""
    if form.family == "8-K":
        return []
    best: list[Candidate] = []
    rows: list[Candidate] = []
    for candidate in (c for c in found if c.source == "item"):
        if rows and (candidate.line - rows[-1].last_line > _ROW_GAP or _starts_again(rows, candidate, form)):
            rows = []
        rows = [*rows, candidate] if len(rows) < 60 else [candidate]
        if len({n for c in rows for n in c.numbers}) >= len({n for c in best for n in c.numbers}):
            best = rows
    keys = {k for c in best for k in row_keys(c, form)}
    unreal = {"contents", "row", "paged", "linked"}
    own = {c.line for c in best}
    real = {
        key
        for pick in picks
        if not pick.candidate.cautions & unreal
        and pick.candidate.line not in own
        # an index behind the text names titles; a contents page in front of it does so too, but is no index
        and (pick.candidate.source != "title" or pick.candidate.line > best[0].line)
        for key in pick.keys
    }
    tail = sum(1 for c in best if c.cautions & {"row", "paged", "linked", "contents"})
    return best if len(keys) >= _MIN_ROWS and 10 * len(real & keys) < 3 * len(keys) and 2 * tail >= len(best) else []


def _starts_again(rows: Sequence[Candidate], candidate: Candidate, form: Form) -> bool:
    """Tell whether Items of one line each follow their contents page: no index lists its first Item again."""
    return len(form.parts) == 1 and len(rows) >= _MIN_ROWS and candidate.numbers == rows[0].numbers


def index_span(lines: Lines, rows: Sequence[Candidate]) -> Span:
    """Return the span of an index, with the title line above it."""
    first = rows[0].line
    above = range(first - 1, max(-1, first - _TITLE_LINES), -1)
    title = next((i for i in above if lines.length(i) <= _TITLE_LENGTH and "index" in lines.bare(i).lower()), first)
    last = max(r.last_line for r in rows)
    return Span(lines.starts[title], max(lines.ends[last], max(r.end for r in rows)))


def resolve(
    lines: Lines, rows: Sequence[Candidate], markup: Markup, page_map: PageMap | None, form: Form
) -> list[Resolved]:
    """Resolve each row of an index to the Item's text: by title, by printed pages, else to the row."""
    listed = _listed(lines, markup, rows)
    pages = _pages(listed, page_map)
    titles = _titles(lines, listed, rows, form)
    index = index_span(lines, rows)
    resolved = [_row(lines, row, row_keys(row, form), titles, pages, index) for row in rows]
    return _apart(resolved, lines)


def _listed(lines: Lines, markup: Markup, rows: Sequence[Candidate]) -> list[tuple[str, int, int]]:
    """Return title, printed page (-1 if none) and target of each linked row of a contents page."""
    own = {r.line for r in rows}
    result: dict[tuple[int, int], tuple[str, int, int]] = {}
    for span, name in markup.links:
        target = markup.anchors.get(name)
        index = lines.at(span.start)
        if target is None or target <= span.end or index in own or lines.length(index) > _TITLE_LENGTH:
            continue
        text = lines.bare(index)
        page = _ROW_PAGE.search(text)
        result[index, target] = (text[: page.start()] if page else text, int(page[1]) if page else -1, target)
    return list(result.values()) or _printed_rows(lines, own)


def _printed_rows(lines: Lines, own: set[int]) -> list[tuple[str, int, int]]:
    """Return title, printed page and place of contents rows whose title stands again as a line."""
    rows: list[tuple[int, str, int]] = []
    places: dict[str, int] = {}
    for index in range(len(lines)):
        bare = lines.bare(index) if lines.length(index) <= _TITLE_LENGTH and index not in own else ""
        page = _ROW_PAGE.search(bare)
        if page and any(c.isalpha() for c in bare[: page.start()]):
            rows.append((index, bare[: page.start()].rstrip(" ."), int(page[1])))
        elif bare:
            places.setdefault(bare.lower(), index)
    found = ((title, page, places.get(title.lower(), -1), index) for index, title, page in rows)
    return [(title, page, lines.starts[place]) for title, page, place, index in found if place > index]


def _pages(listed: Sequence[tuple[str, int, int]], page_map: PageMap | None) -> _Pages:
    pairs = sorted((page, target) for _, page, target in listed if page >= 0)
    if page_map is None or not page_map.pages:
        return _Pages({}, {}, pairs)
    offsets = [span.start for _, span in page_map.pages]
    shifts = Counter(
        page_map.pages[max(0, bisect_right(offsets, target) - 1)][0] - page for page, target in pairs
    )  # fmt: skip
    shift, votes = max(shifts.items(), key=lambda item: (item[1], -abs(item[0])), default=(0, 0))
    if pairs and votes * 2 < len(pairs):
        return _Pages({}, {}, pairs)
    return _Pages(
        {number - shift: span.start for number, span in page_map.pages},
        {number - shift: span.end for number, span in page_map.pages},
        pairs if votes >= _MIN_PAIRS else [],
    )


def _titles(
    lines: Lines, listed: Sequence[tuple[str, int, int]], rows: Sequence[Candidate], form: Form
) -> dict[str, tuple[int, int]]:
    """Return start and heading end of the text that carries an Item's title, by link or by styled heading."""
    found: dict[str, tuple[int, int]] = {}
    for title, _, target in listed:
        for key in title_keys(re.sub(r"\([^)]*\)", "", title), form):
            found.setdefault(key, (target, target))
    own = range(rows[0].line, rows[-1].last_line + 1)
    for index in range(len(lines)):
        if index not in own and title_like(lines, index) and not _ROW_PAGE.search(lines.bare(index)):
            for key in title_keys(lines.bare(index), form):
                held = found.get(key)
                if held is None or held[0] == held[1] == lines.starts[index] or _empty(lines, held, index):
                    found[key] = (lines.starts[index], lines.ends[index])
    return found


def _empty(lines: Lines, held: tuple[int, int], index: int) -> bool:
    """Tell whether a place found before has no prose below it and ``index`` has: a list of titles."""
    before = lines.at(held[0])
    return not lines.prose_between(before + 1, before + _BELOW) and lines.prose_between(index + 1, index + _BELOW) > 0


def _row(
    lines: Lines, row: Candidate, keys: tuple[str, ...], titles: Mapping[str, tuple[int, int]], pages: _Pages,
    index: Span,
) -> Resolved:  # fmt: skip
    """Resolve one row; ``index`` is the span of the whole index."""
    heading = Span(row.start, row.end)
    own = Span(row.start, max(row.end, lines.ends[row.last_line]))
    tail = lines.text[own.start + len(heading) : own.end].strip(" |\t")
    if is_state_phrase(_NOTE.sub("", tail)):
        state = state_of("", _NOTE.sub("", tail), size=len(tail))
        return Resolved(row, keys, own, heading, state, "", "row")
    ranges = _merge_ranges(tail)
    if not ranges and _NOTE.search(tail):
        return Resolved(row, keys, own, heading, _noted(lines, row, tail), "", "row")
    printed = ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in ranges)
    named = titles.get(keys[0])
    if named is not None and not index.start <= named[0] < index.end:
        end = _end_of_title(named, ranges, pages)
        end = _bounded(named[0], end if end is not None else len(lines.text), index)
        if end > named[1] and (not ranges or not pages.starts or _page_holds(named[0], ranges, pages)):
            return Resolved(row, keys, Span(named[0], end), Span(*named), "present", printed, "title")
    first, last = max(ranges, key=lambda r: r[1] - r[0], default=(-1, -1))
    start, stop = (pages.start(first), pages.end(last)) if ranges else (None, None)
    if start is not None and stop is not None and start < (stop := _bounded(start, stop, index)):
        return Resolved(row, keys, Span(start, stop), Span(start, start), "present", printed, "page")
    return Resolved(row, keys, own, heading, "cross_reference", printed, "row")


def _page_holds(offset: int, ranges: Sequence[tuple[int, int]], pages: _Pages) -> bool:
    """Tell whether ``offset`` stands on one of the pages."""
    return any((pages.start(a) or 0) - 1 <= offset <= (pages.end(b) or 0) for a, b in ranges)


def _end_of_title(named: tuple[int, int], ranges: Sequence[tuple[int, int]], pages: _Pages) -> int | None:
    """Return where the page range ends in which a titled text begins."""
    for first, last in ranges:
        end = pages.end(last)
        if end is not None and (pages.start(first) or 0) - 1 <= named[0] < end:
            return end
    return None


def _bounded(start: int, end: int, index: Span) -> int:
    """Keep a text that begins before the index from running into it."""
    return min(end, index.start) if start < index.start else end


def _merge_ranges(text: str) -> list[tuple[int, int]]:
    """Return page ranges in order, adjacent ones joined."""
    ranges: list[tuple[int, int]] = []
    for found in _RANGES.finditer(text):
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            continue
        if ranges and ranges[-1][1] + 1 >= first >= ranges[-1][0]:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return ranges


def _noted(lines: Lines, row: Candidate, tail: str) -> str:
    """Return the state that a row's foot note gives."""
    mark = _NOTE.search(tail)
    for index in range(row.last_line + 1, min(len(lines), row.last_line + _NOTE_LINES)):
        text = lines.raw(index, 600)
        if mark and text.lstrip("*| ").startswith(mark.group()):
            plain = text.lower()
            if any(p in plain for p in vocabulary().states["incorporated"]) or "proxy" in plain:
                return "incorporated_by_reference"
            return "not_applicable" if "not applicable" in plain or "not required" in plain else "cross_reference"
    return "cross_reference"


def _apart(resolved: Sequence[Resolved], lines: Lines) -> list[Resolved]:
    """Make the texts of Items stand apart.

    A later start cuts the text before it; a text known by pages only gives way where it lies inside another.
    """
    texts = sorted((r for r in resolved if r.found_by != "row"), key=lambda r: (r.span.start, -r.span.end, r.keys))
    starts = [r.span.start for r in texts]
    result = {r.keys: r for r in resolved if r.found_by == "row"}
    for _i, item in enumerate(texts):
        inside = item.found_by == "page" and any(
            o.span.start <= item.span.start and item.span.end <= o.span.end and len(o.span) > len(item.span)
            for o in texts
            if o is not item
        )
        if inside:
            row = item.candidate
            own = Span(row.start, max(row.end, lines.ends[row.last_line]))
            result[item.keys] = Resolved(
                row, item.keys, own, Span(row.start, row.end), "cross_reference", item.pages, "row"
            )
            continue
        result[item.keys] = item
    kept = sorted(
        (r for r in result.values() if r.found_by != "row"), key=lambda r: (r.span.start, -r.span.end, r.keys)
    )
    starts = [r.span.start for r in kept]
    for item in kept:
        following = bisect_left(starts, item.span.start + 1)
        if following < len(starts) and starts[following] < item.span.end:
            clipped = Span(item.span.start, max(item.heading.end, starts[following]))
            result[item.keys] = Resolved(
                item.candidate, item.keys, clipped, item.heading, item.state, item.pages, item.found_by
            )
    return sorted(result.values(), key=lambda r: (r.span.start, r.span.end, r.keys))
