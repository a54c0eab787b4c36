"""Compare the rows of primary statements with the inline facts that are printed in them.

    python benchmarks/statements.py FOLDER [-v]

FOLDER holds filings (HTML with inline facts, also gzip; default: the shared ones). A tagged figure counts as
right if it stands in a cell of a row, the row's value has its magnitude (a cost may be printed in brackets and
tagged as positive) and the column has its period. Figures inside a label ("$1 par value") belong to no column
and are counted apart.
"""

from __future__ import annotations

import argparse
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

from fin_rag.loaders import FinancialDocumentLoader
from fin_rag.schema import PAGE_MAP, InlineFact, PageMap, SourceDocument, Span
from fin_rag.structure.statements import PRIMARY_TYPES, Statement, find_statements

FILINGS = Path(__file__).resolve().parents[2] / "shared" / "data" / "sec"
_DAYS_A_MONTH = 30.4


@dataclass
class Tally:
    """Count tagged figures by what became of them; ``misses`` say what is wrong with each that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share of figures in cells that stand in the right row and period with the right value."""
        tried = sum(self.counts[name] for name in ("right", "no row", "value", "period"))
        return self.counts["right"] / tried if tried else 0.0

    def add(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.counts.update(other.counts)
        self.misses.extend(other.misses)


def load(path: Path) -> SourceDocument:
    """Load the main document of a filing."""
    return next(iter(FinancialDocumentLoader(path).load()))


def statements_of(document: SourceDocument) -> tuple[Statement, ...]:
    """Find the statements of a loaded document."""
    pages = PageMap.parse(str(document.metadata.get(PAGE_MAP, "")))
    return find_statements(document.page_content, page_map=pages, markup=document.markup)


def compare(statements: Iterable[Statement], facts: Sequence[InlineFact], text: str, name: str = "") -> Tally:
    """Look up every tagged figure that is printed inside a primary statement in the statement's rows."""
    tally = Tally()
    placed = sorted(
        ((fact.span, fact) for fact in facts if fact.span is not None and isinstance(fact.value, Decimal)),
        key=lambda one: (one[0].start, one[0].end),
    )
    starts = [span.start for span, _ in placed]
    for statement in statements:
        if not statement.primary:
            continue
        cells = list(_cells(statement))
        cells.sort(key=lambda cell: cell[0].start)
        begins = [cell[0].start for cell in cells]
        for piece in statement.spans:
            for span, fact in placed[bisect_right(starts, piece.start - 1) : bisect_right(starts, piece.end - 1)]:
                at = bisect_right(begins, span.start) - 1
                verdict = _verdict(statement, cells[at] if at >= 0 else None, span, fact)
                tally.counts[verdict] += 1
                if verdict not in {"right", "in label"}:
                    where = text[max(0, span.start - 60) : span.end + 20].replace("\n", " ")
                    tally.misses.append(
                        f"{name} {statement.statement_type} {verdict}: {fact.concept} {fact.value} "
                        f"{fact.start}..{fact.end} @ {where!r}"
                    )
    return tally


def _cells(statement: Statement) -> Iterator[tuple[Span, int, int]]:
    """Yield each printed cell and label: span, number of the row, number of the column (-1: label)."""
    for number, row in enumerate(statement.rows):
        yield row.label_span, number, -1
        for column, span in enumerate(row.value_spans):
            if span is not None:
                yield span, number, column


def _verdict(statement: Statement, cell: tuple[Span, int, int] | None, span: Span, fact: InlineFact) -> str:
    if cell is None or not cell[0].contains(span):
        return "no row"
    row, column = statement.rows[cell[1]], cell[2]
    if column < 0:
        return "in label"
    value = row.values[column]
    if abs(value or Decimal(0)) != abs(Decimal(str(fact.value))):
        return "value"
    return "right" if _same_period(statement, column, fact) else "period"


def _same_period(statement: Statement, column: int, fact: InlineFact) -> bool:
    if statement.statement_type == "equity":
        return True
    head = statement.columns[column]
    if str(head.period_end) != fact.end.replace("-", "") and not _opening(head.period_end, head.months, fact):
        return False
    if not fact.start or statement.statement_type == "balance_sheet":
        return True
    days = (date.fromisoformat(fact.end) - date.fromisoformat(fact.start)).days + 1
    return abs(days / _DAYS_A_MONTH - head.months) < 1


def _opening(end: int, months: int, fact: InlineFact) -> bool:
    """Tell whether a fact is the balance at the beginning of a column's period (cash, "beginning of year")."""
    if fact.start or not end or not months:
        return False
    closes = date(end // 10000, end // 100 % 100, end % 100)
    gap = (closes - date.fromisoformat(fact.end)).days
    return abs(gap / _DAYS_A_MONTH - months) < 1


def main() -> None:
    """Print one line a filing and the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FILINGS)
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("--match", default="", help="only files whose name holds this")
    options = parser.parse_args()
    total = Tally()
    for path in sorted(options.folder.iterdir()):
        if options.match not in path.name or ".htm" not in path.name:
            continue
        document = load(path)
        if not document.markup.facts:
            continue
        statements = statements_of(document)
        tally = compare(statements, document.markup.facts, document.page_content, path.name[:40])
        kinds = {one.statement_type for one in statements if one.primary}
        lacking = [kind for kind in PRIMARY_TYPES if kind not in kinds]
        print(f"{path.name[:70]:70} {tally.share:.4f} {dict(tally.counts)} {' '.join(lacking)}")
        total.add(tally)
    print(f"all: {total.share:.4f} {dict(total.counts)}")
    if options.verbose:
        print(*total.misses, sep="\n")


if __name__ == "__main__":
    main()
