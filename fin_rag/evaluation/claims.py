"""Sentences of an answer against texts: the deterministic stand-ins for what a model would judge."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from fin_rag.evaluation.figures import printed_figures
from fin_rag.evaluation.given import GivenAnswer
from fin_rag.text.words import fold, function_words

# A full stop inside a figure or an abbreviation of one letter ends no sentence.
_END: Final = re.compile(r"(?<=[.!?…])(?<!\b\w\.)[\"»”)\]]{0,4}\s+(?=\S)|\n+")
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_MARKER: Final = re.compile(r"\[\d{1,3}\]")
_STEM: Final = 6  # letters: enough to bring the forms of a word together
_ENOUGH: Final = 0.6


def sentences(text: str) -> list[str]:
    """Split an answer into sentences and lines.

    Example:
        >>> sentences("Net debt was 12.5 million. It fell [1].  Why?")
        ['Net debt was 12.5 million.', 'It fell [1].', 'Why?']
    """
    out, at = [], 0
    for match in _END.finditer(text):
        out.append(text[at : match.end()].strip())
        at = match.end()
    out.append(text[at:].strip())
    return [part for part in out if _WORD.search(part) or any(c.isdigit() for c in part)]


def stems(text: str) -> frozenset[str]:
    """Return the folded beginnings of the words of a text that carry its topic."""
    words = (fold(word) for word in _WORD.findall(text))
    return frozenset(word[:_STEM] for word in words if word not in function_words())


@dataclass(frozen=True)
class Evidence:
    """Hold texts that claims are held against."""

    texts: tuple[str, ...]

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of all texts."""
        return frozenset().union(*map(stems, self.texts))

    def holds(self, claim: str, *, lang: str | None = None) -> bool:
        """Tell whether each figure of a claim is printed here, and without figures six in ten of its words."""
        bare = _MARKER.sub(" ", claim)
        checked = printed_figures(bare, self.texts, lang=lang)
        if checked:
            return all(verdict != "unsupported" for _, verdict in checked)
        wanted = stems(bare)
        return not wanted or len(wanted & self.stems) >= _ENOUGH * len(wanted)


def faithfulness_proxy(answer: GivenAnswer, *, lang: str | None = None) -> float | None:
    """Return the share of an answer's sentences that its contexts hold; ``None`` without an answer or contexts.

    A proxy, and named as such: it compares figures and words, and does not understand them.
    """
    claims = sentences(answer.answer)
    if answer.declined or not claims or not answer.contexts:
        return None
    evidence = Evidence(tuple(context.text for context in answer.contexts))
    return sum(evidence.holds(claim, lang=lang) for claim in claims) / len(claims)


def citation_correctness(answer: GivenAnswer, *, lang: str | None = None) -> float | None:
    """Return the share of citations whose text holds what they are cited for; ``None`` where nothing is cited.

    A sentence with several markers is held against all of their texts together.
    """
    if answer.declined or not answer.citations:
        return None
    by_marker = {c.marker: c.text for c in answer.citations if c.marker}
    claims = sentences(answer.answer)
    held: list[bool] = []
    for citation in answer.citations:
        cited_for = (
            [citation.claim] if citation.claim else [c for c in claims if citation.marker and citation.marker in c]
        )
        if not cited_for:
            cited_for = [answer.answer]
        held.append(all(_texts(citation.text, claim, by_marker).holds(claim, lang=lang) for claim in cited_for))
    return sum(held) / len(held)


def _texts(own: str, claim: str, by_marker: dict[str, str]) -> Evidence:
    markers: Sequence[str] = _MARKER.findall(claim)
    return Evidence((own, *(by_marker[m] for m in markers if m in by_marker)))
