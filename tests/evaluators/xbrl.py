"""Adapter for the point-in-time evaluator: tables of filings in, ``fact(ticker, concept, start, end, as_of)`` out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from fin_rag.facts import FactStore

COLUMNS = {
    "ticker": "ticker", "concepto": "concept", "periodo_inicio": "start", "periodo_fin": "end", "unidad": "unit",
    "valor": "value", "decimales": "decimals", "forma": "form", "id_doc": "accession", "ts_presentacion": "filed",
}  # fmt: skip


def load(folder: Path, store: FactStore) -> None:
    """Load the facts of one folder of the corpus."""
    filings = pd.read_parquet(folder / "filings6_documentos.parquet")
    facts = pd.read_parquet(folder / "filings6_xbrl.parquet").merge(filings[["id_doc", "ticker"]], on="id_doc")
    report = store.add_table(facts, columns=COLUMNS)
    assert not report.skipped, report.warnings


def make(data_dir: str) -> Callable[[str, str, str | None, str, pd.Timestamp], float | None]:
    """Return the function that the evaluator calls."""
    store = FactStore.open(tempfile.mkdtemp())
    load(Path(data_dir), store)

    def fact(ticker: str, concept: str, start: str | None, end: str, as_of: pd.Timestamp) -> float | None:
        found = store.fact(ticker, concept, start, end, as_of.to_pydatetime())
        return None if found is None else float(found.value)

    return fact
