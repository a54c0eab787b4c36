"""Find where a quoted text stands, whatever its spacing, and if need be with gaps."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Final

from fin_rag.schema import Span

_WORD: Final = re.compile(r"\w+")
_MOST_WORDS: Final = 6000  # of a region that is aligned: the alignment is not linear
_LEAST_SHARE: Final = 0.6  # of the quote's words that an alignment has to find
_GAP: Final = 48  # characters between two runs of one passage


def find_quote(text: str, quote: str, region: Span) -> list[Span]:
    r"""Return where the words of ``quote`` stand one after the other in ``region`` of ``text``, in order.

    Case, spacing and punctuation do not matter. The time is linear.

    Example:
        >>> text = "Net debt\nwas 12.5. Net  debt was 12.5!"
        >>> [s.slice(text) for s in find_quote(text, "net debt was 12.5", Span(0, len(text)))]
        ['Net debt\nwas 12.5', 'Net  debt was 12.5']
    """
    wanted = " ".join(_WORD.findall(quote.lower()))
    words, joined, starts = _words(text, region)
    if not wanted or not words:
        return []
    found = []
    at = joined.find(f" {wanted} ")
    while at >= 0:
        first = starts[at]
        last = first + wanted.count(" ")
        found.append(Span(words[first][0], words[last][1]))
        at = joined.find(f" {wanted} ", at + len(wanted))
    return found


def align_quote(text: str, quote: str, region: Span) -> tuple[Span, ...]:
    """Return the runs of ``region`` that hold the words of ``quote`` in order, or nothing if too few do.

    For quotes that another reader of the same page took down, with words glued, lost or moved.
    """
    wanted = _WORD.findall(quote.lower())
    words, _, _ = _words(text, region)
    if not wanted or not words or max(len(words), len(wanted)) > _MOST_WORDS:
        return ()
    here = [text[a:b].lower() for a, b in words]
    blocks = SequenceMatcher(None, here, wanted, autojunk=False).get_matching_blocks()
    if sum(block.size for block in blocks) < _LEAST_SHARE * len(wanted):
        return ()
    runs: list[Span] = []
    for block in blocks:
        if not block.size:
            continue
        span = Span(words[block.a][0], words[block.a + block.size - 1][1])
        if runs and span.start - runs[-1].end <= _GAP:
            runs[-1] = Span(runs[-1].start, span.end)
        else:
            runs.append(span)
    return tuple(runs)


def _words(text: str, region: Span) -> tuple[list[tuple[int, int]], str, dict[int, int]]:
    """Return the words' offsets, the folded words between blanks, and the word that each blank stands before."""
    words: list[tuple[int, int]] = []
    parts, starts, at = [" "], {}, 0
    for match in _WORD.finditer(text, region.start, region.end):
        starts[at] = len(words)
        words.append(match.span())
        folded = match[0].lower()
        parts.append(f"{folded} ")
        at += len(folded) + 1
    return words, "".join(parts), starts
