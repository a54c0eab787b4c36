"""answer_chain: retrieval, a model's answer with citations, and a figure check that lets no wrong figure out.

A model with fixed answers stands in for yours, so that this runs offline: any LangChain chat model takes its place.
"""

import tempfile
from pathlib import Path

from langchain_core.language_models import FakeListChatModel

from fin_rag import FilingIndex
from fin_rag.answers import answer_chain

DATA = Path(__file__).resolve().parent / "data"
QUESTION = "Which net leverage ratio did Pellworth report at June 29, 2024?"
ANSWERS = [
    "At June 29, 2024 the net leverage ratio was 1.29 to 1.00 [4].",
    "At June 29, 2024 the net leverage ratio was 2.75 to 1.00 [4].",
]


def main() -> None:
    model = FakeListChatModel(responses=ANSWERS)
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add(DATA / "plwc-10k-2024.htm")
        chain = answer_chain(model, index.retriever(k=5), unavailable="NO_DISPONIBLE: {reason}")
        for draft in ANSWERS:
            result = chain.invoke({"input": QUESTION})
            print(f"draft:  {draft}\nanswer: {result['answer']}  ({result['outcome']})")
            for citation in result["citations"]:
                print(f"   [{citation['number']}] {citation.get('section_path', '')}")
        index.close()


if __name__ == "__main__":
    main()
