"""Read JSON and JSON Lines as text: speeches as turns, everything else as ``key: value`` lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.dates import date_number
from fin_rag.schema import (
    CIK,
    DOC_TYPE,
    FILED,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    TICKER,
    Markup,
    MetadataValue,
)
from fin_rag.text.canonical import decode

_SPEAKER: Final = ("speaker", "speaker_name", "name", "person")
_ROLE: Final = ("title", "role", "position")
_FIRM: Final = ("company", "firm", "affiliation")
_WORDS: Final = ("content", "text", "speech", "paragraph")
_MAX_DEPTH: Final = 60
_TICKER_KEYS: Final = ("symbol", "ticker")
_DATE_KEYS: Final = ("date", "conference_date", "call_date", "event_date")


def read_json(data: bytes, *, name: str = "", lines: bool = False) -> LoadedText:
    r"""Read JSON (or JSON Lines) into text that reads like the document behind it.

    A list of records with a speaker and words becomes turns (``Name -- Role`` above what was said). The same
    transcript given twice, flat and in turns, is kept in turns. Other values become ``key: value`` lines.

    Raises:
        ParseError: if the JSON is broken, nests deeper than 60 levels, or holds no text.

    Example:
        >>> turns = b'[{"speaker": "Ann", "content": "Sales rose."}]'
        >>> read_json(b'{"symbol": "ACME", "transcript": ' + turns + b"}").text
        'symbol: ACME\n\nAnn\n\nSales rose.'
    """
    where = name or "The JSON"
    decoded = decode(data)
    try:
        rows = [json.loads(line) for line in decoded.text.splitlines() if line.strip()] if lines else None
        value = rows if rows is not None else json.loads(decoded.text)
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{where} is broken JSON: {error}. Check that the file is whole.") from error
    writer = _Writer(_speaker_names(value))
    writer.write(value, "", 0, where)
    if not any(part.strip() for part in writer.parts):
        raise ParseError(f"{where} holds no text. Check that it is the document.")
    hints = _hints(value)
    if writer.turns:
        hints[DOC_TYPE] = "earnings_call"
    left_out = {"empty_turn": writer.silent} if writer.silent else {}
    markup = Markup(furniture=left_out, warnings=decoded.warnings)
    return LoadedText(text=writer.text(), markup=markup, hints=hints)


class _Writer:
    """Collect the parts of the text; facts stand on consecutive lines, turns and texts apart."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.parts: list[str] = []
        self.turns = 0
        self.silent = 0
        self._names = names
        self._loose = False

    def text(self) -> str:
        return "".join(self.parts).strip("\n")

    def write(self, value: object, key: str, depth: int, where: str) -> None:
        if depth > _MAX_DEPTH:
            raise ParseError(f"{where} nests deeper than {_MAX_DEPTH} levels. Flatten it.")
        if isinstance(value, Mapping):
            if not self._turn(value):
                self._record(value, depth, where)
        elif isinstance(value, list):
            for item in value:
                self.write(item, key, depth + 1, where)
        elif isinstance(value, str) and ("\n" in value or len(value) > 160 or not key):
            self._block(value.replace("\r\n", "\n"))
        elif value is not None and value != "":
            self._line(f"{key}: {value}" if key else str(value))

    def _record(self, value: Mapping[str, object], depth: int, where: str) -> None:
        twice = any(str(key).endswith("_split") and item for key, item in value.items())
        for key, item in value.items():
            if (twice and f"{key}_split" in value) or str(key).startswith("speaker_name_map"):
                continue
            self.write(item, str(key), depth + 1, where)

    def _turn(self, record: Mapping[str, object]) -> bool:
        speaker, words = _first(record, _SPEAKER), _first(record, _WORDS)
        if not speaker or not any(key in record for key in _WORDS):
            return False
        name = self._names.get(speaker, speaker)
        role, firm = _first(record, _ROLE), _first(record, _FIRM)
        shown = [name, *(part for part in (role, firm) if part and part.casefold() != name.casefold())]
        if words:
            self._block(" -- ".join(dict.fromkeys(shown)))
            self._block(words.replace("\r\n", "\n"))
            self.turns += 1
        else:
            self.silent += 1
        return True

    def _block(self, text: str) -> None:
        self.parts.append(("\n\n" if self.parts else "") + text.strip())
        self._loose = False

    def _line(self, text: str) -> None:
        self.parts.append(("\n" if self._loose else "\n\n" if self.parts else "") + text)
        self._loose = True


def _first(record: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _speaker_names(value: object) -> dict[str, str]:
    """Return the names behind speaker codes where the source gives a map of them."""
    names: dict[str, str] = {}
    if not isinstance(value, Mapping):
        return names
    for key, entries in value.items():
        if not str(key).startswith("speaker_name_map") or not isinstance(entries, Mapping):
            continue
        for code, entry in entries.items():
            if isinstance(entry, str):
                names[str(code)] = entry
            elif isinstance(entry, Mapping) and _first(entry, _SPEAKER):
                names[str(code)] = " -- ".join(
                    part for part in (_first(entry, _SPEAKER), _first(entry, _ROLE)) if part
                )
    return names


def _hints(value: object) -> dict[str, MetadataValue]:
    """Read the fields that transcript services give: symbol, quarter, year, date, company number."""
    record = value[0] if isinstance(value, list) and value else value
    if not isinstance(record, Mapping):
        return {}
    fields: dict[str, object] = dict(record)
    event = record.get("event")
    if isinstance(event, Mapping):
        fields = {**event, **fields}
    hints: dict[str, MetadataValue] = {}
    ticker = _first(fields, _TICKER_KEYS)
    if re.fullmatch(r"[A-Za-z]{1,6}(?:[.-][A-Za-z])?", ticker):
        hints[TICKER] = ticker.upper()
    company = _first(fields, ("company_name", "companyName"))
    if company:
        hints[ISSUER] = company
    cik = str(fields.get("cik") or "")
    if cik.isdigit() and len(cik) <= 10:
        hints[CIK] = cik.zfill(10)
    hints.update(_period(str(fields.get("year") or ""), str(fields.get("quarter") or "")))
    day = re.match(r"(\d{4})-(\d\d)-(\d\d)", _first(fields, _DATE_KEYS))
    number = date_number(*map(int, day.groups())) if day else None
    if number:
        hints[FILED] = number
    return hints


def _period(year: str, quarter: str) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    both = re.fullmatch(r"(\d{4})\s?Q([1-4])", quarter, re.IGNORECASE)
    if both:
        year, quarter = both.groups()
    if re.fullmatch(r"(?:19|20)\d\d", year):
        found[FISCAL_YEAR] = int(year)
    if re.fullmatch(r"Q?[1-4]", quarter, re.IGNORECASE):
        found[FISCAL_PERIOD] = f"Q{quarter[-1]}"
    return found
