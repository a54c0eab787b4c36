"""Read JSON and JSON Lines as text: ``key: value`` lines, long texts as paragraphs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.transcript_facts import call_hints
from fin_rag.schema import Markup
from fin_rag.text.canonical import decode

_MAX_DEPTH: Final = 60
_LONG: Final = 160  # characters


def read_json(data: bytes, *, name: str = "", lines: bool = False) -> LoadedText:
    r"""Read JSON (or JSON Lines) into text, one ``key: value`` line a fact.

    Transcripts of calls are the business of :func:`~fin_rag.loaders.transcripts.read_transcript`.

    Raises:
        ParseError: if the JSON is broken, nests deeper than 60 levels, or holds no text.

    Example:
        >>> read_json(b'{"symbol": "ACME", "report": {"title": "Bolts", "pages": 3}}').text
        'symbol: ACME\ntitle: Bolts\npages: 3'
    """
    where = name or "The JSON"
    decoded = decode(data)
    try:
        rows = [json.loads(line) for line in decoded.text.splitlines() if line.strip()] if lines else None
        value = rows if rows is not None else json.loads(decoded.text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{where} is broken JSON: {error}. Check that the file is whole.") from error
    writer = _Writer()
    writer.write(value, "", 0, where)
    if not any(part.strip() for part in writer.parts):
        raise ParseError(f"{where} holds no text. Check that it is the document.")
    record = value[0] if isinstance(value, list) and value else value
    hints = call_hints(record) if isinstance(record, Mapping) else {}
    return LoadedText(text=writer.text(), markup=Markup(warnings=decoded.warnings), hints=hints)


class _Writer:
    """Collect the parts of the text; facts stand on consecutive lines, texts apart."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._loose = False

    def text(self) -> str:
        return "".join(self.parts).strip("\n")

    def write(self, value: object, key: str, depth: int, where: str) -> None:
        if depth > _MAX_DEPTH:
            raise ParseError(f"{where} nests deeper than {_MAX_DEPTH} levels. Flatten it.")
        if isinstance(value, Mapping):
            for name, item in value.items():
                self.write(item, str(name), depth + 1, where)
        elif isinstance(value, list):
            for item in value:
                self.write(item, key, depth + 1, where)
        elif isinstance(value, str) and ("\n" in value or len(value) > _LONG or not key):
            self._block(value.replace("\r\n", "\n"))
        elif value is not None and value != "":
            self._line(f"{key}: {value}" if key else str(value))

    def _block(self, text: str) -> None:
        self.parts.append(("\n\n" if self.parts else "") + text.strip())
        self._loose = False

    def _line(self, text: str) -> None:
        self.parts.append(("\n" if self._loose else "\n\n" if self.parts else "") + text)
        self._loose = True
