"""What is said of a speaker before he speaks: "Ray Silva with Fenwick Grove", "Joan Pruitt, Treasurer"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from fin_rag.structure.calls.affiliation import is_role
from fin_rag.structure.calls.cues import edges
from fin_rag.structure.calls.names import close_word, name_key, one_slip
from fin_rag.structure.calls.vocabulary import fold, words

_WORD: Final = re.compile(r"[^\W\d_][\w'’.-]*|[&,.;:?!–—()\n]|\S")
_WRAP: Final = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")
_LINK: Final = frozenset({"with", "from", "of", "at", "representing", "de", "del", "desde"})
_ARTICLE: Final = frozenset({"the", "la", "el", "los", "las"})
_INNER: Final = frozenset({"and", "of", "the", "y", "de", "del", "la", "e", "for"})
_STOP: Final = frozenset(".;:?!–—()\n")
_WITH_STOP: Final = frozenset({"inc", "corp", "co", "ltd", "bros"})
_MOST_FIRM: Final = 10
_MOST_ROLE: Final = 9


class Announced(NamedTuple):
    """Say that somebody was named, and which firm and role stood beside the name."""

    named: bool
    firm: str = ""
    role: str = ""


def announced(text: str, name: str) -> Announced:
    """Look for a name in what was said before, and for the firm or the role that follows it.

    Example:
        >>> announced("Our first question comes from Ray Silva with Fenwick Grove. Please go ahead.", "Ray Silva")
        Announced(named=True, firm='Fenwick Grove', role='')
        >>> announced("I turn it over to Joan Pruitt, Treasurer.", "Joan Pruitt").role
        'Treasurer'
        >>> announced("La primera pregunta es de Óscar Núñez, de Banco Miralrío. Adelante.", "Óscar Núñez").firm
        'Banco Miralrío'
    """
    key = name_key(name)
    if not key:
        return Announced(named=False)
    tokens = list(_WORD.finditer(_WRAP.sub(" ", edges(text))))
    folded = [fold(token.group()) for token in tokens]
    place = _place(folded, key)
    if place is None:
        return Announced(named=False)
    shown = [token.group() for token in tokens]
    firm = _firm_behind(shown, folded, place[1])
    if not firm:
        firm = _firm_before(shown, folded, place[0])
    role = "" if firm else _role_behind(shown, folded, place[1])
    return Announced(named=True, firm=firm, role=role)


def _place(folded: Sequence[str], key: Sequence[str]) -> tuple[int, int] | None:
    """Return where the last mention of a name begins and ends: its first name, and a surname close behind it.

    A last or first name alone counts behind a form of address, or where a firm follows: "Lena from Alder".
    """
    alone: tuple[int, int] | None = None
    surnames = key[1:] or key
    for at in range(len(folded) - 1, -1, -1):
        # A double surname may be printed with or without a hyphen, or in half.
        last = any(close_word(word, name) for word in folded[at].split() for name in surnames)
        if last and len(key) == 1:
            return at, at + 1
        for before in range(at - 1, max(-1, at - 6), -1) if last else ():
            if folded[before] and (close_word(folded[before], key[0]) or folded[before] in key[:-1]):
                return before, at + 1
        if at and folded[at - 1] == key[0] and len(key) > 1 and one_slip(folded[at], key[-1], least=4):
            return at - 1, at + 1
        if alone is None and (last or folded[at] == key[0]):
            addressed = last and at > 0 and folded[at - 1] in words("honorifics")
            linked = at + 1 < len(folded) and folded[at + 1] in _LINK
            alone = (at, at + 1) if addressed or linked else None
    return alone


def _firm_behind(shown: Sequence[str], folded: Sequence[str], at: int) -> str:
    comma = at < len(shown) and shown[at] == ","
    at += comma
    if at < len(folded) and folded[at] in _LINK:
        at += 1
        if at < len(folded) and folded[at] in _ARTICLE and at + 1 < len(shown) and shown[at + 1][:1].isupper():
            at += 1
        return _firm(shown, folded, at)
    if comma:
        firm = _firm(shown, folded, at)
        return "" if is_role(firm) else firm
    return ""


def _firm(shown: Sequence[str], folded: Sequence[str], at: int) -> str:
    """Return the capitalised words from ``at`` on, with the commas that belong to a firm's name."""
    taken: list[str] = []
    while at < len(shown) and len(taken) < _MOST_FIRM:
        token, word = shown[at], folded[at]
        if token in _STOP or (word in words("firm_stops") and ((taken and word not in _INNER) or not taken)):
            break
        if token == ",":
            following = folded[at + 1] if at + 1 < len(folded) else ""
            lone = following in words("legal_forms")
            listed = at + 3 < len(shown) and shown[at + 1][:1].isupper() and shown[at + 2] == "&"
            if not (lone or listed):
                break
            taken.append(",")
        elif token == "&" or word in _INNER or word in words("particles"):
            taken.append(token)
        elif token[:1].isupper() or token[:1].isdigit() or (taken and taken[-1] == "&"):
            taken.append(token)
            if token.endswith(".") and not _abbreviation(token, shown, at):
                break
        else:
            break
        at += 1
    while taken and (taken[-1] in (",", "&") or taken[-1][:1].islower()):
        taken.pop()
    return _written(taken)


