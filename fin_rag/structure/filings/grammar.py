"""Reads one line as the heading of an Item: numbers, Part, title, run-in body, and what speaks against it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_rag.structure.filings.forms import Form, content_words, stem, union_words, vocabulary
from fin_rag.structure.filings.item_numbers import read_numbers

_LEAD = re.compile(r"[\s>#*_|•·▪■●◦§\-–—\[(\"“'‘]{0,24}")
_WORD_ITEM = re.compile(
    r"(?:(?:part|parte)\s+(?P<part>IV|I{1,3}|[1-4])\b[\s.,;:*_|–—-]{0,8}"
    r"(?:(?:financial|other)\s+information[\s.,;:*_|–—-]{0,8})?)?"
    r"(?P<word>i\s?t\s?e\s?m(?P<plural>\s?s)?|punto|partida|apartado)(?![^\W\d_])(?:\s|[*_|.:#]|no\.){0,12}",
    re.IGNORECASE,
)
_LATER = re.compile(r"(?:\band|&|,|;|/)\s{1,3}items?\s{1,3}(?=\d)", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s.:;,–—\-|*_#\]\)\"”'’]*")
_BREAK = re.compile(r"[.:|]|\s[-–—]{1,3}\s?|[–—]|--")
_PAGED = re.compile(
    r"(?:[\s.…·_|]+|^)(?:page\s)?(?:[A-Z]{1,2}-?)?\d{1,3}(?:\s?(?:[-–,]|and|&)\s?(?:[A-Z]{1,2}-?)?\d{1,3}){0,12}[\s|*†]*$",
    re.IGNORECASE,
)
_LEADERS = re.compile(r"(?:\.\s?){4,}|_{4,}|…{2,}")
_TOKEN = re.compile(r"[^\W\d_]+(?:['’`´][^\W\d_]+)*|\d+[\w.\-]*")
_CHECKBOX = re.compile(r"\[\s?[xX]?\s?\]|[☐☒☑]")
_CONTINUED = re.compile(
    r"[\s(\[–—\-.,]{1,4}(?:continued|cont(?:['’]?d)?|concluded|continuación)\b\.?[)\]\s.*_]*$", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.:]\s+(?=[A-Z“\"(•0-9])|\s+[–—]\s*(?=[A-Z“\"])|\s--?\s(?=[A-Z])")
_TITLE_LIMIT, _WINDOW = 190, 700


@dataclass(frozen=True, slots=True)
class Heading:
    """Hold one line read as the heading of an Item.

    Offsets count code points from the start of the line: ``number_end`` is where the number and its
    punctuation end, ``title`` the printed title's span, ``body`` where text that follows the title on
    the same line begins (the line's length if none does).
    """

    numbers: tuple[str, ...]
    part: str
    title: tuple[int, int]
    body: int
    similarity: float
    cautions: frozenset[str]

    def title_of(self, line: str) -> str:
        """Return the printed title."""
        return line[self.title[0] : self.title[1]]


def is_state_phrase(text: str) -> bool:
    """Tell whether a text says only that there is nothing to say.

    Example:
        >>> is_state_phrase("Not applicable."), is_state_phrase("Properties")
        (True, False)
    """
    return text.strip(" .*_[]()|#-–—").lower() in vocabulary().state_phrases


def parse_heading(line: str, form: Form) -> Heading | None:
    """Read a line as the heading of one or several Items.

    Returns:
        The reading with its cautions, or ``None`` where the line cannot be a heading. Cautions are
        ``bullet``, ``quoted``, ``comma``, ``lower``, ``sentence``, ``paged``, ``row``, ``continued``.

    Example:
        >>> from fin_rag.structure.filings.forms import form_named
        >>> parse_heading("Item 1A. Risk Factors", form_named("10-K")).numbers
        ('1A',)
        >>> parse_heading("Item 405 of Regulation S-K", form_named("10-K")) is None
        True
    """
    line = line[:_WINDOW]
    lead = _LEAD.match(line)
    start = lead.end() if lead else 0
    word = _WORD_ITEM.match(line, start)
    if not word:
        return None
    numbers, position = read_numbers(line, word.end(), form, roman=word["word"].isupper(), plural=bool(word["plural"]))
    if not numbers:
        return None
    cautions = {
        name
        for name, signs in (("quoted", "\"“'‘"), ("bullet", "•·▪■●◦§-–—"), ("row", "|"))
        if set(signs) & set(line[:start])
    }
    if word["word"][0].islower() and word["word"].lower() == "item" and not line[start:].isupper():
        cautions.add("lower")
    roman = not line[word.end() : word.end() + 1].isdigit()
    return _finish(line, position, form, numbers, (word["part"] or "").upper(), cautions, roman=roman)


def _finish(
    line: str, position: int, form: Form, numbers: list[str], part: str, cautions: set[str], *, roman: bool
) -> Heading | None:
    """Read what follows the numbers: separator, title, further Items, run-in body."""
    separator = _SEPARATOR.match(line, position)
    begin = separator.end() if separator else position
    signs = line[position:begin]
    if line[begin : begin + 1] == "(" and not re.match(r"\([^\W\d_]{4}|\(T\)", line[begin:]):
        return None  # a paragraph of an Item: Item 15(a)(3)
    begin = _after_repeat(line, begin, numbers, form)
    rest = line[begin:].rstrip(" \t\r*_|#")
    if _CHECKBOX.search(line, position) or _rejected(signs, rest):
        return None
    if "," in signs:
        cautions.add("comma")
    continued = _CONTINUED.search(rest)
    if continued:
        cautions.add("continued")
        rest = rest[: continued.start()]
    later = _later_items(rest, form)
    if later:
        numbers = numbers + [n for n in later if n not in numbers]
    keys = [form.key(n, p) for n in numbers for p in form.parts]
    if "row" in cautions and "|" in rest:
        return _row(line, begin, rest, form, numbers, part, cautions)
    title_end, body, similarity, sentence = _title(rest, form, keys, open_end=bool(later))
    if sentence:
        cautions.add("sentence")
    if roman and not _roman_fits(form, keys, rest[:title_end], similarity):
        return None
    unpaged = _without_page(rest[:title_end], rest[body:])
    if unpaged is not None:
        cautions.add("paged")
        title_end, body = len(unpaged), len(rest)
        similarity = max((form.similarity(k, unpaged) for k in keys), default=0.0)
    body = begin + body if body < len(rest) else len(line)
    return Heading(tuple(numbers), part, (begin, begin + title_end), body, similarity, frozenset(cautions))


def _roman_fits(form: Form, keys: list[str], title: str, similarity: float) -> bool:
    """Tell whether the title agrees with a roman number: ``Item X`` is often a placeholder, not a ten."""
    return similarity >= 0.5 and all(form.similarity(k, title) <= similarity for k in form.specs if k not in keys)


def _after_repeat(line: str, begin: int, numbers: list[str], form: Form) -> int:
    """Step over a number that is printed twice: ``Item 16.B. Item 16.B. Code of Ethics``."""
    repeated = _WORD_ITEM.match(line, begin)
    if not repeated:
        return begin
    again, after = read_numbers(line, repeated.end(), form, roman=False, plural=False)
    separator = _SEPARATOR.match(line, after)
    return separator.end() if again == numbers and separator else begin


def _without_page(title: str, body: str) -> str | None:
    """Return the title of a contents row without leaders and page number; ``None`` if it has neither."""
    if (title and (_PAGED.search(title) or _LEADERS.search(title))) or _PAGED.fullmatch(body):
        return _LEADERS.split(_PAGED.sub("", title))[0].rstrip(" .|_…")
    return None


def _row(
    line: str, begin: int, rest: str, form: Form, numbers: list[str], part: str, cautions: set[str]
) -> Heading:  # fmt: skip
    """Read the row of a table: the title is a cell, what follows it is the body."""
    title = rest[: rest.index("|")].rstrip()
    body = begin + rest.index("|") + 1
    while body < len(line) and line[body] in " |\t":
        body += 1
    similarity = max((form.similarity(form.key(n, p), title) for n in numbers for p in form.parts), default=0.0)
    if _PAGED.fullmatch(line[body:].rstrip()):
        cautions.add("paged")
    return Heading(tuple(numbers), part, (begin, begin + len(title)), body, similarity, frozenset(cautions))


def _rejected(signs: str, rest: str) -> bool:
    """Tell whether what follows the number makes the line a sentence: ``Item 7 of this report``."""
    first = _TOKEN.match(rest)
    if not first or not first.group()[0].islower():
        return False
    pointed = any(sign in signs for sign in ".:–—-")
    return (not pointed and stem(first.group()) in vocabulary().cross_reference_words) or first.group() in {
        "of",
        "is",
        "are",
        "should",
    }


def _later_items(rest: str, form: Form) -> list[str]:
    """Find Items named after the first title: ``Item 2.02 Results ... and Item 7.01 Regulation FD``."""
    numbers: list[str] = []
    for found in _LATER.finditer(rest):
        more, end = read_numbers(rest, found.end(), form, roman=False, plural=False)
        following = _TOKEN.match(rest, _SEPARATOR.match(rest, end).end())  # type: ignore[union-attr]  # matches empty
        if not more or not following or not following.group()[0].isupper():
            return []
        if (
            max(
                (form.similarity(form.key(n, p), rest[end : end + 120]) for n in more for p in form.parts),
                default=0,
            )
            < 0.4
        ):
            return []
        numbers += more
    return numbers


def _title(rest: str, form: Form, keys: list[str], *, open_end: bool) -> tuple[int, int, float, bool]:
    """Split what follows the number into title and run-in body: title end, body start, likeness, sentence."""
    if not rest or is_state_phrase(rest):
        reserved = "reserved" in rest.lower()
        return (len(rest), len(rest), 0.0, False) if reserved else (0, 0, 0.0, False)
    known = _known_prefix(rest, union_words(form, keys))
    likeness = max((form.similarity(k, rest[:known]) for k in keys), default=0.0) if known else 0.0
    tail = rest[known:]
    token = _TOKEN.search(tail)
    if open_end or not token:
        return len(rest), len(rest), max(likeness, 0.6 if open_end else 0.0), False
    between = tail[: token.start()]
    if likeness >= 0.3 and (_BREAK.search(between) or is_state_phrase(tail)):
        end = known + _closing(between)
        return end, known + token.start(), likeness, False
    cut = _SENTENCE_END.search(rest)
    if cut and 3 <= cut.start() <= _TITLE_LIMIT and not _PAGED.search(rest):
        likeness = max((form.similarity(k, rest[: cut.start()]) for k in keys), default=0.0)
        return (
            cut.start() + 1,
            cut.end(),
            likeness,
            _is_sentence(rest[: cut.start()], min(known, cut.start()), likeness),
        )
    whole = max((form.similarity(k, rest) for k in keys), default=0.0)
    sentence = _is_sentence(rest, known, likeness) or len(rest) > _TITLE_LIMIT + 60
    return len(rest), len(rest), whole, sentence


def _closing(between: str) -> int:
    """Return how much punctuation after a title still belongs to it."""
    found = re.match(r"[.:)\]]{0,3}", between)
    return found.end() if found else 0


def _known_prefix(rest: str, words: frozenset[str]) -> int:
    """Return where the run of words ends that usual titles of these Items are made of."""
    terms, end, last = vocabulary(), 0, 0
    for found in _TOKEN.finditer(rest):
        if end and _BREAK.search(rest[last : found.start()]):
            break
        word = stem(found.group())
        last = found.end()
        if word in terms.stop_words:
            continue
        if word not in words and word not in terms.generic_words:
            break
        end = found.end()
    return end


def _is_sentence(rest: str, known: int, likeness: float) -> bool:
    """Tell whether a text goes on as a sentence after the words of a title."""
    tokens = [m.group() for m in _TOKEN.finditer(rest, known)][:40]
    words = [t for t in tokens if t[0].isalpha() and stem(t) not in vocabulary().stop_words]
    if not words or rest[:1].islower():
        return False
    small = sum(1 for w in words if w[0].islower())
    if likeness >= 0.5 and words[0][0].islower() and words[0].lower() not in vocabulary().generic_words:
        return True
    return len(words) >= 5 and small > len(words) / 2 and (rest.rstrip().endswith(".") or len(words) >= 12)


def title_gain(form: Form, keys: list[str], before: str, after: str) -> float:
    """Return by how much a further line makes a title more like the usual one of any of ``keys``."""
    return max((form.similarity(k, f"{before} {after}") - form.similarity(k, before) for k in keys), default=0.0)


def looks_capital(text: str) -> bool:
    """Tell whether a text is written in capitals.

    Example:
        >>> looks_capital("RISK FACTORS"), looks_capital("Item 1A")
        (True, False)
    """
    letters = [c for c in text[:200] if c.isalpha()]
    return len(letters) >= 3 and all(c.isupper() for c in letters if c.lower() != c.upper())


__all__ = ["Heading", "content_words", "is_state_phrase", "looks_capital", "parse_heading", "title_gain"]
