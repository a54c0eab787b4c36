"""Read transcripts of calls from JSON, JSON Lines and XML into text with one speaker line a turn.

The canonical text is Markdown: a title, ``# Questions and answers`` where the source says so, and for each turn
``## Name -- Role -- Firm`` above what was said, word for word. Services that give a whole call as one string keep
it as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.transcript_facts import call_hints, first_text, one_line
from fin_rag.loaders.transcript_xml import read_transcript_xml
from fin_rag.schema import (
    DOC_TYPE,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    TICKER,
    TITLE,
    Markup,
    MetadataValue,
)
from fin_rag.text.canonical import decode

TranscriptFormat = Literal["json", "jsonl", "xml"]

_SPEAKER: Final = ("speaker", "speaker_name", "speakerName", "speakername", "name", "person", "participant")
_SURELY_SPEAKER: Final = _SPEAKER[:4]
_ROLE: Final = ("title", "role", "position", "speaker_title", "speaker_role", "designation", "speakerTitle")
_FIRM: Final = (
    "company",
    "firm",
    "affiliation",
    "speaker_company",
    "organization",
    "organisation",
    "speakerCompany",
)
_WORDS: Final = (
    "content",
    "text",
    "speech",
    "paragraph",
    "utterance",
    "sentence",
    "transcript_text",
    "message",
    "words",
)
_PART: Final = ("section", "part", "session", "component_type", "componenttypename", "segment")
_GROUP: Final = ("speaker_type", "speakertypename", "speaker_category")
_TURN_LISTS: Final = (
    "transcript_split", "transcript", "speakers", "turns", "utterances", "segments", "paragraphs", "dialogue",
    "statements", "speeches", "components", "rows",
)  # fmt: skip
_WHOLE: Final = ("transcript", "content", "text", "full_transcript", "transcript_text")
_PARTS: Final = (
    (("prepared_remarks", "preparedRemarks", "presentation"), "Prepared remarks"),
    (
        ("questions_and_answers", "questionsAndAnswers", "question_and_answer", "qa", "q_and_a"),
        "Questions and answers",
    ),
)
_WRAPPERS: Final = (
    "data",
    "result",
    "results",
    "transcripts",
    "response",
    "earnings_call",
    "earningsCall",
    "call",
)
_DEEPEST: Final = 3
_MAP: Final = re.compile(r"speaker_?name_?map(?:_v\d+)?", re.IGNORECASE)
_ABOUT: Final = frozenset({
    "symbol", "ticker", "quarter", "year", "date", "timestamp", "cik", "event", "conference_date", "earnings_timing",
    "period", "fiscal_year", "fiscal_quarter", "company", "company_name", "companyname", "exchange", "title",
    "id", "level",
    "call_date", "event_date", "fiscalyear", "fiscalquarter",
})  # fmt: skip
_OF_A_CALL: Final = frozenset({"quarter", "fiscal_quarter", "event", "earnings_timing", "conference_date", "call_date"})
_QA: Final = re.compile(r"q\s?(?:&|and)\s?a\b|qa\b|question|answer|pregunta|respuesta", re.IGNORECASE)
_PREPARED: Final = re.compile(r"prepared|presentation|presenter|remarks|presentaci|management", re.IGNORECASE)
_NOTHING: Final = frozenset({"", "-", "--", "n/a", "na", "none", "null", "nan", "unknown", "unspecified"})
_NO_NAME: Final = "[unknown]"


class _Call(NamedTuple):
    """Hold the text of one call, what the source says of it, and the number of turns without words."""

    text: str
    hints: dict[str, MetadataValue]
    silent: int = 0


class _Row(NamedTuple):
    speaker: str
    role: str
    firm: str
    text: str
    part: str
    group: str


def read_transcript(data: bytes, *, name: str = "", format: TranscriptFormat) -> LoadedText | None:  # noqa: A002
    """Read the transcript of a call from JSON, JSON Lines or XML; ``None`` if the data hold no transcript.

    Args:
        data: the bytes of the file.
        name: what errors call the source.
        format: ``json``, ``jsonl`` or ``xml``.

    Raises:
        ParseError: if the data are a transcript in part: a key is missing or has the wrong type, or XML declares
            entities.

    Example:
        >>> turn = b'{"speaker": "Ann Lee", "title": "CEO", "content": "Good day."}'
        >>> source = b'{"symbol": "ACME", "transcript": [' + turn + b"]}"
        >>> print(read_transcript(source, format="json").text)
        # ACME earnings call
        <BLANKLINE>
        ## Ann Lee -- CEO
        <BLANKLINE>
        Good day.
    """
    where = name or "The transcript"
    if format == "xml":
        return read_transcript_xml(data, where)
    decoded = decode(data)
    try:
        value: object = (
            [json.loads(line) for line in decoded.text.splitlines() if line.strip()]
            if format == "jsonl"
            else json.loads(decoded.text)
        )
    except (ValueError, RecursionError) as error:
        raise ParseError(f"{where} is broken JSON: {error}. Check that the file is whole.") from error
    calls = list(_calls(value, where, 0))
    if not calls:
        return None
    text = "\n\n".join(call.text for call in calls).strip("\n")
    if not text.strip():
        raise ParseError(f"{where} is a transcript in which nothing is said. Fetch it again, or leave it out.")
    warnings = decoded.warnings
    if len(calls) > 1:
        warnings = (
            *warnings,
            f"the source holds {len(calls)} calls; load each one by itself to keep them apart",
        )
    silent = sum(call.silent for call in calls)
    markup = Markup(furniture={"empty_turn": silent} if silent else {}, warnings=warnings)
    return LoadedText(text, markup=markup, hints={**calls[0].hints, DOC_TYPE: "earnings_call"})


# --- shapes -----------------------------------------------------------------------------------------


def _calls(value: object, where: str, depth: int) -> Iterator[_Call]:
    """Yield text and hints of each call in a JSON value."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        rows = [dict(item) for item in value]
        if _are_rows(rows):
            for call in _grouped(rows):
                yield _from_rows(call, {**call[0]}, "the list", where, {})
            return
        if _are_sentences(rows):
            yield _sentences(rows)
            return
        for row in rows:
            yield from _calls(row, where, depth + 1)
    elif isinstance(value, Mapping):
        yield from _from_record(dict(value), where, depth)


