"""What transcript services say of a call beside what is said: company, period, date."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fin_rag.loaders.dates import date_number
from fin_rag.schema import CIK, FILED, FISCAL_PERIOD, FISCAL_YEAR, ISSUER, TICKER, MetadataValue


def call_hints(record: Mapping[str, object]) -> dict[str, MetadataValue]:
    """Read what transcript services say of a call: symbol, company, quarter, year, date, company number.

    Example:
        >>> call_hints({"symbol": "acme", "quarter": "2031Q1"})
        {'ticker': 'ACME', 'fiscal_year': 2031, 'fiscal_period': 'Q1'}
    """
    event = record.get("event")
    fields: dict[str, object] = {**event, **record} if isinstance(event, Mapping) else dict(record)
    hints: dict[str, MetadataValue] = {}
    ticker = first_text(fields, ("symbol", "ticker"))
    if re.fullmatch(r"[A-Za-z]{1,6}(?:[.-][A-Za-z]{1,2})?", ticker):
        hints[TICKER] = ticker.upper()
    company = first_text(fields, ("company_name", "companyName", "companyname"))
    if company:
        hints[ISSUER] = one_line(company)
    cik = str(fields.get("cik") or "")
    if cik.isdigit() and len(cik) <= 10:
        hints[CIK] = cik.zfill(10)
    hints.update(_period(fields))
    day = re.match(r"(\d{4})-(\d\d)-(\d\d)", first_text(fields, ("date", "conference_date", "call_date", "event_date")))
    number = date_number(*map(int, day.groups())) if day else None
    if number:
        hints[FILED] = number
    return hints


def _period(fields: Mapping[str, object]) -> dict[str, MetadataValue]:
    year = str(fields.get("fiscal_year") or fields.get("fiscalYear") or fields.get("year") or "")
    quarter = str(fields.get("fiscal_quarter") or fields.get("fiscalQuarter") or fields.get("quarter") or "").strip()
    both = re.fullmatch(r"(\d{4})[\s-]?Q([1-4])", quarter, re.IGNORECASE)
    other = re.fullmatch(r"Q([1-4])[\s-]?(\d{4})", quarter, re.IGNORECASE)
    if both:
        year, quarter = both.groups()
    elif other:
        quarter, year = other.groups()
    found: dict[str, MetadataValue] = {}
    if re.fullmatch(r"(?:19|20)\d\d", year):
        found[FISCAL_YEAR] = int(year)
    if re.fullmatch(r"Q?[1-4]", quarter, re.IGNORECASE):
        found[FISCAL_PERIOD] = f"Q{quarter[-1]}"
    return found


def first_text(record: Mapping[str, object], keys: Sequence[str]) -> str:
    """Return the first value under one of several keys that is a text with words, without the blanks around it."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def one_line(value: str) -> str:
    """Return a text on one line, runs of blanks made one."""
    return " ".join(value.split())
