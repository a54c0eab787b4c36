"""Your own terms: what a desk calls things leads to what the documents call them."""

import json
import tempfile
from pathlib import Path

from fin_rag import FilingIndex
from fin_rag.query import Lexicon

DATA = Path(__file__).resolve().parent / "data"
TERMS = [{"term": "covenants", "variants": ["the tripwires", "headroom"], "titles": ["Debt Covenants"]}]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lexicon.json"  # YAML works as well
        path.write_text(json.dumps(TERMS), encoding="utf-8")
        index = FilingIndex.open(Path(folder) / "index")
        index.add(DATA / "plwc-10k-2024.htm")
        question = "How close is Pellworth to the tripwires?"
        for name, lexicon in (("without", None), ("with", Lexicon.load(path))):
            retriever = index.retriever(k=1, lexicon=lexicon)
            (best,) = retriever.invoke(question)
            print(f"{name} the lexicon: {best.metadata['section_path']}")
            print("  topics:", [topic["topic"] for topic in retriever.explain(question)["plan"]["topics"]])
        index.close()


if __name__ == "__main__":
    main()
