"""What comes into an index: the files of a folder, and the report on what became of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from langchain_core.documents import Document

from fin_rag.errors import InputError, NotFoundError
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.loaders.source import EXTENSIONS
from fin_rag.schema import SOURCE

Sources: TypeAlias = str | Path | Document | Iterable[str | Path | Document]


@dataclass(frozen=True, slots=True)
class Progress:
    """Tell how far a run is: sources done of all, and chunks so far; ``source`` was the last one."""

    done: int
    total: int
    source: str
    chunks: int


@dataclass(slots=True)
class AddReport:
    """Say what became of every source.

    ``added``, ``replaced``, ``unchanged`` and ``removed`` hold document ids; ``failed`` and ``skipped`` map a
    source to the reason; ``warnings`` maps a source to what was lossy in reading it.
    """

    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    warnings: dict[str, list[str]] = field(default_factory=dict)
    chunks: int = 0
    embedded: int = 0

    def __str__(self) -> str:
        lines = [
            f"{len(self.added)} added, {len(self.replaced)} replaced, {len(self.unchanged)} unchanged, "
            f"{len(self.failed)} failed, {len(self.skipped)} skipped; {self.chunks} chunks, "
            f"{self.embedded} embedded"
        ]
        lines += [f"failed: {source}: {reason}" for source, reason in self.failed.items()]
        lines += [f"skipped: {source}: {reason}" for source, reason in self.skipped.items()]
        return "\n".join(lines)


def gather(sources: Sources, report: AddReport) -> list[Path | Document]:
    """List the files and documents behind ``sources``; files of a folder in order of their path.

    Files of a folder that no reader takes are noted in ``report.skipped``; hidden files are not looked at.

    Raises:
        NotFoundError: if a path does not exist.
        InputError: if a folder holds no document.
    """
    given = [sources] if isinstance(sources, str | Path | Document) else list(sources)
    found: list[Path | Document] = []
    for source in given:
        if isinstance(source, Document):
            found.append(source)
            continue
        path = Path(source)
        if path.is_dir():
            inside = list(_documents_below(path, report))
            if not inside:
                raise InputError(
                    f"The folder {str(path)!r} holds no document. Known file types: "
                    f"{', '.join(sorted(EXTENSIONS))}, each also with .gz."
                )
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise NotFoundError(f"{str(path)!r} does not exist. Check the path.")
    return found


def _documents_below(folder: Path, report: AddReport) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
        if suffix.lower() in EXTENSIONS:
            yield path
        else:
            report.skipped[str(path)] = f"{suffix or 'no'!s} file type is not one that is read"


def input_key(source: Path | Document, metadata: Mapping[str, object], settings: str) -> str:
    """Hash everything a document is made from, so that an unchanged one costs a hash and nothing else."""
    digest = hashlib.sha256()
    if isinstance(source, Path):
        with source.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
        name = str(source)
    else:
        digest.update(source.page_content.encode("utf-8", "surrogatepass"))
        name = json.dumps(source.metadata, sort_keys=True, default=str)
    for part in (name, json.dumps(dict(metadata), sort_keys=True, default=str), settings):
        digest.update(b"\x1f" + part.encode())
    return digest.hexdigest()


def load_document(source: Path | Document, metadata: Mapping[str, object]) -> Document:
    """Load one source; the caller's metadata win over what the document says.

    Raises:
        FinRagError: if the source cannot be read; the message names it.
    """
    if isinstance(source, Document):
        return source.model_copy(update={"metadata": {**source.metadata, **metadata}})
    loader = FinancialDocumentLoader(source, **dict[str, Any](metadata))
    return loader.load()[0]


def source_name(source: Path | Document) -> str:
    """Name a source in reports."""
    return str(source) if isinstance(source, Path) else str(source.metadata.get(SOURCE) or source.id or "document")
