"""Several wordings of one question, results unlike each other, boilerplate of two years, another vector store."""

import tempfile
from pathlib import Path

from langchain_core.vectorstores import InMemoryVectorStore

from fin_rag import FilingIndex
from fin_rag.retrieval import MmrCompressor, ParaphraseRetriever, RepeatGrouper, assemble, fill_store

DATA = Path(__file__).resolve().parent / "data"
QUESTION = "What could go wrong with suppliers?"


def main() -> None:
    """Show what each part changes in the list of results."""
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add([DATA / "plwc-10k-2023.htm", DATA / "plwc-10k-2024.htm"])

        print("Repeats come after what is new, and are named:")
        grouped = assemble(index, k=6, parents=False, compressor=RepeatGrouper()).invoke(QUESTION)
        for found in grouped:
            again = f"  (same text in {len(found.metadata['same_text'])} more)" if "same_text" in found.metadata else ""
            print(f"   {found.metadata['fiscal_year']} {found.page_content[:60]!r}{again}")

        print("MMR over the fused pool:")
        diverse = assemble(index, k=4, parents=False, compressor=MmrCompressor(index=index, lambda_mult=0.5))
        for found in diverse.invoke(QUESTION):
            print(f"   {found.metadata['section_path']}")

        print("A chunk has the best score that any wording gives it:")
        wordings = ["dependence on single-source components", "supply chain interruptions"]
        asked = ParaphraseRetriever(retriever=assemble(index, k=8, parents=False), paraphrases=wordings, k=4)
        for found in asked.invoke(QUESTION):
            print(f"   {found.metadata['score']:.2f} as {found.metadata['query']!r}")

        print("Another vector store ranks; texts, metadata and scope come from the index:")
        store = InMemoryVectorStore(index.embeddings)
        fill_store(index, store)
        other = assemble(index, k=2, vector_store=store, filter={"fiscal_year": 2024})
        for found in other.invoke(QUESTION):
            print(f"   {found.metadata['title']}, {found.metadata['section_path']}")
        index.close()


if __name__ == "__main__":
    main()
