"""Read what a file name hints at: accession number, form, ticker, company number, year and quarter.

Names are given by people and tools and are often wrong, so the document itself always goes first.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final

from fin_rag.loaders.dates import date_number
from fin_rag.schema import (
    CIK,
    DOC_ID,
    DOC_TYPE,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    PERIOD_END,
    TICKER,
    MetadataValue,
)

_ACCESSION: Final = re.compile(r"(?<!\d)(\d{10})-?(\d{2})-?(\d{6})(?!\d)")
_KNOWN: Final = re.compile(r"\.(?:gz|html?|xhtml|xml|pdf|md|markdown|txt|text|jsonl?|ndjson)$", re.IGNORECASE)
_FORM: Final = re.compile(
    r"(?<![A-Za-z0-9])(10-?K(?:SB|405|T)?|10-?Q(?:SB)?|8-?K|20-?F|40-?F|6-?K)(?:-?A)?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_YEAR_QUARTER: Final = re.compile(
    r"(?<![0-9])(?:FY)?((?:19|20)\d\d)[_ -]?Q([1-4])(?!\d)|(?<![A-Za-z0-9])([1-4])Q[_ -]?((?:19"
    r"|20)\d\d)(?!\d)"
    r"|(?<![A-Za-z0-9])Q([1-4])[_ -]?(?:FY)?((?:19|20)\d\d)(?!\d)",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"(?<![0-9])((?:19|20)\d\d)(?!\d)")
# The name that XBRL tools give: ticker and period end.
_XBRL: Final = re.compile(r"^([a-z]{1,5})-?((?:19|20)\d\d)(\d\d)(\d\d)(?=[._-]|$)", re.IGNORECASE)
_WORDS: Final = frozenset({"FORM", "ANNUAL", "REPORT", "FINAL", "MAIN", "DOC", "FILE", "TEXT", "PLAIN", "INDEX"})


def without_extension(name: str) -> str:
    """Return a file name without folders and without the extensions of the formats that are read.

    Example:
        >>> without_extension("reports/10-K_ACME.html.gz")
        '10-K_ACME'
    """
    stem = PurePath(name).name
    while _KNOWN.search(stem):
        stem = _KNOWN.sub("", stem)
    return stem


def read_name(name: str) -> dict[str, MetadataValue]:
    """Return the metadata keys that a file name hints at.

    A name with more behind its accession number (``..._ex99``) is one of several files of that filing, so
    what follows becomes part of ``doc_id``.

    Example:
        >>> read_name("10-K_ACME_0000123456-24-000123.html.gz")
        {'doc_id': '0000123456-24-000123', 'doc_type': '10-K', 'ticker': 'ACME'}
        >>> read_name("ORBITAL_2023Q2_10Q.pdf")
        {'doc_type': '10-Q', 'fiscal_year': 2023, 'fiscal_period': 'Q2'}
    """
    stem = without_extension(name)
    found: dict[str, MetadataValue] = {}
    accession = _ACCESSION.search(stem)
    if accession:
        number = "-".join(accession.groups())
        rest = re.sub(r"[^A-Za-z0-9]+", "-", stem[accession.end() :]).strip("-")
        found[DOC_ID] = f"{number}-{rest}" if rest else number
    left = stem[: accession.start()] if accession else stem
    # Only filings in XBRL are named so for certain; "memo-20240301.md" has no ticker.
    xbrl = _XBRL.match(stem) if re.search(r"\.(?:x?html?|xml)(?:\.gz)?$", name, re.IGNORECASE) else None
    form = next(reversed(list(_FORM.finditer(left))), None)
    if form:
        found[DOC_TYPE] = form_family(form.group(1))
        _read_around_form(left, form, found, filed=accession is not None)
    if xbrl:
        found.setdefault(TICKER, xbrl.group(1).upper())
        end = date_number(*map(int, xbrl.groups()[1:]))
        if end:
            found[PERIOD_END] = end
    else:
        _read_period(left, found)
    return found


def form_family(form: str) -> str:
    """Return the family of an SEC form: ``10-K405`` and ``10-KSB/A`` are ``10-K``.

    Example:
        >>> form_family("10K405"), form_family("10-QSB/A"), form_family("20-f")
        ('10-K', '10-Q', '20-F')
    """
    match = re.match(r"(10|8|20|40|6)-?([KQF])", form.upper())
    return f"{match[1]}-{match[2]}" if match else form.upper()


def _read_around_form(left: str, form: re.Match[str], found: dict[str, MetadataValue], *, filed: bool) -> None:
    """Read the two common layouts: ``FORM_TICKER_...`` and ``CIK_FORM_YEAR_...``."""
    before, after = left[: form.start()], left[form.end() :]
    cik = re.search(r"(?:^|[_ ])(\d{4,10})[_ ]$", before)
    if cik and not _YEAR.fullmatch(cik.group(1)):
        found[CIK] = cik.group(1).zfill(10)
    ticker = re.match(r"[_ ]([A-Z]{1,5}(?:[.-][A-Z])?)(?=[_ ]|$)", after)
    alone = ticker is not None and not after[ticker.end() :].strip("_ ")
    if ticker and (not before or (filed and alone)) and ticker.group(1) not in _WORDS:
        found[TICKER] = ticker.group(1)


def _read_period(left: str, found: dict[str, MetadataValue]) -> None:
    quarter = _YEAR_QUARTER.search(left)
    if quarter:
        parts = quarter.groups()
        found[FISCAL_YEAR] = int(parts[0] or parts[3] or parts[5])
        found[FISCAL_PERIOD] = f"Q{parts[1] or parts[2] or parts[4]}"
        return
    years = set(_YEAR.findall(left))
    if CIK not in found and len(years) == 1 and found.get(DOC_TYPE) in (None, "10-K", "20-F", "40-F"):
        found[FISCAL_YEAR] = int(years.pop())
