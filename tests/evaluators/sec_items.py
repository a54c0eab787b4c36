"""Adapter for the evaluators of SEC Items: canonical text in, rows of (id, heading, section text) out.

The two scripts beside the reviewed filings call ``items``; it only translates, it mends nothing. The third
value of a row is the whole section, heading included: the scripts know how to leave a heading out.
"""

from __future__ import annotations

from fin_rag.errors import ParseError
from fin_rag.loaders.html import read_html
from fin_rag.schema import ITEM, PAGE_MAP, PART, Markup, Span
from fin_rag.structure.filings import outline_filing


def items(content: str, form: str, is_html: bool) -> list[tuple[str, str, str]]:
    """Return ``(item id, heading, section text)`` of each Item, in document order."""
    text, markup, pages = content, Markup(), ""
    if is_html:
        try:
            loaded = read_html(content.encode())
        except ParseError:  # a page without text has no Items
            return []
        text, markup, pages = loaded.text, loaded.markup, loaded.page_map.format()
    outline = outline_filing(text, metadata={"doc_type": form, PAGE_MAP: pages}, markup=markup)
    rows = []
    # An index lists the Items in an order of its own; everywhere else the document's order counts.
    for section in sorted(outline, key=lambda s: s.metadata.get("index_position", 0)):
        if section.path[-1] == section.metadata.get(ITEM):
            name = (
                f"{section.metadata.get(PART, '')}, {section.metadata[ITEM]}"
                if form == "10-Q"
                else str(section.metadata[ITEM])
            )
            heading = section.heading or Span(section.span.start, section.span.start)
            rows.append((name, heading.slice(text), text[heading.start : section.span.end]))
    return rows
