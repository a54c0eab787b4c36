"""Write Formex XML, the format of the Official Journal of the European Union."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fin_rag.loaders.regulation_writer import Writer, inner_text, squeezed, table_rows
from fin_rag.schema import LANG, TITLE

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROOTS: Final = ("ENACTING.TERMS", "ARTICLE", "GR.CONSID", "CONS.DOC", "CONS.ANNEX")
_LEFT_OUT: Final = {
    "BIB.INSTANCE": "header", "BIB.DATA": "header", "BIB.INSTANCE.CONS": "header", "FAM.COMP": "header", "INFO.CONSLEG": "header",
    "INFO.PROD": "header", "GR.MOD.ACT": "header", "GR.CORRIG": "header", "TOC": "contents", "INCL.ELEMENT": "image",
}  # fmt: skip
_INLINE_NOTE: Final = "NOTE"
# Elements whose children are blocks of their own.
_GROUPS: Final = frozenset(
    {"LEXP.COMBINED", "ACT", "CONS.ACT", "CONS.DOC", "PREAMBLE", "GR.VISA", "GR.CONSID", "ENACTING.TERMS", "DIVISION", "ARTICLE", "FINAL",
     "SIGNATURE", "CONTENTS", "ANNEX", "CONS.ANNEX", "GR.SEQ", "LIST", "ITEM", "DLIST", "ROOT", "CORPUS", "GR.ANNEX", "SUBDIV",
     "PL.DATE", "GR.TBL", "COMMENT", "GR.NOTES", "QUOT.S", "GR.AMEND", "GENERAL", "PROLOG", "LIST.AMEND"}
)  # fmt: skip
_CELLS: Final = frozenset({"CELL"})
_DIVISION_LEVELS: Final = 5


def is_formex(root: _Element) -> bool:
    """Tell whether the XML is Formex: articles, recitals or annexes by that format's names."""
    return next(root.iter(*_ROOTS), None) is not None or root.tag in ("ACT", "ANNEX", "LEXP.COMBINED")


def write_formex(root: _Element, writer: Writer, as_of: int | None) -> None:
    """Write title, recitals, articles, signature and annexes in order, footnotes where the text that calls them ends."""
    if as_of is not None:
        writer.warnings.append("this format holds one version of the text; 'as_of' was not applied.")
    language = next((e.text for e in root.iter("LG.DOC", "LG") if e.text), "")
    if language.strip().upper() in ("EN", "ES"):
        writer.hints[LANG] = language.strip().lower()
    _act_title(root, writer)
    _Body(writer).write(root)


def _act_title(root: _Element, writer: Writer) -> None:
    """Write the title of the act; consolidated texts keep it in their header."""
    title = next((e for e in root.iter("TITLE") if _is_act_title(e)), None)
    if title is None:
        return
    lines = [squeezed(_plain(p)) for p in title.iter("P")] or [squeezed(_plain(title))]
    lines = [line for line in lines if line]
    if lines:
        writer.hints[TITLE] = " ".join(lines[:3])
        writer.heading(" ".join(lines), 1)


def _is_act_title(title: _Element) -> bool:
    parent = title.getparent()
    if parent is None or parent.tag not in ("ACT", "BIB.DATA", "CONS.ACT", "CONS.DOC"):
        return False
    above = parent.getparent()
    return parent.tag != "BIB.DATA" or (above is not None and above.tag == "FAM.COMP")


