"""Recall and false alarms of the figure check over generated answers, by kind.

    python benchmarks/verification.py [--count 5000] [--wording a|b|c|d] [--shared ../shared] [--seed 7] [--show 20]

Half of the answers are true, half have one thing wrong (see ``tests/answer_generator.py``).
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

from fin_rag.answers.evidence import read_evidence
from fin_rag.answers.verify import Verifier
from tests.answer_generator import generate, sample_documents, statement_pages

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--wording", default="a", choices=("a", "b", "c", "d"))
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", type=int, default=0)
    options = parser.parse_args()
    documents = sample_documents(ROOT)
    if options.shared.is_dir():
        documents += statement_pages(options.shared)
    total, passed, shown, verdicts = Counter(), Counter(), Counter(), Counter()
    verifiers: dict[int, Verifier] = {}
    started = time.process_time()
    for case in generate(documents, options.count, seed=options.seed, wording=options.wording):
        key = id(case.evidence[0])
        if key not in verifiers:
            verifiers[key] = Verifier(read_evidence(case.evidence))
        report = verifiers[key].check(case.answer)
        good = report.ok and bool(report.figures)
        group = case.wrong or f"true:{case.notation}"
        total[group] += 1
        passed[group] += good
        for one in report.failed:
            verdicts[group, one.verdict] += 1
        if good == bool(case.wrong) and shown[group] < options.show:
            shown[group] += 1
            marks = [(one.text, one.verdict, one.reason, one.label) for one in report.figures]
            about = case.evidence[0].metadata
            print(f"[{group}] {case.answer}\n      {about.get('source', '')[-40:]} {about.get('page', '')} {marks}")
    seconds = time.process_time() - started
    wrong = [name for name in total if not name.startswith("true:")]
    right = [name for name in total if name.startswith("true:")]
    rows = {name: {"n": total[name], "caught": round(1 - passed[name] / total[name], 4)} for name in sorted(wrong)}
    rows |= {name: {"n": total[name], "alarms": round(1 - passed[name] / total[name], 4)} for name in sorted(right)}
    caught = 1 - sum(passed[name] for name in wrong) / max(1, sum(total[name] for name in wrong))
    alarms = 1 - sum(passed[name] for name in right) / max(1, sum(total[name] for name in right))
    print(
        json.dumps(
            {"recall": round(caught, 4), "false_alarms": round(alarms, 4), "cpu_s": round(seconds, 1), "kinds": rows},
            indent=1,
        )
    )
    for (group, verdict), count in sorted(verdicts.items()):
        print(f"   {group:16s} {verdict:16s} {count}")


if __name__ == "__main__":
    main()
