"""As of a day: only what was filed by its end is known, in text and in facts."""

import tempfile
from pathlib import Path

from fin_rag import FilingIndex

DATA = Path(__file__).resolve().parent / "data"
QUESTION = "What loss above the accrual does Pellworth consider possible in the Dorrance case?"
FILED = {"plwc-10k-2023.htm": "2023-08-24", "plwc-10k-2024.htm": "2024-08-22", "plwc-10q-2025q1.htm": "2024-11-05"}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = FilingIndex.open(folder)
        for name, filed in FILED.items():
            index.add(DATA / name, filed=filed)
        for day in ("2023-12-31", "2024-09-30", "2024-12-31"):
            found = index.retriever(k=6, as_of=day).invoke(QUESTION)
            known = sorted({(one.metadata["filed"], one.metadata["title"]) for one in found})
            print(f"known on {day}:", ", ".join(f"{title} (filed {filed})" for filed, title in known))
        print("before all of them:", index.retriever(as_of="2020-01-01").invoke(QUESTION))
        index.close()


if __name__ == "__main__":
    main()
