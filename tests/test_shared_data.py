"""Every sample and every shared document: loaded, split, and the contract held by each chunk."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from langchain_core.documents import Document

from fin_rag.errors import FinRagError
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.splitters import EarningsCallTextSplitter, splitter_for
from fin_rag.structure.calls import CallOutline, united
from fin_rag.tokens import Tokenization, load_tokenization
from tests.fakes import assert_sound

SAMPLES = Path(__file__).resolve().parents[1] / "examples" / "data"
BUDGET = 384


@cache
def tokenization() -> Tokenization:
    return load_tokenization()


def split_soundly(document: Document) -> int:
    """Split a document, assert what holds for all, and return the number of chunks."""
    splitter = splitter_for(document, chunk_size=BUDGET, tokenization=tokenization())
    whole, outline, chunks = splitter.split_whole(document)
    furniture = outline.furniture
    if isinstance(splitter, EarningsCallTextSplitter):  # what operators say is left out, and said to be
        assert isinstance(outline, CallOutline)
        left_out = splitter.left_out(outline, whole.page_content)
        furniture = united((*furniture, *(turn.span for turn in left_out)))
    assert_sound(whole.page_content, chunks, tokenization(), BUDGET, furniture)
    return len(chunks)


def fault_of(path: str) -> str:
    """Load and split one file; return what is wrong, nothing if all holds, the reason if it is refused."""
    try:
        chunks = split_soundly(FinancialDocumentLoader(path).load()[0])
    except FinRagError as error:
        return f"{path}: refused: {error}"
    except AssertionError as error:
        return f"{path}: {str(error)[:300]}"
    return "" if chunks else f"{path}: no chunk"


def faults_of(paths: list[Path]) -> list[str]:
    with ProcessPoolExecutor(2) as pool:
        return [fault for fault in pool.map(fault_of, map(str, paths), chunksize=2) if fault]


def test_samples_hold_the_contract() -> None:
    paths = sorted(p for p in SAMPLES.iterdir() if p.suffix in (".htm", ".md", ".txt", ".pdf"))
    assert len(paths) >= 7
    assert faults_of(paths) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern", ["data/sec/*.gz", "data/financebench/pdfs/*.pdf", "data/regulation/*.gz", "cases/*/*[0-9].*"]
)
def test_shared_files_hold_the_contract(shared, pattern) -> None:
    paths = sorted(p for p in shared.glob(pattern) if ".expected." not in p.name)
    assert len(paths) >= 5
    assert faults_of(paths) == []


def spanish_corpora(shared: Path) -> Iterator[Document]:
    pandas = pytest.importorskip("pandas")
    for path in sorted(shared.glob("data/corpus_es/*/rag6_documentos.parquet")):
        for row in pandas.read_parquet(path).itertuples():
            metadata = {
                "title": row.titulo,
                "issuer": row.emisor,
                "fiscal_year": int(row.ejercicio),
                "source": row.id_doc,
            }
            yield Document(page_content=row.texto, metadata=metadata)


def test_spanish_corpora_hold_the_contract(shared) -> None:
    assert sum(split_soundly(document) for document in spanish_corpora(shared)) > 500
