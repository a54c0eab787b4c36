"""The arbiter against a scripted chat model: roles, invented ids, malformed answers, not found, time-out."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from typing import Any

import jsonschema
import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from fin_rag.errors import InputError, ParseError
from fin_rag.retrieval import AnchorRetriever, EvidenceArbiter, ModelArbiter, audit_schema, replay
from tests.retrieval_corpus import made_index

QUESTION = "How much were net sales of tiles in 2023, and what dividend was proposed?"


class Scripted(BaseChatModel):
    """Say what a test wrote; ``tools`` switches structured output on."""

    says: Any = ""
    tools: bool = False
    seconds: float = 0.0
    model_name: str = "scripted-1"
    seen: list[Any] = []  # noqa: RUF012  # a pydantic field, copied for each instance

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        if not self.tools:
            raise NotImplementedError
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        self.seen.append(messages)
        time.sleep(self.seconds)
        if self.tools and isinstance(self.says, dict):
            call = {"name": "Verdict", "args": self.says, "id": "1", "type": "tool_call"}
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])
        text = self.says if isinstance(self.says, str) else json.dumps(self.says)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text))])


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = made_index(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


def verdict(found: bool = True, **roles: str) -> dict[str, Any]:
    judgements = [{"id": one, "role": role, "reason": f"{one} is {role}"} for one, role in roles.items()]
    return {"found": found, "reason": "as the passages say", "judgements": judgements}


def examined(index, says: Any, acts: str = "sync", **settings: Any):
    llm = Scripted(says=says, tools=settings.pop("tools", True), seconds=settings.pop("seconds", 0.0))
    timeout = settings.pop("timeout", 60.0)
    fallback = settings.pop("fallback", EvidenceArbiter())
    arbiter = ModelArbiter(llm, timeout=timeout, fallback=fallback)
    retriever = AnchorRetriever(index=index, arbiter=arbiter, k=9, **settings)
    got = retriever.examine(QUESTION) if acts == "sync" else asyncio.run(retriever.aexamine(QUESTION))
    jsonschema.validate(json.loads(json.dumps(got.record)), audit_schema())
    return got, llm


@pytest.mark.parametrize("tools", [True, False])
@pytest.mark.parametrize("acts", ["sync", "async"])
def test_every_role_in_its_order(index, tools, acts) -> None:
    says = verdict(C1="tangential", C2="discarded", C3="primary", C4="supporting")
    got, llm = examined(index, says, acts, tools=tools)
    ids = [document.metadata["candidate_id"] for document in got.documents]
    roles = [document.metadata["role"] for document in got.documents]
    assert ids[:3] == ["C3", "C4", "C1"]
    assert roles[:3] == ["primary", "supporting", "tangential"]
    assert set(roles[3:]) <= {"tangential"}
    assert "C2" not in ids
    assert got.documents[0].metadata["reason"] == "primary: C3 is primary"
    decision = got.record["decision"]
    assert (decision["arbiter"], decision["model"], decision["found"]) == ("model", "scripted-1", True)
    assert len(llm.seen) == 1  # one call
    assert len(decision["judgements"]) == len(got.record["candidates"])


def test_model_sees_contents_candidates_and_evidence(index) -> None:
    got, llm = examined(index, verdict(C1="primary"))
    system, human = (message.content for message in llm.seen[0])
    assert "never instructions" in system
    assert QUESTION in human
    for candidate in got.record["candidates"]:
        assert f"[{candidate['candidate_id']}]" in human
        assert candidate["section_path"] in human
    assert "Annual report 2023\n  Risk factors" in human
    assert "<- C" in human
    assert "net sale" in human.lower()


def test_invented_ids_doubles_and_unknown_roles_are_noted_and_left_out(index) -> None:
    says = verdict(C1="primary", C99="primary", C2="chief")
    says["judgements"] += [{"id": "C1", "role": "discarded", "reason": "again"}, "C3", {"role": "primary"}]
    got, _ = examined(index, says)
    problems = " | ".join(got.record["decision"]["problems"])
    for said in (
        "'C99' does not exist",
        "unknown role 'chief'",
        "C1 is judged twice",
        "is no object",
        "'None' does not",
    ):
        assert said in problems
    assert "not judged: C2" in problems
    assert got.documents[0].metadata["candidate_id"] == "C1"
    assert got.documents[0].metadata["role"] == "primary"
    by_id = {j["candidate_id"]: j for j in got.record["decision"]["judgements"]}
    assert by_id["C2"] == {"candidate_id": "C2", "role": "tangential", "reason": "not judged by the model"}


@pytest.mark.parametrize(
    "says",
    ["I think C1 is best.", "", '{"judgements": [', "[1, 2]", '{"found": true}', {"verdict": "none"}, "{" * 500],
)
@pytest.mark.parametrize("tools", [True, False])
def test_malformed_answer_falls_back_and_says_so(index, says, tools) -> None:
    got, _ = examined(index, says, tools=tools)
    decision = got.record["decision"]
    assert decision["arbiter"] == "deterministic"
    assert decision["model"] == "scripted-1"
    assert "could not be read" in decision["problems"][0]
    plain = AnchorRetriever(index=index, k=9).invoke(QUESTION)
    assert [d.id for d in got.documents] == [d.id for d in plain]
    assert replay(got.record, index).differences == ()
    with pytest.raises(ParseError, match="scripted-1"):
        examined(index, says, tools=tools, fallback=None)


def test_json_in_the_text_is_found_wherever_it_stands(index) -> None:
    says = f"Let me see {{maybe}}.\n```json\n{json.dumps(verdict(c2='Primary'))}\n```\nDone."
    got, _ = examined(index, says, tools=False)
    assert got.documents[0].metadata["candidate_id"] == "C2"
    assert got.record["decision"]["arbiter"] == "model"


def test_not_found_is_an_answer(index) -> None:
    got, _ = examined(index, verdict(found=False, C1="discarded", C2="tangential"))
    assert got.documents == []
    assert not got.found
    assert got.record["decision"]["found"] is False
    assert replay(got.record, index).same


@pytest.mark.parametrize(
    ("said", "roles", "found"), [(False, {"C1": "primary"}, True), (True, {"C1": "tangential"}, False)]
)
def test_contradictions_are_settled_by_the_roles_and_noted(index, said, roles, found) -> None:
    got, _ = examined(index, verdict(found=said, **roles))
    assert got.found is found
    assert bool(got.documents) is found
    assert "the roles count" in got.record["decision"]["problems"][-1]


@pytest.mark.parametrize("acts", ["sync", "async"])
def test_time_out_falls_back_and_says_so(index, acts) -> None:
    got, _ = examined(index, verdict(C1="primary"), acts, seconds=0.5, timeout=0.01)
    decision = got.record["decision"]
    assert decision["arbiter"] == "deterministic"
    assert "did not answer within 0.01 seconds" in decision["problems"][0]
    for thread in threading.enumerate():
        if thread.name.startswith("arbiter"):
            thread.join()


def test_errors_of_the_model_are_raised(index) -> None:
    class Broken(Scripted):
        def _generate(self, messages, stop=None, run_manager=None, **kwargs):
            raise ConnectionError("no quota left")

    with pytest.raises(ConnectionError, match="no quota left"):
        AnchorRetriever(index=index, llm=Broken(tools=True)).invoke(QUESTION)


@pytest.mark.parametrize("tools", [True, False])
def test_decision_of_a_model_replays_without_the_model(index, tools) -> None:
    got, llm = examined(index, verdict(C1="primary", C2="supporting", C77="primary"), tools=tools)
    again = replay(json.loads(json.dumps(got.record)), index)
    assert again.differences == ()
    assert len(llm.seen) == 1


def test_model_is_not_asked_where_there_is_nothing_to_judge(index) -> None:
    llm = Scripted(says=verdict())
    got = AnchorRetriever(index=index, llm=llm, filter={"ticker": "NONE"}).examine(QUESTION)
    assert llm.seen == []
    assert not got.found
    assert "not asked" in got.record["decision"]["reason"]


def test_callbacks_of_the_call_reach_the_model(index) -> None:
    seen = []

    class Seen(BaseCallbackHandler):
        def on_chat_model_start(self, serialized, messages, **kwargs):
            seen.append(kwargs.get("tags"))

    retriever = AnchorRetriever(index=index, llm=Scripted(says=verdict(C1="primary"), tools=True), k=1)
    retriever.invoke(QUESTION, config={"callbacks": [Seen()], "tags": ["case-7"]})
    asyncio.run(retriever.ainvoke(QUESTION, config={"callbacks": [Seen()], "tags": ["case-7"]}))
    assert len(seen) == 2
    assert all("case-7" in tags for tags in seen)


def test_wrong_timeout_is_refused() -> None:
    with pytest.raises(InputError, match="timeout"):
        ModelArbiter(Scripted(), timeout=0)
