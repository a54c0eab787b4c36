"""``fin-rag evaluate``: measure an index on a golden set, beside textbook baselines."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from fin_rag.errors import InputError

if TYPE_CHECKING:
    from fin_rag.evaluation import Comparison, Corpus, GoldenSet, RetrievalReport
    from fin_rag.index import FilingIndex

_SHOWN = ("recall", "full", "evidence", "precision", "mrr", "ndcg", "gold_share")
_MOST_IDS = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments; ``--index`` and ``--json`` are declared by the caller."""
    parser.add_argument("golden", metavar="GOLDEN", help=".jsonl, .csv or .parquet, or a folder of three tables")
    parser.add_argument(
        "--compare",
        default="",
        metavar="NAMES",
        help="baselines, joined by commas: fixed, recursive, structure (or -bare)",
    )
    parser.add_argument("-k", default="1,3,5,10", metavar="N,N", help="numbers of results (default: %(default)s)")
    parser.add_argument(
        "--characters", default="1300,2000,4000,8000", metavar="N,N", help="budgets (default: %(default)s)"
    )
    parser.add_argument("--tokens", default="500,1000,2000,4000", metavar="N,N", help="budgets (default: %(default)s)")
    parser.add_argument("--depth", type=int, default=40, metavar="N", help="results asked for (default: %(default)s)")
    parser.add_argument("--threshold", type=float, default=0.5, metavar="X", help="share of a passage (default: 0.5)")
    parser.add_argument(
        "--cluster", choices=("document", "issuer", "question"), default="document", help="of intervals"
    )
    parser.add_argument("--within-documents", action="store_true", help="search each question's own documents only")
    parser.add_argument(
        "--at", action="append", metavar="CUTOFF", help='for pairs and types, such as "@5" (repeatable)'
    )
    parser.add_argument("--session", metavar="ID", help="let the private documents of this session in")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    from fin_rag.evaluation import Corpus, compare
    from fin_rag.index import FilingIndex

    golden = load_golden(options.golden)
    index = FilingIndex.open(options.index, create=False)
    try:
        corpus = Corpus.from_index(index, session_id=options.session)
        reports = _reports(options, golden, index, corpus)
    finally:
        index.close()
    places = options.at or _places(reports[0])
    comparisons = [compare(other, reports[0], cutoff=at) for other in reports[1:] for at in places]
    if options.json:
        print(json.dumps(_as_json(golden, reports, comparisons), ensure_ascii=False, indent=1))
    else:
        _print(golden, reports, comparisons, places)
    return 0


def load_golden(name: str) -> GoldenSet:
    """Read a golden set from a file, or from a folder of three tables."""
    from fin_rag.evaluation import GoldenSet
    from fin_rag.evaluation.imports import import_three_tables

    return import_three_tables(name).golden if Path(name).is_dir() else GoldenSet.load(name)


def numbers(text: str, option: str) -> tuple[int, ...]:
    """Read whole numbers joined by commas; an empty text is none."""
    try:
        found = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InputError(f"{option} needs whole numbers joined by commas. Got {text!r}.") from error
    if any(number < 1 for number in found):
        raise InputError(f"{option} needs numbers of at least 1. Got {text!r}.")
    return found


def _reports(
    options: argparse.Namespace, golden: GoldenSet, index: FilingIndex, corpus: Corpus
) -> list[RetrievalReport]:
    from fin_rag.evaluation import evaluate_retrieval
    from fin_rag.evaluation.baselines import baseline
    from fin_rag.evaluation.resolve import resolve

    resolved = resolve(golden, corpus)
    names = [name.strip() for name in options.compare.split(",") if name.strip()]
    retrievers = [("index", index.retriever(session_id=options.session)), *((n, baseline(n, corpus)) for n in names)]
    return [
        evaluate_retrieval(
            resolved,
            retriever,
            corpus,
            name=name,
            ks=numbers(options.k, "-k"),
            characters=numbers(options.characters, "--characters"),
            tokens=numbers(options.tokens, "--tokens"),
            depth=options.depth,
            threshold=options.threshold,
            cluster_by=options.cluster,
            within_documents=options.within_documents and name == "index",
        )
        for name, retriever in retrievers
    ]


def _places(report: RetrievalReport) -> list[str]:
    """Choose where pairs are compared: a middle number of results and a middle budget."""
    chosen = []
    for unit, wanted in (("results", 5), ("characters", 2000)):
        of_unit = [c for c in report.cutoffs if c.unit == unit]
        if of_unit:
            chosen.append(min(of_unit, key=lambda c: (abs(c.limit - wanted), c.limit)).name)
    return chosen or [report.cutoffs[0].name]


def _print(golden: GoldenSet, reports: list[RetrievalReport], comparisons: list[Comparison], places: list[str]) -> None:
    from fin_rag.evaluation.tables import comparison_table, measures_table, summary_table, type_table

    print(f"{golden.name}: {len(reports[0].results)} questions measured, sha256 {golden.content_hash[:16]}\n")
    print(summary_table(reports).text())
    for at in places:
        print("\n" + measures_table(reports, at, _SHOWN).text())
        print("\n" + type_table(reports, at).text())
    if comparisons:
        print("\n" + comparison_table(comparisons).text())
        for c in comparisons:
            for verb, ids in (("won", c.won), ("lost", c.lost)):
                print(f"{c.second} against {c.first}, {c.measure} {c.cutoff}, {verb}: {_listed(ids)}")
    for note in _notes(reports):
        print(f"note: {note}")


def _notes(reports: list[RetrievalReport]) -> list[str]:
    """Return each note once; notes that do not hold for all retrievers name theirs."""
    common = set(reports[0].notes).intersection(*(report.notes for report in reports))
    own = [f"{report.name}: {note}" for report in reports for note in report.notes if note not in common]
    return [note for note in reports[0].notes if note in common] + own


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _MOST_IDS} more (all with --json)" if len(ids) > _MOST_IDS else ""
    return (", ".join(ids[:_MOST_IDS]) + more) or "none"


def _as_json(golden: GoldenSet, reports: list[RetrievalReport], comparisons: list[Comparison]) -> dict[str, object]:
    return {
        "golden": {"name": golden.name, "sha256": golden.content_hash, "types": golden.types()},
        "reports": [report.as_dict() for report in reports],
        "comparisons": [comparison.as_dict() for comparison in comparisons],
    }
