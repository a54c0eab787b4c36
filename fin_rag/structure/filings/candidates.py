"""Every line that could be the heading of an Item or a Part, with what speaks for and against it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from fin_rag.structure.filings.forms import Form
from fin_rag.structure.filings.grammar import (
    Heading,
    is_state_phrase,
    looks_capital,
    parse_heading,
    title_gain,
)
from fin_rag.structure.filings.lines import Lines, is_page_line

_HINT = re.compile(r"^[ \t]*[^\w\n]{0,24}(?:i ?t ?e ?m|part|punto|partida|apartado)", re.IGNORECASE | re.MULTILINE)
_ITEM_ALONE = re.compile(r"\W{0,8}(?:part\s+[IV]{1,3}\W{1,4})?items?\W{0,8}", re.IGNORECASE)
_PART = re.compile(
    r"[^\w\n]{0,24}(?:part|parte)\s+(?P<part>IV|I{1,3}|[1-4])(?![\w(])[\s.:,;–—\-|*_]{0,8}(?P<title>[^\n]{0,90})",
    re.IGNORECASE,
)
_PART_TITLE = re.compile(
    r"\W*(?:(?:financial|other) information|información|continued|\(continued\))?[\W\d]*", re.IGNORECASE
)
_INCOMPLETE = re.compile(r"(?:[a-z,;“\"]|\b(?:Item|Part|Note|Items))[*_]{0,3}$")
_ARABIC_PARTS = {"1": "I", "2": "II", "3": "III", "4": "IV"}
_CONTENTS_TITLE = re.compile(r"\W*(?:table of contents|contents|index|índice)(?: to form [\w-]+)?\W*", re.IGNORECASE)
_SIGNATURE_ENTRY = re.compile(r"\W*signatures?\W*\d{0,3}\W*", re.IGNORECASE)
_TITLE_LINES, _TITLE_LENGTH, _GLUED_LENGTH = 3, 170, 40
_PENALTIES = {
    "comma": 4.0, "sentence": 4.0, "quoted": 4.0, "lower": 2.0, "bullet": 1.0, "paged": 3.5, "row": 2.5,
    "glued": 6.0, "continued": 5.0, "contents": 8.0, "linked": 2.5, "long": 2.0,
}  # fmt: skip


@dataclass(slots=True)
class Candidate:
    """Hold one possible heading. ``start`` and ``end`` are offsets of the heading, title included."""

    line: int
    last_line: int
    start: int
    end: int
    numbers: tuple[str, ...]
    part: str
    title: str
    similarity: dict[str, float]
    cautions: set[str] = field(default_factory=set)
    body_inline: bool = False
    source: str = "item"
    base: float = 4.0
    bonus: float = 0.0
    context_part: str = ""
    targets: dict[str, float] = field(default_factory=dict)

    def keys(self, form: Form, part: str) -> tuple[str, ...]:
        """Return the ids that the numbers mean in ``part``."""
        return tuple(form.key(n, part) for n in self.numbers)

    def score(self, form: Form, part: str) -> float:
        """Return how much speaks for this being the heading of its Items in ``part``."""
        value = self.base + self.bonus + 3.0 * self.similarity.get(part, 0.0)
        if self.title and self.similarity.get(part, 0.0) < 0.15:
            value -= 5.0 if max(self.similarity.values()) >= 0.5 else 1.0  # the title of the other Part's Item
        value -= sum(_PENALTIES[c] for c in self.cautions)
        value += self.targets.get(part, 0.0)
        if len(form.parts) > 1:
            if self.part:
                value += 3.0 if self.part == part else -6.0
            elif self.context_part:
                value += 1.5 if self.context_part == part else -2.5
        return value


@dataclass(frozen=True, slots=True)
class PartLine:
    """Hold a line that names a Part; ``inline`` where it shares its line with an Item."""

    line: int
    part: str
    inline: bool = False


def find_candidates(lines: Lines, form: Form) -> tuple[list[Candidate], list[PartLine]]:
    """Find all lines that read as headings of Items or Parts, in document order."""
    found: list[Candidate] = []
    parts: list[PartLine] = []
    if not len(lines):
        return found, parts
    begin, end = lines.starts[0], lines.ends[-1]
    for hint in _HINT.finditer(lines.text, begin, end):
        index = lines.at(hint.end() - 1)
        if (parts and parts[-1].line == index) or (found and index <= found[-1].last_line):
            continue
        part = _part_line(lines, index)
        if part:
            parts.append(part)
        candidate = _candidate(lines, index, form)
        if candidate:
            found.append(candidate)
            if candidate.part and not part:
                parts.append(PartLine(index, candidate.part, inline=True))
    _mark_context(found, parts)
    lines.count_prose({i for c in found if not c.body_inline for i in range(c.line, c.last_line + 1)})
    return found, parts


def _part_line(lines: Lines, index: int) -> PartLine | None:
    raw = lines.raw(index, 200)
    match = _PART.match(raw)
    if not match or (match.end() < len(raw) and len(raw) > 120):
        return None
    title = match["title"]
    capital = match.group().strip(" *#_|")[:4].isupper()
    if not (_PART_TITLE.fullmatch(title) or (capital and looks_capital(title))):
        return None
    part = match["part"].upper()
    return PartLine(index, _ARABIC_PARTS.get(part, part))


def _candidate(lines: Lines, index: int, form: Form) -> Candidate | None:
    raw = lines.raw(index)
    start, last = lines.starts[index], index
    if len(raw) < 24 and _ITEM_ALONE.fullmatch(raw) and lines.length(index + 1) < 200 and index + 1 < len(lines):
        last = index + 1
        raw = lines.text[start : lines.ends[last]][:700].replace("\n", " ")
    heading = parse_heading(raw, form)
    if heading is None:
        return None
    inline = heading.body < len(raw)
    end = start + (heading.title[1] if inline or heading.title[1] > heading.title[0] else len(raw))
    if not inline and "paged" not in heading.cautions:
        end = max(end, min(lines.ends[last], start + heading.body))
    candidate = Candidate(
        line=index, last_line=last, start=start, end=end, numbers=heading.numbers,
        part=_ARABIC_PARTS.get(heading.part, heading.part),
        title=heading.title_of(raw).strip(" *_#|"),
        similarity=_likeness(heading, form, heading.title_of(raw)),
        cautions=set(heading.cautions), body_inline=inline,
    )  # fmt: skip
    if not inline and "paged" not in candidate.cautions:
        _extend_title(lines, candidate, form)
    _style(lines, candidate)
    return candidate


def _likeness(heading: Heading, form: Form, title: str) -> dict[str, float]:
    merged = len(heading.numbers) > 1
    values = {}
    for part in form.parts:
        keys = [form.key(n, part) for n in heading.numbers]
        best = max((form.similarity(k, title) for k in keys), default=0.0)
        values[part] = max(best, heading.similarity) if merged and best else best
    return values


def _extend_title(lines: Lines, candidate: Candidate, form: Form) -> None:
    """Take following lines into the heading while they make the title more like the usual one."""
    keys = [form.key(n, p) for n in candidate.numbers for p in form.parts]
    for step in range(_TITLE_LINES):
        index = candidate.last_line + 1
        bare = lines.bare(index)
        if not bare or len(bare) > _TITLE_LENGTH or _HINT.match(lines.raw(index, 60)):
            break
        if re.fullmatch(r"[\s\-=_]{4,}", bare):  # an underline row
            candidate.last_line, candidate.end = index, lines.ends[index]
            continue
        open_title = not candidate.title or candidate.title.rstrip()[-1:] in ",;" or not lines.apart[index]
        gain = title_gain(form, keys, candidate.title, bare)
        capital = looks_capital(bare) and (not candidate.title or looks_capital(candidate.title))
        first = not candidate.title and not is_page_line(bare) and not is_state_phrase(bare)
        wanted = gain > (0.3 if first else 0.02) or (first and capital and not lines.apart[index] and step == 0)
        if not open_title or not wanted or len(bare.split()) > 30:
            break
        candidate.title = f"{candidate.title} {bare}".strip()
        candidate.last_line, candidate.end = index, lines.ends[index]
        for part in form.parts:
            best = max(form.similarity(form.key(n, part), candidate.title) for n in candidate.numbers)
            candidate.similarity[part] = max(candidate.similarity[part], best) if gain > 0 else best


def _style(lines: Lines, candidate: Candidate) -> None:
    index = candidate.line
    if lines.styled(index):
        candidate.bonus += 1.0
    if looks_capital(lines.bare(index)):
        candidate.bonus += 0.4
    if not candidate.body_inline and lines.length(index) > 260:
        candidate.cautions.add("long")
    if index and not lines.apart[index] and lines.length(index - 1) > _GLUED_LENGTH:
        previous = lines.text[max(lines.starts[index - 1], lines.ends[index - 1] - 12) : lines.ends[index - 1]]
        if _INCOMPLETE.search(previous) and not _HINT.match(lines.raw(index - 1, 60)):
            candidate.cautions.add("glued")


def _mark_context(found: Sequence[Candidate], parts: Sequence[PartLine]) -> None:
    """Tell each candidate the Part named last before it."""
    position, current = 0, ""
    for candidate in found:
        while position < len(parts) and parts[position].line <= candidate.line:
            current = parts[position].part
            position += 1
        candidate.context_part = current


def mark_contents(lines: Lines, found: Sequence[Candidate]) -> list[tuple[int, int]]:
    """Mark the rows of contents pages and return first and last line of each of those pages.

    Rows of a contents page follow one another without prose. A run of such candidates is a contents
    page if its rows carry page numbers or links, or if its numbers all come again further down.
    """
    counts = Counter(n for c in found for n in c.numbers)
    later = _later_counts(found)
    pages = []
    for block in _blocks(lines, found):
        before = False
        for first, last in block:
            rows = found[first : last + 1]
            if _is_contents(lines, rows, counts, later[last], before=before):
                before = True
                for candidate in rows:
                    candidate.cautions.add("contents")
                pages.append((rows[0].line, rows[-1].last_line))
    return pages


def _is_contents(
    lines: Lines, rows: Sequence[Candidate], counts: Counter[str], later: Counter[str], *, before: bool
) -> bool:
    """Tell whether a run of rows is a contents page; ``before`` says that it follows one directly."""
    numbers = [n for c in rows for n in c.numbers]
    distinct = set(numbers)
    marked = sum(1 for c in rows if c.cautions & {"paged", "linked"})
    again = sum(1 for n in distinct if later[n] > 0) / len(distinct)
    if 2 * marked >= len(rows) and (len(distinct) >= 2 or before):
        return True
    if len(distinct) >= 4 and 2 * sum(1 for c in rows if _page_follows(lines, c)) >= len(rows):
        return True
    framed = len(distinct) >= 2 or _framed(lines, rows[0].line, rows[-1].last_line)
    return framed and again >= 0.8 and any(counts[n] > numbers.count(n) for n in distinct)


def _framed(lines: Lines, first: int, last: int) -> bool:
    """Tell whether a contents title stands above some rows, or an entry for the signatures below them."""
    above = any(_CONTENTS_TITLE.fullmatch(lines.bare(i)) for i in range(max(0, first - 3), first))
    return above or any(_SIGNATURE_ENTRY.fullmatch(lines.bare(i)) for i in range(last + 1, min(len(lines), last + 4)))


def _later_counts(found: Sequence[Candidate]) -> list[Counter[str]]:
    """Return, for each candidate, how often each number comes after it; shared where nothing changes."""
    total: Counter[str] = Counter()
    result: list[Counter[str]] = [total] * len(found)
    for i in range(len(found) - 1, -1, -1):
        result[i] = total
        if any(total[n] < 2 for n in found[i].numbers):
            total = total.copy()
            total.update(found[i].numbers)
    return result


def _blocks(lines: Lines, found: Sequence[Candidate]) -> list[list[tuple[int, int]]]:
    """Return the runs of rows: blocks without prose, cut where a number comes again."""
    blocks: list[list[tuple[int, int]]] = []
    seen: set[str] = set()
    for i, candidate in enumerate(found):
        tight = i > 0 and _tight(lines, found[i - 1], candidate)
        doubled = i > 0 and candidate.numbers == found[i - 1].numbers and candidate.line == found[i - 1].last_line + 1
        if tight and (doubled or not seen & set(candidate.numbers)):
            blocks[-1][-1] = (blocks[-1][-1][0], i)
        elif tight:
            blocks[-1].append((i, i))
            seen = set()
        else:
            blocks.append([(i, i)])
            seen = set()
        seen |= set(candidate.numbers)
    return blocks


def _tight(lines: Lines, before: Candidate, after: Candidate) -> bool:
    """Tell whether nothing but other rows stands between two candidates."""
    if before.body_inline and "paged" not in before.cautions and "row" not in before.cautions:
        return False
    if after.line - before.last_line > 60 or lines.prose_between(before.last_line + 1, after.line) > 0:
        return False
    following = before.last_line + 1
    if following < after.line:
        bare = lines.bare(following)
        if is_state_phrase(bare) or (bare.endswith(".") and len(bare) > 30):
            return False
    return True


def _page_follows(lines: Lines, candidate: Candidate) -> bool:
    return any(
        re.fullmatch(r"(?:[A-Z]-?)?\d{1,3}(?:\s?[-–]\s?\d{1,3})?", lines.bare(candidate.last_line + i)) is not None
        for i in (1, 2)
    )


def add_body_weight(lines: Lines, found: Sequence[Candidate]) -> None:
    """Reward candidates by the prose that follows before a heading of another number."""
    following = len(lines)
    by_number: dict[tuple[str, ...], int] = defaultdict(lambda: len(lines))
    for i in range(len(found) - 1, -1, -1):
        candidate = found[i]
        if i + 1 < len(found) and found[i + 1].numbers != candidate.numbers:
            following = found[i + 1].line
            by_number.clear()
        weight = lines.prose_between(candidate.last_line + 1, following)
        candidate.bonus += min(2.5, 0.9 * _magnitude(weight / 60))
        if candidate.body_inline and "sentence" not in candidate.cautions:
            candidate.bonus += 0.3


def _magnitude(ratio: float) -> float:
    """Return a slow measure of size: 0 for nothing, 1 more for every factor of four."""
    value, steps = ratio, 0.0
    while value >= 1 and steps < 12:
        value /= 4
        steps += 1
    return steps * 0.5 + (0.3 if ratio > 0 else 0)
