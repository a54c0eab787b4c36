"""One document on one page: sections, chunks, tables, notes, turns, references and facts; it opens offline."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.inspector.body import text_column
from fin_rag.inspector.flow import Flow, Runs, owners
from fin_rag.inspector.marks import Marks, collect
from fin_rag.inspector.tree import section_tree
from fin_rag.schema import (
    CHUNK_INDEX,
    DOC_TYPE,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    LANG,
    PAGE_MAP,
    TITLE,
    TOKEN_COUNT,
    Markup,
    Outline,
    PageMap,
    SourceDocument,
    Span,
)
from fin_rag.structure.blocks import blocks

_SHOWN: Final = (ISSUER, TITLE, DOC_TYPE, FISCAL_YEAR, FISCAL_PERIOD, LANG)
_KEYS: Final = (
    ("j / k", "next and previous chunk"), ("n / p", "next and previous section"), ("/", "filter sections"),
    ("c", "tones of the chunks on and off"), ("d", "dark and light"), ("Esc", "close what is open"), ("?", "this list"),
)  # fmt: skip


def inspect_page(
    document: Document,
    outline: Outline,
    chunks: Sequence[Document],
    *,
    max_tokens: int | None = None,
    highlights: Sequence[Span] = (),
) -> str:
    r"""Return a page that shows how a document is read and cut.

    Style and script stand in the page and nothing is fetched; all text of the document is escaped, and a policy in
    the page lets no other script run. The arguments are what a splitter's ``split_whole`` returns.

    Args:
        document: the whole document.
        outline: its sections, with turns or references where its kind has them.
        chunks: its chunks.
        max_tokens: the budget of a chunk, drawn beside the counts.
        highlights: spans to mark; the page opens at the first.

    Example:
        >>> from fin_rag import splitter_for
        >>> letter = Document(page_content="# Letter\n\nNet debt fell <b>sharply</b>.")
        >>> splitter = splitter_for(letter, chunk_size=64, length_function=lambda text: len(text.split()))
        >>> page = inspect_page(*splitter.split_whole(letter))
        >>> "fell &lt;b&gt;sharply&lt;/b&gt;." in page, "://" in page
        (True, False)
    """
    text = document.page_content
    headings = tuple((s.heading, s.level) for s in outline if s.heading is not None)
    parts = blocks(text, markup=Markup(headings=headings))
    marks = collect(document, outline, chunks, parts)
    for number, span in enumerate(highlights):
        marks.add("hit", span, anchor=f"hit{number}")
    runs = Runs(text, owners(chunks))
    column = "".join(text_column(text, parts, outline, Flow(text, marks.annotations, marks.points), runs))
    pages = PageMap.parse(str(document.metadata.get(PAGE_MAP, "")))
    name = " — ".join(str(document.metadata[key]) for key in _SHOWN[:2] if document.metadata.get(key)) or "Document"
    body = (
        _header(document, outline, chunks, pages, name)
        + _strip(chunks, max_tokens)
        + '<div class="columns"><nav aria-label="Sections"><input id="filter" type="search" '
        'placeholder="Filter sections  ( / )" aria-label="Filter sections">'
        + section_tree(outline, pages)
        + f'</nav>\n<main id="text" tabindex="-1">\n{column}</main>\n'
        '<aside id="details" aria-live="polite"><p class="soft">Point at a mark, or choose a chunk, to see what is '
        "known of it.</p></aside></div>\n" + '<div id="card" role="tooltip" hidden></div>\n' + _help()
    )
    return whole_page(name, body, "page", data=_looked_up(marks))


def _looked_up(marks: Marks) -> dict[str, Any]:
    return {kind: marks.data.get(kind, []) for kind in ("chunks", "facts", "notes", "references", "turns")}


def whole_page(title: str, body: str, name: str, *, data: object) -> str:
    """Return a page around ``body`` with the style and the script of that name, and ``data`` for the script."""
    style = _asset("page.css") + ("" if name == "page" else _asset(f"{name}.css"))
    script = _asset("look.js") + _asset(f"{name}.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    # Inside a script element only "<" could end it early.
    packed = json.dumps(data, ensure_ascii=False, default=str).replace("<", "\\u003c")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{packed}</script>\n<script>{script}</script>\n</body>\n</html>\n'
    )


def _asset(name: str) -> str:
    return files("fin_rag.inspector").joinpath(name).read_text("utf-8")


def _header(document: Document, outline: Outline, chunks: Sequence[Document], pages: PageMap, name: str) -> str:
    metadata = document.metadata
    facts = [str(metadata[key]) for key in _SHOWN[2:] if metadata.get(key) not in (None, "")]
    counts = [int(chunk.metadata[TOKEN_COUNT]) for chunk in chunks]
    facts.append(f"{len(document.page_content):,} characters")
    if pages.pages:
        facts.append(f"{len(pages.pages)} pages")
    facts += [f"{len(outline)} sections", f"{len(chunks)} chunks"]
    if counts:
        facts.append(f"{min(counts)} to {max(counts)} tokens, {sum(counts) // len(counts)} on average")
    markup = document.markup if isinstance(document, SourceDocument) else Markup()
    warnings = [*markup.warnings, *outline.warnings]
    listed = "".join(f"<li>{escape(warning)}</li>" for warning in warnings)
    rows = "".join(
        f"<tr><th>{escape(key)}</th><td>{escape(str(value))}</td></tr>"
        for key, value in sorted(metadata.items())
        if key != PAGE_MAP
    )
    return (
        f'<header><h1>{escape(name)}</h1><p class="soft">{escape(" · ".join(facts))}</p>'
        + (f"<details><summary>{len(warnings)} warnings</summary><ul>{listed}</ul></details>" if warnings else "")
        + f'<details><summary>Metadata</summary><table class="plain">{rows}</table></details>'
        '<div class="tools"><button type="button" id="theme">Dark / light</button> '
        '<button type="button" id="tones" aria-pressed="true">Tones</button> '
        '<button type="button" id="help-open">Keys</button></div></header>\n'
    )


def _strip(chunks: Sequence[Document], max_tokens: int | None) -> str:
    """Return the chunks as bars, as high as their counts of tokens, each a link to its chunk."""
    counts = [int(chunk.metadata[TOKEN_COUNT]) for chunk in chunks]
    if not counts:
        return ""
    top = max([*counts, max_tokens or 0])
    bars = "".join(
        f'<a href="#c{chunk.metadata[CHUNK_INDEX]}" tabindex="-1" style="height:{100 * count / top:.0f}%" '
        f'title="chunk {chunk.metadata[CHUNK_INDEX]}: {count} tokens"></a>'
        for chunk, count in zip(chunks, counts, strict=True)
    )
    budget = "" if max_tokens is None else f", budget {max_tokens}"
    return f'<div class="strip" role="img" aria-label="Tokens of each chunk{budget}">{bars}</div>\n'


def _help() -> str:
    rows = "".join(f"<tr><th><kbd>{escape(key)}</kbd></th><td>{escape(what)}</td></tr>" for key, what in _KEYS)
    close = '<form method="dialog"><button>Close</button></form>'
    return f'<dialog id="help"><h2>Keys</h2><table class="plain">{rows}</table>{close}</dialog>\n'
