"""The assembly out of LangChain's own classes: scope in every branch, twins, parents, chains, other stores."""

from __future__ import annotations

import asyncio

import pytest
from langchain_classic.chains.history_aware_retriever import create_history_aware_retriever
from langchain_classic.retrievers.contextual_compression import ContextualCompressionRetriever
from langchain_classic.retrievers.ensemble import EnsembleRetriever
from langchain_classic.retrievers.multi_query import MultiQueryRetriever
from langchain_classic.retrievers.multi_vector import MultiVectorRetriever
from langchain_classic.retrievers.parent_document_retriever import ParentDocumentRetriever
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.stores import InMemoryStore
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests

from fin_rag.errors import InputError, NotFoundError
from fin_rag.retrieval import (
    DenseRetriever,
    FinancialRetriever,
    HybridEnsemble,
    IndexDocstore,
    IndexVectorStore,
    KeywordRetriever,
    ParentRetriever,
    StoreRetriever,
    assemble,
    fill_store,
    retrieval_chain,
)
from fin_rag.schema import parse_spans
from fin_rag.splitters import splitter_for
from tests.fakes import WordEmbeddings, words
from tests.retrieval_corpus import TWIN, annual, made_index

ROMAN = "kilns wholesale customers seasonal demand"


class Backwards(BaseDocumentCompressor):
    """A compressor that can be seen to have been there."""

    def compress_documents(self, documents, query, callbacks=None):
        return list(reversed(documents))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = made_index(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def store(index):
    made = InMemoryVectorStore(WordEmbeddings(32, salt="other"))
    assert fill_store(index, made, session_id="desk-1") == index.chunk_count
    return made


def retrievers(index, store, **scope):
    """Every retriever of the package, and LangChain's own around our parts."""
    dense, keyword = DenseRetriever(index=index, k=9, **scope), KeywordRetriever(index=index, k=9, **scope)
    view = IndexVectorStore(index, **scope)
    return {
        "dense": dense,
        "keyword": keyword,
        "store": StoreRetriever(index=index, vector_store=store, k=9, **scope),
        "ensemble": HybridEnsemble(retrievers=[dense, keyword], weights=[0.6, 0.4]),
        "langchain ensemble": EnsembleRetriever(retrievers=[dense, keyword], weights=[0.6, 0.4], id_key="chunk_id"),
        "compression": ContextualCompressionRetriever(
            base_compressor=Backwards(), base_retriever=HybridEnsemble(retrievers=[dense, keyword])
        ),
        "parents": ParentRetriever(index=index, base_retriever=dense, k=9, **scope),
        "assembly": assemble(index, k=9, **scope),
        "assembly, reranked": assemble(index, k=9, compressor=Backwards(), **scope),
        "assembly, chunks": assemble(index, k=9, parents=False, **scope),
        "assembly, other store": assemble(index, k=9, vector_store=store, **scope),
        "financial": FinancialRetriever(index=index, k=9, **scope),
        "multi vector": MultiVectorRetriever(
            vectorstore=view, docstore=IndexDocstore(index, **scope), id_key="parent_id", search_kwargs={"k": 9}
        ),
        "multi query": MultiQueryRetriever.from_llm(dense, FakeListChatModel(responses=["kilns\ncustomers"])),
        "view": view.as_retriever(search_kwargs={"k": 9}),
        "view, mmr": view.as_retriever(search_type="mmr", search_kwargs={"k": 9, "lambda_mult": 0.9}),
    }


NAMES = (
    "dense", "keyword", "store", "ensemble", "langchain ensemble", "compression", "parents", "assembly",
    "assembly, reranked", "assembly, chunks", "assembly, other store", "financial", "multi vector", "multi query",
    "view", "view, mmr",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_identical_passages_of_two_years_stay_two(index, store, name) -> None:
    retriever = retrievers(index, store)[name]
    for found in (retriever.invoke(TWIN), asyncio.run(retriever.ainvoke(TWIN))):
        twins = [document for document in found if TWIN in document.page_content]
        assert sorted(document.metadata["fiscal_year"] for document in twins) == [2022, 2023]
        assert len({document.id for document in twins}) == 2
        for document in twins:
            text = index.text(document.metadata["doc_id"])
            spans = parse_spans(document.metadata["spans"])
            assert document.page_content == "\n\n".join(span.slice(text) for span in spans)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        ({}, {"bron-2022", "bron-2023", "velmo"}),
        ({"as_of": "2023-12-31"}, {"bron-2022", "velmo"}),
        ({"as_of": 20231231, "filter": {"ticker": "BRON"}}, {"bron-2022"}),
        ({"session_id": "desk-1"}, {"bron-2022", "bron-2023", "velmo", "memo"}),
        ({"session_id": "desk-2"}, {"bron-2022", "bron-2023", "velmo"}),
        ({"filter": {"fiscal_year": 1999}}, set()),
    ],
)
def test_scope_holds_in_every_branch(index, store, name, scope, seen) -> None:
    found = retrievers(index, store, **scope)[name].invoke(f"{ROMAN} dividend refit winter")
    assert {document.metadata["doc_id"] for document in found} <= seen
    assert found or not seen


