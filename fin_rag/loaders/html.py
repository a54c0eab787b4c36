"""Read HTML (EDGAR filings, inline XBRL, web pages) into canonical Markdown in one pass."""

from __future__ import annotations

import gc
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, cast

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.html_pages import drop_furniture, split_pages
from fin_rag.loaders.html_walk import Walker
from fin_rag.loaders.html_write import Writer
from fin_rag.loaders.ixbrl import FactBuilder, fact_hints
from fin_rag.schema import InlineFact, Markup, MetadataValue, PageMap, Span

if TYPE_CHECKING:
    from lxml.etree import ParserTarget

_DECLARED: Final = re.compile(
    rb"""(?:charset|encoding)\s{0,5}=\s{0,5}["']?\s{0,5}([A-Za-z0-9_.:-]{2,30})""", re.IGNORECASE
)
_LATIN: Final = frozenset(
    {"iso-8859-1", "iso8859-1", "latin-1", "latin1", "ascii", "us-ascii", "windows-1252", "cp1252"}
)
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_HEAD: Final = 4096


def read_html(data: bytes, *, name: str = "") -> LoadedText:
    r"""Turn the bytes of an HTML document into canonical Markdown with pages, markup and inline facts.

    Raises:
        ParseError: if there is no text in it.

    Example:
        >>> read_html(b"<h1>Risk</h1><p>Rates may <b>rise</b>.</p>").text
        '# Risk\n\nRates may rise.'
    """
    source, warnings = decode_html(data)
    walker = _walk(source, warnings)
    pages = split_pages(walker.flow)
    left_out = Counter(walker.left_out)
    dropped, labels = drop_furniture(pages)
    left_out.update(dropped)
    writer = Writer(pages)
    if not any(map(str.isalnum, writer.text)):
        images = left_out["image"]
        what = f", only {images} image(s); run a text recognition first." if images else "."
        raise ParseError(f"{name or 'The HTML document'} holds no text{what}")
    facts = _facts(walker, writer.text, left_out, warnings)
    _warn(left_out, warnings)
    markup = Markup(
        anchors=_anchors(walker, writer.text, writer.running),
        links=_links(walker),
        headings=tuple(writer.headings),
        facts=tuple(facts),
        furniture=dict(sorted((+left_out).items())),
        warnings=tuple(warnings),
        page_labels=labels,
        running=tuple(writer.running),
    )
    page_map = PageMap(tuple(writer.pages)) if len(pages) > 1 else PageMap(())
    return LoadedText(writer.text, page_map, markup, _hints(walker, facts))


def _walk(source: str, warnings: list[str]) -> Walker:
    """Send the source through the parser; what a broken source still holds is kept."""
    from lxml import etree

    walker = Walker()
    text = source.replace("\x00", "")
    if not text.strip():
        return walker
    parser = etree.HTMLParser(target=cast("ParserTarget", walker), encoding="utf-8", huge_tree=True)
    try:
        with _paused_collector():
            etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        warnings.append(f"The HTML could not be read to its end ({error}); what came before is there.")
    return walker.close()


@contextmanager
def _paused_collector() -> Iterator[None]:
    """Pause the collection of cycles: a walk makes a million small objects that hold none, and to look is dear."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def decode_html(data: bytes) -> tuple[str, list[str]]:
    """Return the text of an HTML source and what went wrong while decoding it.

    A byte-order mark counts first, then the declared encoding, UTF-8, and Windows-1252.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _with_replacements(data[len(mark) :], encoding)
    if b"\x00" in data[:200:2] and data[1:2] == b"\x00":
        return _with_replacements(data, "utf-16-le")
    declared = _DECLARED.search(data[:_HEAD])
    wanted = declared[1].decode("ascii").lower() if declared else "utf-8"
    for encoding in dict.fromkeys(("utf-8" if wanted in _LATIN else wanted, "utf-8")):
        try:
            return data.decode(encoding), []
        except (UnicodeDecodeError, LookupError):
            continue
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    good = sum(1 for char in text if char > "\x7f") - bad if bad < 1000 else 0
    if wanted not in _LATIN and good > bad:
        return text, [f"{bad} place(s) are no valid UTF-8 and were replaced by U+FFFD."]
    return _with_replacements(data, "cp1252", quiet=wanted in _LATIN)


def _with_replacements(data: bytes, encoding: str, *, quiet: bool = False) -> tuple[str, list[str]]:
    text = data.decode(encoding, "replace")
    bad = text.count("\ufffd")
    if bad:
        return text, [f"{bad} byte(s) are not valid {encoding} and were replaced by U+FFFD."]
    if encoding == "cp1252" and not quiet:
        return text, ["The bytes are no valid UTF-8; they were read as Windows-1252."]
    return text, []


def _facts(walker: Walker, text: str, left_out: Counter[str], warnings: list[str]) -> list[InlineFact]:
    reader = walker.xbrl
    if not reader.marks:
        return []
    builder = FactBuilder(reader, text)
    facts = builder.facts()
    for kind, count, reason in (
        ("context", builder.dropped["context"], "name a context that is missing"),
        ("value", builder.dropped["value"], "have no readable number"),
        ("depth", reader.skipped, "are nested too deep"),
    ):
        if count:
            left_out[f"fact_without_{kind}" if kind != "depth" else "deep_fact"] += count
            warnings.append(f"{count} inline fact(s) {reason}; dropped.")
    return facts


def _anchors(walker: Walker, text: str, running: Sequence[Span]) -> dict[str, int]:
    """Return where each anchor points: at the beginning of a line that is no running head."""
    behind = {mark.start: mark.end for mark in running}
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    anchors: dict[str, int] = {}
    for target, line in walker.anchors:
        position = line.position(0)
        begin = starts[bisect_right(starts, position) - 1]
        while begin in behind:
            begin = behind[begin]
            begin += len(text[begin : begin + 2]) - len(text[begin : begin + 2].lstrip())
        anchors.setdefault(target, begin)
    for target in walker.late_anchors:
        anchors.setdefault(target, len(text))
    return anchors


def _links(walker: Walker) -> tuple[tuple[Span, str], ...]:
    links = []
    for target, first, first_at, last, last_at in walker.links:
        start, end = first.position(first_at), last.position(last_at)
        if end > start:
            links.append((Span(start, end), target))
    return tuple(links)


def _warn(left_out: Counter[str], warnings: list[str]) -> None:
    if left_out["capped_span"]:
        warnings.append(f"{left_out['capped_span']} table(s) have absurd column or row spans; capped.")
    if left_out["deep_table"]:
        warnings.append(f"{left_out['deep_table']} table(s) are nested too deep; read as plain text.")


def _hints(walker: Walker, facts: list[InlineFact]) -> dict[str, MetadataValue]:
    hints = fact_hints(facts)
    title = " ".join("".join(walker.title).split())
    if len(title.split()) >= 2 and len(title) <= 200:
        hints.setdefault("title", title)
    return hints
