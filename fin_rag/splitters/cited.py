"""What stands beside a chunk of a statute: its address, what it cites and what cites it, the text of those."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from fin_rag.schema import Chunk, MetadataValue, Outline, Span
from fin_rag.splitters.regions import context_header, trimmed
from fin_rag.structure.regulation import Provision, Reference, Statute, prefixes, reference_keys

if TYPE_CHECKING:
    from fin_rag.splitters.splitter import StructureTextSplitter

ADDRESS: Final = "address"
PROVISIONS: Final = "provisions"
CONTAINERS: Final = "containers"
REFERENCED_BY: Final = "referenced_by"
STATE: Final = "state"
NOTE_STATE: Final = "editorial_note"
_CONTAINER_KINDS: Final = frozenset(
    {"book", "part", "title", "subtitle", "chapter", "subchapter", "section", "subsection", "subpart", "standard"}
)
_ITEM_KINDS: Final = frozenset({"par", "pt", "sub", "level"})
_MOST_JOINED: Final = 12
_MOST_LEADS: Final = 3
_LONGEST_LEAD: Final = 600  # code points
_LEAD_ENDS: Final = (":", "—", "–")


class Places:
    """Find provisions and references by offset; ``direction`` is ``out``, ``in`` or ``both``."""

    def __init__(self, statute: Statute, text: str, direction: str) -> None:
        self.statute = statute
        self._text = text
        self._provisions = [p for p in statute.provisions if not p.transparent]
        self._starts = [p.span.start for p in self._provisions]
        self._parents, self._first_child = _family(self._provisions)
        self._reference_starts = [ref.span.start for ref in statute.references]
        self._outward = direction in ("out", "both")
        self._citing: dict[str, list[Reference]] = {}
        if direction in ("in", "both"):
            for ref in statute.references:
                for target in ref.targets:
                    self._citing.setdefault(target, []).append(ref)

    def inside(self, body: Span) -> Iterator[Provision]:
        """Yield the provisions that begin in a body."""
        for at in range(bisect_left(self._starts, body.start), len(self._starts)):
            if self._starts[at] >= body.end:
                return
            yield self._provisions[at]

    def _holding(self, body: Span) -> int:
        at = bisect_right(self._starts, body.start) - 1
        while at >= 0 and self._provisions[at].span.end < body.end:
            at = self._parents[at]
        return at

    def holding(self, body: Span) -> Provision | None:
        """Return the innermost provision that holds a whole body."""
        at = self._holding(body)
        return self._provisions[at] if at >= 0 else None

    def keys(self, body: Span) -> dict[str, MetadataValue]:
        """Return the address of a body, the containers above it, and what it shows where it is a part of that."""
        body = self.without_headings(body)
        holding = self.holding(body)
        if holding is None:
            return {}
        keys: dict[str, MetadataValue] = {ADDRESS: holding.address}
        above = [step for step in holding.path if step.partition(":")[0] in _CONTAINER_KINDS]
        if above:
            keys[CONTAINERS] = above
        if len(body) < len(holding.span):
            shown = _outermost(self.inside(body), holding)
            before = self.holding(Span(body.start, body.start + 1))
            if before is not None and before is not holding and before.span.start < body.start:
                shown.insert(0, before.address)
            if shown:
                keys[PROVISIONS] = list(dict.fromkeys(shown))
        return keys

    def without_headings(self, body: Span) -> Span:
        """Leave out the headings of containers that stand above the first provision of a body."""
        start = body.start
        for provision in self.inside(body):
            if provision.kind not in _CONTAINER_KINDS:
                only_headings = all(
                    other.kind in _CONTAINER_KINDS for other in self.inside(Span(body.start, provision.span.start))
                )
                start = provision.span.start if only_headings and self._starts_above(body, provision) else start
                break
        return Span(start, max(start, body.end))

    def _starts_above(self, body: Span, provision: Provision) -> bool:
        first = self.holding(Span(body.start, body.start + 1))
        return first is not None and first.kind in _CONTAINER_KINDS and first.span.contains(provision.span)

    # --- references ---------------------------------------------------------------------------

    def cited(self, body: Span) -> Sequence[Reference]:
        """Return the references that stand in a body."""
        first = bisect_left(self._reference_starts, body.start)
        last = bisect_left(self._reference_starts, body.end)
        return self.statute.references[first:last]

    def citing(self, body: Span) -> list[Reference]:
        """Return the references from elsewhere to what a body shows, or to a whole that it is a part of."""
        if not self._citing:
            return []
        addresses = [p.address for p in self.inside(body)]
        holding = self.holding(body)
        if holding is not None:
            addresses += reversed(prefixes(holding.address))
        found = [ref for address in dict.fromkeys(addresses) for ref in self._citing.get(address, ())]
        return [ref for ref in found if not (body.start <= ref.span.start < body.end)]

    def reference_keys(self, body: Span) -> dict[str, MetadataValue]:
        """Return the keys that name what a body cites and what cites it."""
        keys = reference_keys(self.cited(body)) if self._outward else {}
        sources = list(dict.fromkeys(ref.source for ref in self.citing(body) if ref.source))
        return keys | ({REFERENCED_BY: sources} if sources else {})

    def joined_provisions(self, body: Span) -> list[Provision]:
        """Return the provisions to show beside a body: what it cites, then what cites it; no whole chapters."""
        targets = [t for ref in self.cited(body) for t in ref.targets] if self._outward else []
        targets += [ref.source for ref in self.citing(body)]
        found: list[Provision] = []
        for target in dict.fromkeys(targets):
            provision = self.statute.find(target)
            if provision is None or provision.span.overlaps(body) or provision.kind in _CONTAINER_KINDS:
                continue
            if not any(other.span.contains(provision.span) for other in found):
                found.append(provision)
        return found[:_MOST_JOINED]

    # --- leads --------------------------------------------------------------------------------

    def leads(self, body: Span) -> list[Span]:
        """Return the sentences that lead to the list in the middle of which a body begins, the outermost first."""
        at = bisect_right(self._starts, body.start) - 1
        found: list[Span] = []
        while at >= 0 and self._provisions[at].kind in _ITEM_KINDS and len(found) < _MOST_LEADS:
            at = self._parents[at]
            lead = self._lead(at) if at >= 0 else None
            if lead is not None and lead.start < body.start:
                found.append(lead)
        return found[::-1]

    def _lead(self, at: int) -> Span | None:
        parent = self._provisions[at]
        child = self._first_child[at]
        if child is None:
            return None
        start = parent.span.start if parent.kind in _ITEM_KINDS else parent.label.end
        span = trimmed(self._text, Span(min(start, child), child))
        if len(span) and len(span) <= _LONGEST_LEAD and span.slice(self._text).endswith(_LEAD_ENDS):
            return span
        return None


def _family(provisions: Sequence[Provision]) -> tuple[list[int], list[int | None]]:
    """Return the place of each provision's parent (-1: none) and the offset where its first child begins."""
    parents: list[int] = []
    first: list[int | None] = [None] * len(provisions)
    stack: list[int] = []
    for at, provision in enumerate(provisions):
        while stack and provisions[stack[-1]].span.end <= provision.span.start:
            stack.pop()
        parents.append(stack[-1] if stack else -1)
        if stack and first[stack[-1]] is None:
            first[stack[-1]] = provision.span.start
        stack.append(at)
    return parents, first


