"""Your own embeddings: any LangChain Embeddings object, with a tokenizer that counts the budget the way it does.

The one here only counts letters: it shows the seams, not good retrieval. An index refuses another model than its own.
"""

import tempfile
from pathlib import Path

from langchain_core.embeddings import Embeddings

from fin_rag import FilingIndex, Tokenization
from fin_rag.errors import IntegrityError

DATA = Path(__file__).resolve().parent / "data"


class LetterEmbeddings(Embeddings):
    """Embed a text as how often each letter stands in it."""

    model_name = "letters-26"  # the name under which an index remembers it

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed passages."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Embed a question."""
        return [text.lower().count(letter) + 0.01 for letter in "abcdefghijklmnopqrstuvwxyz"]


def main() -> None:
    words = Tokenization("words", lambda text: len(text.split()), max_input_tokens=512)
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder, embeddings=LetterEmbeddings(), tokenization=words)
        print(index.add(DATA / "kid-albariza-renta-prudente.md"))
        (best,) = index.retriever(k=1).invoke("¿Cuáles son los costes del fondo?")
        print(best.metadata["section_path"], "-", best.metadata["token_count"], "words")
        index.close()
        try:
            FilingIndex.open(folder, embeddings="use-multilingual-v3")
        except IntegrityError as error:
            print("refused:", error)


if __name__ == "__main__":
    main()
