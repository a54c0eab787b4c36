"""Split reports: annual reports, prospectuses, key information documents, research notes, anything else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar, Final, Literal, get_args

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.schema import LANG, PAGE_MAP, Chunk, Markup, Outline, PageMap, Section, Span
from fin_rag.splitters.notes import NoteChunker, ReportView
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.structure.blocks import blocks
from fin_rag.structure.notes import Notes, find_notes
from fin_rag.structure.reports import outline_report
from fin_rag.structure.rows import LinearTables, RowRecord, read_rows
from fin_rag.structure.tables import table_rows
from fin_rag.tokens import Tokenization

TableForm = Literal["markdown", "linear"]
_MOST_WARNINGS: Final = 20
_EXCERPT: Final = 60  # code points


def _excerpt(text: str, span: Span) -> str:
    words = " ".join(span.slice(text).split())
    return repr(words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…")


class FinancialReportTextSplitter(StructureTextSplitter):
    r"""Split annual reports, prospectuses, KIDs, research notes and anything else by headings and tables.

    A chunk that holds a marked figure, label, column head, title or sentence carries exactly the notes that
    its markers call, as further spans behind its body. Notes that had no room are counted in
    ``notes_left_out``; markers whose note is not in the document are listed in ``unresolved_markers`` and in
    the outline's warnings. Numbered notes of the accounts (a column "Nota", "see note 5") are carried where
    all that a chunk refers to fit beside it; they never cut a table. Chunks of tables that state their unit
    have ``currency`` and ``scale``. Long tables are cut between rows under their repeated header, wide ones
    between columns, each cell with its row's label and its column's head.

    Args:
        chunk_size: the most tokens of a chunk's whole prepared text.
        chunk_overlap: the target for text shared with the chunk before, in tokens.
        tokenization: the model's tokens; the default model's if neither this nor ``length_function`` is given.
        length_function: a function that counts a text, as other LangChain splitters take it.
        add_context_header: put the context header in front of ``page_content``.
        detect_markdown_headings: with ``False`` no line is taken for a heading that the source did not mark up
            as one.
        index_notes: make every note a chunk of its own too, of kind ``note``, under the header of the section
            and the row that cite it first; ``cited_by`` lists all. Short notes crowd out the tables that cite
            them where nothing filters by issuer and year, so this is off by default: a note is then a chunk
            only where no other chunk carries it.
        tables: how a model reads tables. ``"markdown"``: as printed. ``"linear"``: each row in words
            ("Sales: 2031 = 1,204 EUR million"). Either way ``page_content`` is exactly the slices of the spans,
            so that a citation shows the table; the words are in ``prepared_body``, they are what
            :func:`~fin_rag.splitters.chunks.prepared_text` returns and ``token_count`` counts.

    Raises:
        InputError: if ``tables`` is neither of the two, or the budget is not positive or not above the overlap.

    Example:
        >>> text = "## Debt\n\n| Debt | 2031 |\n|---|---|\n| Net debt (1) | 40 |\n\n(1) Without leases."
        >>> chunks = FinancialReportTextSplitter(chunk_size=128, index_notes=True).create_documents([text])
        >>> [(c.metadata["kind"], c.metadata["section_path"], c.metadata["spans"]) for c in chunks]
        [('table', 'Debt', '0-56;58-77'), ('note', 'Debt', '58-77')]
    """

    kind: ClassVar[str] = "report"

    def __init__(
        self,
        chunk_size: int = 512,
        chunk_overlap: int = 0,
        *,
        tokenization: Tokenization | None = None,
        length_function: Callable[[str], int] | None = None,
        add_context_header: bool = False,
        detect_markdown_headings: bool = True,
        index_notes: bool = False,
        tables: TableForm = "markdown",
    ) -> None:
        if tables not in get_args(TableForm):
            raise InputError(f"'tables' of {type(self).__name__} must be one of {get_args(TableForm)}. Got {tables!r}.")
        super().__init__(
            chunk_size,
            chunk_overlap,
            tokenization=tokenization,
            length_function=length_function,
            add_context_header=add_context_header,
        )
        self.detect_markdown_headings = detect_markdown_headings
        self.index_notes = index_notes
        self.tables = tables
        self._last: tuple[str, tuple[Section, ...], ReportView] | None = None

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> Outline:
        outline = outline_report(text, metadata=metadata, markup=markup, detect_markdown=self.detect_markdown_headings)
        lost = self._view(text, outline, metadata).notes.unresolved
        warnings = tuple(
            f"The marker {marker.printed} in {_excerpt(text, marker.anchor)} at offset {marker.span.start} has no note."
            for marker in lost[:_MOST_WARNINGS]
        )
        if len(lost) > _MOST_WARNINGS:
            warnings += (f"{len(lost) - _MOST_WARNINGS} further markers have no note.",)
        return replace(outline, warnings=(*outline.warnings, *warnings))

    def notes(self, document: Document) -> Notes:
        r"""Report the notes of a document, the markers that call them, and markers without a note.

        Example:
            >>> document = Document(page_content="| Sales | 2031 |\n|---|---|\n| North (2) | 40 |")
            >>> [m.printed for m in FinancialReportTextSplitter(64).notes(document).unresolved]
            ['(2)']
        """
        whole = self._described(document)
        return self._view(whole.page_content, self.outline(whole), whole.metadata).notes

    def rows(self, document: Document) -> list[RowRecord]:
        r"""Return every data row of a document's tables, in order, with its values, unit and notes.

        Example:
            >>> document = Document(page_content="| EUR m | 2031 |\n|---|---|\n| Sales | 40 |")
            >>> [(row.label, row.values[0].amount) for row in FinancialReportTextSplitter(64).rows(document)]
            [('Sales', Decimal('40000000'))]
        """
        whole = self._described(document)
        text = whole.page_content
        view = self._view(text, self.outline(whole), whole.metadata)
        return [row for rows in self._rows(text, view, whole.metadata) for row in rows]

    def _view(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> ReportView:
        """Read blocks, tables and notes; the outline's headings are those of the blocks."""
        last = self._last
        if last is not None and last[0] is text and last[1] is outline.sections:
            return last[2]  # the outline was made a moment ago, and its warnings needed the same reading
        headings = tuple((s.heading, s.level) for s in outline if s.heading is not None)
        found = blocks(text, markup=Markup(headings=headings), detect_markdown=self.detect_markdown_headings)
        pages = PageMap.parse(str(metadata.get(PAGE_MAP, "")))
        notes = find_notes(text, outline=outline, page_map=pages, blocks=found)
        tables = [(block, table_rows(text, block)) for block in found if block.kind == "table"]
        view = ReportView(found, tables, notes)
        self._last = (text, outline.sections, view)
        return view

    @staticmethod
    def _rows(text: str, view: ReportView, metadata: Mapping[str, object]) -> list[list[RowRecord]]:
        lang = metadata.get(LANG)
        return [
            read_rows(text, table, block, notes=view.notes, table=number, lang=str(lang) if lang else None)
            for number, (block, table) in enumerate(view.tables)
        ]

    def _chunks(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> list[Chunk]:
        """Cut a report along its outline, with the notes of each chunk beside it."""
        view = self._view(text, outline, metadata)
        linear = None
        if self.tables == "linear":
            rows = self._rows(text, view, metadata)
            parts = [(block, table, row) for (block, table), row in zip(view.tables, rows, strict=True)]
            linear = LinearTables(text, parts, lang=str(metadata.get(LANG) or "en"))
        chunker = NoteChunker(
            text,
            outline,
            metadata,
            view,
            config=self.config,
            tokenization=self.tokenization,
            linear=linear,
        )
        return chunker.chunks(index_notes=self.index_notes)

    @property
    def settings(self) -> str:
        """Name everything besides the text that shapes the chunks; part of every chunk's id."""
        plain = "" if self.detect_markdown_headings else "|plain"
        return f"{super().settings}{plain}|{self.index_notes}|{self.tables}"
