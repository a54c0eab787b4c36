"""The sections of a document as a tree that can be opened, closed and filtered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from fin_rag.schema import Outline, PageMap, Section

_OPEN_LEVELS = 2


def section_tree(outline: Outline, pages: PageMap) -> str:
    """Return the sections as nested lists; a section with sections below it opens and closes.

    Example:
        >>> from fin_rag.schema import Span
        >>> outline = Outline((Section("a", "Debt & cash", ("Debt & cash",), Span(0, 9)),))
        >>> "Debt &amp; cash" in section_tree(outline, PageMap(()))
        True
    """
    return "".join(_branches(list(enumerate(outline)), pages))


def _branches(sections: Sequence[tuple[int, Section]], pages: PageMap) -> Iterator[str]:
    yield '<ul class="tree">'
    open_: list[int] = []
    for at, (number, section) in enumerate(sections):
        while open_ and open_[-1] >= section.level:
            open_.pop()
            yield "</ul></details></li>"
        below = at + 1 < len(sections) and sections[at + 1][1].level > section.level
        label = _label(number, section, pages)
        if below:
            shown = " open" if section.level <= _OPEN_LEVELS else ""
            yield f"<li><details{shown}><summary>{label}</summary><ul>"
            open_.append(section.level)
        else:
            yield f"<li>{label}</li>"
    yield from ("</ul></details></li>" for _ in open_)
    yield "</ul>"


def _label(number: int, section: Section, pages: PageMap) -> str:
    last = section.path[-1] if section.path else ""
    name = last if section.title.casefold() in last.casefold() else f"{last} {section.title}".strip()
    touched = pages.range(section.span)
    where = "" if touched is None else f"p. {touched[0]}"
    state = str(section.metadata.get("state", ""))
    more = " · ".join(part for part in (where, "" if state == "present" else state, f"{len(section.span):,}") if part)
    lost = "".join(f'<span class="warn" title="{escape(warning)}">!</span>' for warning in section.warnings)
    return (
        f'<a href="#s{number}" title="{escape(section.section_id)}: {section.span.start}-{section.span.end}">'
        f"{escape(name or section.section_id)}</a> <small>{escape(more)}</small>{lost}"
    )
