"""Private documents: a session sees its own beside the public ones; nobody else sees that they exist."""

import tempfile
from pathlib import Path

from langchain_core.documents import Document

from fin_rag import FilingIndex

DATA = Path(__file__).resolve().parent / "data"
MEMO = Document(
    page_content="# Memo\n\n## Dorrance case\n\nOur counsel expects the Dorrance case to settle for $12 million.",
    metadata={"title": "Memo of counsel", "source": "memo.md"},
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        index.add(DATA / "plwc-10q-2025q1.htm")
        index.add(MEMO, source_scope="private", session_id="desk-7")
        for session in (None, "desk-7", "desk-8"):
            seen = {one["title"] for one in index.documents(session_id=session)}
            found = index.retriever(k=3, session_id=session).invoke("What does counsel expect of the Dorrance case?")
            private = any(one.metadata["source_scope"] == "private" for one in found)
            print(f"session {session}: sees {sorted(seen)}; the memo was found: {private}")
        index.close()


if __name__ == "__main__":
    main()
