"""A small corpus of invented companies for the tests of retrieval: twins of two years, a private note, parents."""

from __future__ import annotations

from langchain_core.documents import Document

from fin_rag.index import FilingIndex
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, report, words

TWIN = "Seasonal demand may strain our kilns and delay deliveries to wholesale customers in the north."
YEARS = (2022, 2023)


def annual(year: int) -> Document:
    """One year of Brontide Ceramics: a risk that is printed alike every year, and figures that differ."""
    text = (
        "# Risk factors\n\n"
        f"{TWIN}\n\n"
        f"Clay prices in {year} were volatile and our hedges expired in the spring of {year + 1}.\n\n"
        "# Results\n\n"
        f"Net sales of tiles were {year - 1900} million euros in {year}.\n\n"
        f"Operating income of the tile segment reached {year - 2000} million euros, helped by lower energy cost.\n\n"
        "# Liquidity\n\n"
        f"The revolving credit facility of {year - 1700} million euros was undrawn at year end {year}.\n"
    )
    return report(
        text, source=f"brontide-{year}.md", title=f"Annual report {year}", doc_id=f"bron-{year}",
        issuer="Brontide Ceramics", ticker="BRON", fiscal_year=year, filed=(year + 1) * 10_000 + 301,
    )  # fmt: skip


def private() -> Document:
    """A note that belongs to one session."""
    return report(
        "# Memo\n\nThe kilns of Brontide need a refit before the winter, wholesale customers were told.\n",
        source="memo.md", title="Memo", doc_id="memo", issuer="Brontide Ceramics", ticker="BRON",
        fiscal_year=2023, filed=20230105, source_scope="private", session_id="desk-1",
    )  # fmt: skip


def corpus() -> list[Document]:
    """Two years of one company, another company, a private note."""
    other = report(
        "# Outlook\n\nPaper mills expect stable demand.\n\n"
        "# Dividend\n\nThe board proposes a dividend of 0.40 euros.\n",
        source="velmo.md", title="Velmo outlook", doc_id="velmo", issuer="Velmo Paper", ticker="VELM",
        fiscal_year=2023, filed=20231110,
    )  # fmt: skip
    return [*(annual(year) for year in YEARS), other, private()]


def made_index(folder: object) -> FilingIndex:
    """Index the corpus with small chunks and an embedding model without weights."""
    index = FilingIndex.open(
        str(folder),
        embeddings=WordEmbeddings(64),
        tokenization=words(),
        config=ChunkingConfig(max_tokens=34, overlap_tokens=0),
    )
    added = index.add(corpus())
    assert not added.failed
    return index
