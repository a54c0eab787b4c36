"""Arguments of the commands over facts and answers; nothing heavy is imported here."""

from __future__ import annotations

import argparse

_INDEX = "fin_rag_index"


def add_facts(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag facts``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    load = actions.add_parser("load", help="load company-facts JSON, or the inline XBRL of filings")
    load.add_argument("paths", nargs="+", metavar="PATH", help="JSON file, folder or bulk archive; or a filing (HTML)")
    load.add_argument("--ticker", default="", help="ticker of the issuer, for one file")
    load.add_argument("--filed", metavar="DATE", help="day on which a filing was filed, where it does not say")
    load.add_argument("--tickers", metavar="FILE", help="company_tickers.json of the SEC, or {ticker: CIK}")
    get = actions.add_parser("get", help="one figure of an issuer for a fiscal period")
    get.add_argument("issuer", help="ticker, CIK or name")
    get.add_argument("concept", help="line item in English or Spanish, or a tag")
    get.add_argument("period", help="FY2024, 'Q3 2024', 'H1 2024', 9M2024, or TTM")
    series = actions.add_parser("series", help="a line item over time")
    series.add_argument("issuer", help="ticker, CIK or name")
    series.add_argument("concept", help="line item in English or Spanish, or a tag")
    series.add_argument("--kind", default="year", choices=("year", "quarter", "half", "nine_months", "instant"))
    ratio = actions.add_parser("ratio", help="a ratio with its inputs")
    ratio.add_argument("issuer", help="ticker, CIK or name")
    ratio.add_argument("ratio", help="name of the ratio in English or Spanish")
    ratio.add_argument("period", help="FY2024, 'Q3 2024', 'H1 2024'")
    listed = actions.add_parser("list", help="the issuers in the store, or the tags of one")
    listed.add_argument("issuer", nargs="?", help="ticker, CIK or name")
    for action in (load, get, series, ratio, listed):
        action.add_argument("--index", default=_INDEX, metavar="DIR", help="index folder (default: %(default)s)")
        action.add_argument("--json", action="store_true", help="print JSON instead of text")
    for action in (get, series, ratio, listed):
        action.add_argument("--as-of", metavar="DATE", help="only filings known by the end of that day")
    for action in (get, series):
        action.add_argument("--unit", help="unit, where several are reported")


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag verify``."""
    parser.add_argument("answer", metavar="ANSWER", help="the answer; @FILE reads a file, - reads standard input")
    parser.add_argument("--evidence", nargs="+", default=[], metavar="FILE", help="documents that the answer cites")
    parser.add_argument("--text", action="append", default=[], metavar="TEXT", help="evidence given as text")
    parser.add_argument("--index", metavar="DIR", help="index folder, for --document and for facts")
    parser.add_argument("--document", action="append", default=[], metavar="ID", help="a document of the index")
    parser.add_argument("--strict", action="store_true", help="let only verbatim figures pass")
    parser.add_argument("--lang", choices=("en", "es"), help="language of the answer")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def add_ask(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``fin-rag ask``."""
    parser.add_argument("question", help="a question, in English or Spanish")
    parser.add_argument("--index", default=_INDEX, metavar="DIR", help="index folder (default: %(default)s)")
    parser.add_argument("--llm", metavar="PROVIDER:MODEL", help="a chat model of LangChain that writes the answer")
    parser.add_argument("-k", type=int, default=5, metavar="N", help="number of pieces of evidence (default: 5)")
    parser.add_argument("--as-of", metavar="DATE", help="only what was filed by the end of that day")
    parser.add_argument("--session", metavar="ID", help="let the private documents of this session in")
    parser.add_argument("--strict", action="store_true", help="let only verbatim figures pass (with --llm)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
