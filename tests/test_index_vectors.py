"""Vectors: exact under a filter, whatever the way they are searched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fin_rag.errors import IntegrityError
from fin_rag.index import vectors as module
from fin_rag.index.catalogue import Allowed
from fin_rag.index.embeddings import unit
from fin_rag.index.generations import Generations
from fin_rag.index.vectors import VectorFile, VectorStore


def made(count: int, dimension: int = 16) -> np.ndarray:
    return unit(np.random.default_rng(7).normal(size=(count, dimension)).astype(np.float32))


class Committed:
    """Stand in for a catalogue."""

    def __init__(self, end: int = 0, private: list[tuple[int, int]] | None = None) -> None:
        self.end, self.private = end, private or []

    def end_of_rows(self) -> int:
        return self.end

    def private_ranges(self) -> list[tuple[int, int]]:
        return self.private


def made_store(folder: Path, dimension: int, committed: Committed | None = None) -> VectorStore:
    return VectorStore(folder, dimension, committed or Committed(), Generations(folder, "chroma"))


def brute(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int) -> list[int]:
    scores = vectors[rows] @ query
    return [int(rows[i]) for i in np.lexsort((rows, -scores))[:k]]


@pytest.mark.parametrize("exact_rows", [10_000, 0])  # scan, or the graph with over-fetching
def test_search_equals_a_scan(tmp_path, monkeypatch, exact_rows) -> None:
    monkeypatch.setattr(module, "_EXACT_ROWS", exact_rows)
    vectors = made(400)
    store = made_store(tmp_path, 16, Committed(400))
    store.add(0, vectors, ["t"] * 400, [{"a": i} for i in range(400)])
    for rows in (np.arange(400), np.arange(0, 400, 3), np.arange(390, 400), np.asarray([5])):
        allowed = Allowed(rows, (), everything=len(rows) == 400)
        for query in made(20):
            found = store.search(query, 8, allowed)
            assert [row for row, _ in found] == brute(vectors, query, rows, 8)
            assert all(-1.001 <= score <= 1.001 for _, score in found)


@pytest.mark.parametrize("seen", [400, 250, 40])
def test_private_and_recent_rows_are_found_beside_the_graph(tmp_path, monkeypatch, seen) -> None:
    monkeypatch.setattr(module, "_EXACT_ROWS", 90)
    vectors = made(400)
    committed = Committed(seen, private=[(20, 30), (300, 5)])
    store = made_store(tmp_path, 16, committed)
    store.add(0, vectors[:20], ["t"] * 20, [{"a": 1}] * 20)
    store.add(20, vectors[20:50], ["t"] * 30, [{"a": 1}] * 30, private=True)
    store.add(50, vectors[50:], ["t"] * 350, [{"a": 1}] * 350)
    store.remove(300, 5)
    assert store.graph_rows() == {*range(20), *range(50, 300), *range(305, 400)}
    rows = np.arange(400)
    for query in (*vectors[15:55], *vectors[298:308]):
        found = store.search(query, 8, Allowed(rows, (), everything=True))
        assert [row for row, _ in found] == brute(vectors, query, rows, 8)
    store.replace_graph(lambda _: None)
    assert store.search(vectors[7], 1, Allowed(rows, (), everything=True))[0][0] == 7, "every row is scored"


def test_erased_vectors_are_overwritten(tmp_path) -> None:
    store = made_store(tmp_path, 4)
    store.add(0, made(5, 4), ["t"] * 5, [{"a": 1}] * 5, private=True)
    store.remove(1, 2)
    assert store.file.read([1, 2]).any()
    store.remove(1, 2, erase=True)
    store.remove(4, 9, erase=True)
    assert not store.file.read([1, 2, 4]).any()
    assert store.file.read([0])[0].any()
    assert store.file.read([3])[0].any()


def test_ties_are_broken_by_row(tmp_path) -> None:
    store = made_store(tmp_path, 4)
    store.file.write(0, np.tile(np.asarray([[1, 0, 0, 0]], dtype=np.float32), (50, 1)))
    found = store.search(np.asarray([1, 0, 0, 0], dtype=np.float32), 3, Allowed(np.arange(50), (), everything=True))
    assert [row for row, _ in found] == [0, 1, 2]


def test_more_than_a_batch_is_stored(tmp_path) -> None:
    store = made_store(tmp_path, 4)
    count = store._graph().batch + 1
    store.add(0, made(count, 4), ["t"] * count, [{"a": 1}] * count)
    assert store._graph().collection.count() == count
    assert store.graph_rows() == set(range(count))
    store.remove(1, count)
    assert store.graph_rows() == {0}


def test_lists_in_metadata_are_stored(tmp_path) -> None:
    store = made_store(tmp_path, 4)
    store.add(0, made(1, 4), ["t"], [{"references": ["Note 3", "Note 9"]}])
    assert store._graph().collection.get(["0"])["metadatas"] == [{"references": ["Note 3", "Note 9"]}]


def test_rows_beyond_the_file_are_an_error(tmp_path) -> None:
    file = VectorFile(tmp_path / "v", 4)
    file.write(0, made(3, 4))
    with pytest.raises(IntegrityError, match="ends before row 5"):
        file.read([5])
