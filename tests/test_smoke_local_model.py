"""The whole chain and the arbiter with a real, small model: that they run to the end, not how clever it is."""

from __future__ import annotations

import json

import jsonschema
import pytest

from fin_rag.retrieval import AnchorRetriever, ModelArbiter, assemble, audit_schema, replay, retrieval_chain
from fin_rag.retrieval.anchors.model_arbiter import VERDICT_SCHEMA
from tests.local_model import LocalModel, weights
from tests.retrieval_corpus import made_index

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    weights()
    made = made_index(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


def test_chain_answers_with_the_figure_of_the_evidence(index) -> None:
    chain = retrieval_chain(LocalModel(), assemble(index, k=1, filter={"doc_id": "velmo"}))
    got = chain.invoke({"input": "What dividend does the board propose, in euros?"})
    assert "0.40" in got["answer"]
    assert got["context"][0].metadata["citation"] == 1
    assert got["citations"].unknown == () or all(number > 1 for number in got["citations"].unknown)


def test_arbiter_reads_what_the_model_decides(index) -> None:
    arbiter = ModelArbiter(LocalModel(max_tokens=300, answer_schema=VERDICT_SCHEMA), structured="json", timeout=None)
    retriever = AnchorRetriever(index=index, arbiter=arbiter, k=1, limit=2, max_chars=200)
    got = retriever.examine("What dividend does the board of Velmo propose?")
    record = json.loads(json.dumps(got.record))
    jsonschema.validate(record, audit_schema())
    assert record["decision"]["model"] == "SmolLM2-135M-Instruct"
    assert record["decision"]["raw"]
    assert len(record["decision"]["judgements"]) == len(record["candidates"]) > 0
    assert replay(record, index).differences == ()
