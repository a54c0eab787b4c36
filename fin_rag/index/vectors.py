"""The vector side: Chroma as the store, a row file for exact scoring under a filter.

Chroma's own ``where`` is tens of times slower than its unfiltered query and loses recall, so filters never
reach it: the allowed rows come from the catalogue. Few rows are scored exactly from a memory-mapped
file; with many rows Chroma's graph is asked for more than needed and what the filter forbids is dropped.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.index.catalogue import Allowed
from fin_rag.schema import MetadataValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scored = list[tuple[int, float]]
COLLECTION: Final = "fin_rag"
# Up to here an exact scan (about 0.2 us a row and 100 dimensions) beats a search in the graph.
_EXACT_ROWS: Final = 30_000


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


class VectorStore:
    """Search vectors by cosine similarity, under a filter that is resolved already."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._folder = folder
        self._close_client: Callable[[], object] | None = None
        self.file = VectorFile(folder / "vectors.f32", dimension)

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401  # its type lacks "close"
        import chromadb
        from chromadb.config import Settings

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
    ) -> None:
        """Store vectors at consecutive rows, in batches that Chroma takes."""
        from chromadb.errors import ChromaError

        self.file.write(first_row, vectors)
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

    def remove(self, first_row: int, count: int) -> None:
        """Delete rows from Chroma; rows that are not there are no fault."""
        limit = self._client.get_max_batch_size()
        for at in range(first_row, first_row + count, limit):
            self.collection.delete(ids=[str(r) for r in range(at, min(at + limit, first_row + count))])

    def search(self, query: NDArray[np.float32], k: int, allowed: Allowed) -> Scored:
        """Return the ``k`` nearest allowed rows with their cosine similarity, best first, ties by row."""
        rows = allowed.rows
        # Chroma writes even to read: in a folder that may not be written, every row is scored.
        if len(rows) > _EXACT_ROWS and os.access(self._folder, os.W_OK):
            found = self._graph_search(query, k, allowed)
            if found is not None:
                return found
        scores = self.file.scores(rows, query)
        if len(scores) > k:
            # Everything that ties with the k-th stays in, so that ties are broken by row and not by chance.
            least = np.partition(scores, len(scores) - k)[len(scores) - k]
            keep = scores >= least
            rows, scores = rows[keep], scores[keep]
        order = np.lexsort((rows, -scores))[:k]
        return [(int(rows[i]), float(scores[i])) for i in order]

    def _graph_search(self, query: NDArray[np.float32], k: int, allowed: Allowed) -> Scored | None:
        """Ask Chroma for more than needed and drop what is forbidden; ``None`` when that does not pay."""
        total = self.collection.count()
        if total > len(allowed.rows) * 20:
            return None
        wanted = min(total, max(4 * k, 2 * k * total // len(allowed.rows)))
        for _ in range(2):
            result = self.collection.query(query_embeddings=[query], n_results=wanted, include=[])
            rows = np.asarray([int(row) for row in result["ids"][0]], dtype=np.int64)
            rows = np.sort(rows[np.isin(rows, allowed.rows, assume_unique=True)])
            if len(rows) >= k:
                scores = self.file.scores(rows, query)
                order = np.lexsort((rows, -scores))[:k]
                return [(int(rows[i]), float(scores[i])) for i in order]
            wanted = min(total, wanted * 4)
        return None

    def check(self, expected: int) -> list[str]:
        """Return what is wrong with the store, one sentence each."""
        count = self.collection.count()
        return [] if count == expected else [f"Chroma holds {count} vectors, the catalogue {expected} chunks"]
