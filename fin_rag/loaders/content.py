"""What a format reader hands over: text, pages, markup, and what the source says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fin_rag.schema import Markup, MetadataValue, PageMap


@dataclass(frozen=True, slots=True)
class LoadedText:
    """Hold the canonical text of one source before metadata are settled.

    ``hints`` are metadata keys that the format itself states (a PDF's title, ``dei`` facts, the
    ``<TYPE>`` of a submission); the reader of the cover page and the caller may still overrule them.
    """

    text: str
    page_map: PageMap = PageMap(())
    markup: Markup = field(default_factory=Markup)
    hints: Mapping[str, MetadataValue] = field(default_factory=dict)
