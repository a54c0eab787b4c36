"""Exports to Parquet and the view of DuckDB."""

from __future__ import annotations

from decimal import Decimal

import pytest

from fin_rag.errors import InputError, MissingDependencyError
from fin_rag.facts import FactStore
from fin_rag.facts.export import export_parquet, open_duckdb

ROWS = [
    {
        "ticker": "BRAL",
        "concept": "us-gaap:Revenues",
        "start": "2024-01-01",
        "end": "2024-12-31",
        "unit": "USD",
        "value": 12345678901234567890,
        "form": "10-K",
        "accession": "A-1",
        "filed": "2025-02-01",
    },
    {
        "ticker": "BRAL",
        "concept": "us-gaap:EarningsPerShareDiluted",
        "start": "2024-01-01",
        "end": "2024-12-31",
        "unit": "USD/shares",
        "value": Decimal("5.61"),
        "form": "10-K",
        "accession": "A-1",
        "filed": "2025-02-01T10:00:00Z",
        "decimals": 2,
    },
]


def test_an_export_holds_every_fact_exactly(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    with FactStore.open(tmp_path / "index") as store:
        store.add_table(ROWS)
        assert export_parquet(store, tmp_path / "facts.parquet") == 2
    rows = {row["concept"]: row for row in pq.read_table(tmp_path / "facts.parquet").to_pylist()}
    assert rows["us-gaap:Revenues"]["value"] == 12345678901234567890
    assert rows["us-gaap:EarningsPerShareDiluted"]["value"] == Decimal("5.61")
    assert [rows[name]["filed"] for name in sorted(rows)] == ["2025-02-01T10:00:00Z", "2025-02-01"]
    assert rows["us-gaap:Revenues"]["decimals"] is None


def test_duckdb_is_optional_and_reads_the_export(tmp_path):
    pytest.importorskip("pyarrow")
    with FactStore.open(tmp_path / "index") as store:
        store.add_table(ROWS)
        export_parquet(store, tmp_path / "it's.parquet")
    try:
        import duckdb  # noqa: F401
    except ImportError:
        with pytest.raises(MissingDependencyError, match="scale"):
            open_duckdb(tmp_path / "it's.parquet")
        return
    with pytest.raises(InputError, match="export_parquet"):
        open_duckdb(tmp_path / "none.parquet")
    found = open_duckdb(tmp_path / "it's.parquet").execute("SELECT count(*) FROM facts").fetchone()
    assert found == (2,)
