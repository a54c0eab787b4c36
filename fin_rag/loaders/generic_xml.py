"""Read any XML as the text of its elements, in order, with entities switched off."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.schema import DOC_TYPE, Markup, MetadataValue

if TYPE_CHECKING:
    from lxml.etree import _Element

# Documents of the European and Spanish gazettes, eCFR and StreetEvents name themselves by their elements.
_KINDS: Final = (
    (
        "regulation",
        re.compile(rb"<(?:LEXP\.COMBINED|CONS\.ACT|ACT|DLPSTEXTCLASS|ECFR|DIV[1-9] |bloque |ARTICLE |REGTEXT)"),
    ),
    ("earnings_call", re.compile(rb"<(?:EventStory|Event |transcript)\b")),
)
_SNIFF: Final = 64 * 1024
_KEEP_LINES: Final = 200


def read_xml(data: bytes, *, name: str = "") -> LoadedText:
    r"""Read XML as paragraphs: one for each innermost element that holds text.

    Elements with text of their own are paragraphs, marks inside them included; long texts keep their lines.
    Declared entities are refused, since nothing that is worth reading here needs them and attacks do.

    Raises:
        ParseError: if the XML declares entities, is broken from the start, or holds no text.

    Example:
        >>> read_xml(b"<doc><head>Fees</head><p>A fee <i>of</i> 3 %.</p></doc>").text
        'Fees\n\nA fee of 3 %.'
    """
    from lxml import etree

    where = name or "The XML"
    if b"<!ENTITY" in data[:_SNIFF]:
        raise ParseError(f"{where} declares entities, which are not read for safety. Expand them first.")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        recover=True,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data.lstrip(), parser=parser)
    except etree.XMLSyntaxError as error:
        raise ParseError(f"{where} is no readable XML: {error}. Check that the file is whole.") from error
    blocks = [] if root is None else list(_blocks(root))
    if not blocks:
        raise ParseError(f"{where} is XML without text. Check that it is the document, not an index of it.")
    problems = tuple(f"line {entry.line}: {entry.message}" for entry in list(parser.error_log)[:3])
    warnings = (f"the XML is damaged and was read as far as possible ({'; '.join(problems)})",) if problems else ()
    return LoadedText(text="\n\n".join(blocks), markup=Markup(warnings=warnings), hints=_hints(data[:_SNIFF]))


def _blocks(root: _Element) -> Iterator[str]:
    """Yield the text of each outermost element that has text of its own; no recursion, one pass."""
    stack = [root]
    while stack:
        element = stack.pop()
        if not isinstance(element.tag, str):
            continue  # type: ignore[unreachable]  # unresolved entities have a function for a tag
        if _has_text(element):
            shown = _shown(element)
            if shown:
                yield shown
        else:
            stack.extend(reversed(element))


def _has_text(element: _Element) -> bool:
    if element.text and element.text.strip():
        return True
    return any(child.tail and child.tail.strip() for child in element)


def _shown(element: _Element) -> str:
    text = "".join(str(part) for part in element.itertext())
    if len(text) > _KEEP_LINES and "\n" in text and not len(element):
        return text.replace("\r\n", "\n").strip("\r\n ")
    return " ".join(text.split())


def _hints(head: bytes) -> dict[str, MetadataValue]:
    for kind, pattern in _KINDS:
        if pattern.search(head):
            return {DOC_TYPE: kind}
    return {}
