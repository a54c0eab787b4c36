"""Progress of long work, for terminals, notebooks and logs alike."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TextIO

from fin_rag.index.ingest import Progress

_QUIET = 10.0  # seconds between two lines of a log


class ProgressLine:
    """Show how far adding documents has come, at which rate, and about how long it will take.

    A terminal and a notebook get one line that is rewritten; a log gets a line now and then. Give it as ``progress``.

    Args:
        stream: where to write; standard error by default.

    Example:
        ``index.add("filings/", progress=ProgressLine())``
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._rewrites = self._stream.isatty() or "ipykernel" in sys.modules
        self._started = monotonic()
        self._last = 0.0
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        """Take note of one more source."""
        passed = monotonic() - self._started
        left = passed / progress.done * (progress.total - progress.done)
        line = (
            f"{progress.done}/{progress.total} documents, {progress.chunks} chunks, "
            f"{progress.chunks / max(passed, 1e-6):.0f}/s, about {left:.0f} s left"
        )
        ended = progress.done == progress.total
        if self._rewrites:
            padded = line.ljust(self._width)
            self._width = len(line)
            self._stream.write(f"\r{padded}" + ("\n" if ended else ""))
            self._stream.flush()
        elif ended or passed - self._last > _QUIET:
            self._last = passed
            self._stream.write(f"{line}\n")
            self._stream.flush()
