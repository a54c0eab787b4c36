"""FilingIndex: files in, cited evidence out. The same question once with a filter and once without."""

import tempfile
from pathlib import Path

from fin_rag import FilingIndex

DATA = Path(__file__).resolve().parent / "data"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        print(index.add([DATA / "plwc-10k-2023.htm", DATA / "plwc-10k-2024.htm"]))
        for wanted in (None, {"fiscal_year": 2023}):
            (best,) = index.retriever(k=1, filter=wanted).invoke("What drove Pellworth's gross margin?")
            metadata = best.metadata
            print(f"\nfilter {wanted}: {metadata['context_header']}, p. {metadata.get('page')}")
            print(f"  characters {metadata['spans']}, because {metadata['reason']}")
            print(f"  {best.page_content[:160]} …")

        # Evidence under a budget, and how the question was read.
        retriever = index.retriever()
        question = "What was Pellworth's net revenue in fiscal 2024?"
        packed = retriever.retrieve(question, max_tokens=1000)
        print(f"\n{len(packed)} pieces within 1000 tokens; read as:")
        print(*(f"  {reason}" for reason in retriever.explain(question)["reasons"]), sep="\n")
        index.close()


if __name__ == "__main__":
    main()