@pytest.mark.parametrize("name", ["dense", "keyword", "store", "ensemble", "parents", "assembly"])
def test_arguments_of_a_call_narrow_in_every_branch(index, store, name) -> None:
    retriever = retrievers(index, store, as_of="2024-12-31")[name]
    found = retriever.invoke(ROMAN, as_of="2023-06-30", filter={"ticker": "BRON"})
    assert {document.metadata["doc_id"] for document in found} == {"bron-2022"}
    later = asyncio.run(retriever.ainvoke(ROMAN, as_of="2033-06-30", session_id="desk-1"))
    assert {"memo", "bron-2023"} <= {document.metadata["doc_id"] for document in later}
    with pytest.raises(InputError, match="another session"):
        retrievers(index, store, session_id="desk-1")[name].invoke(ROMAN, session_id="desk-2")


def test_ensemble_says_who_found_what(index) -> None:
    found = assemble(index, k=3, parents=False).invoke(TWIN)
    assert found[0].metadata["score"] > found[2].metadata["score"] > 0
    assert found[0].metadata["found_by"] == ["dense", "keyword"]
    assert "dense rank" in found[0].metadata["reason"]
    assert "keyword rank" in found[0].metadata["reason"]
    assert [document.metadata["rank"] for document in found] == [1, 2, 3]


def test_ensemble_refuses_results_it_cannot_tell_apart() -> None:
    class Plain(DenseRetriever):
        def _get_relevant_documents(self, query, *, run_manager, **_):
            return [Document("a"), Document("a")]

    ensemble = HybridEnsemble(retrievers=[Plain.model_construct()], weights=[1.0])
    with pytest.raises(InputError, match="'chunk_id'"):
        ensemble.weighted_reciprocal_rank([[Document("a")]])


# --- parents ------------------------------------------------------------------------------------------


def test_parent_is_the_whole_section_and_lists_its_children(index) -> None:
    found = assemble(index, k=1, filter={"doc_id": "bron-2023"}).invoke("net sales of tiles")[0]
    assert found.page_content.startswith("# Results")
    assert "Operating income" in found.page_content
    assert found.metadata["section_path"].endswith("Results")
    assert len(found.metadata["children"]) == 2
    text = index.text("bron-2023")
    for span in parse_spans(found.metadata["child_spans"]):
        assert span.slice(text) in found.page_content
    assert "clipped" not in found.metadata
    assert "token_count" not in found.metadata


def test_long_parent_is_cut_to_whole_lines_around_the_hit(index) -> None:
    retriever = assemble(index, k=1, fetch_k=1, max_chars=120, weights=(0, 1), filter={"doc_id": "bron-2023"})
    found = retriever.invoke("clay hedges volatile")[0]
    assert found.metadata["clipped"] is True
    assert "Clay prices" in found.page_content
    text = index.text("bron-2023")
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    assert all(line in lines for line in found.page_content.split("\n") if line.strip())


def test_missing_parent_is_an_error_or_a_warning(tmp_path, caplog) -> None:
    index = made_index(tmp_path / "ix")
    stale = DenseRetriever(index=index, k=9).invoke(TWIN)

    class Stale(DenseRetriever):
        def _get_relevant_documents(self, query, *, run_manager, **_):
            return stale

    index.remove("bron-2022")
    kept = ParentRetriever(index=index, base_retriever=Stale(index=index), k=9)
    with pytest.raises(NotFoundError, match="bron-2022"):
        kept.invoke(TWIN)
    warned = kept.model_copy(update={"missing": "warn"}).invoke(TWIN)
    assert {"bron-2022", "bron-2023"} <= {document.metadata["doc_id"] for document in warned}
    assert "bron-2022" in caplog.text
    key = next(d.metadata["parent_id"] for d in stale if d.metadata["doc_id"] == "bron-2022")
    with pytest.raises(NotFoundError, match="bron-2022"):
        IndexDocstore(index).mget([key])
    assert IndexDocstore(index, missing="warn").mget([key]) == [None]
    index.close()


