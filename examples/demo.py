"""Ask five questions of the sample documents and print the evidence, with its citation.

Everything runs on this machine: the embedding model comes with the package, and no key is needed.
"""

import json
import shutil
from pathlib import Path

from fin_rag import FilingIndex
from fin_rag.cli.search import evidence

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / ".demo"


def main() -> None:
    """Ingest the samples and answer the questions that are marked for the demo."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    index = FilingIndex.open(FOLDER)
    print("Ingesting examples/data (invented companies) ...")
    report = index.add(HERE / "data")
    print(f"{report}\n")

    questions = json.loads((HERE / "questions.json").read_text("utf-8"))
    for entry in (q for q in questions if q.get("demo")):
        wanted = entry.get("filter")
        print(f"\n? {entry['question']}" + (f"   [{wanted}]" if wanted else ""))
        (best,) = index.retriever(k=1, filter=wanted).invoke(entry["question"])
        print(evidence(best, entry["question"]))
    index.close()
    print(f"The index stays in {FOLDER.name}/. Ask it yourself:")
    print(f'  .venv/bin/fin-rag search "What are the covenants of the credit facility?" --index {FOLDER.name}')


if __name__ == "__main__":
    main()
