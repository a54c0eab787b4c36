"""The verdicts on the figures of an answer, as objects and as one JSON record."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from fin_rag.display import html_table
from fin_rag.facts.model import number_text
from fin_rag.schema import Span

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ("figure", "verdict", "passed", "label", "evidence", "reason", "doc_id", "start", "end")


@dataclass(frozen=True, slots=True)
class FigureCheck:
    """Hold the verdict on one figure of an answer.

    ``span`` indexes the answer; ``evidence_span`` indexes ``page_content`` of document number ``document`` (0-based),
    ``source_span`` the canonical text that this document was cut from, where it says so. ``reason`` says why a figure
    fails, or how it was derived; ``inputs`` are the places of what it was derived from.
    """

    text: str
    span: Span
    value: Decimal
    unit: str
    verdict: str
    reason: str = ""
    document: int | None = None
    doc_id: str = ""
    evidence_span: Span | None = None
    source_span: Span | None = None
    evidence_text: str = ""
    label: str = ""
    inputs: tuple[tuple[int, Span], ...] = ()
    passed: bool = True

    def record(self) -> dict[str, object]:
        """Return the verdict as plain JSON values; what is not known is absent."""
        row: dict[str, object] = {
            "text": self.text, "span": [self.span.start, self.span.end], "value": number_text(self.value),
            "unit": self.unit, "verdict": self.verdict, "passed": self.passed,
        }  # fmt: skip
        if self.reason:
            row["reason"] = self.reason
        if self.document is not None:
            row["document"] = self.document
        if self.doc_id:
            row["doc_id"] = self.doc_id
        for name, span in (("evidence_span", self.evidence_span), ("source_span", self.source_span)):
            if span is not None:
                row[name] = [span.start, span.end]
        if self.evidence_text:
            row["evidence_text"] = self.evidence_text
        if self.label:
            row["label"] = self.label
        if self.inputs:
            row["inputs"] = [{"document": doc, "span": [span.start, span.end]} for doc, span in self.inputs]
        return row


@dataclass(frozen=True, slots=True)
class FigureReport:
    """Hold the verdicts on all figures of an answer, in order."""

    figures: tuple[FigureCheck, ...] = ()
    strict: bool = False
    warnings: tuple[str, ...] = field(default=())

    @property
    def ok(self) -> bool:
        """Tell whether every figure passed; an answer without figures passes."""
        return all(one.passed for one in self.figures)

    @property
    def failed(self) -> tuple[FigureCheck, ...]:
        """Return the figures that did not pass."""
        return tuple(one for one in self.figures if not one.passed)

    def record(self) -> dict[str, object]:
        """Return the report as one JSON record."""
        counts: dict[str, int] = {}
        for one in self.figures:
            counts[one.verdict] = counts.get(one.verdict, 0) + 1
        return {
            "ok": self.ok, "strict": self.strict, "figures": [one.record() for one in self.figures],
            "counts": dict(sorted(counts.items())), "warnings": list(self.warnings),
        }  # fmt: skip

    def frame(self) -> pd.DataFrame:
        """Return one row a figure; ``start`` and ``end`` are code points of the source text, where they are known.

        Raises:
            MissingDependencyError: if pandas is not installed.
        """
        from fin_rag.index.view import make_frame

        return make_frame([_cells(one) for one in self.figures], _COLUMNS)

    def _repr_html_(self) -> str:
        """Show the verdicts in a notebook."""
        rows = [("✓" if one.passed else "✗", one.text, one.verdict, one.label, one.reason) for one in self.figures]
        title = "all figures hold" if self.ok else f"{len(self.failed)} of {len(self.figures)} figures do not hold"
        return html_table(title, ("", "figure", "verdict", "label", "reason"), rows, notes=self.warnings)


def _cells(one: FigureCheck) -> tuple[object, ...]:
    start, end = (one.source_span.start, one.source_span.end) if one.source_span else (None, None)
    return (one.text, one.verdict, one.passed, one.label, one.evidence_text, one.reason, one.doc_id, start, end)
