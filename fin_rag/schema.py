"""Data types and metadata keys that every stage shares.

Nothing here knows a file format, a store or a model. The metadata of a chunk is a flat mapping of
the keys below to scalars (or flat lists of strings); a key without a value is absent, never ``None``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from langchain_core.documents import Document
from pydantic import ConfigDict, Field

from fin_rag.display import html_table
from fin_rag.errors import InputError

Scalar: TypeAlias = str | int | float | bool
MetadataValue: TypeAlias = Scalar | list[str]

# --- keys of a document, inherited by each of its chunks --------------------------------------
DOC_ID: Final = "doc_id"
SOURCE: Final = "source"
TEXT_SHA256: Final = "text_sha256"
TITLE: Final = "title"
DOC_TYPE: Final = "doc_type"
ISSUER: Final = "issuer"
TICKER: Final = "ticker"
CIK: Final = "cik"
FISCAL_YEAR: Final = "fiscal_year"
FISCAL_PERIOD: Final = "fiscal_period"
PERIOD_END: Final = "period_end"
FILED: Final = "filed"
LANG: Final = "lang"
SOURCE_SCOPE: Final = "source_scope"
SESSION_ID: Final = "session_id"

# --- keys of a document that its chunks do not inherit ----------------------------------------
PAGE_MAP: Final = "page_map"

# --- keys of a chunk --------------------------------------------------------------------------
SECTION_ID: Final = "section_id"
SECTION_PATH: Final = "section_path"
ITEM: Final = "item"
ITEM_TITLE: Final = "item_title"
PART: Final = "part"
KIND: Final = "kind"
SPANS: Final = "spans"
START_INDEX: Final = "start_index"
END_INDEX: Final = "end_index"
PARENT_START: Final = "parent_start"
PARENT_END: Final = "parent_end"
PAGE: Final = "page"
PAGE_END: Final = "page_end"
CHUNK_INDEX: Final = "chunk_index"
CONTEXT_HEADER: Final = "context_header"
BODY_OFFSET: Final = "body_offset"
PREPARED_BODY: Final = "prepared_body"
TOKEN_COUNT: Final = "token_count"
OVERLAP_TOKENS: Final = "overlap_tokens"
CURRENCY: Final = "currency"
SCALE: Final = "scale"
STATEMENT_TYPE: Final = "statement_type"
STATEMENT_BASIS: Final = "statement_basis"
PERIOD_ENDS: Final = "period_ends"

# --- keys of a result, never written back to the store ----------------------------------------
SCORE: Final = "score"
RANK: Final = "rank"
FOUND_BY: Final = "found_by"
REASON: Final = "reason"
CHUNK_ID: Final = "chunk_id"
PARENT_ID: Final = "parent_id"

# The type that each contract key must have wherever it is present.
KEY_TYPES: Final[Mapping[str, type]] = {
    DOC_ID: str, SOURCE: str, TEXT_SHA256: str, TITLE: str, DOC_TYPE: str, ISSUER: str, TICKER: str,
    CIK: str, FISCAL_YEAR: int, FISCAL_PERIOD: str, PERIOD_END: int, FILED: int, LANG: str,
    SOURCE_SCOPE: str, SESSION_ID: str, SECTION_ID: str, SECTION_PATH: str, ITEM: str,
    ITEM_TITLE: str, PART: str, "speaker": str, "speaker_type": str, "role": str, "firm": str,
    "section": str, "turn_index": int, "exchange": int, "exchange_part": str, "address": str,
    "references": list, "external_references": list, KIND: str, SPANS: str, START_INDEX: int,
    END_INDEX: int, PARENT_START: int, PARENT_END: int, PAGE: int, PAGE_END: int, CHUNK_INDEX: int,
    CONTEXT_HEADER: str, BODY_OFFSET: int, PREPARED_BODY: str, TOKEN_COUNT: int, OVERLAP_TOKENS: int,
    CURRENCY: str, SCALE: int, STATEMENT_TYPE: str, STATEMENT_BASIS: str, PERIOD_ENDS: list,
}  # fmt: skip

# What every chunk carries, whatever its document.
REQUIRED_CHUNK_KEYS: Final = frozenset({
    DOC_ID, SOURCE, TEXT_SHA256, TITLE, DOC_TYPE, LANG, SOURCE_SCOPE, SECTION_ID, SECTION_PATH, KIND,
    SPANS, START_INDEX, END_INDEX, PARENT_START, PARENT_END, CHUNK_INDEX, CONTEXT_HEADER, TOKEN_COUNT,
    OVERLAP_TOKENS,
})  # fmt: skip

# Keys that describe a place in a document or a result; they are never inherited from a source document.
CHUNK_ONLY_KEYS: Final = frozenset({
    SECTION_ID, SECTION_PATH, ITEM, ITEM_TITLE, PART, KIND, SPANS, START_INDEX, END_INDEX, PARENT_START,
    PARENT_END, PAGE, PAGE_END, CHUNK_INDEX, CONTEXT_HEADER, BODY_OFFSET, PREPARED_BODY, TOKEN_COUNT,
    OVERLAP_TOKENS, SCORE, RANK, FOUND_BY, REASON, CHUNK_ID, PARENT_ID,
})  # fmt: skip

DOC_TYPES: Final = (
    "10-K", "10-Q", "8-K", "20-F", "40-F", "6-K", "earnings_call", "regulation", "annual_report",
    "prospectus", "kid", "research", "report",
)  # fmt: skip
CHUNK_KINDS: Final = ("prose", "table", "list", "note", "turn", "mixed")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Mark a part of a canonical text.

    Offsets are 0-based Unicode code points, end-exclusive, and always index the canonical text of
    the whole document. "€ 1,2" is five code points, whatever its UTF-8 or UTF-16 length.

    Raises:
        InputError: if ``start`` is negative or ``end`` comes before ``start``.

    Example:
        >>> Span(2, 5).slice("€ 1,2")
        '1,2'
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if self.start < 0 or self.end < self.start:
            raise InputError(
                f"A span needs 0 <= start <= end. Got start={self.start!r}, end={self.end!r}. "
                "Offsets are 0-based code points, end-exclusive."
            )

    def __len__(self) -> int:
        return self.end - self.start

    def slice(self, text: str) -> str:
        """Return the marked part of ``text``."""
        return text[self.start : self.end]

    def contains(self, other: Span) -> bool:
        """Tell whether ``other`` lies wholly inside this span."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Span) -> bool:
        """Tell whether the two spans share at least one character."""
        return self.start < other.end and other.start < self.end


