"""What is known of a statute: provisions, references, notes; all of them spans of the canonical text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fin_rag.schema import Span
from fin_rag.structure.regulation.address import address_key

INTERNAL, EXTERNAL = "internal", "external"


@dataclass(frozen=True, slots=True)
class Provision:
    """Name a part of a statute: a container, an article, a paragraph, a point.

    ``address`` says which (``art:12/par:3/pt:b``); ``path`` names the parts above it, the outermost first,
    each by its own step (``title:I``, ``art:12``, ``par:3``). ``span`` begins at the label and takes in
    everything below; ``gaps`` are the editors' notes and page furniture inside it, which are no text of the
    law. ``state`` is ``reserved`` or ``deleted`` where there is no text, else empty.
    """

    address: str
    kind: str
    number: str
    heading: str
    path: tuple[str, ...]
    span: Span
    label: Span
    level: int
    state: str = ""
    gaps: tuple[Span, ...] = ()
    transparent: bool = False

    def text(self, canonical: str) -> str:
        """Return the words of the provision, without its gaps."""
        return "\n".join(span.slice(canonical) for span in self.parts())

    def parts(self) -> Iterator[Span]:
        """Yield the spans between the gaps."""
        at = self.span.start
        for gap in self.gaps:
            if gap.start > at:
                yield Span(at, gap.start)
            at = max(at, gap.end)
        if at < self.span.end:
            yield Span(at, self.span.end)


@dataclass(frozen=True, slots=True)
class Reference:
    """Hold one cross-reference where it is printed.

    ``source`` is the address of the provision that cites. Internal references have ``targets``, addresses in
    this text; those that are not in it are in ``missing`` too. External ones name their ``act``;
    ``provisions`` are the addresses they cite inside that act.
    """

    span: Span
    source: str
    scope: str
    targets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    act: str = ""
    provisions: tuple[str, ...] = ()

    @property
    def resolved(self) -> bool:
        """Tell whether every target is in the text."""
        return self.scope == INTERNAL and bool(self.targets) and not self.missing


@dataclass(frozen=True, slots=True)
class EditorNote:
    """Mark an editor's note, footnote or question beside the law, with the provision where it stands."""

    span: Span
    owner: str


@dataclass(frozen=True, slots=True)
class Statute:
    """Hold the whole structure of one statute, and find provisions by address.

    ``name`` is how the act calls itself (``Ley 9/2031``), as far as it says; ``system`` the family of
    statutes (``civil``, ``cfr``, ``basel``, ``fca``, ``finra``).
    """

    name: str
    system: str
    provisions: tuple[Provision, ...]
    references: tuple[Reference, ...] = ()
    notes: tuple[EditorNote, ...] = ()
    furniture: tuple[Span, ...] = ()
    warnings: tuple[str, ...] = ()
    _by_key: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)

    def find(self, address: str) -> Provision | None:
        """Return the first provision with that address, or ``None``; accents and blanks do not matter."""
        at = self._by_key.get(address_key(address))
        return None if at is None else self.provisions[at]

    def references_of(self, address: str) -> tuple[Reference, ...]:
        """Return the references that stand in a provision or below it."""
        found = self.find(address)
        if found is None:
            return ()
        return tuple(ref for ref in self.references if found.span.contains(ref.span))

    def referenced_by(self, address: str) -> tuple[Reference, ...]:
        """Return the references that cite a provision, something below it, or the whole it belongs to."""
        key = address_key(address)
        return tuple(ref for ref in self.references if any(_related(address_key(t), key) for t in ref.targets))

    def at(self, offset: int) -> Provision | None:
        """Return the innermost provision that an offset stands in, or ``None``."""
        return innermost(self.provisions, offset)


def _related(target: str, key: str) -> bool:
    return target == key or target.startswith(f"{key}/") or key.startswith(f"{target}/")


def innermost(provisions: Sequence[Provision], offset: int) -> Provision | None:
    """Return the innermost provision at an offset; provisions are in document order, outer before inner."""
    starts = [provision.span.start for provision in provisions]
    at = bisect_right(starts, offset) - 1
    while at >= 0:
        if provisions[at].span.end > offset:
            return provisions[at]
        at -= 1
    return None


def index_by_key(provisions: Sequence[Provision]) -> dict[str, int]:
    """Return where the first provision with each address stands."""
    found: dict[str, int] = {}
    for at, provision in enumerate(provisions):
        found.setdefault(address_key(provision.address), at)
    return found
