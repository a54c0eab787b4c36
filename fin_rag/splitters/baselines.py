"""The two textbook splitters, with exact offsets and budgets, as baselines to measure against."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Final

from fin_rag.schema import Chunk, Markup, Outline, Span
from fin_rag.splitters.chunks import root_section
from fin_rag.splitters.pack import Packer
from fin_rag.splitters.regions import context_header
from fin_rag.splitters.splitter import StructureTextSplitter

_WORDS: Final = re.compile(r"\S+")
_PARAGRAPHS: Final = re.compile(r"[^\n]+(?:\n[^\n]+)*")


class FixedWindowTextSplitter(StructureTextSplitter):
    """Split a text into windows of as many words as the budget takes, whatever stands in them.

    Example:
        >>> chunks = FixedWindowTextSplitter(4, length_function=lambda t: len(t.split())).create_documents(
        ...     ["Net debt fell again. Sales rose."], [{"title": "R"}])
        >>> [chunk.page_content for chunk in chunks]
        ['Net debt fell', 'again. Sales rose.']
    """

    kind: ClassVar[str] = "fixed"
    _units: ClassVar[re.Pattern[str]] = _WORDS

    def _outline(self, text: str, metadata: Mapping[str, object], markup: Markup) -> Outline:  # noqa: ARG002
        return Outline(())

    def _chunks(self, text: str, outline: Outline, metadata: Mapping[str, object]) -> list[Chunk]:  # noqa: ARG002
        root = root_section(text, metadata)
        header = context_header(metadata, root.path, tokenization=self.tokenization, max_tokens=self.config.max_tokens)
        packer = Packer(text, self.tokenization, self.config)
        units = packer.units(self._units, Span(0, len(text)))
        return [
            Chunk(p.spans, root, p.kind, root.span, header, p.token_count, p.overlap_tokens, p.pieces)
            for p in packer.join(units, header)
        ]


class RecursiveTextSplitter(FixedWindowTextSplitter):
    r"""Split a text at paragraphs, and long ones at lines, sentences and words; headings mean nothing.

    Example:
        >>> chunks = RecursiveTextSplitter(4, length_function=lambda t: len(t.split())).create_documents(
        ...     ["Net debt fell.\n\nSales rose."], [{"title": "R"}])
        >>> [chunk.page_content for chunk in chunks]
        ['Net debt fell.', 'Sales rose.']
    """

    kind: ClassVar[str] = "recursive"
    _units: ClassVar[re.Pattern[str]] = _PARAGRAPHS
