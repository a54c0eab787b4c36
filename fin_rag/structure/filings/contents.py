"""What the contents page says: link targets of Items, and titles of Items whose headings lack a number."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from fin_rag.schema import Markup
from fin_rag.structure.filings.candidates import Candidate, PartLine
from fin_rag.structure.filings.forms import Form, content_words, vocabulary
from fin_rag.structure.filings.grammar import looks_capital
from fin_rag.structure.filings.lines import Lines, is_page_line

_TRAILING_PAGE = re.compile(r"[\s.…|_]*(?:[\s.…|_](?:[A-Z]{1,2}-)?\d{1,3}(?:\s?[-–]\s?\d{1,3})?)?[\s|*]*$")
_NEAR_LINES, _TITLE_LIKENESS, _HEADING_LENGTH = 8, 0.8, 200
_TARGET_BONUS, _LINK_BASE, _TITLE_BASE, _REAL_SCORE = 3.0, 7.0, 3.2, 5.0


def mark_links(lines: Lines, found: Sequence[Candidate], markup: Markup) -> None:
    """Mark candidates that link further down: rows of a contents page."""
    by_line = _by_line(found)
    for span, name in markup.links:
        target = markup.anchors.get(name)
        candidate = by_line.get(lines.at(span.start))
        if candidate is not None and target is not None and lines.at(target) > candidate.last_line + 1:
            candidate.cautions.add("linked")


def link_targets(lines: Lines, found: Sequence[Candidate], markup: Markup, form: Form) -> dict[str, int]:
    """Return, for each id that a contents page links, the offset it links to."""
    by_line = _by_line(found)
    votes: dict[str, Counter[int]] = defaultdict(Counter)
    titled: dict[str, Counter[int]] = defaultdict(Counter)
    known: dict[str, tuple[str, ...]] = {}
    for span, name in markup.links:
        target = markup.anchors.get(name)
        if target is None or target <= span.end:
            continue
        index = lines.at(span.start)
        candidate = by_line.get(index)
        text = lines.bare(index)
        if candidate is not None:
            for key in row_keys(candidate, form):
                votes[key][target] += 1
        elif len(text) <= _HEADING_LENGTH and 2 * len(span) >= len(text):
            for key in known.setdefault(text, title_keys(text, form)):
                titled[key][target] += 1
    return {key: min(t for t, n in c.items() if n == max(c.values())) for key, c in (votes or titled).items()}


def row_keys(candidate: Candidate, form: Form) -> tuple[str, ...]:
    """Return the ids that a row of a contents page names, in the Part that fits best."""
    part = max(form.parts, key=lambda p: candidate.score(form, p))
    return candidate.keys(form, part)


def title_keys(text: str, form: Form) -> tuple[str, ...]:
    """Return the id whose usual title a text is, if exactly one is."""
    bare = _TRAILING_PAGE.sub("", text)
    if not bare or form.family == "8-K":
        return ()
    words = content_words(bare)
    if not words:
        return ()
    likely = sorted(((form.likeness(k, words), k) for k, spec in form.specs.items() if spec.by_title), reverse=True)[:2]
    if len(likely) < 2 or likely[0][0] < _TITLE_LIKENESS or likely[0][0] == likely[1][0]:
        return ()
    foreign = words - form.spec(likely[0][1]).words - vocabulary().generic_words
    return () if foreign else (likely[0][1],)


def apply_targets(
    lines: Lines, found: list[Candidate], parts: Sequence[PartLine], targets: Mapping[str, int], form: Form
) -> None:
    """Favour candidates at link targets; where none stands there, add one."""
    if not targets:
        return
    shared = Counter(targets.values())
    positions = [c.line for c in found]
    part_lines = {p.line for p in parts if not p.inline}
    stops = [*sorted(set(targets.values())), len(lines.text)]
    added = []
    for key, offset in sorted(targets.items()):
        first = lines.at(offset)
        near = [
            c for c in found[bisect_left(positions, first - 2) : bisect_left(positions, first + _NEAR_LINES)]
            if "contents" not in c.cautions and lines.prose_between(first, c.line) == 0
        ]  # fmt: skip
        part, number = key.rpartition("-")[0], key.rpartition("-")[2]
        match = next((c for c in near if number in c.numbers), None)
        if match is not None:
            match.targets[part] = _TARGET_BONUS
        elif (near and min(abs(c.line - first) for c in near) <= 2) or shared[offset] > 1 or first >= len(lines):
            continue
        elif not _real_one(found, positions, first, lines.at(stops[bisect_right(stops, offset)]), number, part, form):
            added.append(_synthetic(lines, first, key, part_lines, form, base=_LINK_BASE, source="link"))
    _merge(found, added)


def _real_one(
    found: Sequence[Candidate],
    positions: Sequence[int],
    first: int,
    last: int,
    number: str,
    part: str,
    form: Form,
) -> bool:
    """Tell whether a real heading of an Item stands between its link target and the next one."""
    return any(
        number in c.numbers and "contents" not in c.cautions and c.score(form, part) >= _REAL_SCORE
        for c in found[bisect_left(positions, first) : bisect_left(positions, last)]
    )


def add_titles(
    lines: Lines, found: list[Candidate], parts: Sequence[PartLine], targets: Mapping[str, int], form: Form
) -> None:
    """Add candidates for Items that the body names by title alone.

    These are the Items that a contents page lists and no heading numbers, and the Items of a Part in
    which no heading is numbered at all although those of another Part are.
    """
    if form.family == "8-K":
        return
    listed = {k for c in found if "contents" in c.cautions for k in row_keys(c, form)}
    body = [c for c in found if "contents" not in c.cautions]
    have = {k for c in body for p in form.parts for k in c.keys(form, p) if _reads(c, form, p)}
    bare = (
        {p for p in form.parts if have and not any(form.part_of(k) == p for k in have)}
        if len(form.parts) > 1
        else set()
    )
    missing = (listed | {k for k in form.specs if form.part_of(k) in bare}) - have - targets.keys()
    if not missing:
        return
    first = max((c.last_line for c in found if "contents" in c.cautions and 2 * c.line < len(lines)), default=-1) + 1
    part_lines = {p.line for p in parts if not p.inline}
    taken = {c.line for c in found}
    added = [
        _synthetic(lines, index, key, part_lines, form, base=_TITLE_BASE, source="title")
        for index in range(first, len(lines)) if index not in taken and title_like(lines, index)
        for key in title_keys(lines.bare(index), form) if key in missing
    ]  # fmt: skip
    for part in sorted(bare):  # the first Item of a Part without numbers starts at the Part's own line
        lead = min((k for k in missing if form.part_of(k) == part), key=form.order, default="")
        opening = next((p.line for p in parts if p.part == part and not p.inline), None)
        if lead and added and opening is not None and not any(lead in c.keys(form, part) for c in added):
            added.append(_synthetic(lines, opening, lead, part_lines, form, base=_TITLE_BASE, source="title"))
    _merge(found, added)


def _reads(candidate: Candidate, form: Form, part: str) -> bool:
    """Tell whether a candidate of the body can well be the heading of its number in ``part``."""
    if len(form.parts) == 1:
        return candidate.score(form, part) > 0
    best = max(candidate.score(form, p) for p in form.parts)
    return candidate.score(form, part) >= max(best - 1.0, 1.0) or bool(candidate.targets.get(part))


def title_like(lines: Lines, index: int) -> bool:
    """Tell whether a line may be a title: short, and styled, in capitals, or alone without an end mark."""
    if lines.length(index) > _HEADING_LENGTH:
        return False
    bare = lines.bare(index)
    plain = lines.apart[index] and bare[:1].isupper() and bare[-1:].isalpha()
    return lines.styled(index) or looks_capital(bare) or plain


def _synthetic(
    lines: Lines, index: int, key: str, part_lines: set[int], form: Form, *, base: float, source: str
) -> Candidate:
    """Make a candidate for ``key`` from the line that a contents page or a title points at."""
    part, _, number = key.rpartition("-")
    while index + 1 < len(lines) and (index in part_lines or is_page_line(lines.raw(index, 120))):
        index += 1
    bare = lines.bare(index)
    likeness = form.similarity(key, bare) if len(bare) <= _HEADING_LENGTH else 0.0
    heading = likeness >= 0.4 or (source == "link" and lines.styled(index) and likeness > 0)
    end = lines.ends[index] if heading else lines.starts[index]
    return Candidate(
        line=index, last_line=index if heading else index - 1, start=lines.starts[index], end=end,
        numbers=(number,), part=part, title=bare if heading else "", similarity={part: likeness},
        source=source, base=base, context_part=part,
    )  # fmt: skip


def _merge(found: list[Candidate], added: Sequence[Candidate]) -> None:
    found.extend(added)
    found.sort(key=lambda c: (c.line, c.source != "item"))


def _by_line(found: Sequence[Candidate]) -> dict[int, Candidate]:
    return {index: c for c in reversed(found) for index in range(c.line, c.last_line + 1)}
