"""The words by which answers and evidence are read, from their data file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def words() -> Mapping[str, Any]:
    """Return the vocabulary: lists and maps by name."""
    data: dict[str, Any] = json.loads(files("fin_rag.answers").joinpath("words.json").read_text(encoding="utf-8"))
    return data


@cache
def word_set(name: str) -> frozenset[str]:
    """Return a list of the vocabulary as a set."""
    return frozenset(words()[name])


@cache
def phrases(name: str) -> re.Pattern[str]:
    """Return a pattern that finds any phrase of a list as whole words, longest first; case does not count."""
    return phrase_pattern(words()[name])


def phrase_pattern(listed: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for whole words or phrases, longest first.

    Example:
        >>> phrase_pattern(["a", "a share"]).findall("1.20 a share")
        ['a share']
    """
    ordered = sorted(listed, key=lambda one: (-len(one), one))
    inner = "|".join(re.escape(one).replace(r"\ ", r"\s+") for one in ordered)
    return re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.IGNORECASE)
