"""Compare chunks by turn with fixed windows on questions that ask who said what.

    python benchmarks/calls_retrieval.py           # a few seconds
    python benchmarks/calls_retrieval.py --json    # the figures instead of the table
    python benchmarks/calls_retrieval.py --lost    # and the questions that only one arm answers

The six calls under ``calls/`` were written for the project, each in another layout; so were the questions. Both arms
read the same texts, write context headers, and are ranked by the same two detectors (BM25 and the default embedder,
fused by reciprocal rank). They differ in where they cut: at turns, or after 512 tokens.

recall@N: the words that answer the question stand in the first chunks that fit into N tokens.
speaker@1: the first chunk names the right speaker. A turn says so in its metadata; a window is credited with
whoever says most of the words in it.
known@N: the answer was found within N tokens, and the chunk that holds it tells whose words they are: by its
metadata, or by a speaker line above them in the same window.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from langchain_core.documents import Document
from rank_bm25 import BM25Okapi

from fin_rag.index.embeddings import embed_unit, load_embeddings
from fin_rag.loaders import FinancialDocumentLoader
from fin_rag.retrieval.fusion import reciprocal_rank_fusion
from fin_rag.schema import parse_spans
from fin_rag.splitters import EarningsCallTextSplitter, FixedWindowTextSplitter, StructureTextSplitter
from fin_rag.structure.calls import Turn
from fin_rag.text.words import fold
from fin_rag.tokens import HEADER_SEPARATOR

CALLS: Final = Path(__file__).with_name("calls")
WINDOW: Final = 512  # tokens
BUDGETS: Final = (256, 512, 1024)
WEIGHTS: Final = {"bm25": 0.5, "dense": 0.5}


@dataclass(frozen=True, slots=True)
class Question:
    """Hold a question, the words that answer it, and who said them."""

    text: str
    source: str
    start: int
    end: int
    speaker: str


class Arm:
    """Rank the chunks of one way to cut, and tell whose words they hold."""

    def __init__(
        self, splitter: StructureTextSplitter, documents: Sequence[Document], turns: dict[str, list[Turn]]
    ) -> None:
        self.chunks = splitter.split_documents(documents)
        self._turns = turns
        texts = [f"{c.metadata['context_header']}{HEADER_SEPARATOR}{c.page_content}" for c in self.chunks]
        self._bm25 = BM25Okapi([fold(text).split() for text in texts])
        self._model = load_embeddings()
        self._vectors = embed_unit(self._model, texts)

    def ranked(self, question: str) -> list[Document]:
        """Return all chunks, best first."""
        lexical = self._bm25.get_scores(fold(question).split())
        dense = self._vectors @ np.asarray(self._model.embed_query(question), dtype=np.float32)
        runs = {
            name: [(int(i), float(scores[i])) for i in np.argsort(-scores, kind="stable")]
            for name, scores in (("bm25", lexical), ("dense", dense))
        }
        return [self.chunks[fused.row] for fused in reciprocal_rank_fusion(runs, WEIGHTS)]

    def speaker(self, chunk: Document) -> str:
        """Return whose words a chunk holds: the one it names, else whoever says most of it."""
        if "speaker" in chunk.metadata:
            return str(chunk.metadata["speaker"])
        said: Counter[str] = Counter()
        for turn in self._turns[_source(chunk)]:
            for span in turn.texts:
                for part in parse_spans(chunk.metadata["spans"]):
                    said[turn.speaker] += max(0, min(span.end, part.end) - max(span.start, part.start))
        return min(said, key=lambda name: (-said[name], name)) if said else ""

    def knows(self, chunk: Document, question: Question) -> bool:
        """Tell whether a chunk that holds the answer says whose words it is."""
        turn = next(t for t in self._turns[question.source] if t.span.start <= question.start < t.span.end)
        if chunk.metadata.get("turn_index") == turn.index:
            return chunk.metadata.get("speaker") == question.speaker
        return any(
            part.start <= turn.header.start and turn.header.end <= part.end and part.end >= question.end
            for part in parse_spans(chunk.metadata["spans"])
        )


def _source(chunk: Document) -> str:
    return Path(chunk.metadata["source"]).name


def holds(chunk: Document, question: Question) -> bool:
    """Tell whether a chunk has the words that answer a question."""
    return _source(chunk) == question.source and any(
        part.start <= question.start and question.end <= part.end for part in parse_spans(chunk.metadata["spans"])
    )


def load() -> tuple[list[Document], dict[str, list[Turn]], list[Question]]:
    """Load calls, their turns, and the questions with the place of each answer."""
    files = sorted(path for path in CALLS.iterdir() if path.suffix in (".txt", ".md"))
    documents = [FinancialDocumentLoader(path).load()[0] for path in files]
    outlines = {path.name: EarningsCallTextSplitter().outline(d) for path, d in zip(files, documents, strict=True)}
    texts = {path.name: d.page_content for path, d in zip(files, documents, strict=True)}
    questions = []
    for row in json.loads((CALLS / "questions.json").read_text(encoding="utf-8")):
        start = texts[row["source"]].index(row["quote"])
        questions.append(Question(row["question"], row["source"], start, start + len(row["quote"]), row["speaker"]))
    return documents, {name: list(outline.turns) for name, outline in outlines.items()}, questions


def measure(arm: Arm, questions: Sequence[Question]) -> dict[str, list[bool]]:
    """Return for each measure whether each question passes it."""
    found: dict[str, list[bool]] = {}
    for question in questions:
        ranked = arm.ranked(question.text)
        found.setdefault("speaker@1", []).append(arm.speaker(ranked[0]) == question.speaker)
        for budget in BUDGETS:
            taken, used = [], 0
            for chunk in ranked:
                used += chunk.metadata["token_count"]
                if used > budget:
                    break
                taken.append(chunk)
            holding = [chunk for chunk in taken if holds(chunk, question)]
            found.setdefault(f"recall@{budget}", []).append(bool(holding))
            found.setdefault(f"known@{budget}", []).append(any(arm.knows(chunk, question) for chunk in holding))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--lost", action="store_true", help="list the questions that only one arm answers")
    options = parser.parse_args()
    documents, turns, questions = load()
    arms = {
        f"windows of {WINDOW} tokens": Arm(FixedWindowTextSplitter(WINDOW), documents, turns),
        "turns": Arm(EarningsCallTextSplitter(WINDOW, min_turn_words=0), documents, turns),
        "turns, short ones left out": Arm(EarningsCallTextSplitter(WINDOW), documents, turns),
        "turns, answers joined": Arm(EarningsCallTextSplitter(WINDOW, join_exchanges=True), documents, turns),
    }
    results = {name: measure(arm, questions) for name, arm in arms.items()}
    shares = {n: {m: round(sum(v) / len(v), 3) for m, v in sorted(r.items())} for n, r in results.items()}
    if options.json:
        print(json.dumps({"questions": len(questions), "arms": shares}, indent=1))
        return
    measures = ["speaker@1", *(f"{m}@{b}" for b in BUDGETS for m in ("recall", "known"))]
    print(
        f"{len(questions)} questions, {len(documents)} calls\n\n{'':28}{'chunks':>8}"
        + "".join(f"{m:>13}" for m in measures)
    )
    for name, row in shares.items():
        print(f"{name:28}{len(arms[name].chunks):>8}" + "".join(f"{row[m]:>13.3f}" for m in measures))
    if options.lost:
        one, other = list(results)[:2]
        for measure_ in measures:
            for question, a, b in zip(questions, results[one][measure_], results[other][measure_], strict=True):
                if a != b:
                    print(f"{measure_:12} {'lost' if a else 'gained':7} {question.text}")


if __name__ == "__main__":
    main()
