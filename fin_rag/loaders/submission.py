"""Read full-submission text files of EDGAR: a header and several documents in one file.

The main document becomes the canonical text. Exhibits, graphics and data files stay outside and are named in
``markup.warnings``; one of them can be read instead by its type (``part="EX-99.1"``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.errors import NotFoundError, ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.dates import date_number
from fin_rag.loaders.plain import read_plain
from fin_rag.schema import CIK, DOC_ID, DOC_TYPE, FILED, ISSUER, PERIOD_END, MetadataValue

FISCAL_YEAR_END: Final = "fiscal_year_end"

_OPEN: Final = re.compile(rb"<DOCUMENT>", re.IGNORECASE)
_CLOSE: Final = re.compile(rb"</DOCUMENT>", re.IGNORECASE)
_FIELD: Final = re.compile(rb"^[ \t]*<(TYPE|SEQUENCE|FILENAME|DESCRIPTION)>([^\r\n<]*)", re.IGNORECASE | re.MULTILINE)
_TEXT_OPEN: Final = re.compile(rb"<TEXT>[ \t]*\r?\n?", re.IGNORECASE)
_TEXT_CLOSE: Final = re.compile(rb"</TEXT>", re.IGNORECASE)
_WRAPPER: Final = re.compile(rb"\s*</?(?:XBRL|XML|PDF)>\s*", re.IGNORECASE)
_HTML: Final = re.compile(rb"<(?:!doctype html|html|body|head|font|div|p|center)[\s>]", re.IGNORECASE)
_PAGINATED: Final = re.compile(rb"^\s*<PAGE>", re.IGNORECASE)
_DATA: Final = re.compile(r"EX-10[01]\b|EX-101|GRAPHIC|XML|ZIP|EXCEL|JSON|COVER|CORRESP", re.IGNORECASE)
_HEADER_BYTES: Final = 64 * 1024
_SHOWN: Final = 12

_HEADER_FIELDS: Final = {
    "form": r"CONFORMED SUBMISSION TYPE:[ \t]*(\S+)|<TYPE>(\S+)",
    "accession": r"ACCESSION NUMBER:[ \t]*(\d{10}-\d\d-\d{6})|<ACCESSION-NUMBER>(\d{10}-\d\d-\d{6})"
    r"|<SEC-DOCUMENT>(\d{10}-\d\d-\d{6})",
    "period": r"CONFORMED PERIOD OF REPORT:[ \t]*(\d{8})|<PERIOD>(\d{8})",
    "filed": r"FILED AS OF DATE:[ \t]*(\d{8})|<FILING-DATE>(\d{8})",
    "company": r"COMPANY CONFORMED NAME:[ \t]*([^\r\n]+)|<CONFORMED-NAME>([^\r\n]+)",
    "cik": r"CENTRAL INDEX KEY:[ \t]*(\d{1,10})|<CIK>(\d{1,10})",
    "year_end": r"FISCAL YEAR END:[ \t]*(\d{4})|<FISCAL-YEAR-END>(\d{4})",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Hold one document of a submission: what its fields say, and its bytes."""

    type: str
    filename: str
    description: str
    data: bytes

    @property
    def label(self) -> str:
        """Return the part's type and file name, for messages."""
        return f"{self.type or 'document'} ({self.filename})" if self.filename else self.type or "document"


def read_submission(data: bytes, *, name: str = "", part: str = "") -> LoadedText:
    r"""Read the main document of a full submission, or the part of a given type.

    The header's statements (company, number, form, period, filing date, accession number) become hints.

    Args:
        data: The submission, or a single document with its ``<TYPE>`` fields.
        name: The file's name, for messages.
        part: The ``<TYPE>`` of the document to read instead of the main one, such as ``EX-99.1``.

    Raises:
        NotFoundError: if there is no part of that type.
        ParseError: if the submission holds no readable document.

    Example:
        >>> raw = b"<DOCUMENT>\n<TYPE>8-K\n<TEXT>\nItem 5. Other Events\n</TEXT>\n</DOCUMENT>"
        >>> loaded = read_submission(raw)
        >>> loaded.text.strip(), loaded.hints["doc_type"]
        ('Item 5. Other Events', '8-K')
    """
    where = name or "The submission"
    parts = list(submission_parts(data))
    hints = read_header(data[: _header_end(data)])
    if not parts:
        raise ParseError(f"{where} has a submission header but no document with text. Fetch it again.")
    chosen = _choose(parts, str(hints.get(DOC_TYPE, "")), part, where)
    loaded = _read_part(chosen, where)
    stated: dict[str, MetadataValue] = {**loaded.hints, **hints}
    if part and DOC_ID in hints:
        stated[DOC_ID] = f"{hints[DOC_ID]}-{chosen.type}"
    if part:
        stated.pop(DOC_TYPE, None)
    elif chosen.type and (not _DATA.match(chosen.type)):
        stated.setdefault(DOC_TYPE, chosen.type)
    others = [other.label for other in parts if other is not chosen]
    warnings = loaded.markup.warnings
    if others:
        shown = ", ".join(others[:_SHOWN])
        more = f" and {len(others) - _SHOWN} more" if len(others) > _SHOWN else ""
        warnings = (
            *warnings,
            f"{len(others)} further documents of the submission were left out: {shown}{more}",
        )
    return replace(loaded, hints=stated, markup=replace(loaded.markup, warnings=warnings))


