"""Speakers who begin in the middle of a line: ``Analyst: How is margin? CFO: Up two points.``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from fin_rag.schema import Span
from fin_rag.structure.calls.headers import LIKELY, Header
from fin_rag.structure.calls.labels import Label, parse_label
from fin_rag.structure.calls.model import Participant
from fin_rag.structure.calls.names import doubtful, name_kind
from fin_rag.structure.calls.vocabulary import fold, words

# A sentence has ended, and at most a few words later stands a colon.
_COLON: Final = re.compile(r":[ \u00a0]")
_BOUNDARY: Final = re.compile(r"[.?!…\"”)\]][ \u00a0]+(?=[^\W\d_a-z])")
_ANNOUNCED: Final = 300
_LONGEST: Final = 70
_MOST_WORDS: Final = 7


def inline_labels(text: str, headers: Iterable[Header], people: Sequence[Participant]) -> Mapping[str, Label]:
    """Return the labels that open a turn inside a line, by folded words.

    Empty unless the text marks its speakers with a colon. These are labels that stand at the beginning of lines too,
    participants, operators, offices such as "CFO", and names that come up so at least twice.
    """
    accepted = [header for header in headers if header.family == "colon"]
    if not accepted:
        return {}
    labels: dict[str, Label] = {}
    for header in accepted:
        if header.inline and header.label.kind != "letter":
            labels.setdefault(fold(text[header.start : header.end]), header.label)
            if header.strength >= LIKELY or header.label.kind == "person":
                labels.setdefault(fold(header.label.name), header.label)
    for person in people:
        labels.setdefault(fold(person.name), Label(person.name, "person", person.role, person.firm))
    counts: Counter[str] = Counter()
    for colon in _COLON.finditer(text):
        for start in _starts(text, colon.start()):
            label = _label(text[start : colon.start()])
            if label is None:
                continue
            key = fold(label.name) if not label.affiliation else fold(text[start : colon.start()])
            counts[key] += 1
            if label.kind in ("operator", "role") or counts[key] > 1 or _announced(text, start, label):
                labels.setdefault(key, label)
    return labels


def speaks_inline(text: str) -> bool:
    """Tell whether an operator or an office such as "CFO" begins to speak in the middle of a line."""
    for colon in _COLON.finditer(text):
        for start in _starts(text, colon.start()):
            label = _label(text[start : colon.start()])
            if label is not None and label.kind in ("operator", "role"):
                return True
    return False


def _announced(text: str, start: int, label: Label) -> bool:
    """Tell whether somebody was named in full right before the words that may begin his turn."""
    return label.kind == "person" and fold(label.name) in fold(text[max(0, start - _ANNOUNCED) : start])


def _label(words_: str) -> Label | None:
    label = parse_label(words_)
    if label is None or label.kind in ("letter", "single", "code") or doubtful(label.name):
        return None
    if label.kind == "role" and fold(label.name) not in words("role_labels"):
        return None
    return label


def _starts(text: str, colon: int) -> Iterator[int]:
    """Yield where a label that ends at ``colon`` may begin: behind the ends of sentences, outermost first."""
    low = max(0, colon - _LONGEST)
    for boundary in _BOUNDARY.finditer(text, low, colon):
        start = boundary.end()
        if start < colon and len(text[start:colon].split()) <= _MOST_WORDS and "\n" not in text[start:colon]:
            yield start


def split_inline(
    text: str, start: int, end: int, labels: Mapping[str, Label]
) -> Iterator[tuple[int, int, Label | None, Span | None]]:
    """Yield the pieces of a line: bounds of what is said, and the label and its span where a speaker begins."""
    at, label, marker = start, None, None
    if labels:
        for colon in _COLON.finditer(text, start, end):
            begin = next(
                (s for s in _starts(text, colon.start()) if s > at and fold(text[s : colon.start()]) in labels), -1
            )
            if begin < 0:
                continue
            yield at, len(text[at:begin].rstrip()) + at, label, marker
            label, marker = labels[fold(text[begin : colon.start()])], Span(begin, colon.end())
            at = colon.end()
    yield at, end, label, marker


__all__ = ["inline_labels", "name_kind", "split_inline"]
