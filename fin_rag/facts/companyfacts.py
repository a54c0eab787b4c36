"""Company-facts JSON as the SEC publishes it: one file an issuer, a folder of them, or the bulk archive."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fin_rag.errors import InputError, ParseError
from fin_rag.facts.loading import UNSTATED, Loader, LoadReport, Row, cik_of, stored_value

_SUFFIXES: Final = (".json", ".json.gz")


def company_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield ``(name, bytes)`` of each company-facts file of a file, a folder or a ``.zip`` archive, sorted by name.

    Raises:
        InputError: if there is none.
    """
    if path.is_dir():
        inside = sorted(one for one in path.rglob("*") if one.is_file() and one.name.lower().endswith(_SUFFIXES))
        if not inside:
            raise InputError(f"The folder {str(path)!r} holds no company-facts files (*.json, *.json.gz).")
        for one in inside:
            yield str(one), _bytes(one)
    elif path.suffix.lower() == ".zip":
        try:
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.lower().endswith(".json"):
                        yield f"{path}:{name}", archive.read(name)
        except (OSError, zipfile.BadZipFile) as error:
            raise InputError(f"The archive {str(path)!r} cannot be read: {error}. Download it again.") from error
    else:
        yield str(path), _bytes(path)


def _bytes(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (OSError, EOFError) as error:
        raise InputError(f"The file {str(path)!r} cannot be read: {error}.") from error


def load_company(loader: Loader, name: str, raw: bytes, *, ticker: str = "") -> LoadReport:
    """Write the facts of one company-facts file.

    ``filed`` is a day and counts as its end. ``fy`` of an entry tells how the issuer names its years, never which
    period a figure is of.

    Raises:
        ParseError: if the bytes are no company-facts JSON.
    """
    data = _decode(name, raw)
    issuer = loader.issuer(cik=cik_of(str(data["cik"])), ticker=ticker, name=str(data.get("entityName") or ""))
    report = LoadReport(issuers=1)
    rows: list[Row] = []
    for taxonomy, tags in data["facts"].items():
        for tag, content in tags.items():
            units = content.get("units") if isinstance(content, Mapping) else None
            if not isinstance(units, Mapping):
                report.skip("concept without units", f"{name}, {taxonomy}:{tag}")
                continue
            concept = loader.names.concept(f"{taxonomy}:{tag}")
            for unit, entries in units.items():
                _entries(loader, issuer, concept, loader.names.number("units", unit), entries, rows, report, name)
    report.facts = loader.write(rows)
    report.repeated = len(rows) - report.facts
    loader.finish()
    return report


def _decode(name: str, raw: bytes) -> dict[str, Any]:
    try:
        data = json.loads(raw, parse_float=str)
    except ValueError as error:
        raise ParseError(f"{name!r} is no JSON: {error}.") from error
    if not isinstance(data, dict) or "cik" not in data or not isinstance(data.get("facts"), dict):
        raise ParseError(f"{name!r} is no company-facts file: it needs the keys 'cik' and 'facts'.")
    if not cik_of(str(data["cik"])):
        raise ParseError(f"{name!r} has no CIK: got {data['cik']!r}.")
    return data


def _entries(
    loader: Loader,
    issuer: int,
    concept: int,
    unit: int,
    entries: Iterable[Mapping[str, Any]],
    rows: list[Row],
    report: LoadReport,
    name: str,
) -> None:
    """Add the rows of one concept in one unit; the loop is kept flat, since everything passes through it."""
    day, filed_of, filing_of, see_year = loader.day, loader.filed, loader.filing, loader.see_year
    for entry in entries:
        try:
            end, value, accession, filed = entry["end"], entry["val"], entry["accn"], filed_of(entry["filed"])
            start = entry.get("start") or ""
            first, last = day(start), day(end)
        except (KeyError, TypeError, ValueError):
            report.skip("entry without end, val, accn or filed", name)
            continue
        if value is None or first > last:
            report.skip("entry without a value, or that ends before it starts", name)
            continue
        filing = filing_of(issuer, accession, entry.get("form") or "", filed)
        if start:
            see_year(filing, start, end)
        fiscal_year = entry.get("fy")
        if fiscal_year:
            filing.fiscal_year = fiscal_year
        if isinstance(value, str):
            value = stored_value(value)
        rows.append((issuer, concept, last, first, 0, unit, filed, UNSTATED, filing.number, value, None, None))


def load_tickers(data: object) -> dict[str, str]:
    """Read which tickers belong to which CIK: the SEC's ``company_tickers.json``, or ``{"ACME": "0000123456"}``.

    Returns:
        CIK of ten digits by ticker.

    Raises:
        InputError: if it has another form.
    """
    found: dict[str, str] = {}
    if isinstance(data, Mapping):
        for key, value in data.items():
            if isinstance(value, Mapping):
                ticker, cik = str(value.get("ticker", "")), cik_of(str(value.get("cik_str", value.get("cik", ""))))
            else:
                ticker, cik = str(key), cik_of(str(value))
            if not ticker or not cik:
                raise InputError(
                    f"Tickers must map to a CIK, such as {{'ACME': '0000123456'}}. Got {key!r}: {value!r}."
                )
            found[ticker.upper()] = cik
        return found
    raise InputError("Tickers must be a mapping of tickers to CIKs, or the content of company_tickers.json.")
