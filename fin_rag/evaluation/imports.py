"""Take published question sets in: FinanceBench, TAT-QA, and three tables of documents, passages and questions."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from langchain_core.documents import Document

from fin_rag.errors import InputError, NotFoundError
from fin_rag.evaluation.golden import GoldenSet
from fin_rag.evaluation.golden_files import read_table, read_text
from fin_rag.evaluation.questions import UNANSWERABLE

_KINDS: Final = {"informe_anual": "annual_report", "folleto": "prospectus", "kid": "kid", "research": "research"}
_SCALES: Final = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_TABLES: Final = ("documentos", "pasajes", "preguntas")


@dataclass(frozen=True, slots=True)
class Imported:
    """Hold an imported set, and its documents where the set brings their texts."""

    golden: GoldenSet
    documents: tuple[Document, ...] = ()
    notes: tuple[str, ...] = ()


def import_financebench(path: str | Path) -> Imported:
    """Take FinanceBench in: its ``.jsonl`` file, or a folder that holds it.

    Pages, which it counts from 0, become 1-based; the evidence texts become quotes on those pages. Documents are
    named by file name without the ending and are to be ingested from its PDF files.

    Raises:
        NotFoundError: if there is no such file.
        InputError: if a line is no question of that set.
    """
    file = Path(path)
    if file.is_dir():
        found = sorted(file.rglob("financebench_open_source.jsonl"))
        if not found:
            raise NotFoundError(f"There is no 'financebench_open_source.jsonl' under {str(file)!r}.")
        file = found[0]
    rows = []
    for number, line in enumerate(read_text(file).split("\n"), 1):
        if line.strip():
            rows.append((f"line {number}", _row(line, _financebench_row, f"{file}, line {number}")))
    return Imported(GoldenSet.from_rows(rows, name="financebench", where=str(file)))


def _financebench_row(row: Mapping[str, Any]) -> dict[str, Any]:
    passages = [
        {
            "passage_id": f"e{number}",
            "document": evidence["doc_name"],
            "page": int(evidence["evidence_page_num"]) + 1,
            "quote": evidence["evidence_text"],
        }
        for number, evidence in enumerate(row["evidence"], 1)
    ]
    reasoning = row.get("question_reasoning")
    return {
        "question_id": row["financebench_id"],
        "question": row["question"],
        "answer": str(row["answer"]),
        "type": row["question_type"],
        "passages": passages,
        "documents": [row["doc_name"]],
        "lang": "en",
        "tags": [part for part in (row.get("company"), reasoning) if part],
    }


def import_tatqa(path: str | Path) -> Imported:
    """Take a TAT-QA file in: each context becomes one document, paragraphs in order and then its table.

    Raises:
        NotFoundError: if there is no such file.
        InputError: if it is not TAT-QA's JSON.
    """
    file = Path(path)
    try:
        contexts = json.loads(read_text(file))
    except json.JSONDecodeError as error:
        raise InputError(f"{file}, line {error.lineno}: no JSON: {error.msg}.") from error
    if not isinstance(contexts, list):
        raise InputError(f"{file} must hold a list of contexts. Got {type(contexts).__name__}.")
    documents, rows = [], []
    for number, context in enumerate(contexts, 1):
        try:
            document, found = _tatqa_context(context)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}, context {number}: not in TAT-QA's form: {error!r}.") from error
        documents.append(document)
        rows += [(f"context {number}, question {i}", row) for i, row in enumerate(found, 1)]
    return Imported(GoldenSet.from_rows(rows, name=file.stem, where=str(file)), tuple(documents))


def _tatqa_context(context: Mapping[str, Any]) -> tuple[Document, list[dict[str, Any]]]:
    table, doc_id = context["table"]["table"], f"tatqa-{context['table']['uid']}"
    parts: list[str] = []
    spans: dict[str, tuple[int, int]] = {}
    at = 0
    for paragraph in sorted(context["paragraphs"], key=lambda p: int(p["order"])):
        text = str(paragraph["text"])
        spans[str(paragraph["order"])] = (at, at + len(text))
        parts.append(text)
        at += len(text) + 2
    grid = _pipe_table(table)
    spans["table"] = (at, at + len(grid))
    parts.append(grid)
    rows = [_tatqa_row(question, spans, doc_id) for question in context["questions"]]
    metadata = {"doc_id": doc_id, "source": doc_id, "title": doc_id, "doc_type": "report", "lang": "en"}
    return Document(page_content="\n\n".join(parts), metadata=metadata), rows


def _pipe_table(table: Sequence[Sequence[object]]) -> str:
    width = max(map(len, table))
    rows = [[" ".join(str(cell).split()).replace("|", "/") for cell in row] for row in table]
    rows = [row + [""] * (width - len(row)) for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + "---|" * width)
    return "\n".join(lines)


def _tatqa_row(question: Mapping[str, Any], spans: Mapping[str, tuple[int, int]], doc_id: str) -> dict[str, Any]:
    source, answer = str(question["answer_from"]), question["answer"]
    keys = [str(order) for order in question.get("rel_paragraphs", [])] if "text" in source else []
    keys += ["table"] if "table" in source else []
    passages: list[dict[str, Any]] = [
        {"passage_id": key, "document": doc_id, "spans": [spans[key]], "kind": "table" if key == "table" else ""}
        for key in dict.fromkeys(keys)
    ]
    scale = str(question.get("scale") or "")
    row: dict[str, Any] = {
        "question_id": question["uid"],
        "question": question["question"],
        "answer": "; ".join(map(str, answer)) if isinstance(answer, list) else str(answer),
        "type": {"arithmetic": "calculation", "count": "calculation"}.get(question["answer_type"], source),
        "passages": passages,
        "documents": [doc_id],
        "unit": "%" if scale == "percent" else "",
        "lang": "en",
    }
    if scale in _SCALES:
        row["scale"] = _SCALES[scale]
    return row


def import_three_tables(folder: str | Path) -> Imported:
    """Take a folder with three tables in: ``*documentos``, ``*pasajes`` and ``*preguntas`` (Parquet or CSV).

    Columns: ``id_doc, titulo, tipo, emisor, ejercicio, fecha, texto``; ``id_pasaje, id_doc, tipo, inicio, fin``;
    ``id_pregunta, pregunta, respuesta_oro, pasajes_oro`` (ids joined by ``;``), ``tipo_pregunta, respondible``, and
    where they are known ``evidencia`` (``passage:start-end``) and ``equivalentes`` (``passage=other|other``).

    Raises:
        NotFoundError: if a table is missing.
        InputError: if a table lacks a column or names a passage that is not there.
    """
    root = Path(folder)
    tables = [read_table(_table(root, name)) for name in _TABLES]
    try:
        documents = tuple(_three_tables_document(row) for row in tables[0])
        passages = {row["id_pasaje"]: row for row in tables[1]}
        rows = [(f"question {i}", _three_tables_row(row, passages)) for i, row in enumerate(tables[2], 1)]
    except KeyError as error:
        raise InputError(f"The tables of {str(root)!r} lack the column or passage {error}.") from error
    except ValueError as error:
        raise InputError(f"The tables of {str(root)!r} are not in the form of three tables: {error}.") from error
    return Imported(GoldenSet.from_rows(rows, name=root.name, where=str(root)), documents)


def _table(root: Path, name: str) -> Path:
    found = sorted(
        p for ending in ("parquet", "csv") for p in root.glob(f"*{name}.{ending}") if "filings" not in p.name
    )
    if not found:
        raise NotFoundError(f"There is no table '*{name}.parquet' or '*{name}.csv' in {str(root)!r}.")
    return found[0]


def _three_tables_document(row: Mapping[str, Any]) -> Document:
    metadata: dict[str, Any] = {
        "doc_id": str(row["id_doc"]),
        "source": str(row["id_doc"]),
        "title": str(row["titulo"]),
        "doc_type": _KINDS.get(str(row["tipo"]), "report"),
        "issuer": str(row["emisor"]),
        "fiscal_year": int(row["ejercicio"]),
        "filed": _day(row["fecha"]),
    }
    if row.get("idioma"):
        metadata["lang"] = str(row["idioma"])
    return Document(page_content=str(row["texto"]), metadata=metadata)


def _day(value: object) -> str:
    return value.strftime("%Y-%m-%d") if isinstance(value, datetime.date) else str(value)[:10]


def _three_tables_row(row: Mapping[str, Any], passages: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    evidence = {}
    for part in filter(None, str(row.get("evidencia") or "").split(";")):
        name, _, span = part.partition(":")
        evidence[name] = span
    same = {}
    for part in filter(None, str(row.get("equivalentes") or "").split(";")):
        name, _, others = part.partition("=")
        same[name] = others.split("|")
    answerable = str(row["respondible"]).strip().lower() == "true"
    gold = [name for name in str(row.get("pasajes_oro") or "").split(";") if name]
    return {
        "question_id": row["id_pregunta"],
        "question": row["pregunta"],
        "answer": str(row.get("respuesta_oro") or "") if answerable else "",
        "type": row["tipo_pregunta"] if answerable else UNANSWERABLE,
        "answerable": answerable,
        "passages": [
            {
                **_three_tables_place(passages[name]),
                "passage_id": name,
                "kind": "table" if passages[name].get("tipo") == "tabla" else "",
                "evidence": evidence.get(name, ""),
                "equivalents": [_three_tables_place(passages[other]) for other in same.get(name, [])],
            }
            for name in gold
        ],
        "documents": [part for part in str(row.get("id_doc") or "").split(";") if part],
        "lang": str(row.get("idioma") or ""),
        "tags": [str(row["rasgo"])] if row.get("rasgo") else [],
    }


def _three_tables_place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"document": str(row["id_doc"]), "spans": [(int(row["inicio"]), int(row["fin"]))]}


def _row(line: str, convert: Callable[[Mapping[str, Any]], dict[str, Any]], where: str) -> dict[str, Any]:
    try:
        return convert(json.loads(line))
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, column {error.colno}: no JSON: {error.msg}.") from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{where}: not a question of that set: {error!r}.") from error


IMPORTERS: Final[Mapping[str, Callable[[str | Path], Imported]]] = {
    "financebench": import_financebench,
    "tat-qa": import_tatqa,
    "three-tables": import_three_tables,
}
