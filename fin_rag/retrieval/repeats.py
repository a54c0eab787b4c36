"""Passages that several documents repeat, such as the risk factors of one company year after year."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import Field

from fin_rag.retrieval.scope import with_result
from fin_rag.schema import CHUNK_ID
from fin_rag.text.words import fold

SAME_TEXT: Final = "same_text"
_WORD: Final = re.compile(r"\w+(?:[.,]\d+)*")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SHINGLE: Final = 4  # words
_BANDS: Final = 12
_ROWS: Final = 3


def group_repeats(texts: Sequence[str], threshold: float = 0.8) -> list[list[int]]:
    """Group texts that say the same; each group is in order, groups are in the order of their first text.

    Two texts say the same if the runs of four words that they share are at least ``threshold`` of all they have.
    Years count as one word; other figures count, so that a table of another year is no repeat. Time is linear:
    texts are compared with the first of each group that one of twelve min-hash bands has in common.

    Example:
        >>> group_repeats(["Demand may fall in 2022.", "Sales rose 5 %.", "Demand may fall in 2023."])
        [[0, 2], [1]]
    """
    leaders: list[tuple[int, frozenset[int]]] = []
    groups: list[list[int]] = []
    by_band: dict[tuple[int, ...], list[int]] = {}
    for position, text in enumerate(texts):
        shingles = _shingles(text)
        bands = _bands(shingles)
        near = dict.fromkeys(group for band in bands for group in by_band.get(band, ()))
        home = next((group for group in near if _jaccard(shingles, leaders[group][1]) >= threshold), None)
        if home is not None:
            groups[home].append(position)
            continue
        leaders.append((position, shingles))
        groups.append([position])
        for band in bands:
            by_band.setdefault(band, []).append(len(groups) - 1)
    return groups


class RepeatGrouper(BaseDocumentCompressor):
    """Put what says something new first, and repeats of it after that; nothing is dropped.

    Each member of a group gets ``same_text``: the ids of the chunks that say the same, so that every year can be
    looked up (``index.fetch(index.rows_by_id(ids).values())``) even when the list is cut.

    Attributes:
        threshold: share of common runs of four words from which two passages say the same.

    Example:
        >>> found = [Document("Demand may fall.", id=year) for year in ("22", "23")] + [Document("Sales rose.")]
        >>> [document.metadata.get("same_text") for document in RepeatGrouper().compress_documents(found, "")]
        [['23'], None, ['22']]
    """

    threshold: float = Field(default=0.8, gt=0, le=1)

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002  # part of LangChain's signature
        callbacks: Callbacks | None = None,  # noqa: ARG002  # part of LangChain's signature
    ) -> list[Document]:
        """Return all Documents as copies, the first of each group before the others."""
        groups = group_repeats([document.page_content for document in documents], self.threshold)
        marked = mark_repeats(documents, groups)
        first = [group[0] for group in groups]
        later = sorted(position for group in groups for position in group[1:])
        return [marked[position] for position in [*first, *later]]


def mark_repeats(documents: Sequence[Document], groups: Sequence[Sequence[int]]) -> list[Document]:
    """Return copies in the order given; members of a group name the others in ``same_text``."""
    out = [with_result(document) for document in documents]
    for group in groups:
        for position in group if len(group) > 1 else ():
            others = [str(_identity(documents[other])) for other in group if other != position]
            out[position] = with_result(documents[position], **{SAME_TEXT: others})
    return out


def _identity(document: Document) -> str:
    return str(document.metadata.get(CHUNK_ID) or document.id or "")


def _shingles(text: str) -> frozenset[int]:
    words = [_YEAR.sub("#", word) if _YEAR.fullmatch(word) else word for word in _WORD.findall(fold(text))]
    runs = [words[at : at + _SHINGLE] for at in range(max(len(words) - _SHINGLE + 1, 1))]
    return frozenset(_number(" ".join(run)) for run in runs)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _bands(shingles: frozenset[int]) -> list[tuple[int, ...]]:
    """Return the bands of a min-hash signature; alike sets are likely to share one."""
    minima = [min((shingle ^ mask) * odd % _FIELD for shingle in shingles) for mask, odd in _HASHES]
    return [(band, *minima[band * _ROWS : (band + 1) * _ROWS]) for band in range(_BANDS)]


_FIELD: Final = 2**64
_HASHES: Final = tuple((_number(f"mask {i}"), _number(f"factor {i}") | 1) for i in range(_BANDS * _ROWS))


def _jaccard(first: frozenset[int], second: frozenset[int]) -> float:
    return len(first & second) / len(first | second)
