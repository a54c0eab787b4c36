"""``fin-rag ingest``: take files into an index, with progress and a report."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from fin_rag.errors import InputError
from fin_rag.index import AddReport, FilingIndex
from fin_rag.inspector import ProgressLine
from fin_rag.splitters import ChunkingConfig


def run(options: argparse.Namespace) -> int:
    """Run the command; 1 if a source could not be taken."""
    config = None
    if options.max_tokens is not None:
        config = ChunkingConfig(max_tokens=options.max_tokens, overlap_tokens=options.overlap_tokens)
    metadata = _metadata(options)
    index = FilingIndex.open(options.index, embeddings=options.embeddings, config=config)
    try:
        report = index.add(options.paths, progress=None if options.json else ProgressLine(), **metadata)
        totals = {"documents": len(index), "chunks": index.chunk_count}
    finally:
        index.close()
    if options.json:
        print(json.dumps({**asdict(report), "index": totals}, ensure_ascii=False, indent=1))
    else:
        _print(report, totals, options.index)
    return 1 if report.failed else 0


def _metadata(options: argparse.Namespace) -> dict[str, str]:
    metadata = {}
    for pair in options.set:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--set needs KEY=VALUE. Got {pair!r}.")
        metadata[key] = value
    if options.doc_type:
        metadata["doc_type"] = options.doc_type
    if options.session:
        metadata |= {"source_scope": "private", "session_id": options.session}
    return metadata


def _print(report: AddReport, totals: dict[str, int], folder: str) -> None:
    print(report)
    for source, warnings in report.warnings.items():
        for warning in warnings:
            print(f"note: {source}: {warning}")
    print(f"{folder}: {totals['documents']} documents, {totals['chunks']} chunks")
