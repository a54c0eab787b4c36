"""Words of questions and texts: folding, function words, stems, exact identifiers."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

# Words with a mark or digit inside (BRK.B, 575/2013, R&D, 1,234.5, 842-10-25) and plain numbers.
_IDENTIFIER: Final = re.compile(r"\w+(?:[.,/&'\u2019-]\w+)+|\w*\d\w*")
_WORD: Final = re.compile(r"\w+")
_RAISED: Final = re.compile("[¹²³⁴⁵⁶⁷⁸⁹⁰]")


def fold(text: str) -> str:
    """Lower-case a text and take its accents off.

    Example:
        >>> fold("Información ÚTIL")
        'informacion util'
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@cache
def function_words() -> frozenset[str]:
    """Return the English and Spanish words that carry no topic, folded; they are dropped from questions."""
    data = json.loads(files("fin_rag.text").joinpath("function_words.json").read_text("utf-8"))
    return frozenset(fold(word) for words in data.values() for word in words)


def without_marks(text: str) -> str:
    """Return a text with raised figures as blanks: a word with the mark of a note is still that word.

    Example:
        >>> without_marks("EBITDA ajustado¹")
        'EBITDA ajustado '
    """
    return _RAISED.sub(" ", text)


def topic_words(question: str) -> list[str]:
    """Return the words of a question without function words; all of them if nothing else is left.

    Example:
        >>> topic_words("What is the net debt?")
        ['net', 'debt']
    """
    words = _WORD.findall(question)
    return [word for word in words if fold(word) not in function_words()] or words


def identifiers(text: str) -> list[str]:
    """Return the exact tokens of a text: numbers, codes and words with a mark inside, lower-cased.

    Example:
        >>> identifiers("Item 1A: BRK.B paid 4.2 under 575/2013.")
        ['1a', 'brk.b', '4.2', '575/2013']
    """
    return [match.lower() for match in _IDENTIFIER.findall(text)]


# Endings that English and Spanish words take without changing what they name, longest first.
_ENDINGS: Final = (
    "amientos", "imientos", "aciones", "amiento", "imiento", "ations", "iciones", "acion", "ation", "icion",
    "mente", "ments", "ciones", "sions", "siones", "ment", "cion", "sion", "ings", "ados", "adas", "idos",
    "idas", "aron", "ieron", "ing", "ies", "ado", "ada", "ido", "ida", "ando", "iendo", "ers", "ed", "es",
    "er", "os", "as", "on", "an", "en", "ar", "ir", "io", "ia", "ly", "y", "e", "s", "o", "a",
)  # fmt: skip
_LEAST_STEM: Final = 4
_LONGEST_STEM: Final = 8  # brings "geographies" and "geographic" together


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Return a crude stem of a folded word, the same for most of its forms in English and Spanish.

    Example:
        >>> stem("provisiones") == stem("provision"), stem("acquisitions") == stem("acquisition")
        (True, True)
    """
    if word.isdigit():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _LEAST_STEM:
            word = word[: -len(ending)]
            break
    return (word.removesuffix("i") if len(word) > _LEAST_STEM else word)[:_LONGEST_STEM]


def stems(text: str) -> list[str]:
    """Return the stems of the topic words of a text, in order.

    Example:
        >>> stems("¿Cuáles fueron los gastos corrientes?")
        ['gast', 'corrient']
    """
    known = function_words()
    return [stem(word) for word in _WORD.findall(fold(without_marks(text))) if word not in known]


@cache
def language_words(lang: str) -> frozenset[str]:
    """Return the function words of one language (``en``, ``es``), folded."""
    data = json.loads(files("fin_rag.text").joinpath("function_words.json").read_text("utf-8"))
    return frozenset(fold(word) for word in data[lang])
