"""The files of golden sets: JSON lines, CSV and Parquet as rows with the place where each stands."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from fin_rag.errors import InputError, MissingDependencyError, NotFoundError

Row = tuple[str, dict[str, Any]]

_NESTED: Final = (
    "passages", "documents", "tags", "tool_calls", "contexts", "citations", "figures", "filter",
)  # fmt: skip
_OF_PASSAGE: Final = ("document", "spans", "section_path", "page", "quote", "evidence", "kind", "text_sha256")
_YES_OR_NO: Final = ("answerable", "abstained", "refused")
_FLAGS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def read_rows(path: Path) -> Iterator[Row]:
    """Yield ``(place, row)`` of a golden file; the place names the line.

    Raises:
        NotFoundError: if there is no such file.
        InputError: if the ending is unknown or the file cannot be read in that form.
    """
    if not path.is_file():
        raise NotFoundError(f"There is no golden set at {str(path)!r}. Give a .jsonl, .csv or .parquet file.")
    ending = path.suffix.lower()
    if ending in (".jsonl", ".ndjson"):
        yield from _json_lines(path)
    elif ending == ".csv":
        yield from _csv_rows(path)
    elif ending in (".parquet", ".pq"):
        yield from ((f"row {i}", _flat(row, f"row {i}", path)) for i, row in enumerate(read_table(path), 1))
    else:
        raise InputError(f"A golden set is a .jsonl, .csv or .parquet file. Got {str(path)!r}.")


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows in the form that the ending of ``path`` names.

    Raises:
        InputError: if the ending is unknown or the file cannot be written.
    """
    ending = path.suffix.lower()
    try:
        if ending in (".jsonl", ".ndjson"):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            path.write_text(text, encoding="utf-8")
        elif ending == ".csv":
            path.write_text(_csv_text(rows), encoding="utf-8", newline="")
        elif ending in (".parquet", ".pq"):
            _write_table(path, rows)
        else:
            raise InputError(f"A golden set is written as .jsonl, .csv or .parquet. Got {str(path)!r}.")
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from error


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte-order mark.

    Raises:
        NotFoundError: if there is no such file.
        InputError: if it is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {str(path)!r}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{str(path)!r} is not UTF-8 (byte {error.start}). Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from error


def read_table(path: Path) -> list[dict[str, Any]]:
    """Read a Parquet or CSV table as rows; empty cells of a Parquet table are left out.

    Raises:
        MissingDependencyError: if pyarrow is not installed.
        InputError: if the file is no such table.
    """
    if path.suffix.lower() == ".csv":
        return list(csv.DictReader(io.StringIO(read_text(path), newline="")))
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import read_table as read_parquet
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'fin-rag[eval]'.") from error
    try:
        rows: list[dict[str, Any]] = read_parquet(path).to_pylist()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {str(path)!r}.") from error
    except (ArrowException, OSError) as error:
        raise InputError(f"{str(path)!r} is no Parquet file: {error}.") from error
    return [{key: value for key, value in row.items() if not _is_empty(value)} for row in rows]


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _json_lines(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{path}, line {number}, column {error.colno}: no JSON: {error.msg}.") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: each line must be one JSON object. Got {type(row).__name__}.")
        yield f"line {number}", row


def _csv_rows(path: Path) -> Iterator[Row]:
    reader = csv.DictReader(io.StringIO(read_text(path), newline=""))
    if not reader.fieldnames or "question_id" not in reader.fieldnames:
        raise InputError(f"{path}, line 1: the header must name the columns, 'question_id' among them.")
    number = reader.line_num + 1
    for row in reader:
        place = f"line {number}"
        number = reader.line_num + 1
        if None in row or None in row.values():
            raise InputError(f"{path}, {place}: the row must have {len(reader.fieldnames)} cells like the header.")
        yield place, _flat(row, place, path)


def _flat(row: Mapping[str, Any], place: str, path: Path) -> dict[str, Any]:
    """Give a row of a flat table the nested form."""
    data: dict[str, Any] = {}
    passage: dict[str, Any] = {}
    for key, value in row.items():
        if _is_empty(value) or value == "":
            continue
        if key in _OF_PASSAGE:
            passage[key] = value
        elif key in _NESTED and isinstance(value, str):
            data[key] = _nested(key, value, place, path)
        elif key in _YES_OR_NO and isinstance(value, str):
            data[key] = _FLAGS.get(value.strip().lower(), value)
        else:
            data[key] = value
    if passage:
        if "passages" in data:
            raise InputError(f"{path}, {place}: give 'passages' or the columns of one passage, not both.")
        data["passages"] = [passage]
    return data


def _nested(key: str, value: str, place: str, path: Path) -> object:
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        if key in ("documents", "tags"):  # as a person writes them in a sheet
            return [part.strip() for part in value.split(";") if part.strip()]
        raise InputError(f"{path}, {place}, column {key!r}: no JSON: {error.msg}.") from error


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
        for key, value in row.items()
    }


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(key for row in rows for key in row))


def _csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, _columns(rows), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_cells(row) for row in rows)
    return out.getvalue()


def _write_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    try:
        import pyarrow as pa
        from pyarrow.parquet import write_table
    except ImportError as error:
        raise MissingDependencyError("Parquet needs pyarrow: pip install 'fin-rag[eval]'.") from error
    cells = [_cells(row) for row in rows]
    write_table(pa.table({name: [row.get(name) for row in cells] for name in _columns(rows)}), path)
