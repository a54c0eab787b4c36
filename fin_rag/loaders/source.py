"""Read one file into bytes and tell what format the bytes are.

The content decides, the extension only breaks ties: filings travel under wrong names all the time.
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from fin_rag.errors import InputError, NotFoundError, ParseError
from fin_rag.text.canonical import decode

Format = Literal["html", "pdf", "markdown", "text", "submission", "xml", "json", "jsonl"]

MAX_BYTES: Final = 256 * 1024 * 1024
"""Default limit of a source's size in bytes, after decompression."""

# deflate cannot honestly exceed about 1,030 : 1; filings compress 5 to 20 times.
_MAX_RATIO: Final = 500
_RATIO_FROM: Final = 16 * 1024 * 1024
_BLOCK: Final = 1024 * 1024
_SNIFF: Final = 64 * 1024

EXTENSIONS: Final = {
    ".html": "html", ".htm": "html", ".xhtml": "html", ".xml": "xml", ".pdf": "pdf", ".md": "markdown",
    ".markdown": "markdown", ".txt": "text", ".text": "text", ".json": "json", ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}  # fmt: skip

# What people drop into a folder of filings and no reader takes: (first bytes, name, way out).
_FOREIGN: Final = (
    (b"PK\x03\x04", "a zip or Office file", "Unpack it, or save the document as PDF or HTML."),
    (b"PK\x05\x06", "an empty zip file", "Unpack it, or save the document as PDF or HTML."),
    (b"\xd0\xcf\x11\xe0", "an old Office file", "Save the document as PDF or HTML."),
    (b"{\\rtf", "an RTF file", "Save the document as PDF or HTML."),
    (b"\x89PNG", "a PNG image", "Run text recognition first and load its text or PDF."),
    (b"\xff\xd8\xff", "a JPEG image", "Run text recognition first and load its text or PDF."),
    (b"GIF8", "a GIF image", "Run text recognition first and load its text or PDF."),
    (b"II*\x00", "a TIFF image", "Run text recognition first and load its text or PDF."),
    (b"MM\x00*", "a TIFF image", "Run text recognition first and load its text or PDF."),
    (b"BZh", "a bzip2 file", "Unpack it first; only .gz is read in place."),
    (b"\xfd7zXZ\x00", "an xz file", "Unpack it first; only .gz is read in place."),
    (b"7z\xbc\xaf", "a 7z file", "Unpack it first; only .gz is read in place."),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "Unpack it first; only .gz is read in place."),
    (b"PAR1", "a Parquet file", "Export its text column to files and load those."),
    (b"SQLite format 3", "an SQLite database", "Export its text to files and load those."),
)
_SUBMISSION: Final = re.compile(
    rb"\s*(?:-----BEGIN PRIVACY-ENHANCED MESSAGE-----|<SEC-DOCUMENT>|<SEC-HEADER>|<IMS-DOCUMENT>|<IMS-HEADER>"
    rb"|<DOCUMENT>|<TYPE>[^\s<])",
    re.IGNORECASE,
)
_HTML_ROOT: Final = re.compile(rb"<!doctype\s+html|<html[\s>]|<body[\s>]", re.IGNORECASE)
# Other XML has elements called Body as well.
_XHTML_ROOT: Final = re.compile(rb"<!doctype\s+html|<html[\s>]", re.IGNORECASE)
_HTML_CLOSED: Final = re.compile(rb"</(?:p|div|td|tr|span|font|b|li|h[1-6]|center|a)\s*>", re.IGNORECASE)
_HTML_TAG: Final = re.compile(
    rb"<(?:html|head|body|title|p|div|table|tr|td|span|font|b|i|ul|ol|li|h[1-6]|center|br|hr|a|section|article)"
    rb"[\s>/]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """Hold the bytes of one source and what they are.

    ``name`` is the file name without folders and without ``.gz``; ``path`` is what the caller gave.
    """

    name: str
    path: str
    data: bytes
    format: Format
    warnings: tuple[str, ...] = ()


def read_source(path: str | Path, *, max_bytes: int = MAX_BYTES) -> Source:
    """Read a file, unpack ``.gz``, and recognise its format by content.

    Args:
        path: A file: HTML, XML, PDF, Markdown, text, JSON, JSON Lines, or one of these with gzip.
        max_bytes: Largest size in bytes, after decompression, that is taken.

    Raises:
        NotFoundError: if there is no such file.
        InputError: if ``path`` is a directory or not a path at all.
        ParseError: if the file is empty, too large, unreadable or of no format that is read.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "page.txt")
        ...     _ = file.write_text("<html><body><p>Net sales rose.</p></body></html>")
        ...     read_source(file).format
        'html'
    """
    if not isinstance(path, str | Path):
        raise InputError(f"A source is given as a str or a Path. Got {type(path).__name__}: {path!r}.")
    file = Path(path)
    data = _read_bytes(file, max_bytes)
    name = file.name
    layers = 0
    while data.startswith(b"\x1f\x8b"):
        layers += 1
        if layers > 2:
            raise ParseError(f"{file}: gzip inside gzip inside gzip. Unpack it and load the result.")
        data = _unpack(data, file, max_bytes)
        name = name[:-3] if name.lower().endswith(".gz") else name
    return identify(data, name=name, path=str(path))


def identify(data: bytes, *, name: str, path: str = "") -> Source:
    """Tell the format of bytes that are already at hand; ``name`` is the file name they had.

    Raises:
        ParseError: if the bytes are empty, binary, or of a format that is not read.

    Example:
        >>> identify(b"%PDF-1.7 ...", name="report.html").warnings
        ('the content is pdf, though the name ends in .html',)
    """
    where = path or name or "the source"
    if not data.strip(b" \t\r\n\f\x00\xef\xbb\xbf"):
        raise ParseError(f"{where} is empty ({len(data)} bytes). Fetch it again, or leave it out.")
    for magic, what, way_out in _FOREIGN:
        if data.startswith(magic):
            raise ParseError(f"{where} is {what}, which no reader takes. {way_out}")
    suffix = Path(name).suffix.lower()
    by_name = EXTENSIONS.get(suffix, "")
    found = _sniff(data, by_name, where)
    warnings: tuple[str, ...] = ()
    if by_name and found != by_name and not _same_family(found, by_name):
        warnings = (f"the content is {found}, though the name ends in {suffix}",)
    return Source(name=name, path=path or name, data=data, format=found, warnings=warnings)


def _same_family(found: str, by_name: str) -> bool:
    """Tell whether the name is no surprise: a submission is a .txt, XHTML an .xml."""
    return found == "submission" or {found, by_name} in ({"text", "markdown"}, {"html", "xml"})


def _read_bytes(file: Path, max_bytes: int) -> bytes:
    if file.is_dir():
        raise InputError(f"{file} is a directory. Give one file, or add the directory to an index.")
    try:
        size = file.stat().st_size
        if size > max_bytes:
            raise ParseError(
                f"{file} has {size} bytes, more than the limit of {max_bytes}. Split it or raise max_bytes."
            )
        return file.read_bytes()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {file}. Check the path.") from error
    except (OSError, ValueError) as error:
        raise ParseError(f"{file} cannot be read: {error}. Check its permissions and its name.") from error


def _unpack(data: bytes, file: Path, max_bytes: int) -> bytes:
    """Decompress block by block, so that a bomb is noticed before it is in memory."""
    parts: list[bytes] = []
    total = 0
    rest = data
    try:
        while rest.startswith(b"\x1f\x8b"):
            engine = zlib.decompressobj(wbits=31)
            pending = rest
            while not engine.eof:
                block = engine.decompress(pending, _BLOCK)
                pending = engine.unconsumed_tail
                if not block and not pending and not engine.eof:
                    raise ParseError(f"{file}: the gzip stream ends too early. Fetch the file again.")
                total += len(block)
                _check_unpacked(total, len(data), file, max_bytes)
                parts.append(block)
            rest = engine.unused_data
    except zlib.error as error:
        raise ParseError(f"{file}: broken gzip stream ({error}). Fetch the file again.") from error
    return b"".join(parts)


def _check_unpacked(total: int, packed: int, file: Path, max_bytes: int) -> None:
    if total > max_bytes:
        raise ParseError(f"{file} unpacks to more than {max_bytes} bytes. Raise max_bytes if it is a document.")
    if total > _RATIO_FROM and total > _MAX_RATIO * packed:
        raise ParseError(
            f"{file} unpacks to over {_MAX_RATIO} times its size, as a gzip bomb does. Unpack it yourself "
            "if you trust it."
        )


def _sniff(data: bytes, by_name: str, where: str) -> Format:
    """Tell the format by content; the format that the name claims breaks ties."""
    if b"%PDF-" in data[:1024]:
        return "pdf"
    head = data[:_SNIFF]
    if b"\x00" in head:
        head = decode(head).text.encode("utf-8")
    _refuse_noise(head, where)
    head = head.removeprefix(b"\xef\xbb\xbf")
    if _SUBMISSION.match(head):
        return "submission"
    start = head.lstrip()
    if start.startswith((b"{", b"[")):
        records = _json_format(data)
        if records:
            return records
    if _is_html(start, by_name):
        return "html"
    if start.startswith((b"<?xml", b"<!DOCTYPE")) or (by_name == "xml" and start.startswith(b"<")):
        return "xml"
    return "markdown" if by_name == "markdown" else "text"


def _is_html(start: bytes, by_name: str) -> bool:
    is_xml = start.startswith(b"<?xml") or by_name == "xml"
    root = (_XHTML_ROOT if is_xml else _HTML_ROOT).search(start, 0, 8192)
    if by_name == "markdown":
        return root is not None and root.start() == 0
    if root is not None and start.startswith(b"<"):
        # Other XML has a <body> too; XHTML has its root element.
        return not start.startswith(b"<?xml") or not root.group().lower().startswith(b"<body")
    if by_name == "html":
        return _HTML_TAG.search(start) is not None
    return not is_xml and _HTML_TAG.match(start) is not None and _HTML_CLOSED.search(start) is not None


def _json_format(data: bytes) -> Format | None:
    text = decode(data).text
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        pass
    else:
        return "json"
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    if len(lines) < 2:
        return None
    try:
        rows = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    return "jsonl" if all(isinstance(row, dict | list) for row in rows) else None


def _refuse_noise(head: bytes, where: str) -> None:
    """Refuse bytes that no encoding turns into text: control characters all over."""
    odd = sum(head.count(code) for code in range(32) if code not in b"\t\n\r\x0b\x0c\x1a\x1b\x02")
    if odd > max(8, len(head) // 50):
        raise ParseError(
            f"{where} is binary: {odd} control characters in its first {len(head)} bytes. "
            "Load HTML, XML, PDF, Markdown, text or JSON."
        )
