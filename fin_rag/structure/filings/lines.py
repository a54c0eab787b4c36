"""The lines of a filing with what the search for headings asks of them, read in one pass."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from fin_rag.schema import Markup, Span

_MARKS = " \t\r#*_|>~`"
_PAGE = re.compile(
    r"(?:<page>\s*)?(?:page\s+)?[-–—\s|]*(?:[A-Z]{1,2}-?)?(?:\d{1,4}|[ivx]{1,6})(?:\s+of\s+\d{1,4})?[-–—\s.|*]*",
    re.IGNORECASE,
)
_RULE = re.compile(r"[\s\-=_*–—.|:<>]*")
_BACK_LINK = re.compile(r"(?:back to |return to )?(?:table of contents|index)(?: \(continued\))?", re.IGNORECASE)
_TAG = re.compile(r"</?(?:page|table|s|c|caption|text|fn)>(?:\s+\d+)?", re.IGNORECASE)
_DOCUMENT_END = re.compile(r"^[ \t]*</(?:DOCUMENT|TEXT)>", re.IGNORECASE | re.MULTILINE)
_DOCUMENT_START = re.compile(r"^[ \t]*<DOCUMENT>", re.IGNORECASE | re.MULTILINE)
_PROSE_ALONE, _PROSE_WRAPPED = 90, 45


@dataclass(slots=True)
class Lines:
    """Hold the non-blank lines of a text, stripped, with offsets into the canonical text.

    ``prose[i]`` is the number of code points of prose in the lines before line ``i``, so that the prose
    between two lines is one subtraction.
    """

    text: str
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    apart: list[bool] = field(default_factory=list)
    prose: list[int] = field(default_factory=list)
    ranks: Mapping[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, offset: int) -> int:
        """Return the index of the line that holds ``offset``, or of the first one after it."""
        return bisect_left(self.ends, offset + 1)

    def last_at(self, offset: int) -> int:
        """Return the index of the last line that starts at or before ``offset`` (-1 if none)."""
        return bisect_right(self.starts, offset) - 1

    def raw(self, index: int, limit: int = 700) -> str:
        """Return a line's text, at most ``limit`` code points of it; empty beyond the last line."""
        if not 0 <= index < len(self.starts):
            return ""
        return self.text[self.starts[index] : min(self.ends[index], self.starts[index] + limit)]

    def bare(self, index: int) -> str:
        """Return a line's text without Markdown marks at its ends."""
        return self.raw(index).strip(_MARKS)

    def length(self, index: int) -> int:
        """Return the number of code points in a line."""
        return self.ends[index] - self.starts[index] if 0 <= index < len(self.starts) else 0

    def prose_between(self, first: int, last: int) -> int:
        """Return the code points of prose in lines ``first`` up to and without ``last``."""
        return self.prose[min(last, len(self))] - self.prose[min(first, len(self))] if last > first else 0

    def count_prose(self, headings: AbstractSet[int]) -> None:
        """Add up the prose before each line: long lines or runs of wrapped ones, ``headings`` left out."""
        total, sums = 0, [0]
        count = len(self)
        for i in range(count):
            size = self.ends[i] - self.starts[i]
            if size >= _PROSE_WRAPPED and self.text[self.starts[i]] != "|" and i not in headings:
                below = i + 1 < count and not self.apart[i + 1] and self.length(i + 1) >= _PROSE_WRAPPED
                above = i > 0 and not self.apart[i] and self.length(i - 1) >= _PROSE_WRAPPED
                if size >= _PROSE_ALONE or below or above:
                    total += size
            sums.append(total)
        self.prose = sums

    def styled(self, index: int) -> bool:
        """Tell whether the source or the Markdown marks a line as a heading."""
        raw = self.raw(index, 12)
        return index in self.ranks or raw.startswith(("**", "#", "__"))


def is_page_line(line: str) -> bool:
    """Tell whether a line is furniture: a page number, a page tag, a rule, or a link back to the contents.

    Example:
        >>> [is_page_line(s) for s in ("41", "- F-3 -", "<PAGE>   2", "Table of Contents", "1,234 units")]
        [True, True, True, True, False]
    """
    bare = line.strip(_MARKS)
    if len(bare) > 80:
        return bool(_RULE.fullmatch(bare))
    return any(p.fullmatch(bare) for p in (_PAGE, _RULE, _BACK_LINK, _TAG))


def main_document(text: str) -> Span:
    """Return the span of the first document of a full submission; of the whole text if it is not one."""
    start = _DOCUMENT_START.search(text)
    end = _DOCUMENT_END.search(text, start.end() if start else 0)
    return Span(start.end() if start else 0, end.start() if end else len(text))


def read_lines(text: str, span: Span, markup: Markup | None) -> Lines:
    """Read the lines of ``span`` in one pass."""
    lines = Lines(text, prose=[0])
    apart, offset = True, span.start
    for piece in text[span.start : span.end].split("\n"):
        bare = piece.strip()
        if bare:
            lead = piece.find(bare[0])
            lines.starts.append(offset + lead)
            lines.ends.append(offset + lead + len(bare))
            lines.apart.append(apart)
            apart = False
        else:
            apart = True
        offset += len(piece) + 1
    if markup is not None:
        lines.ranks = {lines.at(s.start): rank for s, rank in markup.headings if span.start <= s.start < span.end}
    return lines
