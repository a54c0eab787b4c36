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
from typing import Final

from fin_rag.errors import InputError
from fin_rag.schema import Block, Span
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.splitters.counting import Counter
from fin_rag.splitters.regions import trimmed
from fin_rag.splitters.rowgroups import joined_tokens, row_groups
from fin_rag.splitters.units import Measure, Unit, introduces, joins, kind_of, lead_tokens
from fin_rag.tokens import Tokenization

_LINE = re.compile(r"[^\n]+")
_SENTENCE = re.compile(r"[^\n]*?(?:[.!?;:](?=[ \t\u00a0])|(?=\n)|\Z)")
_WORD = re.compile(r"\S+")
_LOOK_AHEAD: Final = 4  # chunks whose text is weighed to make them of even size


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
        self._furniture = [mark.start for mark in furniture]
        self._text = text
        self._config = config
        self._counter = Counter(text, tokenization, render)
        self._measure = Measure(text, self.estimate, joined)

    def pack(self, blocks: Sequence[Block], header: str, costs: Sequence[int]) -> Iterator[Packed]:
        """Yield the chunks of one region in order; ``costs`` estimates the tokens of each block."""
        # Estimates of parts come close to the count of the whole; far above the budget, skip the exact count.
        if sum(costs) <= self._config.max_tokens * 2:
            pieces = self._pieces(blocks)
            spans = self._spans(pieces, ())
            whole = self.exact(spans, header)
            if whole <= self._config.max_tokens:
                yield Packed(pieces, spans, kind_of(blocks), whole, 0)
                return
        room = self._room(header)
        units: list[Unit] = []
        for block, cost in zip(blocks, costs, strict=True):
            units += self._units_of(block, cost, header, room, lead_tokens(units, self._text))
        yield from self.join(units, header, even=True)

    def units(self, pattern: re.Pattern[str], span: Span) -> list[Unit]:
        """Return what a pattern matches, without blanks at the ends, as units of prose."""
        pieces = list(self._matches(pattern, span))
        return [Unit(p, "prose", cost) for p, cost in zip(pieces, self.estimate(pieces), strict=True)]

    def _room(self, header: str) -> int:
        return self._config.max_tokens - self._counter.empty(header)

    def estimate(self, spans: Sequence[Span]) -> list[int]:
        """Count spans on their own, without special tokens, in one batch."""
        return self._counter.estimate(spans)

    def exact(self, spans: Sequence[Span], header: str) -> int:
        """Count a chunk as the model reads it."""
        return self._counter.exact(spans, header)

    def content(self, spans: Sequence[Span]) -> str:
        """Return what a chunk of these spans says: their slices, or what ``render`` writes."""
        return self._counter.content(spans)

    # --- joining ------------------------------------------------------------------------------

    def join(self, units: list[Unit], header: str, *, even: bool = False) -> Iterator[Packed]:
        """Yield chunks of as many whole units as fit; a unit that does not fit alone is cut.

        With ``even`` a run that needs several chunks is cut into chunks of about the same size.
        """
        room = self._room(header)
        at, previous = 0, 0
        while at < len(units):
            first = self._overlap_start(units, previous, at)
            end = self._reach(units, first, at, room, self._even(units, at, room) if even else room)
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
                    units[at : at + 1] = self._smaller(units[at], header, smaller)
                    end = at + 1
            yield self._packed(units[first:end], header, units[first:at], left_out)
            at, previous = end, at

    @staticmethod
    def _even(units: Sequence[Unit], at: int, room: int) -> float:
        """Return the size of chunks that the text up to the next table makes if all of them are alike."""
        total = 0
        for unit in units[at:]:
            if unit.is_table and total:
                break
            total += unit.tokens
            if total > _LOOK_AHEAD * room:
                return room
        return total / max(1, -(-total // max(1, room)))

    def _reach(self, units: Sequence[Unit], first: int, at: int, room: int, even: float) -> int:
        """Return the end of the longest run from ``first`` whose estimate fits, past ``at``."""
        shared = sum(unit.tokens for unit in units[first:at])
        total = units[at].tokens
        end = at + 1
        while end < len(units) and joins(units, at, end):
            more = units[end].tokens
            if shared + total + more > room or (total + more / 2 > even and not units[end].is_table):
                break
            total += more
            end += 1
        return self._keep_headings(units, at, end)

    def _keep_headings(self, units: Sequence[Unit], at: int, end: int) -> int:
        """Leave headings and a table's lead-in sentence at the end of a run to what they introduce."""
        if end == len(units):
            return end
        last = end
        if units[end].is_table and last - 1 > at and introduces(units[last - 1]):
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
        if units[at].kind not in ("prose", "list"):
            return at
        while first < at and sum(self.estimate(self._pieces(units[first:at]))) > self._config.overlap_tokens:
            first += 1  # what stands between the units costs too
        return first

    def _fits(self, units: Sequence[Unit], header: str, left_out: int) -> bool:
        spans = self._layout(units, left_out)
        return self.exact(spans, header) <= self._config.max_tokens

    def _packed(self, units: Sequence[Unit], header: str, shared: Sequence[Unit], left_out: int) -> Packed:
        pieces = self._pieces(units)
        spans = self._layout(units, left_out)
        overlap = sum(self.estimate(self._pieces(shared))) if shared else 0
        return Packed(pieces, spans, kind_of(units), self.exact(spans, header), overlap, left_out)

    def _pieces(self, parts: Sequence[Block] | Sequence[Unit]) -> tuple[Span, ...]:
        """Return the spans of a run: one, or several with furniture between them."""
        last = parts[-1]
        if isinstance(last, Unit) and last.own:
            return (*(self._pieces(parts[:-1]) if len(parts) > 1 else ()), *last.own)
        pieces = [parts[0].span]
        for part in parts[1:]:
            at = bisect_left(self._furniture, pieces[-1].end)
            if at < len(self._furniture) and self._furniture[at] < part.span.start:
                pieces.append(part.span)
            else:
                pieces[-1] = Span(pieces[-1].start, part.span.end)
        return tuple(pieces)

    def _layout(self, units: Sequence[Unit], left_out: int) -> tuple[Span, ...]:
        """Return all spans of a run of units in reading order, but for some of what is joined to it."""
        if units[-1].own:
            before = self._pieces(units[:-1]) if len(units) > 1 else ()
            inside = (*before, *units[-1].spans)
            further = self._beyond(inside)
            return (*inside, *further[: len(further) - left_out])
        return self._spans(self._pieces(units), units[0].repeat, left_out)

    def _spans(self, pieces: tuple[Span, ...], repeat: tuple[Span, ...], left_out: int = 0) -> tuple[Span, ...]:
        further = self._beyond((*pieces, *repeat))
        return (*repeat, *pieces, *further[: len(further) - left_out])

    def _further(self, unit: Unit) -> Sequence[Span]:
        return self._beyond(unit.spans or (unit.span, *unit.repeat))

    def _beyond(self, inside: Sequence[Span]) -> Sequence[Span]:
        """Return what is joined to a body and its header and does not stand in them anyway."""
        wanted = [span for part in inside for span in self._joined(part)]
        return [s for s in dict.fromkeys(wanted) if not any(part.contains(s) for part in inside)]

    def _is_small(self, unit: Unit, header: str, room: int) -> bool:
        """Tell whether cutting a unit further would gain little for what is joined to it."""
        bare = self.exact(unit.spans or (*unit.repeat, unit.span), header)
        one_row = unit.kind == "rows" and (bool(unit.spans) or "\n" not in unit.span.slice(self._text))
        return bare <= self._config.max_tokens and (one_row or unit.tokens * 4 <= room)

    # --- cutting ------------------------------------------------------------------------------

    def _units_of(self, block: Block, cost: int, header: str, room: int, lead: int) -> list[Unit]:
        """Return a block as one unit if it fits with what is joined to it, else cut."""
        if block.kind != "table":
            unit = Unit(block.span, block.kind, cost)
            return [unit] if cost <= room else self._cut(unit, header, room)
        if cost + joined_tokens(self._measure, block.span) <= room:
            before = block.header if block.header and block.header.end <= block.span.start else None
            return [Unit(block.span, "table", cost, (before,) if before else (), table=block)]
        return row_groups(block, self._measure, room, lead)

    def _smaller(self, unit: Unit, header: str, room: int) -> list[Unit]:
        """Cut a unit that turned out too long; the rows of a table stay whole, under their header if they can."""
        if unit.table is None or unit.own:
            return self._cut(unit, header, room)
        top = unit.table.header
        inside = top if top and unit.span.contains(top) else None
        units = row_groups(replace(unit.table, span=unit.span, header=inside), self._measure, room, 0)
        if len(units) > 1:
            return [replace(u, repeat=u.repeat or unit.repeat) if not (inside or u.own) else u for u in units]
        if unit.repeat:
            return [replace(unit, repeat=unit.repeat[:-1])]
        return self._cut(unit, header, room)

    def _cut(self, unit: Unit, header: str, room: int) -> list[Unit]:
        """Cut a unit at lines, else sentences, else blanks, else between characters."""
        for pattern in (_LINE, _SENTENCE, _WORD):
            pieces = list(self._matches(pattern, unit.span))
            if len(pieces) > 1:
                break
        else:
            return [replace(unit, span=s, tokens=t, repeat=()) for s, t in self._characters(unit.span, header)]
        # Whole rows still need their header; pieces of a row do not become readable by it.
        piece_of = unit if pattern is _LINE else replace(unit, repeat=(), table=None)
        out: list[Unit] = []
        for piece, cost in zip(pieces, self.estimate(pieces), strict=True):
            last = out[-1] if out else None
            if cost > room:
                out += self._cut(replace(piece_of, span=piece, tokens=cost, repeat=(), table=None), header, room)
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
