"""Recall by the way a question is typed: 43 facts of the sample documents, each in seven registers.

    python benchmarks/wordings.py

Three registers beside the plain one are written by hand (shorthand, other words, the other language); typos,
boilerplate and lower case without accents are made from the plain wording by rule. A fact is found where one of the
first five results, or evidence within 4,000 characters, holds its words.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from pathlib import Path

from fin_rag import FilingIndex
from fin_rag.schema import SOURCE
from fin_rag.text.words import fold

HERE = Path(__file__).resolve().parent.parent
WRITTEN = ("plain", "shorthand", "other words", "other language")
POLITE = {
    "en": "Hello, could you please help me? Assume the perspective of an investment analyst. {} Please round your "
    "answer to two decimal places and explain your reasoning.",
    "es": "Buenos días, ¿podría ayudarme, por favor? {} Responda con dos decimales y explique su razonamiento.",
}


def typos(question: str) -> str:
    """Swap two letters inside every fourth long word, and drop the accents."""
    words = fold_case(question).split()
    long = [i for i, word in enumerate(words) if len(word.strip("¿?,.")) >= 7 and word.strip("¿?,.").isalpha()]
    for i in long[::4]:
        word = words[i]
        at = len(word) // 2
        words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def fold_case(text: str) -> str:
    """Take the accents off and keep the case."""
    return "".join(fold(c).upper() if c.isupper() else fold(c) for c in text)


def registers(row: list[str]) -> dict[str, str]:
    """Return the wordings of a fact by register."""
    made = dict(zip(WRITTEN, row[2:], strict=True))
    plain = made["plain"]
    lang = "es" if plain.startswith("¿") else "en"
    return made | {
        "typos": typos(plain),
        "boilerplate": POLITE[lang].format(plain),
        "lower case": fold(plain).replace("¿", ""),
    }


def squeezed(text: str) -> str:
    """Return a text without blanks, as both sides of a comparison."""
    return "".join(text.split())


def measure(index: FilingIndex, rows: list[list[str]]) -> dict[str, dict[str, float]]:
    """Return recall by register: within five results, and within 4,000 characters."""
    found: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        file, evidence = row[:2]
        for register, question in registers(row).items():
            results = {
                "@5": index.retriever(k=5).invoke(question),
                "4000": index.retriever().retrieve(question, max_chars=4000),
            }
            for name, documents in results.items():
                found[register][name].append(
                    any(
                        Path(str(d.metadata[SOURCE])).name == file and squeezed(evidence) in squeezed(d.page_content)
                        for d in documents
                    )
                )
    return {r: {name: sum(hits) / len(hits) for name, hits in by.items()} for r, by in found.items()}


def load() -> list[list[str]]:
    """Return the facts: file, words of the evidence, and the written wordings."""
    rows: list[list[str]] = json.loads((HERE / "tests/data/wordings.json").read_text("utf-8"))
    return rows


def main() -> None:
    index = FilingIndex.open(tempfile.mkdtemp())
    index.add(HERE / "examples/data")
    rows = load()
    print(f"{len(rows)} facts, {len(rows) * len(registers(rows[0]))} questions\n")
    print("| register | within 5 results | within 4,000 characters |\n|---|---|---|")
    for register, scores in measure(index, rows).items():
        print(f"| {register} | {scores['@5']:.2f} | {scores['4000']:.2f} |")
    index.close()


if __name__ == "__main__":
    main()
