"""Detection of headings that only the text shows."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from fin_rag.structure.figures import figure_tail
from fin_rag.structure.layout import Layout, atx, is_caption_line
from fin_rag.structure.levels import ATX, BARE, BOLD, CAPS, ITALIC, SETEXT, Candidate
from fin_rag.structure.lines import is_rule, is_sentence, plain, vocabulary
from fin_rag.structure.titles import (
    LONGEST_TITLE,
    candidate_of,
    is_bare_title,
    is_capitals,
    is_numbered_title,
    is_phrase,
    title_of,
)
from fin_rag.structure.units import is_unit_line

_WHOLLY_BOLD: Final = re.compile(r"(?:\*\*[^*]+(?:\*(?!\*)[^*]+)*\*\*\s*)+[:.]?|(?:__[^_]+__\s*)+[:.]?")
_WHOLLY_ITALIC: Final = re.compile(r"\*[^*\s][^*]*\*|_[^_\s][^_]*_")
_LONGEST_BOLD: Final = 250
_MOST_LINES: Final = 3
_MOST_BARE_RUN: Final = 2
_WIDE: Final = 60
_LONGEST_DENSE: Final = 70
_MOST_DENSE_WORDS: Final = 10
_SENTENCE_END: Final = (".", "?", "!", ":", ".”", '."', ".)", ".»", ";")


def detect(layout: Layout, *, bare: bool = True) -> list[Candidate]:
    """Return the headings that the text itself shows, in order, without levels.

    With ``bare=False`` unmarked lines in small letters are never taken: the source styles its headings.
    """
    found: list[Candidate] = []
    taken = [index in layout.fixed for index in range(len(layout.lines))]
    index = 0
    while index < len(layout.lines):
        candidate = _candidate(layout, index, taken, bare=bare) if layout.is_text(index) else None
        if candidate is None:
            index += 1
            continue
        for line in range(candidate.first, candidate.last):
            taken[line] = True
        found.append(candidate)
        index = candidate.last
    return _without_false_runs(layout, _without_lists(layout, found))


def _candidate(layout: Layout, index: int, taken: list[bool], *, bare: bool) -> Candidate | None:
    text = layout.lines[index].text
    marked = atx(text)
    if marked:
        return _atx(layout, index, marked, taken)
    if len(text) > _LONGEST_BOLD or text[0] in "|<>":
        return None
    if text[0] in "*_":
        return _emphasised(layout, index, taken)
    if layout.is_text(index + 1) and is_rule(layout.lines[index + 1].text):
        return _setext(layout, index, taken)
    return _unmarked(layout, index, taken, bare=bare)


def _atx(layout: Layout, index: int, marked: tuple[int, str], taken: list[bool]) -> Candidate | None:
    """Accept ``# Title`` unless it is a number sign ("# of holders") or a line of a paragraph."""
    level, raw = marked
    title = plain(raw)
    if not any(c.isalnum() for c in title) or len(title) > 2 * _LONGEST_BOLD:
        return None
    if not any(c.isalpha() for c in title) and not is_phrase(f"A {title}") and not _is_year_title(title):
        return None
    small = title[0].islower()
    if small and (_in_paragraph(layout, index, taken) or title.split()[0] in vocabulary()["title_particles"]):
        return None
    return candidate_of(index, index + 1, title, ATX, rank=level)


def _is_year_title(title: str) -> bool:
    return len(title) == 4 and title.isdigit()


def _in_paragraph(layout: Layout, index: int, taken: list[bool]) -> bool:
    before = layout.is_text(index - 1) and not taken[index - 1]
    return before or layout.is_text(index + 1)


def _emphasised(layout: Layout, index: int, taken: list[bool]) -> Candidate | None:
    """Accept lines that are bold (or italic) from end to end and open a paragraph."""
    if not _opens(layout, index, taken) and not _is_finished(layout.lines[index - 1].text, strong=True):
        return None
    last = index
    while last - index < _MOST_LINES and layout.is_text(last) and _WHOLLY_BOLD.fullmatch(layout.lines[last].text):
        last += 1
    italic = last == index and bool(_WHOLLY_ITALIC.fullmatch(layout.lines[index].text))
    last = index + 1 if italic else last
    if last == index:
        return None
    title = title_of(layout.lines[index:last])
    if not any(c.isalpha() for c in title) or is_unit_line(title) or is_caption_line(title):
        return None
    low = title.rstrip(":. ").lower()
    if low in vocabulary()["source_words"] or (title.endswith(":") and layout.is_text(last)):
        return None
    if italic and (not is_phrase(title) or is_sentence(title) or layout.is_text(last)):
        return None
    return candidate_of(index, last, title, ITALIC if italic else BOLD)


def _setext(layout: Layout, index: int, taken: list[bool]) -> Candidate | None:
    text, rule = layout.lines[index].text, layout.lines[index + 1].text
    if rule.strip("=") and rule.strip("-"):
        return None
    if not _opens(layout, index, taken) or not is_phrase(plain(text), colon=True) or "  " in text:
        return None
    return candidate_of(index, index + 2, plain(text), SETEXT, rank=1 if rule[0] == "=" else 2)


