"""Where Items end: Part lines, signatures, exhibit indexes and statements after the last Item."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from fin_rag.structure.filings.candidates import PartLine
from fin_rag.structure.filings.chain import Pick
from fin_rag.structure.filings.forms import Form
from fin_rag.structure.filings.grammar import looks_capital
from fin_rag.structure.filings.lines import Lines

_SIGNATURE = re.compile(r"[^\w\n]{0,12}s ?i ?g ?n ?a ?t ?u ?r ?e(?: ?s)?(?: page)?\W{0,6}", re.IGNORECASE)
_SIGNATURE_HINT = re.compile(r"^[ \t]*[^\w\n]{0,12}s ?i ?g ?n ?a ?t ?u ?r ?e", re.IGNORECASE | re.MULTILINE)
_ANNEX = re.compile(
    r"\W{0,12}(?:(?P<exhibits>(?:exhibits? index|index (?:to|of) exhibits))"
    r"|(?P<statements>index (?:to|of) (?:\w+ ){0,3}financial (?:statements?|information|section)"
    r"[\w ,]{0,60}))\W{0,8}",
    re.IGNORECASE,
)
_ANNEX_HINT = re.compile(r"^[ \t]*[^\w\n]{0,12}(?:exhibits?|index)\s", re.IGNORECASE | re.MULTILINE)
_STATEMENTS = re.compile(
    r"\W{0,12}(?:(?:\w+ ){0,2}financial statements(?: and (?:supplementary|financial) [\w ]{2,30})?"
    r"|reports? of independent (?:\w+ ){0,4}(?:accountants?|auditors?|firm)"
    r"|independent auditor[’']?s[’']? report"
    r"|(?:condensed )?consolidated (?:balance sheets?|statements? of [\w ]{3,60}))"
    r"\W{0,8}",
    re.IGNORECASE,
)


_RANK = {"I": 1, "II": 2, "III": 3, "IV": 4}


@dataclass(frozen=True, slots=True)
class Landmark:
    """Hold a line that ends an Item without opening one: ``signatures``, ``exhibits`` or ``statements``."""

    line: int
    kind: str


@dataclass(frozen=True, slots=True)
class Extent:
    """Hold where a picked Item starts and ends, and the Part line that opens its Part, if one is printed."""

    pick: Pick
    start: int
    end: int
    part: str
    part_line: int | None


def find_landmarks(lines: Lines) -> list[Landmark]:
    """Find the lines that open signatures, exhibit indexes and annexed statements, in document order."""
    found = []
    for pattern, hint, kind in ((_SIGNATURE, _SIGNATURE_HINT, "signatures"), (_ANNEX, _ANNEX_HINT, "")):
        for match in hint.finditer(lines.text, lines.starts[0], lines.ends[-1]) if len(lines) else ():
            index = lines.at(match.end() - 1)
            full = pattern.fullmatch(lines.raw(index, 140))
            if full:
                found.append(Landmark(index, kind or ("exhibits" if full["exhibits"] else "statements")))
    return sorted(set(found) | set(_annexed_statements(lines, found)), key=lambda m: (m.line, m.kind))


def _annexed_statements(lines: Lines, found: Sequence[Landmark]) -> list[Landmark]:
    """Find where statements begin behind signatures or an exhibit index without an index of their own."""
    last = max((m.line for m in found if m.kind in ("signatures", "exhibits")), default=len(lines))
    if any(m.kind == "statements" and m.line > last for m in found):
        return []
    for index in range(last + 1, len(lines)):
        bare = lines.bare(index) if lines.length(index) <= 140 else ""
        if bare and (lines.styled(index) or looks_capital(bare)) and _STATEMENTS.fullmatch(bare):
            return [Landmark(index, "statements")]
    return []


@dataclass(frozen=True, slots=True)
class _Context:
    """Hold what bounds bodies: Part lines, landmarks, contents pages."""

    lines: Lines
    parts: Sequence[PartLine]
    positions: list[int]
    marks: Sequence[Landmark]
    pages: Sequence[tuple[int, int]]
    form: Form


def extents(
    lines: Lines, picks: Sequence[Pick], parts: Sequence[PartLine], marks: Sequence[Landmark],
    pages: Sequence[tuple[int, int]], form: Form,
) -> list[Extent]:  # fmt: skip
    """Return where each picked Item starts and ends."""
    context = _Context(lines, parts, [p.line for p in parts], marks, pages, form)
    before = [0, *(p.candidate.last_line for p in picks)]
    own = [_printed_part(context, after, pick) for after, pick in zip(before, picks, strict=False)]
    result: list[Extent] = []
    for i, pick in enumerate(picks):
        last = i + 1 == len(picks)
        opening = _opening(context, before[i], pick, own[i])
        limit = len(lines) if last else picks[i + 1].candidate.line
        stop = _stop(context, pick, limit, own[i], "" if last else own[i + 1], last=last)
        end = lines.ends[stop - 1] if stop > pick.candidate.last_line else pick.candidate.end
        end = max(end, pick.candidate.end)
        if not last:
            end = min(end, picks[i + 1].candidate.start)
        line = parts[opening].line if opening is not None else None
        if line is not None and result and lines.starts[line] < result[-1].end:
            line = None  # it stands inside the Item before
        result.append(Extent(pick, pick.candidate.start, end, own[i], line))
    return result


def _part_of(pick: Pick, form: Form) -> str:
    return pick.part or form.part_of(pick.keys[0])


def _printed_part(context: _Context, after: int, pick: Pick) -> str:
    """Return the Part of a pick: the form's, or the next one if that is printed right before it.

    What an Item asks for moved between Parts over the years, so the line in the filing has the last word.
    """
    own = _part_of(pick, context.form)
    if pick.part or not own:
        return own
    index = bisect_left(context.positions, pick.candidate.line + 1) - 1
    opens = index >= 0 and context.positions[index] > after and _may_open(context.parts[index], pick)
    printed = context.parts[index].part if opens else own
    return printed if _RANK.get(printed, 0) == _RANK[own] + 1 else own


def _may_open(line: PartLine, pick: Pick) -> bool:
    """Tell whether a Part line can open a pick's Part: one that also names an Item speaks of that Item only."""
    return not line.inline or line.line >= pick.candidate.line


