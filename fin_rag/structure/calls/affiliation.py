"""Split what stands behind a name into role and firm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from fin_rag.structure.calls.vocabulary import fold, words

DASH: Final = re.compile(r"\s+(?:--+|[-–—―])\s+|\s*(?:--+|—)\s*")
_COMMA: Final = re.compile(r",\s+")
_BRACKETED: Final = re.compile(r"(?P<head>[^()]+?)\s*\((?P<inside>[^()]+)\)")
_ROLE_FROM: Final = re.compile(r"\s+(?:at|with|of|en|de)\s+", re.IGNORECASE)


class Affiliation(NamedTuple):
    """Hold a role and a firm, each empty where it is not stated."""

    role: str = ""
    firm: str = ""


@lru_cache(maxsize=65_536)
def is_role(text: str) -> bool:
    """Tell whether a phrase holds a word that names an office.

    Example:
        >>> is_role("EVP-Chief Financial Officer"), is_role("Ostrom Bank"), is_role("Consejera Delegada")
        (True, False, True)
    """
    tokens = fold(text).split()
    if not tokens or (tokens[-1] in words("firm_words") and tokens[0] not in words("strong_titles")):
        return False
    return any(token in words("strong_titles") for token in tokens)


def is_department(text: str) -> bool:
    """Tell whether a phrase is made of names of departments and regions only."""
    tokens = fold(text).split()
    return bool(tokens) and all(token in words("department_words") for token in tokens)


def is_firm(text: str) -> bool:
    """Tell whether a phrase ends as names of firms do, or holds their legal form."""
    tokens = fold(text).split()
    return len(tokens) > 1 and (tokens[-1] in words("firm_words") or any(t in words("legal_forms") for t in tokens))


def joined_lines(said: Sequence[str]) -> str:
    """Join the lines below a name: an office and a firm by a comma, what is wrapped by a blank.

    Example:
        >>> joined_lines(["Group Finance Director", "Alder Marine plc"])
        'Group Finance Director, Alder Marine plc'
        >>> joined_lines(["Executive VP & Chief", "Risk Officer"])
        'Executive VP & Chief Risk Officer'
    """
    whole = ""
    for line in said:
        parted = whole and not whole.endswith((",", "&", "-")) and _parted(whole, line)
        whole = f"{whole}{',' if parted else ''} {line}".strip()
    return whole


def _parted(before: str, line: str) -> bool:
    last = fold(before).split()[-1:]
    if is_role(line):
        return is_firm(before) or (bool(last) and last[0] in words("strong_titles") - words("opening_titles"))
    return is_role(before) and is_firm(line)


def is_analyst_role(text: str) -> bool:
    """Tell whether a role is that of an analyst."""
    tokens = fold(text).split()
    return any(token in ("analyst", "analysts", "analista", "analistas") for token in tokens)


def split_affiliation(text: str, *, side: str = "", firms: Sequence[str] = (), firm_first: bool = False) -> Affiliation:
    """Split ``text`` into role and firm.

    Args:
        text: what a transcript prints behind or under a name.
        side: ``company`` or ``external``, where known.
        firms: folded names that are known to be firms (the issuer among them).
        firm_first: the layout prints ``Firm - Role``.

    Example:
        >>> split_affiliation("Rook, Hale & Co., Inc. - MD & Senior Analyst")
        Affiliation(role='MD & Senior Analyst', firm='Rook, Hale & Co., Inc.')
        >>> split_affiliation("Analyst, Tillery Research LLC")
        Affiliation(role='Analyst', firm='Tillery Research LLC')
        >>> split_affiliation("Head, Investor Relations", side="company")
        Affiliation(role='Head, Investor Relations', firm='')
    """
    text = " ".join(text.split()).strip(" ,;")
    if not text or text in ("-", "--", "—", "–"):
        return Affiliation()
    dashed = _by_dashes(text, side, firms, firm_first=firm_first)
    if dashed is not None:
        return dashed
    bracketed = _BRACKETED.fullmatch(text)
    if bracketed and is_role(bracketed["head"]) and not is_role(bracketed["inside"]) and len(bracketed["inside"]) > 5:
        return Affiliation(bracketed["head"], bracketed["inside"])
    return _by_commas(text, side, firms)


def _by_dashes(text: str, side: str, firms: Sequence[str], *, firm_first: bool) -> Affiliation | None:
    parts = [part.strip(" ,") for part in DASH.split(text) if part.strip(" ,")]
    if len(parts) < 2:
        return None
    head, last = " - ".join(parts[:-1]), parts[-1]
    if firm_first:
        return Affiliation(role=last, firm=head)
    first, rest = parts[0], " - ".join(parts[1:])
    if is_role(first) and _names_firm(last, firms) and not is_role(last):
        return Affiliation(role=head, firm=last)
    if not is_role(first) and is_role(rest):
        inner = split_affiliation(rest, side=side, firms=firms)
        return Affiliation(role=inner.role or rest, firm=first)
    if is_role(head) and not is_role(last) and not is_department(last):
        region = side == "company" and " " not in last and not _names_firm(last, firms)
        return Affiliation(role=text) if region else Affiliation(role=head, firm=last)
    if is_role(text):
        return Affiliation(role=text)
    return Affiliation(role=rest, firm=first) if side == "external" else Affiliation(role=first, firm=rest)


def _by_commas(text: str, side: str, firms: Sequence[str]) -> Affiliation:
    segments = _COMMA.split(text)
    if is_role(segments[0]) and not _whole_firm(text, firms):
        return _role_then_firm(segments, firms)
    if len(segments) > 1 and is_role(segments[-1]) and not is_department(segments[-1]):
        at = next(i for i in range(1, len(segments)) if all(is_role(s) or is_department(s) for s in segments[i:]))
        return Affiliation(role=", ".join(segments[at:]), firm=", ".join(segments[:at]))
    if side == "company" and not _names_firm(text, firms):
        return Affiliation(role=text)
    return Affiliation(firm=text)


def _role_then_firm(segments: Sequence[str], firms: Sequence[str]) -> Affiliation:
    outside = is_analyst_role(segments[0])
    for at in range(1, len(segments)):
        rest = ", ".join(segments[at:])
        if is_role(segments[at]):
            outside = outside or is_analyst_role(segments[at])
            continue
        if _names_firm(rest, firms) or (outside and not is_department(segments[at])):
            return Affiliation(", ".join(segments[:at]), rest)
    whole = ", ".join(segments)
    if outside:
        parts = _ROLE_FROM.split(whole, maxsplit=1)
        if len(parts) == 2 and is_analyst_role(parts[0]) and not is_department(parts[1]) and not is_role(parts[1]):
            return Affiliation(parts[0], parts[1])
    return Affiliation(whole)


def _names_firm(text: str, firms: Sequence[str]) -> bool:
    return is_firm(text) or _whole_firm(text, firms)


def _whole_firm(text: str, firms: Sequence[str]) -> bool:
    folded = fold(text)
    return any(folded == firm or (len(folded) > 4 and firm.startswith(folded + " ")) for firm in firms)
