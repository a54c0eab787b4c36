"""One document of an index as it is read: text, sections, pages and lines."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

from fin_rag.index.catalogue import Catalogue
from fin_rag.schema import MetadataValue, PageMap, Section, Span

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Line:
    """Mark one line that is not blank.

    ``number`` counts all lines of the document from 1, ``page`` is absent where there are no pages, and
    ``section_id`` names the innermost section that the line stands in; it is empty outside of all.
    """

    number: int
    span: Span
    section_id: str
    page: int | None


@dataclass(frozen=True)
class DocumentView:
    r"""Hold the text of one document with what is known about its places.

    Example:
        >>> view = DocumentView(0, "d1", "# A\n\nNet sales.", {}, (), PageMap(()))
        >>> [(line.number, line.span.slice(view.text)) for line in view.lines]
        [(1, '# A'), (3, 'Net sales.')]
    """

    number: int
    doc_id: str
    text: str
    metadata: Mapping[str, MetadataValue]
    sections: tuple[Section, ...]
    pages: PageMap

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Return the lines that are not blank, in order."""
        return tuple(self._lines())

    @cached_property
    def _line_starts(self) -> list[int]:
        return [line.span.start for line in self.lines]

    def lines_in(self, span: Span) -> Sequence[Line]:
        """Return the lines that begin inside ``span``, and the one that it begins in."""
        low = bisect_right(self._line_starts, span.start)
        if low and self.lines[low - 1].span.end > span.start:
            low -= 1
        return self.lines[low : bisect_right(self._line_starts, max(span.end - 1, span.start))]

    def section_of(self, span: Span) -> Section | None:
        """Return the innermost section that holds the whole span, or ``None``."""
        holding = [section for section in self.sections if section.span.contains(span)]
        return min(holding, key=lambda section: (len(section.span), -section.level), default=None)

    def section(self, section_id: str) -> Section | None:
        """Return the section with that id, or ``None``."""
        return next((section for section in self.sections if section.section_id == section_id), None)

    def pages_of(self, span: Span) -> tuple[int, int] | None:
        """Return first and last page of a span, or ``None`` where there are no pages."""
        return self.pages.range(span)

    def _lines(self) -> Iterator[Line]:
        ordered = sorted(self.sections, key=lambda section: (section.span.start, -section.span.end, section.level))
        pages = self.pages.pages
        open_: list[Section] = []
        at, next_section, page = 0, 0, 0
        for number, raw in enumerate(self.text.split("\n"), 1):
            start, at = at, at + len(raw) + 1
            stripped = raw.strip()
            if not stripped:
                continue
            first = start + (len(raw) - len(raw.lstrip()))
            while next_section < len(ordered) and ordered[next_section].span.start <= first:
                open_.append(ordered[next_section])
                next_section += 1
            while open_ and open_[-1].span.end <= first:
                open_.pop()
            while page < len(pages) and pages[page][1].end <= first:
                page += 1
            known = page < len(pages) and pages[page][1].start <= first
            yield Line(
                number,
                Span(first, first + len(stripped)),
                open_[-1].section_id if open_ else "",
                pages[page][0] if known else None,
            )

    # --- data frames --------------------------------------------------------------------------

    def line_frame(self) -> pd.DataFrame:
        """Return the lines as a frame: ``line``, ``page``, ``section_id``, ``start``, ``end``, ``text``.

        Raises:
            MissingDependencyError: if pandas is not installed.
        """
        rows = [
            (line.number, line.page, line.section_id, line.span.start, line.span.end, line.span.slice(self.text))
            for line in self.lines
        ]
        return make_frame(rows, ("line", "page", "section_id", "start", "end", "text"))

    def toc_frame(self) -> pd.DataFrame:
        """Return the sections as a frame: ``section_id``, ``title``, ``level``, ``path``, ``page``, ``page_end``,
        ``start``, ``end``.

        Raises:
            MissingDependencyError: if pandas is not installed.
        """  # noqa: D205  # the columns do not fit on one line
        rows = []
        for section in self.sections:
            page, page_end = self.pages.range(section.span) or (None, None)
            span = section.span
            place = (page, page_end, span.start, span.end)
            rows.append((section.section_id, section.title, section.level, section.section_path, *place))
        return make_frame(rows, ("section_id", "title", "level", "path", "page", "page_end", "start", "end"))


def make_frame(rows: Sequence[tuple[object, ...]], columns: tuple[str, ...]) -> pd.DataFrame:
    """Return rows as a data frame; pages are whole numbers that may be missing.

    Raises:
        MissingDependencyError: if pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        from fin_rag.errors import MissingDependencyError

        raise MissingDependencyError("pandas is not installed. Install it with: pip install 'fin-rag[eval]'") from error
    frame = pd.DataFrame(rows, columns=list(columns))
    for name in ("page", "page_end"):
        if name in frame:
            frame[name] = frame[name].astype("Int64")
    return frame


def read_view(catalogue: Catalogue, doc_id: str) -> DocumentView | None:
    """Read a document out of the catalogue; ``None`` if it is not there."""
    found = catalogue.document(doc_id)
    if found is None:
        return None
    number, metadata, outline = found
    text = catalogue.texts([number]).get(number)
    if text is None:  # removed since
        return None
    sections = tuple(_section(entry) for entry in outline)
    return DocumentView(
        number, doc_id, text, metadata, sections, PageMap.parse(catalogue.page_maps([number]).get(number, ""))
    )


def _section(entry: Mapping[str, object]) -> Section:
    path = tuple(str(part) for part in cast("list[str]", entry["path"]))
    span = Span(int(str(entry["start"])), int(str(entry["end"])))
    return Section(str(entry["section_id"]), str(entry["title"]), path, span, int(str(entry["level"])))
