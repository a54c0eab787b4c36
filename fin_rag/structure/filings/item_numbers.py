"""Reads the numbers of Items: letters, lists, ranges, roman numerals, the decimals of Form 8-K."""

from __future__ import annotations

import re

from fin_rag.structure.filings.forms import Form

_DIGITS = re.compile(r"(\d{1,2})(?:\.(\d\d))?(?![\d])")
_ROMAN = re.compile(r"(X{0,1}(?:IX|IV|V?I{0,3}))(?=[.:\s])")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10}
_LETTER_GLUED = re.compile(r"([A-Ka-k])(?![^\W\d_])|([A-K])(?=[A-Z][a-z])")
_LETTER_APART = re.compile(r"\.?\s?([A-Ka-k])(?=\s*(?:[.:)\]–—|]|-\s|$))")
_LETTER_LOOSE = re.compile(r"\s([A-K])(?=\s+[A-Z])")
_LETTER_BRACKET = re.compile(r"\s?\.?\s?\(([A-Ka-k])\)")
_TEMPORARY = re.compile(r"\s?\(T\)|T(?![^\W\d_])")
_PARENS = re.compile(r"(?:\s?\.?\(\s?[a-zA-Z0-9]{1,3}\s?\)(?:\s?(?:,|and|&)(?=\s?\())?){1,8}")
_JOIN = re.compile(
    r"[.:]?\s{0,3}(?:(?P<range>through|thru|to|–|—|-)|(?P<and>,\s?and|,|;|/|&|and|y))\s{0,3}(?:&\s)?(?:items?\s{1,3})?(?=\d)",
    re.IGNORECASE,
)


def read_numbers(line: str, position: int, form: Form, *, roman: bool, plural: bool) -> tuple[list[str], int]:
    """Read the number or the list of numbers at ``position``; returns them and where they end."""
    number, end = _number(line, position, form, roman=roman)
    if not number:
        return [], position
    numbers = [number]
    while len(numbers) < 20:
        join = _JOIN.match(line, end)
        if not join:
            break
        if join["range"] in ("-", "–", "—") and not plural:
            break
        following, after = _number(line, join.end(), form, roman=False)
        if not following or following in numbers:
            break
        numbers += _between(numbers[-1], following, form) if join["range"] else []
        numbers.append(following)
        end = after
    return numbers, end


def _between(first: str, last: str, form: Form) -> list[str]:
    """Return the catalogue's Items strictly between two numbers: ``Items 10 through 13``."""
    part = next((p for p in form.parts if form.key(first, p) in form.specs and form.key(last, p) in form.specs), None)
    if part is None:
        return []
    low, high = form.order(form.key(first, part)), form.order(form.key(last, part))
    keys = sorted((k for k in form.specs if low < form.order(k) < high), key=form.order)
    plain = first.isdigit() and last.isdigit()
    return [n for n in (k.rpartition("-")[2] for k in keys) if n.isdigit() or not plain]


def _number(line: str, position: int, form: Form, *, roman: bool) -> tuple[str, int]:
    """Read one Item number with its letter; an empty string if there is none that the form can have."""
    found = _DIGITS.match(line, position)
    if not found:
        numeral = _ROMAN.match(line, position) if roman else None
        if not numeral or not numeral[1]:
            return "", position
        number = str(_roman(numeral[1]))
        return (number, numeral.end()) if form.accepts(number) else ("", position)
    number, end = str(int(found[1])), found.end()
    if form.family == "8-K":
        if found[2]:
            number = f"{number}.{found[2]}"
        parens = _PARENS.match(line, end)
        return (number, parens.end() if parens else end) if form.accepts(number) else ("", position)
    if found[2]:
        return "", position
    return _with_letter(line, number, end, form) if form.accepts(number) else ("", position)


def _with_letter(line: str, number: str, end: int, form: Form) -> tuple[str, int]:
    """Read the letter of an Item number, telling it from the first letter of a title."""
    glued = _LETTER_GLUED.match(line, end)
    if glued:
        letter = (glued[1] or glued[2]).upper()
        if form.accepts(number + letter):
            after = glued.end()
            temporary = _TEMPORARY.match(line, after)
            after = temporary.end() if temporary else after
            return ("", end) if re.match(r"\(\d", line[after:]) else (number + letter, after)
        return ("", end) if glued[1] else (number, end)
    if line[end : end + 1] == "T" and not line[end + 1 : end + 2].isalpha():
        return number, end + 1
    apart = _LETTER_APART.match(line, end)
    if apart and _known(form, number + apart[1].upper()):
        temporary = _TEMPORARY.match(line, apart.end())
        return number + apart[1].upper(), temporary.end() if temporary else apart.end()
    bracket = _LETTER_BRACKET.match(line, end)
    if bracket and _known(form, number + bracket[1].upper()) and line[bracket.end() : bracket.end() + 1] != "(":
        return number + bracket[1].upper(), bracket.end()
    loose = _LETTER_LOOSE.match(line, end)
    if loose and _known(form, number + loose[1]):
        with_letter = max(form.similarity(form.key(number + loose[1], p), line[loose.end() :]) for p in form.parts)
        if with_letter > max(form.similarity(form.key(number, p), line[end:]) for p in form.parts):
            return number + loose[1], loose.end()
    return number, end


def _known(form: Form, number: str) -> bool:
    return any(form.key(number, part) in form.specs for part in form.parts)


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[c] for c in numeral]
    return sum(-v if i + 1 < len(values) and v < values[i + 1] else v for i, v in enumerate(values))
