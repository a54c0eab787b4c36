"""Read the XML of official gazettes: BOE open data with its versions, EUR-Lex Formex, eCFR."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

from fin_rag.errors import InputError, ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.regulation_boe import is_boe, write_boe
from fin_rag.loaders.regulation_ecfr import is_ecfr, write_ecfr
from fin_rag.loaders.regulation_formex import is_formex, write_formex
from fin_rag.loaders.regulation_writer import NO_VERSIONS, Writer
from fin_rag.schema import DOC_TYPE, Markup

__all__ = ["NO_VERSIONS", "as_of_number", "read_regulation_xml"]

if TYPE_CHECKING:
    from lxml.etree import _Element

_SNIFF: Final = re.compile(
    rb"<(?:bloque|version|documento|DIV[1-9]|DLPSTEXTCLASS|ECFR|LEXP\.COMBINED|CONS\.ACT|CONS\.DOC|ACT"
    rb"|ARTICLE|ENACTING\.TERMS|ANNEX|GR\.CONSID)[\s>/]"
)
_HEAD: Final = 256 * 1024


def read_regulation_xml(data: bytes, *, name: str = "", as_of: str | date | int | None = None) -> LoadedText | None:
    r"""Turn the XML of a statute into canonical Markdown; return ``None`` if it is no such XML.

    Of a block with several versions only one is kept: the last that was in force on ``as_of``, or the
    newest. What was left out (older versions, tables of contents, images) is counted in
    ``markup.furniture``; editors' notes, citations of sources and footnotes become block quotations.

    Args:
        data: the bytes of the file.
        name: what messages call it.
        as_of: a date, or ``YYYYMMDD`` or ``YYYY-MM-DD``; only BOE data have versions.

    Raises:
        InputError: if ``as_of`` is no date.
        ParseError: if the XML declares entities, or holds no text that was in force.

    Example:
        >>> read_regulation_xml(b'<DIV8 N="1.1" TYPE="SECTION"><HEAD>1.1 Fees.</HEAD><P>Ten.</P></DIV8>').text
        '###### 1.1 Fees.\n\nTen.'
    """
    when = as_of if isinstance(as_of, int) else as_of_number(as_of)
    head = data[:_HEAD]
    wide = b"\x00" in head[:200]
    if not wide and not _SNIFF.search(head):
        return None
    _refuse_entities(head.replace(b"\x00", b"") if wide else head, name)
    root, problems = _parse(data, name)
    if root is None:
        return None
    writer = Writer()
    for recognises, write in ((is_boe, write_boe), (is_ecfr, write_ecfr), (is_formex, write_formex)):
        if recognises(root):
            write(root, writer, when)
            break
    else:
        return None
    text = writer.text()
    if not text:
        raise ParseError(
            f"{name or 'The XML'} holds no text{f' in force on {when}' if when else ''}. Check the file and the date."
        )
    writer.warnings += problems
    markup = Markup(
        anchors=writer.anchors,
        furniture=dict(sorted(writer.left_out.items())),
        warnings=tuple(writer.warnings),
    )
    return LoadedText(text=text, markup=markup, hints={DOC_TYPE: "regulation", **writer.hints})


def as_of_number(as_of: str | date | None) -> int | None:
    """Return a date as the number YYYYMMDD.

    Raises:
        InputError: if it is no date.

    Example:
        >>> as_of_number("2024-01-31"), as_of_number(None)
        (20240131, None)
    """
    if as_of is None:
        return None
    if isinstance(as_of, date):
        return int(as_of.strftime("%Y%m%d"))
    digits = str(as_of).replace("-", "").strip()
    try:
        return int(date(int(digits[:4]), int(digits[4:6]), int(digits[6:])).strftime("%Y%m%d"))
    except ValueError as error:
        raise InputError(f"'as_of' must be a date like 2024-01-31 or 20240131. Got {as_of!r}.") from error


def _refuse_entities(head: bytes, name: str) -> None:
    if b"<!ENTITY" in head:
        raise ParseError(f"{name or 'The XML'} declares entities, which are not read for safety. Expand them first.")


def _parse(data: bytes, name: str) -> tuple[_Element | None, list[str]]:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        recover=True,
        remove_comments=True,
    )
    try:
        root = etree.fromstring(data.lstrip(), parser=parser)
    except etree.XMLSyntaxError:
        return None, []
    if root is None:
        return None, []
    subset = root.getroottree().docinfo.internalDTD
    if subset is not None and any(subset.iterentities()):  # type: ignore[union-attr]  # the stubs lack it
        _refuse_entities(b"<!ENTITY", name)
    found = [f"line {entry.line}: {entry.message}" for entry in list(parser.error_log)[:3]]
    return root, [f"the XML is damaged and was read as far as possible ({'; '.join(found)})"] if found else []
