"""The SQLite file of facts: tables, connections, and the short numbers that stand for names."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from fin_rag.errors import IntegrityError, NotFoundError

FORMAT_VERSION: Final = 1
# A value is an integer where it is one, else the text of a decimal: SQLite would make a float of anything else.
_SCHEMA: Final = """
CREATE TABLE issuers (issuer INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, cik TEXT NOT NULL, ticker TEXT NOT NULL,
    name TEXT NOT NULL);
CREATE TABLE issuer_names (name TEXT PRIMARY KEY, issuer INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE concepts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE local_names (name TEXT NOT NULL, concept INTEGER NOT NULL, PRIMARY KEY (name, concept)) WITHOUT ROWID;
CREATE TABLE units (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE dimensions (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE filings (filing INTEGER PRIMARY KEY, issuer INTEGER NOT NULL, accession TEXT NOT NULL, form TEXT NOT NULL,
    doc_id TEXT NOT NULL, filed INTEGER NOT NULL, fiscal_year INTEGER NOT NULL, year_end INTEGER NOT NULL,
    UNIQUE (issuer, accession, doc_id, filed, form));
CREATE INDEX filings_doc ON filings (doc_id) WHERE doc_id <> '';
CREATE TABLE facts (issuer INTEGER NOT NULL, concept INTEGER NOT NULL, end INTEGER NOT NULL, start INTEGER NOT NULL,
    dimensions INTEGER NOT NULL, unit INTEGER NOT NULL, filed INTEGER NOT NULL, decimals INTEGER NOT NULL,
    filing INTEGER NOT NULL, value NOT NULL, span_start INTEGER, span_end INTEGER,
    PRIMARY KEY (issuer, concept, end, start, dimensions, unit, filed, decimals, filing, value)) WITHOUT ROWID;
INSERT INTO dimensions (id, name) VALUES (0, '');
"""


class Database:
    """Open the file of facts; readers need no lock, one writer at a time may write, others wait for it."""

    def __init__(self, path: Path, *, create: bool) -> None:
        if not create and not path.is_file():
            raise NotFoundError(
                f"There is no store of facts at {str(path)!r}. Load facts first, with FactStore.open(folder)."
            )
        self._lock = threading.RLock()
        self._path = path
        self._connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(path)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise IntegrityError(f"{str(path)!r} is no store of facts: {error}. Remove it and load again.") from error
        except IntegrityError:
            self._connection.close()
            raise

    def _prepare(self, path: Path) -> None:
        connection = self._connection
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA cache_size=-32000")
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version={FORMAT_VERSION}")
        connection.execute("COMMIT")
        if version not in (0, FORMAT_VERSION):
            raise IntegrityError(
                f"The store of facts {str(path)!r} has format {version}; this version reads {FORMAT_VERSION}. "
                "Load the facts again into a new folder."
            )

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def rows(self, sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """Return all rows of a query."""
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def batches(self, sql: str, size: int) -> Iterator[list[tuple[object, ...]]]:
        """Yield the rows of a query in batches, read through a connection of their own."""
        reader = sqlite3.connect(self._path, timeout=60)
        try:
            cursor = reader.execute(sql)
            while rows := cursor.fetchmany(size):
                yield rows
        finally:
            reader.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Give the connection inside one transaction, which is undone if anything fails."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


class Names:
    """Number the concepts, units and dimensions inside one transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], int] = {}

    def concept(self, name: str) -> int:
        """Return the number of a concept, which may also be asked for without its prefix."""
        before = self._known.get(("concepts", name))
        if before is not None:
            return before
        number = self.number("concepts", name)
        self._connection.execute(
            "INSERT OR IGNORE INTO local_names VALUES (?, ?)", (name.rpartition(":")[2].casefold(), number)
        )
        return number

    def number(self, table: str, name: str) -> int:
        """Return the number of a name in ``concepts``, ``units`` or ``dimensions``; a new one gets the next."""
        key = (table, name)
        if key not in self._known:
            self._connection.execute(f"INSERT OR IGNORE INTO {table} (name) VALUES (?)", (name,))
            (self._known[key],) = self._connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()
        return self._known[key]
