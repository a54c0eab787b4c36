"""Split statutes by provision; chunks know their address and what they cite."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal, get_args

from fin_rag.errors import InputError
from fin_rag.schema import Chunk, Markup, MetadataValue, Outline, Span
from fin_rag.splitters.chunks import chunk_text
from fin_rag.splitters.pack import nothing_joined
from fin_rag.splitters.regions import context_header
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.structure.regulation import (
    Provision,
    Reference,
    Statute,
    outline_of,
    read_statute,
    reference_keys,
)
from fin_rag.tokens import Tokenization

ExpandReferences = Literal["none", "ids", "text"]
ReferenceDirection = Literal["out", "in", "both"]

ADDRESS: Final = "address"
PROVISIONS: Final = "provisions"
REFERENCED_BY: Final = "referenced_by"
LEFT_OUT: Final = "references_left_out"
STATE: Final = "state"
_REFERENCE_KEYS: Final = ("references", "external_references")
_MOST_JOINED: Final = 12


@dataclass(frozen=True, slots=True)
class RegulationOutline(Outline):
    """Hold the outline of a statute together with the statute: provisions, references, notes."""

    statute: Statute = field(default_factory=lambda: Statute("", "", ()))


class RegulationTextSplitter(StructureTextSplitter):
    r"""Split laws, EU acts, circulars, codes and rulebooks by article, norm, section or rule.

    A provision that fits is one chunk; a longer one is cut between its paragraphs. The context header names
    the act and the path. ``address`` is the innermost provision that holds the whole chunk; a chunk that is
    a part of it lists the paragraphs it shows in ``provisions``. Editors' notes are chunks of their own with
    ``state="editorial_note"``, page furniture is in none.

    Args:
        chunk_size: the most tokens of a chunk's whole prepared text.
        chunk_overlap: the target for text shared with the chunk before; inside a provision only.
        expand_references: ``"none"``, no keys for references; ``"ids"``, the addresses that the chunk cites
            in ``references``
            and citations of other acts in ``external_references``; ``"text"``, also the cited text as
            further spans of the chunk, as far as the budget allows. What had no room is counted in
            ``references_left_out``.
        reference_direction: ``"out"``, what a chunk cites; ``"in"``, what cites it (key ``referenced_by``);
            or ``"both"``.
        tokenization: the model's tokens; the default model's if neither this nor ``length_function`` is
            given.
        length_function: a function that counts a text, as other LangChain splitters take it.
        add_context_header: put the context header in front of ``page_content``.

    Raises:
        InputError: if ``expand_references`` or ``reference_direction`` is none of these, or the budget is
            not positive.

    Example:
        >>> text = "Artículo 1. Objeto.\n\nRegula la caja.\n\nArtículo 2. Plazo.\n\nRige el artículo 1 de esta ley."
        >>> splitter = RegulationTextSplitter(64, length_function=lambda t: len(t.split()))
        >>> chunks = splitter.create_documents([text], [{"doc_type": "regulation"}])
        >>> [(chunk.metadata["address"], chunk.metadata.get("references")) for chunk in chunks]
        [('art:1', None), ('art:2', ['art:1'])]
    """

    kind: ClassVar[str] = "regulation"

    def __init__(
        self,
        chunk_size: int = 512,
        chunk_overlap: int = 0,
        *,
        expand_references: ExpandReferences = "ids",
        reference_direction: ReferenceDirection = "out",
        tokenization: Tokenization | None = None,
        length_function: Callable[[str], int] | None = None,
        add_context_header: bool = False,
    ) -> None:
        super().__init__(
            chunk_size,
            chunk_overlap,
            tokenization=tokenization,
            length_function=length_function,
            add_context_header=add_context_header,
        )
        for name, value, known in (
            ("expand_references", expand_references, get_args(ExpandReferences)),
            ("reference_direction", reference_direction, get_args(ReferenceDirection)),
        ):
            if value not in known:
                raise InputError(f"{name!r} of {type(self).__name__} must be one of {known}. Got {value!r}.")
        self.expand_references = expand_references
        self.reference_direction = reference_direction

    @property
    def settings(self) -> str:
        """Name everything besides the text that shapes the chunks; part of every chunk's id."""
        return f"{super().settings}|{self.expand_references}|{self.reference_direction}"

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> RegulationOutline:
        statute = read_statute(text, metadata=metadata, markup=markup)
        outline = outline_of(statute, text)
        return RegulationOutline(outline.sections, outline.warnings, outline.furniture, statute)

    def _chunks(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> list[Chunk]:
        """Cut a statute between its provisions, and tell each chunk its address and references."""
        if not isinstance(outline, RegulationOutline):  # sections given from outside
            return super()._chunks(text, outline, metadata)
        statute = outline.statute
        whole = replace(outline_of(statute, text, whole_provisions=True), furniture=outline.furniture)
        places = _Places(statute, self.reference_direction)
        joined = _Joined(self, text, whole, metadata, places) if self.expand_references == "text" else None
        chunks = chunk_text(
            text,
            whole,
            metadata,
            config=self.config,
            tokenization=self.tokenization,
            joined=joined.joined if joined else nothing_joined,
        )
        return [self._described_chunk(chunk, places, joined) for chunk in chunks]

    def _described_chunk(self, chunk: Chunk, places: _Places, joined: _Joined | None) -> Chunk:
        """Replace the keys of a chunk's section by those of the text that the chunk itself shows."""
        section = chunk.section
        kept: dict[str, MetadataValue] = {k: v for k, v in section.metadata.items() if k not in _REFERENCE_KEYS}
        if section.metadata.get(STATE) == "editorial_note":
            return replace(chunk, kind="note", section=replace(section, metadata=kept))
        start = max(chunk.pieces[0].start, min(section.span.start, chunk.pieces[-1].end))
        body = Span(start, chunk.pieces[-1].end)
        kept |= places.keys(body)
        if self.expand_references != "none":
            kept |= places.reference_keys(body)
        if joined is not None:
            left_out = len(joined.wanted(body)) - (len(chunk.spans) - len(chunk.pieces))
            if left_out > 0 and chunk.kind != "table":
                kept[LEFT_OUT] = left_out
        return replace(chunk, section=replace(section, metadata=kept))


class _Places:
    """Find provisions and references by offset."""

    def __init__(self, statute: Statute, direction: ReferenceDirection) -> None:
        self.statute = statute
        self._provisions = [p for p in statute.provisions if not p.transparent]
        self._starts = [p.span.start for p in self._provisions]
        self._references = statute.references
        self._reference_starts = [ref.span.start for ref in statute.references]
        self._outward = direction in ("out", "both")
        self._citing: dict[str, list[Reference]] = {}
        if direction in ("in", "both"):
            for ref in statute.references:
                for target in ref.targets:
                    self._citing.setdefault(target, []).append(ref)

    def inside(self, body: Span) -> Iterator[Provision]:
        """Yield the provisions that begin in a body."""
        for provision in self._provisions[bisect_left(self._starts, body.start) :]:
            if provision.span.start >= body.end:
                return
            yield provision

    def holding(self, body: Span) -> Provision | None:
        """Return the innermost provision that holds a whole body."""
        at = bisect_right(self._starts, body.start) - 1
        steps = 0
        while at >= 0 and steps < 5000:
            if self._provisions[at].span.end >= body.end:
                return self._provisions[at]
            at -= 1
            steps += 1
        return None

    def keys(self, body: Span) -> dict[str, MetadataValue]:
        """Return the address of a body, and the provisions it shows where it is a part of that."""
        holding = self.holding(body)
        if holding is None:
            return {}
        keys: dict[str, MetadataValue] = {ADDRESS: holding.address}
        if len(body) < len(holding.span):
            shown = _outermost(self.inside(body), holding)
            before = self.holding(Span(body.start, body.start + 1))
            if before is not None and before is not holding and before.span.start < body.start:
                shown.insert(0, before.address)
            if shown:
                keys[PROVISIONS] = list(dict.fromkeys(shown))
        return keys

    def cited(self, body: Span) -> Sequence[Reference]:
        """Return the references that stand in a body."""
        first = bisect_left(self._reference_starts, body.start)
        last = bisect_left(self._reference_starts, body.end)
        return self._references[first:last]

    def citing(self, body: Span) -> list[Reference]:
        """Return the references from elsewhere to what a body shows."""
        addresses = [p.address for p in self.inside(body)]
        holding = self.holding(body)
        if holding is not None:
            addresses.append(holding.address)
        found = [ref for address in dict.fromkeys(addresses) for ref in self._citing.get(address, ())]
        return [ref for ref in found if not (body.start <= ref.span.start < body.end)]

    def reference_keys(self, body: Span) -> dict[str, MetadataValue]:
        """Return the keys that name what a body cites and what cites it."""
        keys = reference_keys(self.cited(body)) if self._outward else {}
        sources = list(dict.fromkeys(ref.source for ref in self.citing(body) if ref.source))
        return keys | ({REFERENCED_BY: sources} if sources else {})

    def joined_provisions(self, body: Span) -> list[Provision]:
        """Return the provisions to show beside a body: what it cites, then what cites it."""
        found: list[Provision] = []
        targets = [t for ref in self.cited(body) for t in ref.targets] if self._outward else []
        targets += [ref.source for ref in self.citing(body)]
        for target in dict.fromkeys(targets):
            provision = self.statute.find(target)
            if provision is None or provision.span.overlaps(body):
                continue
            if provision.kind not in (
                "book",
                "part",
                "title",
                "chapter",
                "section",
                "subsection",
                "subpart",
                "standard",
            ):
                found.append(provision)
        return found[:_MOST_JOINED]


def _outermost(provisions: Iterator[Provision], holding: Provision) -> list[str]:
    shown: list[str] = []
    end = -1
    for provision in provisions:
        if provision is not holding and provision.span.start >= end:
            shown.append(provision.address)
            end = provision.span.end
    return shown


class _Joined:
    """Choose the cited text that fits beside a body."""

    def __init__(
        self,
        splitter: RegulationTextSplitter,
        text: str,
        outline: Outline,
        metadata: Mapping[str, object],
        places: _Places,
    ) -> None:
        self._text = text
        self._metadata = metadata
        self._tokenization = splitter.tokenization
        self._budget = splitter.config.max_tokens
        self._places = places
        self._sections = list(outline.sections)
        self._starts = [s.span.start for s in self._sections]
        self._known: dict[Span, tuple[Span, ...]] = {}

    def wanted(self, body: Span) -> list[Span]:
        """Return the spans that a body asks for, those without room included."""
        spans: list[Span] = []
        for provision in self._places.joined_provisions(body):
            if not any(span.contains(provision.span) for span in spans):
                spans.append(provision.span)
        return spans

    def joined(self, body: Span) -> Sequence[Span]:
        """Return what is joined to a body: cited provisions, whole ones, as many as the budget has room for."""
        if body not in self._known:
            self._known[body] = self._fitting(body)
        return self._known[body]

    def _fitting(self, body: Span) -> tuple[Span, ...]:
        wanted = self.wanted(body)
        if not wanted:
            return ()
        header = self._header(body)
        kept: list[Span] = []
        for span in wanted:
            shown = "\n\n".join(part.slice(self._text) for part in (body, *kept, span))
            if self._tokenization.count(shown, header=header) <= self._budget:
                kept.append(span)
        return tuple(kept)

    def _header(self, body: Span) -> str:
        """Return the header of the section that a body stands in, as its chunk will have it."""
        at = bisect_right(self._starts, body.start) - 1
        while at >= 0 and self._sections[at].span.end < body.end:
            at -= 1
        path = self._sections[at].path if at >= 0 else ()
        return context_header(self._metadata, path, tokenization=self._tokenization, max_tokens=self._budget)
