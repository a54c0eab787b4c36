"""Read a statute: tree, then references, as one frozen value."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from fin_rag.schema import TITLE, Markup, Span
from fin_rag.structure.regulation.build import Built, build
from fin_rag.structure.regulation.lines import merged
from fin_rag.structure.regulation.model import EditorNote, Provision, Reference, Statute, index_by_key
from fin_rag.structure.regulation.nodes import Node


def read_statute(text: str, *, metadata: Mapping[str, object] | None = None, markup: Markup | None = None) -> Statute:
    r"""Read the hierarchy, the notes and the cross-references of a statute.

    Spanish laws and circulars, EU acts, the Code of Federal Regulations, the Basel framework, the FCA
    Handbook and FINRA rules are told apart by their headings. Odd text never raises: it gives fewer
    provisions, and warnings.

    Args:
        text: the canonical text.
        metadata: keys of the document; only ``title`` is read, for the act's own name.
        markup: what the loader saw, if anything.

    Example:
        >>> law = read_statute("Artículo 1. Objeto.\n\n1. Regula la caja.\n\n2. Salvo el apartado anterior.")
        >>> [p.address for p in law.provisions], law.references[0].targets
        (['art:1', 'art:1/par:1', 'art:1/par:2'], ('art:1/par:1',))
    """
    from fin_rag.structure.regulation.references import find_references, own_names

    built = build(text, markup or Markup())
    gaps = merged([*(span for span, _ in built.notes), *built.furniture])
    nodes = _in_order(built.nodes)
    provisions = _provisions(text, nodes, gaps)
    notes = _notes(built)
    title = (metadata or {}).get(TITLE)
    names = own_names(built, str(title) if isinstance(title, str) else "")
    found: tuple[Reference, ...] = find_references(built, provisions, names)
    warnings = [*built.warnings, *_repeated(provisions), *_unresolved(found)]
    return Statute(
        name=names.shown,
        system=built.scan.system,
        provisions=provisions,
        references=found,
        notes=notes,
        furniture=merged(built.furniture),
        warnings=tuple(warnings),
        _by_key=index_by_key(provisions),
    )


def _in_order(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (node.start, -node.end))


def _provisions(text: str, nodes: Sequence[Node], gaps: Sequence[Span]) -> tuple[Provision, ...]:
    starts = [gap.start for gap in gaps]
    made: list[Provision] = []
    for node in nodes:
        end = _trimmed_end(text, node, gaps, starts)
        span = Span(node.start, end)
        first = bisect_left(starts, node.start)
        inside: list[Span] = []
        while first < len(gaps) and gaps[first].start < end:
            inside.append(gaps[first])
            first += 1
        above = node.ancestors()
        made.append(
            Provision(
                address=node.address,
                kind=node.kind,
                number=node.number,
                heading=node.title,
                path=tuple(other.step for other in above if other.kind != "group"),
                span=span,
                label=Span(node.start, max(node.start, min(max(node.label_end, node.title_end), end))),
                level=len(above) + 1,
                state=node.state,
                gaps=tuple(inside),
                transparent=node.kind == "group",
            )
        )
    return tuple(made)


def _trimmed_end(text: str, node: Node, gaps: Sequence[Span], starts: Sequence[int]) -> int:
    """Return where a node ends without blanks; items end before the notes that follow them."""
    end = max(node.end, node.start)
    while True:
        while end > node.start and text[end - 1].isspace():
            end -= 1
        at = bisect_left(starts, end) - 1
        if not node.is_item or at < 0 or gaps[at].end < end or gaps[at].start <= node.start:
            return end
        end = gaps[at].start


def _notes(built: Built) -> tuple[EditorNote, ...]:
    """Join the lines of each note; a blank line alone does not end one owner's notes."""
    joined: list[tuple[Span, Node | None]] = []
    for span, owner in built.notes:
        if joined and joined[-1][1] is owner and not built.view[joined[-1][0].end : span.start].strip(" \n>"):
            joined[-1] = (Span(joined[-1][0].start, span.end), owner)
        else:
            joined.append((span, owner))
    return tuple(EditorNote(span, owner.address if owner is not None else "") for span, owner in joined)


def _repeated(provisions: Sequence[Provision]) -> list[str]:
    """Say which articles are numbered twice in one place."""
    seen: dict[tuple[str, ...], int] = {}
    found: list[str] = []
    for provision in provisions:
        if provision.transparent or (provision.level > 1 and ":" not in provision.address):
            continue
        if provision.kind in (
            "title",
            "chapter",
            "section",
            "subsection",
            "part",
            "subpart",
            "book",
            "preamble",
        ):
            continue
        key = (provision.address,)
        if key in seen:
            found.append(f"{provision.address} is numbered twice; the second stands at {provision.span.start}")
        seen[key] = provision.span.start
    return found[:50]


def _unresolved(found: Sequence[Reference]) -> list[str]:
    """Say how many internal references lead out of the text."""
    missing = [ref for ref in found if ref.scope == "internal" and not ref.resolved]
    if not missing:
        return []
    named = ", ".join(dict.fromkeys(target for ref in missing for target in ref.missing))
    return [f"{len(missing)} internal reference(s) have no target in this text: {named[:300]}"]
