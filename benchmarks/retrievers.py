"""The retrievers side by side, on the Spanish corpora and on FinanceBench, at equal context.

    python benchmarks/retrievers.py --shared ../shared --cache .bench [--only es] [--names "assembly;anchors"]

One index a corpus serves all of them. ``only NAME`` and ``without NAME`` run the anchors with one detector alone,
or with all but one. Recall within N characters is that of the longest prefix of the results that fits.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from fin_rag import ChunkingConfig, FilingIndex
from fin_rag.retrieval import AnchorRetriever, BlendReranker, FinancialRetriever, MmrCompressor, assemble
from fin_rag.retrieval.anchors.model import DETECTORS
from fin_rag.schema import parse_spans

K = 40
KINDS = {"informe_anual": "annual_report", "folleto": "prospectus", "kid": "kid", "research": "research"}
Make = Callable[..., BaseRetriever]


def retrievers() -> dict[str, Make]:
    """Return how each retriever is made of an index and a filter."""
    made: dict[str, Make] = {
        "assembly": lambda index, **scope: assemble(index, k=K, fetch_k=60, parents=False, **scope),
        "assembly, parents": lambda index, **scope: assemble(index, k=K, fetch_k=60, max_chars=1800, **scope),
        "assembly + blend": lambda index, **scope: assemble(
            index, k=K, fetch_k=60, parents=False, compressor=BlendReranker(), **scope
        ),
        "assembly + MMR": lambda index, **scope: assemble(
            index, k=K, fetch_k=60, parents=False, compressor=MmrCompressor(index=index), **scope
        ),
        "financial": lambda index, **scope: FinancialRetriever(index=index, k=K, **scope),
        "anchors": lambda index, **scope: AnchorRetriever(index=index, k=K, **scope),
        "anchors, 1,800": lambda index, **scope: AnchorRetriever(index=index, k=K, max_chars=1800, **scope),
        "anchors, not derived": lambda index, **scope: AnchorRetriever(index=index, k=K, derive=False, **scope),
    }
    for name in DETECTORS:
        made[f"only {name}"] = lambda index, name=name, **scope: AnchorRetriever(
            index=index, k=K, detectors=[name], **scope
        )
        made[f"without {name}"] = lambda index, name=name, **scope: AnchorRetriever(
            index=index, k=K, detectors=[one for one in DETECTORS if one != name], **scope
        )
    return made


class Asked:
    """Ask a retriever each question once, and keep the time that it took."""

    def __init__(self, retriever: BaseRetriever) -> None:
        self._retriever = retriever
        self._known: dict[str, list[Document]] = {}
        self.seconds: list[float] = []

    def __call__(self, question: str) -> list[Document]:
        """Return the results."""
        if question not in self._known:
            start = time.perf_counter()
            self._known[question] = self._retriever.invoke(question)
            self.seconds.append(time.perf_counter() - start)
        return self._known[question]

    @property
    def median_ms(self) -> float:
        """Return the median of the times, in milliseconds."""
        return sorted(self.seconds)[len(self.seconds) // 2] * 1000 if self.seconds else 0.0


def evaluator(path: Path) -> ModuleType:
    """Load an evaluator from its file."""
    spec = importlib.util.spec_from_file_location(f"evaluator_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


# --- the Spanish corpora --------------------------------------------------------------------------------


class Spanish:
    """Give results in the form of the Spanish evaluator."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked

    def retrieve(self, question: str, k: int) -> list[dict[str, object]]:
        """Return the ``k`` best results."""
        return [
            {
                "id_doc": found.metadata["doc_id"],
                "tramos": [(span.start, span.end) for span in parse_spans(found.metadata["spans"])],
                "texto_indexado": f"{found.metadata.get('context_header', '')}\n\n{found.page_content}",
            }
            for found in self.asked(question)[:k]
        ]


def spanish_index(docs: Sequence[tuple[str, str, str, str, dict[str, Any]]], cache: Path, variant: str) -> FilingIndex:
    """Index one of the Spanish corpora."""
    index = FilingIndex.open(cache / f"es-{variant}", config=ChunkingConfig(max_tokens=256, overlap_tokens=0))
    index.add(
        [
            Document(
                text,
                metadata={
                    "doc_id": doc_id, "source": doc_id, "title": title, "doc_type": KINDS.get(kind, "report"),
                    "issuer": str(meta["emisor"]), "fiscal_year": int(meta["ejercicio"]), "filed": str(meta["fecha"]),
                },
            )
            for doc_id, title, kind, text, meta in docs
        ]
    )  # fmt: skip
    return index