def format_spans(spans: Iterable[Span]) -> str:
    """Write spans in the form that chunk metadata carry.

    Example:
        >>> format_spans([Span(1577, 1914), Span(1916, 2008)])
        '1577-1914;1916-2008'
    """
    return ";".join(f"{s.start}-{s.end}" for s in spans)


def parse_spans(text: str) -> tuple[Span, ...]:
    """Read what :func:`format_spans` wrote.

    Raises:
        InputError: if ``text`` is not ``start-end`` pairs joined by semicolons.

    Example:
        >>> parse_spans("1577-1914;1916-2008")[1]
        Span(start=1916, end=2008)
    """
    try:
        pairs = [part.split("-") for part in text.split(";")] if text else []
        return tuple(Span(int(a), int(b)) for a, b in pairs)
    except ValueError as error:
        raise InputError(f"Spans must read like '0-10;12-40'. Got {text!r}.") from error


@dataclass(frozen=True, slots=True)
class PageMap:
    """Tell on which page a character stands.

    ``pages`` holds ``(page number, span)`` pairs in order; page numbers are 1-based and positive,
    spans rise and do not overlap. Text between two pages belongs to no page.

    Raises:
        InputError: if the pages are not ordered, overlap, or a number is not positive.

    Example:
        >>> PageMap.parse("1:0-100;2:102-180").range(Span(90, 120))
        (1, 2)
    """

    pages: tuple[tuple[int, Span], ...]

    def __post_init__(self) -> None:
        last_number, last_end = 0, 0
        for number, span in self.pages:
            if number <= last_number or span.start < last_end:
                raise InputError(
                    f"Pages must be positive, in order and apart. Got page {number} at "
                    f"{span.start}-{span.end} after page {last_number} that ends at {last_end}."
                )
            last_number, last_end = number, span.end

    @classmethod
    def parse(cls, text: str) -> PageMap:
        """Read the form that :meth:`format` writes."""
        pages = []
        for part in text.split(";") if text else []:
            number, colon, span = part.partition(":")
            parsed = parse_spans(span)
            if not colon or not number.isdigit() or len(parsed) != 1:
                raise InputError(f"A page map must read like '1:0-100;2:102-180'. Got {text!r}.")
            pages.append((int(number), parsed[0]))
        return cls(tuple(pages))

    def format(self) -> str:
        """Write the map as ``page:start-end`` pairs joined by semicolons."""
        return ";".join(f"{number}:{span.start}-{span.end}" for number, span in self.pages)

    def range(self, span: Span) -> tuple[int, int] | None:
        """Return the first and last page that ``span`` touches, or ``None`` if it touches none."""
        starts = [page.start for _, page in self.pages]
        low = max(bisect_right(starts, span.start) - 1, 0)
        touched = []
        for number, page in self.pages[low:]:
            if page.start >= span.end:
                break
            if page.overlaps(span):
                touched.append(number)
        return (touched[0], touched[-1]) if touched else None


