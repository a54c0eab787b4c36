"""The parts of one index folder, and the model that goes with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from langchain_core.embeddings import Embeddings

from fin_rag.errors import InputError, IntegrityError
from fin_rag.index.catalogue import Catalogue
from fin_rag.index.embeddings import (
    DEFAULT_MODEL,
    PROBE,
    embed_unit,
    embedding_name,
    load_embeddings,
    tokenization_of,
    unit,
)
from fin_rag.index.generations import Generations
from fin_rag.index.keywords import KeywordIndex
from fin_rag.index.vectors import VectorStore
from fin_rag.splitters.config import ChunkingConfig
from fin_rag.tokens import Tokenization, load_tokenization

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DEFAULT_CONFIG = ChunkingConfig(max_tokens=384, overlap_tokens=0)
_SAME_MODEL_COSINE = 0.999


class PartFolders:
    """Say where the parts lie that can be made again; the catalogue's settings name the folders in use."""

    def __init__(self, root: Path, catalogue: Catalogue) -> None:
        def generations(name: str) -> Generations:
            setting = f"{name}_folder"
            return Generations(root, name, partial(catalogue.setting, setting), partial(catalogue.set_setting, setting))

        self.keywords = generations("keywords")
        self.chroma = generations("chroma")


class Parts:
    """Hold what an index consists of: catalogue, vectors, keywords, model and budget.

    The model is loaded when it is first needed, and then compared with the one that the index was made
    with.
    """

    def __init__(
        self,
        folder: Path,
        catalogue: Catalogue,
        keywords: KeywordIndex,
        folders: PartFolders,
        *,
        embeddings: Embeddings | None,
        tokenization: Tokenization | None,
        config: ChunkingConfig | None,
    ) -> None:
        self.folder = folder
        self.catalogue = catalogue
        self.keywords = keywords
        self.folders = folders
        self._embeddings = embeddings
        self._tokenization = tokenization
        self._model_checked = False
        self.config = self._agreed_config(config)
        self._refuse_other_name(embeddings)

    def close(self) -> None:
        """Close the files."""
        if "vectors" in self.__dict__:
            self.vectors.close()
        self.catalogue.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let this thread read one state of catalogue and keywords until the end, whatever is written meanwhile."""
        outermost = not self.catalogue.connection.in_snapshot
        try:
            with self.catalogue.snapshot(self.keywords.pin):
                yield
        finally:
            if outermost:
                self.keywords.unpin()

    @property
    def embeddings(self) -> Embeddings:
        """Return the embedding model.

        Raises:
            IntegrityError: if the index was made with a model that has to be given.
        """
        if self._embeddings is None:
            name = self.catalogue.setting("embedding_name") or DEFAULT_MODEL
            try:
                self._embeddings = load_embeddings(name)
            except InputError as error:
                raise IntegrityError(
                    f"The index {str(self.folder)!r} was made with the embedding model {name!r}. "
                    "Give it as 'embeddings' when opening."
                ) from error
        return self._embeddings

    @cached_property
    def tokenization(self) -> Tokenization:
        """Return the tokenization that counts budgets and prepares texts."""
        if self._tokenization is not None:
            return self._tokenization
        stored = self.catalogue.setting("tokenization")
        if stored is None or self._embeddings is not None:
            return tokenization_of(self.embeddings)
        return load_tokenization(stored)

    @cached_property
    def vectors(self) -> VectorStore:
        """Return the vector side; its dimension is known once the model has been used.

        Raises:
            IntegrityError: if nothing was ever added.
        """
        dimension = self.catalogue.setting("dimension")
        if dimension is None:
            raise IntegrityError(f"The index {str(self.folder)!r} is empty. Add documents first.")
        return VectorStore(self.folder, int(dimension), self.catalogue, self.folders.chroma)

    @property
    def has_vectors(self) -> bool:
        """Tell whether a model was ever used."""
        return self.catalogue.setting("dimension") is not None

    def embed(self, prepared: Sequence[str]) -> NDArray[np.float32]:
        """Embed prepared texts as unit vectors."""
        self.check_model()
        return embed_unit(self.embeddings, prepared)

    def embed_question(self, question: str) -> NDArray[np.float32]:
        """Embed a question as a unit vector."""
        self.check_model()
        vector = self.embeddings.embed_query(self.tokenization.prepare_query(question))
        return unit(np.asarray(vector, dtype=np.float32))

    def check_model(self) -> None:
        """Compare the model with the one that the index was made with, by a vector kept from then."""
        if self._model_checked:
            return
        vector = embed_unit(self.embeddings, [self.tokenization.prepare(PROBE)])[0]
        name = embedding_name(self.embeddings)
        agreed = self.catalogue.agree(
            {
                "probe": json.dumps([float(x) for x in vector]),
                "embedding_name": name,
                "tokenization": self.tokenization.name,
                "dimension": str(len(vector)),
            }
        )
        kept = np.asarray(json.loads(agreed["probe"]), dtype=np.float32)
        if kept.shape != vector.shape or float(kept @ vector) < _SAME_MODEL_COSINE:
            raise IntegrityError(
                f"The index {str(self.folder)!r} was made with another embedding model: "
                f"{agreed['embedding_name']!r} with {len(kept)} dimensions. Got {name!r} with {len(vector)}. "
                "Open it with the same model, or ingest into a new folder."
            )
        self._model_checked = True

    def _agreed_config(self, given: ChunkingConfig | None) -> ChunkingConfig:
        stored = self.catalogue.setting("config")
        if stored is None:
            stored = self.catalogue.agree({"config": json.dumps(asdict(given or DEFAULT_CONFIG))})["config"]
        made_with = ChunkingConfig.from_settings(json.loads(stored))
        if given is not None and given != made_with:
            raise InputError(
                f"The index {str(self.folder)!r} was made with {made_with}. Got {given}. Ingest into a new folder."
            )
        return made_with

    def _refuse_other_name(self, given: Embeddings | None) -> None:
        """Refuse a model of another name; vectors are compared at first use."""
        stored = self.catalogue.setting("embedding_name")
        if given is not None and stored is not None and embedding_name(given) != stored:
            raise IntegrityError(
                f"The index {str(self.folder)!r} was made with the embedding model {stored!r}. "
                f"Got {embedding_name(given)!r}. Open it with the same model, or ingest into a new folder."
            )
