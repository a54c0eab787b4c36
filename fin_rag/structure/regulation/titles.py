"""The title of a heading: on its line, broken over lines, or on the line below."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.structure.regulation.headings import Heading
from fin_rag.structure.regulation.labels import read_label
from fin_rag.structure.regulation.lines import Line, plain_text

_LONGEST: Final = 240
_MOST_LINES: Final = 4
_SENTENCE: Final = re.compile(r"[^.]{2,160}\.(?=[ ]+[A-ZÁÉÍÓÚÑ¿(\[«“0-9])")
_SHORT_WORDS: Final = 12
_LEADERS: Final = re.compile(r"(?:[ ]?\.){4,}[ ]*\d{0,5}\Z|[ ]{3,}\d{1,4}\Z")
_FINITE: Final = re.compile(
    r"\b(?:ser[áa]n?|es|son|se|est[áa]n?|deber[áa]n?|podr[áa]n?|tendr[áa]n?|tienen?|rige|regula|entrar[áa]"
    r"|queda|aplicar[áa]"
    r"|shall|is|are|must|may|has|have|will|applies|apply|means|gilt|ist|sind|wird|werden)\b"
)


@dataclass(frozen=True, slots=True)
class Title:
    """Hold a title, the offset where it ends, where the body begins on its last line, and the line after it.

    ``body`` is the offset of text that stands on the heading's own last line, or ``None``.
    """

    text: str
    end: int
    next_line: int
    body: int | None = None


def title_of(
    heading: Heading, lines: Sequence[Line], stops: Callable[[int], bool], *, ends_here: Callable[[int], bool]
) -> Title:
    """Find the title of a heading.

    Args:
        heading: the heading.
        lines: all lines.
        stops: tells whether a line cannot be part of a title (a heading, a label, a note, a quotation).
        ends_here: tells whether a provision ends before a line, so that what came before was its body.
    """
    line = lines[heading.line]
    after = heading.line + 1
    if not heading.titled:
        return Title("", heading.label_end, after, heading.rest if heading.rest < line.end else None)
    rest = line.text[heading.rest - line.start :]
    if not rest.strip():
        return _below(heading, lines, stops, ends_here)
    if not rest[0].isalpha() and read_label(line.text, heading.rest - line.start, len(line.text)):
        return Title("", heading.label_end, after, heading.rest)
    if line.level:
        return Title(plain_text(_LEADERS.sub("", rest)), line.end, after)
    return _beside(heading, lines, rest, stops, ends_here)


def _beside(
    heading: Heading,
    lines: Sequence[Line],
    rest: str,
    stops: Callable[[int], bool],
    ends_here: Callable[[int], bool],
) -> Title:
    """Read a title that begins on the line of the number."""
    line, after = lines[heading.line], heading.line + 1
    spoken = heading.kind in ("art", "norma", "da", "dt", "dd", "df")
    if spoken and (match := _SENTENCE.match(rest)):
        if len(match.group().split()) <= _SHORT_WORDS and not _FINITE.search(match.group()):
            body = heading.rest + match.end()
            while body < line.end and line.text[body - line.start] == " ":
                body += 1
            return Title(plain_text(match.group()), heading.rest + match.end(), after, body)
        return Title("", heading.label_end, after, heading.rest)
    last = heading.line
    shown = rest
    while not lines[last].finished and last + 1 < len(lines) and last - heading.line < _MOST_LINES:
        below = lines[last + 1]
        goes_on = below.text[:1].islower() or lines[last].dangling
        if below.blank_before or not goes_on or stops(last + 1) or len(shown) > _LONGEST:
            break
        last += 1
        shown = _joined(shown, below.text)
    if spoken and shown.endswith((":", ";")):
        return Title("", heading.label_end, after, heading.rest)
    if spoken and lines[last].finished and ends_here(last + 1) and _FINITE.search(shown):
        return Title("", heading.label_end, after, heading.rest)
    return Title(plain_text(_LEADERS.sub("", shown)), lines[last].end, last + 1)


def _below(
    heading: Heading, lines: Sequence[Line], stops: Callable[[int], bool], ends_here: Callable[[int], bool]
) -> Title:
    """Read a title that stands below a number that has its line for itself."""
    first = heading.line + 1
    nothing = Title("", heading.label_end, first)
    if first >= len(lines) or stops(first) or heading.kind == "preamble":
        return nothing
    last = first
    while last + 1 < len(lines) and last - first < _MOST_LINES and not lines[last].finished:
        below = lines[last + 1]
        same_case = lines[last].text.isupper() and below.text.isupper()
        if below.blank_before or stops(last + 1) or not (below.text[:1].islower() or lines[last].dangling or same_case):
            break
        last += 1
    shown = ""
    for line in lines[first : last + 1]:
        shown = _joined(shown, line.text)
    if len(shown) > _LONGEST or shown[:1] in '|-–—•("«“‘0123456789' or shown.endswith((":", ";", ",")):
        return nothing
    if shown.endswith("."):
        short = len(shown.split()) <= 6 and not _FINITE.search(shown) and not lines[first].blank_before
        if not short or ends_here(last + 1):
            return nothing
    if _is_body(heading, lines, first, last, ends_here):
        return nothing
    return Title(plain_text(shown), lines[last].end, last + 1)


def _joined(before: str, line: str) -> str:
    """Join the lines of a title; a word that was broken at the end of a line is whole again."""
    if before.endswith("-") and before[-2:-1].isalpha() and line[:1].islower():
        return before[:-1] + line
    return f"{before} {line}" if before else line


def _is_body(heading: Heading, lines: Sequence[Line], first: int, last: int, ends_here: Callable[[int], bool]) -> bool:
    """Tell an unpunctuated line that is all a provision says from its title."""
    if heading.kind in ("art", "norma") and ends_here(last + 1):
        return bool(_FINITE.search(" ".join(line.text for line in lines[first : last + 1])))
    return heading.kind in ("annex", "appendix") and ends_here(last + 1) and len(lines[first].text) > _LONGEST // 2
