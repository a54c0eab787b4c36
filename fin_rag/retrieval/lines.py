"""Line evidence: how much of a question stands in a text, and how much of it together in one line with its value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fin_rag.query.concepts import Concept, label_key
from fin_rag.schema import Span
from fin_rag.text.words import stems

_OTHER_NAME: Final = 0.85  # a thing under another name, against its name in the question
_WITHOUT_VALUE: Final = 0.55  # a line that speaks of the thing and holds no value of the shape asked for
_IN_HEADER: Final = 0.6  # what only the header says, against what the line itself says
_LABEL_BONUS: Final = 0.25
_YEAR_IN_LINE: Final = 0.06
_WRAPPED: Final = 60  # a line at least this long that ends in the middle of a sentence goes on in the next
_SENTENCE: Final = re.compile(r"(?<=[.;?!])\s+(?=[A-ZÁÉÍÓÚÑ¿¡\"“(])")
_MONTHS: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|ene|abr|ago|dic)[a-zé]*"
_SHAPES: Final = {
    "amount": re.compile(r"\d"),
    "percent": re.compile(r"\d\s?(?:%|percent\b|por ciento|percentage points|puntos)"),
    "ratio": re.compile(r"\d[.,]\d|\d\s?(?:x\b|times|veces)"),
    "count": re.compile(
        r"\b\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|uno|dos|tres|cuatro|cinco|seis|siete|ocho)\b"
    ),
    "reason": re.compile(
        r"\b(?:because|due to|driven|reflect|result(?:ed|s)? (?:from|of|in)|attributable|primarily|owing|caused|"
        r"debid[oa]|motivo|causa|como consecuencia|por (?:el|la|los|las)|porque|principalmente)",
        re.IGNORECASE,
    ),
    "date": re.compile(rf"\b(?:19|20)\d\d\b|\d\s+(?:de\s+)?{_MONTHS}|\b{_MONTHS}\s+\d", re.IGNORECASE),
}  # fmt: skip
_FIGURE: Final = re.compile(r"\d[\d.,]*\d|\d")
_MARKS: Final = re.compile(r"[¹²³⁴⁵⁶⁷⁸⁹⁰*†]|\(\w{1,2}\)|\[\w{1,2}\]")


@dataclass(frozen=True, slots=True)
class LineScore:
    """Hold one line (a table row or a sentence) of a text and what it says about the question, from 0 to about 1."""

    span: Span
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """Hold what a text says about a question: all of it together, its best line, and each line.

    ``label`` tells that a row bears the very name of a line item asked for, ``years`` which share of the years
    asked for stands in the text.
    """

    coverage: float
    line: float
    label: bool
    years: float
    lines: tuple[LineScore, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """Hold a text to read: its header, its document's text and its spans there."""

    header: str
    text: str
    spans: tuple[Span, ...]

    @property
    def body(self) -> str:
        """Return the slices of its spans."""
        return "\n\n".join(span.slice(self.text) for span in self.spans)


class LineReader:
    """Compare texts with the concepts of one question.

    A concept weighs by how rare it is among the texts given, so that the words of every line count little. ``printed``
    tells that a figure under the name of its line item is asked for, and no reason or forecast.
    """

    def __init__(
        self,
        concepts: Sequence[Concept],
        passages: Sequence[Passage],
        *,
        shape: str = "text",
        years: Sequence[int] = (),
        growth: bool = False,
        printed: bool = True,
    ) -> None:
        self._concepts = concepts
        self._shape = _SHAPES.get(shape)
        self._growth = growth
        self._years = [str(year) for year in years]
        self._passages = passages
        self._stems = [(frozenset(stems(p.header)), frozenset(stems(p.body))) for p in passages]
        self._labels = [concept for concept in concepts if concept.labels and printed]

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
        return [self._read(p, *own) for p, own in zip(self._passages, self._stems, strict=True)]

    def _read(self, passage: Passage, header: frozenset[str], words: frozenset[str]) -> Reading:
        everything = header | words
        coverage = self._share([max(_met(c, words), _IN_HEADER * _met(c, everything)) for c in self._concepts])
        above = [_IN_HEADER * _met(c, header) for c in self._concepts]
        lines = []
        labelled = False
        for span in text_lines(passage.text, passage.spans):
            line = span.slice(passage.text)
            found = frozenset(stems(line))
            if not found:
                continue
            met = [max(_met(c, found), a) for c, a in zip(self._concepts, above, strict=True)]
            score = self._share(met) * self._fits(line)
            if self._years and score > 0 and any(year in line for year in self._years):
                score += _YEAR_IN_LINE
            if self._labels and score > 0 and _labelled(line, self._labels):
                score += _LABEL_BONUS
                labelled = True
            lines.append(LineScore(span, score))
        best = max((line.score for line in lines), default=0.0)
        body = f"{passage.header} {passage.body}" if self._years else ""
        years = sum(year in body for year in self._years) / len(self._years) if self._years else 0.0
        return Reading(coverage, best, labelled, years, tuple(lines))

    def _fits(self, line: str) -> float:
        """Return less than 1 for a line that lacks the value asked for; growth wants two of them."""
        if self._growth:
            figures = len(_FIGURE.findall(line))
            return 1.0 if figures >= 2 else 0.8 if figures else _WITHOUT_VALUE
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


def text_lines(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    r"""Yield the lines of spans: table rows and short lines as they are, wrapped prose by its sentences.

    Example:
        >>> text = "Net sales 5 4\nWe sell. You buy."
        >>> [span.slice(text) for span in text_lines(text, [Span(0, len(text))])]
        ['Net sales 5 4', 'We sell.', 'You buy.']
    """
    for span in spans:
        start = span.start
        at = span.start
        while at < span.end:
            stop = text.find("\n", at, span.end)
            stop = span.end if stop < 0 else stop
            line = text[at:stop].rstrip()
            if len(line) < _WRAPPED or line[-1:] in ".:;?!|" or stop >= span.end:
                yield from _sentences(text, start, stop)
                start = stop + 1
            at = stop + 1


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    part = text[start:end]
    last = 0
    for match in _SENTENCE.finditer(part):
        yield Span(start + last, start + match.start())
        last = match.end()
    if part[last:].strip():
        yield Span(start + last, end)


def paragraphs(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return the runs of lines between blank lines."""
    found = []
    for span in spans:
        at = span.start
        for match in re.finditer(r"\n\s*\n", span.slice(text)):
            if text[at : span.start + match.start()].strip():
                found.append(Span(at, span.start + match.start()))
            at = span.start + match.end()
        if text[at : span.end].strip():
            found.append(Span(at, span.end))
    return found


def _labelled(line: str, concepts: Sequence[Concept]) -> bool:
    """Tell whether a line is a row under the very name of a line item."""
    if line.lstrip().startswith("|"):
        label = next((cell for cell in line.split("|") if cell.strip()), "")
    else:
        match = re.search(r"[\d$€(]", line)
        label = line[: match.start()] if match else ""
    key = label_key(_MARKS.sub(" ", label))
    return bool(key) and any(key in concept.labels for concept in concepts)
