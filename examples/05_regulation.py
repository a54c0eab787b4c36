"""Regulation by provision: addresses, what a provision cites, and what cites it."""

import tempfile
from pathlib import Path

from fin_rag import FilingIndex, FinancialDocumentLoader, RegulationTextSplitter

ACT = Path(__file__).resolve().parent / "data" / "circular-7-2024.md"


def main() -> None:
    document = FinancialDocumentLoader(ACT).load()[0]
    # The text that an article refers to comes with it, as far as the budget allows.
    splitter = RegulationTextSplitter(384, expand_references="text")
    chunk = next(c for c in splitter.split_documents([document]) if c.metadata.get("references"))
    print(chunk.metadata["address"], "cites", chunk.metadata["references"], "- spans", chunk.metadata["spans"])

    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add(ACT)
        print(index.provision("art:2").page_content[:120], "…")
        for citation in index.references_of("art:2"):
            print(f"{citation.source} cites “{citation.text}”: {citation.targets or citation.act}")
        for citation in index.referenced_by("art:6"):
            print(f"art:6 is cited by {citation.source} as “{citation.text}”")
        (best,) = index.retriever(k=1).invoke("¿A qué entidades se aplica la circular?")
        print(best.metadata["address"], best.metadata["section_path"])
        index.close()


if __name__ == "__main__":
    main()
