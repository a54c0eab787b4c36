"""Sections of a statute for splitters: containers, provisions, paragraphs, points and notes, with their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from fin_rag.schema import Markup, MetadataValue, Outline, Section, Span
from fin_rag.structure.regulation.address import prefixes
from fin_rag.structure.regulation.lines import plain_text, view_of
from fin_rag.structure.regulation.model import EXTERNAL, INTERNAL, Provision, Reference, Statute
from fin_rag.structure.regulation.statute import read_statute

ADDRESS: Final = "address"
REFERENCES: Final = "references"
EXTERNAL_REFERENCES: Final = "external_references"
STATE: Final = "state"
NOTE_STATE: Final = "editorial_note"
_ITEM_KINDS: Final = frozenset({"par", "pt", "sub", "level"})
_LONGEST_LABEL: Final = 60


def outline_regulation(text: str, *, metadata: Mapping[str, object], markup: Markup | None = None) -> Outline:
    r"""Outline a statute: titles, chapters, articles or rules, paragraphs, points, annexes, editors' notes.

    Sections carry ``address``; those with citations of their own ``references`` (addresses in this text,
    also where the text lacks them) and ``external_references`` (``Ley 10/2014, art:5``); reserved, deleted
    and editorial ones ``state``.

    Args:
        text: the canonical text.
        metadata: keys of the document; ``title`` tells the act's own name.
        markup: what the loader saw, if anything.

    Example:
        >>> text = "CAPÍTULO I. Objeto\n\nArtículo 1. Objeto.\n\n1. Regula la caja.\n\nArtículo 2. Plazo.\n\nUn mes."
        >>> [(s.section_id, s.section_path) for s in outline_regulation(text, metadata={})][1]
        ('art:1', 'CAPÍTULO I. Objeto > Artículo 1. Objeto')
    """
    return outline_of(read_statute(text, metadata=metadata, markup=markup), text)


def outline_of(statute: Statute, text: str, *, whole_provisions: bool = False) -> Outline:
    """Turn a statute into an outline; ``whole_provisions`` leaves paragraphs and points to their article."""
    kept = [p for p in statute.provisions if not (whole_provisions and p.kind in _ITEM_KINDS)]
    view = view_of(text)
    own = _own_references(statute.references, kept)
    ids: dict[str, int] = {}
    sections: list[Section] = []
    titles: list[tuple[int, str]] = []
    for index, provision in enumerate(kept):
        while titles and kept[titles[-1][0]].span.end <= provision.span.start:
            titles.pop()
        shown = label_of(view, provision)
        titles.append((index, shown))
        sections.append(
            Section(
                section_id=_unique(_identity(provision), ids),
                title=shown,
                path=tuple(title for _, title in titles),
                span=provision.span,
                level=len(titles),
                heading=provision.label,
                metadata=_keys(provision, own[index]),
            )
        )
    sections = _with_notes(sections, statute, ids)
    return Outline(tuple(sections), statute.warnings, statute.furniture)


def label_of(view: str, provision: Provision) -> str:
    """Return what a reader calls a provision: its printed label and title."""
    label = plain_text(view[provision.label.start : provision.label.end].lstrip("#> ").replace("\n", " "))
    title = provision.heading
    if provision.kind in _ITEM_KINDS:
        name = label if len(label) <= _LONGEST_LABEL else label[:_LONGEST_LABEL]
        return name or provision.number
    head = label[: -len(title)].rstrip(" .:-–—") if title and label.endswith(title) else label
    if not title:
        return head.rstrip(" .:-–—") or provision.number or provision.kind.capitalize()
    return f"{head}. {title}" if head else title


def _identity(provision: Provision) -> str:
    if "/" in provision.address or not provision.path:
        return provision.address
    if provision.kind in (
        "title",
        "chapter",
        "section",
        "subsection",
        "part",
        "subpart",
        "book",
        "subchapter",
        "group",
    ):
        return "/".join((*provision.path, provision.address))
    return provision.address


def _unique(wanted: str, ids: dict[str, int]) -> str:
    ids[wanted] = ids.get(wanted, 0) + 1
    return wanted if ids[wanted] == 1 else f"{wanted}#{ids[wanted]}"


def _own_references(references: Sequence[Reference], kept: Sequence[Provision]) -> list[list[Reference]]:
    """Give each reference to the innermost kept provision that it stands in."""
    owned: list[list[Reference]] = [[] for _ in kept]
    stack: list[int] = []
    following = 0
    for reference in references:
        while following < len(kept) and kept[following].span.start <= reference.span.start:
            while stack and kept[stack[-1]].span.end <= kept[following].span.start:
                stack.pop()
            stack.append(following)
            following += 1
        while stack and kept[stack[-1]].span.end <= reference.span.start:
            stack.pop()
        if stack:
            owned[stack[-1]].append(reference)
    return owned


def reference_keys(references: Sequence[Reference]) -> dict[str, MetadataValue]:
    """Return the metadata of references: targets in order, and acts with what is cited of them; no empty keys."""
    internal = dict.fromkeys(target for ref in references if ref.scope == INTERNAL for target in ref.targets)
    external: dict[str, None] = {}
    for ref in references:
        if ref.scope == EXTERNAL:
            external |= dict.fromkeys(f"{ref.act}, {address}" for address in ref.provisions) or {ref.act: None}
    keys: dict[str, MetadataValue] = {}
    if internal:
        keys[REFERENCES] = list(internal)
    if external:
        keys[EXTERNAL_REFERENCES] = list(external)
    return keys


def _keys(provision: Provision, references: Sequence[Reference]) -> dict[str, MetadataValue]:
    keys: dict[str, MetadataValue] = {} if provision.transparent else {ADDRESS: provision.address}
    if provision.state:
        keys[STATE] = provision.state
    return keys | reference_keys(references)


def _with_notes(sections: list[Section], statute: Statute, ids: dict[str, int]) -> list[Section]:
    """Add editors' notes as sections of their own, inside what they stand in."""
    if not statute.notes:
        return sections
    merged: list[Section] = []
    stack: list[Section] = []
    events = sorted(
        [(s.span.start, -s.span.end, 0, i) for i, s in enumerate(sections)]
        + [(n.span.start, -n.span.end, 1, i) for i, n in enumerate(statute.notes)]
    )
    for start, _, is_note, index in events:
        while stack and stack[-1].span.end <= start:
            stack.pop()
        if not is_note:
            stack.append(sections[index])
            merged.append(sections[index])
            continue
        note = statute.notes[index]
        owner = stack[-1] if stack else None
        if owner is not None and not owner.span.contains(note.span):
            continue
        merged.append(_note_section(note.span, owner, note.owner, ids))
    return merged


def _note_section(span: Span, owner: Section | None, address: str, ids: dict[str, int]) -> Section:
    keys: dict[str, MetadataValue] = {STATE: NOTE_STATE}
    if address:
        keys[ADDRESS] = prefixes(address)[0]
    return Section(
        section_id=_unique(f"{owner.section_id if owner else 'document'}/note", ids),
        title="Note",
        path=(*(owner.path if owner else ()), "Note"),
        span=span,
        level=(owner.level if owner else 0) + 1,
        metadata=keys,
    )