def _unmarked(layout: Layout, index: int, taken: list[bool], *, bare: bool) -> Candidate | None:
    text = plain(layout.lines[index].text)
    capitals = is_capitals(text)
    if capitals:
        last = _capital_lines(layout, index)
        title = title_of(layout.lines[index:last])
        fits = is_numbered_title(title) or (is_phrase(title) and not is_sentence(title.lower()))
        ok = fits and len(title) <= LONGEST_TITLE and _stands_alone(layout, index, last, taken, strong=True)
        return candidate_of(index, last, title, CAPS) if ok else None
    numbered = is_numbered_title(text)
    if not numbered and not (bare and is_bare_title(text)):
        return None
    if not _stands_alone(layout, index, index + 1, taken, strong=numbered):
        return None
    return candidate_of(index, index + 1, text, BARE)


def _capital_lines(layout: Layout, index: int) -> int:
    """Return the line after a title in capitals that may run over several lines."""
    last = index + 1
    while layout.is_text(last) and is_capitals(plain(layout.lines[last].text)) and last - index < _MOST_LINES:
        if is_numbered_title(layout.lines[last].text):
            break
        last += 1
    return last


def _opens(layout: Layout, index: int, taken: list[bool]) -> bool:
    """Tell whether a line opens a paragraph: after a blank line, a zone, a heading or the text's start."""
    return not layout.is_text(index - 1) or taken[index - 1]


def _stands_alone(layout: Layout, first: int, last: int, taken: list[bool], *, strong: bool) -> bool:
    """Tell whether lines are set apart: by blanks or, in text without blank lines, by their shape.

    ``strong`` lines (numbered, in capitals) need no more than a finished sentence before them; others must
    also be short with a filled line behind them, as the first line of a paragraph is.
    """
    opens, closes = _opens(layout, first, taken), not layout.is_text(last)
    if opens and closes:
        return not (first > 0 and 0 <= layout.owner[first - 1] == _owner(layout, last))
    if not opens and not _is_finished(layout.lines[first - 1].text, strong=strong):
        return False
    text = layout.lines[last - 1].text
    if len(text) > _LONGEST_DENSE or len(text.split()) > _MOST_DENSE_WORDS:
        return strong and opens
    if closes:
        return strong or _owner(layout, last) >= 0
    after = layout.lines[last].text
    if not strong and len(after) < max(_WIDE, 1.3 * len(text)):
        titled = is_capitals(plain(after)) or is_numbered_title(after) or is_bare_title(after)
        return titled and opens and layout.is_text(last + 1) and len(layout.lines[last + 1].text) >= _WIDE
    return after[0].isupper() or after[0].isdigit() or after[0] in '“"«¿(•'


def _is_finished(text: str, *, strong: bool) -> bool:
    """Tell whether a paragraph may end here: with a sentence or, before a strong title, a figure."""
    return text.endswith(_SENTENCE_END) or (strong and bool(figure_tail(text).cells))


def _owner(layout: Layout, index: int) -> int:
    return layout.owner[index] if index < len(layout.owner) else -1


def _without_false_runs(layout: Layout, found: list[Candidate]) -> list[Candidate]:
    """Drop unmarked titles that have nothing under them, and rows of them (covers, addresses, signatures)."""
    kept: list[Candidate] = []
    run: list[Candidate] = []
    for candidate in found:
        if run and not _adjacent(layout, run[-1], candidate):
            kept.extend(_settled(layout, run, None))
            run = []
        if candidate.style in (BARE, CAPS) and candidate.number is None:
            run.append(candidate)
            continue
        kept.extend(_settled(layout, run, candidate))
        run = []
        kept.append(candidate)
    kept.extend(_settled(layout, run, None))
    return kept


def _without_lists(layout: Layout, found: list[Candidate]) -> list[Candidate]:
    """Drop unmarked numbered lines with nothing between them: they list, they do not head."""
    listed: set[int] = set()
    for one, other in pairwise(found):
        if one.style == other.style == BARE and one.number and other.number and _adjacent(layout, one, other):
            same_depth = len(one.number.parts) == len(other.number.parts)
            if same_depth and (one.number.word, one.number.scheme) == (
                other.number.word,
                other.number.scheme,
            ):
                listed.update((one.first, other.first))
    return [candidate for candidate in found if candidate.first not in listed]


def _adjacent(layout: Layout, first: Candidate, second: Candidate) -> bool:
    return all(layout.free(at) and not layout.lines[at].text for at in range(first.last, second.first))


def _settled(layout: Layout, run: list[Candidate], after: Candidate | None) -> list[Candidate]:
    """Return the titles of a run that stand: the last ones before a body."""
    if not run:
        return []
    if after is not None and after.style == ATX:
        return []
    if after is None and not _has_body(layout, run[-1].last):
        return []
    bare = sum(candidate.style == BARE for candidate in run)
    if bare > _MOST_BARE_RUN:
        return []
    return run[-_MOST_LINES:]


def _has_body(layout: Layout, index: int) -> bool:
    while index < len(layout.lines) and not layout.lines[index].text:
        index += 1
    return index < len(layout.lines) and not is_rule(layout.lines[index].text)
