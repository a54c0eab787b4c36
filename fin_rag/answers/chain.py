"""``answer_chain``: retrieval, numbered citations, tools, figure check and abstention as one runnable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel, LanguageModelLike
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool, ToolException

from fin_rag.answers.abstain import Threshold, abstention_reason
from fin_rag.answers.guard import NO_DISPONIBLE, FigureGuard, Review, unavailable
from fin_rag.facts.tools import fact_tools
from fin_rag.facts.view import FactView
from fin_rag.schema import CONTEXT_HEADER, PAGE, TITLE

if TYPE_CHECKING:
    from fin_rag.facts.store import FactStore, PointInTime

SYSTEM: Final = (
    "You answer questions about financial documents from the numbered evidence only. Cite the evidence of every "
    "statement "
    "as [1]. Copy figures with their unit as the evidence gives them; name the period of each. Use the tools for "
    "reported "
    "figures, ratios and arithmetic; never compute in your head. If the evidence does not hold the answer, say "
    "exactly: {unavailable}. "
    "Answer in the language of the question."
)
_MOST_ROUNDS: Final = 6


def answer_chain(
    llm: LanguageModelLike,
    retriever: BaseRetriever | Runnable[Any, list[Document]],
    facts: FactStore | None = None,
    *,
    as_of: PointInTime = None,
    strict: bool = False,
    unavailable: str = NO_DISPONIBLE,
    review: Review | None = None,
    threshold: Threshold | None = None,
    system: str = SYSTEM,
) -> Runnable[dict[str, Any], dict[str, Any]]:
    """Make a chain that answers ``{"input": question}`` with cited evidence and proved figures.

    It is ``create_retrieval_chain`` with three things around the model: no call where the evidence is not about the
    company, period or line item asked; tools over the facts, if there are any and the model can call tools; and a
    ``FigureGuard`` behind it.

    Args:
        llm: a chat model (or any language model; without tool calls then).
        retriever: a retriever; one with an ``as_of`` of its own keeps the earlier of the two.
        facts: reported facts for the tools and the figure check.
        as_of: the point in time that text and facts are limited to.
        strict: let only verbatim figures pass.
        unavailable: the wording where there is no answer; ``{reason}`` in it is filled in.
        review: see ``FigureGuard``.
        threshold: least score of evidence; see ``fit_threshold``.
        system: instructions for the model; ``{unavailable}`` in them is filled in.

    Returns:
        A runnable; its result has ``input``, ``context`` (the documents), ``answer``, ``draft``, ``figures``,
        ``outcome``, ``citations``, ``tool_calls``, and ``reason`` where there is no answer.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> model = FakeListChatModel(responses=["Sales were $5 million [1].", "Sales were $6 million [1]."])
        >>> evidence = [Document(page_content="Sales were $5 million.", metadata={"score": 0.9, "spans": "0-22"})]
        >>> chain = answer_chain(model, RunnableLambda(lambda _: evidence))
        >>> chain.invoke({"input": "What were sales?"})["answer"]
        'Sales were $5 million [1].'
        >>> chain.invoke({"input": "What were sales?"})["answer"]
        'NO_DISPONIBLE'
    """
    from langchain_classic.chains import create_retrieval_chain

    tools = fact_tools(facts, as_of=as_of) if facts is not None else []
    writer = _Writer(
        llm,
        tools,
        system.replace("{unavailable}", unavailable.partition("{")[0].strip(" :") or NO_DISPONIBLE),
        unavailable,
        threshold,
    )
    known = FactView(facts, as_of) if facts is not None else None
    guard = FigureGuard(facts=known, strict=strict, unavailable=unavailable, review=review)
    chain = create_retrieval_chain(_limited(retriever, as_of), RunnableLambda(writer.write))
    finish: Runnable[dict[str, Any], dict[str, Any]] = RunnableLambda(_flatten)
    whole: Runnable[dict[str, Any], dict[str, Any]] = (chain | finish | guard).with_config(run_name="answer_chain")
    return whole


def _limited(retriever: Any, as_of: PointInTime) -> Any:  # noqa: ANN401  # passed through
    """Limit a retriever that knows points in time; its own earlier one stays."""
    if as_of is None or not hasattr(retriever, "as_of"):
        return retriever
    own = retriever.as_of
    day = str(as_of)[:10]
    earlier = day if own is None else min(str(own).replace("-", "")[:8], day.replace("-", ""))
    return retriever.model_copy(update={"as_of": earlier})


def _flatten(result: Mapping[str, Any]) -> dict[str, Any]:
    written = result["answer"]
    return {**result, **written} if isinstance(written, Mapping) else dict(result)


class _Writer:
    """Write an answer from numbered evidence, with tools where the model can call them."""

    def __init__(
        self, llm: LanguageModelLike, tools: Sequence[BaseTool], system: str, wording: str, threshold: Threshold | None
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._system = system
        self._wording = wording
        self._threshold = threshold
        self._model: Any = _with_tools(llm, tools)
        if self._model is None:
            self._model, self._tools = llm, {}

    def write(self, given: Mapping[str, Any], config: RunnableConfig) -> dict[str, Any]:
        question, documents = str(given["input"]), list(given["context"])
        reason = abstention_reason(question, documents, threshold=self._threshold)
        if reason and not self._tools:
            return {
                "answer": unavailable(self._wording, reason),
                "outcome": "replaced",
                "reason": reason,
                "citations": [],
                "tool_calls": [],
            }
        messages: list[BaseMessage] = [
            SystemMessage(self._system),
            HumanMessage(f"{numbered(documents)}\n\nQuestion: {question}"),
        ]
        text, calls = self._talk(messages, config)
        result: dict[str, Any] = {"answer": text, "citations": cited(text, documents), "tool_calls": calls}
        if text.strip() in (self._wording, NO_DISPONIBLE) or (reason and not any(call["ok"] for call in calls)):
            why = reason or "the model found no answer in the evidence"
            result |= {"answer": unavailable(self._wording, why), "outcome": "replaced", "reason": why}
        return result

    def _talk(self, messages: list[BaseMessage], config: RunnableConfig) -> tuple[str, list[dict[str, Any]]]:
        calls: list[dict[str, Any]] = []
        for _ in range(_MOST_ROUNDS):
            reply = self._model.invoke(messages, config)
            asked = reply.tool_calls if isinstance(reply, AIMessage) else []
            if not asked:
                return _text(reply), calls
            messages.append(reply)
            for call in asked:
                message, record = self._call(call, config)
                messages.append(message)
                calls.append(record)
        return "", calls

    def _call(self, call: Mapping[str, Any], config: RunnableConfig) -> tuple[ToolMessage, dict[str, Any]]:
        tool = self._tools.get(call["name"])
        record: dict[str, Any] = {"name": call["name"], "args": call["args"], "ok": False}
        if tool is None:
            text = f"There is no tool {call['name']!r}. Known: {', '.join(self._tools)}."
            return ToolMessage(text, tool_call_id=call["id"], status="error"), record
        try:
            message: ToolMessage = tool.invoke({**call, "type": "tool_call"}, config)
        except (ToolException, ValueError) as error:
            return ToolMessage(str(error), tool_call_id=call["id"], status="error"), record | {"error": str(error)}
        return message, record | {"ok": True, "result": message.artifact}


def _with_tools(llm: Any, tools: Sequence[BaseTool]) -> Any:  # noqa: ANN401  # any model
    """Return the model with tools, ``None`` if it cannot call any."""
    if not tools or not isinstance(llm, BaseChatModel):
        return None
    try:
        return llm.bind_tools(list(tools))
    except NotImplementedError:
        return None


def _text(reply: Any) -> str:  # noqa: ANN401  # a message or a text
    content = reply.content if isinstance(reply, BaseMessage) else reply
    if isinstance(content, list):
        return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in content)
    return str(content)


def numbered(documents: Sequence[Document]) -> str:
    """Write documents as numbered evidence, each with its header.

    Example:
        >>> print(numbered([Document(page_content="Sales: 5", metadata={"title": "10-K 2024"})]))
        [1] 10-K 2024
        Sales: 5
    """
    parts = []
    for number, one in enumerate(documents, 1):
        header = str(one.metadata.get(CONTEXT_HEADER) or one.metadata.get(TITLE) or "")
        page = f", page {one.metadata[PAGE]}" if PAGE in one.metadata else ""
        parts.append(f"[{number}] {header}{page}".rstrip() + f"\n{one.page_content}")
    return "\n\n".join(parts)


def cited(text: str, documents: Sequence[Document]) -> list[dict[str, object]]:
    """Return the documents that a text cites as ``[1]``, in order of their numbers."""
    found = []
    for number, one in enumerate(documents, 1):
        if f"[{number}]" in text:
            kept = {
                key: one.metadata[key]
                for key in ("doc_id", "title", "spans", "page", "section_path")
                if key in one.metadata
            }
            found.append({"number": number, **kept})
    return found
