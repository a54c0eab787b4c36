"""Things to look at: one document as the package reads it, a local viewer of an index, results, progress.

Names are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.inspector.page import inspect_page
    from fin_rag.inspector.progress import ProgressLine
    from fin_rag.inspector.results import ResultsTable
    from fin_rag.inspector.server import make_server

__all__ = ["ProgressLine", "ResultsTable", "inspect_page", "make_server"]

_HOMES = {
    "ProgressLine": "progress",
    "ResultsTable": "results",
    "inspect_page": "page",
    "make_server": "server",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag.inspector' has no attribute {name!r}")
    return getattr(import_module(f"fin_rag.inspector.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
