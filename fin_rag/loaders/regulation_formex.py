"""Write Formex XML, the format of the Official Journal of the European Union."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from fin_rag.loaders.regulation_writer import NO_VERSIONS, Writer, inner_text, squeezed, table_rows
from fin_rag.schema import FILED, LANG, TITLE

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROOTS: Final = ("ENACTING.TERMS", "ARTICLE", "GR.CONSID", "CONS.DOC", "CONS.ANNEX")
_LEFT_OUT: Final = {
    "BIB.INSTANCE": "header", "BIB.DATA": "header", "BIB.INSTANCE.CONS": "header", "FAM.COMP": "header",
    "INFO.CONSLEG": "header", "INFO.PROD": "header", "GR.MOD.ACT": "header", "GR.CORRIG": "header",
    "TOC": "contents", "INCL.ELEMENT": "image",
}  # fmt: skip
_NOTE: Final = "NOTE"
_POINTS: Final = (
    _NOTE,
    "QUOT.START",
    "QUOT.END",
)  # marks of a place: what stands there is written, nothing below
_CALL: Final = "fin_rag.call"
# Elements that stand inside a line of text.
_INLINE: Final = frozenset(
    {"HT", "DATE", "NOTE", "QUOT.START", "QUOT.END", "FT", "FORMULA", "EXPR", "IND", "EXPONENT", "OVER",
     "FRACTION", "ROOT.EXPR", "IE", "LINK", "REF.DOC", "REF.DOC.OJ", "REF.DOC.ECR", "REF.DOC.SE", "REF.NP", "ANCHOR",
     "ADR.S", "BR", "KEYWORD", "OP.CMP", "OP.MATH", "FMT.VALUE", "ACT.REF"}
)  # fmt: skip
_CELLS: Final = frozenset({"CELL"})
_DIVISION_LEVELS: Final = 5
_Part: TypeAlias = "tuple[_Element | str, int, str]"


def is_formex(root: _Element) -> bool:
    """Tell whether the XML is Formex: articles, recitals or annexes by that format's names."""
    return next(root.iter(*_ROOTS), None) is not None or root.tag in ("ACT", "ANNEX", "LEXP.COMBINED")


def write_formex(root: _Element, writer: Writer, as_of: int | None) -> None:
    """Write title, recitals, articles, signature, annexes in order; footnotes below the text that calls them."""
    if as_of is not None:
        writer.warnings.append(NO_VERSIONS)
    published = next((e.get("ISO", "") for e in root.iter("DATE") if _is_of_issue(e)), "")
    if len(published) == 8 and published.isdigit():
        writer.hints[FILED] = int(published)
    language = next((e.text for e in root.iter("LG.DOC", "LG") if e.text), "")
    if language.strip().upper() in ("EN", "ES"):
        writer.hints[LANG] = language.strip().lower()
    _act_title(root, writer)
    _Body(writer).write(root)


