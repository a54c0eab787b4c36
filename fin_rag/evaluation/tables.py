"""Tables of an evaluation as rows of cells, for a terminal, Markdown and HTML alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fin_rag.display import html_table
from fin_rag.evaluation.results import Comparison, RetrievalReport


@dataclass(frozen=True, slots=True)
class Table:
    """Hold a title, column names and rows of texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """Write the table in aligned columns."""
        widths = [max(len(row[i]) for row in (self.columns, *self.rows)) for i in range(len(self.columns))]
        lines = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in (self.columns, *self.rows)
        ]
        return "\n".join([self.title, *lines])

    def markdown(self) -> str:
        """Write the table in Markdown; cells are escaped."""
        lines = [_pipes(self.columns), "|" + "---|" * len(self.columns), *map(_pipes, self.rows)]
        return f"**{_escaped(self.title)}**\n\n" + "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return html_table(self.title, self.columns, self.rows)


def _pipes(row: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escaped, row)) + " |"


def _escaped(cell: str) -> str:
    return " ".join(cell.replace("|", "\\|").replace("<", "&lt;").split())


def summary_table(reports: Sequence[RetrievalReport], measure: str = "recall") -> Table:
    """Return one row a cutoff: the measure of every retriever, with its interval."""
    rows = [(c.name, *(str(r.mean(measure, c.name)) for r in reports)) for c in reports[0].cutoffs]
    return Table(f"{measure}, mean [95 % interval]", ("read up to", *(r.name for r in reports)), tuple(rows))


def measures_table(reports: Sequence[RetrievalReport], cutoff: str, measures: Sequence[str]) -> Table:
    """Return one row a retriever: several measures and the mean context at one cutoff."""
    at = next(c for c in reports[0].cutoffs if c.name == cutoff)
    rows = []
    for report in reports:
        characters, tokens = report.context(at)
        means = [report.mean(m, cutoff).mean for m in measures]
        cells = ["-" if mean is None else f"{mean:.3f}" for mean in means]
        rows.append((report.name, *cells, f"{characters:.0f}", f"{tokens:.0f}"))
    return Table(f"measures {cutoff}", ("retriever", *measures, "characters", "tokens"), tuple(rows))


def type_table(reports: Sequence[RetrievalReport], cutoff: str, measure: str = "recall") -> Table:
    """Return one row a type of question: the measure of every retriever at one cutoff."""
    rows = []
    for name, count in reports[0].types.items():
        means = [report.mean(measure, cutoff, type=name).mean for report in reports]
        rows.append((name, str(count), *("-" if mean is None else f"{mean:.3f}" for mean in means)))
    return Table(f"{measure} {cutoff} by type", ("type", "n", *(r.name for r in reports)), tuple(rows))


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """Return one row a pair of runs: the mean difference, and how many questions were won, lost and tied."""
    rows = [
        (
            f"{c.second} - {c.first}",
            f"{c.measure} {c.cutoff}",
            _signed(c.difference.mean),
            f"[{_signed(c.difference.low)}, {_signed(c.difference.high)}]{'' if c.certain else ' (may be chance)'}",
            str(len(c.won)),
            str(len(c.lost)),
            str(len(c.tied)),
        )
        for c in comparisons
    ]
    columns = ("pair", "measure", "difference", "95 % interval", "won", "lost", "tied")
    return Table("paired differences", columns, tuple(rows))


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.3f}"
