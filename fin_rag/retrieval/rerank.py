"""Rerankers as LangChain compressors: they order what was found, and lose nothing on the way.

Each adds ``rerank_score`` to copies of the Documents and touches no other metadata; ``score`` and ``rank`` still say
how a result was found. They are off unless asked for: see the benchmark of the retrievers for what they are worth.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.callbacks import Callbacks
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.embeddings import Embeddings
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, field_validator

from fin_rag.errors import InputError, IntegrityError, MissingDependencyError
from fin_rag.index.embeddings import embed_unit, load_embeddings
from fin_rag.retrieval.lexical import pool_scores
from fin_rag.retrieval.scope import with_result
from fin_rag.schema import CONTEXT_HEADER, SCORE

RERANK_SCORE: Final = "rerank_score"


class Reranker(BaseDocumentCompressor):
    """Order Documents by a score of their text for the question; base of the rerankers here.

    The text that is scored is context header and body. Ties keep the order in which the Documents came.

    Attributes:
        top_n: how many to return; ``None`` for all.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    top_n: int | None = Field(default=None, ge=1)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,
        callbacks: Callbacks | None = None,  # noqa: ARG002  # part of LangChain's signature
    ) -> list[Document]:
        """Return copies, best first, with ``rerank_score``; a Document that got no score comes last."""
        if not documents:
            return []
        scores = self.score(query, documents)
        if len(scores) != len(documents):
            raise IntegrityError(f"{type(self).__name__} gave {len(scores)} scores for {len(documents)} texts.")
        order = sorted(range(len(documents)), key=lambda i: (_descending(scores[i]), i))
        return [_scored(documents[i], scores[i]) for i in order[: self.top_n]]

    @abstractmethod
    def score(self, query: str, documents: Sequence[Document]) -> Sequence[float | None]:
        """Return one score a Document, higher is better; ``None`` where there is none."""


