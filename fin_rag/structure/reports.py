"""Outline of reports, prospectuses, key information documents, research notes and any other text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

from fin_rag.schema import TITLE, Markup, Outline, Section, Span
from fin_rag.structure.headings import Heading, headings

_LONGEST_SLUG: Final = 48
_NO_WORD: Final = re.compile(r"[\W_]+")


def outline_report(
    text: str,
    *,
    metadata: Mapping[str, object],
    markup: Markup | None = None,
    detect_markdown: bool = True,
) -> Outline:
    r"""Outline a document by its headings.

    A section starts at its heading and ends where the next heading of the same or a higher level starts.
    The document's own title, where it opens the text, is the outermost section; it is left out of the paths
    and ids of the sections below if it equals ``metadata["title"]``, because every context header names it
    already. Text before the first heading belongs to no section.

    Args:
        text: the canonical text.
        metadata: keys of the document; only ``title`` is read.
        markup: what the loader saw, if anything.
        detect_markdown: with ``False`` only ``markup`` makes sections: no title is invented.

    Example:
        >>> text = "# Informe 2024\n\n## 3. Deuda\n\nBaja.\n\n### 3.2 Vencimientos\n\n2026.\n"
        >>> outline = outline_report(text, metadata={"title": "Informe 2024"})
        >>> [(s.section_id, s.section_path) for s in outline][2]
        ('3-deuda.3-2-vencimientos', '3. Deuda > 3.2 Vencimientos')
    """
    found = headings(text, markup=markup, detect_markdown=detect_markdown)
    title = metadata.get(TITLE)
    found = _under_title(text, found, title if isinstance(title, str) else "")
    silent = bool(found) and found[0].level == 1 and _same(found[0].title, title)
    ends = _ends(found, len(text))
    sections: list[Section] = []
    stack: list[tuple[int, Section]] = []
    ids: dict[str, int] = {}
    for heading, end in zip(found, ends, strict=True):
        while stack and stack[-1][0] >= heading.level:
            stack.pop()
        above = stack[-1][1] if stack else None
        parent = None if above is not None and silent and above is sections[0] else above
        section = Section(
            section_id=_unique(f"{parent.section_id}.{slug(heading.title)}" if parent else slug(heading.title), ids),
            title=heading.title,
            path=(*parent.path, heading.title) if parent else (heading.title,),
            span=Span(heading.span.start, end),
            level=len(stack) + 1,
            heading=heading.span,
        )
        sections.append(section)
        stack.append((heading.level, section))
    return Outline(tuple(sections), tuple(_warnings(text, found)))


def slug(title: str) -> str:
    """Return a title as an id: small letters and digits joined by hyphens, accents dropped.

    Example:
        >>> slug("3.2 Vencimientos y liquidación"), slug("收入")
        ('3-2-vencimientos-y-liquidacion', '收入')
    """
    folded = unicodedata.normalize("NFKD", title.casefold())
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    return _NO_WORD.sub("-", letters).strip("-")[:_LONGEST_SLUG].strip("-") or "section"


def _unique(wanted: str, ids: dict[str, int]) -> str:
    """Return the id itself the first time, then with ``-2``, ``-3`` and so on."""
    name = wanted
    while name in ids:
        ids[wanted] += 1
        name = f"{wanted}-{ids[wanted]}"
    ids[name] = 1
    return name


def _under_title(text: str, found: Sequence[Heading], title: str) -> list[Heading]:
    """Put every section under an opening line that says the title but has the sections' own level."""
    if not found or not _same(found[0].title, title) or text[: found[0].span.start].strip():
        return list(found)
    if all(heading.level > found[0].level for heading in found[1:]):
        return list(found)
    return [found[0], *(heading._replace(level=heading.level + 1) for heading in found[1:])]


def _same(printed: str, title: object) -> bool:
    """Compare titles without regard to case, accents and punctuation."""
    return isinstance(title, str) and bool(title) and _fold(printed) == _fold(title)


def _fold(title: str) -> str:
    folded = unicodedata.normalize("NFKD", title.casefold())
    return _NO_WORD.sub("", "".join(c for c in folded if not unicodedata.combining(c)))


def _ends(found: Sequence[Heading], length: int) -> list[int]:
    """Return where each section ends: at the next heading of the same or a higher level."""
    ends = [length] * len(found)
    opened: list[int] = []
    for index, heading in enumerate(found):
        while opened and found[opened[-1]].level >= heading.level:
            ends[opened.pop()] = heading.span.start
        opened.append(index)
    return ends


def _warnings(text: str, found: Sequence[Heading]) -> list[str]:
    if found or not text.strip():
        return []
    return ["no headings were found: the whole text is one part without a title"]
