"""``fin-rag search``: evidence for a question, with its citation."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.index import FilingIndex
from fin_rag.query import Lexicon
from fin_rag.text.words import fold, topic_words

_EXCERPT = 420  # characters
_STEM = 6  # letters: enough to bring the forms of a word together
_SENTENCE = re.compile(r"[^\s][^.\n]*(?:\.(?=\d)[^.\n]*)*[.\n]?")
_WIDTH = 100


def run(options: argparse.Namespace) -> int:
    """Run the command; finding nothing is no error."""
    wanted = _filter(options)
    index = FilingIndex.open(options.index, create=False)
    try:
        retriever = index.retriever(lexicon=Lexicon.load(options.lexicon) if options.lexicon else None)
        given = {"filter": wanted, "as_of": options.as_of, "session_id": options.session}
        if options.max_tokens or options.max_chars:
            found = retriever.retrieve(
                options.question, max_tokens=options.max_tokens, max_chars=options.max_chars, **given
            )
        else:
            found = retriever.invoke(options.question, k=options.k, **given)
        read = retriever.explain(options.question, **given) if options.explain or not found else {}
    finally:
        index.close()
    if options.json:
        results = [{"id": d.id, "text": d.page_content, "metadata": d.metadata} for d in found]
        answer = {"question": options.question, "filter": wanted, "results": results}
        print(json.dumps(answer | ({"explanation": read} if options.explain else {}), ensure_ascii=False))
        return 0
    if options.explain:
        print(explanation(read))
    if not found:
        print("No evidence in the index under this filter.")
        for reason in _strings(read, "reasons"):
            print(f"   {reason}")
    for document in found:
        print(evidence(document, options.question, full=options.full))
    return 0


def explanation(read: Mapping[str, object]) -> str:
    """Write how a question was read: what is searched for, reasons, and filters that were given up."""
    plan = read["plan"]
    search = plan["search"] if isinstance(plan, dict) else ""
    lines = [f"searched for: {search}", *_strings(read, "reasons")]
    lines += [f"given up: {reason}" for reason in _strings(read, "backed_off")]
    return "\n".join(f"# {line}" for line in lines) + "\n"


def _strings(read: Mapping[str, object], key: str) -> list[str]:
    value = read.get(key)
    return [str(one) for one in value] if isinstance(value, list) else []


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
        "section": options.section,
        "exchange": options.exchange,
    }
    parts = {"speaker": options.speaker, "role": options.role, "firm": options.firm}
    wanted |= {key: {"$contains": value} for key, value in parts.items() if value}
    return wanted | {key: value for key, value in named.items() if value}


def _item(text: str) -> str:
    bare = text.strip().lower().removeprefix("item").strip()
    return f"Item {bare.upper()}"


def evidence(document: Document, question: str, *, full: bool = False) -> str:
    """Write one result for a terminal: rank, citation, place and text.

    A long text is cut to the part that shares most words with the question.
    """
    metadata = document.metadata
    page, last = metadata.get("page"), metadata.get("page_end")
    pages = "" if page is None else f", p. {page}" if page == last else f", pp. {page}-{last}"
    place = f"{_shown_path(str(metadata['source']))}{pages}, characters {metadata['spans']}"
    text = document.page_content if full else excerpt(document.page_content, question)
    lines = [
        f"{metadata['rank']}. {metadata['context_header']}",
        f"   {place}",
        f"   score {metadata['score']:.3f}: {metadata['reason']}",
    ]
    for line in text.splitlines():
        lines += textwrap.wrap(line, _WIDTH, initial_indent="   | ", subsequent_indent="   | ")
    return "\n".join(lines) + "\n"


def excerpt(text: str, question: str) -> str:
    """Return a part of a text that shares most words with a question, from the start of a sentence or row.

    Example:
        >>> text = "We make bolts. " * 40 + "Net debt fell to 12.5 million. We are glad."
        >>> excerpt(text, "How large is net debt?")
        '… Net debt fell to 12.5 million. We are glad.'
    """
    if len(text) <= _EXCERPT:
        return text
    stems = {fold(word)[:_STEM] for word in topic_words(question)}
    best, at = 0, 0
    for match in _SENTENCE.finditer(text):
        shared = len(stems & {fold(word)[:_STEM] for word in match[0].split()})
        if shared > best:
            best, at = shared, match.start()
    at = 0 if at < _EXCERPT // 3 else at
    part = text[at : at + _EXCERPT]
    if at + _EXCERPT < len(text):
        part = part.rsplit(maxsplit=1)[0] + " …"
    return f"… {part}" if at else part


def _shown_path(source: str) -> str:
    here = Path.cwd()
    path = Path(source)
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else source
