"""Lines of a statute with the marks of Markdown set aside, offsets kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from fin_rag.schema import Span
from fin_rag.structure.regulation.numbers import alternatives, vocabulary

# One character each, so that offsets stay: odd blanks, hyphens that look alike, zero-width marks.
_SAME: Final = {
    0x00A0: " ", 0x2002: " ", 0x2003: " ", 0x2007: " ", 0x2008: " ", 0x2009: " ", 0x200A: " ", 0x202F: " ",
    0x3000: " ", 0x0009: " ", 0x000B: " ", 0x000C: " ", 0x000D: " ", 0x200B: " ", 0xFEFF: " ", 0x00AD: " ",
    0x2010: "-", 0x2011: "-",
}  # fmt: skip
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ITALIC_LABEL: Final = re.compile(r"\([*_](\w{1,5})[*_]\)")
_LINE: Final = re.compile(r"[^\n]+")
_MARKS: Final = re.compile(
    r"(?P<quote>(?:[ ]{0,3}>)*)[ ]*(?P<heading>#{1,6}(?=[ ]|$))?[ ]*(?P<strong>(?:[*]{1,3}|_{1,3})(?=\S))?"
)
_SENTENCE_END: Final = re.compile(r"[.;:!?…»”\"’)\]]['’”\"»)\]*_]*\Z")
_LAST_WORD: Final = re.compile(r"([^\W\d_]+)\Z|\b(arts?|n[úu]ms?|apdos?|p[áa]rrs?|nr|nos?|secs?)\.\Z", re.IGNORECASE)
_TAGS: Final = re.compile(r"</?(?:small|sup|sub|em|strong|b|i|u)\b[^>\n]{0,40}>")


@dataclass(frozen=True, slots=True)
class Line:
    """Hold one visible line: where it stands and what it says.

    ``outer`` is the offset of its first visible character, ``start`` that of its text after Markdown marks,
    ``end`` that after its last visible character. ``text`` is the view of ``start`` to ``end``, of the same
    length. ``level`` is the rank of a Markdown heading (0: none), ``quoted`` a block quotation.
    """

    outer: int
    start: int
    end: int
    text: str
    level: int
    quoted: bool
    blank_before: bool

    @property
    def finished(self) -> bool:
        """Tell whether the line ends as a sentence, a list item or a lead-in does."""
        return bool(_SENTENCE_END.search(self.text))

    @property
    def dangling(self) -> bool:
        """Tell whether the line ends in a word that needs another one after it (``previsto en el``)."""
        if self.text.endswith(","):
            return False
        word = _LAST_WORD.search(self.text)
        return word is not None and (word[1] is None or word[1].casefold() in _connectors())

    @property
    def joins(self) -> bool:
        """Tell whether the line ends in a conjunction, as the last but one item of a list does."""
        word = _LAST_WORD.search(self.text)
        return word is not None and word[1] is not None and word[1].casefold() in _conjunctions()


@lru_cache(maxsize=1)
def _connectors() -> frozenset[str]:
    return frozenset(vocabulary()["connectors"])


@lru_cache(maxsize=1)
def _conjunctions() -> frozenset[str]:
    return frozenset(vocabulary()["conjunctions"])


def view_of(text: str) -> str:
    r"""Return a text of the same length in which blanks are plain and escapes and bold marks are gone.

    Example:
        >>> view_of("1\\. **Uno**\u00a0y")
        '1.   Uno   y'
    """
    plain = text.translate(_SAME)
    plain = _ESCAPE.sub(r"\1 ", plain) if "\\" in plain else plain
    plain = plain.replace("**", "  ").replace("__", "  ")
    return _ITALIC_LABEL.sub(r"( \1 )", plain)


def lines_of(text: str, view: str) -> list[Line]:
    """Return the visible lines in order."""
    found: list[Line] = []
    last_end = -1
    for match in _LINE.finditer(view):
        raw = match.group()
        stripped = raw.strip()
        if not stripped:
            continue
        outer = match.start() + (len(raw) - len(raw.lstrip()))
        end = match.start() + len(raw.rstrip())
        marks = _MARKS.match(view, outer, end)
        start = marks.end() if marks else outer
        while start < end and view[start] == " ":
            start += 1
        shown = view[start:end].rstrip("*_ ") or view[start:end]
        if not shown:
            continue  # nothing but marks of Markdown
        blank = last_end < 0 or text.count("\n", last_end, outer) > 1
        found.append(
            Line(
                outer=_before_marks(text, view, outer),
                start=start,
                end=start + len(shown),
                text=shown,
                level=len(marks["heading"] or "") if marks else 0,
                quoted=bool(marks and marks["quote"]),
                blank_before=blank,
            )
        )
        last_end = end
    return found


def _before_marks(text: str, view: str, at: int) -> int:
    """Move back over bold marks, which the view shows as blanks, to the first visible character."""
    while at > 0 and view[at - 1] == " " and not text[at - 1].isspace() and text[at - 1] in "*_":
        at -= 1
    return at


def wrap_width(lines: Sequence[Line]) -> int:
    """Return the width at which the source breaks its lines, or 0 where a line is a whole paragraph.

    A line that goes on in small letters directly below was broken for its width.
    """
    widths = sorted(
        len(line.text)
        for line, following in pairwise(lines)
        if not following.blank_before and following.text[:1].islower() and not line.finished
    )
    return widths[len(widths) * 9 // 10] if widths else 0


def plain_text(text: str) -> str:
    """Return a heading's text for people: no Markdown, no tags, single blanks, no closing full stop.

    Example:
        >>> plain_text("**Plan  de** continuidad.")
        'Plan de continuidad'
    """
    shown = _TAGS.sub("", _ESCAPE.sub(r"\1", text)).replace("*", "").replace("__", "")
    shown = " ".join(shown.split()).strip(" _")
    return shown[:-1].rstrip() if shown.endswith(".") and not shown.endswith("..") else shown


def merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Join spans that touch or overlap; the result rises."""
    out: list[Span] = []
    for span in sorted(spans):
        if out and span.start <= out[-1].end:
            out[-1] = Span(out[-1].start, max(out[-1].end, span.end))
        elif len(span):
            out.append(span)
    return tuple(out)


def word_pattern(key: str) -> str:
    """Return a pattern for the words of one list of the vocabulary."""
    return rf"(?:{alternatives(vocabulary()[key])})"