def _abbreviation(token: str, shown: Sequence[str], at: int) -> bool:
    """Tell whether a full stop belongs to a short form rather than to the end of the sentence."""
    short = len(token.rstrip(".")) <= 2 or "." in token[:-1] or fold(token) in words("legal_forms") | {"st", "bros"}
    following = shown[at + 1] if at + 1 < len(shown) else ""
    return short and (following[:1].isupper() or following in ("&", ",")) and fold(following) not in words("firm_stops")


def _written(tokens: Sequence[str]) -> str:
    text = " ".join(tokens).replace(" ,", ",")
    last = fold(tokens[-1]) if tokens else ""
    if text.endswith(".") and last not in _WITH_STOP and "." not in tokens[-1][:-1]:
        text = text[:-1]
    return text


def _firm_before(shown: Sequence[str], folded: Sequence[str], at: int) -> str:
    """Return the firm in "from Ostrom Bank, Greta Lindqvist" and "Ostrom Bank's Greta Lindqvist"."""
    own = at > 0 and folded[at - 1].endswith("s") and shown[at - 1].endswith(("'s", "s'"))
    if not own and not (at > 1 and shown[at - 1] == ","):
        return ""
    low = max(0, at - _MOST_FIRM)
    for link in range(at - 2, low - 1, -1):
        if shown[link] in _STOP:
            return ""
        if folded[link] in ("from", "with", "at", "of") and link + 1 < at:
            firm = _firm(shown, folded, link + 1)
            return firm.removesuffix("'s") if firm and not is_role(firm) else ""
    return ""


def _role_behind(shown: Sequence[str], folded: Sequence[str], at: int) -> str:
    """Return the office in "Joan Pruitt, Treasurer." and "Joan Pruitt, our Chief Financial Officer"."""
    if at >= len(shown) or shown[at] != ",":
        return ""
    at += 1
    if at < len(folded) and folded[at] in ("our", "the", "nuestro", "nuestra", "su", "el", "la"):
        at += 1
    taken: list[str] = []
    while at < len(shown) and len(taken) < _MOST_ROLE:
        token, word = shown[at], folded[at]
        joins = token == "&" or word in _INNER
        if token in _STOP or token == "," or not (token[:1].isupper() or joins):
            break
        if word in words("firm_stops") and word not in _INNER:
            break
        taken.append(token.rstrip("."))
        if token.endswith("."):
            break
        at += 1
    while taken and (taken[-1] == "&" or taken[-1][:1].islower()):
        taken.pop()
    role = " ".join(taken)
    return role if is_role(role) else ""
