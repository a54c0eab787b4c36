"""What makes one line a title: number, capitals, shape of the words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fin_rag.structure.figures import figure_tail, is_year_row
from fin_rag.structure.layout import atx, is_caption_line
from fin_rag.structure.levels import Candidate, Number, roman
from fin_rag.structure.lines import Line, bullet, is_sentence, is_year, note_mark, plain, vocabulary, words_of
from fin_rag.structure.units import is_unit_line

LONGEST_TITLE: Final = 150
_LONGEST_BARE: Final = 100
_MOST_BARE_WORDS: Final = 14
_END_MARKS: Final = (".", ",", ";", ":", "!", "-", "–", "—", "=", "|")
_NUMBER: Final = re.compile(
    r"(?:(?P<word>[^\W\d_]{2,12})\.?\s+)?"
    r"\(?(?:(?P<arabic>\d{1,2}(?:\.\d{1,3}){0,5})|(?P<roman>[IVXLC]{1,6})(?![^\W\d_])"
    r"|(?P<letter>[A-Z]|[a-z](?=[).]))(?![^\W\d_]))"
    r"(?P<suffix>[A-Z]|\s?(?:bis|ter))?(?P<close>\.[-–—]|[.):º]|\s*[—–-](?=\s))?(?:\s+|$)(?P<title>.*)",
    re.DOTALL,
)
_PLACE_DATE: Final = re.compile(
    r"(?:[^\W\d_]+(?:\s[^\W\d_]+){0,3},\s+)?(?:a\s+)?(?:\d{1,2}\s+(?:de\s+|of\s+)?)?[^\W\d_]+\.?\s+"
    r"(?:\d{1,2},\s+|de\s+|del\s+)?(?:19|20)\d{2}"
)
_RUN_IN: Final = re.compile(r"[^\W\d_]{3}\.\s+[^\W\d_]")
_ADDRESS: Final = re.compile(r"@|https?:|www\.|\.(?:com|es|org|net|eu)\b|\btel\b|\bfax\b", re.IGNORECASE)


def title_of(lines: Sequence[Line]) -> str:
    """Return the title that one or more heading lines print, without their marks."""
    parts = []
    for line in lines:
        marked = atx(line.text)
        parts.append(plain(marked[1] if marked else line.text))
    return " ".join(part for part in parts if part)


def candidate_of(first: int, last: int, title: str, style: str, *, rank: int = 0) -> Candidate:
    """Build a heading from its title, its number and capitals read from it."""
    return Candidate(first, last, title, style, rank, is_capitals(title), number_of(title))


def number_of(title: str) -> Number | None:
    """Read the number that a title opens with.

    A bare integer needs a mark behind it or a word such as "Note" before it: "3 Deuda" may be anything.

    Example:
        >>> number_of("3.4.1 Deuda"), number_of("Nota 5. Inmovilizado").word, number_of("12 meses")
        (Number(word='', scheme='arabic', parts=(3, 4, 1)), 'nota', None)
    """
    found = _NUMBER.match(title) if len(title) <= LONGEST_TITLE * 3 else None
    if found is None:
        return None
    word = (found["word"] or "").lower()
    if word and word not in vocabulary()["numbered_words"]:
        return None
    arabic = found["arabic"]
    if not word and not found["close"] and not (arabic and "." in arabic):
        return None
    if not word and (not found["title"] or not _starts_title(found["title"])):
        return None
    if arabic:
        return Number(word, "arabic", tuple(int(part) for part in arabic.split(".")))
    if found["roman"]:
        return Number(word, "roman", (roman(found["roman"]),))
    return Number(word, "letter", (ord(found["letter"].upper()) - ord("A") + 1,))


def rest_of(title: str) -> str:
    """Return a title without the number it opens with."""
    found = _NUMBER.match(title)
    return found["title"] if found and number_of(title) else title


def continued_title(title: str) -> str:
    """Return the title that a running head repeats ("Notes (continued)" is "Notes"), or ``""``.

    Example:
        >>> continued_title("NOTES TO THE ACCOUNTS — (CONTINUED)"), continued_title("Notes")
        ('NOTES TO THE ACCOUNTS', '')
    """
    words = title.split()
    if len(words) < 2 or words[-1].strip("()[].,–—-*").lower() not in vocabulary()["continued_words"]:
        return ""
    return " ".join(words[:-1]).rstrip(" –—-,(")


def _starts_title(text: str) -> bool:
    head = text.lstrip("¿¡\"'«“‘([*_")[:1]
    return head.isupper() or head.isdigit()


def is_capitals(text: str) -> bool:
    """Tell whether a line is in capitals: no small letter, and a word of at least three letters.

    Example:
        >>> is_capitals("GESTIÓN DE RIESGOS"), is_capitals("EUR 12"), is_capitals("IE00ZR7D0365")
        (True, False, False)
    """
    if len(text) > LONGEST_TITLE * 2 or text != text.upper():
        return False
    words = ["".join(c for c in word if c.isalpha() and c not in "ªº") for word in text.split()]
    words = [word for word in words if word]
    if not words or any(not word.isupper() for word in words):
        return False
    longest = max(len(word) for word in words)
    tokens = text.split()
    if len(tokens) == 1:
        return longest >= 4 and tokens[0].strip(".:()").isalpha()
    return longest >= 4 or (longest == 3 and len(tokens) >= 3)


def is_phrase(title: str, *, colon: bool = False) -> bool:
    """Tell whether a line may be a title at all: letters, no end mark, no figures, no caption."""
    if not title or len(title) > LONGEST_TITLE or not any(c.isalpha() for c in title):
        return False
    ends = _END_MARKS if not colon else tuple(mark for mark in _END_MARKS if mark != ":")
    if title.startswith(("(", "[")) and title.endswith((")", "]")):
        return False
    if title.endswith(ends) or "|" in title or "\t" in title:
        return False
    if (words_of(title) or ["a"])[-1] in vocabulary()["title_particles"] and len(title.split()) > 2:
        return False
    return not (is_unit_line(title) or is_year_row(title) or is_caption_line(title) or _is_row(title))


def _is_row(title: str) -> bool:
    tail = figure_tail(title)
    return bool(tail.cells) and any(not is_year(title[a:b].strip("()")) for a, b in tail.cells)


def is_bare_title(text: str) -> bool:
    """Tell whether an unmarked line reads as a title: short, starts large, no verb, date, address or note.

    Example:
        >>> is_bare_title("Objetivo y política de inversión"), is_bare_title("Madrid, 26 de febrero de 2025")
        (True, False)
    """
    if len(text) > _LONGEST_BARE or not is_phrase(text) or note_mark(text) or bullet(text):
        return False
    words = text.split()
    if len(words) > _MOST_BARE_WORDS or not _starts_title(text) or text[0] in "([«\"'“‘":
        return False
    if not any(sum(c.isalpha() for c in word) >= 3 for word in words) or "  " in text:
        return False
    digits = sum(c.isdigit() for c in text)
    if 4 * digits > len(text) + 8 or (words[0][0].isdigit() and number_of(text) is None):
        return False
    return not (is_sentence(text) or _PLACE_DATE.fullmatch(text) or _ADDRESS.search(text))


def is_numbered_title(text: str) -> bool:
    """Tell whether an unmarked line is a numbered title: ``3.4.1 Deuda``, ``II. Riesgos``, ``Anexo I``."""
    number = number_of(text) if len(text) <= LONGEST_TITLE else None
    if number is None or (number.word and not text[0].isupper()):
        return False
    rest = rest_of(text)
    if not rest:
        return not text.endswith((":", ","))
    if text[0] == "(" or text[0].islower():
        return False  # notes and list items open like this; titles only where they are in capitals
    if text.endswith(".") and (number.word or len(number.parts) > 1) and "." not in rest[:-1]:
        text = text[:-1]  # "Item 2. Properties." is printed with its full stop
    if not is_phrase(text) or not _starts_title(rest) or is_sentence(f"x {rest}") or _RUN_IN.search(rest):
        return False
    return len(words_of(rest)) <= 2 * _MOST_BARE_WORDS
