"""Read PDF files with pypdfium2: one row of a statement is one line.

pdfium is not thread-safe; every call goes through one lock, so files can be loaded from several threads
(one after the other) but gain nothing from them. Use processes to read many files at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Final

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.pdf_furniture import find_furniture
from fin_rag.loaders.pdf_headings import heading_ranks, joins_heading
from fin_rag.loaders.pdf_heads import merge_heads
from fin_rag.loaders.pdf_lines import LINE_HYPHEN, Line, breaks, is_row, is_rule, merge_rows, page_lines
from fin_rag.loaders.pdf_words import Words
from fin_rag.schema import Markup, MetadataValue, PageMap, Span
from fin_rag.text.canonical import clean_text

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_PDFIUM: Final = Lock()
_ACCESSION: Final = re.compile(r"\d{10}-\d{2}-\d{6}")
# Titles that a program wrote, not a person: file names, "Microsoft Word - x.doc", "Document1".
_NO_TITLE: Final = re.compile(
    r"\.(?:docx?|pdf|xlsx?|pptx?|indd|qxd|htm|html|txt)\b|^(?:untitled|document|microsoft|powerpoint"
    r"|slide)\b|^\W*\d",
    re.IGNORECASE,
)
_UNREADABLE: Final = re.compile("[\ufffd\ue000-\uf8ff]")
_ENDS_SENTENCE: Final = re.compile(r"[.:;!?]['\"”’)\]]*\Z")


@dataclass(frozen=True, slots=True)
class _Raw:
    """Hold what pdfium gave: the lines of each page, what failed, and the file's own title fields."""

    pages: list[list[Line]]
    failed: list[int]
    info: dict[str, str]


def read_pdf(data: bytes, *, name: str = "") -> LoadedText:
    """Read a PDF into canonical text with a page map.

    Lines keep the rows of tables whole; a blank line separates what a gap separates on the page. Ligatures
    are spelled out, and hyphens at line ends are judged by the document's own words. Page numbers and
    repeated heads are left out and counted in ``markup.furniture``; ``markup.page_labels`` keeps the printed
    numbers. ``markup.headings`` marks lines that are larger or bolder than the body text. Pages are numbered
    as in a viewer, from 1.

    Args:
        data: The file.
        name: Its name, for messages.

    Raises:
        ParseError: if the file is encrypted or broken, or if no page holds text (a scan).
        MissingDependencyError: never in a full install; ``pypdfium2`` is a base dependency.
    """
    where = name or "The PDF"
    raw = _extract(data, where)
    if not any(raw.pages):
        raise ParseError(
            f"{where} holds no text on its {len(raw.pages)} pages, as scans do. Run text recognition "
            "(for example ocrmypdf) and load the result."
        )
    found = find_furniture(raw.pages)
    furniture = [
        {**out.lines, **{index: "rule" for index, line in enumerate(page) if is_rule(line.text)}}
        for page, out in zip(raw.pages, found, strict=True)
    ]
    pages = [
        [line for index, line in enumerate(page) if index not in out]
        for page, out in zip(raw.pages, furniture, strict=True)
    ]
    words = Words(line.text for page in pages for line in page)
    pages = [[replace(line, text=_settle(line.text, words)) for line in page] for page in pages]
    ranks = heading_ranks([line for page in pages for line in page])
    text, spans, headings = _assemble(pages, ranks, words)
    counts = Counter(kind for page in furniture for kind in page.values())
    return LoadedText(
        text=text,
        page_map=PageMap(tuple(enumerate(spans, 1))),
        markup=Markup(
            headings=tuple(headings),
            furniture=dict(sorted(counts.items())),
            warnings=_warnings(raw),
            page_labels={number: page.label for number, page in enumerate(found, 1) if page.label},
        ),
        hints=_hints(raw.info),
    )


def _extract(data: bytes, where: str) -> _Raw:
    """Read lines and title fields under the lock."""
    import pypdfium2

    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise _cannot_open(error, where) from error
        try:
            pages, failed = _read_pages(document)
            info = document.get_metadata_dict(skip_empty=True)
        finally:
            document.close()
    return _Raw(pages, failed, info)


def _cannot_open(error: Exception, where: str) -> ParseError:
    if "password" in str(error).lower():
        return ParseError(f"{where} is encrypted. Save it without a password (for example with qpdf) and load that.")
    return ParseError(f"{where} is no readable PDF ({error}). It may be cut short: fetch it again.")


