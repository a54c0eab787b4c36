"""Splitter for earnings calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fin_rag.schema import Markup, Outline
from fin_rag.splitters.splitter import StructureTextSplitter
from fin_rag.structure.calls import outline_call


class EarningsCallTextSplitter(StructureTextSplitter):
    """Split."""

    kind: ClassVar[str] = "call"

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> Outline:
        return outline_call(text, metadata=metadata, markup=markup)
