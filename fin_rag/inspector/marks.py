"""What is marked in a document: notes and what calls them, references, facts, links, turns, sections, pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.inspector.flow import Annotation, Point
from fin_rag.schema import (
    CHUNK_INDEX,
    KIND,
    PAGE_MAP,
    START_INDEX,
    TOKEN_COUNT,
    Block,
    InlineFact,
    Markup,
    Outline,
    PageMap,
    SourceDocument,
    Span,
)
from fin_rag.splitters.regulation import RegulationOutline
from fin_rag.structure.calls import CallOutline, Turn
from fin_rag.structure.notes import Marker, find_notes
from fin_rag.structure.regulation import Statute

_MOST_NOTE: Final = 900  # code points of a note that the page shows beside its mark
_INLINE_FACT: Final = 240  # longer facts are whole notes; they are named where they begin


@dataclass(slots=True)
class Marks:
    """Collect annotations, points, and the plain data that the page looks things up in."""

    annotations: list[Annotation] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    data: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def record(self, kind: str, entry: Mapping[str, Any]) -> str:
        """File an entry and return its number."""
        known = self.data.setdefault(kind, [])
        known.append(dict(entry))
        return str(len(known) - 1)

    def add(self, name: str, span: Span, **more: Any) -> None:  # noqa: ANN401  # fields of an annotation
        """Annotate a span."""
        self.annotations.append(Annotation(span, name, **more))

    def point(self, offset: int, html: str, order: int = 0) -> None:
        """Put an element at an offset."""
        self.points.append(Point(offset, html, order))


def collect(document: Document, outline: Outline, chunks: Sequence[Document], parts: Sequence[Block]) -> Marks:
    """Return the marks of a document.

    Args:
        document: a document as ``split_whole`` returns it.
        outline: its sections.
        chunks: its chunks.
        parts: its blocks.
    """
    marks = Marks()
    text = document.page_content
    pages = PageMap.parse(str(document.metadata.get(PAGE_MAP, "")))
    markup = document.markup if isinstance(document, SourceDocument) else Markup()
    for number, section in enumerate(outline):
        marks.point(section.span.start, f'<i class="at" id="s{number}"></i>', 1)
    for page, span in pages.pages:
        label = markup.page_labels.get(page)
        shown = f"page {page}" + (f" (printed {label})" if label and label != str(page) else "")
        marks.point(span.start, f'<i class="page" id="page{page}" data-l="{escape(shown)}"></i>')
    for span in outline.furniture:
        marks.add("furniture", span)
    _facts(marks, text, markup.facts)
    _links(marks, markup)
    if isinstance(outline, CallOutline):
        _turns(marks, outline.turns)
    elif isinstance(outline, RegulationOutline):
        _references(marks, text, outline.statute)
    else:
        _notes(marks, text, outline, pages, parts)
    for chunk in chunks:
        _badge(marks, chunk, document)
    return marks


def _badge(marks: Marks, chunk: Document, document: Document) -> None:
    metadata = chunk.metadata
    number, tokens, kind = metadata[CHUNK_INDEX], metadata[TOKEN_COUNT], metadata[KIND]
    label = f"chunk {number} · {tokens} tokens · {kind}"
    own = {key: value for key, value in metadata.items() if document.metadata.get(key) != value}
    marks.record("chunks", {"id": chunk.id, **own})
    marks.point(
        metadata[START_INDEX],
        f'<button class="badge" type="button" id="c{number}" data-chunk="{number}" data-l="{escape(label)}" '
        f'aria-label="{escape(label)}"></button>',
        3,
    )


def _notes(marks: Marks, text: str, outline: Outline, pages: PageMap, parts: Sequence[Block]) -> None:
    found = find_notes(text, outline=outline, page_map=pages, blocks=parts)
    numbers: dict[str, str] = {}
    for note in found.notes:
        shown = note.text(text)
        number = marks.record(
            "notes", {"marker": note.marker, "kind": note.kind, "text": shown[:_MOST_NOTE], "calls": 0}
        )
        numbers[note.note_id] = number
        marks.point(note.start, f'<i class="at" id="n{number}"></i>', 2)
        if note.kind == "footnote":
            for span in note.spans:
                marks.add("note", span, data={"note": number})
    called: dict[Span, list[str]] = {}
    for join in found.joins:
        number = numbers[join.note.note_id]
        called.setdefault(join.marker.span, []).append(number)
        marks.data["notes"][int(number)]["calls"] += 1
    for span, joined in called.items():
        called_notes = list(dict.fromkeys(joined))
        marks.add("mark", span, data={"mark": " ".join(called_notes)}, href=f"#n{called_notes[0]}")
    # A filing cites laws and forms with bracketed letters; only its tables are sure to lose a note.
    report = type(outline) is Outline
    for marker in _apart(found.unresolved, called):
        if report or marker.table >= 0:
            marks.add("mark lost", marker.span, data={"lost": marker.printed})


def _apart(markers: Iterable[Marker], called: Mapping[Span, object]) -> Iterator[Marker]:
    seen: set[Span] = set(called)
    for marker in markers:
        if marker.span not in seen:
            seen.add(marker.span)
            yield marker


def _references(marks: Marks, text: str, statute: Statute) -> None:
    anchors: dict[str, str] = {}
    for reference in statute.references:
        href = ""
        for target in reference.targets:
            found = statute.find(target)
            if found is None:
                continue
            if found.address not in anchors:
                anchors[found.address] = f"v{len(anchors)}"
                marks.point(found.span.start, f'<i class="at" id="{anchors[found.address]}"></i>', 2)
            href = href or f"#{anchors[found.address]}"
        number = marks.record(
            "references",
            {
                "source": reference.source,
                "text": reference.span.slice(text),
                "scope": reference.scope,
                "targets": list(reference.targets),
                "missing": list(reference.missing),
                "act": reference.act,
                "provisions": list(reference.provisions),
            },
        )
        kind = "ref" if reference.resolved else "ref lost" if reference.scope == "internal" else "ref outside"
        marks.add(kind, reference.span, data={"ref": number}, href=href)
    for note in statute.notes:
        marks.add("editor", note.span)


def _turns(marks: Marks, turns: Sequence[Turn]) -> None:
    for turn in turns:
        exchange = f" · exchange {turn.exchange} {turn.exchange_part}" if turn.exchange else ""
        label = f"turn {turn.index} · {turn.speaker_type}{exchange}"
        number = marks.record(
            "turns",
            {
                "speaker": turn.speaker,
                "type": turn.speaker_type,
                "role": turn.role,
                "firm": turn.firm,
                "section": turn.section,
                "exchange": turn.exchange or None,
                "part": turn.exchange_part,
            },
        )
        marks.point(
            turn.span.start,
            f'<i class="turn {escape(turn.speaker_type)}" id="t{turn.index}" data-turn="{number}" '
            f'data-l="{escape(label)}"></i>',
            2,
        )
        if len(turn.header):
            marks.add("speaker", turn.header, data={"turn": number})


def _facts(marks: Marks, text: str, facts: Sequence[InlineFact]) -> None:
    for fact in facts:
        if fact.span is None:
            continue
        number = marks.record(
            "facts",
            {
                "concept": fact.concept,
                "value": None if fact.value is None else str(fact.value)[:_MOST_NOTE],
                "unit": fact.unit,
                "period": f"{fact.start} to {fact.end}" if fact.start else fact.end,
                "decimals": fact.decimals,
                "scale": fact.scale,
                "dimensions": [f"{axis} = {member}" for axis, member in fact.dimensions],
            },
        )
        if len(fact.span) > _INLINE_FACT or "\n\n" in fact.span.slice(text):
            marks.point(
                fact.span.start,
                f'<i class="block-fact" tabindex="0" data-fact="{number}" data-l="{escape(fact.concept)}"></i>',
                2,
            )
        else:
            marks.add("fact", fact.span, data={"fact": number})


def _links(marks: Marks, markup: Markup) -> None:
    """Mark the links of the source that lead to a place in it."""
    targets: dict[str, str] = {}
    for span, name in markup.links:
        if name not in markup.anchors:
            continue
        if name not in targets:
            targets[name] = f"a{len(targets)}"
            marks.point(markup.anchors[name], f'<i class="at" id="{targets[name]}"></i>')
        marks.add("link", span, href=f"#{targets[name]}")
