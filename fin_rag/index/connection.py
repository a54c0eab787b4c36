"""The SQLite file of an index: one connection a thread, transactions, snapshots and copies."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 30.0  # seconds that a statement waits for a writer


class Connection:
    """Hold one SQLite file that several threads and processes use.

    A reader never sees another thread's open transaction. What is deleted is overwritten, so that a private
    text does not stay behind in free pages.
    """

    def __init__(self, path: Path, prepare: Callable[[sqlite3.Connection], None]) -> None:
        self.path = path
        self._prepare = prepare
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []

    @property
    def db(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(
                self._address(), uri=True, check_same_thread=False, isolation_level=None, timeout=_PATIENCE
            )
            connection.execute("PRAGMA secure_delete=ON")
            self._prepare(connection)
            self._local.connection = connection
            self._local.snapshots = 0
            self._opened.append(connection)
        return connection

    def _address(self) -> str:
        """Return the file as SQLite is to open it: in a folder that nobody here may write, for reading alone."""
        address = self.path.absolute().as_uri()
        if os.access(self.path.parent, os.W_OK):
            return address
        # Beside a log of a running writer its shared memory is there to be read; without one nobody writes.
        logged = self.path.with_name(self.path.name + "-wal").exists()
        return f"{address}?{'mode=ro' if logged else 'immutable=1'}"

    def close(self) -> None:
        """Close the file in all threads."""
        for connection in self._opened:
            connection.close()
        self._opened.clear()
        self._local = threading.local()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run statements all or none."""
        db = self.db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            # SQLite itself rolls back on some errors, such as a full disk.
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise

    @contextmanager
    def snapshot(self, pin: Callable[[], None]) -> Iterator[None]:
        """Let this thread read one committed state until the end; snapshots inside are the same one.

        ``pin`` fixes the other parts. It is called until no commit fell between it and the snapshot: the other
        parts then hold at least what the snapshot names.
        """
        db = self.db
        if self._local.snapshots == 0:
            while True:
                before = self._version(db)
                pin()
                db.execute("BEGIN")
                if self._version(db) == before:
                    break
                db.execute("COMMIT")
        self._local.snapshots += 1
        try:
            yield
        finally:
            self._local.snapshots -= 1
            if self._local.snapshots == 0 and db.in_transaction:
                db.execute("COMMIT")

    @property
    def in_snapshot(self) -> bool:
        """Tell whether this thread reads a snapshot."""
        return bool(getattr(self._local, "snapshots", 0))

    @staticmethod
    def _version(db: sqlite3.Connection) -> str:
        """Return what changes with each commit of documents."""
        changed = db.execute("SELECT value FROM settings WHERE key = 'changes'").fetchone()
        return "" if changed is None else str(changed[0])

    def forget_deleted(self) -> None:
        """Move the log into the file and empty it: what was deleted stands in neither any more."""
        self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def copy_to(self, target: Path) -> None:
        """Write a consistent copy of the file, which may be in use."""
        copy = sqlite3.connect(target)
        try:
            self.db.backup(copy)
        finally:
            copy.close()

    def faults(self) -> list[str]:
        """Return what SQLite finds wrong with its file."""
        found = [str(row[0]) for row in self.db.execute("PRAGMA quick_check(5)")]
        return [] if found == ["ok"] else found
