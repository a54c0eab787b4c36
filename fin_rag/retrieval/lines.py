"""Line evidence: how much of a question stands in a text, and how much of it together in one line with its value."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fin_rag.query.concepts import Concept, label_key
from fin_rag.text.words import stems

_OTHER_NAME: Final = 0.85  # a thing under another name, against its name in the question
_WITHOUT_VALUE: Final = 0.55  # a line that speaks of the thing and holds no value of the shape asked for
_IN_HEADER: Final = 0.6  # what only the header says, against what the line itself says
_LABEL_BONUS: Final = 0.25
_SENTENCE: Final = re.compile(r"(?<=[.;?!])\s+(?=[A-ZÁÉÍÓÚÑ¿¡\"“(])|\n+")
_MONTHS: Final = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ene|abr|ago|dic)[a-zé]*"
)
_SHAPES: Final = {
    "amount": re.compile(r"\d"),
    "percent": re.compile(r"\d\s?(?:%|percent\b|por ciento|percentage points|puntos)"),
    "ratio": re.compile(r"\d[.,]\d|\d\s?(?:x\b|times|veces)"),
    "count": re.compile(r"\b\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|uno|dos|tres|cuatro|cinco|seis|siete|ocho)\b"),
    "date": re.compile(rf"\b(?:19|20)\d\d\b|\d\s+(?:de\s+)?{_MONTHS}|\b{_MONTHS}\s+\d", re.IGNORECASE),
}  # fmt: skip
_FIGURE: Final = re.compile(r"\d[\d.,]*\d|\d")


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold what a text says about a question, each from 0 to 1: all of it together, and its best line."""

    coverage: float
    line: float
    label: bool


class LineReader:
    """Compare texts with the concepts of one question.

    A concept weighs by how rare it is among the texts given, so that the words of every line count little.
    """

    def __init__(self, concepts: Sequence[Concept], shape: str, texts: Sequence[tuple[str, str]], *, growth: bool) -> None:
        self._concepts = concepts
        self._shape = _SHAPES.get(shape)
        self._growth = growth
        self._texts = texts
        self._stems = [(frozenset(stems(header)), frozenset(stems(body))) for header, body in texts]

    @cached_property
    def _weights(self) -> list[float]:
        total = max(len(self._stems), 1)
        weights = []
        for concept in self._concepts:
            found = sum(_met(concept, header | body) >= 0.5 for header, body in self._stems)
            size = min(max(len(concept.own), 1), 3) ** 0.5
            weights.append(size * math.log(1.3 + total / (1 + found)))
        return weights

    def read(self) -> list[Reading]:
        """Return one reading a text, in order."""
        if not self._concepts:
            return [Reading(0.0, 0.0, label=False) for _ in self._texts]
        return [self._read(body, *own) for (_, body), own in zip(self._texts, self._stems, strict=True)]

    def _read(self, body: str, header: frozenset[str], words: frozenset[str]) -> Reading:
        coverage = self._share([max(_met(c, words), _IN_HEADER * _met(c, header | words)) for c in self._concepts])
        wanted = [concept for concept in self._concepts if concept.labels]
        best, labelled = 0.0, False
        above = [_met(c, header) for c in self._concepts]
        for line in _lines(body):
            row = line.lstrip().startswith("|")
            found = frozenset(stems(line))
            if not found:
                continue
            score = self._share([max(_met(c, found), _IN_HEADER * a) for c, a in zip(self._concepts, above, strict=True)])
            score *= self._fits(line)
            if wanted and score > 0 and _labelled(line, wanted, row=row):
                score += _LABEL_BONUS
                labelled = True
            best = max(best, score)
        return Reading(coverage, min(best, 1.0), labelled)

    def _fits(self, line: str) -> float:
        """Return less than 1 for a line that lacks the value asked for; growth wants two of them."""
        if self._growth and len(_FIGURE.findall(line)) >= 2:
            return 1.0
        if self._shape is None or self._shape.search(line):
            return 1.0
        # A figure of a table may have its unit in the head of the column.
        return 0.8 if "|" in line and any(char.isdigit() for char in line) else _WITHOUT_VALUE

    def _share(self, met: Sequence[float]) -> float:
        total = sum(self._weights)
        return sum(m * w for m, w in zip(met, self._weights, strict=True)) / total if total else 0.0


def _met(concept: Concept, words: frozenset[str]) -> float:
    own = len(concept.own & words) / len(concept.own) if concept.own else 0.0
    if own >= _OTHER_NAME:
        return own
    return max(own, _OTHER_NAME if any(other <= words for other in concept.others) else 0.0)


def _lines(body: str) -> list[str]:
    return [line for line in _SENTENCE.split(body) if line.strip()]


def _labelled(line: str, concepts: Sequence[Concept], *, row: bool) -> bool:
    """Tell whether a line is a row under the very name of a line item."""
    if row:
        cells = [cell for cell in line.split("|") if cell.strip()]
        label = cells[0] if cells else ""
    else:
        match = re.search(r"[\d$€(]", line)
        label = line[: match.start()] if match else ""
    key = label_key(re.sub(r"[¹²³⁴⁵⁶⁷⁸⁹⁰*†]|\(\w{1,2}\)|\[\w{1,2}\]", " ", label))
    return bool(key) and any(key in concept.labels for concept in concepts)