@dataclass(frozen=True, slots=True)
class Section:
    """Name a part of a document.

    ``span`` starts at the heading (if it has one) and includes every sub-section. ``path`` is the
    tuple of titles from the outermost one to this one; ``level`` is 1 for the outermost. ``metadata``
    holds further flat chunk keys (``item``, ``item_title``, ``part``, ``state``, ...).

    Example:
        >>> Section("part1.item1", "Business", ("10-K", "Item 1"), Span(0, 40), level=2).section_path
        '10-K > Item 1'
    """

    section_id: str
    title: str
    path: tuple[str, ...]
    span: Span
    level: int = 1
    heading: Span | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def section_path(self) -> str:
        """Return the path as one string, parts joined by ``' > '``."""
        return " > ".join(self.path)


@dataclass(frozen=True, slots=True)
class Outline:
    """Hold the sections of one document in document order, outer before inner.

    Sections nest or stand apart; they never cross. Sections that share one body (merged Items) have
    equal spans; ``furniture`` marks text that is no content (running heads, page numbers, page tags)
    and belongs to no chunk.

    Example:
        >>> outline = Outline((Section("debt", "Debt", ("Debt",), Span(0, 40)),))
        >>> len(outline), outline.find("debt").span, outline.find("sales")
        (1, Span(start=0, end=40), None)
    """

    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()
    furniture: tuple[Span, ...] = ()

    def __iter__(self) -> Iterator[Section]:
        return iter(self.sections)

    def __len__(self) -> int:
        return len(self.sections)

    def find(self, section_id: str) -> Section | None:
        """Return the section with that id, or ``None``."""
        return next((s for s in self.sections if s.section_id == section_id), None)

    def _repr_html_(self) -> str:
        """Show the sections in a notebook."""
        rows = (
            ("\u2003" * (s.level - 1) + s.title, s.section_id, f"{s.span.start}-{s.span.end}", f"{len(s.span):,}")
            for s in self.sections
        )
        columns = ("section", "id", "characters", "length")
        return html_table(f"{len(self)} sections", columns, rows, notes=self.warnings)


@dataclass(frozen=True, slots=True)
class Block:
    """Mark a run of lines of one kind: ``heading``, ``prose``, ``table``, ``list`` or ``code``.

    ``span`` covers the lines without the blank ones around them. A table's block includes its title
    or unit line where that stands directly above it; ``header`` then marks those lines and the
    header rows, which a row group has to repeat to be readable.
    """

    kind: str
    span: Span
    header: Span | None = None
    level: int = 0


@dataclass(frozen=True, slots=True)
class InlineFact:
    """Hold one inline XBRL fact with the span where it is printed.

    ``value`` is the reported value with scale and sign applied: a ``Decimal`` for ``ix:nonFraction``,
    a string for ``ix:nonNumeric``; ``None`` where the fact is nil. ``start`` and ``end`` are ISO dates
    of a duration; for an instant ``start`` is empty. ``dimensions`` holds ``(axis, member)`` pairs. ``span``
    is ``None`` for a hidden fact. ``scale`` is the power of ten that was applied.
    """

    concept: str
    value: Decimal | str | None
    start: str
    end: str
    unit: str = ""
    decimals: str = ""
    scale: int = 0
    span: Span | None = None
    dimensions: tuple[tuple[str, str], ...] = ()
    format: str = ""
    fact_id: str = ""


