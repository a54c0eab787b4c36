"""``fin-rag evaluate``: measure an index on a golden set, beside textbook baselines."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fin_rag.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fin_rag.evaluation import Corpus, GoldenSet, Report, RetrievalReport
    from fin_rag.evaluation.resolve import ResolvedSet
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
    parser.add_argument("--pack", action="store_true", help="tell the index each budget and let it pack the context")
    parser.add_argument(
        "--at", action="append", metavar="CUTOFF", help='for pairs and types, such as "@5" (repeatable)'
    )
    parser.add_argument("--answers", metavar="FILE", help="answers to measure as well: .jsonl, .csv or .parquet")
    parser.add_argument(
        "--gate",
        nargs="?",
        const="",
        metavar="FILE",
        help="hold thresholds (.json or .toml; default rules without FILE)",
    )
    parser.add_argument("--junit", metavar="FILE", help="write the gate as JUnit XML")
    parser.add_argument("--summary", metavar="FILE", help="write the gate and the lost questions as Markdown")
    parser.add_argument("--report", metavar="FILE", help="write one HTML page that opens offline")
    parser.add_argument("--session", metavar="ID", help="let the private documents of this session in")


def run(options: argparse.Namespace) -> int:
    """Run the command; 3 if the gate is failed."""
    from fin_rag.evaluation import Corpus

    golden = load_golden(options.golden)
    index = _opened(options)
    try:
        corpus = Corpus.from_index(index, session_id=options.session)
        report = _report(options, golden, index, corpus)
        if options.report:
            _write(options.report, report.html(corpus))
    finally:
        index.close()
    gate = report.gate
    for path, text in ((options.junit, gate and gate.junit()), (options.summary, gate and gate.markdown())):
        if path and text:
            _write(path, text)
    if options.json:
        print(json.dumps({**report.as_dict(), "golden_types": golden.types()}, ensure_ascii=False, indent=1))
    else:
        _print(golden, report)
    return gate.exit_code if gate else 0


def _opened(options: argparse.Namespace) -> FilingIndex:
    """Open the index; one for a folder of three tables is made of the documents that the folder brings."""
    from fin_rag.evaluation.imports import import_three_tables
    from fin_rag.index import FilingIndex

    fresh = not (Path(options.index) / "catalogue.sqlite").is_file()
    if not (fresh and Path(options.golden).is_dir()):
        return FilingIndex.open(options.index, create=False)
    index = FilingIndex.open(options.index)
    report = index.add(import_three_tables(options.golden).documents)
    print(f"{options.index}: made of the set's own documents: {report}", file=sys.stderr)
    return index


def _report(options: argparse.Namespace, golden: GoldenSet, index: FilingIndex, corpus: Corpus) -> Report:
    from fin_rag.evaluation import Gate, Report, compare, diagnose, evaluate_answers, read_answers
    from fin_rag.evaluation.audit import searched_by
    from fin_rag.evaluation.resolve import resolve

    gate = Gate.load(options.gate or None) if options.gate is not None or options.junit or options.summary else None
    given = read_answers(options.answers) if options.answers else None
    resolved = resolve(golden, corpus)
    reports = _reports(options, resolved, index, corpus)
    answers = evaluate_answers(resolved, given, corpus) if given is not None else None
    places = tuple(options.at or _places(reports[0]))
    searched = searched_by(index.retriever(session_id=options.session))
    diagnosis = diagnose(reports[0], answers, cutoff=places[0], searched=searched)
    return Report(
        retrieval=tuple(reports),
        comparisons=tuple(compare(other, reports[0], cutoff=at) for other in reports[1:] for at in places),
        answers=answers,
        diagnosis=diagnosis,
        gate=gate.check(retrieval=reports[0], answers=answers, diagnosis=diagnosis) if gate else None,
        places=places,
    )


def _write(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{name!r} cannot be written: {error.strerror or error}.") from error


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
    options: argparse.Namespace, resolved: ResolvedSet, index: FilingIndex, corpus: Corpus
) -> list[RetrievalReport]:
    from fin_rag.evaluation import evaluate_retrieval
    from fin_rag.evaluation.baselines import baseline

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
            pack_budgets=options.pack and name == "index",
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


def _print(golden: GoldenSet, report: Report) -> None:
    from fin_rag.evaluation.tables import comparison_table, measures_table, summary_table, type_table

    reports = report.retrieval
    print(f"{golden.name}: {len(reports[0].results)} questions measured, sha256 {golden.content_hash[:16]}\n")
    print(summary_table(reports).text())
    for at in report.places:
        print("\n" + measures_table(reports, at, _SHOWN).text())
        print("\n" + type_table(reports, at).text())
    if report.comparisons:
        print("\n" + comparison_table(report.comparisons).text())
        for c in report.comparisons:
            for verb, ids in (("won", c.won), ("lost", c.lost)):
                print(f"{c.second} against {c.first}, {c.measure} {c.cutoff}, {verb}: {_listed(ids)}")
    _print_answers(report)
    for note in (*_notes(reports), *(report.answers.notes if report.answers else ())):
        print(f"note: {note}")


def _print_answers(report: Report) -> None:
    if report.answers is not None:
        from fin_rag.evaluation.report import answer_table

        print("\n" + answer_table(report.answers).text())
    if report.diagnosis is not None:
        print("\n" + report.diagnosis.matrix)
        for stage, count in report.diagnosis.counts.items():
            ids = tuple(item.question_id for item in report.diagnosis.lost if item.stage == stage)
            print(f"lost, {stage}: {count} ({_listed(ids)})")
    if report.gate is not None:
        print("\n" + report.gate.table().text())
        for rule in report.gate.failed:
            print(f"gate: {rule.sentence}")


def _notes(reports: Sequence[RetrievalReport]) -> list[str]:
    """Return each note once; notes that do not hold for all retrievers name theirs."""
    common = set(reports[0].notes).intersection(*(report.notes for report in reports))
    own = [f"{report.name}: {note}" for report in reports for note in report.notes if note not in common]
    return [note for note in reports[0].notes if note in common] + own


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _MOST_IDS} more (all with --json)" if len(ids) > _MOST_IDS else ""
    return (", ".join(ids[:_MOST_IDS]) + more) or "none"
