"""Facts from a table: a pandas DataFrame, or any rows with the documented columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from fin_rag.errors import InputError
from fin_rag.facts.loading import UNSTATED, Loader, LoadReport, Row, cik_of, stored_value
from fin_rag.facts.model import EXACT
from fin_rag.facts.periods import instant, iso_day

COLUMNS: Final = (
    "issuer", "cik", "ticker", "name", "concept", "start", "end", "unit", "value", "decimals", "form", "accession",
    "filed", "dimensions", "doc_id",
)  # fmt: skip
_NEEDED: Final = ("concept", "end", "value", "filed")


def table_rows(table: object, columns: Mapping[str, str] | None) -> Iterable[dict[str, Any]]:
    """Return the rows of a table under the documented names.

    ``table`` is a DataFrame or an iterable of mappings; ``columns`` maps its own column names to ours.

    Raises:
        InputError: if a column that is needed is absent.
    """
    given: Any = table
    if hasattr(given, "to_dict") and hasattr(given, "columns"):
        frame = given.rename(columns=dict(columns or {}))
        _check(frame.columns)
        kept = [name for name in COLUMNS if name in frame.columns]
        values = [frame[name].tolist() for name in kept]
        return (dict(zip(kept, row, strict=True)) for row in zip(*values, strict=True))
    renamed = [{(columns or {}).get(key, key): value for key, value in row.items()} for row in given]
    if renamed:
        _check(renamed[0])
    return renamed


def _check(names: Iterable[str]) -> None:
    have = set(names)
    missing = [name for name in _NEEDED if name not in have]
    if not have & {"issuer", "cik", "ticker"}:
        missing.insert(0, "cik, ticker or issuer")
    if missing:
        raise InputError(
            f"A table of facts needs the columns {', '.join(missing)}. Got {', '.join(map(str, sorted(have)))}. "
            "Rename them, or pass columns={'their name': 'our name'}."
        )


def load_table(loader: Loader, table: object, columns: Mapping[str, str] | None) -> LoadReport:
    """Write the rows of a table.

    ``filed`` is a day (known at its end) or an instant. A row that cannot be read is counted in the report.
    """
    report = LoadReport()
    issuers: dict[tuple[str, str, str], int] = {}
    rows: list[Row] = []
    for number, row in enumerate(table_rows(table, columns)):
        try:
            rows.append(_row(loader, row, issuers))
        except (InputError, ValueError, TypeError, InvalidOperation) as error:
            report.skip("row that cannot be read", f"row {number} ({error})")
    report.issuers = len(issuers)
    report.facts = loader.write(rows)
    report.repeated = len(rows) - report.facts
    loader.finish()
    return report


def _row(loader: Loader, row: Mapping[str, Any], issuers: dict[tuple[str, str, str], int]) -> Row:
    issuer = _issuer(loader, row, issuers)
    start, end = iso_day(row.get("start")), iso_day(row["end"])
    first, last = loader.day(start), loader.day(end)
    if not last or first > last:
        raise InputError(f"a fact needs an end that is not before its start, got {start!r} to {end!r}")
    filed = _filed(row["filed"])
    accession = _text(row.get("accession")) or _text(row.get("doc_id"))
    filing = loader.filing(issuer, accession, _text(row.get("form")), filed, doc_id=_text(row.get("doc_id")))
    if start:
        loader.see_year(filing, start, end)
    dims = row.get("dimensions")
    dimensions = loader.names.number("dimensions", dimensions_text(dims)) if isinstance(dims, Mapping) and dims else 0
    concept = loader.names.concept(_text(row["concept"]))
    unit = loader.names.number("units", _text(row.get("unit")))
    value = stored_value(_decimal(row["value"]))
    decimals = precision(row.get("decimals"))
    return (issuer, concept, last, first, dimensions, unit, filed, decimals, filing.number, value, None, None)


def _issuer(loader: Loader, row: Mapping[str, Any], issuers: dict[tuple[str, str, str], int]) -> int:
    cik = cik_of(_text(row.get("cik")))
    ticker, name = _text(row.get("ticker")), _text(row.get("name"))
    named = _text(row.get("issuer"))
    key = (cik or named, ticker, name)
    if key not in issuers:
        if not any(key):
            raise InputError("a fact needs an issuer")
        issuers[key] = loader.issuer(cik=cik or cik_of(named), ticker=ticker, name=name or named)
    return issuers[key]


def _text(value: object) -> str:
    return "" if value is None or value != value else str(value).strip()  # NaN differs from itself


def _filed(value: object) -> int:
    moment: Any = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    # A column of days comes as times at midnight without a zone: the day is all that is known.
    if hasattr(moment, "tzinfo") and moment.tzinfo is None and moment == moment.replace(hour=0, minute=0, second=0):
        moment = moment.date()
    return instant(moment, name="filed")


def _decimal(value: object) -> Decimal:
    number = value if isinstance(value, Decimal) else Decimal(repr(value) if isinstance(value, float) else str(value))
    if not number.is_finite():
        raise InputError(f"a fact needs a finite value, got {value!r}")
    return number


def precision(value: object) -> int:
    """Return the number of decimals to which a value is right: ``INF`` is exact, nothing is not stated.

    Example:
        >>> precision("-6"), precision("INF"), precision(None)
        (-6, 1000000, -1000000)
    """
    text = _text(value)
    if text.upper() == "INF":
        return EXACT
    try:
        return int(float(text))
    except ValueError:
        return UNSTATED


def dimensions_text(dimensions: Mapping[str, str]) -> str:
    """Return dimensions in the one form in which they are stored."""
    return json.dumps(sorted(dimensions.items()), ensure_ascii=False, separators=(",", ":"))
