"""The catalogue: one SQLite file that says what is in an index.

It holds source texts, metadata, outlines, chunks and the rows that vectors and keywords are filed under.
A document is in the index when, and only when, it is committed here; the other parts only ever hold
more than that, and what they hold more is never looked up. Filters are resolved here.
"""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.index.connection import Connection
from fin_rag.index.filters import ALSO_ITEMS, AnyOf, Condition, Conjunction, matches_json, to_sql
from fin_rag.schema import (
    CIK,
    DOC_ID,
    DOC_TYPE,
    FILED,
    FISCAL_PERIOD,
    FISCAL_YEAR,
    ISSUER,
    ITEM,
    KIND,
    LANG,
    PERIOD_END,
    SECTION_ID,
    SESSION_ID,
    SOURCE,
    SOURCE_SCOPE,
    TEXT_SHA256,
    TICKER,
    TITLE,
    MetadataValue,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT_VERSION: Final = 3
_OPENING_TRIES: Final = 200
_OPENING_PAUSE: Final = 0.05  # seconds
_DOCUMENT_KEYS: Final = (
    DOC_ID, SOURCE, TEXT_SHA256, TITLE, DOC_TYPE, ISSUER, TICKER, CIK, FISCAL_YEAR, FISCAL_PERIOD,
    PERIOD_END, FILED, LANG, SOURCE_SCOPE, SESSION_ID,
)  # fmt: skip
_CHUNK_KEYS: Final = (SECTION_ID, ITEM, KIND)
_COLUMNS: Final = {key: f"d.{key}" for key in _DOCUMENT_KEYS} | {key: f"c.{key}" for key in _CHUNK_KEYS}
_DOCUMENT_COLUMNS: Final = ", ".join(
    f"{key} {'INTEGER' if key in (FISCAL_YEAR, PERIOD_END, FILED) else 'TEXT'}" for key in _DOCUMENT_KEYS
)
_SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS documents (
    doc INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL, input_key TEXT NOT NULL, chunks INTEGER NOT NULL,
    metadata TEXT NOT NULL, outline TEXT NOT NULL, text BLOB NOT NULL, page_map TEXT NOT NULL,
    statements TEXT NOT NULL, vectors_sha256 TEXT NOT NULL,
    {_DOCUMENT_COLUMNS}
);
CREATE UNIQUE INDEX IF NOT EXISTS documents_doc_id ON documents (doc_id);
CREATE TABLE IF NOT EXISTS chunks (
    row INTEGER PRIMARY KEY, doc INTEGER NOT NULL, chunk_id TEXT NOT NULL, metadata TEXT NOT NULL,
    embedding_key BLOB NOT NULL, {", ".join(f"{key} TEXT" for key in _CHUNK_KEYS)}
);
CREATE INDEX IF NOT EXISTS chunks_doc ON chunks (doc);
CREATE INDEX IF NOT EXISTS chunks_item ON chunks (item) WHERE item IS NOT NULL;
CREATE INDEX IF NOT EXISTS chunks_embedding ON chunks (embedding_key);
CREATE INDEX IF NOT EXISTS documents_input ON documents (input_key);
CREATE INDEX IF NOT EXISTS documents_private ON documents (doc, chunks) WHERE source_scope <> 'public';
CREATE TABLE IF NOT EXISTS stale (first_row INTEGER NOT NULL, chunks INTEGER NOT NULL, erase INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS chunks_id ON chunks (chunk_id);
"""  # built from constants above


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Hold one chunk as it is filed: its row, id, and own metadata (without the document's)."""

    row: int
    doc: int
    chunk_id: str
    metadata: dict[str, MetadataValue]


@dataclass(frozen=True, slots=True)
class NewDocument:
    """Hold a document that is about to be committed.

    Its chunks are filed under consecutive rows; the first of them is the document's number. ``input_key``
    tells the bytes and settings it came from, ``fingerprint`` the text, metadata and settings.
    """

    metadata: Mapping[str, MetadataValue]
    text: str
    outline: Sequence[Mapping[str, object]]
    page_map: str
    statements: Sequence[Mapping[str, object]]
    fingerprint: str
    input_key: str
    vectors_sha256: str
    first_row: int
    chunk_ids: Sequence[str]
    chunk_metadata: Sequence[Mapping[str, MetadataValue]]
    embedding_keys: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Allowed:
    """Say which rows a filter lets through: sorted row numbers, and the documents they belong to."""

    rows: NDArray[np.int64]
    documents: tuple[int, ...]
    everything: bool

    def lets_through(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which of some rows, in any order, are among those allowed."""
        return are_among(rows, self.rows)


class Catalogue:
    """Read and write the catalogue of one index folder."""

    def __init__(self, path: Path, *, create: bool) -> None:
        if not create and not path.exists():
            raise IntegrityError(f"{str(path)!r} does not exist. Open the index to create it.")
        self.connection = Connection(path, _with_functions)
        try:
            self._create()
            version = self.setting("format_version")
        except sqlite3.DatabaseError as error:
            self.close()
            raise IntegrityError(
                f"The catalogue {str(path)!r} cannot be read: {error}. Restore the index from a backup, or ingest "
                "the sources again into a new folder."
            ) from error
        if version != str(FORMAT_VERSION):
            self.close()
            newer = str(version).isdecimal() and int(str(version)) > FORMAT_VERSION
            advice = "Install the fin_rag that made it" if newer else "Ingest the sources again into a new folder"
            raise IntegrityError(
                f"The index {str(path.parent)!r} has format {version!r}; this fin_rag reads format {FORMAT_VERSION}. "
                f"{advice}."
            )

    def _create(self) -> None:
        """Make the tables where there are none; another process may be making them at the same time.

        The switch to a write-ahead log does not wait for other readers, as statements do: it is tried again.
        """
        for attempt in range(_OPENING_TRIES):
            try:
                if self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'settings'").fetchone():
                    return
                self._db.executescript(
                    f"PRAGMA journal_mode=WAL; BEGIN IMMEDIATE; {_SCHEMA}"
                    f"INSERT OR IGNORE INTO settings VALUES ('format_version', '{FORMAT_VERSION}'); COMMIT;"
                )
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or attempt == _OPENING_TRIES - 1:
                    raise
                if self._db.in_transaction:
                    self._db.rollback()
                time.sleep(_OPENING_PAUSE)
            else:
                return

    @property
    def _db(self) -> sqlite3.Connection:
        return self.connection.db

    def close(self) -> None:
        """Close the file in all threads."""
        self.connection.close()

    def snapshot(self, pin: Callable[[], None]) -> AbstractContextManager[None]:
        """Let this thread read one committed state; see ``Connection.snapshot``."""
        return self.connection.snapshot(pin)

    # --- settings -------------------------------------------------------------------------------

    def setting(self, key: str) -> str | None:
        """Return a setting, or ``None``."""
        row = self._db.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def set_setting(self, key: str, value: str) -> None:
        """Write a setting."""
        self._db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, value))

    def remove_setting(self, key: str) -> None:
        """Remove a setting, if it is there."""
        self._db.execute("DELETE FROM settings WHERE key = ?", (key,))

    def agree(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Write settings unless the first of them is there, all or none, and return them as they are now."""
        first = next(iter(settings))
        if self.setting(first) is None:
            with self.connection.transaction():
                if self.setting(first) is None:
                    for key, value in settings.items():
                        self.set_setting(key, value)
        return {key: self.setting(key) or "" for key in settings}

    # --- documents ------------------------------------------------------------------------------

    def known_input(self, input_key: str) -> str | None:
        """Return the ``doc_id`` of a document that came from these bytes and settings, or ``None``."""
        row = self._db.execute("SELECT doc_id FROM documents WHERE input_key = ?", (input_key,)).fetchone()
        return None if row is None else str(row[0])

    def fingerprint(self, doc_id: str) -> str | None:
        """Return the fingerprint of a document, or ``None`` if it is not in the index."""
        row = self._db.execute("SELECT fingerprint FROM documents WHERE doc_id = ?", (doc_id,)).fetchone()
        return None if row is None else str(row[0])

    def number(self, doc_id: str) -> int | None:
        """Return the number of a document, or ``None`` if it is not in the index."""
        row = self._db.execute("SELECT doc FROM documents WHERE doc_id = ?", (doc_id,)).fetchone()
        return None if row is None else int(row[0])

    def owner(self, doc_id: str) -> tuple[str, str] | None:
        """Return scope and session of a document, or ``None`` if it is not in the index."""
        row = self._db.execute(
            "SELECT source_scope, coalesce(session_id, '') FROM documents WHERE doc_id = ?", (doc_id,)
        ).fetchone()
        return None if row is None else (str(row[0]), str(row[1]))

    def document_metadata(self, filters: Conjunction) -> list[dict[str, object]]:
        """Return the metadata of the documents that a filter on document keys lets through."""
        sql = to_sql(filters, {k: v for k, v in _COLUMNS.items() if k in _DOCUMENT_KEYS}, ("d.metadata",))
        rows = self._db.execute(
            f"SELECT metadata, chunks FROM documents d WHERE {sql.text} ORDER BY doc_id",
            sql.parameters,
        )
        return [{**json.loads(metadata), "chunks": chunks} for metadata, chunks in rows]

    def texts(self, documents: Iterable[int]) -> dict[int, str]:
        """Return the canonical texts of documents."""
        return {doc: zlib.decompress(blob).decode() for doc, blob in self._of(documents, "text")}

    def metadata_of(self, documents: Iterable[int]) -> dict[int, dict[str, MetadataValue]]:
        """Return the metadata of documents."""
        return {doc: json.loads(text) for doc, text in self._of(documents, "metadata")}

    def document(self, doc_id: str) -> tuple[int, dict[str, MetadataValue], list[dict[str, object]]] | None:
        """Return number, metadata and outline of a document, or ``None``."""
        row = self._db.execute("SELECT doc, metadata, outline FROM documents WHERE doc_id = ?", (doc_id,)).fetchone()
        return None if row is None else (row[0], json.loads(row[1]), json.loads(row[2]))

    def statements(self, documents: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
        """Return the financial statements of documents, as they were filed."""
        return {doc: json.loads(text) for doc, text in self._of(documents, "statements")}

    def page_maps(self, documents: Iterable[int]) -> dict[int, str]:
        """Return the page maps of documents, as written; empty where a document has no pages."""
        return dict(self._of(documents, "page_map"))

    def outlines(self, documents: Iterable[int]) -> dict[int, list[dict[str, Any]]]:
        """Return the sections of documents."""
        return {doc: json.loads(text) for doc, text in self._of(documents, "outline")}

    def numbered_metadata(self, filters: Conjunction) -> list[tuple[int, dict[str, object]]]:
        """Return number and metadata of each document that a filter on document keys lets through, by number."""
        sql = to_sql(filters, {k: v for k, v in _COLUMNS.items() if k in _DOCUMENT_KEYS}, ("d.metadata",))
        rows = self._db.execute(f"SELECT doc, metadata FROM documents d WHERE {sql.text} ORDER BY doc", sql.parameters)
        return [(doc, json.loads(metadata)) for doc, metadata in rows]

    def state(self) -> int:
        """Return a number that rises whenever documents come or go."""
        return int(self.setting("changes") or 0)

    def _of(self, documents: Iterable[int], column: str) -> Iterator[tuple[int, Any]]:
        wanted = sorted(set(documents))
        marks = ",".join("?" * len(wanted))
        yield from self._db.execute(
            f"SELECT doc, {column} FROM documents WHERE doc IN ({marks})",
            wanted,
        )

    # --- chunks ---------------------------------------------------------------------------------

    def chunks(self, rows: Iterable[int]) -> dict[int, StoredChunk]:
        """Return the chunks filed under ``rows``; rows that are not committed are not there."""
        wanted = sorted({int(row) for row in rows})
        found: dict[int, StoredChunk] = {}
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            for row, doc, chunk_id, metadata in self._db.execute(
                f"SELECT row, doc, chunk_id, metadata FROM chunks WHERE row IN ({marks})",
                part,
            ):
                found[row] = StoredChunk(row, doc, chunk_id, json.loads(metadata))
        return found

    def rows_by_id(self, chunk_ids: Iterable[str]) -> dict[str, int]:
        """Return the row of each chunk id that is in the index."""
        wanted = sorted(set(chunk_ids))
        found: dict[str, int] = {}
        for at in range(0, len(wanted), 500):
            part = wanted[at : at + 500]
            marks = ",".join("?" * len(part))
            found.update(self._db.execute(f"SELECT chunk_id, row FROM chunks WHERE chunk_id IN ({marks})", part))
        return found

    def rows_in(self, doc: int) -> list[int]:
        """Return the rows of a document's chunks, in the order of the document."""
        return [int(row) for (row,) in self._db.execute("SELECT row FROM chunks WHERE doc = ? ORDER BY row", (doc,))]

    def chunks_of(self, document: int) -> list[StoredChunk]:
        """Return the chunks of a document, in order."""
        rows = self._db.execute("SELECT row, chunk_id, metadata FROM chunks WHERE doc = ? ORDER BY row", (document,))
        return [StoredChunk(row, document, chunk_id, json.loads(metadata)) for row, chunk_id, metadata in rows]

    def row_ranges(self, documents: Iterable[int]) -> list[tuple[int, int]]:
        """Return first row and number of chunks of documents, by row."""
        return sorted((doc, count) for doc, count in self._of(documents, "chunks"))

    def every_chunk(self) -> Iterator[tuple[int, int, dict[str, MetadataValue]]]:
        """Yield row, document and own metadata of every chunk, by row."""
        for row, doc, metadata in self._db.execute("SELECT row, doc, metadata FROM chunks ORDER BY row"):
            yield row, doc, json.loads(metadata)

    def counts(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        documents, chunks = self._db.execute("SELECT count(*), coalesce(sum(chunks), 0) FROM documents").fetchone()
        return int(documents), int(chunks)

    def embedded(self, keys: Sequence[bytes], session_id: str) -> dict[bytes, int]:
        """Return a row whose vector can be taken again, for the embedding keys that are known.

        Only public documents and those of the session count: what is known of others must not show.
        """
        found: dict[bytes, int] = {}
        for at in range(0, len(keys), 500):
            part = keys[at : at + 500]
            marks = ",".join("?" * len(part))
            found.update(
                self._db.execute(
                    f"SELECT embedding_key, min(row) FROM chunks JOIN documents USING (doc) "
                    f"WHERE embedding_key IN ({marks}) AND (source_scope = 'public' OR session_id = ?) "
                    "GROUP BY embedding_key",
                    [*part, session_id],
                )
            )
        return found

    def private_ranges(self) -> list[tuple[int, int]]:
        """Return first row and number of chunks of every private document, by row."""
        return list(self._db.execute("SELECT doc, chunks FROM documents WHERE source_scope <> 'public' ORDER BY doc"))

    def vector_hashes(self) -> list[tuple[str, int, int, str]]:
        """Return id, first row, number of chunks and hash of the vectors of every document, by row."""
        return list(self._db.execute("SELECT doc_id, doc, chunks, vectors_sha256 FROM documents ORDER BY doc"))

    def set_vector_hash(self, document: int, digest: str) -> None:
        """Note the hash of vectors that were made again."""
        self._db.execute("UPDATE documents SET vectors_sha256 = ? WHERE doc = ?", (digest, document))

    def end_of_rows(self) -> int:
        """Return the row after the last one that is committed."""
        found = self._db.execute("SELECT doc + chunks FROM documents ORDER BY doc DESC LIMIT 1").fetchone()
        return 0 if found is None else int(found[0])

    def next_row(self) -> int:
        """Return the first row that was never given out; rows only ever rise."""
        return int(self.setting("next_row") or 0)

    def allowed(self, filters: Conjunction) -> Allowed:
        """Resolve a filter into the rows that it lets through."""
        on_documents = Conjunction(tuple(part for part in filters.parts if _is_document_part(part)))
        on_chunks = Conjunction(tuple(part for part in filters.parts if not _is_document_part(part)))
        sql = to_sql(on_documents, _COLUMNS, ("d.metadata",))
        found = self._db.execute(
            f"SELECT d.doc, d.chunks FROM documents d WHERE {sql.text} ORDER BY d.doc",
            sql.parameters,
        ).fetchall()
        if on_chunks.parts:
            return self._allowed_chunks(on_chunks, on_documents)
        rows = [np.arange(doc, doc + count, dtype=np.int64) for doc, count in found]
        every = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        return Allowed(every, tuple(doc for doc, _ in found), len(found) == self.counts()[0])

    def _allowed_chunks(self, on_chunks: Conjunction, on_documents: Conjunction) -> Allowed:
        sql = to_sql(on_documents & on_chunks, _COLUMNS, ("c.metadata", "d.metadata"))
        rows = self._db.execute(
            f"SELECT c.row, c.doc FROM chunks c JOIN documents d USING (doc) WHERE {sql.text} ORDER BY c.row",
            sql.parameters,
        ).fetchall()
        array = np.fromiter((row for row, _ in rows), dtype=np.int64, count=len(rows))
        return Allowed(array, tuple(sorted({doc for _, doc in rows})), everything=False)

    # --- writing --------------------------------------------------------------------------------

    def reserve(self, count: int) -> int:
        """Return the first of ``count`` rows that no chunk ever had, and note them until committed.

        A writer that dies after this leaves rows that :meth:`stale_rows` names.
        """
        with self.connection.transaction():
            first = self.next_row()
            # A document's number is its first row: one without chunks takes a row as well.
            self.set_setting("next_row", str(first + max(count, 1)))
            self._db.execute("INSERT INTO stale VALUES (?, ?, 1)", (first, count))
        return first

    def stale_rows(self) -> list[tuple[int, int, bool]]:
        """Return rows that other parts may still hold, but no document has.

        Each range is its first row, its number of rows, and whether the vectors are to be overwritten: those of
        private documents and those that no reader ever saw.
        """
        found = self._db.execute("SELECT first_row, chunks, erase FROM stale ORDER BY first_row")
        return [(int(first), int(count), bool(erase)) for first, count, erase in found]

    def forget_stale(self, ranges: Iterable[tuple[int, int, bool]]) -> None:
        """Drop ranges from the list, once the other parts no longer hold them."""
        gone = [(first, count) for first, count, _ in ranges]
        if gone:
            with self.connection.transaction():
                self._db.executemany("DELETE FROM stale WHERE first_row = ? AND chunks = ?", gone)

    def commit(self, documents: Sequence[NewDocument], *, remove: Iterable[str] = ()) -> None:
        """Make new documents visible and old ones invisible, in one transaction."""
        with self.connection.transaction():
            for doc_id in [*remove, *(str(document.metadata[DOC_ID]) for document in documents)]:
                self._remove(doc_id)
            for document in documents:
                self._insert(document)
                self._db.execute("DELETE FROM stale WHERE first_row = ?", (document.first_row,))
            self.set_setting("changes", str(self.state() + 1))

    def _remove(self, doc_id: str) -> None:
        row = self._db.execute(
            "SELECT doc, chunks, source_scope <> 'public' FROM documents WHERE doc_id = ?", (doc_id,)
        ).fetchone()
        if row is not None:
            self._db.execute("DELETE FROM chunks WHERE doc = ?", (row[0],))
            self._db.execute("DELETE FROM documents WHERE doc = ?", (row[0],))
            self._db.execute("INSERT INTO stale VALUES (?, ?, ?)", row)

    def _insert(self, document: NewDocument) -> None:
        keys = ", ".join(_DOCUMENT_KEYS)
        marks = ", ".join("?" * len(_DOCUMENT_KEYS))
        self._db.execute(
            "INSERT INTO documents (doc, fingerprint, input_key, chunks, metadata, outline, text, page_map, "
            f"statements, vectors_sha256, {keys}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {marks})",
            (
                document.first_row,
                document.fingerprint,
                document.input_key,
                len(document.chunk_ids),
                _json(document.metadata),
                _json(document.outline),
                zlib.compress(document.text.encode("utf-8"), 6),
                document.page_map,
                _json(document.statements),
                document.vectors_sha256,
                *(document.metadata.get(key) for key in _DOCUMENT_KEYS),
            ),
        )
        self._db.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    document.first_row + i,
                    document.first_row,
                    chunk_id,
                    _json(own),
                    key,
                    *(own.get(k) for k in _CHUNK_KEYS),
                )
                for i, (chunk_id, own, key) in enumerate(
                    zip(document.chunk_ids, document.chunk_metadata, document.embedding_keys, strict=True)
                )
            ],
        )


def are_among(rows: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell which rows are among ``ordered`` ones; the cost does not grow with their number."""
    if not len(ordered):
        return np.zeros(len(rows), dtype=np.bool_)
    at = np.minimum(np.searchsorted(ordered, rows), len(ordered) - 1)
    return np.asarray(ordered[at] == rows, dtype=np.bool_)


def _with_functions(connection: sqlite3.Connection) -> None:
    connection.create_function("fin_rag_matches", -1, matches_json, deterministic=True)


def _is_document_part(part: Condition | AnyOf) -> bool:
    """Tell whether a part of a filter can be decided by a document alone.

    A key without a column may belong to a chunk as well, so only columns of documents qualify.
    """
    if isinstance(part, AnyOf):
        return all(_is_document_part(inner) for branch in part.branches for inner in branch.parts)
    return part.key in _DOCUMENT_KEYS and part.key != ALSO_ITEMS


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
