"""``GoldenSet``: questions with gold answers and passages, read, checked, hashed and written."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from fin_rag.errors import InputError
from fin_rag.evaluation.golden_files import read_rows, write_rows
from fin_rag.evaluation.questions import Question

_MOST_FAULTS: Final = 20


@dataclass(frozen=True, slots=True)
class GoldenSet:
    r"""Hold the questions that a system is measured by.

    Example:
        >>> golden = GoldenSet.from_rows([
        ...     {"question_id": "q1", "question": "Net debt?", "passages": [{"document": "acme", "page": 3}]},
        ...     {"question_id": "q2", "question": "Dividend in 2031?", "type": "unanswerable"}])
        >>> len(golden), len(golden.answerable), golden.types()
        (2, 1, {'extractive': 1, 'unanswerable': 1})
    """

    questions: tuple[Question, ...]
    name: str = "golden"

    def __iter__(self) -> Iterator[Question]:
        return iter(self.questions)

    def __len__(self) -> int:
        return len(self.questions)

    @classmethod
    def load(cls, path: str | Path) -> GoldenSet:
        """Read a set from a ``.jsonl``, ``.csv`` or ``.parquet`` file.

        In CSV and Parquet, nested columns hold JSON; a set with one passage a question may write its
        ``document``, ``spans``, ``section_path``, ``page`` and ``quote`` as columns instead.

        Raises:
            NotFoundError: if there is no such file.
            InputError: if rows are wrong; the message names the line and the field of each fault.
        """
        file = Path(path)
        return cls.from_rows(read_rows(file), name=file.stem, where=str(file))

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any] | tuple[str, Mapping[str, Any]]],
        *,
        name: str = "golden",
        where: str = "the golden set",
    ) -> GoldenSet:
        """Make a set from mappings, or from ``(place, mapping)`` pairs such as ``("line 3", {...})``.

        Raises:
            InputError: if rows are wrong; the message names place and field of each fault.
        """
        questions: list[Question] = []
        faults: list[str] = []
        seen: dict[str, str] = {}
        for number, row in enumerate(rows, 1):
            place, data = row if isinstance(row, tuple) else (f"row {number}", row)
            try:
                question = Question.model_validate(dict(data))
            except ValidationError as error:
                faults += [f"{place}: {fault}" for fault in fault_sentences(error, Question)]
                continue
            if question.question_id in seen:
                faults.append(
                    f"{place}: question_id: {question.question_id!r} was already used in {seen[question.question_id]}"
                )
            seen.setdefault(question.question_id, place)
            questions.append(question)
        if faults:
            raise InputError(_message(where, faults))
        if not questions:
            raise InputError(f"{where} holds no question. Each line is one question; see 'fin-rag golden schema'.")
        return cls(tuple(questions), name)

    def save(self, path: str | Path) -> None:
        """Write the set as ``.jsonl``, ``.csv`` or ``.parquet``, by the ending of ``path``."""
        write_rows(Path(path), self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return the questions as JSON objects, without fields that have their default."""
        return [q.model_dump(mode="json", exclude_defaults=True) for q in self.questions]

    @property
    def content_hash(self) -> str:
        """Return a SHA-256 over what is asked and what is right, whatever the file's form and order."""
        lines = sorted(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in self.rows())
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def final(self) -> GoldenSet:
        """Return the set without drafts."""
        return self.where(lambda q: q.status == "final")

    @property
    def answerable(self) -> tuple[Question, ...]:
        """Return the finished questions that have an answer."""
        return tuple(q for q in self.questions if q.answerable and q.status == "final")

    def where(self, keep: Callable[[Question], bool]) -> GoldenSet:
        """Return a set of the questions that ``keep`` keeps."""
        return GoldenSet(tuple(q for q in self.questions if keep(q)), self.name)

    def types(self) -> dict[str, int]:
        """Return the number of questions of each type."""
        return dict(sorted(Counter(q.type for q in self.questions).items()))

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of one question, that is of one line of a ``.jsonl`` file."""
        schema = Question.model_json_schema()
        return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def fault_sentences(error: ValidationError, row: type[BaseModel]) -> Iterator[str]:
    """Say what is wrong with a row, one sentence a fault, the field first."""
    for fault in error.errors():
        field = ".".join(map(str, fault["loc"])) or "row"
        if fault["type"] == "extra_forbidden":
            known = f". Known: {', '.join(row.model_fields)}" if len(fault["loc"]) == 1 else ""
            yield f"{field}: no such field{known}"
        else:
            yield f"{field}: {fault['msg'].removeprefix('Value error, ')}"


def _message(where: str, faults: list[str]) -> str:
    shown = faults[:_MOST_FAULTS]
    more = f"\n  and {len(faults) - len(shown)} more" if len(faults) > len(shown) else ""
    return f"{where} has {len(faults)} fault(s); nothing was taken:\n  " + "\n  ".join(shown) + more
