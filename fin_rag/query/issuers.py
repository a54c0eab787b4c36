"""Issuers in a question: names, short names, tickers, initials and typos, against the index's own library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from fin_rag.query.library import Library, generic_words, legal_suffixes, name_words
from fin_rag.query.model import Mention
from fin_rag.query.vocabulary import Token, known_stems, read_json
from fin_rag.text.words import function_words

_LEAST_TYPO_LETTERS: Final = 5
_TYPO_RATIO: Final = 0.84  # one wrong letter of six, two of twelve
_LEAST_PREFIX: Final = 4
_INITIALS: Final = range(2, 7)
_SENTENCE_END: Final = frozenset(".?!:¿¡\n")


@dataclass(frozen=True, slots=True)
class _Candidate:
    first: int
    last: int
    entity: str
    full: bool
    at: int


def find_issuers(tokens: Sequence[Token], library: Library) -> tuple[list[Mention], list[str]]:
    """Return the mentions of issuers in order, and how they were read.

    The longest name at a place wins, a whole name over a part of another; a part that fits several issuers means all
    of them. Typos are read only where no name was found as it is written.
    """
    cased = any(token.text[:1].isupper() for token in tokens) and any(token.text[:1].islower() for token in tokens)
    mentions = _pick(_exact(tokens, library, cased=cased), tokens)
    mentions += _tickers(tokens, library, cased=cased, taken=mentions)
    if not mentions:
        mentions = _typos(tokens, library)
    mentions.sort(key=lambda mention: mention.start)
    return mentions, [mention.reason for mention in mentions]


def _exact(tokens: Sequence[Token], library: Library, *, cased: bool) -> list[_Candidate]:
    found = []
    for first, token in enumerate(tokens):
        for entity, name, at in library.name_index.get(token.folded, ()):
            length = 1
            while (
                at + length < len(name)
                and first + length < len(tokens)
                and tokens[first + length].folded == name[at + length]
            ):
                length += 1
            before = sum(word not in generic_words() for word in name[:at])  # "Grupo" in front does not count
            candidate = _Candidate(first, first + length, entity, length == len(name), before)
            if _means_name(tokens[first : first + length], candidate, library, cased=cased):
                found.append(candidate)
    return found


def _means_name(words: Sequence[Token], candidate: _Candidate, library: Library, *, cased: bool) -> bool:
    """Tell whether a part of a name is enough to mean it."""
    own = [word for word in words if word.folded not in generic_words() and word.folded not in function_words()]
    capital = not cased or any(word.text[:1].isupper() or word.text[:1].isdigit() for word in own or words)
    if candidate.full and len(words) > 1:
        return True
    if candidate.full:
        return bool(own) and (capital or not _is_common(words[0]))
    if not own or not capital or len(own[0].folded) < 2:
        return False
    if all(_is_common(word) for word in own) and (len(own) < 2 or not cased):
        return False
    if candidate.at == 0:
        return True
    entities = {entity for entity, _, _ in library.name_index[own[0].folded]}
    return len(words) > 1 or (len(entities) == 1 and not _is_common(own[0]) and len(own[0].folded) > 3)


def _is_common(token: Token) -> bool:
    return token.stem in known_stems() or token.folded in function_words() or token.folded.isdigit()


def _pick(candidates: Sequence[_Candidate], tokens: Sequence[Token]) -> list[Mention]:
    """Choose spans that do not overlap, longest first; at one span, whole names over parts of names."""
    taken: list[tuple[int, int]] = []
    mentions = []
    for best in sorted(candidates, key=lambda c: (c.first - c.last, not c.full, c.at, c.first)):
        if any(first < best.last and best.first < last for first, last in taken):
            continue
        taken.append((best.first, best.last))
        same = [c for c in candidates if (c.first, c.last) == (best.first, best.last)]
        rank = min((not c.full, c.at > 0) for c in same)
        chosen = tuple(dict.fromkeys(c.entity for c in same if (not c.full, c.at > 0) == rank))
        text = " ".join(token.text for token in tokens[best.first : best.last])
        how = "named" if best.full else "named in part" if len(chosen) == 1 else "a part of several names"
        mentions.append(
            Mention(
                text, tokens[best.first].start, tokens[best.last - 1].end, chosen,
                f"{text!r}: {how}: {', '.join(chosen[:6])}",
            )
        )  # fmt: skip
    return mentions


def _tickers(tokens: Sequence[Token], library: Library, *, cased: bool, taken: Sequence[Mention]) -> list[Mention]:
    """Return mentions by ticker, by initials (AMD) and by beginnings of words (Amex)."""
    found = []
    named = {key for mention in taken for key in mention.entities}
    for token in tokens:
        if any(m.start < token.end and token.start < m.end for m in taken) or token.folded in function_words():
            continue
        shouted = token.text.isupper() and len(token.text) > 1
        if cased and not shouted and not _mixed(token.text):
            continue
        if not shouted and _is_common(token):
            continue
        keys = [key for key, entity in library.entities.items() if token.text.upper() in entity.tickers]
        how = "ticker"
        if not keys and len(token.folded) in _INITIALS and not _is_common(token):
            keys = [
                key for key, entity in library.entities.items() if any(_spells(token.folded, n) for n in entity.names)
            ]
            how = "initials"
        keys = [key for key in keys if key not in named]
        if keys and (how == "ticker" or len(keys) == 1):
            found.append(
                Mention(token.text, token.start, token.end, tuple(keys), f"{token.text!r}: {how} of {', '.join(keys)}")
            )
    return found


def _mixed(text: str) -> bool:
    return text[:1].isupper() and any(char.isupper() for char in text[1:])


def _spells(word: str, name: tuple[str, ...]) -> bool:
    """Tell whether a word is made of the beginnings of all words of a name, in order."""
    words = [w for w in name if w not in legal_suffixes()]
    if len(words) < 2 or len(word) < len(words):
        return False
    reach = {0}
    for part in words:
        reach = {
            at + size
            for at in reach
            for size in range(1, min(len(part), len(word) - at, 4) + 1)
            if word.startswith(part[:size], at)
        }
    return len(word) in reach


def _typos(tokens: Sequence[Token], library: Library) -> list[Mention]:
    """Return names that are one slip away from what is written, and names that go on ("Pepsi" for PepsiCo)."""
    firsts = sorted({name[0] for entity in library.entities.values() for name in entity.names})
    found = []
    for at, token in enumerate(tokens):
        if len(token.folded) < _LEAST_PREFIX or _is_common(token) or token.folded in generic_words():
            continue
        best = max(((_likeness(token.folded, word), word) for word in firsts), default=(0.0, ""))
        if best[0] < _TYPO_RATIO:
            continue
        entries = [(key, name) for key, name, place in library.name_index[best[1]] if place == 0]
        following = tokens[at + 1].folded if at + 1 < len(tokens) else ""
        longer = [
            (key, name) for key, name in entries if len(name) > 1 and _likeness(following, name[1]) >= _TYPO_RATIO
        ]
        keys = tuple(dict.fromkeys(key for key, _ in longer or entries))
        end = tokens[at + 1].end if longer else token.end
        text = f"{token.text} {tokens[at + 1].text}" if longer else token.text
        found.append(Mention(text, token.start, end, keys, f"{text!r}: read as {', '.join(keys)}", exact=False))
    return found


@cache
def _likeness(word: str, name: str) -> float:
    if name.startswith(word) and len(word) >= _LEAST_PREFIX and len(word) * 10 >= len(name) * 6:
        return 1.0
    if min(len(word), len(name)) < _LEAST_TYPO_LETTERS or abs(len(word) - len(name)) > 2 or word[0] != name[0]:
        return 0.0
    return SequenceMatcher(None, word, name, autojunk=False).ratio()


# --- names that the index does not hold -----------------------------------------------------------


def find_missing(
    question: str, tokens: Sequence[Token], mentions: Sequence[Mention], occurs: Callable[[str], bool]
) -> list[str]:
    """Return names of companies that stand in a question and are none of the library's.

    A name is a run of capitalised words that are no known terms. It is missing when it is a well-known company's, or
    when one of its words occurs in no document (``occurs``).
    """
    cased = any(token.text[:1].islower() for token in tokens if len(token.text) > 2)
    known = _well_known()
    missing = []
    at = 0
    while at < len(tokens):
        last = at
        while last < len(tokens) and _is_proper(question, tokens, last, mentions, first=last == at):
            last += 1
        if last == at or not cased:
            at += 1
            continue
        run = tokens[at:last]
        words = name_words(" ".join(token.text for token in run))
        text = question[run[0].start : run[-1].end]
        own = [w for w in words if w not in generic_words()]
        if words in known or (own and not occurs(own[0]) and len(own[0]) > 2 and not own[0].isdigit()):
            missing.append(text)
        at = last
    return missing


def _is_proper(question: str, tokens: Sequence[Token], at: int, mentions: Sequence[Mention], *, first: bool) -> bool:
    token = tokens[at]
    if not token.text[:1].isupper() or any(m.start < token.end and token.start < m.end for m in mentions):
        return False
    if any(char.isdigit() for char in token.text) or token.folded in function_words():
        return False
    if first and token.stem in known_stems():
        return False
    before = question[: token.start].rstrip()
    starts = not before or before[-1] in _SENTENCE_END
    return not (first and starts and (len(tokens) > at + 1 and not tokens[at + 1].text[:1].isupper()))


@cache
def _well_known() -> frozenset[tuple[str, ...]]:
    return frozenset(name_words(name) for group in read_json("companies.json")["names"] for name in group)
