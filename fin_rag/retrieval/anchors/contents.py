"""The table of contents that an arbiter sees: the upper levels, and the way down to each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fin_rag.index.view import DocumentView
from fin_rag.retrieval.anchors.model import Candidate

_UPPER_LEVEL: Final = 2
_MOST_LINES: Final = 60  # of one document


def table_of_contents(candidates: Sequence[Candidate]) -> str:
    """Write the sections of the candidates' documents, one a line, with the ids of the candidates inside.

    Sections of the first two levels and those around candidates are listed; what is left out is counted.
    """
    views: dict[str, DocumentView] = {one.view.doc_id: one.view for one in candidates}
    parts = []
    for doc_id, view in views.items():
        own = [one for one in candidates if one.view.doc_id == doc_id]
        parts.append(_document(view, own))
    return "\n\n".join(parts)


def _document(view: DocumentView, candidates: Sequence[Candidate]) -> str:
    inside: dict[int, list[str]] = {}
    ways: set[int] = set()
    for candidate in candidates:
        body = candidate.passages[0].body
        around = [i for i, section in enumerate(view.sections) if section.span.contains(body)]
        ways.update(around)
        if around:
            innermost = min(around, key=lambda i: len(view.sections[i].span))
            inside.setdefault(innermost, []).append(candidate.candidate_id)
    upper = [i for i, section in enumerate(view.sections) if section.level <= _UPPER_LEVEL and i not in ways]
    shown = ways | set(upper[: max(_MOST_LINES - len(ways), 0)])
    lines = [str(view.metadata.get("title", view.doc_id))]
    for i in sorted(shown):
        section = view.sections[i]
        marks = f"  <- {', '.join(inside[i])}" if i in inside else ""
        lines.append(f"{'  ' * section.level}{section.title}{marks}")
    hidden = len(view.sections) - len(shown)
    return "\n".join(lines + ([f"  ({hidden} further sections)"] if hidden else []))
