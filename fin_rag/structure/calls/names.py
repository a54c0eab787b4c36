"""Tell names of people from other words, and two spellings of one name from two people."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from fin_rag.structure.calls.vocabulary import classes, fold, words

_LONGEST_NAME: Final = 64
_MOST_TOKENS: Final = 7
_SHORTENED: Final = 2  # letters
_QUOTES: Final = "\"“'‘("
_TOKEN: Final = re.compile(r"[\"“'‘(]?[^\W\d_][^\W\d_'’.\-‐‑]*(?:['’.\-‐‑]+[^\W\d_]+)*[.'’]?[\"”'’)]?")
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.?-?){1,3}\.?")
_CODE: Final = re.compile(
    r"(?:spk|spkr|speaker|participant|voice|hablante|interlocutor|orador|participante|analyst|executive)[ _#-]*\d{1,3}",
    re.IGNORECASE,
)
_GAP: Final = re.compile(r"[\[(<]\s*([^\W\d_][^\W\d_ ]*(?: [^\W\d_]+){0,2})\s*[\])>]")


@lru_cache(maxsize=65_536)
def name_kind(name: str) -> str:
    """Say what a label names.

    ``operator``, ``editor``, ``analyst``/``company``/``unknown`` (somebody who is not identified), ``code`` (a
    speaker number), ``person``, ``single`` (one capitalised word), or nothing.

    Example:
        >>> [name_kind(name) for name in ("Operadora", "spk03", "María del Mar Peñalver", "Note", "gross margin")]
        ['operator', 'code', 'person', 'single', '']
    """
    if not name or len(name) > _LONGEST_NAME:
        return ""
    folded = fold(name)
    if folded in words("operators"):
        return "operator"
    if folded in words("editors"):
        return "editor"
    if folded in words("qa_titles") or folded in words("prepared_titles") or folded in words("tail_titles"):
        return ""
    unidentified = classes("unidentified").get(folded)
    if unidentified and (name[0].isupper() or name[0] in "[(<"):
        return unidentified
    gap = _GAP.fullmatch(name)
    if gap:
        return "unknown" if classes("unidentified").get(fold(gap[1])) == "unknown" else ""
    if _CODE.fullmatch(name):
        return {"analyst": "analyst", "executive": "company"}.get(folded.split()[0].rstrip("0123456789"), "code")
    return _personal(name)


def _personal(name: str) -> str:
    tokens = _without_suffixes(name.split())
    if not 1 <= len(tokens) <= _MOST_TOKENS or not _starts_upper(tokens[0]):
        return ""
    if tokens[0][0] in _QUOTES or tokens[-1][0] in _QUOTES or not all(_may_name(token) for token in tokens):
        return ""
    folded = [fold(token) for token in tokens]
    if len(tokens) > 1 and (
        any(word in words("strong_titles") for whole in folded for word in whole.split())
        or not _starts_upper(tokens[-1])
        or all(word in words("not_names") for word in folded)
    ):
        return ""
    if any(not _starts_upper(t) and w not in words("particles") for t, w in zip(tokens, folded, strict=True)):
        return ""
    real = sum(
        _starts_upper(token) and word not in words("honorifics") and not _is_initial(token)
        for token, word in zip(tokens, folded, strict=True)
    )
    if folded[-1] in words("firm_words") or real == 0:
        return ""
    return "person" if len(tokens) > 1 else "single"


def _may_name(token: str) -> bool:
    """Tell whether a token has the form of a name's word: letters, an initial, a short form."""
    if not _TOKEN.fullmatch(token) and not _INITIALS.fullmatch(token):
        return False
    if token[0] == "(" and token[-1] != ")":
        return False
    return not token.endswith(".") or _abbreviates(token)


def _abbreviates(token: str) -> bool:
    """Tell whether a full stop shortens a word, as in ``Mr.``, ``Jr.``, ``J.P.`` and ``Wm.``, or ends a sentence."""
    folded = fold(token)
    known = words("honorifics") | words("suffixes") | words("particles")
    return "." in token[:-1] or len(folded) <= _SHORTENED or folded in known


