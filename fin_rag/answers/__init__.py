"""Answers that can be trusted: figure check, guard, abstention, and the chain that uses them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.answers.verify import FigureCheck, FigureReport, verify_figures

__all__ = ["FigureCheck", "FigureReport", "verify_figures"]

_HOMES = {"FigureCheck": "verify", "FigureReport": "verify", "verify_figures": "verify"}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag.answers' has no attribute {name!r}")
    return getattr(import_module(f"fin_rag.answers.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
