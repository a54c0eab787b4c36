"""``fin-rag ingest``: take files into an index, with progress and a report."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from time import monotonic

from fin_rag.errors import InputError
from fin_rag.index import AddReport, FilingIndex, Progress
from fin_rag.splitters import ChunkingConfig


def run(options: argparse.Namespace) -> int:
    """Run the command; 1 if a source could not be taken."""
    config = None
    if options.max_tokens is not None:
        config = ChunkingConfig(max_tokens=options.max_tokens, overlap_tokens=options.overlap_tokens)
    metadata = _metadata(options)
    index = FilingIndex.open(options.index, embeddings=options.embeddings, config=config)
    try:
        report = index.add(options.paths, progress=None if options.json else _Bar(), **metadata)
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


class _Bar:
    """Print one line that is rewritten in a terminal, or a line now and then in a log."""

    def __init__(self) -> None:
        self._started = monotonic()
        self._terminal = sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, progress: Progress) -> None:
        passed = monotonic() - self._started
        left = passed / progress.done * (progress.total - progress.done)
        line = (
            f"{progress.done}/{progress.total} documents, {progress.chunks} chunks, "
            f"{progress.chunks / max(passed, 1e-6):.0f}/s, about {left:.0f} s left"
        )
        if self._terminal:
            end = "\n" if progress.done == progress.total else ""
            print(f"\r\x1b[K{line}", end=end, file=sys.stderr, flush=True)
        elif passed - self._last > 10 or progress.done == progress.total:
            self._last = passed
            print(line, file=sys.stderr, flush=True)


def _print(report: AddReport, totals: dict[str, int], folder: str) -> None:
    print(report)
    for source, warnings in report.warnings.items():
        for warning in warnings:
            print(f"note: {source}: {warning}")
    print(f"{folder}: {totals['documents']} documents, {totals['chunks']} chunks")
