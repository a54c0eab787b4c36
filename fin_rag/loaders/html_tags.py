"""Name what HTML elements do to the text, and which characters are no text."""

from __future__ import annotations

import re
from typing import Final

from fin_rag.loaders.html_model import BOLD, ITALIC, SUPERSCRIPT, UNDERLINE

INLINE_TAGS: Final = {
    "b": BOLD, "strong": BOLD, "i": ITALIC, "em": ITALIC, "cite": ITALIC, "dfn": ITALIC, "u": UNDERLINE,
    "ins": UNDERLINE, "sup": SUPERSCRIPT,
}  # fmt: skip
BLOCK_TAGS: Final = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "dd", "details", "div", "dl", "document",
    "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html", "legend", "main",
    "nav", "option", "p", "section", "summary", "tbody", "text", "tfoot", "thead",
})  # fmt: skip
HEADING_TAGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
LIST_TAGS: Final = ("ul", "ol", "dir", "menu")
RAW_TAGS: Final = ("pre", "listing", "xmp", "plaintext")
FACT_TAGS: Final = ("ix:nonfraction", "ix:nonnumeric", "ix:continuation", "ix:exclude", "ix:fraction")
SILENT_TAGS: Final = frozenset({
    "applet", "iframe", "ix:header", "ix:hidden", "ix:references", "ix:resources", "noscript", "object",
    "script", "select", "style", "svg", "template", "textarea", "title",
})  # fmt: skip
# Header lines of a document inside a submission; they are never closed.
SGML_TAGS: Final = ("type", "sequence", "filename", "description")

ODD: Final = re.compile("[\u00ad\u200b-\u200f\u2028-\u202e\u2060\ufeff\x00-\x08\x0e-\x1b\x7f-\x9f]")


def _odd_characters() -> dict[int, str | None]:
    """Map what is no visible character to nothing, and stray Windows-1252 codes to what they meant."""
    table: dict[int, str | None] = dict.fromkeys(range(9))
    table.update(dict.fromkeys(range(0x0E, 0x1C)))
    table.update(dict.fromkeys((0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), 0x2060, 0xFEFF, 0x7F)))
    for code in range(0x80, 0xA0):
        table[code] = bytes([code]).decode("cp1252", errors="ignore") or None
    table.update({0x2028: " ", 0x2029: " "})
    return table


CLEAN: Final = _odd_characters()
