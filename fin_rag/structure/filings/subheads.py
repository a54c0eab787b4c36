"""Sub-headings inside an Item, up to three levels, and the numbered notes of financial statements."""

from __future__ import annotations

from collections.abc import Mapping

from fin_rag.schema import Markup, MetadataValue, Section, Span


def sub_sections(
    text: str, span: Span, path: tuple[str, ...], parent_id: str, family: str, markup: Markup, *, level: int = 1,
    metadata: Mapping[str, MetadataValue] | None = None,
) -> list[Section]:  # fmt: skip
    return []
