"""Point-in-time facts: the store, the concept map, derived values, ratios, and LangChain tools over them."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fin_rag.facts.arithmetic import calculate
    from fin_rag.facts.concepts import concept_map
    from fin_rag.facts.model import Fact, FactSource
    from fin_rag.facts.ratios import Ratio, compute_ratio, ratio_names
    from fin_rag.facts.store import FactStore
    from fin_rag.facts.tools import calculator, fact_tools, ratio_calculator, xbrl_lookup, xbrl_series

__all__ = [
    "Fact",
    "FactSource",
    "FactStore",
    "Ratio",
    "calculate",
    "calculator",
    "compute_ratio",
    "concept_map",
    "fact_tools",
    "ratio_calculator",
    "ratio_names",
    "xbrl_lookup",
    "xbrl_series",
]

_HOMES = {
    "Fact": "model",
    "FactSource": "model",
    "FactStore": "store",
    "Ratio": "ratios",
    "calculate": "arithmetic",
    "calculator": "tools",
    "compute_ratio": "ratios",
    "concept_map": "concepts",
    "fact_tools": "tools",
    "ratio_calculator": "tools",
    "ratio_names": "ratios",
    "xbrl_lookup": "tools",
    "xbrl_series": "tools",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'fin_rag.facts' has no attribute {name!r}")
    return getattr(import_module(f"fin_rag.facts.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
