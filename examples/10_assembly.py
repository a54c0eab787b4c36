"""The assembly out of LangChain's own classes: filter, hybrid, rerank, parents, chain with citations.

Runs offline; the chat model is a stand-in that has its answer ready. Put any LangChain chat model in its place.
"""

import tempfile
from pathlib import Path

from langchain_core.language_models import FakeListChatModel

from fin_rag import FilingIndex
from fin_rag.retrieval import BlendReranker, assemble, retrieval_chain

DATA = Path(__file__).resolve().parent / "data"
QUESTION = "Which covenants does the credit facility have?"


def main() -> None:
    """Ask a chain, and follow each number of its answer to the text."""
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        # As-of retrieval needs the day of filing; a submission of the SEC holds it, a bare page does not.
        index.add(DATA / "plwc-10k-2023.htm", filed=20230824)
        index.add(DATA / "plwc-10k-2024.htm", filed=20240822)

        # Ensemble of Chroma and keywords (.6/.4 by chunk id), reranked, then the sections around the chunks.
        retriever = assemble(
            index,
            k=3,
            filter={"ticker": "PLWC"},
            as_of="2024-12-31",
            compressor=BlendReranker(top_n=10),
            max_chars=1500,
        )
        for found in retriever.invoke(QUESTION):
            print(f"{found.metadata['rank']}. {found.metadata['title']}, {found.metadata['section_path']}")
            print(f"   {found.metadata['reason']}; rerank score {found.metadata['rerank_score']:.2f}")

        # A scope holds in every branch, and a call can only narrow it.
        earlier = retriever.invoke(QUESTION, as_of="2023-12-31")
        print("Known by the end of 2023:", {found.metadata["fiscal_year"] for found in earlier})

        model = FakeListChatModel(responses=["The leverage ratio is limited [1]. So is the coverage of interest."])
        answer = retrieval_chain(model, retriever).invoke({"input": QUESTION})
        print(f"\n{answer['answer']}")
        report = answer["citations"]
        for cited in report.citations:
            print(f"   [{cited.number}] {cited.title}, {cited.section_path}, spans {cited.spans}")
        for span in report.uncited:
            print(f"   without citation: {span.slice(answer['answer'])!r}")
        index.close()


if __name__ == "__main__":
    main()
