"""Earnings calls by turn: who said what, and what was answered to whom."""

import tempfile
from pathlib import Path

from fin_rag import EarningsCallTextSplitter, FilingIndex, FinancialDocumentLoader

CALL = Path(__file__).resolve().parent / "data" / "plwc-call-2024q4.txt"


def main() -> None:
    document = FinancialDocumentLoader(CALL).load()[0]
    outline = EarningsCallTextSplitter(384).outline(document)
    for turn in outline.turns[:8]:
        said = " ".join(turn.text(document.page_content).split())
        print(f"{turn.section:8} {turn.speaker_type:8} {turn.speaker:20} {said[:50]} …")

    # One chunk an exchange: the question together with its answers.
    joined = EarningsCallTextSplitter(512, join_exchanges=True).split_documents([document])
    print(sum(chunk.metadata.get("exchange_part") == "question" for chunk in joined), "questions with their answers")

    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add(CALL)
        only = {"section": "qa", "speaker_type": "company"}
        for found in index.retriever(k=2, filter=only).invoke("How much further can the software margin go?"):
            print(f"{found.metadata['speaker']} ({found.metadata['role']}): {found.page_content[:90]!r}")
        index.close()


if __name__ == "__main__":
    main()
