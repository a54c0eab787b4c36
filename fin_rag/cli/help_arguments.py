"""Arguments of ``view``, ``doctor``, ``completion`` and ``edgar``; nothing heavy is imported here."""

from __future__ import annotations

import argparse

_INDEX = "fin_rag_index"


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag view``."""
    parser.add_argument("--index", default=_INDEX, metavar="DIR", help="index folder (default: %(default)s)")
    parser.add_argument("--beside", metavar="DIR", help="a second index, to search side by side")
    parser.add_argument("--port", type=int, default=8017, help="port of the page; 0 takes a free one (default: 8017)")
    parser.add_argument("--session", metavar="ID", help="let the private documents of this session in")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--json", action="store_true", help="print the address as JSON")


def add_doctor(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag doctor``."""
    parser.add_argument(
        "--index", metavar="DIR", help=f"an index to look at as well (default: {_INDEX}, if it is here)"
    )
    parser.add_argument("--repair", action="store_true", help="mend what can be mended from the stored texts")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag completion``."""
    parser.add_argument(
        "shell", choices=("bash", "fish", "zsh"), help="bash: add 'eval \"$(fin-rag completion bash)\"'"
    )
    parser.set_defaults(json=False)


def add_edgar(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag edgar``."""
    parser.add_argument("ticker", help="ticker symbol or CIK")
    parser.add_argument(
        "--form", action="append", metavar="FORM", help="10-K, 10-Q, 8-K, 20-F (repeatable; default: 10-K)"
    )
    parser.add_argument("--years", type=int, default=1, metavar="N", help="how many years back (default: 1)")
    parser.add_argument("--out", default="filings", metavar="DIR", help="where the files go (default: %(default)s)")
    parser.add_argument(
        "--user-agent", required=True, metavar="TEXT", help="your name and e-mail; the SEC asks for them"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
