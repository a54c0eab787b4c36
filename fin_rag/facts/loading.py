"""Write facts into the store: issuers, filings and rows, with what was taken and what was not."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, TypeAlias

from fin_rag.facts.database import Names
from fin_rag.facts.periods import UNKNOWN_FILED, YEAR, duration_kind, instant

Row: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, object, int | None, int | None]
UNSTATED: Final = -1_000_000  # the precision of a value whose decimals are not known
_LARGEST: Final = 1 << 62


@dataclass(slots=True)
class LoadReport:
    """Tell what a load took and what it left.

    ``facts`` counts new rows, ``repeated`` those that the store already had (or the source had twice);
    ``skipped`` counts what could not be taken, by reason. ``warnings`` name files and the first of each kind.
    """

    facts: int = 0
    repeated: int = 0
    issuers: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)

    def skip(self, reason: str, where: str) -> None:
        """Count something that was left out; the first of its kind is named."""
        if not self.skipped[reason]:
            self.warnings.append(f"{where}: {reason}")
        self.skipped[reason] += 1

    def add(self, other: LoadReport) -> None:
        """Add the counts of another load."""
        self.facts += other.facts
        self.repeated += other.repeated
        self.issuers += other.issuers
        self.skipped.update(other.skipped)
        self.warnings += other.warnings

    def record(self) -> dict[str, object]:
        """Return the counts as plain JSON values."""
        return {
            "facts": self.facts, "repeated": self.repeated, "issuers": self.issuers,
            "skipped": dict(sorted(self.skipped.items())), "warnings": self.warnings,
        }  # fmt: skip


@dataclass(slots=True)
class FilingRecord:
    """Collect what becomes known of a filing while its facts are read."""

    number: int
    fiscal_year: int = 0
    year_end: int = 0
    years: Counter[int] = field(default_factory=Counter)

    def last_year(self) -> int:
        """Return the end of the last year that the filing is about.

        A figure or two about a year to come (what is expected to be paid) do not make that year the last one.
        """
        most = max(self.years.values(), default=0)
        return max((end for end, count in self.years.items() if 4 * count >= most), default=0)


def cik_of(text: str) -> str:
    """Return a CIK as ten digits, or an empty string for anything else.

    Example:
        >>> cik_of("CIK0000320193"), cik_of("320193"), cik_of("AAPL")
        ('0000320193', '0000320193', '')
    """
    bare = text.strip().upper().removeprefix("CIK").strip(" :#")
    return bare.zfill(10) if bare.isdecimal() and bare.isascii() and len(bare) <= 10 else ""


def folded(name: str) -> str:
    """Return a name as it is compared: case, blanks and closing punctuation do not count."""
    return " ".join(name.casefold().split()).strip(" .,")


def stored_value(value: Decimal | int | str) -> int | str:
    """Return a value in the form in which it is stored: an integer where it is one, else plain digits.

    Example:
        >>> stored_value(Decimal("1.50E+3")), stored_value("0.10"), stored_value(7)
        (1500, '0.1', 7)
    """
    if isinstance(value, int):
        return value if abs(value) < _LARGEST else str(value)
    number = value if isinstance(value, Decimal) else Decimal(value)
    text = f"{number:f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if "." not in text:
        whole = int(text)
        return whole if abs(whole) < _LARGEST else str(whole)
    return text


class Loader:
    """Write rows inside one transaction; the numbers of names are looked up once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.names = Names(connection)
        self._filings: dict[tuple[int, str, str, int, str], FilingRecord] = {}
        self._days: dict[str, int] = {}
        self._filed: dict[str, int] = {}
        self._years: dict[tuple[str, str], bool] = {}

    def issuer(self, *, cik: str, ticker: str, name: str) -> int:
        """Return the number of an issuer, found by its CIK, else its ticker, else its name; a new one is added."""
        key = cik or ticker.strip().upper() or folded(name)
        found = None
        known = [("SELECT issuer FROM issuers WHERE key = ?", key)]
        if ticker and not cik:
            known.append(("SELECT issuer FROM issuer_names WHERE name = ?", folded(ticker)))
        for sql, value in known:
            found = found or self._connection.execute(sql, (value,)).fetchone()
        if found is None:
            cursor = self._connection.execute(
                "INSERT INTO issuers (key, cik, ticker, name) VALUES (?, ?, ?, ?)", (key, cik, ticker, name)
            )
            number = int(cursor.lastrowid or 0)
        else:
            number = int(found[0])
            self._connection.execute(
                "UPDATE issuers SET ticker = CASE ticker WHEN '' THEN ? ELSE ticker END, "
                "name = CASE name WHEN '' THEN ? ELSE name END WHERE issuer = ?",
                (ticker, name, number),
            )
        self.alias(number, cik, ticker, name)
        return number

    def alias(self, issuer: int, *names: str) -> None:
        """Let an issuer be found by further names; a name that another one has stays with that one."""
        rows = [(folded(name), issuer) for name in names if folded(name)]
        self._connection.executemany("INSERT OR IGNORE INTO issuer_names VALUES (?, ?)", rows)

    def filing(self, issuer: int, accession: str, form: str, filed: int, *, doc_id: str = "") -> FilingRecord:
        """Return a filing; a new one is added."""
        key = (issuer, accession, doc_id, filed, form)
        record = self._filings.get(key)
        if record is None:
            row = self._connection.execute(
                "SELECT filing, fiscal_year, year_end FROM filings "
                "WHERE issuer = ? AND accession = ? AND doc_id = ? AND filed = ? AND form = ?",
                key,
            ).fetchone()
            if row is None:
                cursor = self._connection.execute(
                    "INSERT INTO filings (issuer, accession, doc_id, filed, form, fiscal_year, year_end) "
                    "VALUES (?, ?, ?, ?, ?, 0, 0)",
                    key,
                )
                row = (cursor.lastrowid, 0, 0)
            record = self._filings[key] = FilingRecord(int(row[0]), int(row[1]), int(row[2]))
        return record

    def day(self, text: str) -> int:
        """Return an ISO day as YYYYMMDD; raises ``ValueError`` if it is none."""
        number = self._days.get(text)
        if number is None:
            if text:
                duration_kind(text, text)  # refuses what is no day
            number = self._days[text] = int(text.replace("-", "")) if text else 0
        return number

    def filed(self, text: str) -> int:
        """Return when a filing became known, in microseconds."""
        number = self._filed.get(text)
        if number is None:
            number = self._filed[text] = instant(text, name="filed")
        return number

    def unknown_filed(self, period_end: str) -> int:
        """Return the time that stands for a filing without a date; it is ordered by the end of its period."""
        return UNKNOWN_FILED + (instant(period_end) if period_end else 0)

    def see_year(self, record: FilingRecord, start: str, end: str) -> None:
        """Note the last year that a filing reports."""
        is_year = self._years.get((start, end))
        if is_year is None:
            is_year = self._years[start, end] = duration_kind(start, end) == YEAR
        if is_year:
            record.years[self._days[end]] += 1

    def write(self, rows: Iterable[Row]) -> int:
        """Write rows and return how many were new."""
        before = self._connection.total_changes
        self._connection.executemany("INSERT OR IGNORE INTO facts VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        return self._connection.total_changes - before

    def finish(self) -> None:
        """Write what became known of the filings."""
        self._connection.executemany(
            "UPDATE filings SET fiscal_year = ?, year_end = ? WHERE filing = ?",
            [(one.fiscal_year, max(one.year_end, one.last_year()), one.number) for one in self._filings.values()],
        )
        self._filings.clear()
