"""Backup of an index that is in use, and restoring it."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from fin_rag.errors import InputError, IntegrityError, NotFoundError
from fin_rag.index.catalogue import FORMAT_VERSION
from fin_rag.index.parts import Parts
from fin_rag.index.writer import Writer

MANIFEST: Final = "backup.json"
CATALOGUE: Final = "catalogue.sqlite"
_VECTORS: Final = "vectors.f32"
_SQLITE: Final = ".sqlite3"


def backup(parts: Parts, writer: Writer, target: Path) -> Path:
    """Copy an index into a new folder while others read it and write to it; a writer waits between two groups.

    The copy is an index that can be opened where it is. It appears in one step, with the size and hash of each
    file in ``backup.json``.

    Raises:
        InputError: if ``target`` exists.
        IntegrityError: if a writer does not pause for a minute, or the disk refuses.
    """
    if target.exists():
        raise InputError(f"The backup folder {str(target)!r} exists. Name one that does not.")
    with writer.changing():
        partial = _emptied(target)
        parts.catalogue.connection.copy_to(partial / CATALOGUE)
        if parts.has_vectors:
            _copy(parts.folder / _VECTORS, partial / _VECTORS)
        for path in _files(parts.folders.keywords.current()):
            if not path.name.endswith(".lock"):
                _copy(path, partial / path.relative_to(parts.folder))
        for path in _files(parts.folders.chroma.current()):
            _copy_chroma(path, partial / path.relative_to(parts.folder))
    listed = {path.relative_to(partial).as_posix(): [path.stat().st_size, _digest(path)] for path in _files(partial)}
    documents, chunks = parts.catalogue.counts()
    manifest = {"format_version": FORMAT_VERSION, "documents": documents, "chunks": chunks, "files": listed}
    (partial / MANIFEST).write_text(json.dumps(manifest, indent=1, sort_keys=True), encoding="utf-8")
    partial.rename(target)
    return target


def restore(source: Path, target: Path) -> None:
    """Copy a backup to where an index is to be; the backup stays as it is.

    Raises:
        NotFoundError: if there is no backup.
        InputError: if ``target`` exists and is not empty.
        IntegrityError: if the backup has another format, or a file is missing or damaged.
    """
    manifest = _read_manifest(source)
    if target.exists() and any(target.iterdir()):
        raise InputError(f"The folder {str(target)!r} is not empty. Move it away, then restore.")
    partial = _emptied(target)
    for name, (size, digest) in manifest["files"].items():
        copy = partial / name
        if not copy.resolve().is_relative_to(partial.resolve()):
            raise IntegrityError(f"The backup {str(source)!r} names a file outside of itself: {name!r}.")
        try:
            _copy(source / name, copy)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise IntegrityError(
                f"The file {name!r} of the backup {str(source)!r} could not be copied: {error}."
            ) from error
        if copy.stat().st_size != size or _digest(copy) != digest:
            shutil.rmtree(partial, ignore_errors=True)
            raise IntegrityError(f"The file {name!r} of the backup {str(source)!r} is damaged. Use another backup.")
    if target.exists():
        target.rmdir()
    partial.rename(target)


def _read_manifest(source: Path) -> Mapping[str, Any]:
    path = source / MANIFEST
    if not path.is_file():
        raise NotFoundError(f"There is no backup in {str(source)!r}: it has no {MANIFEST}.")
    try:
        manifest: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = manifest["format_version"]
        whole = all(len(entry) == 2 for entry in manifest["files"].values())
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise IntegrityError(f"{str(path)!r} is damaged: {error}. Use another backup.") from error
    if version != FORMAT_VERSION or not whole:
        raise IntegrityError(
            f"The backup {str(source)!r} has format {version!r}; this fin_rag reads format {FORMAT_VERSION}. "
            "Ingest the sources again into a new folder."
        )
    return manifest


def _emptied(target: Path) -> Path:
    """Return an empty folder beside ``target`` for what is not whole yet."""
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"The folder {str(partial)!r} cannot be made: {error.strerror}.") from error
    return partial


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _copy_chroma(source: Path, target: Path) -> None:
    """Copy a file of Chroma's; its database by SQLite's own means, for a reader may hold it open."""
    if not source.name.endswith(_SQLITE):
        if not source.name.endswith(("-wal", "-shm", "-journal")):
            _copy(source, target)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    original, copy = sqlite3.connect(source), sqlite3.connect(target)
    try:
        original.backup(copy)
    finally:
        copy.close()
        original.close()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
