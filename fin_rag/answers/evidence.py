"""Evidence as figures: each printed number with its row, period, unit, and the document that it comes from."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from langchain_core.documents import Document

from fin_rag.answers.changes import is_change
from fin_rag.answers.sentences import Mention, direction_of, is_figure, read_sentences, sentence_spans
from fin_rag.answers.tables import Cell, read_tables
from fin_rag.answers.when import When, read_periods
from fin_rag.schema import (
    BODY_OFFSET,
    FILED,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    LANG,
    PERIOD_END,
    SPANS,
    TICKER,
    TITLE,
    Span,
    parse_spans,
)
from fin_rag.text.numbers import Number, find_numbers

_YEAR: Final = re.compile(r"(?<!\d)(?:19|20)\d{2}(?!\d)")
_SHORT_YEAR: Final = re.compile(r"\b(?:FY|[1-4][QTHS]|[QTHS][1-4])\s?['’]?(\d{2})(?!\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Printed:
    """Hold one figure of the evidence.

    ``span`` indexes ``page_content`` of document number ``doc`` (0-based). ``value`` is the figure as printed, with
    its own scale word; ``scales`` are the factors that may have to be applied to it (several where no unit line
    says which). ``row`` numbers the table row it stands in, -1 for running text; ``label`` is that row's label, or
    the words in front of the figure.
    """

    doc: int
    span: Span
    text: str
    value: Decimal
    scales: tuple[int, ...]
    unit: str
    currency: str
    decimals: int
    own_scale: int
    label: str
    groups: str
    whens: tuple[When, ...]
    row: int
    column: int
    change: bool = False
    direction: int = 0
    sure: bool = True
    near: str = ""

    @property
    def values(self) -> tuple[Decimal, ...]:
        """Return the values that the figure may have, scale applied."""
        return tuple(self.value * scale for scale in self.scales)


@dataclass(slots=True)
class Source:
    """Hold one document of the evidence, and what it says about itself."""

    index: int
    text: str
    metadata: dict[str, object]
    lang: str
    names: tuple[str, ...]
    years: frozenset[int]
    calendar_shift: int | None
    close_month: int
    default: When | None
    folded: str = ""

    def source_span(self, span: Span) -> Span | None:
        """Return where a span of ``page_content`` stands in the document that the chunk was cut from."""
        spans = self.metadata.get(SPANS)
        if not isinstance(spans, str):
            return None
        at = int(str(self.metadata.get(BODY_OFFSET) or 0))
        for piece in parse_spans(spans):
            if at <= span.start and span.end <= at + len(piece):
                return Span(piece.start + span.start - at, piece.start + span.end - at)
            at += len(piece) + 2
        return None


@dataclass(slots=True)
class Evidence:
    """Hold all figures of the evidence, ready to be looked up by value and by row."""

    sources: list[Source]
    figures: list[Printed]
    rows: dict[int, list[Printed]] = field(default_factory=dict)
    _sizes: list[tuple[Decimal, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, one in enumerate(self.figures):
            if one.row >= 0:
                self.rows.setdefault(one.row, []).append(one)
            self._sizes.extend((abs(value), number) for value in one.values)
        self._sizes.sort(key=lambda pair: (pair[0], pair[1]))

    @property
    def language(self) -> str | None:
        """Return the language of the documents, if they are of one."""
        named = {source.lang[:2] for source in self.sources if source.lang}
        return named.pop() if len(named) == 1 else None

    def between(self, low: Decimal, high: Decimal) -> Iterator[tuple[Decimal, Printed]]:
        """Yield the figures whose size lies between two bounds, both included."""
        first = bisect_left(self._sizes, low, key=lambda pair: pair[0])
        last = bisect_right(self._sizes, high, key=lambda pair: pair[0])
        for size, number in self._sizes[first:last]:
            yield size, self.figures[number]


def read_evidence(documents: Sequence[Document]) -> Evidence:
    """Read the figures of documents: cells of tables with row, column and unit, and figures in running text."""
    sources: list[Source] = []
    figures: list[Printed] = []
    rows = 0
    for index, document in enumerate(documents):
        source = _source(index, document)
        sources.append(source)
        numbers = find_numbers(source.text, lang=source.lang or None)
        tables = read_tables(source.text, document.metadata, lang=source.lang or None, numbers=numbers)
        covered: set[int] = set()
        for cell in tables.cells:
            covered.update(
                one.span.start for one in _inside(numbers, cell.span)
            )  # fmt: skip
            figures.append(_of_cell(index, cell, rows))
        rows += tables.rows
        rest = [one for one in numbers if one.span.start not in covered]
        figures.extend(_running(source, rest, tables.prose, tables.scales))
    return Evidence(sources, figures)


def _inside(numbers: Sequence[Number], span: Span) -> Iterable[Number]:
    at = bisect_left(numbers, span.start, key=lambda one: one.span.start)
    while at < len(numbers) and numbers[at].span.start < span.end:
        yield numbers[at]
        at += 1


def _of_cell(doc: int, cell: Cell, first_row: int) -> Printed:
    number = cell.number
    return Printed(
        doc=doc, span=cell.span, text=number.text, value=number.value, scales=cell.scales, unit=cell.unit,
        currency=cell.currency, decimals=number.decimals, own_scale=number.scale, label=cell.label, groups=cell.groups,
        whens=cell.whens, row=first_row + cell.row, column=cell.column, change=cell.change,
    )  # fmt: skip


def _running(
    source: Source, numbers: Sequence[Number], bounds: Sequence[tuple[int, int]], scales: tuple[int, ...]
) -> Iterator[Printed]:
    """Yield the figures of running text, with the periods that their sentence or the one before names."""
    spans = [span for start, end in bounds for span in sentence_spans(source.text, start, end)]
    inherited: tuple[When, ...] = ()
    for sentence in read_sentences(source.text, numbers, spans):
        before = inherited
        if sentence.whens:
            inherited = tuple(one for one in sentence.whens if one.year and not one.relative) or inherited
        for mention in sentence.mentions:
            number = mention.number
            if not is_figure(number, source.text):
                continue
            yield _of_mention(source, mention, (before, inherited), scales, sentence.text)


def _of_mention(
    source: Source,
    mention: Mention,
    anchors: tuple[tuple[When, ...], tuple[When, ...]],
    scales: tuple[int, ...],
    sentence: str,
) -> Printed:
    """Return a figure of running text; ``anchors`` are the periods named before its sentence, and up to its end."""
    number = mention.number
    inherited, own = anchors
    whens = tuple(resolve(one, own) for one in mention.whens)
    label = mention.before if mention.before.strip() else mention.after
    free = number.scale == 1 and not number.unit and len(scales) > 1 and _in_columns(source.text, number.span.end)
    return Printed(
        doc=source.index, span=number.span, text=number.text, value=number.value, scales=scales if free else (1,),
        unit=number.unit, currency=number.currency, decimals=number.decimals, own_scale=number.scale, label=label,
        groups=sentence, whens=whens or inherited, row=-1, column=-1,
        change=is_change(mention, direction_of(mention)), direction=direction_of(mention),
        sure=bool(whens), near=mention.after,
    )  # fmt: skip


def _in_columns(text: str, end: int) -> bool:
    """Tell whether a figure is followed by the next column or the end of its line, not by words."""
    follows = text[end : end + 4].lstrip(" \u00a0")[:1]
    return not follows or follows in "\n\r|$€£(—-" or follows.isdigit()


def resolve(one: When, anchors: Sequence[When]) -> When:
    """Return the period that "the year before" means, seen from the last period named."""
    if not one.relative:
        return one
    anchor = one if one.year else next((each for each in reversed(anchors) if each.year and not each.relative), None)
    if anchor is None:
        return one
    return When(
        anchor.year + one.relative, anchor.month, anchor.day, anchor.part, anchor.months, anchor.fiscal,
        start=one.start, end=one.end,
    )  # fmt: skip


# --- what a document says about itself ------------------------------------------------------------


def _source(index: int, document: Document) -> Source:
    metadata = dict(document.metadata)
    text = document.page_content
    lang = str(metadata.get(LANG) or "")
    names = tuple(str(metadata[key]) for key in (ISSUER, TICKER, "company", "emisor") if metadata.get(key))
    years = {int(year) for year in _YEAR.findall(text)}
    years |= {2000 + int(year) for year in _SHORT_YEAR.findall(text)}
    fiscal_year, period_end = metadata.get(FISCAL_YEAR), str(metadata.get(PERIOD_END) or "")
    if isinstance(fiscal_year, int):
        years.add(fiscal_year)
    for key in (PERIOD_END, TITLE, "doc_name"):
        years |= {int(year) for year in _YEAR.findall(str(metadata.get(key) or "")[: 4 if key == PERIOD_END else 200])}
    shift, month = None, 0
    is_year = str(metadata.get(FISCAL_PERIOD) or "FY") == "FY"
    if isinstance(fiscal_year, int) and len(period_end) == 8 and is_year:
        shift, month = int(period_end[:4]) - fiscal_year, int(period_end[4:6])
    default = None
    if isinstance(fiscal_year, int):
        part = str(metadata.get(FISCAL_PERIOD) or "")
        default = When(fiscal_year, part=part if part.startswith(("Q", "H")) else "", fiscal=True)
    elif len(period_end) == 8:
        default = When(int(period_end[:4]))
    heads = [one for one in read_periods(str(metadata.get(TITLE) or "")[:200]) if one.year]
    default = default or (heads[0] if heads and not metadata.get(FILED) else None)
    return Source(index, text, metadata, lang, names, frozenset(years), shift, month, default, text.casefold())
