"""Methods that read an index more than once, and are to see one state of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from fin_rag.index.store import FilingIndex

P = ParamSpec("P")
T = TypeVar("T")


class OverIndex(Protocol):
    """Have an ``index``."""

    index: FilingIndex


S = TypeVar("S", bound=OverIndex)


def consistent(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Let a method read one snapshot of its ``index`` from beginning to end.

    Without it, a document replaced between a search and the reading of its hits is missing from the results.
    """

    @wraps(method)
    def reading(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self.index.snapshot():
            return method(self, *args, **kwargs)

    return reading
