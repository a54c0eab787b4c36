"""Mend words that the page's type cut, judged by the document's own usage.

A hyphen at the end of a line may be part of the word or the typesetter's; and where two f overlap, the second
is taken for a double print and lost (``ef ective``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

# Parts that compounds begin with though they are seldom words of their own.
_PREFIXES: Final = frozenset({
    "anti", "bi", "co", "e", "eco", "ex", "inter", "intra", "mid", "multi", "non", "off", "on", "over",
    "post",
    "pre", "pro", "pseudo", "quasi", "re", "self", "semi", "sub", "trans", "un", "under", "up",
})  # fmt: skip
_WORD: Final = re.compile(r"[^\W_]+(?:[-‐‑][^\W_]+)*")
_LOST_F: Final = re.compile(r"\b([^\W\d_]*[fF]) ([a-z]{2,})")
_SMALL_CAPS: Final = re.compile(r"\b([A-ZÁÉÍÓÚÑ]) ([A-ZÁÉÍÓÚÑ]{2,})\b")
_JOINED: Final = re.compile(r"([^\W_]*)\ufffe([^\W_]*)")
_CUT: Final = re.compile(r"([^\W_]+)[-‐]\Z")
_LEFT: Final = re.compile(r"[^\W_]+\Z")
_RIGHT: Final = re.compile(r"\A[^\W_]+")


def _without_cut(texts: Iterable[str], cuts: list[tuple[str, str]]) -> Iterator[str]:
    """Yield lines without the words that a line end cut, whose parts are no words; note their parts."""
    left = ""
    for line in texts:
        cuts.extend((match[1], match[2]) for match in _JOINED.finditer(line))
        text = _JOINED.sub(" ", line)
        if left:
            right = _RIGHT.search(text)
            if right:
                cuts.append((left, right.group()))
                text = text[right.end() :]
        hyphen = _CUT.search(text)
        left = hyphen[1] if hyphen else ""
        yield text[: hyphen.start()] if hyphen else text


class Words:
    """Count the words of a document, to judge hyphens at its line ends by its own usage.

    Example:
        >>> words = Words(["The long-term plan brings information to long owners, term by term."])
        >>> words.joint("long", "term"), words.joint("infor", "mation")
        ('-', '')
    """

    def __init__(self, texts: Iterable[str]) -> None:
        """Count the words of ``texts``, hyphenated ones whole and in their parts."""
        self._whole: Counter[str] = Counter()
        self._parts: set[str] = set()
        self._after_f: Counter[str] = Counter()
        cuts: list[tuple[str, str]] = []
        for text in _without_cut(texts, cuts):
            self._whole.update(_WORD.findall(text.casefold()))
            self._after_f.update(match.group(2) for match in _LOST_F.finditer(text))
            self._after_f.update(match.group(2).casefold() for match in _SMALL_CAPS.finditer(text))
        for word in self._whole:
            if "-" not in word:
                self._parts.add(word)
        settled = [self._settled(left, right) for left, right in cuts]
        # Whether this document hyphenates at all, by the cuts that its own words settle.
        self._unsettled = "-" if settled.count("-") > settled.count("") else ""

    def joint(self, before: str, after: str) -> str:
        """Return what belongs between two line parts: a hyphen or nothing.

        Usage elsewhere in the document decides first; then figures and capitals keep the hyphen, and so
        do two parts that are words of their own. What is left goes the way of the document's other cuts.
        """
        left, right = _LEFT.search(before), _RIGHT.search(after)
        if not left or not right:
            return "-"
        settled = self._settled(left.group(), right.group())
        return self._unsettled if settled is None else settled

    def _settled(self, left: str, right: str) -> str | None:
        """Return the joint where the document's words or the letters' case settle it."""
        a, b = left.casefold(), right.casefold()
        with_hyphen, without = self._whole[f"{a}-{b}"], self._whole[a + b]
        if with_hyphen != without:
            return "-" if with_hyphen > without else ""
        own = a in self._parts and b in self._parts
        if not right[:1].islower() or not left[-1:].isalpha():
            # A title in capitals may be hyphenated too; a code never is.
            return None if left.isupper() and right.isupper() and not own else "-"
        return "-" if own or a in _PREFIXES else None

    def restore(self, text: str) -> str:
        """Put back what type took apart: the second f of ``ff``, initials before small capitals.

        The whole word must occur elsewhere in the document, and its rest only behind such a gap.

        Example:
            >>> Words(["An effective plan.", "The ef ective date of ice."]).restore("ef ective of ice")
            'effective of ice'
            >>> Words(["Resorts", "M R ESORTS"]).restore("M R ESORTS")
            'M RESORTS'
        """
        return _SMALL_CAPS.sub(self._with_initial, _LOST_F.sub(self._with_f, text))

    def _with_f(self, match: re.Match[str]) -> str:
        head, rest = match.groups()
        return self._whole_or(match, f"{head}f{rest}", rest)

    def _with_initial(self, match: re.Match[str]) -> str:
        head, rest = match.groups()
        return self._whole_or(match, head + rest, rest.casefold())

    def _whole_or(self, match: re.Match[str], whole: str, rest: str) -> str:
        lost = self._whole[whole.casefold()] > 0 and self._whole[rest] <= self._after_f[rest]
        return whole if lost else match.group()