def run_spanish(shared: Path, cache: Path, names: Sequence[str]) -> None:
    """Print the figures of the Spanish corpora."""
    module = evaluator(shared / "data" / "corpus_es" / "evaluate.py")
    for variant in ("plain", "hard"):
        bank = module.Banco(variant)
        index = spanish_index(bank.docs(), cache, variant)
        print(f"\n### Spanish corpus, {variant}: {len(bank.resp)} questions, {index.chunk_count} chunks\n")
        print(
            "| retriever | recall@3 | recall@5 | within 1,300 | within 2,000 | median ms |\n|---|--:|--:|--:|--:|--:|"
        )
        for name in names:
            asked = Asked(retrievers()[name](index))
            result = bank.mide(lambda _, asked=asked: Spanish(asked))
            figures = [result[column].mean() for column in ("recall@3", "recall@5", "b1300", "b2000")]
            cells = " | ".join(f"{figure:.3f}" for figure in figures)
            print(f"| {name} | {cells} | {asked.median_ms:.0f} |", flush=True)
        index.close()


# --- FinanceBench -----------------------------------------------------------------------------------------


def pages(found: Sequence[Document]) -> list[dict[str, object]]:
    """Return results in the form of FinanceBench's evaluator, pages from 0."""
    return [
        {
            "doc_name": Path(document.metadata["source"]).stem,
            "page": document.metadata["page"] - 1,
            "page_end": document.metadata.get("page_end", document.metadata["page"]) - 1,
            "text": document.page_content,
        }
        for document in found
        if "page" in document.metadata
    ]


def run_financebench(shared: Path, cache: Path, names: Sequence[str]) -> None:
    """Print the figures of FinanceBench: all documents in one index, and the right document given."""
    module = evaluator(shared / "data" / "financebench" / "evaluate.py")
    with tempfile.TemporaryDirectory() as copies:
        questions, documents = module.load(module.Source(str(shared / "data" / "financebench")), copies)
        index = FilingIndex.open(cache / "financebench")
        if len(index) < len(documents):
            index.add([path for _, path in documents], progress=lambda step: print(step.done, step.source, flush=True))
    source = {Path(str(one["source"])).stem: str(one["doc_id"]) for one in index.documents()}
    for setting in ("shared", "single"):
        print(f"\n### FinanceBench, {setting}: {len(questions)} questions, {index.chunk_count} chunks\n")
        print("| retriever | page R@4k | page R@8k | all pages@8k | text R@8k | document@5 | median ms |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for name in names:
            make = retrievers()[name]
            asked = {"": Asked(make(index))} if setting == "shared" else {}

            def retrieve(
                question: dict[str, Any], _: int, asked: dict[str, Asked] = asked, make: Make = make
            ) -> object:
                scope = "" if "" in asked else source[question["doc_name"]]
                if scope not in asked:
                    asked[scope] = Asked(make(index, filter={"doc_id": scope}))
                return pages(asked[scope](question["question"]))

            records = module.evaluate(questions, retrieve, None, K)

            def mean(metric: str, point: str, records: Sequence[dict[str, Any]] = records) -> float:
                return sum(record["at"][point][metric] for record in records) / len(records)

            figures = [
                mean("page_recall", "@4k"), mean("page_recall", "@8k"), mean("page_all", "@8k"),
                mean("text_recall", "@8k"), mean("doc_hit", "@5"),
            ]  # fmt: skip
            times = sorted(second for one in asked.values() for second in one.seconds)
            cells = " | ".join(f"{figure:.3f}" for figure in figures)
            print(f"| {name} | {cells} | {times[len(times) // 2] * 1000:.0f} |", flush=True)
    index.close()


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "fin-rag-bench")
    parser.add_argument("--only", choices=("es", "fb"))
    parser.add_argument("--names", help="names of retrievers, by semicolon; all by default")
    given = parser.parse_args()
    if not (given.shared / "data").is_dir():
        print(f"The shared documents ({given.shared}) are not on this machine; nothing to measure.")
        return
    names = [name.strip() for name in given.names.split(";")] if given.names else list(retrievers())
    given.cache.mkdir(parents=True, exist_ok=True)
    if given.only in (None, "es"):
        run_spanish(given.shared, given.cache, names)
    if given.only in (None, "fb"):
        run_financebench(given.shared, given.cache, names)


if __name__ == "__main__":
    main()
