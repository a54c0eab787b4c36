"""Read printed figures, in English and Spanish notation, with where they stand.

Both notations are told apart by the figure itself wherever it can be: ``1,234.5`` and ``1.234,5``,
``1,234,567`` and ``12,5``. One separator with three digits behind it (``1.234``) can mean either; then
the notation of the text decides (see :func:`decimal_mark`), and the other reading is kept in
:attr:`Number.alternative`.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from fin_rag.errors import InputError
from fin_rag.schema import Span
from fin_rag.text.number_scan import Number, Scanner
from fin_rag.text.number_words import BLANKS, MINUS_SIGNS

__all__ = ["Number", "decimal_mark", "find_numbers", "parse_number"]

_NIL: Final = re.compile(rf"[$€£¥]?[{BLANKS}]?[{MINUS_SIGNS}\u2014]{{1,3}}[{BLANKS}]?[%$€£¥]?")
_NOTE_TAIL: Final = re.compile(rf"(?:[{BLANKS}]?(?:\([0-9a-z]{{1,2}}\)|[*†‡¹²³⁴⁵⁶⁷⁸⁹⁰])){{1,4}}\Z")
_MAX_CELL: Final = 120

_POINT_VOTES: Final = re.compile(
    r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3}\.[0-9]|,[0-9]{3},[0-9]{3}(?![0-9])|\.[0-9]{1,2} ?%)"
)
_COMMA_VOTES: Final = re.compile(
    r"(?<![0-9.,])[0-9]{1,3}(?:\.[0-9]{3},[0-9]|\.[0-9]{3}\.[0-9]{3}(?![0-9])|,[0-9]{1,2} ?%)"
)


def find_numbers(text: str, *, lang: str | None = None, decimal: str | None = None, offset: int = 0) -> list[Number]:
    """Return every printed figure of ``text`` in order; each run of digits is in exactly one.

    ``lang`` (``en``, ``es`` or ``None``: not known) and the notation of the text itself decide how
    ``1.234`` is read; ``decimal`` (``"."`` or ``","``) overrules both. ``offset`` (code points) is added to
    every span: the place of ``text`` in its document.

    Raises:
        InputError: if ``decimal`` is neither ``"."`` nor ``","``, or ``offset`` is negative.

    Example:
        >>> [(str(n.value), n.currency) for n in find_numbers("from $890M to USD 1.5 billion")]
        [('890000000', 'USD'), ('1500000000', 'USD')]
        >>> [n.value for n in find_numbers("de 1.234 a 2.345,5 millones de euros", lang="es")]
        [Decimal('1234'), Decimal('2345500000')]
        >>> find_numbers("Item 7 of the Form 10-K for 2024")[0].kind
        'label'
    """
    if offset < 0:
        raise InputError(f"'offset' of find_numbers must be 0 or more code points. Got {offset!r}.")
    if decimal is None:
        decimal = decimal_mark(text, lang=lang)
    elif decimal not in (".", ","):
        raise InputError(f"'decimal' of find_numbers must be '.' or ','. Got {decimal!r}.")
    return list(Scanner(text, lang=lang, decimal=decimal, offset=offset).scan())


def parse_number(text: str, *, lang: str | None = None, decimal: str | None = None) -> Number | None:
    """Read a string that is one figure and nothing else, such as a table cell.

    In a cell, brackets always mean a negative figure, a dash means nil (zero), a trailing minus counts,
    plain blanks may group digits, and note markers behind the figure are passed over. Anything else than
    one figure gives ``None``. The span indexes ``text``.

    Raises:
        InputError: if ``decimal`` is neither ``"."`` nor ``","``.

    Example:
        >>> parse_number("(1.234,5)", lang="es").value
        Decimal('-1234.5')
        >>> parse_number("—").kind, parse_number("Total") is None
        ('nil', True)
    """
    if decimal not in (None, ".", ","):
        raise InputError(f"'decimal' of parse_number must be '.' or ','. Got {decimal!r}.")
    cell = text.strip()
    if not cell or len(cell) > _MAX_CELL:
        return None
    start = len(text) - len(text.lstrip())
    if _NIL.fullmatch(cell):
        return Number(Decimal(0), Span(start, start + len(cell)), cell, kind="nil")
    mark = decimal or decimal_mark(cell, lang=lang)
    tail = _NOTE_TAIL.search(cell)
    for end in {len(cell): None, tail.start() if tail else len(cell): None}:
        found = list(Scanner(cell[:end], lang=lang, decimal=mark, offset=start, cell=True).scan())
        if len(found) == 1 and found[0].span == Span(start, start + end):
            return found[0]
    return None


def decimal_mark(text: str, *, lang: str | None = None) -> str:
    """Return the decimal mark of a text, ``"."`` or ``","``, by its own figures and its language.

    Figures that can be read in one notation only are counted (``1.234,5``, ``1.234.567``, ``12,5 %``). Where
    the language is known, its usual mark stands unless at least three such figures speak against it and
    four times as many as speak for it: Spanish of Mexico writes ``1,234.5``. Otherwise the majority
    decides, and the point where there is none.

    Example:
        >>> decimal_mark("ventas de 1.234,5"), decimal_mark("ventas", lang="es"), decimal_mark("sales")
        (',', ',', '.')
    """
    votes = {
        ".": sum(1 for _ in _POINT_VOTES.finditer(text)),
        ",": sum(1 for _ in _COMMA_VOTES.finditer(text)),
    }
    if lang is None:
        return "," if votes[","] > votes["."] else "."
    usual, other = (",", ".") if lang.lower().startswith("es") else (".", ",")
    return other if votes[other] >= max(3, 4 * votes[usual]) else usual
