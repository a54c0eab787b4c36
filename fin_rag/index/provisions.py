"""Provisions of the statutes in an index: found by address, with what they cite and what cites them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.errors import InputError, NotFoundError
from fin_rag.index.catalogue import Catalogue
from fin_rag.index.filters import parse_filter, scope_filter
from fin_rag.loaders.act_title import ACT
from fin_rag.schema import (
    DOC_ID,
    DOC_TYPE,
    END_INDEX,
    FILED,
    SECTION_PATH,
    SPANS,
    START_INDEX,
    TITLE,
    Outline,
    Section,
    Span,
    format_spans,
)
from fin_rag.splitters.regulation import ADDRESS, RegulationOutline
from fin_rag.structure.regulation import Reference, act_key, act_names, address_key, is_within

_CITES: Final = "cites"
_CODED: Final = ("sec:", "rule:", "para:")  # numbers that are unique in a whole rulebook
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Citation:
    """Hold one cross-reference between provisions of an index.

    ``doc_id`` and ``source`` say which provision cites, ``text`` how, at ``span`` of that document. ``targets``
    are addresses in the document ``target_doc``: the citing one, or the one that holds the act cited; empty
    where the act is not in the index, and ``provisions`` then name what is cited of ``act``. ``missing`` are
    those targets that the document has not.
    """

    doc_id: str
    source: str
    text: str
    span: Span
    scope: str
    act: str = ""
    targets: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    provisions: tuple[str, ...] = ()
    target_doc: str = ""

    @property
    def resolved(self) -> bool:
        """Tell whether everything cited is in the index."""
        return bool(self.target_doc) and not self.missing


def stored_sections(outline: Outline) -> list[dict[str, object]]:
    """Return an outline in the form that the catalogue keeps; statutes with addresses and references."""
    stored: list[dict[str, object]] = [_plain(section) for section in outline]
    if isinstance(outline, RegulationOutline) and stored:
        stored[0][_CITES] = [_written(reference) for reference in outline.statute.references]
    return stored


def _plain(section: Section) -> dict[str, object]:
    kept: dict[str, object] = {
        "section_id": section.section_id, "title": section.title, "path": list(section.path),
        "level": section.level, "start": section.span.start, "end": section.span.end,
    }  # fmt: skip
    return kept | {key: section.metadata[key] for key in (ADDRESS, "state") if key in section.metadata}


def _written(reference: Reference) -> list[object]:
    return [
        reference.span.start, reference.span.end, reference.source, reference.scope, reference.act,
        list(reference.targets), list(reference.missing), list(reference.provisions),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Act:
    """Hold the stored structure of one statute."""

    number: int
    metadata: Mapping[str, Any]
    sections: Sequence[Mapping[str, Any]]
    by_key: Mapping[str, int]
    references: Sequence[Reference]
    names: frozenset[str] = field(default_factory=frozenset)

    @property
    def doc_id(self) -> str:
        return str(self.metadata[DOC_ID])

    @property
    def shown(self) -> str:
        return str(self.metadata.get(ACT) or self.metadata.get(TITLE) or self.doc_id)

    def section(self, address: str) -> Mapping[str, Any] | None:
        at = self.by_key.get(address_key(address))
        return None if at is None else self.sections[at]


class Provisions:
    """Answer questions about the provisions of an index; parsed outlines are kept for as long as it lives."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._parsed: dict[int, _Act] = {}

    def provision(self, address: str, *, act: str | None, doc_id: str | None, session_id: str | None) -> Document:
        """Return one provision as a Document; see ``FilingIndex.provision``."""
        held = self._holding(address, self._chosen(act, doc_id, session_id), act, doc_id)
        section = held.section(address) or {}
        text = self._catalogue.texts([held.number])[held.number]
        spans = _without_notes(held, Span(section["start"], section["end"]))
        keys = {
            **held.metadata,
            ADDRESS: section[ADDRESS],
            SECTION_PATH: " > ".join(section["path"]),
            SPANS: format_spans(spans),
            START_INDEX: section["start"],
            END_INDEX: section["end"],
        }
        if "state" in section:
            keys["state"] = section["state"]
        content = "\n\n".join(span.slice(text).strip() for span in spans)
        return Document(id=f"{held.doc_id}#{section[ADDRESS]}", page_content=content, metadata=keys)

    def references_of(
        self, address: str, *, act: str | None, doc_id: str | None, session_id: str | None
    ) -> list[Citation]:
        """Return what a provision and those below it cite, in order."""
        held = self._holding(address, self._chosen(act, doc_id, session_id), act, doc_id)
        section = held.section(address) or {}
        span = Span(section["start"], section["end"])
        others = self._visible(session_id)
        text = self._catalogue.texts([held.number])[held.number]
        return [self._citation(held, ref, text, others) for ref in held.references if span.contains(ref.span)]

    def referenced_by(
        self, address: str, *, act: str | None, doc_id: str | None, session_id: str | None
    ) -> list[Citation]:
        """Return what cites a provision, a part of it, or a whole that it belongs to."""
        visible = self._visible(session_id)
        held = self._holding(address, self._chosen(act, doc_id, session_id), act, doc_id)
        found: list[Citation] = []
        for other in visible:
            near = [ref for ref in other.references if self._may_cite(ref, other, held, address)]
            if not near:
                continue
            text = self._catalogue.texts([other.number])[other.number]
            cited = (self._citation(other, ref, text, visible) for ref in near)
            found += [one for one in cited if one.target_doc == held.doc_id]
        return found

    # --- documents ----------------------------------------------------------------------------

    def _visible(self, session_id: str | None) -> list[_Act]:
        wanted = parse_filter({DOC_TYPE: "regulation"}) & scope_filter(session_id)
        ids = [str(metadata[DOC_ID]) for metadata in self._catalogue.document_metadata(wanted)]
        return [act for act in map(self._act, ids) if act is not None]

    def _act(self, doc_id: str) -> _Act | None:
        found = self._catalogue.document(doc_id)
        if found is None:
            return None
        number, metadata, sections = found
        if number not in self._parsed:
            self._parsed[number] = _parsed(number, metadata, sections)
        return self._parsed[number]

    def _chosen(self, act: str | None, doc_id: str | None, session_id: str | None) -> list[_Act]:
        """Return the statutes that a question is about."""
        visible = self._visible(session_id)
        if not visible:
            raise NotFoundError("There is no statute in the index. Add one, with doc_type='regulation' if need be.")
        chosen = [one for one in visible if doc_id is None or one.doc_id == doc_id]
        if act is not None:
            key = act_key(act)
            chosen = [one for one in chosen if key in one.names or act_key(one.shown) == key]
        if chosen:
            return chosen
        wanted = act if act is not None else str(doc_id)
        known = [one.shown if act is not None else one.doc_id for one in visible]
        near = difflib.get_close_matches(wanted, known, _MOST_NAMED) or sorted(known)[:_MOST_NAMED]
        raise NotFoundError(f"The index holds no act {wanted!r}. There are, among others: {', '.join(near)}.")

    @staticmethod
    def _holding(address: str, chosen: Sequence[_Act], act: str | None, doc_id: str | None) -> _Act:
        """Return the one statute that has an address."""
        if not address.strip():
            raise InputError(f"An address must read like 'art:12/par:3'. Got {address!r}.")
        having = [one for one in chosen if one.section(address) is not None]
        if len(having) == 1:
            return having[0]
        if having:
            names = ", ".join(f"{one.shown} ({one.doc_id})" for one in having[:_MOST_NAMED])
            raise InputError(
                f"{len(having)} acts have a provision {address!r}: {names}. Say which by 'act' or 'doc_id'."
            )
        keys = [str(section[ADDRESS]) for one in chosen for section in one.sections if ADDRESS in section]
        near = difflib.get_close_matches(address, list(dict.fromkeys(keys)), _MOST_NAMED)
        hint = f" Near it: {', '.join(near)}." if near else ""
        where = f" in {act or doc_id}" if act or doc_id else ""
        raise NotFoundError(f"There is no provision {address!r}{where}.{hint}")

    # --- references ---------------------------------------------------------------------------

    @staticmethod
    def _may_cite(ref: Reference, other: _Act, held: _Act, address: str) -> bool:
        if ref.scope == "internal":
            named = ref.targets if other is held else ref.missing
        else:
            named = ref.provisions if other is not held and act_key(ref.act) in held.names else ()
        return any(is_within(one, address) or is_within(address, one) for one in named)

    @staticmethod
    def _citation(held: _Act, ref: Reference, text: str, others: Iterable[_Act]) -> Citation:
        """Complete a reference with the document that its act is in."""
        target_doc, targets, missing = held.doc_id, ref.targets, ref.missing
        if ref.scope != "internal":
            home = _home(ref, held, others)
            target_doc, targets, missing = "", (), ()
            if home is not None:
                target_doc, targets = home.doc_id, tuple(_known(home, address) for address in ref.provisions)
                missing = tuple(address for address in targets if home.section(address) is None)
        elif missing and len(missing) == len(targets):
            home = _other_part(missing, held, others)
            if home is not None:
                target_doc, missing = home.doc_id, ()
        return Citation(
            doc_id=held.doc_id,
            source=ref.source,
            text=" ".join(ref.span.slice(text).split()),
            span=ref.span,
            scope=ref.scope,
            act=ref.act,
            targets=targets,
            missing=missing,
            provisions=ref.provisions,
            target_doc=target_doc,
        )


