"""Read transcripts of calls from XML: a body of running text, or elements that name their speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.dates import first_date
from fin_rag.schema import DOC_TYPE, FILED, ISSUER, TICKER, Markup, MetadataValue
from fin_rag.text.canonical import decode

if TYPE_CHECKING:
    from lxml.etree import _Element

_SIGN: Final = re.compile(
    r"<(?:\w+:)?(?:Event|EventStory|transcripts?|earnings_?call|call_?transcript|conference_?call)[\s>]",
    re.IGNORECASE,
)
_ENTITY: Final = re.compile(r"<!ENTITY", re.IGNORECASE)
_HEAD: Final = 64 * 1024
_LONGEST_FIELD: Final = 200
_STORIES: Final = frozenset({"eventstory", "transcript", "transcripts"})
_BODIES: Final = frozenset({"body", "storybody", "text", "content"})
_TURNS: Final = frozenset(
    {"speaker", "turn", "speech", "utterance", "statement", "segment", "component", "row", "paragraph"}
)
_NAMES: Final = ("name", "speaker", "speaker_name", "speakername", "who", "person")
_ROLES: Final = ("title", "role", "position")
_FIRMS: Final = ("company", "firm", "affiliation", "entity", "organization", "corporation")
_WORDS: Final = ("text", "content", "speech", "plist", "p", "body", "paragraph", "words")
_KEYS: Final = {
    "companyname": ISSUER,
    "company": ISSUER,
    "companyticker": TICKER,
    "ticker": TICKER,
    "symbol": TICKER,
}


def read_transcript_xml(data: bytes, where: str) -> LoadedText | None:
    r"""Read a transcript from XML; ``None`` if the XML is something else.

    Raises:
        ParseError: if the XML declares entities or is broken, or if it is a transcript in which nothing is said.

    Example:
        >>> source = b"<Event><EventStory><Body>Operator  [1]&#13;\nGood day.</Body></EventStory></Event>"
        >>> read_transcript_xml(source, "call.xml").text
        'Operator  [1]\nGood day.'
    """
    from lxml import etree

    head = decode(data[:_HEAD]).text
    if not _SIGN.search(head):
        return None
    if _ENTITY.search(head) or b"<!ENTITY" in data or "<!ENTITY".encode("utf-16-le") in data:
        raise ParseError(
            f"{where} declares entities, which may expand without end or point outside. They are not read: replace "
            "them by what they stand for and remove the declarations."
        )
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
    if root is None:
        raise ParseError(f"{where} is no readable XML. Check that the file is whole.")
    unknown = next((node.text for node in root.iter(etree.Entity)), None)
    if unknown is not None:
        raise ParseError(f"{where} uses the entity {unknown}, which nothing in it declares. Replace it by its text.")
    text = _body(root) or "\n\n".join(_turns(root))
    if not text.strip():
        if any(_tag(element) in _STORIES for element in root.iter()):
            raise ParseError(f"{where} is a transcript without a 'Body' element or turns. Fetch the full file.")
        return None
    problems = tuple(f"line {entry.line}: {entry.message}" for entry in list(parser.error_log)[:3])
    warnings = (f"the XML is damaged and was read as far as possible ({'; '.join(problems)})",) if problems else ()
    return LoadedText(text, markup=Markup(warnings=warnings), hints=_hints(root))


def _tag(element: _Element) -> str:
    return element.tag.rpartition("}")[2].lower()


def _body(root: _Element) -> str:
    """Return the running text of the body, its lines kept; empty if the body is made of elements."""
    for element in root.iter():
        if (_tag(element) in _BODIES and element.text and "\n" in element.text.strip()) or _is_story(element):
            text = "".join(str(part) for part in element.itertext())
            return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n ")
    return ""


def _is_story(element: _Element) -> bool:
    parent = element.getparent()
    return _tag(element) == "body" and parent is not None and _tag(parent) == "eventstory"


def _turns(root: _Element) -> Iterator[str]:
    """Yield speaker lines and what was said, in order; a part's name is a title."""
    people = _people(root)
    last = ""
    for element in root.iter():
        tag = _tag(element)
        if tag in ("section", "part") and element.get("name"):
            yield f"# {_flat(str(element.get('name')))}"
            last = ""
        words = _words(element) if tag in _TURNS else ""
        if not words:
            continue
        line = _speaker_line(element, people)
        if line and line != last:
            yield line
        last = line or last
        yield words


def _people(root: _Element) -> dict[str, tuple[str, str, str]]:
    """Return name, role and firm of the participants that turns name by a number."""
    people: dict[str, tuple[str, str, str]] = {}
    for element in root.iter():
        number = element.get("id")
        if _tag(element) == "participant" and number:
            name = _flat(element.text or "") or _value(element, _NAMES)
            people[number] = (name, _value(element, _ROLES), _value(element, _FIRMS))
    return people


def _words(element: _Element) -> str:
    """Return what a turn says, paragraph by paragraph; empty if the element holds other turns."""
    if any(_tag(child) in _TURNS - {"paragraph"} and _tag(child) != "speaker" for child in element):
        return ""
    inside = [child for child in element if _tag(child) in _WORDS]
    if inside:
        paragraphs = [leaf for child in inside for leaf in ([p for p in child if _tag(p) in _WORDS] or [child])]
        return "\n\n".join(filter(None, (_flat("".join(map(str, p.itertext()))) for p in paragraphs)))
    if any(_tag(child) in _NAMES for child in element) or not (element.get("id") or _attribute(element, _NAMES)):
        return ""
    return _flat("".join(str(part) for part in element.itertext()))


def _speaker_line(element: _Element, people: Mapping[str, tuple[str, str, str]]) -> str:
    number = element.get("id") or element.get("speaker") or ""
    name, role, firm = people.get(number, (_value(element, _NAMES), _value(element, _ROLES), _value(element, _FIRMS)))
    parent = element.getparent()
    if not name and parent is not None:
        name = _value(parent, ("speaker",))
    said = [part for part in (role, firm) if part and part.casefold() != name.casefold()]
    return " -- ".join([f"## {name or '[unknown]'}", *said])


def _value(element: _Element, keys: tuple[str, ...]) -> str:
    found = _attribute(element, keys)
    if found:
        return found
    for key in keys:
        for child in element:
            if _tag(child) == key and child.text and child.text.strip():
                return _flat(child.text)
    return ""


def _attribute(element: _Element, keys: tuple[str, ...]) -> str:
    lower = {str(key).lower(): str(value) for key, value in element.attrib.items()}
    return next((_flat(lower[key]) for key in keys if lower.get(key, "").strip()), "")


def _flat(text: str) -> str:
    return " ".join(text.split())


def _hints(root: _Element) -> dict[str, MetadataValue]:
    hints: dict[str, MetadataValue] = {DOC_TYPE: "earnings_call"}
    for element in root.iter():
        tag, text = _tag(element), _flat((element.text or "")[:_LONGEST_FIELD])
        key = _KEYS.get(tag)
        if (
            key
            and text
            and key not in hints
            and len(text) < 120
            and (key != TICKER or re.fullmatch(r"[A-Z.]{1,8}", text))
        ):
            hints[key] = text
        if tag in ("startdate", "date") and FILED not in hints:
            day = first_date(text)
            if day:
                hints[FILED] = day
    return hints
