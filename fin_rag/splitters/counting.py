"""Count parts of one text: estimates in batches, exact counts of whole candidates, each token read once if possible."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property

from fin_rag.schema import Span
from fin_rag.tokens import Tokenization


class Counter:
    """Count spans of one text as a model reads them.

    Tokenizers whose tokens never cross blanks read the text once, and any part between two blanks is counted by
    looking up where its tokens begin; all others count each candidate as a whole.

    Args:
        text: the canonical text.
        tokenization: the model's tokens.
        render: writes a span in other words than its slice; counts are then of what it writes.
    """

    def __init__(self, text: str, tokenization: Tokenization, render: Callable[[Span], str] | None = None) -> None:
        self._text, self._tokenization = text, tokenization
        self._rendered = render is not None
        self._render = render or self._slice
        self._special = tokenization.count_tokens("")
        self._empty: dict[str, int] = {}
        self._last: tuple[tuple[Span, ...], str, int] | None = None

    @cached_property
    def _starts(self) -> Sequence[int] | None:
        known = self._tokenization.token_starts
        return None if known is None or self._rendered else known(self._text)

    def estimate(self, spans: Sequence[Span]) -> list[int]:
        """Count spans on their own, without special tokens, in one batch."""
        if self._starts is not None and all(map(self._is_apart, spans)):
            return [self._between(self._starts, span) for span in spans]
        counts = self._tokenization.count_raw([self._render(span) for span in spans])
        return [max(count - self._special, 0) for count in counts]

    def exact(self, spans: Sequence[Span], header: str) -> int:
        """Count a chunk of some spans as the model reads it."""
        last = self._last
        key = tuple(spans)
        if last is not None and last[0] == key and last[1] == header:
            return last[2]  # the candidate that fitted is the chunk that is made
        if self._starts is not None and all(map(self._is_apart, key)):
            starts = self._starts
            count = self.empty(header) + sum(self._between(starts, span) for span in key)
        else:
            count = self._tokenization.count(self.content(key), header=header)
        self._last = (key, header, count)
        return count

    def empty(self, header: str) -> int:
        """Count what a chunk without a body would have: prefix, header, special tokens."""
        known = self._empty.get(header)
        if known is None:
            known = self._empty[header] = self._tokenization.count("", header=header)
        return known

    def content(self, spans: Sequence[Span]) -> str:
        """Return what a chunk of these spans says: their slices, or what ``render`` writes."""
        return "\n\n".join(part for part in map(self._render, spans) if part) or self._slice(spans[0])

    def _slice(self, span: Span) -> str:
        return span.slice(self._text)

    def _is_apart(self, span: Span) -> bool:
        """Tell whether blanks or the text's ends stand around a span."""
        text, start, end = self._text, span.start, span.end
        return (start == 0 or text[start - 1].isspace()) and (end == len(text) or text[end].isspace())

    @staticmethod
    def _between(starts: Sequence[int], span: Span) -> int:
        return bisect_left(starts, span.end) - bisect_left(starts, span.start)
