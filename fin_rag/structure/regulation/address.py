"""Addresses of provisions: ``art:12/par:3/pt:b``, ``sec:240.10b-5/a/1``; parsing, prefixes, ranges."""

from __future__ import annotations

import unicodedata
from typing import Final

_SPOKEN: Final = {
    "art": "Article", "par": "paragraph", "pt": "point", "sub": "subpoint", "norma": "Norma", "annex": "Annex",
    "recital": "Recital", "da": "Disposición adicional", "dt": "Disposición transitoria",
    "dd": "Disposición derogatoria", "df": "Disposición final", "sec": "§", "rule": "Rule",
}  # fmt: skip


def parse_address(address: str) -> tuple[tuple[str, str], ...]:
    """Cut an address into ``(kind, number)`` steps, the outermost first; bare levels have an empty kind.

    Example:
        >>> parse_address("sec:399.12/a/1")
        (('sec', '399.12'), ('', 'a'), ('', '1'))
    """
    steps = []
    for part in address.split("/"):
        kind, colon, number = part.partition(":")
        steps.append((kind, number) if colon else ("", kind))
    return tuple(steps)


def address_key(address: str) -> str:
    """Return the form in which addresses are compared: no accents, kinds in small letters, single blanks.

    Labels of bare levels keep their case, since ``/a`` and ``/A`` are different levels of one section.

    Example:
        >>> address_key("art:14  quáter")
        'art:14 quater'
    """
    plain = unicodedata.normalize("NFKD", address)
    kept = "".join(char for char in plain if not unicodedata.combining(char) or char == "\u0303")
    parts = " ".join(kept.split()).split("/")
    return "/".join(part.casefold() if ":" in part else part for part in parts)


def is_within(address: str, prefix: str) -> bool:
    """Tell whether an address is that provision or lies below it.

    Example:
        >>> is_within("art:12/par:3", "art:12"), is_within("art:12 bis", "art:12"), is_within("art:120", "art:12")
        (True, False, False)
    """
    own, above = address_key(address), address_key(prefix)
    return own == above or own.startswith(f"{above}/")


def prefixes(address: str) -> tuple[str, ...]:
    """Return the address and those of its parents, the outermost first.

    Example:
        >>> prefixes("art:12/par:3/pt:b")
        ('art:12', 'art:12/par:3', 'art:12/par:3/pt:b')
    """
    parts = address.split("/")
    return tuple("/".join(parts[:count]) for count in range(1, len(parts) + 1))


def spoken(address: str) -> str:
    """Write an address for a reader.

    Example:
        >>> spoken("art:12/par:3/pt:b"), spoken("sec:399.12/a/1")
        ('Article 12, paragraph 3, point b', '§ 399.12(a)(1)')
    """
    words = ""
    for kind, number in parse_address(address):
        if kind:
            name = _SPOKEN.get(kind, kind.capitalize())
            words += f"{', ' if words else ''}{name} {number}".rstrip()
        else:
            words += number if number.startswith(".") else f"({number})"
    return words