def _from_record(record: dict[str, object], where: str, depth: int) -> Iterator[_Call]:
    for key in _TURN_LISTS:
        found = record.get(key)
        if isinstance(found, Mapping) and key == "transcript":
            yield from _from_object(record, key, dict(found), where, depth)
            return
        if isinstance(found, list) and found and (key == "transcript" or isinstance(found[0], Mapping)):
            yield from _from_list(record, key, found, where)
            return
    parts = [(title, first_text(record, keys)) for keys, title in _PARTS]
    if all(text for _, text in parts):
        body = "\n\n".join(f"# {title}\n\n{_clean(text)}" for title, text in parts)
        yield _titled(record, body)
        return
    for key in _WHOLE:
        found = record.get(key)
        if isinstance(found, str) and found.strip() and (key != "text" or _is_call(record)) and _stated(record, key):
            yield _titled(record, _clean(found))
            return
    for key in _WRAPPERS:
        if isinstance(record.get(key), list | Mapping):
            found_calls = list(_calls(record[key], where, depth + 1))
            if found_calls:
                yield from found_calls
                return
    _refuse(record, where)


def _from_object(
    record: Mapping[str, object], key: str, found: dict[str, object], where: str, depth: int
) -> Iterator[_Call]:
    """Read a transcript that is an object of its own; what stands beside it says whose call it is."""
    around = {name: value for name, value in record.items() if name != key}
    calls = list(_from_record({**around, **found}, where, depth + 1)) if depth < _DEEPEST else []
    if not calls:
        raise ParseError(
            f"{where}: {key!r} is an object without a list of turns or a text. Its keys are "
            f"{sorted(map(str, found))}. Fetch it again."
        )
    yield from calls


