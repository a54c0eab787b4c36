"""Time of reading and splitting a law against its size, up to about 400 pages.

    python benchmarks/regulation_size.py

The law is made up: articles with numbered paragraphs, points, references and now and then a quoted amendment.
Linear time means that the last column, time a page against the smallest law's, stays near 1.
"""

from __future__ import annotations

import time
from typing import Final

from langchain_core.documents import Document

from fin_rag import RegulationTextSplitter, Tokenization
from fin_rag.structure.regulation import read_statute

PAGES: Final = (25, 50, 100, 200, 400)
CHARACTERS_A_PAGE: Final = 3000
SENTENCE: Final = "la entidad conservará los registros de cada operación durante cinco años y los pondrá a disposición"
WORDS: Final = SENTENCE.split()


def article(number: int) -> str:
    """Return one article of about a third of a page."""
    before = max(number - 3, 1)
    body = [
        f"###### Artículo {number}. Registro {number}.",
        f"1. {' '.join(WORDS * 2).capitalize()}, según el artículo {before}.2.a).",
        f"2. {' '.join(WORDS).capitalize()}:",
        f"a) {' '.join(WORDS)};",
        f"b) {' '.join(WORDS)}, de acuerdo con el apartado anterior y el artículo {number % 40 + 1} de la Ley 10/2014.",
    ]
    if number % 25 == 0:
        body += ["3. El artículo 4 de la Ley 3/2020 queda así:", f"«Artículo 4. Nuevo.\n\n{' '.join(WORDS)}.»"]
    return "\n\n".join(body)


def law(pages: int) -> str:
    """Return a law of about that many pages."""
    parts, length, number = ["# Ley 9/2031, de 3 de mayo, de registros"], 0, 0
    while length < pages * CHARACTERS_A_PAGE:
        number += 1
        if number % 50 == 1:
            parts.append(f"### TÍTULO {number // 50 + 1}. Normas")
        parts.append(article(number))
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)


def main() -> None:
    """Print one row a size and option."""
    tokenization = Tokenization("words", lambda text: len(text.split()), max_input_tokens=512)
    print(f"{'pages':>6} {'articles':>8} {'references':>10} {'read s':>8} {'ids s':>8} {'text s':>8} {'a page':>7}")
    read_statute(law(1))  # compiles the patterns
    first = 0.0
    for pages in PAGES:
        text = law(pages)
        document = Document(page_content=text, metadata={"doc_type": "regulation", "lang": "es"})
        start = time.perf_counter()
        statute = read_statute(text)
        read = time.perf_counter() - start
        taken = []
        for expand in ("ids", "text"):
            splitter = RegulationTextSplitter(
                200, tokenization=tokenization, expand_references=expand, reference_direction="both"
            )
            start = time.perf_counter()
            splitter.split_documents([document])
            taken.append(time.perf_counter() - start)
        each = (read + sum(taken)) / pages
        first = first or each
        articles = sum(provision.kind == "art" for provision in statute.provisions)
        print(
            f"{pages:6} {articles:8} {len(statute.references):10} {read:8.2f} {taken[0]:8.2f} {taken[1]:8.2f} "
            f"{each / first:7.2f}"
        )


if __name__ == "__main__":
    main()