def _is_of_issue(element: _Element) -> bool:
    """Tell the day of the Official Journal, or of a consolidation, from the days that a text speaks of."""
    parent = element.getparent()
    return parent is not None and parent.tag == "BIB.INSTANCE"


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
        stack: list[_Part] = [(root, 0, "")]
        while stack:
            part, depth, label = stack.pop()
            if isinstance(part, str):
                self._writer.paragraph(part)
            elif isinstance(part.tag, str):
                stack.extend(reversed(self._one(part, depth, label)))
        self._flush()

    def _one(self, element: _Element, depth: int, label: str) -> list[_Part]:
        """Write one element, or return the parts of it that are blocks themselves."""
        tag = str(element.tag)
        if tag in _LEFT_OUT:
            self._writer.left_out[_LEFT_OUT[tag]] += 1
        elif tag == "TITLE":
            self._title(element, depth)
        elif tag in ("TI.ART", "STI.ART"):
            self._article_title(element)
        elif tag == "TBL":
            title = element.find("TITLE")
            self._writer.paragraph(self._text(title) if title is not None else "")
            self._writer.table(table_rows(element.iter("ROW"), _CELLS, self._text))
        elif tag in ("PARAG", "NP", "CONSID", "DLIST.ITEM"):
            return self._labelled(element, depth, label)
        elif _has_blocks(element):
            self._writer.anchor(element.get("IDENTIFIER"))
            return self._mixed(element, depth + 1 if tag in ("DIVISION", "GR.SEQ") else depth, label)
        else:
            self._writer.paragraph(f"{label} {self._text(element)}")
        return []

    def _labelled(self, element: _Element, depth: int, label: str) -> list[_Part]:
        """Put the number of a paragraph or point in front of its first block."""
        self._writer.anchor(element.get("IDENTIFIER"))
        parts: list[_Part] = []
        waiting = label
        for child in element:
            if child.tag in ("NO.PARAG", "NO.P", "TERM"):
                waiting = f"{waiting} {self._text(child)}".strip()
            elif isinstance(child.tag, str):
                parts.append((child, depth, waiting))
                waiting = ""
        if waiting:
            parts.append((waiting, depth, ""))
        if element.text and element.text.strip():
            parts.insert(0, (f"{label} {element.text}", depth, ""))
        return parts

    def _mixed(self, element: _Element, depth: int, label: str) -> list[_Part]:
        """Cut an element into its blocks and the lines of text between them."""
        parts: list[_Part] = []
        run = [label, element.text or ""]

        def settle() -> None:
            if squeezed(" ".join(run[1:])):
                parts.append((" ".join(run), depth, ""))
                run[:] = ["", ""]

        for child in element:
            if not isinstance(child.tag, str):  # processing instructions have a function for a tag
                run.append(child.tail or "")  # type: ignore[unreachable]
            elif child.tag in _INLINE:
                run.append(self._text(child, alone=True) + (child.tail or ""))
            else:
                settle()
                parts.append((child, depth, run[0]))
                run[:] = ["", child.tail or ""]
        settle()
        return parts

    def _title(self, element: _Element, depth: int) -> None:
        parent = element.getparent()
        if parent is None or parent.tag in ("ACT", "CONS.ACT", "CONS.DOC", "BIB.DATA"):
            return
        if not _is_quoted(element):
            self._flush()
        for part in element:
            if part.tag in ("TI", "STI") and _is_quoted(part):
                self._writer.paragraph(self._text(part))
            elif part.tag == "TI":
                self._writer.heading(self._text(part), min(2 + depth, _DIVISION_LEVELS))
            elif part.tag == "STI":
                self._writer.title(self._text(part))

    def _article_title(self, element: _Element) -> None:
        if _is_quoted(element):
            self._writer.paragraph(self._text(element))
            return
        self._flush()
        if element.tag == "TI.ART":
            self._writer.heading(self._text(element), 6)
        else:
            self._writer.title(self._text(element))

    def _text(self, element: _Element, *, alone: bool = False) -> str:
        """Return the text of an element; footnotes leave a call and are kept for later."""
        for note in [element] if alone and element.tag == _NOTE else element.iter(_NOTE):
            if note.get(_CALL) or note.get("NOTE.ID") is None:
                continue  # a second call of a note that was written already
            self._note_count += 1
            note.set(_CALL, str(self._note_count))
            self._notes.append(
                f"(<sup>{self._note_count}</sup>) "
                f"{squeezed(' '.join(_plain(part) for part in note) or note.text or '')}"
            )
        if alone:
            around = _mark(element)
            inner = "" if element.tag == _NOTE else _plain(element)
            return f"{around[0]}{inner}{around[1]}" if around else inner
        return _plain(element)

    def _flush(self) -> None:
        for note in self._notes:
            self._writer.note(note)
        self._notes = []


def _has_blocks(element: _Element) -> bool:
    return any(str(child.tag) not in _INLINE for child in element.iterchildren("*"))


def _is_quoted(element: _Element) -> bool:
    """Tell whether an element is part of a text that an amending act quotes."""
    return next(element.iterancestors("QUOT.S"), None) is not None


def _plain(element: _Element) -> str:
    return inner_text(element, mark=_mark, skip=lambda node: node.tag in _LEFT_OUT or node.tag in _POINTS)


def _mark(node: _Element) -> tuple[str, str] | None:
    if node.tag == _NOTE:
        return (f" (<sup>{node.get(_CALL)}</sup>)", "") if node.get(_CALL) else ("", "")
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
