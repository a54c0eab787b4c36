"""Rerankers: order, scores, metadata; a local double of Cohere's service; a cross-encoder made on the spot."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document
from pydantic import ValidationError

from fin_rag.errors import InputError, IntegrityError
from fin_rag.retrieval import BlendReranker, CohereReranker, CrossEncoderReranker, Reranker, assemble
from tests.fakes import WordEmbeddings
from tests.retrieval_corpus import TWIN, made_index


class Lengths(BaseCrossEncoder):
    """The longer the text, the better."""

    def score(self, text_pairs):
        return [float(len(text)) for _, text in text_pairs]


def found() -> list[Document]:
    return [
        Document(
            "kiln " * n, id=str(n), metadata={"chunk_id": str(n), "score": n / 10, "rank": n, "context_header": "H > 1"}
        )
        for n in (1, 3, 2)
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = made_index(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


@pytest.mark.parametrize("acts", ["sync", "async"])
def test_only_the_score_is_added_and_inputs_stay(acts) -> None:
    given = found()
    before = [document.model_dump() for document in given]
    reranker = CrossEncoderReranker(model=Lengths())
    if acts == "sync":
        got = reranker.compress_documents(given, "kiln")
    else:
        got = asyncio.run(reranker.acompress_documents(given, "kiln"))
    assert [document.model_dump() for document in given] == before
    assert [document.id for document in got] == ["3", "2", "1"]
    for document in got:
        added = document.metadata.pop("rerank_score")
        assert added == len(f"H > 1\n\n{document.page_content}")
        assert document.model_dump() in before


def test_ties_keep_the_order_found_and_top_n_cuts() -> None:
    class Same(Reranker):
        def score(self, query, documents):
            return [1.0] * len(documents)

    assert [d.id for d in Same().compress_documents(found(), "q")] == ["1", "3", "2"]
    assert [d.id for d in Same(top_n=2).compress_documents(found(), "q")] == ["1", "3"]
    assert Same().compress_documents([], "q") == []


def test_wrong_number_of_scores_is_an_error() -> None:
    class Short(Reranker):
        def score(self, query, documents):
            return [1.0]

    with pytest.raises(IntegrityError, match="1 scores for 3"):
        Short().compress_documents(found(), "q")


def test_blend_weighs_words_meaning_and_prior() -> None:
    documents = [
        Document("Freight was late.", metadata={"score": 0.9}),
        Document("Net debt fell.", metadata={"score": 0.5}),
        Document("Nothing here.", metadata={"score": 0.1}),
    ]

    def first(*weights: float) -> str:
        blend = BlendReranker(embeddings=WordEmbeddings(64), weights=weights)
        return blend.compress_documents(documents, "net debt")[0].page_content

    assert first(0, 1, 0) == first(1, 0, 0) == "Net debt fell."
    assert first(0, 0, 1) == "Freight was late."
    scores = BlendReranker(embeddings=WordEmbeddings(64)).score("net debt", documents)
    assert all(0 <= score <= 1 for score in scores)
    for wrong in ((0, 0, 0), (-1, 1, 1)):
        with pytest.raises(ValidationError, match="weights"):
            BlendReranker(weights=wrong)


def test_reranked_order_is_respected_and_twins_stay(index) -> None:
    blend = BlendReranker(embeddings=WordEmbeddings(64))
    for parents in (True, False):
        got = assemble(index, k=9, compressor=blend, parents=parents).invoke(TWIN)
        assert [d.metadata["fiscal_year"] for d in got[:2] if TWIN in d.page_content] == [2022, 2023]
        scores = [document.metadata["rerank_score"] for document in got]
        assert scores == sorted(scores, reverse=True)
        assert [document.metadata["rank"] for document in got] == list(range(1, len(got) + 1))


# --- Cohere -----------------------------------------------------------------------------------------------


class Double(BaseHTTPRequestHandler):
    """Speak the rerank endpoint: score a text by how often it holds the question's words."""

    seen: ClassVar[list[dict]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append({"path": self.path, "key": self.headers["Authorization"], **body})
        results = [
            {"index": i, "relevance_score": min(sum(text.count(w) for w in body["query"].split()) / 10, 1.0)}
            for i, text in enumerate(body["documents"])
        ]
        results.sort(key=lambda result: -result["relevance_score"])
        if body["model"] == "cuts":
            results = results[:1]
        if body["model"] == "wrong":
            results[0]["index"] = 99
        status = 401 if body["model"] == "refuses" else 200
        answer = {"id": "1", "results": results} if status == 200 else {"message": "invalid api token"}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def service():
    pytest.importorskip("langchain_cohere", reason="langchain-cohere is not installed")
    Double.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Double)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def cohere(url: str, model: str = "rerank-test", **settings: object) -> CohereReranker:
    return CohereReranker(model=model, api_key="written for a test", base_url=url, **settings)


def test_cohere_speaks_to_the_service_only_when_used(service) -> None:
    reranker = cohere(service)
    assert Double.seen == []
    got = reranker.compress_documents(found(), "kiln")
    assert [(d.id, d.metadata["rerank_score"]) for d in got] == [("3", 0.3), ("2", 0.2), ("1", 0.1)]
    (asked,) = Double.seen
    assert asked["path"].endswith("/rerank")
    assert asked["key"] == "Bearer written for a test"
    assert asked["documents"][0].startswith("H > 1\n\nkiln")
    assert asked["query"] == "kiln"
    assert [d.id for d in asyncio.run(reranker.acompress_documents(found(), "kiln"))] == ["3", "2", "1"]


def test_texts_without_a_score_come_last(service) -> None:
    got = cohere(service, "cuts").compress_documents(found(), "kiln")
    assert [document.id for document in got] == ["3", "1", "2"]
    assert [document.metadata.get("rerank_score") for document in got] == [0.3, None, None]


def test_what_the_service_says_wrong_is_an_error(service) -> None:
    with pytest.raises(IntegrityError, match="99"):
        cohere(service, "wrong").compress_documents(found(), "kiln")
    with pytest.raises(Exception, match=r"401|invalid api token"):
        cohere(service, "refuses").compress_documents(found(), "kiln")


def test_cohere_without_a_key(service, monkeypatch) -> None:
    for name in ("COHERE_API_KEY", "CO_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    reranker = CohereReranker(model="rerank-test", base_url=service)
    with pytest.raises(InputError, match="api_key"):
        reranker.compress_documents(found(), "kiln")


def test_key_is_not_printed() -> None:
    assert "written for" not in repr(CohereReranker(model="m", api_key="written for a test"))


# --- a cross-encoder of sentence-transformers ---------------------------------------------------------------


def test_cross_encoder_from_a_folder(tmp_path) -> None:
    """A tiny untrained model: what counts is that a folder is loaded and every pair gets its own score."""
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast, set_seed

    set_seed(5)
    vocabulary = {word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "kiln", "h", "net", "debt"])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    fast.save_pretrained(tmp_path)
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        num_labels=1, max_position_embeddings=64,
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    reranker = CrossEncoderReranker(model=str(tmp_path), batch_size=2)
    got = reranker.compress_documents(found(), "net debt")
    again = reranker.compress_documents(found(), "net debt")
    scores = [document.metadata["rerank_score"] for document in got]
    assert sorted(document.id for document in got) == ["1", "2", "3"]
    assert scores == sorted(scores, reverse=True)
    assert [document.id for document in again] == [document.id for document in got]
