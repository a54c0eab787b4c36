"""Kill writers of an index at random moments and look at what is left.

As a script: ``python -m tests.crash --kills 300`` works on a folder of its own and ends with 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from langchain_core.documents import Document

from fin_rag.index import FilingIndex
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, report, words

State = dict[str, int]  # which version of which document is there
_LAST_STEPS = 40
PRELOAD = ["chromadb", "chromadb.api.client", "tantivy", "fin_rag.index", "fin_rag.retrieval.retriever", "tests.crash"]


def opened(folder: Path) -> FilingIndex:
    config = ChunkingConfig(max_tokens=30, overlap_tokens=0)
    return FilingIndex.open(folder, embeddings=WordEmbeddings(), tokenization=words(), config=config)


def document(name: str, version: int) -> Document:
    """Make a version of a document; each has its own number of sections."""
    size = 1 + (version * 7 + len(name)) % 40
    text = "\n\n".join(f"# {name} {i}\n\nVersion{version} of {name} says line {i}." for i in range(size))
    scope = {"source_scope": "private", "session_id": name[0]} if name[0] in "pq" else {}
    return report(text, source=f"{name}.md", title=name, doc_id=name, version=version, **scope)


@dataclass(frozen=True, slots=True)
class Step:
    """Hold one call: what it does to the index, and to what should be there."""

    kind: str
    names: tuple[str, ...] = ()
    version: int = 0

    def run(self, index: FilingIndex) -> None:
        if self.kind == "add":
            failed = index.add([document(name, self.version) for name in self.names]).failed
            assert not failed, failed
        elif self.kind == "remove":
            index.remove(self.names)
        elif self.kind == "erase":
            index.remove_session(self.names[0])
        else:
            index.rebuild()

    def expect(self, state: State) -> State:
        if self.kind == "add":
            return {**state, **dict.fromkeys(self.names, self.version)}
        if self.kind == "remove":
            return {name: version for name, version in state.items() if name not in self.names}
        if self.kind == "erase":
            return {name: version for name, version in state.items() if name[0] != self.names[0]}
        return state


def steps(seed: int) -> Iterator[Step]:
    """Yield calls without end, the same for the same seed."""
    chance = random.Random(seed)
    names = [f"{letter}{i}" for letter in "abcpq" for i in range(3)]
    version = seed * 1000
    while True:
        version += 1
        kind = chance.choices(("add", "remove", "erase", "rebuild"), (10, 3, 1, 1))[0]
        some = tuple(sorted(chance.sample(names, chance.randint(1, 3))))
        yield Step(kind, (chance.choice("pq"),) if kind == "erase" else some, version)


def work(folder: Path, journal: Path, seed: int) -> None:
    """Run calls and note before each that it begins."""
    index = opened(folder)
    note = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for _, step in zip(range(_LAST_STEPS), steps(seed), strict=False):
        os.write(note, b"begin\n")
        step.run(index)
        os.write(note, b"done\n")


def look(folder: Path, answer: multiprocessing.connection.Connection) -> None:
    """Open what is left and report it: documents, faults, what searches find."""
    index = opened(folder)
    state = {str(one["doc_id"]): one["version"] for one in index.documents()}
    for session in "pq":
        state |= {str(one["doc_id"]): one["version"] for one in index.documents(session_id=session)}
    faults = index.verify()
    for name, version in state.items():
        session = name[0] if name[0] in "pq" else None
        found = index.retriever(k=3, filter={"doc_id": name}, session_id=session).invoke(f"Version{version} {name}")
        if not found or any(f"Version{version} of {name} " not in one.page_content for one in found):
            faults.append(f"{name} version {version} is not found")
    stale = index._catalogue.stale_rows()
    if stale:
        faults.append(f"rows were not taken out: {stale}")
    answer.send((state, faults))
    index.close()


@dataclass(slots=True)
class Outcome:
    """Count kills, those inside of a call, and list what was wrong."""

    kills: int = 0
    inside: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    losses: list[str] = field(default_factory=list)


def crash(folder: Path, kills: int, seed: int, say: Callable[[str], None] = lambda _: None) -> Outcome:
    """Kill a writer ``kills`` times on one folder and compare what is left with what was committed."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    chance = random.Random(seed)
    outcome = Outcome()
    state: State = {}
    for turn in range(kills):
        journal = folder.parent / f"journal-{turn}"
        journal.unlink(missing_ok=True)
        writer = context.Process(target=work, args=(folder, journal, seed + turn))
        writer.start()
        while not journal.exists() and writer.is_alive():
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 1.2))
        assert writer.pid is not None
        if writer.is_alive():
            os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        lines = journal.read_text().split()
        possible = [state]
        last = None
        for step, word in zip(steps(seed + turn), lines[::2], strict=False):
            assert word == "begin"
            last = step
            possible = [possible[-1], step.expect(possible[-1])]
        inside = lines[-1] == "begin"
        if not inside:
            possible = possible[-1:]
        elif last is not None:
            outcome.kinds[last.kind] = outcome.kinds.get(last.kind, 0) + 1
        here, there = context.Pipe(duplex=False)
        reader = context.Process(target=look, args=(folder, there))
        reader.start()
        there.close()
        try:
            state, faults = here.recv()
        except EOFError:
            faults = ["the index could not be opened"]
        reader.join()
        if writer.exitcode not in (0, -signal.SIGKILL):
            faults.append(f"the writer failed by itself with {writer.exitcode}")
        outcome.kills += 1
        outcome.inside += inside
        if state not in possible:
            faults.append(f"holds {state}, should hold one of {possible}")
        outcome.losses += [f"kill {turn} in {last}: {fault}" for fault in faults]
        say(f"{turn + 1} kills, {outcome.inside} inside of a call, {len(outcome.losses)} losses")
    return outcome


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill writers of an index at random moments.")
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = crash(Path(folder) / "index", options.kills, options.seed, _say)
    counted = f"{outcome.kills} kills, {outcome.inside} inside of a call: {outcome.kinds}"
    sys.stdout.write(f"{counted}; {len(outcome.losses)} losses\n")
    sys.stdout.writelines(f"{loss}\n" for loss in outcome.losses)
    return 1 if outcome.losses else 0


if __name__ == "__main__":
    sys.exit(main())
