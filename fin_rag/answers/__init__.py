"""Answers that can be trusted: figure check, guard, abstention, routes, and the chain that uses them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.answers.abstain import Threshold, abstention_reason, fit_threshold
    from fin_rag.answers.asking import Answered, ask
    from fin_rag.answers.chain import answer_chain
    from fin_rag.answers.guard import NO_DISPONIBLE, FigureGuard
    from fin_rag.answers.report import FigureCheck, FigureReport
    from fin_rag.answers.verify import verify_figures

__all__ = [
    "NO_DISPONIBLE",
    "Answered",
    "FigureCheck",
    "FigureGuard",
    "FigureReport",
    "Threshold",
    "abstention_reason",
    "answer_chain",
    "ask",
    "fit_threshold",
    "verify_figures",
]

_HOMES = {
    "NO_DISPONIBLE": "guard",
    "Answered": "asking",
    "FigureCheck": "report",
    "FigureGuard": "guard",
    "FigureReport": "report",
    "Threshold": "abstain",
    "abstention_reason": "abstain",
    "answer_chain": "chain",
    "ask": "asking",
    "fit_threshold": "abstain",
    "verify_figures": "verify",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag.answers' has no attribute {name!r}")
    return getattr(import_module(f"fin_rag.answers.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