def submission_parts(data: bytes) -> Iterator[Part]:
    r"""Yield the documents of a submission in order; a lone ``<TYPE>`` block counts as one.

    Example:
        >>> [part.type for part in submission_parts(b"<TYPE>10-K\n<TEXT>\nPart I")]
        ['10-K']
    """
    starts = [match.end() for match in _OPEN.finditer(data)]
    if not starts:
        starts = [_header_end(data)]
    for number, start in enumerate(starts):
        limit = starts[number + 1] if number + 1 < len(starts) else len(data)
        close = _CLOSE.search(data, start, limit)
        end = close.start() if close else limit
        opened = _TEXT_OPEN.search(data, start, min(end, start + 8192))
        head_end = opened.start() if opened else min(end, start + 2048)
        fields = {
            key.decode("ascii").upper(): value.decode("latin-1").strip()
            for key, value in _FIELD.findall(data[start:head_end])
        }
        if not opened and not fields:
            continue
        begin = opened.end() if opened else head_end
        closed = _last_close(data, begin, end)
        yield Part(
            type=fields.get("TYPE", ""),
            filename=fields.get("FILENAME", ""),
            description=fields.get("DESCRIPTION", ""),
            data=data[begin:closed],
        )


def _last_close(data: bytes, begin: int, end: int) -> int:
    tail = max(begin, end - 64)
    closed = None
    for closed in _TEXT_CLOSE.finditer(data, tail, end):  # noqa: B007 - the last match is wanted
        pass
    return closed.start() if closed else end


def _header_end(data: bytes) -> int:
    """Return where the header ends: at the first document, or at its first field."""
    first = _OPEN.search(data)
    if first:
        return first.start()
    closing = re.search(rb"</(?:SEC|IMS)-HEADER>", data[:_HEADER_BYTES], re.IGNORECASE)
    return closing.end() if closing else 0


def read_header(header: bytes) -> dict[str, MetadataValue]:
    r"""Return what a submission header states, as metadata keys; the first filer counts.

    Example:
        >>> read_header(b"CONFORMED SUBMISSION TYPE:\t10-K\nFILED AS OF DATE:\t\t20240201")
        {'doc_type': '10-K', 'filed': 20240201}
    """
    text = header[:_HEADER_BYTES].decode("latin-1")
    found: dict[str, str] = {}
    for key, pattern in _HEADER_FIELDS.items():
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            found[key] = next(group for group in match.groups() if group).strip()
    hints: dict[str, MetadataValue] = {}
    for key, source in (
        (DOC_TYPE, "form"),
        (DOC_ID, "accession"),
        (ISSUER, "company"),
        (FISCAL_YEAR_END, "year_end"),
    ):
        if source in found:
            hints[key] = found[source]
    if "cik" in found:
        hints[CIK] = found["cik"].zfill(10)
    for key, source in ((PERIOD_END, "period"), (FILED, "filed")):
        digits = found.get(source, "")
        value = date_number(int(digits[:4]), int(digits[4:6]), int(digits[6:])) if digits else None
        if value:
            hints[key] = value
    return hints


def _choose(parts: list[Part], form: str, wanted: str, where: str) -> Part:
    """Return the wanted part: by type if one is asked for, else the main document."""
    if wanted:
        for part in parts:
            if part.type.casefold() == wanted.casefold():
                return part
        types = ", ".join(sorted({part.type for part in parts if part.type}))
        raise NotFoundError(f"{where} holds no part of type {wanted!r}. It holds: {types}.")
    readable = [part for part in parts if part.data.strip() and not _DATA.match(part.type)] or parts
    own = [part for part in readable if form and part.type.casefold() == form.casefold()]
    main = [part for part in readable if not part.type.upper().startswith("EX-")]
    return (own or main or readable)[0]


def _read_part(part: Part, where: str) -> LoadedText:
    data = part.data
    wrapper = _WRAPPER.match(data)
    while wrapper and wrapper.end():
        data = data[wrapper.end() :]
        wrapper = _WRAPPER.match(data)
    label = f"{where}, {part.label}"
    if data.lstrip()[:6].lower().startswith(b"begin "):
        raise ParseError(f"{label} is a coded binary file, not text. Load that file itself.")
    if not _PAGINATED.match(data) and (_HTML.search(data[:4096]) or part.filename.lower().endswith((".htm", ".html"))):
        from fin_rag.loaders.html import read_html

        return read_html(data, name=label)
    return read_plain(data, name=label)
