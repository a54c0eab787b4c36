"""Pack the text of one region into chunks under a token budget, spans only.

The whole region if it fits with its context header; else blocks joined while the whole candidate
fits; a block that is too long is cut at lines, sentences, blanks and, as the last resort, between
characters. Tables stay whole or become row groups that repeat the header. Text is never rebuilt from
tokens, and every chunk is counted as the model will read it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from fin_rag.errors import InputError
from fin_rag.schema import Block, Span
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.regions import trimmed
from fin_rag.tokens import Tokenization

_LINE = re.compile(r"[^\n]+")
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?;:](?=[ \t\u00a0])|(?=\n)|\Z)")
_WORD = re.compile(r"\S+")
_LEAD_IN_TOKENS = 80


@dataclass(frozen=True, slots=True)
class Unit:
    """Hold what is joined whole: a block, or a piece of a block that is too long.

    ``repeat`` is a table header that a row group needs in front; ``tokens`` estimates the body's cost.
    """

    span: Span
    kind: str
    tokens: int
    repeat: Span | None = None


@dataclass(frozen=True, slots=True)
class Packed:
    """Hold one chunk of a region: all its spans in reading order, kind and exact counts.

    A repeated table header stands before the body, joined spans behind it. A body that runs on behind a
    running head or page number has a span on each side of it; ``pieces`` holds the body's spans.
    ``left_out`` counts joined spans that the budget had no room for.
    """

    pieces: tuple[Span, ...]
    spans: tuple[Span, ...]
    kind: str
    token_count: int
    overlap_tokens: int
    left_out: int = 0


def nothing_joined(_: Span) -> Sequence[Span]:
    """Join nothing."""
    return ()


class Packer:
    """Pack regions of one text; all of them share tokenization and budget.

    ``joined`` returns the spans that belong to a body but stand elsewhere (the notes of its markers, the
    answer to its question, the provision that it cites); they count against the budget. What of them does
    not fit, even beside the smallest piece of text, is left out and counted in ``Packed.left_out``.
    ``furniture``, sorted and apart, is never inside a chunk. ``render`` writes a span in other words than its
    slice (table rows in words); counts are then of what it writes.
    """

    def __init__(
        self,
        text: str,
        tokenization: Tokenization,
        config: ChunkingConfig,
        joined: Callable[[Span], Sequence[Span]] = nothing_joined,
        furniture: Sequence[Span] = (),
        render: Callable[[Span], str] | None = None,
    ) -> None:
        self._joined = joined
        self._render = render or self._slice
        self._furniture = [mark.start for mark in furniture]
        self._text = text
        self._tokenization = tokenization
        self._config = config
        self._special = tokenization.count_tokens("")

    def pack(self, blocks: Sequence[Block], header: str, costs: Sequence[int]) -> Iterator[Packed]:
        """Yield the chunks of one region in order; ``costs`` estimates the tokens of each block."""
        # Estimates of parts come close to the count of the whole; far above the budget, skip the exact count.
        if sum(costs) <= self._config.max_tokens * 2:
            pieces = self._pieces(blocks)
            spans = self._spans(pieces, None)
            whole = self.exact(spans, header)
            if whole <= self._config.max_tokens:
                yield Packed(pieces, spans, _kind(blocks), whole, 0)
                return
        room = self._room(header)
        units: list[Unit] = []
        for block, cost in zip(blocks, costs, strict=True):
            unit = Unit(block.span, block.kind, cost)
            units += [unit] if cost <= room else self._divide(unit, block, header, room)
        yield from self.join(units, header)

    def units(self, pattern: re.Pattern[str], span: Span) -> list[Unit]:
        """Return what a pattern matches, without blanks at the ends, as units of prose."""
        pieces = list(self._matches(pattern, span))
        return [Unit(p, "prose", cost) for p, cost in zip(pieces, self.estimate(pieces), strict=True)]

    def _room(self, header: str) -> int:
        return self._config.max_tokens - self._tokenization.count("", header=header)

    def estimate(self, spans: Sequence[Span]) -> list[int]:
        """Count spans on their own, without special tokens, in one batch."""
        counts = self._tokenization.count_raw([self._render(span) for span in spans])
        return [max(count - self._special, 0) for count in counts]

    def exact(self, spans: Sequence[Span], header: str) -> int:
        """Count a chunk as the model reads it."""
        return self._tokenization.count(self.content(spans), header=header)

    def content(self, spans: Sequence[Span]) -> str:
        """Return what a chunk of these spans says: their slices, or what ``render`` writes."""
        return "\n\n".join(part for part in map(self._render, spans) if part) or self._slice(spans[0])

    def _slice(self, span: Span) -> str:
        return span.slice(self._text)

    # --- joining ------------------------------------------------------------------------------

    def join(self, units: list[Unit], header: str) -> Iterator[Packed]:
        """Yield chunks of as many whole units as fit; a unit that does not fit alone is cut."""
        room = self._room(header)
        at, previous = 0, 0
        while at < len(units):
            first = self._overlap_start(units, previous, at)
            end = self._reach(units, first, at, room)
            left_out = 0
            while not self._fits(units[first:end], header, left_out):
                if first < at:
                    first = at  # sharing text matters less than the budget
                elif end - at > 1:
                    end = self._keep_headings(units, at, end - 1)
                elif left_out < len(self._further(units[at])) and self._is_small(units[at], header, room):
                    left_out += 1
                else:
                    smaller = max(1, min(room, units[at].tokens) * 3 // 4)
                    units[at : at + 1] = self._cut(units[at], header, smaller)
                    end = at + 1
            yield self._packed(units[first:end], header, units[first:at], left_out)
            at, previous = end, at

    def _reach(self, units: Sequence[Unit], first: int, at: int, room: int) -> int:
        """Return the end of the longest run from ``first`` whose estimate fits, past ``at``."""
        total = sum(unit.tokens for unit in units[first : at + 1])
        end = at + 1
        while end < len(units) and total + units[end].tokens <= room and _joins(units, at, end):
            total += units[end].tokens
            end += 1
        return self._keep_headings(units, at, end)

    def _keep_headings(self, units: Sequence[Unit], at: int, end: int) -> int:
        """Leave headings and the lead-in sentence at the end of a run to what they introduce."""
        if end == len(units):
            return end
        last = end
        if last - 1 > at and _introduces(units[last - 1]):
            last -= self._text[units[last - 1].span.end - 1] == ":"
        while last - 1 > at and units[last - 1].kind == "heading":
            last -= 1
        return last

    def _overlap_start(self, units: Sequence[Unit], previous: int, at: int) -> int:
        first, total = at, 0
        while first - 1 > previous and units[first - 1].kind in ("prose", "list"):
            total += units[first - 1].tokens
            if total > self._config.overlap_tokens:
                break
            first -= 1
        return first if units[at].kind in ("prose", "list") else at

    def _fits(self, units: Sequence[Unit], header: str, left_out: int) -> bool:
        spans = self._spans(self._pieces(units), units[0].repeat, left_out)
        return self.exact(spans, header) <= self._config.max_tokens

    def _packed(self, units: Sequence[Unit], header: str, shared: Sequence[Unit], left_out: int) -> Packed:
        pieces = self._pieces(units)
        spans = self._spans(pieces, units[0].repeat, left_out)
        overlap = sum(self.estimate(self._pieces(shared))) if shared else 0
        return Packed(pieces, spans, _kind(units), self.exact(spans, header), overlap, left_out)

    def _pieces(self, parts: Sequence[Block] | Sequence[Unit]) -> tuple[Span, ...]:
        """Return the spans of a run: one, or several with furniture between them."""
        pieces = [parts[0].span]
        for part in parts[1:]:
            at = bisect_left(self._furniture, pieces[-1].end)
            if at < len(self._furniture) and self._furniture[at] < part.span.start:
                pieces.append(part.span)
            else:
                pieces[-1] = Span(pieces[-1].start, part.span.end)
        return tuple(pieces)

    def _spans(self, pieces: tuple[Span, ...], repeat: Span | None, left_out: int = 0) -> tuple[Span, ...]:
        further = self._beyond(pieces, repeat)
        kept = further[: len(further) - left_out] if left_out else further
        return (repeat, *pieces, *kept) if repeat else (*pieces, *kept)

    def _further(self, unit: Unit) -> Sequence[Span]:
        return self._beyond((unit.span,), unit.repeat)

    def _beyond(self, pieces: tuple[Span, ...], repeat: Span | None) -> Sequence[Span]:
        """Return what is joined to a body and its header and does not stand in them anyway."""
        inside = (*pieces, repeat) if repeat else pieces
        wanted = [span for part in inside for span in self._joined(part)]
        return [s for s in dict.fromkeys(wanted) if not any(part.contains(s) for part in inside)]

    def _is_small(self, unit: Unit, header: str, room: int) -> bool:
        """Tell whether cutting a unit further would gain little for what is joined to it."""
        bare = self.exact((unit.repeat, unit.span) if unit.repeat else (unit.span,), header)
        one_row = unit.kind == "rows" and "\n" not in unit.span.slice(self._text)
        return bare <= self._config.max_tokens and (one_row or unit.tokens * 4 <= room)

    # --- cutting ------------------------------------------------------------------------------

    def _divide(self, unit: Unit, block: Block, header: str, room: int) -> list[Unit]:
        if block.kind == "table":
            return self._row_groups(block, header, room)
        return self._cut(unit, header, room)

    def _row_groups(self, block: Block, header: str, room: int) -> list[Unit]:
        """Cut a table between rows; each group repeats the header where it leaves room for rows."""
        top = block.header or Span(block.span.start, block.span.start)
        lines = list(self._matches(_LINE, Span(top.end, block.span.end)))
        costs = self.estimate([top, *lines])
        repeat = top if len(top) and costs[0] * 2 <= room else None
        spare = room - (costs[0] + 2 if repeat else 0)
        units: list[Unit] = []
        if len(top) and repeat is None:
            units += self._cut(Unit(top, "table", costs[0]), header, room)
        for line, cost in zip(lines, costs[1:], strict=True):
            last = units[-1] if units else None
            if last is not None and last.kind == "rows" and last.tokens + cost + 1 <= spare:
                units[-1] = replace(last, span=Span(last.span.start, line.end), tokens=last.tokens + cost + 1)
            elif cost <= spare:
                units.append(Unit(line, "rows", cost, repeat))
            else:
                units += self._cut(Unit(line, "table", cost), header, room)
        # The first group stands right below the header: one span, nothing to repeat.
        if units and units[0].repeat is not None:
            first = units[0]
            units[0] = Unit(Span(top.start, first.span.end), "rows", first.tokens + costs[0] + 1)
        return units

    def _cut(self, unit: Unit, header: str, room: int) -> list[Unit]:
        """Cut a unit at lines, else sentences, else blanks, else between characters."""
        for pattern in (_LINE, _SENTENCE, _WORD):
            pieces = list(self._matches(pattern, unit.span))
            if len(pieces) > 1:
                break
        else:
            return [
                replace(unit, span=s, tokens=t, repeat=None) for s, t in self._characters(unit.span, header)
            ]
        # Whole rows still need their header; pieces of a row do not become readable by it.
        piece_of = unit if pattern is _LINE else replace(unit, repeat=None)
        out: list[Unit] = []
        for piece, cost in zip(pieces, self.estimate(pieces), strict=True):
            last = out[-1] if out else None
            if cost > room:
                out += self._cut(replace(piece_of, span=piece, tokens=cost, repeat=None), header, room)
            elif last is not None and last.tokens + cost + 1 <= room:
                out[-1] = replace(last, span=Span(last.span.start, piece.end), tokens=last.tokens + cost + 1)
            else:
                out.append(replace(piece_of, span=piece, tokens=cost))
        return out

    def _characters(self, span: Span, header: str) -> Iterator[tuple[Span, int]]:
        limit = self._config.max_tokens
        start, guess = span.start, limit * 4
        while start < span.end:
            low, high = 0, min(guess, span.end - start)
            while high < span.end - start and self.exact((Span(start, start + high),), header) <= limit:
                low, high = high, min(high * 2, span.end - start)
            while low < high:
                middle = (low + high + 1) // 2
                if self.exact((Span(start, start + middle),), header) <= limit:
                    low = middle
                else:
                    high = middle - 1
            if low == 0:
                raise InputError(
                    f"The character {self._text[start]!r} at offset {start} does not fit into {limit} tokens "
                    "with its context header. Raise the budget or shorten the title."
                )
            piece = Span(start, start + low)
            yield piece, self.estimate([piece])[0]
            start, guess = start + low, low

    def _matches(self, pattern: re.Pattern[str], span: Span) -> Iterator[Span]:
        for match in pattern.finditer(self._text, span.start, span.end):
            piece = trimmed(self._text, Span(*match.span()))
            if len(piece):
                yield piece


def _joins(units: Sequence[Unit], at: int, end: int) -> bool:
    """Tell whether the unit at ``end`` may join a run that began at ``at``."""
    unit, before = units[end], units[at:end]
    if unit.kind in ("table", "rows"):
        # A table takes along only what introduces it.
        return unit.repeat is None and all(b.kind == "heading" or _introduces(b) for b in before)
    return not any(b.kind in ("table", "rows") for b in before)


def _introduces(unit: Unit) -> bool:
    return unit.kind == "prose" and unit.tokens <= _LEAD_IN_TOKENS


def _kind(parts: Sequence[Block] | Sequence[Unit]) -> str:
    names = {"rows": "table", "code": "prose"}
    kinds = {names.get(part.kind, part.kind) for part in parts} - {"heading"}
    if "table" in kinds and all(isinstance(p, Unit) and (p.kind != "prose" or _introduces(p)) for p in parts):
        kinds = {"table"}
    if not kinds:
        return "prose"
    return kinds.pop() if len(kinds) == 1 else "mixed"
