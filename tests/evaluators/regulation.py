"""Adapter for the shared cases of regulation: a loaded document in, the neutral JSON of the grader out.

It translates names only; nothing is mended here.
"""

from __future__ import annotations

from fin_rag.schema import Markup
from fin_rag.structure.regulation import read_statute


def neutral(text: str, *, title: str = "", markup: Markup | None = None) -> dict[str, list[dict[str, object]]]:
    """Return units and references in the form that the grader reads."""
    statute = read_statute(text, metadata={"title": title} if title else {}, markup=markup)
    units: list[dict[str, object]] = [
        {
            "address": unit.address,
            "number": unit.number,
            "heading": unit.heading,
            "path": list(unit.path),
            "text": unit.text(text),
        }
        for unit in statute.provisions
        if not unit.transparent
    ]
    found: list[dict[str, object]] = [
        {
            "from": ref.source,
            "text": ref.span.slice(text),
            "scope": ref.scope,
            "targets": list(ref.targets),
            "act": ref.act,
            "resolved": ref.resolved,
        }
        for ref in statute.references
    ]
    return {"units": units, "references": found}
