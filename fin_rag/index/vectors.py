"""The vector side: Chroma as the store, a row file for exact scoring under a filter.

Chroma's own ``where`` is tens of times slower than its unfiltered query and loses recall, so filters never
reach it: the allowed rows come from the catalogue. Few rows are scored exactly from a memory-mapped
file; with many rows Chroma's graph is asked for more than needed and what the filter forbids is dropped.

Two kinds of rows are always scored exactly. Vectors of private documents never enter Chroma, whose files keep
what is deleted. And Chroma does not see what another process wrote since it opened its files, so rows
from then on are read from the file.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.index.catalogue import Allowed
from fin_rag.schema import MetadataValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

Scored = list[tuple[int, float]]
COLLECTION: Final = "fin_rag"
# Up to here an exact scan (about 0.2 us a row and 100 dimensions) beats a search in the graph.
_EXACT_ROWS: Final = 30_000
# While this setting of the catalogue is there, Chroma's collection is being filled again and is not asked.
REBUILDING: Final = "graph_rebuilding"


class VectorFile:
    """Keep unit vectors in one file of float32, addressed by row; the file only grows."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self._dimension = dimension

    def write(self, first_row: int, vectors: NDArray[np.float32]) -> None:
        """Write vectors at consecutive rows and wait until they are on the disk."""
        mode = "r+b" if self._path.exists() else "w+b"
        with self._path.open(mode) as file:
            file.seek(first_row * self._dimension * 4)
            file.write(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
            file.flush()
            os.fsync(file.fileno())

    def erase(self, first_row: int, count: int) -> None:
        """Overwrite the vectors of rows that nobody may read any more."""
        there = min(count, len(self._mapped()) - first_row)
        if there > 0:
            self.write(first_row, np.zeros((there, self._dimension), dtype=np.float32))

    def digest(self, first_row: int, count: int) -> str:
        """Return the hash of the vectors of consecutive rows, as ``hash_vectors`` would."""
        return hash_vectors(np.asarray(self._mapped()[first_row : first_row + count]))

    def read(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of ``rows`` as an array of shape ``(len(rows), dimension)``."""
        wanted = np.asarray(rows, dtype=np.int64)
        if not len(wanted):
            return np.zeros((0, self._dimension), dtype=np.float32)
        data = self._mapped()
        if int(wanted.max()) >= len(data):
            raise IntegrityError(
                f"The vector file {str(self._path)!r} ends before row {int(wanted.max())}. "
                "Ingest the sources again into a new folder."
            )
        return np.asarray(data[wanted], dtype=np.float32)

    def scores(self, rows: NDArray[np.int64], query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine similarity of the query with each of ``rows``."""
        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        first, last = int(rows[0]), int(rows[-1])
        if last - first + 1 == len(rows) and last < len(data := self._mapped()):
            return np.asarray(data[first : last + 1] @ query, dtype=np.float32)
        return np.asarray(self.read(rows) @ query, dtype=np.float32)

    def _mapped(self) -> NDArray[np.float32]:
        size = self._path.stat().st_size // (self._dimension * 4) if self._path.exists() else 0
        if not size:
            return np.zeros((0, self._dimension), dtype=np.float32)
        return np.memmap(self._path, dtype="<f4", mode="r", shape=(size, self._dimension))


def hash_vectors(vectors: NDArray[np.float32]) -> str:
    """Return the hash of vectors as they lie in the file."""
    return hashlib.sha256(np.ascontiguousarray(vectors, dtype="<f4").tobytes()).hexdigest()


class Committed(Protocol):
    """Say what is committed; a ``Catalogue`` does."""

    def setting(self, key: str) -> str | None:
        """Return a setting, or ``None``."""

    def end_of_rows(self) -> int:
        """Return the row after the last one that is committed."""

    def private_ranges(self) -> list[tuple[int, int]]:
        """Return first row and number of chunks of every private document, by row."""


class VectorStore:
    """Search vectors by cosine similarity, under a filter that is resolved already."""

    def __init__(self, folder: Path, dimension: int, catalogue: Committed) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._close_client: Callable[[], object] | None = None
        self._lock = Lock()  # one thread may open the files again while others search
        self._seen = 0  # rows below were committed when Chroma's files were opened
        self.file = VectorFile(folder / "vectors.f32", dimension)

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401  # its type lacks "close"
        import chromadb
        from chromadb.config import Settings

        self._seen = self._catalogue.end_of_rows()
        client: Any = chromadb.PersistentClient(
            path=str(self._folder / "chroma"), settings=Settings(anonymized_telemetry=False)
        )
        # Chroma keeps a client's files open, by path, until it is closed: another index in the same folder
        # would get the files of the one that was deleted.
        self._close_client = weakref.finalize(self, client.close)
        return client

    def close(self) -> None:
        """Release Chroma's files; the store opens them again when it needs them."""
        if self._close_client is not None:
            self._close_client()
            self._close_client = None
            self.__dict__.pop("_client", None)
            self.__dict__.pop("collection", None)

    @cached_property
    def collection(self) -> Any:  # noqa: ANN401  # its types are narrower than what it takes
        """Return the Chroma collection; ids are rows, documents are the chunks' texts."""
        return self._client.get_or_create_collection(
            COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(
        self,
        first_row: int,
        vectors: NDArray[np.float32],
        texts: Sequence[str],
        metadata: Sequence[Mapping[str, MetadataValue]],
        *,
        private: bool = False,
    ) -> None:
        """Store vectors at consecutive rows, in batches that Chroma takes; private ones in the file alone."""
        self.file.write(first_row, vectors)
        if not private:
            self.add_to_graph(first_row, vectors, texts, metadata)

    def add_to_graph(
        self,
        first_row: int,
        vectors: NDArray[np.float32],
        texts: Sequence[str],
        metadata: Sequence[Mapping[str, MetadataValue]],
    ) -> None:
        """Put vectors into Chroma.

        Raises:
            IntegrityError: if Chroma cannot write.
        """
        from chromadb.errors import ChromaError

        try:
            limit = self._client.get_max_batch_size()
            for at in range(0, len(texts), limit):
                end = min(at + limit, len(texts))
                self.collection.upsert(
                    ids=[str(first_row + i) for i in range(at, end)],
                    embeddings=vectors[at:end],
                    documents=list(texts[at:end]),
                    metadatas=[dict(own) for own in metadata[at:end]],
                )
        except ChromaError as error:
            raise IntegrityError(
                f"Chroma could not write to {str(self._folder)!r}: {error}. The index is as it was "
                "after the last whole document; make room or check the permissions, and run the same again."
            ) from error

    def remove(self, first_row: int, count: int, *, erase: bool = False) -> None:
        """Delete rows from Chroma, and their vectors where asked; rows that are not there are no fault."""
        from chromadb.errors import ChromaError

        if erase:
            self.file.erase(first_row, count)
        try:
            limit = self._client.get_max_batch_size()
            for at in range(first_row, first_row + count, limit):
                self.collection.delete(ids=[str(r) for r in range(at, min(at + limit, first_row + count))])
        except ChromaError as error:
            raise IntegrityError(
                f"Chroma could not take rows out of {str(self._folder)!r}: {error}. What was removed is not found "
                "any more; run FilingIndex.rebuild() to mend Chroma's files."
            ) from error

    def clear_graph(self) -> None:
        """Delete Chroma's files, so that the collection can be filled again."""
        self.close()
        shutil.rmtree(self._folder / "chroma", ignore_errors=True)

    def search(self, query: NDArray[np.float32], k: int, allowed: Allowed) -> Scored:
        """Return the ``k`` nearest allowed rows with their cosine similarity, best first, ties by row."""
        rows = allowed.rows
        # Chroma writes even to read: in a folder that may not be written, every row is scored.
        if len(rows) > _EXACT_ROWS and os.access(self._folder, os.W_OK):
            with self._lock:
                candidates = self._candidates(query, k, rows)
            rows = rows if candidates is None else candidates
        scores = self.file.scores(rows, query)
        if len(scores) > k:
            # Everything that ties with the k-th stays in, so that ties are broken by row and not by chance.
            least = np.partition(scores, len(scores) - k)[len(scores) - k]
            keep = scores >= least
            rows, scores = rows[keep], scores[keep]
        order = np.lexsort((rows, -scores))[:k]
        return [(int(rows[i]), float(scores[i])) for i in order]

    def _candidates(self, query: NDArray[np.float32], k: int, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return allowed rows that hold the ``k`` nearest; ``None`` where a scan of all is better."""
        from chromadb.errors import ChromaError

        if self._catalogue.setting(REBUILDING) is not None:
            return None
        in_graph = self._in_graph(rows)
        if np.count_nonzero(~in_graph) > _EXACT_ROWS:
            self.close()  # much has come since: open the files again
            in_graph = self._in_graph(rows)
        others = rows[~in_graph]
        if len(others) > len(rows) // 2:
            return None
        try:
            near = self._graph_search(query, k, rows[in_graph])
        except ChromaError as error:  # another process is writing its files, or they are damaged
            logger.warning("Chroma could not be searched, every row is scored: %s", error)
            near = None
        return None if near is None else np.sort(np.concatenate([near, others]))

    def _in_graph(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which rows Chroma can know: public ones, committed before its files were opened."""
        self.collection.name  # noqa: B018  # opens the files, if need be
        known = rows < self._seen
        private = self._catalogue.private_ranges()
        if private:
            firsts, counts = np.asarray(private, dtype=np.int64).T
            at = np.searchsorted(firsts, rows, side="right") - 1
            known &= (at < 0) | (rows >= firsts[at] + counts[at])
        return known

    def _graph_search(self, query: NDArray[np.float32], k: int, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Ask Chroma for more than needed and drop what is forbidden; ``None`` when that does not pay."""
        total = self.collection.count()
        if total > len(rows) * 20:
            return None
        wanted = min(total, max(4 * k, 2 * k * total // len(rows)))
        for _ in range(2):
            result = self.collection.query(query_embeddings=[query], n_results=wanted, include=[])
            found = np.asarray([int(row) for row in result["ids"][0]], dtype=np.int64)
            found = np.sort(found[np.isin(found, rows)])
            if len(found) >= k:
                return found
            wanted = min(total, wanted * 4)
        return None

    def graph_rows(self) -> set[int]:
        """Return the rows that Chroma holds.

        Raises:
            IntegrityError: if Chroma's files cannot be read.
        """
        from chromadb.errors import ChromaError

        try:
            return {int(row) for row in self.collection.get(include=[])["ids"]}
        except (ChromaError, ValueError) as error:
            raise IntegrityError(f"Chroma's files cannot be read: {error}. Run FilingIndex.rebuild().") from error
