"""The references of a statute as a graph in text: who cites what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fin_rag.schema import Outline
from fin_rag.splitters.regulation import RegulationOutline
from fin_rag.structure.regulation import Reference

_EXCERPT = 50  # characters
_MOST_TARGETS = 8


def graph_lines(outline: Outline, text: str) -> Iterator[str]:
    """Yield one line a citing provision and one a citation below it; nothing for other documents."""
    if not isinstance(outline, RegulationOutline) or not outline.statute.references:
        return
    references = outline.statute.references
    internal = [ref for ref in references if ref.scope == "internal"]
    lost = sum(not ref.resolved for ref in internal)
    yield (
        f"references: {len(internal)} to this text, {lost} of them without a target in it, "
        f"{len(references) - len(internal)} to other acts"
    )
    source = None
    for ref in references:
        if ref.source != source:
            source = ref.source
            yield source or "(outside provisions)"
        yield f"  {_arrow(ref)}  “{_shown(ref.span.slice(text))}”"


def _arrow(ref: Reference) -> str:
    if ref.scope != "internal":
        return f"=> {ref.act}{f', {_listed(ref.provisions)}' if ref.provisions else ''}"
    lost = f"  ! not here: {_listed(ref.missing)}" if ref.missing else ""
    return f"-> {_listed(ref.targets)}{lost}"


def _listed(addresses: Sequence[str]) -> str:
    more = len(addresses) - _MOST_TARGETS
    return ", ".join(addresses[:_MOST_TARGETS]) + (f" and {more} more" if more > 0 else "")


def _shown(printed: str) -> str:
    words = " ".join(printed.split())
    return words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"


def references_report(outline: Outline, text: str) -> list[dict[str, object]]:
    """Return the references for JSON output."""
    if not isinstance(outline, RegulationOutline):
        return []
    return [
        {
            "source": ref.source,
            "text": ref.span.slice(text),
            "start": ref.span.start,
            "end": ref.span.end,
            "scope": ref.scope,
            "act": ref.act,
            "targets": list(ref.targets),
            "missing": list(ref.missing),
            "provisions": list(ref.provisions),
        }
        for ref in outline.statute.references
    ]
