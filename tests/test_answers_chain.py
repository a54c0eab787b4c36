"""The guard, abstention and the chain, with models that are written down."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableLambda

from fin_rag.answers import NO_DISPONIBLE, FigureGuard, Threshold, abstention_reason, answer_chain, fit_threshold
from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts import FactStore

FILING = Document(
    page_content="Net sales were $1,356.2 million in 2024, compared with $1,234.5 million in 2023.",
    metadata={
        "doc_id": "D1",
        "issuer": "Bralton Widgets, Inc.",
        "ticker": "BRAL",
        "title": "10-K 2024",
        "fiscal_year": 2024,
        "score": 0.6,
    },
)
RETRIEVER = RunnableLambda(lambda given: [FILING])


class Script(BaseChatModel):
    """Say what is written, message by message."""

    replies: list[AIMessage]
    seen: list[Any] = []  # noqa: RUF012  # a pydantic field

    @property
    def _llm_type(self) -> str:
        return "script"

    def bind_tools(self, tools, **more):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **more):
        self.seen.append(list(messages))
        return ChatResult(generations=[ChatGeneration(message=self.replies[len(self.seen) - 1])])


@pytest.fixture
def store(tmp_path):
    with FactStore.open(tmp_path) as opened:
        base = {"ticker": "BRAL", "unit": "USD", "form": "10-K", "filed": "2025-02-01", "accession": "A-1"}
        opened.add_table(
            [
                base
                | {"concept": "us-gaap:NetIncomeLoss", "start": "2024-01-01", "end": "2024-12-31", "value": 150_900_000}
            ]
        )
        yield opened


# --- guard ----------------------------------------------------------------------------------------


def test_a_proved_answer_passes_unchanged():
    given = {"answer": "Net sales were $1,356.2 million in 2024 [1].", "context": [FILING], "input": "?"}
    result = FigureGuard().invoke(given)
    assert result["answer"] == given["answer"]
    assert (result["outcome"], result["input"], result["figures"]["ok"]) == ("passed", "?", True)


def test_an_unproved_answer_is_replaced_with_the_reason():
    result = FigureGuard(unavailable="No lo sé: {reason}").invoke(
        {"answer": "Net sales were $9 million.", "context": [FILING]}
    )
    assert result["outcome"] == "replaced"
    assert result["answer"].startswith("No lo sé: '$9 million': unsupported")
    assert result["draft"] == "Net sales were $9 million."


def test_a_review_is_checked_like_any_answer():
    right, wrong = "Net sales were $1,356.2 million.", "Net sales were $7 million."
    given = {"answer": "Net sales were $9 million.", "context": [FILING]}
    assert FigureGuard(review=lambda answer, report: right).invoke(given)["outcome"] == "reviewed"
    assert FigureGuard(review=lambda answer, report: wrong).invoke(given)["answer"] == NO_DISPONIBLE
    assert FigureGuard(review=lambda answer, report: None).invoke(given)["answer"] == NO_DISPONIBLE


def test_strict_replaces_what_is_only_rounded():
    given = {"answer": "Net sales were $1.36 billion in 2024.", "context": [FILING]}
    assert FigureGuard().invoke(given)["outcome"] == "passed"
    result = FigureGuard(strict=True).invoke(given)
    assert result["answer"] == NO_DISPONIBLE
    assert "rounded" in result["reason"]


def test_the_guard_needs_an_answer_and_evidence():
    with pytest.raises(InputError, match="'answer' and 'context'"):
        FigureGuard().invoke({"answer": "x"})


async def test_the_guard_runs_async():
    result = await FigureGuard().ainvoke({"answer": "None.", "context": []})
    assert result["outcome"] == "passed"


# --- abstention -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("What were Norvella's net sales in 2024?", "Norvella"),
        ("¿Cuáles fueron las ventas de Norvella en 2024?", "Norvella"),
        ("What were Bralton's net sales in 2017?", "2017"),
        ("What was Bralton's goodwill in 2024?", "goodwill"),
        ("What were Bralton's net sales in 2024?", ""),
        ("How did sales develop?", ""),
    ],
)
def test_no_evidence_for_company_period_or_line(question, part):
    reason = abstention_reason(question, [FILING])
    assert part in reason
    assert bool(reason) == bool(part)


def test_no_documents_is_a_reason():
    assert abstention_reason("Anything?", []) == "no evidence was found"


def test_a_threshold_is_fitted_and_stored_with_its_errors(tmp_path):
    threshold = fit_threshold([0.9, 0.8, 0.7, 0.2], [0.1, 0.3, 0.75])
    assert (threshold.answered_wrongly, threshold.refused_wrongly) == (0.0, 0.5)
    threshold.save(tmp_path)
    assert Threshold.load(tmp_path) == threshold
    with pytest.raises(NotFoundError, match="evaluate"):
        Threshold.load(tmp_path / "none")
    assert "below the threshold" in abstention_reason("How did sales develop?", [FILING], threshold=threshold)
    with pytest.raises(InputError):
        fit_threshold([], [1.0])


# --- chain ----------------------------------------------------------------------------------------


def test_the_chain_answers_with_citations():
    chain = answer_chain(FakeListChatModel(responses=["Net sales were $1,356.2 million in 2024 [1]."]), RETRIEVER)
    result = chain.invoke({"input": "What were Bralton's net sales in 2024?"})
    assert result["answer"] == "Net sales were $1,356.2 million in 2024 [1]."
    assert result["citations"] == [{"number": 1, "doc_id": "D1", "title": "10-K 2024"}]
    assert result["context"] == [FILING]


def test_an_invented_figure_never_leaves_the_chain():
    chain = answer_chain(FakeListChatModel(responses=["Net sales were $1,999.9 million in 2024 [1]."]), RETRIEVER)
    result = chain.invoke({"input": "What were Bralton's net sales in 2024?"})
    assert result["answer"] == NO_DISPONIBLE
    assert "unsupported" in result["reason"]


def test_the_model_is_not_asked_about_another_company():
    model = Script(replies=[])
    result = answer_chain(model, RETRIEVER).invoke({"input": "What were Norvella's net sales in 2024?"})
    assert result["answer"] == NO_DISPONIBLE
    assert model.seen == []


def test_the_model_uses_tools_and_its_figure_is_proved_by_the_fact(store):
    call = {
        "name": "xbrl_lookup",
        "args": {"issuer": "BRAL", "concept": "net income", "period": "FY2024"},
        "id": "1",
        "type": "tool_call",
    }
    model = Script(replies=[AIMessage("", tool_calls=[call]), AIMessage("Net income was $150.9 million in 2024.")])
    result = answer_chain(model, RETRIEVER, store).invoke({"input": "What was Bralton's net income in 2024?"})
    assert result["answer"] == "Net income was $150.9 million in 2024."
    assert result["figures"]["figures"][0]["verdict"] == "fact"
    assert result["tool_calls"][0]["result"]["fact"]["value"] == "150900000"


def test_the_chain_sees_no_fact_beyond_its_point_in_time(store):
    model = Script(replies=[AIMessage("Net income was $150.9 million in 2024.")])
    chain = answer_chain(model, RETRIEVER, store, as_of="2024-12-31")
    assert chain.invoke({"input": "What was Bralton's net sales in 2024?"})["answer"] == NO_DISPONIBLE


def test_a_wrong_tool_call_comes_back_to_the_model(store):
    calls = [
        {
            "name": "xbrl_lookup",
            "args": {"issuer": "NONE", "concept": "x", "period": "FY2024"},
            "id": "1",
            "type": "tool_call",
        },
        {"name": "no_tool", "args": {}, "id": "2", "type": "tool_call"},
        {"name": "calculator", "args": {"wrong": 1}, "id": "3", "type": "tool_call"},
    ]
    model = Script(replies=[AIMessage("", tool_calls=calls), AIMessage(NO_DISPONIBLE)])
    result = answer_chain(model, RETRIEVER, store).invoke({"input": "What were Bralton's net sales in 2024?"})
    assert result["answer"] == NO_DISPONIBLE
    assert [one["ok"] for one in result["tool_calls"]] == [False] * 3
    assert [message.status for message in model.seen[1][-3:]] == ["error"] * 3


async def test_the_chain_runs_async():
    chain = answer_chain(FakeListChatModel(responses=["Net sales were $1,356.2 million in 2024 [1]."]), RETRIEVER)
    assert (await chain.ainvoke({"input": "What were Bralton's net sales in 2024?"}))["outcome"] == "passed"
