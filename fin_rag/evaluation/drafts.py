"""Draft questions from the documents themselves, for a person to finish: table rows, notes, sections."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeVar

from fin_rag.errors import InputError
from fin_rag.evaluation.corpus import Corpus, CorpusDocument
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.questions import Question
from fin_rag.schema import ISSUER, LANG, Span, format_spans
from fin_rag.structure.blocks import blocks
from fin_rag.structure.tables import Table, TableRow, table_rows
from fin_rag.text.canonical import text_sha256
from fin_rag.text.numbers import parse_number

_T = TypeVar("_T")
_SENTENCE: Final = re.compile(r"[^\s#|][^\n|]{60,}?[.;:](?=\s|$)")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_LEAST_BODY: Final = 200  # characters of a section that is worth a question
_LONGEST_LABEL: Final = 80


def draft_questions(corpus: Corpus, *, per_document: int = 6, name: str = "drafts") -> GoldenSet:
    r"""Draft questions from each document: at most ``per_document`` each from table rows, notes and sections.

    Every question has ``status`` ``draft`` and is not measured before a person has finished it; ``note`` says what is
    to be done. The same documents give the same drafts, spread evenly over each document.

    Raises:
        InputError: if ``per_document`` is less than 1, or no document yields a draft.

    Example:
        >>> from langchain_core.documents import Document
        >>> text = "# Acme\n\nIn millions\n\n| | 2024 |\n|---|---|\n| Net sales | 12.5 |\n| Net debt | 3.1 |"
        >>> corpus = Corpus.from_documents([Document(page_content=text, metadata={"doc_id": "a", "lang": "en"})])
        >>> [(q.question, q.answer, q.status) for q in draft_questions(corpus, per_document=1)]
        [('What was Net sales of a in 2024?', '12.5', 'draft')]
    """
    if per_document < 1:
        raise InputError(f"'per_document' of draft_questions must be at least 1. Got {per_document}.")
    rows: list[dict[str, Any]] = []
    for doc_id in corpus.doc_ids:
        document = corpus[doc_id]
        for kind, found in (("table", _rows(document)), *_sections(document)):
            chosen = _spread(found, per_document)
            rows += [_row(document, kind, number, draft) for number, draft in enumerate(chosen, 1)]
    if not rows:
        raise InputError("No document holds a table row, a note or a section that a question could be drafted from.")
    return GoldenSet(tuple(Question.model_validate(row) for row in rows), name)


@cache
def _words() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(files("fin_rag.evaluation").joinpath("draft_words.json").read_text("utf-8"))
    return data


def _row(document: CorpusDocument, kind: str, number: int, draft: dict[str, Any]) -> dict[str, Any]:
    lang = str(document.metadata.get(LANG) or "en")
    templates = _words()["questions"]
    template = templates.get(lang, templates["en"])[kind]
    return {
        "question_id": f"{document.doc_id}-{kind}-{number}",
        "question": template.format(issuer=document.metadata.get(ISSUER) or document.title, **draft["names"]),
        "answer": draft["answer"],
        "type": kind if kind != "section" else "extractive",
        "passages": [
            {
                "document": document.doc_id,
                "spans": draft["spans"],
                "evidence": draft.get("evidence", ""),
                "kind": "table" if kind == "table" else "",
                "text_sha256": text_sha256(document.text),
            }
        ],
        "lang": lang if lang in templates else "en",
        "status": "draft",
        "note": _words()["tasks"][kind] + draft.get("note", ""),
        **draft.get("more", {}),
    }


def _rows(document: CorpusDocument) -> list[dict[str, Any]]:
    """Return a draft for the first figure of each table row that has a label."""
    out = []
    for block in blocks(document.text):
        if block.kind != "table":
            continue
        table = table_rows(document.text, block)
        for row in table.rows:
            column = _column(table, row)
            label = " ".join(row.label.split()).strip("*_ ")
            if row.kind != "data" or column is None or not label or len(label) > _LONGEST_LABEL:
                continue
            head = table.header[column + 1]
            currency, scale = table.unit(row, column)
            stated = f" The table states {currency or 'no currency'}, scale {scale}." if scale > 1 or currency else ""
            out.append(
                {
                    "names": {"row": label, "column": " ".join(head.split()).strip("*_ ")},
                    "answer": row.cells[column],
                    "spans": format_spans([block.span]),
                    "evidence": format_spans([row.span]),
                    "note": stated,
                    "more": {"scale": str(scale)} if scale > 1 else {},
                }
            )
    return out


def _column(table: Table, row: TableRow) -> int | None:
    """Choose the column to ask for: one that names a year, else any other with a name and an amount."""
    named = []
    for number, cell in enumerate(row.cells):
        head = table.header[number + 1].strip() if number + 1 < len(table.header) else ""
        figure = parse_number(cell)
        if head and figure is not None and figure.kind == "amount" and head.lower() not in _words()["note_titles"]:
            named.append((_YEAR.search(head) is None, number))
    return min(named)[1] if named else None


def _sections(document: CorpusDocument) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return drafts for the notes and for the other sections: the first sentence of each is their passage."""
    found: dict[str, list[dict[str, Any]]] = {"note": [], "section": []}
    starts = sorted({span.start for _, span in document.sections})
    for path, span in document.sections:
        after = bisect_right(starts, span.start)
        inner = min(starts[after], span.end) if after < len(starts) else span.end
        if not path or inner - span.start < _LEAST_BODY:
            continue
        match = _SENTENCE.search(document.text, span.start + len(path[-1]), inner)
        if match is None:
            continue
        first = path[-1].split(None, 1)[0].rstrip(".:").lower() if path[-1].split() else ""
        kind = "note" if first in _words()["note_titles"] else "section"
        title = " ".join(path[-1].split())[:_LONGEST_LABEL]
        found[kind].append(
            {"names": {"title": f"“{title}”"}, "answer": "", "spans": format_spans([Span(*match.span())])}
        )
    return list(found.items())


def _spread(items: Sequence[_T], wanted: int) -> Iterable[_T]:
    """Choose evenly, the first always among them."""
    if len(items) <= wanted:
        return items
    return [items[number * len(items) // wanted] for number in range(wanted)]
