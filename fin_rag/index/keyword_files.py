"""Tantivy's files: the folder in use, and a mirror of it where the folder may not be written."""

from __future__ import annotations

import os
import shutil
import stat
import weakref
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from fin_rag.index.generations import Generations

_META: Final = ("meta.json", ".managed.json")


class KeywordFiles:
    """Give the folders to write to and to read from."""

    def __init__(self, generations: Generations) -> None:
        self.generations = generations
        self._mirror: Path | None = None
        self._mirrored: tuple[Path, int, int] | None = None
        self._forget_mirror: Callable[[], object] | None = None

    def readable(self) -> Path:
        """Return the folder to read from: the one in use, or a mirror of it.

        Tantivy locks a file even to read. Where it cannot, a temporary folder holds a copy of its small meta
        files and links to its segments; it is made again when the meta files change.
        """
        folder = self.generations.current()
        if os.access(folder, os.W_OK) or not has_index(folder):
            return folder
        state = (folder / "meta.json").stat()
        key = (folder, state.st_mtime_ns, state.st_ino)
        if self._mirror is None or self._mirrored != key:
            if self._forget_mirror is not None:
                self._forget_mirror()
            mirror = Path(mkdtemp(prefix="fin_rag_keywords_"))
            self._forget_mirror = weakref.finalize(self, shutil.rmtree, mirror, ignore_errors=True)
            for entry in folder.iterdir():
                if entry.name in _META:
                    shutil.copyfile(entry, mirror / entry.name)
                elif not entry.name.startswith("."):
                    (mirror / entry.name).symlink_to(entry.resolve())
            self._mirror, self._mirrored = mirror, key
        return self._mirror


def has_index(folder: Path) -> bool:
    """Tell whether a folder holds a keyword index."""
    return (folder / "meta.json").exists()


def make_readable(folder: Path) -> None:
    """Give tantivy's meta files, which it writes for their owner alone, the rights that the folder has."""
    rights = folder.stat().st_mode & 0o666
    for name in _META:
        path = folder / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) != rights:
            path.chmod(rights)
