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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.index.catalogue import Allowed, are_among
from fin_rag.index.generations import Generations
from fin_rag.index.graph import Graph
from fin_rag.schema import MetadataValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

Scored = list[tuple[int, float]]
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

    def end_of_rows(self) -> int:
        """Return the row after the last one that is committed."""

    def private_ranges(self) -> list[tuple[int, int]]:
        """Return first row and number of chunks of every private document, by row."""


class VectorStore:
    """Search vectors by cosine similarity, under a filter that is resolved already."""

    def __init__(self, folder: Path, dimension: int, catalogue: Committed, chroma: Generations) -> None:
        self._folder = folder
        self._catalogue = catalogue
        self._chroma = chroma
        self._opened: Graph | None = None
        self._lock = Lock()  # one thread may open the files again while others search
        self._seen = 0  # rows below were committed when Chroma's files were opened
        self.file = VectorFile(folder / "vectors.f32", dimension)

    def close(self) -> None:
        """Release Chroma's files; the store opens them again when it needs them."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _graph(self) -> Graph:
        """Return the collection in use, opened."""
        folder = self._chroma.current()
        if self._opened is not None and self._opened.folder != folder:
            self.close()
        if self._opened is None:
            self._seen = self._catalogue.end_of_rows()
            self._opened = Graph(folder)
        return self._opened

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
            self._graph().add(first_row, vectors, texts, metadata)

    def remove(self, first_row: int, count: int, *, erase: bool = False) -> None:
        """Delete rows from Chroma, and their vectors where asked; rows that are not there are no fault."""
        if erase:
            self.file.erase(first_row, count)
        self._graph().remove(first_row, count)

    def replace_graph(self, fill: Callable[[Graph], None]) -> None:
        """Fill a new collection of Chroma's and use it from then on; readers go on with the old one meanwhile."""
        folder = self._chroma.emptied_next()
        graph = Graph(folder)
        try:
            fill(graph)
        finally:
            graph.close()
        self.close()
        self._chroma.switch(folder)

    def graph_rows(self) -> set[int]:
        """Return the rows that Chroma holds.

        Raises:
            IntegrityError: if Chroma's files cannot be read.
        """
        return self._graph().rows()

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
        in_graph = self._in_graph(rows)
        if np.count_nonzero(~in_graph) > _EXACT_ROWS:
            self.close()  # much has come since: open the files again
            in_graph = self._in_graph(rows)
        others = rows[~in_graph]
        if len(others) > len(rows) // 2:
            return None
        try:
            near = self._graph_search(query, k, rows[in_graph])
        except IntegrityError as error:  # another process is writing its files, or they are damaged
            logger.warning("Chroma could not be searched, every row is scored: %s", error)
            near = None
        return None if near is None else np.sort(np.concatenate([near, others]))

    def _in_graph(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which rows Chroma can know: public ones, committed before its files were opened."""
        self._graph()  # opens the files, if need be
        known = rows < self._seen
        private = self._catalogue.private_ranges()
        if private:
            firsts, counts = np.asarray(private, dtype=np.int64).T
            at = np.searchsorted(firsts, rows, side="right") - 1
            known &= (at < 0) | (rows >= firsts[at] + counts[at])
        return known

    def _graph_search(self, query: NDArray[np.float32], k: int, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Ask Chroma for more than needed and drop what is forbidden; ``None`` when that does not pay."""
        graph = self._graph()
        total = graph.count()
        if total > len(rows) * 20:
            return None
        wanted = min(total, max(4 * k, 2 * k * total // len(rows)))
        for _ in range(2):
            found = graph.near(query, wanted)
            found = np.sort(found[are_among(found, rows)])
            if len(found) >= k:
                return found
            wanted = min(total, wanted * 4)
        return None