def _parsed(number: int, metadata: Mapping[str, Any], sections: Sequence[Mapping[str, Any]]) -> _Act:
    by_key: dict[str, int] = {}
    for at, section in enumerate(sections):
        if ADDRESS in section and section.get("state") != "editorial_note":
            by_key.setdefault(address_key(section[ADDRESS]), at)
    rows = sections[0].get(_CITES, []) if sections else []
    references = [
        Reference(Span(row[0], row[1]), row[2], row[3], tuple(row[5]), tuple(row[6]), row[4], tuple(row[7]))
        for row in rows
    ]
    addresses = (str(section[ADDRESS]) for section in sections if ADDRESS in section)
    names = act_names(str(metadata.get(ACT) or ""), str(metadata.get(TITLE) or ""), addresses)
    return _Act(number, metadata, sections, by_key, references, names)


def _home(ref: Reference, held: _Act, others: Iterable[_Act]) -> _Act | None:
    """Return the statute of the index that a reference names; of several texts of one act the last one filed."""
    key = act_key(ref.act)
    found = [one for one in others if key in one.names and one is not held]
    if len({one.metadata.get(TITLE) for one in found}) != 1:
        return None  # none, or acts of several authorities under one number
    return max(found, key=lambda one: (int(one.metadata.get(FILED) or 0), one.doc_id))


def _other_part(missing: Sequence[str], held: _Act, others: Iterable[_Act]) -> _Act | None:
    """Return the one other document that has sections of a code which the citing document lacks."""
    if not all(address.startswith(_CODED) for address in missing):
        return None
    found = [one for one in others if one is not held and all(one.section(address) for address in missing)]
    return found[0] if len(found) == 1 else None


def _known(act: _Act, address: str) -> str:
    """Return an address as the act has it, where it has it."""
    found = act.section(address)
    return str(found[ADDRESS]) if found else address


def _without_notes(act: _Act, span: Span) -> list[Span]:
    """Return the parts of a provision between the editors' notes inside it."""
    parts: list[Span] = []
    at = span.start
    for note in _notes(act.sections):
        if note.end <= span.start or note.start >= span.end:
            continue
        if note.start > at:
            parts.append(Span(at, note.start))
        at = max(at, note.end)
    if at < span.end:
        parts.append(Span(at, span.end))
    return parts


def _notes(sections: Iterable[Mapping[str, Any]]) -> Iterator[Span]:
    for section in sections:
        if section.get("state") == "editorial_note":
            yield Span(section["start"], section["end"])