def _from_list(record: dict[str, object], key: str, found: list[object], where: str) -> Iterator[_Call]:
    """Read a list of turns; a list of strings is a list of sentences."""
    if all(isinstance(item, str) for item in found):
        yield _titled(record, "\n".join(_clean(str(item)) for item in found))
        return
    rows = [dict(item) for item in found if isinstance(item, Mapping)]
    if key not in ("transcript", "transcript_split", "speakers") and not _are_rows(rows, of_a_call=_is_call(record)):
        return
    if len(rows) < len(found):
        odd = next(i for i, item in enumerate(found) if not isinstance(item, Mapping))
        raise ParseError(f"{where}: entry {odd} of {key!r} is no object with a speaker and a text. Correct it.")
    yield _from_rows(rows, record, repr(key), where, _names(record))


def _are_rows(rows: Sequence[Mapping[str, object]], *, of_a_call: bool = False) -> bool:
    """Tell whether records are turns: most have a speaker and words.

    A "name" beside a text is anything; it is a speaker only beside keys that calls have.
    """
    speaker = _SPEAKER if of_a_call or _is_call(rows[0]) else _SURELY_SPEAKER
    fine = sum(
        any(k in row for k in speaker) and any(isinstance(row.get(k), str) for k in _WORDS) for row in rows[:200]
    )
    return fine * 2 > min(len(rows), 200)


