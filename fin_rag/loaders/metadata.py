"""Settle the metadata of a document (first form)."""

from __future__ import annotations

from collections.abc import Mapping

from fin_rag.loaders.content import LoadedText
from fin_rag.schema import MetadataValue, clean_metadata
from fin_rag.text.canonical import text_sha256


def document_metadata(
    loaded: LoadedText, *, name: str = "", caller: Mapping[str, object] | None = None
) -> dict[str, MetadataValue]:
    """Return metadata of a document."""
    found: dict[str, object] = {"doc_type": "report", "lang": "en", "source_scope": "public", "title": name}
    found |= dict(loaded.hints)
    found |= dict(caller or {})
    found.setdefault("doc_id", text_sha256(loaded.text)[:16])
    return clean_metadata(found)
