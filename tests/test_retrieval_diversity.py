"""MMR, repeats of several years, and several wordings of one question."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers.multi_query import MultiQueryRetriever
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from fin_rag.errors import InputError
from fin_rag.retrieval import (
    KeywordRetriever,
    MmrCompressor,
    ParaphraseRetriever,
    QueryListParser,
    RepeatGrouper,
    assemble,
    group_repeats,
    maximal_marginal_relevance,
    parse_queries,
)
from fin_rag.retrieval.lexical import pool_scores
from tests.retrieval_corpus import TWIN, made_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = made_index(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


# --- MMR ------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 6)), min_size=1, max_size=12),
    st.integers(1, 14),
    st.sampled_from([0.0, 0.3, 0.5, 1.0]),
)
def test_mmr_equals_the_definition(items, k, lambda_mult) -> None:
    angles = [step * np.pi / 12 for _, step in items]
    vectors = np.asarray([[np.cos(a), np.sin(a)] for a in angles], dtype=np.float32)
    relevance = [score for score, _ in items]
    chosen = maximal_marginal_relevance(relevance, vectors, k, lambda_mult)
    assert len(chosen) == len(set(chosen)) == min(k, len(items))
    assert relevance[chosen[0]] == max(relevance)
    for position in range(1, len(chosen)):
        before = chosen[:position]

        def gain(i: int, before: list[int] = before) -> float:
            nearest = max(float(vectors[i] @ vectors[j]) for j in before)
            return lambda_mult * relevance[i] - (1 - lambda_mult) * nearest

        rest = [i for i in range(len(items)) if i not in before]
        assert gain(chosen[position]) == pytest.approx(max(gain(i) for i in rest), abs=1e-5)


def test_mmr_refuses_what_makes_no_sense() -> None:
    with pytest.raises(InputError, match="lambda_mult"):
        maximal_marginal_relevance([1.0], np.zeros((1, 2), dtype=np.float32), 1, 1.5)
    with pytest.raises(InputError, match="one for each"):
        maximal_marginal_relevance([1.0, 2.0], np.zeros((1, 2), dtype=np.float32), 1)


def test_mmr_in_the_assembly_keeps_both_years(index) -> None:
    whole = assemble(index, k=12, parents=False, compressor=MmrCompressor(index=index)).invoke(TWIN)
    years = [d.metadata["fiscal_year"] for d in whole if TWIN in d.page_content]
    assert sorted(years) == [2022, 2023]
    cut = assemble(index, k=3, parents=False, compressor=MmrCompressor(index=index)).invoke(TWIN)
    assert sum(TWIN in d.page_content for d in cut) == 1  # the other two places go to something else
    (named,) = cut[0].metadata["same_text"]
    other = index.fetch(index.rows_by_id([named]).values())
    assert [TWIN in document.page_content for document in other.values()] == [True]
    assert {d.metadata["fiscal_year"] for d in other.values()} | {cut[0].metadata["fiscal_year"]} == {2022, 2023}


def test_mmr_reads_documents_that_are_no_chunks(index) -> None:
    documents = [Document("kilns and tiles"), Document("kilns and tiles of clay"), Document("dividend")]
    got = MmrCompressor(index=index, lambda_mult=0.1, k=2).compress_documents(documents, "kilns")
    assert [d.page_content for d in got] == ["kilns and tiles", "dividend"]


# --- repeats ----------------------------------------------------------------------------------------------------


def test_repeats_are_grouped_and_tables_of_other_years_are_not() -> None:
    risk = "Demand for our tiles is seasonal and a mild winter could hurt sales in {} and beyond, as it did before."
    table = "| Net sales | {} |\n| Cost of sales | {} |\n| Gross profit | {} |"
    texts = [risk.format(2021), table.format(10, 7, 3), risk.format(2022), table.format(20, 9, 11), risk.format(2023)]
    assert group_repeats(texts) == [[0, 2, 4], [1], [3]]


@given(st.lists(st.sampled_from(["a b c d e", "a b c d f", "x y z", "", "uno dos tres cuatro"]), max_size=12))
def test_groups_are_a_partition_and_equal_texts_are_together(texts) -> None:
    groups = group_repeats(texts)
    assert sorted(position for group in groups for position in group) == list(range(len(texts)))
    home = {position: number for number, group in enumerate(groups) for position in group}
    for i, first in enumerate(texts):
        assert all(home[i] == home[j] for j, second in enumerate(texts) if first == second)
    assert [group[0] for group in groups] == sorted(group[0] for group in groups)


def test_grouper_loses_nothing(index) -> None:
    plain = KeywordRetriever(index=index, k=9).invoke(TWIN)
    grouped = RepeatGrouper().compress_documents(plain, TWIN)
    assert sorted(d.id for d in grouped) == sorted(d.id for d in plain)
    twins = [d for d in grouped if TWIN in d.page_content]
    assert [d.metadata["same_text"] for d in twins] == [[twins[1].id], [twins[0].id]]
    assert "same_text" not in plain[0].metadata
    assert grouped[-1].id == twins[1].id


# --- several wordings --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Here are some:\n\n1. a one\n\n2. b two\n", ["a one", "b two"]),
        ("a one\n\n\nb two", ["a one", "b two"]),
        ("Sure! Three versions.\n- a one\n- *b two*\n", ["a one", "b two"]),
        ("1) ¿Cuánto creció?\n2) ¿Cuanto crecio\n3) ¿Qué bajó?", ["¿Cuánto creció?", "¿Qué bajó?"]),
        ('```json\n["a one", "b two", 3]\n```', ["a one", "b two"]),
        ('{"queries": ["a one"]}', ["a one"]),
        ("<think>\n1. not this\n</think>\n1. a one", ["a one"]),
        ("The question\n2023 sales of tiles", ["2023 sales of tiles"]),
        ("", []),
        ("---\n...\n", []),
        ("[not json", ["[not json"]),
    ],
)
def test_a_models_list_is_read_safely(written, read) -> None:
    assert parse_queries(written, question="The question?") == read


@given(st.text(max_size=200), st.integers(0, 4))
def test_any_text_gives_clean_queries(text, limit) -> None:
    got = parse_queries(text, question="q", limit=limit)
    assert len(got) <= limit
    assert all(query == query.strip() and query for query in got)


class Scripted(BaseRetriever):
    """Give listed results for a question."""

    runs: dict[str, list[tuple[str, float | None]]]

    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document("same text", id=one, metadata={"chunk_id": one} | ({} if score is None else {"score": score}))
            for one, score in self.runs.get(query, [])
        ]


def test_a_chunk_has_the_best_score_of_any_wording_not_the_mean() -> None:
    inner = Scripted(runs={"q": [("a", 0.6), ("b", 0.5)], "w1": [("c", 0.9), ("b", 0.1)], "w2": [("b", 0.7)]})
    retriever = ParaphraseRetriever(retriever=inner, paraphrases=["w1", "Q", "w2"], k=None)
    for got in (retriever.invoke("q"), asyncio.run(retriever.ainvoke("q"))):
        assert [(d.id, d.metadata["score"], d.metadata["query"]) for d in got] == [
            ("c", 0.9, "w1"), ("b", 0.7, "w2"), ("a", 0.6, "q"),
        ]  # fmt: skip
        assert [d.metadata["rank"] for d in got] == [1, 2, 3]


def test_results_without_a_score_count_their_place() -> None:
    inner = Scripted(runs={"q": [("a", None), ("b", None)], "w": [("b", None)]})
    got = ParaphraseRetriever(retriever=inner, paraphrases=lambda question: ["w"]).invoke("q")
    assert [(d.id, d.metadata["score"]) for d in got] == [("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize("says", ["1. kilns refit\n2. dividend of the board", "I cannot help with that:"])
def test_model_writes_the_wordings_or_nothing_of_use(index, says) -> None:
    retriever = ParaphraseRetriever(
        retriever=KeywordRetriever(index=index, k=5), llm=FakeListChatModel(responses=[says]), k=9
    )
    got = retriever.invoke("net sales of tiles", as_of="2023-12-31")
    assert {d.metadata["doc_id"] for d in got} == ({"bron-2022", "velmo"} if "dividend" in says else {"bron-2022"})
    assert [d.id for d in asyncio.run(retriever.ainvoke("net sales of tiles", as_of="2023-12-31"))] == [
        d.id for d in got
    ]


def test_both_years_stay_two_over_all_wordings(index) -> None:
    retriever = ParaphraseRetriever(retriever=assemble(index, k=9), paraphrases=[TWIN, "kilns"], k=9)
    got = retriever.invoke("wholesale customers")
    assert sorted(d.metadata["fiscal_year"] for d in got if TWIN in d.page_content) == [2022, 2023]


def test_our_parser_inside_langchains_multi_query(index) -> None:
    llm = FakeListChatModel(responses=["Of course:\n\n1. dividend\n\n2. kilns seasonal demand\n"])
    chain = PromptTemplate.from_template("{question}") | llm | QueryListParser()
    retriever = MultiQueryRetriever(retriever=assemble(index, k=2), llm_chain=chain, include_original=True)
    for got in (retriever.invoke("net sales"), asyncio.run(retriever.ainvoke("net sales"))):
        assert {"velmo", "bron-2022", "bron-2023"} <= {d.metadata["doc_id"] for d in got}


def test_neither_model_nor_wordings_is_refused() -> None:
    with pytest.raises(ValidationError, match="wordings"):
        ParaphraseRetriever(retriever=Scripted(runs={}))


class TestParaphrase(RetrieversIntegrationTests):
    """LangChain's standard tests."""

    @pytest.fixture(autouse=True)
    def _index(self, index) -> None:
        type(self).index = index

    @property
    def retriever_constructor(self):
        return ParaphraseRetriever

    @property
    def retriever_constructor_params(self) -> dict:
        return {"retriever": KeywordRetriever(index=self.index, k=9), "paraphrases": ["demand of customers"]}

    @property
    def retriever_query_example(self) -> str:
        return "net sales of tiles and dividend"


def test_pool_scores_prefer_rare_words_and_more_of_them() -> None:
    texts = ["net sales and net debt", "net sales", "sales of tiles in net terms", "dividend"]
    scores = pool_scores("net debt", texts)
    assert scores[0] == max(scores)
    assert scores[3] == 0
    assert pool_scores("facilities", ["the credit facility"])[0] > 0
    assert pool_scores("¿riesgos?", ["el riesgo de crédito"])[0] > 0
