"""Document text around gold and returned spans as HTML, each character coloured by what it is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Final

from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.hits import Hit, united
from fin_rag.evaluation.results import QuestionResult
from fin_rag.schema import Span

_MARGIN: Final = 240  # characters of text shown around a span
_MOST: Final = 6000  # characters shown of one document
_CLASSES: Final = {(True, True): "both", (True, False): "gold", (False, True): "found"}


def coloured(text: str, window: Span, gold: Sequence[Span], found: Sequence[Span]) -> str:
    """Write a part of a text as HTML: gold, returned and gold that was returned, each in a ``mark`` of its own.

    Example:
        >>> coloured("a<b>c", Span(0, 5), [Span(1, 3)], [Span(2, 4)])
        'a<mark class="gold">&lt;</mark><mark class="both">b</mark><mark class="found">&gt;</mark>c'
    """
    edges = {window.start, window.end}
    for span in (*gold, *found):
        edges |= {max(window.start, min(window.end, at)) for at in (span.start, span.end)}
    ordered = sorted(edges)
    out = []
    for start, end in pairwise(ordered):
        is_gold = any(s.start <= start and end <= s.end for s in gold)
        is_found = any(s.start <= start and end <= s.end for s in found)
        name, piece = _CLASSES.get((is_gold, is_found)), escape(text[start:end])
        out.append(f'<mark class="{name}">{piece}</mark>' if name else piece)
    return "".join(out)


def passages(result: QuestionResult, read: Sequence[Hit], corpus: Corpus) -> list[tuple[str, str]]:
    """Return ``(document title, HTML)`` for each document with gold or results of a question."""
    gold: dict[str, list[Span]] = {}
    for passage in result.gold.passages:
        gold.setdefault(passage.spot.doc_id, []).extend(passage.spot.spans)
    found: dict[str, list[Span]] = {}
    for hit in read:
        found.setdefault(hit.doc_id, []).extend(hit.spans)
    out = []
    for doc_id in dict.fromkeys([*gold, *found]):
        document = corpus[doc_id]
        of_gold, of_found = united(gold.get(doc_id, ())), united(found.get(doc_id, ()))
        parts, shown = [], 0
        for window in _windows((*of_gold, *of_found), len(document.text)):
            if shown >= _MOST:
                parts.append("… (more of this document was returned)")
                break
            cut = Span(window.start, min(window.end, window.start + _MOST - shown))
            shown += len(cut)
            parts.append(coloured(document.text, cut, of_gold, of_found))
        out.append((document.title, "\n…\n".join(parts)))
    return out


def _windows(spans: Sequence[Span], size: int) -> tuple[Span, ...]:
    return united(Span(max(0, s.start - _MARGIN), min(size, s.end + _MARGIN)) for s in spans)