def _starts_upper(token: str) -> bool:
    bare = token.lstrip("\"“'‘(")
    return bool(bare) and bare[0].isupper()


def _is_initial(token: str) -> bool:
    return len(token.strip(".")) == 1


def _without_suffixes(tokens: list[str]) -> list[str]:
    """Drop ``Jr.``, ``III``, ``, CFA`` from the end, and the comma before."""
    kept = list(tokens)
    while len(kept) > 1 and fold(kept[-1]) in words("suffixes"):
        kept.pop()
    if kept:
        kept[-1] = kept[-1].rstrip(",")
    return kept


def doubtful(name: str) -> bool:
    """Tell whether any word of a name is an everyday word of business speech.

    Example:
        >>> doubtful("David Gross"), doubtful("Mei-Ling Hsu")
        (True, False)
    """
    return any(fold(token) in words("not_names") for token in name.split())


def without_honorific(name: str) -> str:
    """Return a name without ``Mr.``, ``D.`` and the like in front.

    Example:
        >>> without_honorific("MR. ANAND PILLAI"), without_honorific("Dña. Ana Ruiz")
        ('ANAND PILLAI', 'Ana Ruiz')
    """
    tokens = name.split()
    while len(tokens) > 1 and fold(tokens[0]) in words("honorifics") and len(tokens[0]) > 1:
        tokens = tokens[1:]
    return " ".join(tokens)


@lru_cache(maxsize=65_536)
def name_key(name: str) -> tuple[str, ...]:
    """Return the words that tell a person from others: folded, without titles, particles and initials."""
    tokens = _without_suffixes(without_honorific(name).split())
    folded: list[str] = []
    initials = False
    for token in tokens:
        letters = fold(token).replace(" ", "")
        before, initials = initials, len(letters) == 1 or (_INITIALS.fullmatch(token) is not None and "." in token[:-1])
        if initials and before:
            folded[-1] += letters  # "R. J." and "R.J." are "rj"
        else:
            folded += [letters] if initials else fold(token).split()
    kept = tuple(word for word in folded if word and len(word) > 1 and word not in words("particles") - {"san", "st"})
    return kept or tuple(word for word in folded if word)


def same_person(one: str, other: str) -> bool:
    """Tell whether two names are spellings of one: middle names, short forms, a slip of one letter.

    Example:
        >>> same_person("Lou Castel", "Lou Castell"), same_person("Paul Newsome", "Jon Paul Newsome")
        (True, True)
        >>> same_person("Geoff Lee", "Geoffrey Lee"), same_person("Ann Lee", "Ann Roe")
        (True, False)
    """
    a, b = name_key(one), name_key(other)
    if a == b:
        return bool(a)
    if len(a) < 2 or len(b) < 2:
        return False
    if set(a) <= set(b) or set(b) <= set(a):
        return True
    same_last, same_first = a[-1] == b[-1], a[0] == b[0]
    if same_last:
        return close_word(a[0], b[0])
    return same_first and one_slip(a[-1], b[-1])


def close_word(a: str, b: str) -> bool:
    """Tell whether two folded names are one: a short form, or a slip of one letter.

    Example:
        >>> close_word("tom", "thomas"), close_word("castel", "castell"), close_word("ann", "lee")
        (True, True, False)
    """
    if a == b:
        return True
    short, long = sorted((a, b), key=len)
    nick = classes("nicknames")
    return (len(short) >= 3 and long.startswith(short)) or nick.get(a, a) == nick.get(b, b) or one_slip(a, b)


def one_slip(a: str, b: str, *, least: int = 5) -> bool:
    """Tell whether words of ``least`` letters or more differ by one letter put in, left out, changed or swapped.

    Example:
        >>> one_slip("castel", "castell"), one_slip("post", "bost"), one_slip("post", "bost", least=4)
        (True, False, True)
    """
    short, long = sorted((a, b), key=len)
    if len(long) < least or len(long) - len(short) > 1:
        return False
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    if short[at + 1 :] == long[at + 1 :]:
        return True
    return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
