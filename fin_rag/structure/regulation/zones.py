"""Lines of a statute that are no provision: editors' notes, page furniture, front matter, signatures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from fin_rag.schema import Markup
from fin_rag.structure.regulation.lines import Line
from fin_rag.structure.regulation.systems import BASEL, CFR, FCA, FINRA

BODY, NOTE, FURNITURE, FRONT, SIGNATURE, QUOTE, CONTENTS = (
    "",
    "note",
    "furniture",
    "front",
    "signature",
    "quote",
    "contents",
)

_FURNITURE: Final = re.compile(
    r"(?:BOLET[ÍI]N OFICIAL (?:DEL ESTADO|DE .{1,60})\Z"
    r"|LEGISLACI[ÓO]N CONSOLIDADA\Z"
    r"|N[úu]m\. ?\d{1,4}\b.{0,90}(?:P[áa]g|Sec|\d{4})\.?.{0,60}\Z"
    r"|(?:Sec\. [IVX]+[.A-Z]* ?)?P[áa]g(?:ina|\.) ?\d{1,6}(?: de \d{1,5})?\Z"
    r"|cve: ?BOE-\S{1,40}\Z|BOE-[A-Z]-\d{4}-\d{1,6}\Z|Verificable en .{1,60}\Z"
    r"|ISSN: ?\d{4}-?[\dX]{4}.{0,40}\Z|D\. ?L\.: ?[A-Z]{1,2} ?-? ?\d.{0,30}\Z"
    r"|[LC] ?\d{1,4}/\d{1,4}(?: [A-Z]{2})?(?: Official Journal .{0,60})?\Z"
    r"|(?:[A-Z]{2} )?(?:Official Journal of the European (?:Union|Communities)"
    r"|Diario Oficial de la Uni[óo]n Europea|Amtsblatt der Europ.{0,30})"
    r"(?: [LC] ?\d{1,4}/\d{1,4})?(?: \d{1,2}\.\d{1,2}\.\d{4})?\Z"
    r"|\d{1,2}\.\d{1,2}\.\d{4} (?:[A-Z]{2} )?(?:Official Journal|Diario Oficial|Amtsblatt).{0,80}\Z"
    r"|[▼►◄] ?[A-Z]?\d{0,3}(?: [▼►◄][A-Z]?\d{0,3}){0,3}[ —–-]{0,12}\Z"
    r"|-{2,}\Z|[—–_*=•\s]{4,}\Z|[-–— ]{0,3}\d{1,4}[-–— ]{0,3}\Z"
    r"|(?:Page|P[áa]gina|Seite) \d{1,4}(?: (?:of|de|von) \d{1,4})?\Z|=+ ?PAGE ?\d{1,5} ?=+\Z)"
)
_CONSOLIDATED: Final = re.compile(
    r"(?:Se (?:modifica|a[ñn]ade|deroga|suprime|renumera|sustituye|declara|interpreta|deja sin efecto|redacta"
    r"|actualiza|corrige|prorroga)n?\b"
    r"|(?:[ÚU]ltima (?:actualizaci[óo]n|modificaci[óo]n)|Texto (?:a[ñn]adido|original|modificado)"
    r"|Redacci[óo]n (?:dada|seg[úu]n|anterior)"
    r"|V[ée]ase (?:la|el) (?:nota|redacci[óo]n)|T[éeo]ngase en cuenta|Notas? de (?:vigencia|la redacci[óo]n)"
    r"|Ref\. BOE|Esta modificaci[óo]n|Entendemos que|Nota (?:del editor|editorial)))",
    re.IGNORECASE,
)
_BY_ACT: Final = re.compile(
    r"\b(?:por|seg[úu]n|en virtud de)\b.{0,60}\b(?:art|arts|art[íi]culo|disposici[óo]n|disp|ley|real decreto"
    r"|norma|circular|sentencia|orden)\b",
    re.IGNORECASE,
)
_STARRED: Final = re.compile(r"(?:<small>|<sup>)?[ ]?\([*†‡]{1,3}\)|<small>")
_NOTE_LINES: Final = {
    CFR: re.compile(
        r"\[[^\]]{0,400}\b\d{1,3} FR \d{1,6}.*|\[Reg\. [A-Z]{1,3}\b.*\]\Z|(?:Authority|Source"
        r"|Editorial Notes?|Effective Date Notes?|Cross References?|Note|Authenticity)\s?:",
        re.IGNORECASE,
    ),
    FINRA: re.compile(r"(?:Amended|Adopted|Renumbered|Deleted|Effective|Paragraph .{1,30} amended)"
                      r"\b.{0,80}\b(?:SR-|eff\b)|Selected Notices?\b"
                      r"|[•*\s]{3,}Cross Reference", re.IGNORECASE),
    BASEL: re.compile(r"Version effective as of\b|Footnotes?\Z|\[\d{1,3}\]|FAQ ?\d{0,2}\b"
                      r"|Frequently asked questions", re.IGNORECASE),
    FCA: re.compile(r"(?:Note|\[Note):", re.IGNORECASE),
}  # fmt: skip
_FOOT: Final = re.compile(r"(?:\([ ]?\d{1,3}[ ]?\)|\[\d{1,3}\]|\d{1,3}[ ]?\))[ ]*(?P<rest>.*)\Z")
_JOURNAL: Final = re.compile(
    r"\b(?:OJ|DO|ABl\.|JO)[ ](?:No[ ])?[LCS][ ]?\d|(?:not yet published|pendiente de publicaci[óo]n)[ ]",
    re.IGNORECASE,
)
_SIGNATURE: Final = re.compile(
    r"(?:Done (?:at|in) \w|Hecho en \w|Geschehen zu \w|Dado en \w|Por tanto,\Z|Por tanto, mando\b"
    r"|[A-ZÁÉÍÓÚÑ][\wáéíóúñ ]{2,30}, (?:a )?\d{1,2} de [a-z]{4,10} de \d{4}\.?[ ]?(?:[-–—]|\Z))"
)
_BLOCKS: Final = re.compile(r"FAQ ?\d{0,2}\b|Frequently asked questions", re.IGNORECASE)


def zones_of(
    lines: Sequence[Line],
    system: str,
    markup: Markup,
    is_heading: Callable[[int], bool],
    is_label: Callable[[int], bool],
) -> list[str]:
    """Name what each line is: body, note, furniture, front matter.

    Args:
        lines: the lines of the text.
        system: the family of statutes.
        markup: links of the source, which tell footnotes by the way back.
        is_heading: tells whether a line opens a provision.
        is_label: tells whether a line begins with the label of a paragraph or point.
    """
    zones = [BODY] * len(lines)
    for index in range(_front_matter(lines)):
        zones[index] = FRONT
    returns = _return_lines(lines, markup)
    in_block = False
    for index, line in enumerate(lines):
        if zones[index]:
            continue
        heading = is_heading(index)
        in_block = in_block and not heading
        zones[index] = _zone(lines, index, system, zones, is_heading, labelled=is_label(index))
        if not heading and index in returns:
            zones[index] = NOTE
        if system == BASEL and not heading:
            in_block = in_block or bool(_BLOCKS.match(line.text))
            zones[index] = NOTE if in_block else zones[index]
    return zones


def _front_matter(lines: Sequence[Line]) -> int:
    """Return how many lines a YAML block at the top takes."""
    if not lines or lines[0].text != "---":
        return 0
    for index in range(1, min(len(lines), 400)):
        if lines[index].text in ("---", "..."):
            return index + 1
    return 0


def _return_lines(lines: Sequence[Line], markup: Markup) -> set[int]:
    """Return the lines that begin with a link to somewhere above: the notes at the foot of a web page."""
    targets = markup.anchors
    back = [span.start for span, target in markup.links if targets.get(target, span.start) < span.start]
    found: set[int] = set()
    at = 0
    for start in sorted(back):
        while at < len(lines) and lines[at].end <= start:
            at += 1
        if at < len(lines) and start - lines[at].start <= 3 and _FOOT.match(lines[at].text):
            found.add(at)
    return found


def _zone(
    lines: Sequence[Line],
    index: int,
    system: str,
    zones: Sequence[str],
    is_heading: Callable[[int], bool],
    *,
    labelled: bool,
) -> str:
    line, heading = lines[index], is_heading(index)
    text = line.text
    if line.quoted:
        before = zones[index - 1] if index and lines[index - 1].quoted and not line.blank_before else ""
        return before or (
            QUOTE if (heading or labelled or text[0] in "«“‘„") and not _CONSOLIDATED.match(text) else NOTE
        )
    if heading:
        return BODY
    if text.strip("-–—_ ") == "" and index and is_heading(index - 1):
        return BODY  # dashes in place of a text that was deleted
    if _FURNITURE.match(text) or text in ("EN", "ES", "DE"):
        return FURNITURE
    pattern = _NOTE_LINES.get(system)
    if (pattern and pattern.match(text)) or _STARRED.match(text) or _foot_note(text):
        return NOTE
    if _CONSOLIDATED.match(text) and line.finished and not text.endswith(":") and _is_history(lines, index):
        return NOTE
    return BODY


def _foot_note(text: str) -> bool:
    match = _FOOT.match(text)
    if not match:
        return False
    return text[0] == "[" or (bool(_JOURNAL.search(match["rest"])) and len(text) < 600)


def _is_history(lines: Sequence[Line], index: int) -> bool:
    """Tell an editor's note on amendments from a provision that amends."""
    line = lines[index]
    if "BOE-A-" in line.text:
        return True
    follows_quote = index + 1 < len(lines) and lines[index + 1].text[0] in "«“"
    return line.blank_before and bool(_BY_ACT.search(line.text[:400])) and not follows_quote


def is_furniture(line: Line) -> bool:
    """Tell whether a line belongs to the printed page: a running head, a page number, an amendment mark."""
    return bool(_FURNITURE.match(line.text))


def is_signature(line: Line) -> bool:
    """Tell whether a line closes the enacting terms: place and date, or the words that send the act out."""
    return bool(_SIGNATURE.match(line.text))