def _opening(context: _Context, after: int, pick: Pick, part: str) -> int | None:
    """Return the index of the Part line that opens the pick's Part, if it stands right before it."""
    index = bisect_left(context.positions, pick.candidate.line + 1) - 1
    while index >= 0 and context.positions[index] >= after:
        if context.parts[index].part == part and _may_open(context.parts[index], pick):
            return index
        index -= 1
    return None


def _stop(context: _Context, pick: Pick, limit: int, own: str, following: str, *, last: bool) -> int:
    """Return the line that ends a body: the next Item, its Part line, a contents page, a landmark."""
    lines, first = context.lines, pick.candidate.last_line
    stop = limit
    if not last and following != own:
        stop = _part_cut(context, first, limit, following)
    page = next(
        (a for a, _ in reversed(context.pages) if first < a < stop and lines.prose_between(a, stop) == 0),
        None,
    )
    stop = page if page is not None else stop
    wanted = {"signatures", *_annexes(pick, context.form)} if last else {"signatures"}
    line = next((m.line for m in context.marks if first < m.line < stop and m.kind in wanted), None)
    if line is not None and (last or _closes(lines, line)):
        stop = line
    return max(stop, pick.candidate.line + 1)


def _part_cut(context: _Context, first: int, limit: int, following: str) -> int:
    """Return the line of the next Part's title between two Items; ``limit`` if none is printed."""
    cut = limit
    index = bisect_left(context.positions, limit) - 1
    while index >= 0 and context.positions[index] > first:
        part = context.parts[index]
        if part.part == following and not part.inline:
            if cut < limit and context.lines.prose_between(part.line, cut) > 0:
                break
            cut = part.line
        index -= 1
    return cut


def _annexes(pick: Pick, form: Form) -> set[str]:
    """Return which annexes are no part of a last Item; an Item of exhibits and schedules owns both."""
    words = form.spec(pick.keys[-1]).words
    owns = "exhibit" in words and not (pick.keys[-1] == "16" and "exhibit" not in pick.candidate.title.lower())
    return set() if owns else {"exhibits", "statements"}


def _closes(lines: Lines, index: int) -> bool:
    """Tell whether a signature line opens real signatures, not a row of a list."""
    text = lines.text[lines.ends[index] : lines.ends[index] + 400].lower()
    return "pursuant to" in text or "/s/" in text or "duly" in text
