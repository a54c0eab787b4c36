"""A splitter in a chain that is otherwise LangChain's own: load, split, store, retrieve."""

from pathlib import Path

from langchain_core.vectorstores import InMemoryVectorStore

from fin_rag import FinancialDocumentLoader, load_embeddings, splitter_for
from fin_rag.schema import parse_spans

DATA = Path(__file__).resolve().parent / "data"


def main() -> None:
    document = FinancialDocumentLoader(DATA / "informe-anual-2024-vientalba.md").load()[0]
    splitter = splitter_for(document, chunk_size=256, add_context_header=True)
    chunks = splitter.split_documents([document])
    most = max(chunk.metadata["token_count"] for chunk in chunks)
    print(f"{type(splitter).__name__}: {len(chunks)} chunks of at most {most} tokens")

    store = InMemoryVectorStore(load_embeddings())
    store.add_documents(chunks)
    best = store.as_retriever(search_kwargs={"k": 1}).invoke("¿A cuánto asciende la deuda financiera neta?")[0]
    print(best.metadata["section_path"])

    # A chunk is spans of the text: what is cited is what is in the source.
    spans = parse_spans(best.metadata["spans"])
    cited = "\n\n".join(span.slice(document.page_content) for span in spans)
    body = best.page_content[best.metadata["body_offset"] :]
    print(f"characters {best.metadata['spans']} of the source are the body of the chunk: {cited == body}")


if __name__ == "__main__":
    main()
