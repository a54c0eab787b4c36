"""Evaluation: recall by offsets at equal context, with a gate and a report."""

import tempfile
from pathlib import Path

from fin_rag import FilingIndex
from fin_rag.evaluation import Corpus, Gate, GoldenSet, Report, diagnose, evaluate_retrieval

HERE = Path(__file__).resolve().parent
RULES = '{"rules": [{"measure": "recall", "cutoff": "@5", "at_least": 0.5}]}'


def main() -> None:
    golden = GoldenSet.load(HERE / "golden.jsonl")
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(Path(folder) / "index")
        index.add(HERE / "data")
        report = evaluate_retrieval(golden, index.retriever(), name="fin_rag", ks=(1, 5), characters=(2000,), tokens=())
        for cutoff in report.cutoffs:
            print(f"recall {cutoff.name}: {report.mean('recall', cutoff.name)}")
        rules = Path(folder) / "gate.json"
        rules.write_text(RULES, encoding="utf-8")
        diagnosis = diagnose(report, None, cutoff="@5")
        verdict = Gate.load(rules).check(retrieval=report, diagnosis=diagnosis)
        print(verdict.table().text())
        page = Report(retrieval=(report,), diagnosis=diagnosis, gate=verdict).html(Corpus.from_index(index))
        print(f"report: one page of {len(page) // 1024} kB that opens offline")
        index.close()


if __name__ == "__main__":
    main()
