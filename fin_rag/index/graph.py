"""Chroma's collection of vectors: its home file, with Chroma's errors in our words."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fin_rag.errors import IntegrityError
from fin_rag.schema import MetadataValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLLECTION: Final = "fin_rag"


class Graph:
    """Hold one opened Chroma collection; ids are rows, documents are the chunks' texts.

    Chroma keeps a client's files open, by path, until it is closed: another index in the same folder would get
    the files of the one that was deleted. Close it, or let it go.

    Raises:
        IntegrityError: from every method, if Chroma's files cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        import chromadb
        from chromadb.config import Settings

        self.folder = folder
        with self._in_words("opened"):
            client: Any = chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))
            self.close: Callable[[], object] = weakref.finalize(self, client.close)
            self.collection: Any = client.get_or_create_collection(
                COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
            )
            self.batch = int(client.get_max_batch_size())

    def add(
        self,
        first_row: int,
        vectors: NDArray[np.float32],
        texts: Sequence[str],
        metadata: Sequence[Mapping[str, MetadataValue]],
    ) -> None:
        """Put vectors at consecutive rows, in batches that Chroma takes."""
        with self._in_words("written"):
            for at in range(0, len(texts), self.batch):
                end = min(at + self.batch, len(texts))
                self.collection.upsert(
                    ids=[str(first_row + i) for i in range(at, end)],
                    embeddings=vectors[at:end],
                    documents=list(texts[at:end]),
                    metadatas=[dict(own) for own in metadata[at:end]],
                )

    def remove(self, first_row: int, count: int) -> None:
        """Delete rows; those that are not there are no fault."""
        with self._in_words("written"):
            for at in range(first_row, first_row + count, self.batch):
                self.collection.delete(ids=[str(r) for r in range(at, min(at + self.batch, first_row + count))])

    def near(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return about ``count`` rows near to a vector, nearest first."""
        with self._in_words("searched"):
            result = self.collection.query(query_embeddings=[query], n_results=count, include=[])
        return np.asarray([int(row) for row in result["ids"][0]], dtype=np.int64)

    def count(self) -> int:
        """Return the number of rows."""
        with self._in_words("read"):
            return int(self.collection.count())

    def rows(self) -> set[int]:
        """Return all rows."""
        with self._in_words("read"):
            return {int(row) for row in self.collection.get(include=[])["ids"]}

    @contextmanager
    def _in_words(self, what: str) -> Iterator[None]:
        from chromadb.errors import ChromaError

        try:
            yield
        except (ChromaError, ValueError, OSError) as error:
            raise IntegrityError(
                f"Chroma's files in {str(self.folder)!r} could not be {what}: {error}. The index is as it was after "
                "the last whole document; make room or check the permissions and run the same again, or mend the "
                "files with FilingIndex.rebuild()."
            ) from error
