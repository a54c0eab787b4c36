"""``fin-rag golden``: check, convert, import and draft golden sets."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.evaluation import GoldenSet

_FORMS = ("financebench", "tat-qa", "three-tables")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", help="check a set, and with --index that its places are there")
    check.add_argument("golden", metavar="GOLDEN", help="a .jsonl, .csv or .parquet file")
    check.add_argument("--index", metavar="DIR", help="index that holds the documents")
    taken = actions.add_parser("import", help="take a published set in")
    taken.add_argument("form", choices=_FORMS, help="the form it is published in")
    taken.add_argument("path", metavar="PATH", help="its file or folder")
    taken.add_argument("--out", required=True, metavar="FILE", help=".jsonl, .csv or .parquet")
    taken.add_argument("--index", metavar="DIR", help="index to take its documents into, where the set brings them")
    convert = actions.add_parser("convert", help="write a set in another form")
    convert.add_argument("golden", metavar="GOLDEN", help="a .jsonl, .csv or .parquet file")
    convert.add_argument("--out", required=True, metavar="FILE", help=".jsonl, .csv or .parquet")
    schema = actions.add_parser("schema", help="print the JSON Schema of one question")
    new = actions.add_parser("new", help="draft questions from an index, for a person to finish")
    new.add_argument("--index", required=True, metavar="DIR", help="index that holds the documents")
    new.add_argument("--out", required=True, metavar="FILE", help=".jsonl, .csv or .parquet")
    new.add_argument("--per-document", type=int, default=6, metavar="N", help="of each kind (default: %(default)s)")
    for action in (check, taken, convert, schema, new):
        action.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    actions = {"check": _check, "import": _import, "convert": _convert, "schema": _schema, "new": _new}
    return actions[options.action](options)


def _schema(options: argparse.Namespace) -> int:  # noqa: ARG001  # every action has this form
    from fin_rag.evaluation import GoldenSet

    print(json.dumps(GoldenSet.json_schema(), ensure_ascii=False, indent=1))
    return 0


def _check(options: argparse.Namespace) -> int:
    from fin_rag.cli.evaluate import load_golden

    golden = load_golden(options.golden)
    notes: list[str] = []
    if options.index:
        from fin_rag.evaluation import Corpus
        from fin_rag.evaluation.resolve import resolve
        from fin_rag.index import FilingIndex

        index = FilingIndex.open(options.index, create=False)
        try:
            notes += resolve(golden, Corpus.from_index(index)).notes
        finally:
            index.close()
    _tell(options, golden, notes)
    return 0


def _convert(options: argparse.Namespace) -> int:
    from fin_rag.cli.evaluate import load_golden

    golden = load_golden(options.golden)
    golden.save(options.out)
    _tell(options, golden, [f"written to {options.out}"])
    return 0


def _new(options: argparse.Namespace) -> int:
    from fin_rag.evaluation import Corpus
    from fin_rag.evaluation.drafts import draft_questions
    from fin_rag.index import FilingIndex

    index = FilingIndex.open(options.index, create=False)
    try:
        golden = draft_questions(Corpus.from_index(index), per_document=options.per_document)
    finally:
        index.close()
    golden.save(options.out)
    _tell(
        options,
        golden,
        [f"written to {options.out}", "all are drafts and are not measured until a person finishes them"],
    )
    return 0


def _import(options: argparse.Namespace) -> int:
    from fin_rag.evaluation.imports import IMPORTERS

    taken = IMPORTERS[options.form](options.path)
    taken.golden.save(options.out)
    notes = [*taken.notes, f"written to {options.out}"]
    failed = False
    if options.index and taken.documents:
        from fin_rag.index import FilingIndex

        index = FilingIndex.open(options.index)
        try:
            report = index.add(taken.documents)
        finally:
            index.close()
        failed = bool(report.failed)
        notes.append(f"{options.index}: {report}")
    elif options.index:
        notes.append(f"this set brings no texts; ingest its documents: fin-rag ingest PATH --index {options.index}")
    _tell(options, taken.golden, notes)
    return 1 if failed else 0


def _tell(options: argparse.Namespace, golden: GoldenSet, notes: list[str]) -> None:
    if options.json:
        facts = {"name": golden.name, "questions": len(golden), "sha256": golden.content_hash, "types": golden.types()}
        print(json.dumps({**facts, "notes": notes}, ensure_ascii=False))
        return
    types = ", ".join(f"{count} {name}" for name, count in golden.types().items())
    print(f"{golden.name}: {len(golden)} questions ({types}), sha256 {golden.content_hash[:16]}")
    for note in notes:
        print(f"note: {note}")
