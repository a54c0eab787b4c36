"""Parts that are made again in a folder of their own, and taken into use in one step."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path


class Generations:
    """Say which folder holds a part of an index, and switch to another one in one step.

    A part is made again in a new folder; readers go on with the old one until the new one is whole. ``read_name``
    and ``write_name`` read and write the name of the one in use; the first one is called ``first``.

    Example:
        >>> Generations(Path("index"), "chroma", lambda: "chroma-4").next().name
        'chroma-5'
    """

    def __init__(
        self,
        root: Path,
        first: str,
        read_name: Callable[[], str | None] = lambda: None,
        write_name: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._root = root
        self._first = first
        self._read_name = read_name
        self._write_name = write_name

    def current(self) -> Path:
        """Return the folder in use."""
        return self._root / (self._read_name() or self._first)

    def next(self) -> Path:
        """Return the folder for a part that is made again."""
        number = self.current().name.removeprefix(f"{self._first}-")
        return self._root / f"{self._first}-{int(number) + 1 if number.isdecimal() else 2}"

    def emptied_next(self) -> Path:
        """Return the next folder, without what a process left there that died."""
        folder = self.next()
        shutil.rmtree(folder, ignore_errors=True)
        return folder

    def switch(self, folder: Path) -> None:
        """Use another folder from now on, in all processes, and delete the others."""
        self._write_name(folder.name)
        self.delete_unused()

    def delete_unused(self) -> list[str]:
        """Delete the folders that are not in use, such as one half made, and return their names."""
        used = self.current()
        unused = sorted(path for path in self._root.glob(f"{self._first}*") if path.is_dir() and path != used)
        for path in unused:
            shutil.rmtree(path, ignore_errors=True)
        return [path.name for path in unused]
