"""Search an index in several processes while one writes to it, and look for anything that is missing.

As a script: ``python -m tests.load --seconds 60 --readers 3`` ends with 1 if a reader missed anything.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from tests.crash import PRELOAD, document, opened

NAMES = ("a0", "a1", "b0", "b1")
Counts = tuple[int, int, list[str]]


def write(folder: Path, seconds: float, answer: Connection) -> None:
    """Replace documents without a pause; every document is there all the time, in one version."""
    index = opened(folder)
    end = time.monotonic() + seconds
    version = 1
    while time.monotonic() < end:
        version += 1
        # Pairs are replaced in one call and one commit: readers see both in the same version.
        pair = NAMES[:2] if version % 2 else NAMES[2:]
        index.add([document(name, version) for name in pair])
        if version % 25 == 0:
            index.rebuild()
    answer.send((version, version, index.verify()))
    index.close()


def read(folder: Path, seconds: float, answer: Connection) -> None:
    """Search and compare with what the same snapshot says is there."""
    index = opened(folder)
    end = time.monotonic() + seconds
    reads, faults = 0, []
    seen: set[int] = set()
    while time.monotonic() < end:
        with index.snapshot():
            there = {str(one["doc_id"]): int(str(one["version"])) for one in index.documents()}
            allowed = index.resolve()
            found = index.keyword_search("line", len(allowed.rows), allowed)
            near = index.dense_search("line", 5, allowed)
            documents = index.fetch([row for row, _ in (*found, *near)])
        reads += 1
        seen |= set(there.values())
        if set(there) != set(NAMES) or there["a0"] != there["a1"] or there["b0"] != there["b1"]:
            faults.append(f"holds {there}")
        if {row for row, _ in found} != {int(row) for row in allowed.rows}:
            faults.append(f"{len(found)} of {len(allowed.rows)} chunks are found by words")
        if not {row for row, _ in near} <= set(documents) or len(near) < 4:
            faults.append(f"{len(near)} chunks are found by meaning, {len(documents)} are there")
        faults += [
            f"an old text of {one.metadata['doc_id']}: {one.page_content!r}"
            for one in documents.values()
            if f"Version{there[str(one.metadata['doc_id'])]} " not in one.page_content
        ]
        if not index.retriever(k=2, filter={"doc_id": "a1"}).invoke("line of a1"):
            faults.append("the retriever found nothing")
    answer.send((reads, len(seen), faults))
    index.close()


def load(folder: Path, seconds: float, readers: int) -> tuple[Counts, list[Counts]]:
    """Return what the writer and each reader counted: calls, versions seen, faults."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    index = opened(folder)
    index.add([document(name, 1) for name in NAMES])
    index.close()
    answers = []
    for target in (write, *[read] * readers):
        here, there = context.Pipe(duplex=False)
        context.Process(target=target, args=(folder, seconds, there)).start()
        there.close()
        answers.append(here)
    counts = [_received(one) for one in answers]
    return counts[0], counts[1:]


def _received(answer: Connection) -> Counts:
    try:
        received: Counts = answer.recv()
    except EOFError:
        return 0, 0, ["the process died"]
    return received


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Search an index while another process writes to it.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--readers", type=int, default=3)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        writer, readers = load(Path(folder) / "index", options.seconds, options.readers)
    faults = [fault for _, _, found in (writer, *readers) for fault in found]
    reads, versions = [one[0] for one in readers], [one[1] for one in readers]
    sys.stdout.write(f"{writer[0]} versions written; reads {reads}, versions seen {versions}; {len(faults)} faults\n")
    sys.stdout.writelines(f"{fault}\n" for fault in faults[:20])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
