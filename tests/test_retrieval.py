"""Retrieval: LangChain's own suite, fusion, filters that never leak."""

from __future__ import annotations

import asyncio
import random

import pytest
from langchain_classic.retrievers.ensemble import EnsembleRetriever
from langchain_core.documents import Document
from langchain_tests.integration_tests import RetrieversIntegrationTests

from fin_rag.errors import InputError
from fin_rag.index import FilingIndex
from fin_rag.index.filters import as_of_filter, parse_filter, scope_filter
from fin_rag.retrieval import FinancialRetriever, reciprocal_rank_fusion
from fin_rag.schema import parse_spans
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, report, words

TOPICS = ["net sales", "debt", "dividends", "litigation", "deuda neta", "ventas", "cash flow", "riesgos"]


def corpus() -> list[Document]:
    """Sixty small documents that differ in every key that filters name."""
    made = []
    for i in range(60):
        private = i % 10 == 9
        scope = {"source_scope": "private", "session_id": f"s{i % 3}"} if private else {}
        filed = {} if i % 7 == 6 else {"filed": 20200101 + (i % 4) * 10_000 + i % 28}
        text = "\n\n".join(
            f"# {TOPICS[(i + j) % 8]}\n\nIssuer {i} reports {TOPICS[(i + j) % 8]} of {i},{j}00." for j in range(4)
        )
        made.append(
            report(
                text, source=f"{i}.md", title=f"Report {i}", doc_id=f"d{i:02}", ticker=f"T{i % 5}",
                fiscal_year=2020 + i % 4, tier=i % 3, **filed, **scope,
            )
        )  # fmt: skip
    return made


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = FilingIndex.open(
        tmp_path_factory.mktemp("index"),
        embeddings=WordEmbeddings(),
        tokenization=words(),
        config=ChunkingConfig(max_tokens=30, overlap_tokens=0),
    )
    report_ = made.add(corpus())
    assert not report_.failed
    yield made
    made.close()


class TestStandard(RetrieversIntegrationTests):
    """LangChain's standard tests for retrievers."""

    @pytest.fixture(autouse=True)
    def _index(self, index) -> None:
        type(self).shared_index = index

    @property
    def retriever_constructor(self) -> type[FinancialRetriever]:
        return FinancialRetriever

    @property
    def retriever_constructor_params(self) -> dict:
        return {"index": self.shared_index}

    @property
    def retriever_query_example(self) -> str:
        return "net sales of issuer 3"


def test_result_can_be_cited(index) -> None:
    for rank, found in enumerate(index.retriever(k=4).invoke("deuda neta"), 1):
        metadata = found.metadata
        text = index.text(metadata["doc_id"])
        assert found.page_content == "\n\n".join(s.slice(text) for s in parse_spans(metadata["spans"]))
        assert metadata["rank"] == rank
        assert 0 < metadata["score"] <= 1
        assert set(metadata["found_by"]) <= {"dense", "keyword", "title", "line", "section", "opening", "statement"}
        assert metadata["reason"]


def test_exact_text_is_first_with_the_top_score(index) -> None:
    text = index.retriever(k=1, filter={"doc_id": "d07"}).invoke("debt")[0].page_content
    first, *others = index.retriever(k=3).invoke(text)
    assert first.page_content == text
    assert all(first.metadata["score"] >= other.metadata["score"] for other in others)
    found = index.retriever(k=3, plan=False).invoke(text)[0]
    assert found.page_content == text
    assert found.metadata["score"] == 1.0
    assert {"dense", "keyword"} <= set(first.metadata["found_by"])


def test_nothing_is_written_back(index) -> None:
    index.retriever(k=2).invoke("debt")
    (row, _), *_ = index.keyword_search("debt", 1, index.resolve())
    assert not {"score", "rank", "found_by", "reason"} & index.fetch([row])[row].metadata.keys()


def test_fewer_than_k_are_left(index) -> None:
    found = index.retriever(k=50, filter={"doc_id": "d07"}).invoke("debt")
    assert len(found) == 4
    assert {d.metadata["doc_id"] for d in found} == {"d07"}
    assert index.retriever(k=5, filter={"ticker": "NONE"}).invoke("debt") == []