class BlendReranker(Reranker):
    """Blend likeness in meaning, shared words and the order found; local, deterministic, no network.

    Each of the three is scaled to [0, 1] over the Documents at hand, so that none rules by its range.

    Attributes:
        embeddings: a model's name (see ``load_embeddings``) or any LangChain ``Embeddings``; one that the index does
            not use adds a second opinion.
        weights: of meaning, of words, and of the score that the Documents came with.

    Example:
        >>> found = [Document("Dividends were paid."), Document("Net debt fell to 40 million.")]
        >>> BlendReranker(weights=(0, 1, 0)).compress_documents(found, "net debt")[0].page_content
        'Net debt fell to 40 million.'
    """

    embeddings: str | Embeddings = "use-multilingual-v3"
    weights: tuple[float, float, float] = (0.6, 0.2, 0.2)

    _model: Embeddings | None = PrivateAttr(default=None)

    @field_validator("weights")
    @classmethod
    def _sensible(cls, value: tuple[float, float, float]) -> tuple[float, float, float]:
        if min(value) < 0 or not any(value):
            raise ValueError("weights must not be negative, and one must be above 0")
        return value

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return the blended scores, each in [0, 1]."""
        texts = [text_of(document) for document in documents]
        meaning, words, prior = self.weights
        total = [0.0] * len(texts)
        parts: list[tuple[float, Sequence[float]]] = []
        if meaning:
            parts.append((meaning, self._likeness(query, texts)))
        if words:
            parts.append((words, pool_scores(query, texts)))
        if prior:
            parts.append((prior, _prior(documents)))
        for weight, values in parts:
            low, high = min(values), max(values)
            for i, value in enumerate(values):
                total[i] += weight * ((value - low) / (high - low) if high > low else 0.0)
        return [value / sum(self.weights) for value in total]

    def _likeness(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._model is None:
            self._model = load_embeddings(self.embeddings)
        vectors = embed_unit(self._model, texts)
        question = embed_unit(_Question(self._model), [query])[0]
        return [float(value) for value in vectors @ question]


class CrossEncoderReranker(Reranker):
    """Score question and text together with a cross-encoder.

    Attributes:
        model: name or folder of a sentence-transformers cross-encoder, loaded when it is first used; or any LangChain
            ``BaseCrossEncoder``.
        batch_size: pairs scored at once.

    Raises:
        MissingDependencyError: if a name is given and sentence-transformers is not installed.

    Example:
        ``assemble(index, compressor=CrossEncoderReranker(model="models/ms-marco-minilm"))``
    """

    model: str | BaseCrossEncoder
    batch_size: int = Field(default=32, ge=1)

    _loaded: BaseCrossEncoder | None = PrivateAttr(default=None)

    def score(self, query: str, documents: Sequence[Document]) -> list[float]:
        """Return the scores of the model, on its own scale."""
        if self._loaded is None:
            self._loaded = (
                self.model
                if isinstance(self.model, BaseCrossEncoder)
                else _SentenceCrossEncoder(self.model, self.batch_size)
            )
        scores = self._loaded.score([(query, text_of(document)) for document in documents])
        return [float(score) for score in scores]


class CohereReranker(Reranker):
    """Rerank with Cohere's service through ``langchain-cohere``, which is loaded when it is first used.

    This reaches the network and sends question and texts to the service. Texts that the service returns no score for
    come last, in the order found. What the service refuses (key, quota) is raised as ``cohere`` raises it.

    Attributes:
        model: the service's name of the model.
        api_key: the key; without it ``langchain-cohere`` looks where it always does.
        base_url: another address of the service.
        max_tokens_per_doc: the service cuts longer texts.

    Raises:
        MissingDependencyError: if ``langchain-cohere`` is not installed.
        InputError: if there is no key.

    Example:
        ``assemble(index, compressor=CohereReranker(model="rerank-v3.5", api_key=key, top_n=10))``
    """

    model: str
    api_key: SecretStr | None = None
    base_url: str | None = None
    max_tokens_per_doc: int | None = Field(default=None, ge=1)

    _client: Any = PrivateAttr(default=None)

    def score(self, query: str, documents: Sequence[Document]) -> list[float | None]:
        """Return the service's relevance of each Document, in [0, 1]."""
        if self._client is None:
            self._client = self._connected()
        texts = [text_of(document) for document in documents]
        results = self._client.rerank(texts, query, top_n=None, max_tokens_per_doc=self.max_tokens_per_doc)
        scores: list[float | None] = [None] * len(texts)
        for result in results:
            index = int(result["index"])
            if not 0 <= index < len(texts):
                raise IntegrityError(f"The rerank service scored text {index}, but got {len(texts)} texts.")
            scores[index] = float(result["relevance_score"])
        return scores

    def _connected(self) -> Any:  # noqa: ANN401  # the package may not be installed
        try:
            from cohere.core import ApiError
            from langchain_cohere import CohereRerank
        except ImportError as error:
            raise MissingDependencyError(
                "langchain-cohere is not installed. Install it with: pip install 'fin-rag[cohere]'"
            ) from error
        given: dict[str, Any] = {"model": self.model, "base_url": self.base_url, "top_n": None}
        if self.api_key is not None:
            given["cohere_api_key"] = self.api_key
        try:
            return CohereRerank(**given)
        except ApiError as error:
            raise InputError("CohereReranker needs a key. Give it as 'api_key'.") from error


def text_of(document: Document) -> str:
    """Return context header and body of a chunk: what rerankers read."""
    header = str(document.metadata.get(CONTEXT_HEADER, ""))
    return f"{header}\n\n{document.page_content}" if header else document.page_content


class _SentenceCrossEncoder(BaseCrossEncoder):
    """Wrap a cross-encoder of sentence-transformers."""

    def __init__(self, name_or_folder: str, batch_size: int) -> None:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingDependencyError(
                "sentence-transformers is not installed. Install it with: pip install 'fin-rag[st]'"
            ) from error
        self._model = CrossEncoder(name_or_folder)
        self._batch_size = batch_size

    def score(self, text_pairs: list[tuple[str, str]]) -> list[float]:
        scores = self._model.predict(text_pairs, batch_size=self._batch_size, show_progress_bar=False)
        return [float(score) for score in scores]


class _Question(Embeddings):
    """Embed as questions are embedded."""

    def __init__(self, model: Embeddings) -> None:
        self._model = model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self._model.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._model.embed_query(text)


def _prior(documents: Sequence[Document]) -> list[float]:
    scores = [document.metadata.get(SCORE) for document in documents]
    if all(isinstance(score, int | float) for score in scores):
        return [float(score) for score in scores if score is not None]
    return [1.0 / (1 + position) for position in range(len(documents))]


def _descending(score: float | None) -> float:
    return float("inf") if score is None else -score


def _scored(document: Document, score: float | None) -> Document:
    return with_result(document) if score is None else with_result(document, **{RERANK_SCORE: round(score, 6)})