@dataclass(frozen=True, slots=True)
class Markup:
    """Carry what a loader saw in the source and plain canonical text cannot say.

    ``anchors`` maps a target name to the offset it points at; ``links`` are ``(span, target name)``
    pairs. ``headings`` marks lines that the source styled as headings, with a rank (1 = most
    prominent). ``running`` marks running heads and page numbers that stand in the text and are no content;
    ``furniture`` counts them, and what was left out of the text, by kind. ``page_labels`` maps a page number
    of the page map to the number printed on that page (``"41"``, ``"F-3"``), where it is known.
    """

    anchors: Mapping[str, int] = field(default_factory=dict)
    links: tuple[tuple[Span, str], ...] = ()
    headings: tuple[tuple[Span, int], ...] = ()
    facts: tuple[InlineFact, ...] = ()
    furniture: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    page_labels: Mapping[int, str] = field(default_factory=dict)
    running: tuple[Span, ...] = ()


class SourceDocument(Document):
    """A LangChain ``Document`` that holds one whole source.

    ``page_content`` is the canonical text and ``metadata`` the document's keys; ``markup`` carries
    anchors, styled headings and inline facts for the structure stage. It works wherever a plain
    ``Document`` does; a plain ``Document`` works everywhere that a ``SourceDocument`` does, with less
    to go by.

    Example:
        >>> document = SourceDocument(page_content="Debt", markup=Markup(headings=((Span(0, 4), 1),)))
        >>> document.markup.headings[0][0].slice(document.page_content)
        'Debt'
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    markup: Markup = Field(default_factory=Markup, exclude=True, repr=False)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Mark a chunk; it holds no text of its own.

    ``spans`` are in the order in which they are read: the body, then what is joined to it. Rows of a
    table that goes on from an earlier chunk have their header's span in front. ``pieces`` are the body's
    own: one span, or several where a running head or page number stands in between. ``header`` is the
    context header, which is no part of the text; counts are tokens of the whole prepared text. ``content`` is
    what the model reads in place of the slices where a splitter was asked to write table rows in words.
    """

    spans: tuple[Span, ...]
    section: Section
    kind: str
    parent: Span
    header: str
    token_count: int
    overlap_tokens: int
    pieces: tuple[Span, ...]
    content: str | None = None

    @property
    def body(self) -> Span:
        """Return the first of the body's spans."""
        return self.pieces[0]

    def text(self, canonical: str) -> str:
        """Return the slices of the spans, joined by a blank line."""
        return "\n\n".join(span.slice(canonical) for span in self.spans)


def clean_metadata(metadata: Mapping[str, object]) -> dict[str, MetadataValue]:
    """Return metadata that every store takes: flat, and without empty values.

    ``None`` and empty lists are dropped, tuples of strings become lists, numbers and strings pass.

    Raises:
        InputError: if a value is neither a scalar nor a flat list of strings.

    Example:
        >>> clean_metadata({"ticker": "ACME", "cik": None, "tags": ("a", "b")})
        {'ticker': 'ACME', 'tags': ['a', 'b']}
    """
    clean: dict[str, MetadataValue] = {}
    for key, value in metadata.items():
        if value is None:
            continue
        if isinstance(value, str | int | float | bool):
            clean[key] = value
        elif isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
            if value:
                clean[key] = [str(item) for item in value]
        else:
            raise InputError(
                f"Metadata {key!r} must be a string, a number, a boolean or a flat list of strings. "
                f"Got {type(value).__name__}. Flatten it or leave it out."
            )
    return clean


def check_chunk_metadata(metadata: Mapping[str, object]) -> list[str]:
    """Return what is wrong with the metadata of a chunk, one sentence each; nothing if all holds."""
    faults = [f"{key!r} is missing" for key in sorted(REQUIRED_CHUNK_KEYS - metadata.keys())]
    for key, value in metadata.items():
        wanted = KEY_TYPES.get(key)
        if value is None:
            faults.append(f"{key!r} is None")
        elif wanted and (not isinstance(value, wanted) or (wanted is int and isinstance(value, bool))):
            faults.append(f"{key!r} must be {wanted.__name__}, is {value!r}")
    kind, scope = metadata.get(KIND), metadata.get(SOURCE_SCOPE)
    if kind not in CHUNK_KINDS:
        faults.append(f"{KIND!r} must be one of {CHUNK_KINDS}, is {kind!r}")
    if scope not in ("public", "private"):
        faults.append(f"{SOURCE_SCOPE!r} must be 'public' or 'private', is {scope!r}")
    if scope == "private" and not metadata.get(SESSION_ID):
        faults.append("a private chunk has no 'session_id'")
    return faults
