"""Split statutes by provision; chunks know their address and what they cite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Literal, get_args

from fin_rag.errors import InputError
from fin_rag.schema import Chunk, Markup, MetadataValue, Outline, Span
from fin_rag.splitters.chunks import chunk_text
from fin_rag.splitters.cited import ADDRESS, NOTE_STATE, PROVISIONS, STATE, CitedText, Places
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.structure.regulation import Statute, outline_of, read_statute
from fin_rag.tokens import Tokenization

ExpandReferences = Literal["none", "ids", "text"]
ReferenceDirection = Literal["out", "in", "both"]

__all__ = ["ADDRESS", "PROVISIONS", "RegulationOutline", "RegulationTextSplitter"]

LEFT_OUT: Final = "references_left_out"
_REFERENCE_KEYS: Final = ("references", "external_references")


@dataclass(frozen=True, slots=True)
class RegulationOutline(Outline):
    """Hold the outline of a statute together with the statute: provisions, references, notes."""

    statute: Statute = field(default_factory=lambda: Statute("", "", ()))


class RegulationTextSplitter(StructureTextSplitter):
    r"""Split laws, EU acts, circulars, codes and rulebooks by article, norm, section or rule.

    A provision that fits is one chunk; a longer one is cut between its paragraphs. The context header names
    the act and the path. ``address`` is the innermost provision that holds the whole chunk, ``containers`` are the
    titles, chapters or parts that it lies in; a chunk that is a part of a provision lists the paragraphs it shows in
    ``provisions``. Points that are cut off from the sentence that leads to them have it in front of them, as a
    further span. Editors' notes are chunks of their own with ``state="editorial_note"``, page furniture is in none.

    Args:
        chunk_size: the most tokens of a chunk's whole prepared text.
        chunk_overlap: the target for text shared with the chunk before; inside a provision only.
        expand_references: ``"none"``, no keys for references; ``"ids"``, the addresses that the chunk cites in
            ``references`` and citations of other acts in ``external_references``; ``"text"``, also the cited text as
            further spans of the chunk, as far as the budget allows: a provision that fits stays in one chunk, a
            longer one leaves up to a third of the budget to what its parts cite. ``references_left_out`` counts the
            cited provisions that had no room or not enough.
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
        places = Places(statute, text, self.reference_direction)
        cited = CitedText(self, text, whole, metadata, places, with_references=self.expand_references == "text")
        chunks = chunk_text(
            text, whole, metadata, config=self.config, tokenization=self.tokenization, joined=cited.joined
        )
        return [self._described_chunk(chunk, places, cited) for chunk in chunks]

    def _described_chunk(self, chunk: Chunk, places: Places, cited: CitedText) -> Chunk:
        """Replace the keys of a chunk's section by those of the text that the chunk itself shows."""
        section = chunk.section
        kept: dict[str, MetadataValue] = {k: v for k, v in section.metadata.items() if k not in _REFERENCE_KEYS}
        if section.metadata.get(STATE) == NOTE_STATE:
            return replace(chunk, kind="note", section=replace(section, metadata=kept))
        body = Span(chunk.pieces[0].start, chunk.pieces[-1].end)
        kept |= places.keys(body)
        if self.expand_references != "none":
            kept |= places.reference_keys(body)
        left_out = cited.left_out(body, chunk.spans)
        if left_out:
            kept[LEFT_OUT] = left_out
        spans, count = cited.leads_in_front(chunk, body)
        return replace(chunk, spans=spans, token_count=count, section=replace(section, metadata=kept))
