"""Your own vector store in place of Chroma: it ranks, the index keeps texts, filters and citations."""

import tempfile
from pathlib import Path

from langchain_core.vectorstores import InMemoryVectorStore

from fin_rag import FilingIndex
from fin_rag.retrieval import assemble, fill_store

DATA = Path(__file__).resolve().parent / "data"
QUESTION = "¿Qué comisión de gestión cobra el fondo?"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add([DATA / "kid-albariza-renta-prudente.md", DATA / "folleto-albariza-renta-prudente.pdf"])
        store = InMemoryVectorStore(index.embeddings)  # any LangChain vector store
        print(fill_store(index, store), "chunks in", type(store).__name__)

        # The filter holds although this store knows nothing of it.
        retriever = assemble(index, k=2, vector_store=store, filter={"doc_type": "prospectus"})
        for document in retriever.invoke(QUESTION):
            print(document.metadata["doc_type"], "p.", document.metadata.get("page"), document.metadata["section_path"])
        index.close()


if __name__ == "__main__":
    main()
