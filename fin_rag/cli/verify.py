"""``fin-rag verify``: check the figures of an answer against its evidence."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from langchain_core.documents import Document

from fin_rag.answers.report import FigureReport
from fin_rag.answers.verify import verify_figures
from fin_rag.errors import InputError
from fin_rag.facts.store import FILE_NAME, FactStore
from fin_rag.index import FilingIndex
from fin_rag.loaders import FinancialDocumentLoader

_MARKS = {True: "ok  ", False: "FAIL"}


def run(options: argparse.Namespace) -> int:
    """Run the command; 1 if a figure did not pass."""
    answer = _answer(options.answer)
    evidence = [Document(page_content=text) for text in options.text]
    for path in options.evidence:
        evidence += FinancialDocumentLoader(path).load()
    if options.document:
        evidence += _from_index(options)
    if not evidence:
        raise InputError("verify needs evidence: --evidence FILE, --text TEXT, or --index DIR with --document ID.")
    store = _store(options.index)
    try:
        report = verify_figures(answer, evidence, store, options.strict, lang=options.lang)
    finally:
        if store is not None:
            store.close()
    if options.json:
        print(json.dumps(report.record(), ensure_ascii=False))
    else:
        _print(report)
    return 0 if report.ok else 1


def _answer(given: str) -> str:
    if given == "-":
        return sys.stdin.read()
    if given.startswith("@"):
        try:
            return Path(given[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The answer {given[1:]!r} cannot be read: {error}.") from error
    return given


def _from_index(options: argparse.Namespace) -> list[Document]:
    if not options.index:
        raise InputError("--document names a document of an index. Give the index with --index DIR.")
    index = FilingIndex.open(options.index, create=False)
    try:
        known = {str(one["doc_id"]): one for one in index.documents()}
        return [Document(page_content=index.text(name), metadata=known.get(name, {})) for name in options.document]
    finally:
        index.close()


def _store(folder: str | None) -> FactStore | None:
    if not folder or not (Path(folder) / FILE_NAME).is_file():
        return None
    return FactStore.open(folder, create=False)


def _print(report: FigureReport) -> None:
    if not report.figures:
        print("No figures in the answer.")
    for one in report.figures:
        line = f"{_MARKS[one.passed]}  {one.text:24}  {one.verdict}"
        if one.label:
            line += f"  {one.label}"
        print(line + (f"\n      {one.reason}" if one.reason else ""))
