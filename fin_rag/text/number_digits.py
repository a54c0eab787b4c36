"""Read a run of digits and separators: which marks group, which mark starts the decimals."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

MARKS: Final = ".,"
# Separators that only ever group: apostrophes and blanks that do not break (and the plain blank of a cell).
GROUP_ONLY: Final = "'\u2019 \u00a0\u2007\u2009\u202f"

_YEARS: Final = range(1900, 2101)


@dataclass(frozen=True, slots=True)
class Digits:
    """Hold the digits of one figure: ``whole`` before the decimal mark, ``fraction`` behind it.

    ``grouped`` tells whether separators grouped the whole part. ``other`` is the figure in the opposite
    notation where one separator and three digits allow both (``1.234``).
    """

    whole: str
    fraction: str = ""
    grouped: bool = False
    other: Digits | None = None

    def value(self, power: int = 0, *, negative: bool = False) -> Decimal:
        """Return the figure times ten to the ``power``, exactly, whatever the decimal context."""
        digits = self.whole + self.fraction
        exponent = power - len(self.fraction)
        if exponent > 0:
            digits, exponent = digits + "0" * exponent, 0
        value = Decimal(f"{digits}E{exponent}")
        return value.copy_negate() if negative and value else value


def read_digits(run: str, decimal: str) -> Digits | None:
    """Read digits and separators as one figure, or return ``None`` where they are not one.

    ``decimal`` (``"."`` or ``","``) settles only what both notations could have printed: one separator
    with three digits behind it. Everything else says for itself what it is.

    Example:
        >>> read_digits("1.234,5", ".").value()
        Decimal('1234.5')
        >>> read_digits("1.234", ",").value(), read_digits("1.234", ".").value()
        (Decimal('1234'), Decimal('1.234'))
        >>> read_digits("1.2.3", ".") is None
        True
    """
    separators = [char for char in run if not char.isdigit()]
    if not separators:
        return Digits(run)
    pieces = _split(run)
    if len(separators) == 1 and separators[0] in MARKS:
        return _one_mark(pieces[0], pieces[1], separators[0], decimal)
    first, last = separators[0], separators[-1]
    if any(char != first for char in separators[:-1]):
        return None
    if last == first:
        return Digits("".join(pieces), grouped=True) if _groups(pieces, first) else None
    if last in MARKS and _groups(pieces[:-1], first):
        return Digits("".join(pieces[:-1]), pieces[-1], grouped=True)
    return None


def _split(run: str) -> list[str]:
    for char in {char for char in run if not char.isdigit()}:
        run = run.replace(char, ",")
    return run.split(",")


def _one_mark(left: str, right: str, mark: str, decimal: str) -> Digits | None:
    """Read two groups of digits with one point or comma between them."""
    as_decimal = Digits(left, right)
    if len(right) != 3 or len(left) > 3 or left.startswith("0"):
        # Two years with a comma between them are a list, no figure.
        both_years = len(left) == len(right) == 4 and int(left) in _YEARS and int(right) in _YEARS
        return None if both_years else as_decimal
    as_group = Digits(left + right, grouped=True)
    if mark == decimal:
        return Digits(left, right, other=as_group)
    return Digits(left + right, grouped=True, other=as_decimal)


def _groups(pieces: list[str], separator: str) -> bool:
    """Tell whether the pieces are groups of three; behind the comma also Indian groups of two."""
    if not 1 <= len(pieces[0]) <= 3 or pieces[0].startswith("0"):
        return False
    if all(len(piece) == 3 for piece in pieces[1:]):
        return True
    indian = separator == "," and len(pieces[0]) <= 2 and len(pieces[-1]) == 3
    return indian and all(len(piece) == 2 for piece in pieces[1:-1])