class _Body:
    """Walk a Formex tree and write its blocks."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._notes: list[str] = []
        self._note_count = 0

    def write(self, root: _Element) -> None:
        """Write everything below an element in order; no recursion, so depth does not matter."""
        stack: list[tuple[_Element, int, str]] = [(root, 0, "")]
        while stack:
            element, depth, label = stack.pop()
            if isinstance(element.tag, str):
                stack.extend(reversed(self._one(element, depth, label)))
        self._flush()

    def _one(self, element: _Element, depth: int, label: str) -> list[tuple[_Element, int, str]]:
        """Write one element, or return the parts of it that are blocks themselves."""
        tag = str(element.tag)
        if tag in _LEFT_OUT:
            self._writer.left_out[_LEFT_OUT[tag]] += 1
            return []
        if tag == "TITLE":
            self._title(element, depth)
            return []
        if tag in ("TI.ART", "STI.ART"):
            self._article_title(element)
            return []
        if tag == "TBL":
            self._writer.table(table_rows(element.iter("ROW"), _CELLS, self._text))
            return []
        if tag in ("PARAG", "NP", "CONSID", "DLIST.ITEM"):
            return self._labelled(element, depth, label)
        if tag in ("ALINEA", "TXT", "P") and self._has_blocks(element):
            return self._mixed(element, depth, label)
        if tag in _GROUPS or self._has_blocks(element):
            self._writer.anchor(element.get("IDENTIFIER"))
            inner = depth + 1 if tag in ("DIVISION", "GR.SEQ") else depth
            return [(child, inner, label if index == 0 else "") for index, child in enumerate(element)]
        self._paragraph(f"{label} {self._text(element)}")
        return []

    def _labelled(self, element: _Element, depth: int, label: str) -> list[tuple[_Element, int, str]]:
        """Put the number of a paragraph or point in front of its first block."""
        self._writer.anchor(element.get("IDENTIFIER"))
        parts: list[tuple[_Element, int, str]] = []
        waiting = label
        for child in element:
            if child.tag in ("NO.PARAG", "NO.P", "TERM"):
                waiting = f"{waiting} {self._text(child)}".strip()
            else:
                parts.append((child, depth, waiting))
                waiting = ""
        if waiting:
            self._paragraph(waiting)
        if not parts and element.text and element.text.strip():
            self._paragraph(f"{label} {self._text(element)}")
        return parts

    def _mixed(self, element: _Element, depth: int, label: str) -> list[tuple[_Element, int, str]]:
        """Write the text of an element up to its first block, and return its blocks."""
        if element.text and element.text.strip():
            self._paragraph(f"{label} {element.text}")
            label = ""
        parts = []
        for child in element:
            parts.append((child, depth, label))
            label = ""
            if child.tail and child.tail.strip():
                self._writer.left_out["text_between_blocks"] += 1
        return parts

    @staticmethod
    def _has_blocks(element: _Element) -> bool:
        return any(child.tag in ("LIST", "P", "NP", "TBL", "DLIST", "ALINEA", "GR.SEQ", "QUOT.S", "ITEM", "CONTENTS") for child in element)

    def _title(self, element: _Element, depth: int) -> None:
        parent = element.getparent()
        if parent is None or parent.tag in ("ACT", "CONS.ACT", "CONS.DOC", "BIB.DATA", "TBL"):
            if parent is not None and parent.tag == "TBL":
                self._paragraph(_plain(element))
            return
        self._flush()
        for part in element:
            if part.tag == "TI":
                self._writer.heading(self._text(part), min(2 + depth, _DIVISION_LEVELS))
            elif part.tag == "STI":
                self._writer.title(self._text(part))

    def _article_title(self, element: _Element) -> None:
        self._flush()
        if element.tag == "TI.ART":
            self._writer.heading(self._text(element), 6)
        else:
            self._writer.title(self._text(element))

    def _paragraph(self, text: str) -> None:
        self._writer.paragraph(text)

    def _text(self, element: _Element) -> str:
        """Return the text of an element; footnotes leave a call and are kept for later."""
        for note in element.iter(_INLINE_NOTE):
            self._note_count += 1
            note.set("CALL", str(self._note_count))
            shown = squeezed(" ".join(_plain(part) for part in note) or _plain(note))
            self._notes.append(f"({self._note_count}) {shown}")
        return _plain(element)

    def _flush(self) -> None:
        for note in self._notes:
            self._writer.note(note)
        self._notes = []


def _plain(element: _Element) -> str:
    return inner_text(element, mark=_mark, skip=lambda node: node.tag in _LEFT_OUT)


def _mark(node: _Element) -> tuple[str, str] | None:
    if node.tag in ("QUOT.START", "QUOT.END"):
        return _quotation(node), ""
    if node.tag == "HT" and node.get("TYPE") == "SUP":
        return "<sup>", "</sup>"
    return (" ", " ") if node.tag in ("P", "HT", "DATE") and node.get("TYPE") in (None, "UC") else None


def _quotation(node: _Element) -> str:
    try:
        return chr(int(node.get("CODE", "0022"), 16))
    except (ValueError, OverflowError):
        return '"'
