"""How much of a question each line carries: weighted terms, alone and together with the lines around."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fin_rag.retrieval.lexical import text_terms
from fin_rag.schema import Span

_OWN = 0.6  # of a line's score is what stands in it, the rest what stands in it and its neighbours together


@dataclass(frozen=True, slots=True)
class LineScore:
    """Hold the score of a line, in [0, 1], and the question's terms that stand in it."""

    span: Span
    score: float
    terms: tuple[str, ...]


def split_lines(text: str, span: Span) -> list[Span]:
    """Return the lines of a span that are not blank.

    Example:
        >>> [line.slice("a\\n\\nbc") for line in split_lines("a\\n\\nbc", Span(0, 5))]
        ['a', 'bc']
    """  # noqa: D301  # the example shows the escapes
    lines: list[Span] = []
    at = span.start
    for raw in span.slice(text).split("\n"):
        stripped = raw.strip()
        if stripped:
            start = at + len(raw) - len(raw.lstrip())
            lines.append(Span(start, start + len(stripped)))
        at += len(raw) + 1
    return lines


def score_lines(
    text: str, lines: Sequence[Span], weights: Mapping[str, float], held: Callable[[str], frozenset[str]] | None = None
) -> list[LineScore]:
    r"""Score lines for weighted terms; a term that stands in a line and in its neighbours counts once.

    A line scores 1 if it holds every term. Terms that stand together count more than the same terms far apart.
    ``held`` returns the terms in a text; by default its stems.

    Example:
        >>> text = "Net debt fell.\nSales rose."
        >>> [round(one.score, 2) for one in score_lines(text, split_lines(text, Span(0, 26)), {"net": 1, "debt": 1})]
        [1.0, 0.4]
    """
    total = sum(weights.values())
    if not total:
        return [LineScore(line, 0.0, ()) for line in lines]
    read = held or _stems
    found = [read(line.slice(text)) & weights.keys() for line in lines]
    scores = []
    for i, (line, own) in enumerate(zip(lines, found, strict=True)):
        around = frozenset().union(*found[max(i - 1, 0) : i + 2])
        share = _OWN * _weight(own, weights) + (1 - _OWN) * _weight(around, weights)
        scores.append(LineScore(line, share / total, tuple(term for term in weights if term in own)))
    return scores


def _stems(text: str) -> frozenset[str]:
    return frozenset(text_terms(text))


def coverage(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the share of the weight of all terms that ``terms`` hold."""
    total = sum(weights.values())
    return _weight(terms & weights.keys(), weights) / total if total else 0.0


def _weight(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] for term in sorted(terms))
