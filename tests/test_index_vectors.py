"""Vectors: exact under a filter, whatever the way they are searched."""

from __future__ import annotations

import numpy as np
import pytest

from fin_rag.errors import IntegrityError
from fin_rag.index import vectors as module
from fin_rag.index.catalogue import Allowed
from fin_rag.index.embeddings import unit
from fin_rag.index.vectors import VectorFile, VectorStore


def made(count: int, dimension: int = 16) -> np.ndarray:
    return unit(np.random.default_rng(7).normal(size=(count, dimension)).astype(np.float32))


def brute(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int) -> list[int]:
    scores = vectors[rows] @ query
    return [int(rows[i]) for i in np.lexsort((rows, -scores))[:k]]


@pytest.mark.parametrize("exact_rows", [10_000, 0])  # scan, or the graph with over-fetching
def test_search_equals_a_scan(tmp_path, monkeypatch, exact_rows) -> None:
    monkeypatch.setattr(module, "_EXACT_ROWS", exact_rows)
    vectors = made(400)
    store = VectorStore(tmp_path, 16)
    store.add(0, vectors, ["t"] * 400, [{"a": i} for i in range(400)])
    for rows in (np.arange(400), np.arange(0, 400, 3), np.arange(390, 400), np.asarray([5])):
        allowed = Allowed(rows, (), everything=len(rows) == 400)
        for query in made(20):
            found = store.search(query, 8, allowed)
            assert [row for row, _ in found] == brute(vectors, query, rows, 8)
            assert all(-1.001 <= score <= 1.001 for _, score in found)


def test_ties_are_broken_by_row(tmp_path) -> None:
    store = VectorStore(tmp_path, 4)
    store.file.write(0, np.tile(np.asarray([[1, 0, 0, 0]], dtype=np.float32), (50, 1)))
    found = store.search(np.asarray([1, 0, 0, 0], dtype=np.float32), 3, Allowed(np.arange(50), (), everything=True))
    assert [row for row, _ in found] == [0, 1, 2]


def test_more_than_a_batch_is_stored(tmp_path) -> None:
    store = VectorStore(tmp_path, 4)
    count = store._client.get_max_batch_size() + 1
    store.add(0, made(count, 4), ["t"] * count, [{"a": 1}] * count)
    assert store.collection.count() == count
    assert store.check(count) == []
    store.remove(0, count)
    assert store.check(count) == [f"Chroma holds 0 vectors, the catalogue {count} chunks"]


def test_lists_in_metadata_are_stored(tmp_path) -> None:
    store = VectorStore(tmp_path, 4)
    store.add(0, made(1, 4), ["t"], [{"references": ["Note 3", "Note 9"]}])
    assert store.collection.get(["0"])["metadatas"] == [{"references": ["Note 3", "Note 9"]}]


def test_rows_beyond_the_file_are_an_error(tmp_path) -> None:
    file = VectorFile(tmp_path / "v", 4)
    file.write(0, made(3, 4))
    with pytest.raises(IntegrityError, match="ends before row 5"):
        file.read([5])