def _outermost(provisions: Iterator[Provision], holding: Provision) -> list[str]:
    shown: list[str] = []
    end = -1
    for provision in provisions:
        if provision is not holding and provision.span.start >= end:
            shown.append(provision.address)
            end = provision.span.end
    return shown


class CitedText:
    """Choose the spans that are joined to a body: the leads of its lists, and cited text as far as it fits."""

    def __init__(
        self,
        splitter: StructureTextSplitter,
        text: str,
        outline: Outline,
        metadata: Mapping[str, object],
        places: Places,
        *,
        with_references: bool,
    ) -> None:
        self._text = text
        self._metadata = metadata
        self._tokenization = splitter.tokenization
        self._budget = splitter.config.max_tokens
        self._places = places
        self._with_references = with_references
        self._sections = list(outline.sections)
        self._starts = [s.span.start for s in self._sections]
        self._known: dict[Span, tuple[Span, ...]] = {}
        self._whole: dict[Span, bool] = {}

    def joined(self, body: Span) -> Sequence[Span]:
        """Return what is joined to a body; the packer drops from the end what has no room."""
        if body not in self._known and self._is_note(body):
            self._known[body] = ()
        elif body not in self._known:
            leads = self._places.leads(body)
            self._known[body] = (*leads, *(self._fitting(body, leads) if self._with_references else ()))
        return self._known[body]

    def _is_note(self, body: Span) -> bool:
        section = self._section(body)
        return section >= 0 and self._sections[section].metadata.get(STATE) == NOTE_STATE

    def left_out(self, body: Span, spans: Sequence[Span]) -> int:
        """Return how many of the provisions to show beside a body are not shown, or not whole."""
        if not self._with_references:
            return 0
        wanted = self._places.joined_provisions(body)
        return sum(not all(part in spans for part in self._parts(provision)) for provision in wanted)

    def leads_in_front(self, chunk: Chunk, body: Span) -> tuple[tuple[Span, ...], int]:
        """Return a chunk's spans with the leads before the body, where the count allows it, and that count."""
        leads = [span for span in self._places.leads(body) if span in chunk.spans[len(chunk.pieces) :]]
        if not leads or chunk.content is not None:
            return chunk.spans, chunk.token_count
        spans = (*leads, *(span for span in chunk.spans if span not in leads))
        shown = "\n\n".join(span.slice(self._text) for span in spans)
        count = self._tokenization.count(shown, header=chunk.header)
        return (spans, count) if count <= self._budget else (chunk.spans, chunk.token_count)

    def _parts(self, provision: Provision) -> list[Span]:
        """Return the text of a provision without the notes and furniture in it."""
        return [part for part in (trimmed(self._text, span) for span in provision.parts()) if len(part)]

    def _fitting(self, body: Span, leads: Sequence[Span]) -> tuple[Span, ...]:
        """Take cited provisions in order, whole ones, and of the first that does not fit as many lines as do."""
        wanted = self._places.joined_provisions(body)
        if not wanted:
            return ()
        section = self._section(self._places.without_headings(body))
        header = self._header(section)
        # A part of a provision that needs several chunks anyway leaves room for what it cites.
        alone = [] if self._fits_whole(section, body, header) else [Span(body.start, body.start)]
        kept: list[Span] = []
        for provision in wanted:
            for part in self._parts(provision):
                shown = self._as_much(part, [body, *leads, *kept], header, self._budget)
                if shown != part and alone:
                    shown = self._as_much(part, [*leads, *kept], header, self._budget // 3) or shown
                if shown is not None:
                    kept.append(shown)
                if shown != part:
                    break
        return tuple(kept)

    def _as_much(self, part: Span, before: Sequence[Span], header: str, budget: int) -> Span | None:
        """Return a span, or as many of its first lines as fit behind what is there already."""

        def fits(span: Span) -> bool:
            shown = "\n\n".join(one.slice(self._text) for one in (*before, span))
            return self._tokenization.count(shown, header=header) <= budget

        if fits(part):
            return part
        ends = _line_ends(self._text, part)
        low, high = 0, len(ends)
        while low < high:
            middle = (low + high + 1) // 2
            if fits(Span(part.start, ends[middle - 1])):
                low = middle
            else:
                high = middle - 1
        return Span(part.start, ends[low - 1]) if low else None

    def _section(self, body: Span) -> int:
        """Return the place of the section that a body stands in."""
        at = bisect_right(self._starts, body.start) - 1
        while at >= 0 and self._sections[at].span.end < body.end:
            at -= 1
        return at

    def _header(self, section: int) -> str:
        path = self._sections[section].path if section >= 0 else ()
        return context_header(self._metadata, path, tokenization=self._tokenization, max_tokens=self._budget)

    def _fits_whole(self, section: int, body: Span, header: str) -> bool:
        """Tell whether the provision that a body belongs to fits into one chunk, headings above it included."""
        span = self._sections[section].span if section >= 0 else Span(0, len(self._text))
        span = Span(min(body.start, span.start), span.end)
        if span not in self._whole:
            self._whole[span] = self._tokenization.count(span.slice(self._text), header=header) <= self._budget
        return self._whole[span]


def _line_ends(text: str, span: Span) -> list[int]:
    """Return where the lines of a span end but the first, which may be a heading alone, and the last."""
    ends, at = [], span.start
    for line in span.slice(text).splitlines(keepends=True):
        stripped = line.rstrip()
        if stripped and not stripped.endswith(_LEAD_ENDS):
            ends.append(at + len(stripped))
        at += len(line)
    return ends[1:-1]
