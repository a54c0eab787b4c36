"""AnchorRetriever: evidence with roles and reasons, the audit record, its replay, and the lines that carried a hit.

Without a model the evidence decides and says so; give ``llm=`` any LangChain chat model to let it decide instead.
"""

import json
import tempfile
from pathlib import Path

from fin_rag import FilingIndex
from fin_rag.retrieval import AnchorRetriever, explain_lines, replay

DATA = Path(__file__).resolve().parent / "data"
QUESTION = "¿Cuál fue la cifra de negocios de Vientalba en 2024?"


def main() -> None:
    """Examine two questions, one of which has no answer in the documents."""
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add([DATA / "informe-anual-2024-vientalba.md", DATA / "plwc-call-2024q4.txt"])
        print(index.toc(str(index.documents({"lang": "es"})[0]["doc_id"]))[["level", "title", "start"]].head(6))

        retriever = AnchorRetriever(index=index, k=3)
        examined = retriever.examine(QUESTION)
        for found in examined.documents:
            print(f"{found.metadata['role']}: {found.metadata['section_path']}\n   {found.metadata['reason']}")

        told = explain_lines(index, QUESTION, examined.documents[0])
        print(f"\nBest line {told.maximum:.2f}, density {told.density:.2f}:")
        print(told.text_map(80))

        record = json.loads(json.dumps(examined.record, ensure_ascii=False))
        decision = record["decision"]
        print(f"\nDecided by: {decision['arbiter']} ({decision['reason']})")
        print("Replay:", replay(record, index).differences or "the same decision")

        absent = retriever.examine("What were the net sales of Microsoft in 2023?")
        print("Found:", absent.found, absent.record["plan"]["selection"]["reasons"])
        index.close()


if __name__ == "__main__":
    main()
