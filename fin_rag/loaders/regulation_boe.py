"""Write BOE open-data XML: the version of each block that is in force, or that was on a date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from fin_rag.loaders.regulation_writer import Writer, inner_text, table_rows
from fin_rag.schema import FILED, LANG, TITLE

if TYPE_CHECKING:
    from lxml.etree import _Element

_LEVELS: Final = {
    "libro": 2, "parte": 2, "titulo": 2, "anexo": 2, "capitulo": 3, "seccion": 4, "subseccion": 5, "articulo": 6,
}  # fmt: skip
_SKIPPED: Final = frozenset({"img", "imagen"})
_CELLS: Final = frozenset({"td", "th"})
_ITALIC: Final = frozenset({"em", "i", "cursiva"})
_RAISED: Final = frozenset({"sup", "sub"})


def is_boe(root: _Element) -> bool:
    """Tell whether the XML is a text of the BOE: blocks with versions, or paragraphs with the BOE's classes."""
    if next(root.iter("bloque"), None) is not None:
        return True
    found = next(root.iter("texto"), None)
    return root.tag == "documento" and found is not None and next(found.iter("p"), None) is not None


def write_boe(root: _Element, writer: Writer, as_of: int | None) -> None:
    """Write the blocks in order, each in one version."""
    writer.hints[LANG] = "es"
    title = next((e for e in root.iter("titulo") if (e.text or "").strip()), None)
    if title is not None:
        shown = " ".join("".join(str(part) for part in title.itertext()).split())
        writer.hints[TITLE] = shown
        writer.heading(shown, 1)
    known = max((_digits(e.text) for e in root.iter("fecha_publicacion")), default=0)
    blocks = list(root.iter("bloque"))
    if not blocks:
        for text in root.iter("texto"):
            _write_children(text, writer)
        return
    undated = 0
    for block in blocks:
        versions = [child for child in block if child.tag == "version"]
        undated += sum(1 for version in versions if not _date(version)) if len(versions) > 1 else 0
        chosen = _in_force(versions, as_of)
        writer.left_out["version"] += len(versions) - (chosen is not None)
        if chosen is None and versions:
            writer.left_out["block_not_in_force"] += 1
            continue
        known = max(known, _digits(chosen.get("fecha_publicacion")) if chosen is not None else 0)
        writer.anchor(block.get("id"))
        _write_children(chosen if chosen is not None else block, writer)
    if known:
        writer.hints[FILED] = known  # the day on which the last of this wording was made public
    if writer.left_out["block_not_in_force"]:
        writer.warnings.append(
            f"{writer.left_out['block_not_in_force']} block(s) were not in force on {as_of}; left out."
        )
    if undated:
        writer.warnings.append(
            f"{undated} version(s) have no date; of those the last in the file counts as the newest."
        )
    writer.left_out += type(writer.left_out)()  # drops zeros


def _date(version: _Element) -> int:
    for key in ("fecha_vigencia", "fecha_publicacion"):
        value = _digits(version.get(key))
        if value:
            return value
    return 0


def _digits(text: str | None) -> int:
    """Return a date as the BOE writes it, ``YYYYMMDD``; 0 if it is none or stands for *never*."""
    value = (text or "").strip()
    return int(value) if len(value) == 8 and value.isdigit() and value != "99999999" else 0


def _in_force(versions: Sequence[_Element], as_of: int | None) -> _Element | None:
    """Return the newest version that had come into force; one without a date counts from its place in the file."""
    best: tuple[int, int] | None = None
    last = 0
    for index, version in enumerate(versions):
        when = _date(version) or last
        last = max(last, when)
        if as_of is not None and when > as_of:
            continue
        if best is None or (when, index) >= best:
            best = (when, index)
    return versions[best[1]] if best else None


def _write_children(parent: _Element, writer: Writer) -> None:
    """Write the paragraphs, tables and notes below an element in order; no recursion."""
    stack: list[tuple[_Element, bool]] = [(child, False) for child in reversed(parent)]
    while stack:
        element, quoted = stack.pop()
        if not isinstance(element.tag, str):
            continue  # type: ignore[unreachable]  # processing instructions have a function for a tag
        if element.tag == "p":
            _paragraph(element, writer, quoted=quoted)
        elif element.tag in ("table", "tabla"):
            writer.table(table_rows(_rows(element), _CELLS, _shown))
        elif element.tag in _SKIPPED:
            writer.left_out["image"] += 1
        elif len(element):
            inside = quoted or (element.tag == "blockquote" and element.get("class", "").startswith(("nota", "pie")))
            if element.text and element.text.strip():
                writer.paragraph(element.text)
            stack.extend((child, inside) for child in reversed(element))
        elif element.text and element.text.strip():
            writer.paragraph(element.text)


def _rows(table: _Element) -> Iterator[_Element]:
    return table.iter("tr", "fila")


def _paragraph(element: _Element, writer: Writer, *, quoted: bool) -> None:
    kind = element.get("class", "")
    text = _shown(element)
    stem, _, part = kind.partition("_")
    writer.left_out["image"] += sum(1 for child in element.iter() if child.tag in _SKIPPED)
    if quoted or kind.startswith(("nota", "pie", "cita_con_pleca", "cita_ley")):
        writer.note(text)
    elif stem in _LEVELS and part in ("", "num"):
        writer.heading(text, _LEVELS[stem])
    elif stem in _LEVELS and part.startswith("tit"):
        writer.title(text)
    else:
        writer.paragraph(text)


def _shown(element: _Element) -> str:
    return inner_text(element, mark=_mark, skip=lambda node: node.tag in _SKIPPED)


def _mark(node: _Element) -> tuple[str, str] | None:
    if node.tag in _ITALIC:
        return "*", "*"
    if node.tag in _RAISED:
        return f"<{node.tag}>", f"</{node.tag}>"
    return (" ", "") if node.tag == "br" else None
