"""What each part of a search is worth: both retrieval sets with one part switched off at a time.

    python benchmarks/ablation.py ../shared

Every index is built once; only the retriever changes. FinanceBench in the shared setting: page recall within 4,000 and
8,000 characters, and all gold pages within 8,000. Spanish corpora: recall@5, and within 1,300 characters with headers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import corpus_es
import financebench

from fin_rag.retrieval.search import PARTS

VARIANTS: dict[str, dict[str, object]] = {
    "as it comes": {},
    **{f"without {part}": {"without": (part,)} for part in PARTS},
    "dense .4, keyword .6": {"weights": (0.4, 0.6)},
    "no plan (rank fusion of dense and keyword)": {"plan": False},
}


def evaluator(folder: Path) -> ModuleType:
    """Import the evaluator that lies in a folder of shared data."""
    import importlib.util

    spec = importlib.util.spec_from_file_location(f"evaluate_{folder.name}", folder / "evaluate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def financebench_rows(folder: Path) -> Callable[[dict[str, object]], list[float]]:
    """Build the shared index and return a measurement by settings of the retriever."""
    bench = evaluator(folder)
    questions, docs = bench.load(bench.Source(str(folder)), str(folder))
    adapter = financebench.Packed(docs)

    def measure(settings: dict[str, object]) -> list[float]:
        adapter.retriever = adapter.index.retriever(**settings)
        packed = settings.get("plan", True)
        scores: dict[int, list[dict[str, float]]] = {4000: [], 8000: []}
        for question in questions:
            for budget, found in scores.items():
                text = question["question"]
                results = adapter.retrieve_budget(text, budget) if packed else adapter.retrieve(text, 40)
                found.append(bench.score(question, bench.pack(results, budget)))
        return [
            mean(s["page_recall"] for s in scores[4000]),
            mean(s["page_recall"] for s in scores[8000]),
            mean(s["page_all"] for s in scores[8000]),
        ]

    return measure


def corpus_rows(folder: Path, variant: str) -> Callable[[dict[str, object]], list[float]]:
    """Build the index of one Spanish corpus and return a measurement by settings of the retriever."""
    bench = evaluator(folder).Banco(variant)
    adapter = corpus_es.full(bench.docs())

    def measure(settings: dict[str, object]) -> list[float]:
        adapter.retriever = adapter.index.retriever(**settings)
        budget = 1300 if settings.get("plan", True) else None
        at5, within = [], []
        for question in bench.resp:
            at5.append(bench.puntua(question, adapter.retrieve(question.pregunta, 5))["recall"])
            kept, left = [], 1300
            for result in adapter.retrieve(question.pregunta, 40, budget=budget):
                left -= max(len(result["texto_indexado"]), sum(b - a for a, b in result["tramos"]))
                if left < 0:
                    break
                kept.append(result)
            within.append(bench.puntua(question, kept)["recall"])
        return [mean(at5), mean(within)]

    return measure


def mean(values: object) -> float:
    """Return the mean of numbers."""
    numbers = [float(value) for value in values]  # type: ignore[attr-defined]
    return sum(numbers) / len(numbers)


def main() -> None:
    data = Path(sys.argv[1]) / "data"
    measures = [
        financebench_rows(data / "financebench"),
        corpus_rows(data / "corpus_es", "plain"),
        corpus_rows(data / "corpus_es", "hard"),
    ]
    print("| variant | FB 4k | FB 8k | FB all 8k | plain @5 | plain @1300 | hard @5 | hard @1300 |")
    print("|---|---|---|---|---|---|---|---|")
    for name, settings in VARIANTS.items():
        figures = [figure for measure in measures for figure in measure(settings)]
        print(f"| {name} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |", flush=True)


if __name__ == "__main__":
    main()
