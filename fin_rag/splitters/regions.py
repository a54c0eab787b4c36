"""From an outline to the text that each section owns, and to the header that names it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fin_rag.errors import InputError
from fin_rag.schema import DOC_TYPE, ISSUER, TITLE, Section, Span
from fin_rag.tokens import Tokenization

_logger = logging.getLogger(__name__)

# A header that leaves less than this share of the budget to the body is refused.
_LEAST_BODY_SHARE = 8
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class Region:
    """Mark text that one section owns: its span without the sections inside it.

    ``parent`` is what parent expansion returns: the section's span, extended to the headings directly
    above it that have no text of their own.
    """

    section: Section
    span: Span
    parent: Span


def regions_of(text: str, sections: Sequence[Section], root: Section) -> list[Region]:
    """Cut a text into regions in order; together they hold every non-blank character once.

    Text outside every section belongs to ``root``. Sections with equal spans (merged Items) share one
    region, which the first of them owns. A heading without text of its own goes with the region below. A
    section that crosses the end of another is cut there, with a warning in the log.

    Raises:
        InputError: if a section reaches beyond the text.
    """
    owned: list[Region] = []
    stack: list[Section] = []
    at = 0

    def emit(end: int) -> None:
        nonlocal at
        span = trimmed(text, Span(at, max(at, end)))
        if len(span):
            owner = stack[-1] if stack else root
            owned.append(Region(owner, span, owner.span))
        at = max(at, end)

    for section in sorted(sections, key=lambda s: (s.span.start, -s.span.end, s.level)):
        if section.span.end > len(text):
            raise InputError(
                f"Section {section.section_id!r} ends at {section.span.end}, beyond the text's {len(text)} "
                "code points. Sections must index the canonical text."
            )
        while stack and stack[-1].span.end <= section.span.start:
            emit(stack[-1].span.end)
            stack.pop()
        if stack and section.span.end > stack[-1].span.end:
            _logger.warning(
                "Section %r reaches beyond the end of %r; it is cut there.",
                section.section_id,
                stack[-1].section_id,
            )
            section = replace(section, span=Span(section.span.start, stack[-1].span.end))
        emit(section.span.start)
        merged = stack and stack[-1].span == section.span and stack[-1].level == section.level
        if not merged:
            stack.append(section)
    while stack:
        emit(stack[-1].span.end)
        stack.pop()
    emit(len(text))
    return _join_bare_headings(text, owned)


def _join_bare_headings(text: str, regions: list[Region]) -> list[Region]:
    joined: list[Region] = []
    waiting: Region | None = None  # headings of outer sections, not yet given to a region
    for region in regions:
        if waiting is not None:
            if waiting.section.span.contains(region.span):
                region = replace(
                    region,
                    span=Span(waiting.span.start, region.span.end),
                    parent=Span(waiting.span.start, region.parent.end),
                )
            else:
                joined.append(waiting)
            waiting = None
        heading = region.section.heading
        bare = heading is not None and not text[heading.end : region.span.end].strip()
        if bare and region.section.span.end > region.span.end:
            waiting = region
        else:
            joined.append(region)
    if waiting is not None:
        joined.append(waiting)
    return joined


def trimmed(text: str, span: Span) -> Span:
    """Return ``span`` without the blanks at its ends."""
    start, end = span.start, span.end
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _says_the_same(heading: str, title: str) -> bool:
    return bool(heading and title) and (heading in title or title in heading)


def _names(title: str, issuer: str) -> bool:
    """Tell whether a title holds the issuer's name as whole words, so that a header need not say it twice."""
    at = title.casefold().find(issuer.casefold()) if issuer else -1
    if at < 0:
        return False
    around = title.casefold()[max(at - 1, 0) : at], title.casefold()[at + len(issuer) :][:1]
    return not any(char.isalnum() for char in around)


def context_header(
    metadata: Mapping[str, object],
    path: Sequence[str],
    *,
    tokenization: Tokenization,
    max_tokens: int,
) -> str:
    """Write ``Issuer — Title > section path``, short enough to leave room for a body.

    A title that names the issuer itself stands alone. When the whole path would take more than a third of
    the budget, outer parts give way to an ellipsis, the innermost last. A path that begins with the
    document's type loses it, as the title says it already.

    Raises:
        InputError: if issuer and title alone leave less than an eighth of ``max_tokens`` to the body.
    """
    issuer, title = str(metadata.get(ISSUER) or ""), str(metadata.get(TITLE) or "")
    named = _names(title, issuer)
    name = title if named else " — ".join(part for part in (issuer, title) if part)
    parts = list(path)
    if parts and (parts[0] == metadata.get(DOC_TYPE) or _says_the_same(parts[0], title)):
        parts = parts[1:]
    shapes = [[name, *parts]]
    shapes += [[name, _ELLIPSIS, *parts[cut:]] for cut in range(1, len(parts))]
    for shape in shapes:
        header = " > ".join(part for part in shape if part)
        if tokenization.count("", header=header) * 3 <= max_tokens:
            return header
    if tokenization.count("", header=name) > max_tokens - max(1, max_tokens // _LEAST_BODY_SHARE):
        raise InputError(
            f"The header {name!r} leaves no room for a body within {max_tokens} tokens. Shorten 'title' or "
            "'issuer', or raise the budget."
        )
    return name