def _read_pages(document: PdfDocument) -> tuple[list[list[Line]], list[int]]:
    import pypdfium2

    pages: list[list[Line]] = []
    failed: list[int] = []
    for index in range(len(document)):
        try:
            page = document[index]
            textpage = page.get_textpage()
            pages.append(merge_heads(merge_rows(page_lines(textpage))))
            textpage.close()
            page.close()
        except pypdfium2.PdfiumError:
            pages.append([])
            failed.append(index + 1)
    return pages, failed


def _settle(text: str, words: Words) -> str:
    """Spell out ligatures, decide the hyphens that pdfium left open, and restore lost letters."""
    if LINE_HYPHEN in text:
        parts = text.split(LINE_HYPHEN)
        settled = parts[0].rstrip()
        for part in parts[1:]:
            settled += words.joint(settled, part.lstrip()) + part.lstrip()
        text = settled
    return words.restore(clean_text(text).text)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Hold a line of the text to be, the separator in front of it, and its rank as a heading."""

    lead: str
    text: str
    rank: int


def _assemble(
    pages: Sequence[Sequence[Line]], ranks: dict[Line, int], words: Words
) -> tuple[str, list[Span], list[tuple[Span, int]]]:
    """Lay the pages end to end; return the text, a span for every page, and the headings."""
    parts: list[str] = []
    spans: list[Span] = []
    headings: list[tuple[Span, int]] = []
    at = 0
    before: Line | None = None
    for page in pages:
        if page and before is not None:
            joint = "\n" if _goes_on(before, page[0]) else "\n\n"
            parts.append(joint)
            at += len(joint)
        start = at
        for piece in _page_pieces(page, ranks, words):
            parts.extend((piece.lead, piece.text))
            at += len(piece.lead)
            if piece.rank:
                headings.append((Span(at, at + len(piece.text)), piece.rank))
            at += len(piece.text)
        spans.append(Span(start, at))
        before = page[-1] if page else before
    return "".join(parts), spans, headings


def _page_pieces(page: Sequence[Line], ranks: dict[Line, int], words: Words) -> Iterator[_Piece]:
    """Yield a page's lines, with wrapped headings and cut words made whole."""
    held: _Piece | None = None
    before: Line | None = None
    edge = max((line.right for line in page), default=0.0)
    for line, gap in zip(page, breaks(page), strict=True):
        rank = ranks.get(line, 0)
        if held is None or before is None:
            held = _Piece("", line.text, rank)
        elif not gap and _cut_word(held.text, line.text):
            stem = held.text[:-1]
            held = replace(held, text=stem + words.joint(stem, line.text) + line.text)
        elif not gap and rank and rank == held.rank and joins_heading(before, line, held.text, edge):
            held = replace(held, text=f"{held.text} {line.text}")
        else:
            yield held
            held = _Piece("\n\n" if gap else "\n", line.text, rank)
        before = line
    if held is not None:
        yield held


def _cut_word(before: str, after: str) -> bool:
    """Tell whether a hyphen ends ``before`` inside a word or a number that ``after`` goes on with."""
    return before[-1:] in "-‐" and before[-2:-1].isalnum() and after[:1].isalnum() and not is_row(after)


def _goes_on(before: Line, after: Line) -> bool:
    """Tell whether a sentence runs on from one page to the next."""
    return not _ENDS_SENTENCE.search(before.text) and after.text[:1].islower() and not is_row(before.text)


def _warnings(raw: _Raw) -> tuple[str, ...]:
    warnings = []
    if raw.failed:
        warnings.append(f"{len(raw.failed)} pages could not be read: {_listed(raw.failed)}")
    empty = [n for n, page in enumerate(raw.pages, 1) if not page and n not in set(raw.failed)]
    if empty:
        warnings.append(f"{len(empty)} pages hold no text (pictures or scans): {_listed(empty)}")
    garbled = [n for n, page in enumerate(raw.pages, 1) if _is_garbled(page)]
    if garbled:
        warnings.append(f"{len(garbled)} pages hold text without readable letters: {_listed(garbled)}")
    return tuple(warnings)


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:20]))
    return f"{shown}, ..." if len(numbers) > 20 else shown


def _is_garbled(page: Sequence[Line]) -> bool:
    """Tell whether a font without a character map made the page's text useless."""
    total = sum(len(line.text) for line in page)
    odd = sum(len(_UNREADABLE.findall(line.text)) for line in page)
    return total > 40 and odd > 0.3 * total


def _hints(info: dict[str, str]) -> dict[str, MetadataValue]:
    """Return what the file says of itself; programs fill these fields with noise, so little is believed."""
    title = info.get("Title", "").strip()
    if _ACCESSION.fullmatch(title):
        return {"doc_id": title}
    if len(title) >= 8 and " " in title and not _NO_TITLE.search(title):
        return {"title": title}
    return {}
