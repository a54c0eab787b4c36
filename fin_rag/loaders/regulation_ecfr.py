"""Write eCFR XML: divisions by type, paragraphs, sources and editors' notes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fin_rag.loaders.regulation_writer import NO_VERSIONS, Writer, inner_text, squeezed, table_rows
from fin_rag.schema import LANG, TITLE

if TYPE_CHECKING:
    from lxml.etree import _Element

_LEVELS: Final = {
    "TITLE": 1, "SUBTITLE": 1, "CHAPTER": 2, "SUBCHAP": 3, "PART": 3, "SUBPART": 4, "SUBJGRP": 5,
    "APPENDIX": 4, "SECTION": 6,
}  # fmt: skip
_DIVISIONS: Final = frozenset(f"DIV{number}" for number in range(1, 10))
_NOTES: Final = frozenset(
    {
        "CITA",
        "AUTH",
        "SOURCE",
        "EDNOTE",
        "EFFDNOT",
        "EFFDNOTP",
        "CROSSREF",
        "SECAUTH",
        "APPRO",
        "FTNT",
        "PARAUTH",
        "NOTE",
        "STARS",
    }
)
_LEFT_OUT: Final = {
    "CFRTOC": "contents",
    "PG": "page_number",
    "HEADER": "header",
    "AMDDATE": "header",
    "img": "image",
    "MATH": "formula",
}
_SUBHEADS: Final = frozenset({"HD1", "HD2", "HD3", "HED", "SUBJECT", "RESERVED"})
_PARAGRAPHS: Final = frozenset(
    {"P", "FP", "FP-1", "FP-2", "FP-DASH", "FP1-2", "FRP", "PSPACE", "LI", "STEP", "LDRWK", "P-1", "P-2"}
)
_CELLS: Final = frozenset({"TD", "TH", "ENT", "CHED", "td", "th"})
_MARKS: Final = {
    "I": ("*", "*"),
    "SU": ("<sup>", "</sup>"),
    "FR": ("", ""),
    "sup": ("<sup>", "</sup>"),
    "BR": (" ", ""),
}


def is_ecfr(root: _Element) -> bool:
    """Tell whether the XML has the numbered divisions of the Code of Federal Regulations."""
    return next((e for e in root.iter(*_DIVISIONS) if e.get("TYPE")), None) is not None


def write_ecfr(root: _Element, writer: Writer, as_of: int | None) -> None:
    """Write the divisions in order; the format holds one version, so ``as_of`` only leaves a warning."""
    if as_of is not None:
        writer.warnings.append(NO_VERSIONS)
    writer.hints[LANG] = "en"
    _hint_title(root, writer)
    stack: list[_Element] = [root]
    while stack:
        element = stack.pop()
        tag = element.tag
        if not isinstance(tag, str):
            continue  # type: ignore[unreachable]  # processing instructions have a function for a tag
        if not _write_block(element, tag, writer):
            if element.text and element.text.strip():
                writer.paragraph(element.text)
            if tag in _DIVISIONS:
                writer.anchor(element.get("NODE") or element.get("N"))
            stack.extend(reversed(element))


def _write_block(element: _Element, tag: str, writer: Writer) -> bool:
    """Write an element that is one block; return whether it was."""
    if tag in _LEFT_OUT:
        writer.left_out[_LEFT_OUT[tag]] += 1
    elif tag in _NOTES:
        _note(element, writer)
    elif tag == "HEAD":
        writer.heading(_shown(element), _level(element))
    elif tag in _SUBHEADS:
        writer.title(_shown(element))
    elif tag in ("TABLE", "GPOTABLE", "table"):
        writer.table(table_rows(element.iter("TR", "ROW", "BOXHD", "tr"), _CELLS, _shown))
    elif tag in _PARAGRAPHS or not len(element):
        writer.paragraph(_shown(element))
    else:
        return False
    return True


def _hint_title(root: _Element, writer: Writer) -> None:
    """Name the document by its outermost division."""
    outermost = next((e for e in root.iter(*_DIVISIONS) if e.get("TYPE")), None)
    head = outermost.find("HEAD") if outermost is not None else None
    if head is not None:
        writer.hints[TITLE] = squeezed(_shown(head))


def _level(head: _Element) -> int:
    parent = head.getparent()
    kind = parent.get("TYPE", "") if parent is not None else ""
    return _LEVELS.get(kind, 5)


def _note(element: _Element, writer: Writer) -> None:
    label = element.find("HED")
    paragraphs = [child for child in element if child is not label and isinstance(child.tag, str)]
    if not paragraphs or (element.text and element.text.strip()):
        writer.note(_shown(element))
        return
    name = f"{squeezed(_shown(label))} " if label is not None else ""
    for child in paragraphs:
        writer.note(f"{name}{squeezed(_shown(child))}")
        name = ""


def _shown(element: _Element) -> str:
    return inner_text(element, mark=_mark, skip=lambda node: node.tag in _LEFT_OUT)


def _mark(node: _Element) -> tuple[str, str] | None:
    if node.tag == "E":
        return ("*", "*") if node.get("T") in ("03", "52", "7462") else None
    return _MARKS.get(str(node.tag))
