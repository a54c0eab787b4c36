"""``fin-rag search``: evidence for a question, with its citation."""

from __future__ import annotations

import argparse
import json
import textwrap

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.index import FilingIndex

_EXCERPT = 420  # characters
_WIDTH = 100


def run(options: argparse.Namespace) -> int:
    """Run the command; finding nothing is no error."""
    wanted = _filter(options)
    index = FilingIndex.open(options.index, create=False)
    try:
        found = index.retriever().invoke(
            options.question, k=options.k, filter=wanted, as_of=options.as_of, session_id=options.session
        )
    finally:
        index.close()
    if options.json:
        results = [{"id": d.id, "text": d.page_content, "metadata": d.metadata} for d in found]
        print(
            json.dumps(
                {"question": options.question, "filter": wanted, "results": results}, ensure_ascii=False
            )
        )
        return 0
    if not found:
        print("No evidence in the index under this filter.")
    for document in found:
        print(evidence(document, full=options.full))
    return 0


def _filter(options: argparse.Namespace) -> dict[str, object]:
    wanted: dict[str, object] = {}
    if options.filter:
        try:
            given = json.loads(options.filter)
        except json.JSONDecodeError as error:
            raise InputError(f"--filter must be JSON: {error}. Got {options.filter!r}.") from error
        if not isinstance(given, dict):
            raise InputError(f"--filter must be a JSON object. Got {options.filter!r}.")
        wanted |= given
    named = {
        "ticker": options.ticker and options.ticker.upper(),
        "issuer": options.issuer,
        "fiscal_year": options.fiscal_year,
        "fiscal_period": options.fiscal_period and options.fiscal_period.upper(),
        "doc_type": options.form,
        "item": options.item and _item(options.item),
        "lang": options.lang,
    }
    return wanted | {key: value for key, value in named.items() if value}


def _item(text: str) -> str:
    bare = text.strip().lower().removeprefix("item").strip()
    return f"Item {bare.upper()}"


def evidence(document: Document, *, full: bool = False) -> str:
    """Write one result for a terminal: rank, citation, place and text."""
    metadata = document.metadata
    page, last = metadata.get("page"), metadata.get("page_end")
    pages = "" if page is None else f", p. {page}" if page == last else f", pp. {page}-{last}"
    place = f"{metadata['source']}{pages}, characters {metadata['spans']}"
    text = document.page_content
    if not full and len(text) > _EXCERPT:
        text = text[:_EXCERPT].rsplit(" ", 1)[0] + " …"
    lines = [
        f"{metadata['rank']}. {metadata['context_header']}",
        f"   {place}",
        f"   score {metadata['score']:.3f}: {metadata['reason']}",
    ]
    for line in text.splitlines():
        lines += textwrap.wrap(line, _WIDTH, initial_indent="   | ", subsequent_indent="   | ")
    return "\n".join(lines) + "\n"