def test_a_call_narrows_and_never_widens(index) -> None:
    retriever = index.retriever(k=50, filter={"ticker": "T1"}, as_of="2021-12-31")
    found = retriever.invoke("debt", filter={"ticker": "T2"})
    assert found == []
    later = retriever.invoke("debt", as_of="2023-12-31")
    assert all(d.metadata["filed"] <= 20211231 and d.metadata["ticker"] == "T1" for d in later)
    with pytest.raises(InputError, match="another session"):
        index.retriever(session_id="s0").invoke("debt", session_id="s1")


def test_sync_async_and_batch_agree(index) -> None:
    retriever = index.retriever(k=5)
    questions = ["net sales", "deuda neta", "cash flow"]
    single = [[d.id for d in retriever.invoke(q)] for q in questions]
    assert [[d.id for d in found] for found in retriever.batch(questions)] == single

    async def asked() -> list[list[Document]]:
        return await asyncio.gather(*(retriever.ainvoke(q) for q in questions))

    assert [[d.id for d in found] for found in asyncio.run(asked())] == single


def test_works_inside_langchains_ensemble(index) -> None:
    dense, keyword = index.retriever(k=4, weights=(1, 0)), index.retriever(k=4, weights=(0, 1))
    ensemble = EnsembleRetriever(retrievers=[dense, keyword], weights=[0.6, 0.4], id_key="spans")
    assert ensemble.invoke("litigation")


@pytest.mark.parametrize("wrong", [{"filter": {"a": {"$x": 1}}}, {"k": 0}])
def test_wrong_settings_are_refused(index, wrong) -> None:
    with pytest.raises(ValueError, match=r"\$x|greater than or equal to 1"):
        index.retriever(**wrong)


def test_ten_thousand_random_filters_never_leak(index) -> None:
    """Compare with a brute-force reference: nothing forbidden, and nothing that is allowed is missed."""
    draw = random.Random(11)  # repeatable, no secret
    chunks = index.fetch(range(index.chunk_count))
    assert len(chunks) == index.chunk_count
    for _ in range(10_000):
        given: dict[str, object] = {}
        if draw.random() < 0.5:
            given["ticker"] = draw.choice(["T0", "T1", {"$in": ["T2", "T3"]}, {"$ne": "T4"}])
        if draw.random() < 0.4:
            given["fiscal_year"] = draw.choice([2021, {"$gte": 2022}, {"$lt": 2021}])
        if draw.random() < 0.3:
            given["tier"] = draw.choice([0, 1, {"$gt": 0}])
        if draw.random() < 0.2:
            given["$or"] = [{"ticker": "T1"}, {"doc_id": f"d{draw.randrange(60):02}"}]
        as_of = draw.choice([None, 20201231, "2021-06-30", 20230101])
        session = draw.choice([None, None, "s0", "s1", "zzz"])
        wanted = parse_filter(given) & as_of_filter(as_of) & scope_filter(session)
        permitted = {row for row, chunk in chunks.items() if wanted.matches(chunk.metadata)}
        allowed = index.resolve(given, as_of=as_of, session_id=session)
        assert {int(row) for row in allowed.rows} == permitted
        question = draw.choice(TOPICS)
        dense = index.dense_search(question, 10, allowed)
        assert {row for row, _ in dense} <= permitted
        assert len(dense) == min(10, len(permitted))
        keyword = {row for row, _ in index.keyword_search(question, 10, allowed)}
        assert keyword <= permitted


# --- fusion ---------------------------------------------------------------------------------------


def test_agreement_comes_first_and_once() -> None:
    fused = reciprocal_rank_fusion(
        {"dense": [(1, 0.9), (2, 0.8)], "keyword": [(3, 9.0), (2, 5.0)]}, {"dense": 0.5, "keyword": 0.5}
    )
    assert [f.row for f in fused] == [2, 1, 3]
    assert fused[0].ranks == {"dense": 2, "keyword": 2}


def test_fusion_without_weights_is_refused() -> None:
    with pytest.raises(InputError, match="weight"):
        reciprocal_rank_fusion({"dense": [], "keyword": []}, {"dense": 0, "keyword": 0})
