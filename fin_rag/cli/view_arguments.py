"""Arguments of ``fin-rag view``; nothing heavy is imported here."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag view``."""
    parser.add_argument("--index", default="fin_rag_index", metavar="DIR", help="index folder (default: %(default)s)")
    parser.add_argument("--beside", metavar="DIR", help="a second index, to search side by side")
    parser.add_argument("--port", type=int, default=8017, help="port of the page; 0 takes a free one (default: 8017)")
    parser.add_argument("--session", metavar="ID", help="let the private documents of this session in")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--json", action="store_true", help="print the address as JSON")
