"""Phrases that steer a call: opening the questions, giving the word, ending."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Final

# Cues stand in the short speeches of those who steer; of longer ones the beginning and the end are looked at.
_LOOKED_AT: Final = 4_000


@cache
def cue(name: str) -> re.Pattern[str]:
    """Return the pattern of one kind of cue."""
    data = json.loads(files(__package__).joinpath("cues.json").read_text(encoding="utf-8"))
    return re.compile("|".join(f"(?:{part})" for part in data[name]), re.IGNORECASE)


def said(text: str, name: str) -> bool:
    """Tell whether a cue of a kind is in what was said.

    Example:
        >>> said("Our first question comes from Ann Lee.", "announces"), said("Sales rose.", "announces")
        (True, False)
    """
    return cue(name).search(edges(text)) is not None


def edges(text: str) -> str:
    """Return a speech with typewriter apostrophes, without the middle if it is long."""
    shown = text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"
    return shown.replace("’", "'")