def _are_sentences(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether records are sentences of a call: words without speakers, beside keys that calls have."""
    return len(_grouped(rows)) < len(rows) and all(
        any(isinstance(row.get(k), str) for k in _WORDS) and any(k in row for k in _OF_A_CALL | {"transcript_id"})
        and len(str(first_text(row, _WORDS))) < 1000 and not any(k in row for k in _SPEAKER)
        for row in rows
    )  # fmt: skip


def _is_call(record: Mapping[str, object]) -> bool:
    return any(str(key).lower() in _OF_A_CALL for key in record)


def _stated(record: Mapping[str, object], key: str) -> bool:
    """Tell whether a record with a whole text is a call's: its other keys are those of a call."""
    return "transcript" in key or (_is_call(record) and any(k in record for k in ("symbol", "ticker", "event", "year")))


def _refuse(record: Mapping[str, object], where: str) -> None:
    """Raise if a record has only what surrounds a transcript."""
    keys = {str(key).lower() for key in record}
    for key in ("transcript", "transcript_split", "speakers"):
        if key in record:
            found = record[key]
            what = "empty" if not found else f"a {type(found).__name__}"
            raise ParseError(f"{where}: {key!r} is {what}; it must be a list of turns or the text. Fetch it again.")
    maps = [key for key in record if _MAP.fullmatch(str(key))]
    if maps:
        raise ParseError(f"{where} has {maps[0]!r} but no 'speakers' key, so nothing is said. Fetch the full answer.")
    if keys & _OF_A_CALL and keys <= _ABOUT and len(keys) > 1:
        raise ParseError(
            f"{where} names a call ({', '.join(sorted(keys)[:4])}) but has no 'transcript', 'content' or 'speakers' "
            "key. Fetch the full answer of the service."
        )


# --- turns ------------------------------------------------------------------------------------------


def _from_rows(
    rows: Sequence[Mapping[str, object]], record: Mapping[str, object], what: str, where: str,
    names: Mapping[str, tuple[str, str]],
) -> _Call:  # fmt: skip
    turns = [_row(row, i, what, where, names) for i, row in enumerate(rows)]
    firms = {turn.firm for turn in turns if turn.firm and turn.speaker}
    about = dict(record)
    if len(firms) == 1 and len({turn.speaker for turn in turns}) > 2 and all(turn.firm for turn in turns):
        # One and the same firm beside everybody is the company whose call it is.
        about.setdefault("company_name", next(iter(firms)))
        turns = [turn._replace(firm="") for turn in turns]
    parts: list[str] = []
    part, last = "", ""
    for turn in turns:
        if not turn.text:
            continue
        if turn.part and turn.part != part:
            part, last = turn.part, ""
            parts.append(f"# {part}")
        line = _speaker_line(turn)
        if line != last:
            parts.append(line)
        last = line
        parts.append(turn.text)
    silent = sum(not turn.text for turn in turns)
    return _titled(about, "\n\n".join(parts))._replace(silent=silent) if silent < len(turns) else _Call("", {})


def _row(row: Mapping[str, object], index: int, what: str, where: str, names: Mapping[str, tuple[str, str]]) -> _Row:
    speaker_key = next((key for key in _SPEAKER if key in row), None)
    if speaker_key is None:
        raise ParseError(
            f"{where}: entry {index} of {what} has no 'speaker' key. Its keys are {sorted(map(str, row))}."
        )
    key = next((key for key in _WORDS if isinstance(row.get(key), str | list)), None)
    key = key or next((key for key in _WORDS if key in row), None)
    if key is None:
        raise ParseError(
            f"{where}: entry {index} of {what} has no 'content' or 'text' key. Its keys are {sorted(map(str, row))}."
        )
    words = "" if row[key] is None else row[key]
    if not isinstance(words, str | list):
        raise ParseError(
            f"{where}: {key!r} of entry {index} of {what} must be a text. Got {type(words).__name__}: {words!r}."
        )
    text = " ".join(str(word) for word in words) if isinstance(words, list) else str(words)
    speaker = row[speaker_key]
    inner = speaker if isinstance(speaker, Mapping) else row
    code = (
        first_text(speaker, _SPEAKER)
        if isinstance(speaker, Mapping)
        else str(speaker if speaker is not None else "").strip()
    )
    name, role = names.get(code, (code, ""))
    return _Row(
        speaker=one_line(name),
        role=role or _meaning(first_text(inner, _ROLE)),
        firm=_meaning(first_text(inner, _FIRM)),
        text=_clean(text),
        part=_part(first_text(row, _PART)),
        group=first_text(row, _GROUP),
    )


def _speaker_line(turn: _Row) -> str:
    name = turn.speaker or _NO_NAME
    if turn.role.casefold() == name.casefold() or "operator" in name.casefold():
        return f"## {name}"
    said = [part for part in (turn.role, turn.firm) if part]
    if not said and turn.group:
        return f"## {name} ({one_line(turn.group)})"
    return " -- ".join([f"## {name}", *(part.replace(" -- ", " - ") for part in said)])


def _part(value: str) -> str:
    if _QA.search(value):
        return "Questions and answers"
    return "Prepared remarks" if _PREPARED.search(value) else ""


def _names(record: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Return name and title behind each speaker code where the source gives a map of them."""
    names: dict[str, tuple[str, str]] = {}
    for key in sorted(map(str, record)):
        entries = record[key]
        if not _MAP.fullmatch(key) or not isinstance(entries, Mapping):
            continue
        for code, entry in entries.items():
            if isinstance(entry, str) and entry.strip():
                names.setdefault(str(code), (entry.strip(), ""))
            elif isinstance(entry, Mapping) and first_text(entry, _SPEAKER):
                names[str(code)] = (first_text(entry, _SPEAKER), _meaning(first_text(entry, _ROLE)))
    return names


def _sentences(rows: Sequence[Mapping[str, object]]) -> _Call:
    return _titled(dict(rows[0]), "\n".join(one_line(first_text(row, _WORDS)) for row in rows))


def _grouped(rows: Sequence[Mapping[str, object]]) -> list[list[Mapping[str, object]]]:
    """Part rows by the call that they name, in the order of the file."""
    keys = (
        "transcript_id",
        "call_id",
        "event_id",
        "symbol",
        "ticker",
        "fiscal_year",
        "year",
        "quarter",
        "fiscal_quarter",
    )
    groups: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row.get(key, "")) for key in keys), []).append(row)
    return list(groups.values())


# --- words ------------------------------------------------------------------------------------------


def _meaning(value: str) -> str:
    return "" if value.strip().casefold() in _NOTHING else one_line(value)


def _clean(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _titled(record: Mapping[str, object], body: str) -> _Call:
    hints = call_hints(record)
    name = str(hints.get(ISSUER) or hints.get(TICKER) or "")
    period = " ".join(str(hints[key]) for key in (FISCAL_PERIOD, FISCAL_YEAR) if key in hints)
    if period:
        hints[TITLE] = f"{period} call"
    title = " ".join(part for part in (name, period) if part)
    return _Call(f"# {title} earnings call\n\n{body}" if title else body, hints)
