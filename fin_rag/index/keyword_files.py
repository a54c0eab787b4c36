"""Where tantivy's files lie: the generation in use, and a mirror where the folder may not be written."""

from __future__ import annotations

import os
import shutil
import stat
import weakref
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

KEYWORDS_FOLDER: Final = "keywords_folder"  # setting of the catalogue: the generation in use
_FIRST: Final = "keywords"
_META: Final = ("meta.json", ".managed.json")


class KeywordFiles:
    """Say which folder holds the keyword index, and switch to another one in one step.

    A keyword index is made again in a folder of its own; readers go on with the old one until the new one is
    whole. ``read_name`` and ``write_name`` read and write which of them is in use.
    """

    def __init__(
        self,
        root: Path,
        read_name: Callable[[], str | None] = lambda: None,
        write_name: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._root = root
        self._read_name = read_name
        self._write_name = write_name
        self._mirror: Path | None = None
        self._mirrored: tuple[Path, int, int] | None = None
        self._forget_mirror: Callable[[], object] | None = None

    def current(self) -> Path:
        """Return the folder in use."""
        return self._root / (self._read_name() or _FIRST)

    def next(self) -> Path:
        """Return the folder for a keyword index that is made again."""
        number = self.current().name.removeprefix(f"{_FIRST}-")
        return self._root / f"{_FIRST}-{int(number) + 1 if number.isdecimal() else 2}"

    def switch(self, folder: Path) -> None:
        """Use another folder from now on, in all processes, and delete the others."""
        self._write_name(folder.name)
        self.delete_unused()

    def delete_unused(self) -> list[str]:
        """Delete the folders that are not in use, such as one half made, and return their names."""
        used = self.current()
        unused = sorted(path for path in self._root.glob(f"{_FIRST}*") if path.is_dir() and path != used)
        for path in unused:
            shutil.rmtree(path, ignore_errors=True)
        return [path.name for path in unused]

    def readable(self) -> Path:
        """Return the folder to read from: the one in use, or a mirror of it.

        Tantivy locks a file even to read. Where it cannot, a temporary folder holds a copy of its small meta
        files and links to its segments; it is made again when the meta files change.
        """
        folder = self.current()
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