def test_docstore_has_every_section_and_is_read_only(index) -> None:
    docstore = IndexDocstore(index)
    keys = list(docstore.yield_keys())
    assert keys == list(docstore.yield_keys(prefix=""))
    assert {key.partition("#")[0] for key in keys} == {"bron-2022", "bron-2023", "velmo"}
    assert all(document is not None for document in docstore.mget(keys))
    assert asyncio.run(docstore.amget(keys[:1]))[0].page_content == docstore.mget(keys[:1])[0].page_content
    with pytest.raises(InputError, match="read only"):
        docstore.mset([("a#0-1", Document("a"))])
    with pytest.raises(InputError, match="read only"):
        docstore.mdelete(keys)
    for wrong in ("velmo", "velmo#3", "#-", "velmo#a-b"):
        with pytest.raises(InputError, match="doc_id#10-20"):
            docstore.mget([wrong])
    with pytest.raises(NotFoundError):
        docstore.mget(["velmo#0-999999"])


def test_our_splitters_inside_langchains_parent_retriever() -> None:
    document = annual(2022)
    parents = splitter_for(document, chunk_size=60, tokenization=words())
    children = splitter_for(document, chunk_size=34, tokenization=words())
    retriever = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(WordEmbeddings(64)),
        docstore=InMemoryStore(),
        child_splitter=children,
        parent_splitter=parents,
        id_key="parent",
    )
    retriever.add_documents([document, annual(2023)])
    for found in (retriever.invoke(TWIN), asyncio.run(retriever.ainvoke(TWIN))):
        assert {2022, 2023} <= {d.metadata["fiscal_year"] for d in found if TWIN in d.page_content}
        for parent in found:
            text = annual(parent.metadata["fiscal_year"]).page_content
            assert text[parent.metadata["start_index"] : parent.metadata["end_index"]] == parent.page_content


def test_parent_retriever_over_the_views_of_an_index(index) -> None:
    retriever = ParentDocumentRetriever(
        vectorstore=IndexVectorStore(index, as_of="2023-12-31"),
        docstore=IndexDocstore(index, as_of="2023-12-31"),
        child_splitter=splitter_for(annual(2022), chunk_size=34, tokenization=words()),
        id_key="parent_id",
        search_kwargs={"k": 3},
    )
    found = retriever.invoke("net sales of tiles")
    assert found[0].page_content.startswith("# Results")
    assert {d.metadata["doc_id"] for d in found} <= {"bron-2022", "velmo"}
    with pytest.raises(InputError, match="read only"):
        retriever.add_documents([annual(2024)])


# --- other stores ---------------------------------------------------------------------------------------


def test_a_store_only_ranks(index) -> None:
    """Text and metadata come from the index, whatever the store says."""
    other = InMemoryVectorStore(WordEmbeddings(16))
    fill_store(index, other, filter={"ticker": "BRON"})
    other.add_documents([Document("kilns " * 9, metadata={"doc_id": "forged"})], ids=["unknown"])
    found = StoreRetriever(index=index, vector_store=other, k=2).invoke(ROMAN)
    assert len(found) == 2
    assert all(document.metadata["ticker"] == "BRON" for document in found)


def test_filtering_another_store_loses_nothing(index, store) -> None:
    for doc_id in ("bron-2022", "bron-2023", "velmo"):
        wanted = {"doc_id": doc_id}
        found = StoreRetriever(index=index, vector_store=store, k=2, filter=wanted).invoke("dividend")
        assert len(found) == 2
        assert {document.metadata["doc_id"] for document in found} == {doc_id}


def test_filling_twice_replaces(index) -> None:
    other = InMemoryVectorStore(WordEmbeddings(16))
    assert fill_store(index, other) == fill_store(index, other) == len(other.store)


def test_view_speaks_langchain(index) -> None:
    view = IndexVectorStore(index)
    scored = view.similarity_search_with_relevance_scores(TWIN, k=3)
    assert all(0 <= score <= 1 for _, score in scored)
    ids = [document.id for document, _ in scored]
    assert [document.id for document in view.get_by_ids(ids[::-1])] == ids[::-1]
    private = IndexVectorStore(index, session_id="desk-1", filter={"doc_id": "memo"}).similarity_search("refit")
    assert view.get_by_ids([private[0].id]) == []
    with pytest.raises(InputError, match="read only"):
        IndexVectorStore.from_texts(["a"], WordEmbeddings())


# --- chains -----------------------------------------------------------------------------------------------


def model(*answers: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter(AIMessage(answer) for answer in answers))


def test_chain_returns_the_span_of_every_number_cited(index) -> None:
    chain = retrieval_chain(model("Sales were 123 million [1]. They grew."), assemble(index, k=2, as_of="2024-12-31"))
    got = chain.invoke({"input": "net sales of tiles in 2023"})
    report_ = got["citations"]
    cited = report_.citations[0]
    assert cited.number == 1
    text = index.text(cited.doc_id)
    assert "\n\n".join(s.slice(text) for s in cited.spans) == got["context"][0].page_content
    assert [span.slice(got["answer"]) for span in report_.uncited] == ["They grew."]
    assert report_.cited


