"""Several wordings of one question, each chunk judged by the wording that it fits best."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.output_parsers import BaseOutputParser
from langchain_core.prompts import BasePromptTemplate, PromptTemplate
from langchain_core.retrievers import BaseRetriever, RetrieverLike
from langchain_core.runnables import Runnable, RunnableConfig
from pydantic import Field

from fin_rag.errors import InputError
from fin_rag.retrieval.scope import with_result
from fin_rag.schema import CHUNK_ID, FOUND_BY, RANK, REASON, SCORE
from fin_rag.text.words import fold

QUERY: Final = "query"
PROMPT: Final = PromptTemplate.from_template(
    "Write {n} other wordings of the question below, one a line, in its language. Use the words that a financial "
    "report would print. Keep names, dates and figures as they are. Write nothing else.\n\nQuestion: {question}"
)
_MARK: Final = re.compile(r"^(?:[-*•–—]\s+|\(?(?:\d{1,2}|[a-hA-H])[.):]\s*)")
_FENCE: Final = re.compile(r"^`{3,}\w*$")
_THOUGHT_END: Final = re.compile(r"</(?:think|thinking|reasoning)>")
_LONGEST: Final = 600  # code points of one wording


def parse_queries(text: str, *, question: str = "", limit: int | None = None) -> list[str]:
    r"""Read the list of questions that a model wrote, whatever it wrote around it.

    Numbered and bulleted lines count where there are any, so that greetings and headings do not; else every line
    that is no heading. A JSON list is read as one. Blank lines, doubles and the question itself are left out.

    Example:
        >>> parse_queries("Here are some:\n\n1. How did sales develop?\n\n2. \"Sales growth?\"\n")
        ['How did sales develop?', 'Sales growth?']
    """
    said = _THOUGHT_END.split(text)[-1].strip()  # what a model thought aloud comes before its answer
    listed = _json_list(said)
    if listed is None:
        lines = [line.strip() for line in said.splitlines()]
        lines = [line for line in lines if line and not _FENCE.match(line)]
        marked = [line for line in lines if _MARK.match(line)]
        listed = [_MARK.sub("", line) for line in marked] or [line for line in lines if not line.endswith(":")]
    found: dict[str, str] = {}
    for line in listed:
        query = line.strip().strip("\"'“”«»*_` ").strip()
        key = _folded(query)
        if query and key != _folded(question) and len(query) <= _LONGEST and any(char.isalnum() for char in query):
            found.setdefault(key, query)
    return list(found.values())[:limit]


class QueryListParser(BaseOutputParser[list[str]]):
    """Read a model's list of questions; put it after a model in LangChain's ``MultiQueryRetriever``.

    Example:
        ``MultiQueryRetriever(retriever=retriever, llm_chain=prompt | llm | QueryListParser(), include_original=True)``
    """

    def parse(self, text: str) -> list[str]:
        """Return the questions; see ``parse_queries``."""
        return parse_queries(text)


class ParaphraseRetriever(BaseRetriever):
    """Ask a retriever with several wordings; a chunk's score is the best that any of them gave it.

    The maximum, not the mean: a chunk that answers one wording well is evidence, however the others are worded. Chunks
    are told apart by id, never by text. Results say the wording that found them best in ``query``. Arguments of
    a call go to the retriever inside, with every wording.

    Attributes:
        retriever: the retriever that is asked.
        llm: a model that writes wordings; if it writes nothing of use, the question alone is asked.
        paraphrases: the wordings themselves, or a function of the question that gives them.
        n: how many wordings the model is asked for, and the most that are used.
        k: results returned; ``None`` for all.
        prompt: takes ``question`` and ``n``.

    Raises:
        ValidationError: if neither a model nor wordings are given.

    Example:
        ``ParaphraseRetriever(retriever=retriever, paraphrases=["How did revenue develop?"], k=5)``
    """

    retriever: RetrieverLike
    llm: Runnable[Any, Any] | None = None
    paraphrases: Sequence[str] | Callable[[str], Sequence[str]] | None = None
    n: int = Field(default=3, ge=1)
    k: int | None = Field(default=5, ge=1)
    prompt: BasePromptTemplate[Any] = PROMPT

    def model_post_init(self, context: Any, /) -> None:  # noqa: ANN401  # pydantic's signature
        """Refuse a retriever that would ask nothing more than the question."""
        super().model_post_init(context)
        if self.llm is None and self.paraphrases is None:
            raise InputError("ParaphraseRetriever needs a model ('llm') or wordings ('paraphrases').")

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        **kwargs: Any,  # noqa: ANN401  # arguments of the retriever inside
    ) -> list[Document]:
        config = RunnableConfig(callbacks=run_manager.get_child())
        written = self._chain().invoke({"question": query, "n": self.n}, config) if self._asks_model else ""
        runs = [(q, self.retriever.invoke(q, config, **kwargs)) for q in self._wordings(query, written)]
        return best_of(runs)[: k or self.k]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        **kwargs: Any,  # noqa: ANN401  # arguments of the retriever inside
    ) -> list[Document]:
        config = RunnableConfig(callbacks=run_manager.get_child())
        written = await self._chain().ainvoke({"question": query, "n": self.n}, config) if self._asks_model else ""
        wordings = self._wordings(query, written)
        found = await _gathered([self.retriever.ainvoke(q, config, **kwargs) for q in wordings])
        return best_of(list(zip(wordings, found, strict=True)))[: k or self.k]

    @property
    def _asks_model(self) -> bool:
        return self.llm is not None and self.paraphrases is None

    def _chain(self) -> Runnable[dict[str, Any], Any]:
        assert self.llm is not None  # noqa: S101  # the caller looked
        return self.prompt | self.llm

    def _wordings(self, question: str, written: Any) -> list[str]:  # noqa: ANN401  # str or message
        if self.paraphrases is None:
            text = written if isinstance(written, str) else str(getattr(written, "text", written))
            return [question, *parse_queries(text, question=question, limit=self.n)]
        given = self.paraphrases(question) if callable(self.paraphrases) else self.paraphrases
        unique = dict.fromkeys(q.strip() for q in given if q.strip() and _folded(q) != _folded(question))
        return [question, *list(unique)[: self.n]]


def best_of(runs: Sequence[tuple[str, Sequence[Document]]]) -> list[Document]:
    """Merge the results of several wordings: each chunk once, with its best score, best first.

    Ties keep the order of the wordings and of their results. Results without a ``score`` count 1/rank.
    """
    best: dict[str, tuple[float, str, Document]] = {}
    names: dict[str, set[str]] = {}
    for query, documents in runs:
        for rank, document in enumerate(documents, 1):
            key = str(document.metadata.get(CHUNK_ID) or document.id or (document.page_content, document.metadata))
            given = document.metadata.get(SCORE)
            score = float(given) if isinstance(given, int | float) else 1.0 / rank
            names.setdefault(key, set()).update(document.metadata.get(FOUND_BY) or ())
            if key not in best or score > best[key][0]:
                best[key] = (score, query, document)
    order = sorted(best, key=lambda key: -best[key][0])  # stable: ties keep the order of insertion
    return [_result(*best[key], rank, names[key]) for rank, key in enumerate(order, 1)]


def _result(score: float, query: str, document: Document, rank: int, names: set[str]) -> Document:
    reason = str(document.metadata.get(REASON) or "")
    added = {SCORE: score, RANK: rank, FOUND_BY: sorted(names), QUERY: query}
    added[REASON] = f"{reason}, best as {query!r}" if reason else f"best as {query!r}"
    return with_result(document, **added)


async def _gathered(calls: Sequence[Any]) -> list[list[Document]]:
    return list(await asyncio.gather(*calls))


def _json_list(text: str) -> list[str] | None:
    bare = text.removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not bare.startswith(("[", "{")):
        return None
    try:
        data = json.loads(bare)
    except json.JSONDecodeError:
        return None
    if isinstance(data, dict):
        data = next((value for value in data.values() if isinstance(value, list)), [])
    return [str(item) for item in data if isinstance(item, str)]


def _folded(text: str) -> str:
    return " ".join(fold(text).split()).rstrip("?!. ")