def test_chain_async_stream_and_unknown_numbers(index) -> None:
    chain = retrieval_chain(model("No sé [9].", "Nothing cited here."), assemble(index, k=2))
    pieces = list(chain.stream({"input": "dividend"}))
    assert "".join(piece["answer"] for piece in pieces if "answer" in piece) == "No sé [9]."
    assert len([piece for piece in pieces if "answer" in piece]) > 1
    assert [piece["citations"] for piece in pieces if "citations" in piece][-1].unknown == (9,)
    got = asyncio.run(chain.ainvoke({"input": "dividend"}))
    assert not got["citations"].cited


def test_prompt_numbers_the_evidence(index) -> None:
    seen = []

    class Seen(BaseCallbackHandler):
        def on_chat_model_start(self, serialized, messages, **kwargs):
            seen.extend(messages[0])

    chain = retrieval_chain(model("ok [1]"), assemble(index, k=2))
    got = chain.invoke({"input": "a {brace} dividend"}, config={"callbacks": [Seen()]})
    for number, document in enumerate(got["context"], 1):
        assert f"[{number}] {document.metadata['title']}" in seen[0].content
        assert document.page_content in seen[0].content
    assert seen[1].content == "a {brace} dividend"


def test_history_aware_retriever(index) -> None:
    prompt = ChatPromptTemplate.from_messages([("placeholder", "{chat_history}"), ("human", "{input}")])
    aware = create_history_aware_retriever(
        FakeListChatModel(responses=["dividend of Velmo Paper"]), assemble(index, k=1), prompt
    )
    given = {"input": "And what did they propose?", "chat_history": [HumanMessage("Tell me about Velmo")]}
    for found in (aware.invoke(given), asyncio.run(aware.ainvoke(given))):
        assert found[0].metadata["doc_id"] == "velmo"
    assert aware.invoke({"input": "net sales of tiles"})[0].metadata["ticker"] == "BRON"


def test_callbacks_tags_and_config_reach_every_branch(index) -> None:
    starts = []

    class Seen(BaseCallbackHandler):
        def on_retriever_start(self, serialized, query, *, tags=None, metadata=None, **kwargs):
            starts.append((kwargs.get("name"), tuple(tags or ()), dict(metadata or {})))

    retriever = assemble(index, k=1).with_config(tags=["desk"], metadata={"case": 7}, callbacks=[Seen()])
    retriever.invoke("dividend")
    assert {name for name, _, _ in starts} == {
        "ParentRetriever", "HybridEnsemble", "DenseRetriever", "KeywordRetriever",
    }  # fmt: skip
    assert all("desk" in tags and metadata["case"] == 7 for _, tags, metadata in starts)
    before = len(starts)
    asyncio.run(retriever.ainvoke("dividend"))
    assert len(starts) == 2 * before


def test_batch_and_async_agree(index) -> None:
    retriever = assemble(index, k=3)
    questions = ["dividend", "kilns", "credit facility undrawn"]
    single = [[d.id for d in retriever.invoke(q)] for q in questions]
    assert [[d.id for d in found] for found in retriever.batch(questions)] == single
    assert [[d.id for d in found] for found in asyncio.run(retriever.abatch(questions))] == single


@pytest.mark.parametrize("weights", [(0, 0), (-1, 2)])
def test_weights_that_say_nothing_are_refused(index, weights) -> None:
    with pytest.raises(InputError, match="weights"):
        assemble(index, weights=weights)


def test_wrong_k_and_empty_question(index) -> None:
    with pytest.raises(InputError, match="'k'"):
        assemble(index).invoke("dividend", k=0)
    assert assemble(index).invoke("  ") == []


# --- LangChain's standard tests ---------------------------------------------------------------------------


class Standard(RetrieversIntegrationTests):
    constructor: type = DenseRetriever
    __test__ = False

    @pytest.fixture(autouse=True)
    def _parts(self, index, store) -> None:
        type(self).params = self.made_params(index, store)

    def made_params(self, index, store) -> dict:
        return {"index": index}

    @property
    def retriever_constructor(self):
        return self.constructor

    @property
    def retriever_constructor_params(self) -> dict:
        return self.params

    @property
    def retriever_query_example(self) -> str:
        return "demand of wholesale customers, net sales of tiles, dividend and credit facility"


class TestDense(Standard):
    __test__ = True


class TestKeyword(Standard):
    __test__ = True
    constructor = KeywordRetriever


class TestStore(Standard):
    __test__ = True
    constructor = StoreRetriever

    def made_params(self, index, store) -> dict:
        return {"index": index, "vector_store": store}


class TestParents(Standard):
    __test__ = True
    constructor = ParentRetriever

    def made_params(self, index, store) -> dict:
        return {"index": index, "base_retriever": assemble(index, k=20).base_retriever}
