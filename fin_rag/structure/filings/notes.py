"""The numbered notes of financial statements."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fin_rag.schema import Span
from fin_rag.structure.filings.lines import Lines
from fin_rag.structure.headings import Heading

_NUMBERED = re.compile(
    r"(?P<word>note|nota)?\s{0,3}\(?(?P<number>\d{1,2})(?P<sign>\s{0,3}[.:)–—-]{1,2}|(?<=\d)(?=\s))\s{0,4}(?P<title>[^\W\d_].{1,180})",
    re.IGNORECASE,
)
_WORD_FIRST = re.compile(r"^[\s*#_]{0,8}not[ea]\s{1,3}\d{1,2}\b", re.IGNORECASE | re.MULTILINE)
_CONTINUED = re.compile(r"[\s(\[–—\-.,]{1,4}(?:continued|cont[’'.]?d?)\b[.)\]\s]*$", re.IGNORECASE)
_RUN_IN = re.compile(r"[\s*#_]{0,8}not[ea]\s{1,3}\d{1,2}\s?[.:–—-]{1,2}\s?([^.]{3,150})\.\s", re.IGNORECASE)
_PAGE = re.compile(r"[\s.…](?:[A-Z]-?)?\d{1,3}$")
_LONGEST, _JUMP, _FEWEST, _NEAR = 190, 3, 2, 40


@dataclass(frozen=True, slots=True)
class Note:
    """Hold one numbered note: its number, printed title, and the span of its heading."""

    number: int
    title: str
    span: Span

    @property
    def name(self) -> str:
        """Return the name by which paths call the note.

        Example:
            >>> Note(12, "Income Taxes", Span(0, 4)).name
            'Note 12 – Income Taxes'
        """
        return f"Note {self.number} – {self.title}"


def find_notes(lines: Lines, span: Span, found: Sequence[Heading]) -> list[Note]:
    """Find the notes in ``span``: headings that count up from 1, among ``found`` or opening with ``Note``."""
    candidates: dict[int, Note] = {}
    for heading in found:
        note = _read(heading.title, heading.span)
        if note:
            candidates[heading.span.start] = note
    for hint in _WORD_FIRST.finditer(lines.text, span.start, span.end):
        index = lines.at(hint.end() - 1)
        start, end = lines.starts[index], lines.ends[index]
        if start in candidates or end > span.end:
            continue
        note = _run_in(lines, index) if end - start > _LONGEST else _read(lines.bare(index), Span(start, end))
        if note and not note.title.endswith((".", ",", ";")) and note.title[:1].isupper():
            candidates[start] = note
    return _rising(_without_rows(lines, [candidates[start] for start in sorted(candidates)]))


def _without_rows(lines: Lines, found: Sequence[Note]) -> list[Note]:
    """Drop rows of a list of notes: titles with a page number and nothing between them."""
    rows = set()
    for i, note in enumerate(found):
        if not _PAGE.search(note.title):
            continue
        following = found[i + 1].span.start if i + 1 < len(found) else len(lines.text)
        before = found[i - 1].span.end if i else 0
        if _blank(lines.text, note.span.end, following) or (i and _blank(lines.text, before, note.span.start)):
            rows.add(i)
    return [note for i, note in enumerate(found) if i not in rows]


def _blank(text: str, start: int, end: int) -> bool:
    return end - start < _NEAR and not text[start:end].strip(" \n\t*#_|")


def _read(title: str, span: Span) -> Note | None:
    found = _NUMBERED.fullmatch(title.strip()[:_LONGEST])
    if not found or not (found["word"] or found["sign"]):
        return None
    text = _CONTINUED.sub("", found["title"]).strip(" *_:–—-")
    return Note(int(found["number"]), text, span) if text else None


def _run_in(lines: Lines, index: int) -> Note | None:
    """Read a note whose title opens its first paragraph: ``NOTE 3. INVENTORIES. We value ...``."""
    raw = lines.raw(index, _LONGEST + 20)
    found = _RUN_IN.match(raw)
    words = [w for w in found[1].split() if len(w) > 3] if found else []
    if not found or not words or not all(w[0].isupper() or not w[0].isalpha() for w in words):
        return None
    start = lines.starts[index]
    return _read(raw[: found.end(1)].strip(" *#_"), Span(start, start + found.end(1)))


def _rising(candidates: Sequence[Note]) -> list[Note]:
    """Return the longest run that counts up with at most two numbers left out at a time.

    Numbered lists inside a note start again at 1, so the longest chain wins; of equal ones the earliest.
    """
    length: list[int] = []
    back: list[int] = []
    chain: list[Note] = []
    last: dict[int, tuple[int, int]] = {}  # number -> best chain length that ends in it, and where
    for i, note in enumerate(candidates):
        best, where = (0, -1) if note.number == 1 else (-1, -1)
        for step in range(1, _JUMP + 1):
            size, place = last.get(note.number - step, (-1, -1))
            if size > best:
                best, where = size, place
        if best < 0:
            best, where = 0, -1
        length.append(best + 1)
        back.append(where)
        if best + 1 > last.get(note.number, (0, -1))[0]:
            last[note.number] = (best + 1, i)
    if not length or max(length) < _FEWEST:
        return []
    index = length.index(max(length))
    while index >= 0:
        chain.append(candidates[index])
        index = back[index]
    return chain[::-1]


def by_start(notes: Sequence[Note]) -> Mapping[int, Note]:
    """Return the notes by the offset of their headings."""
    return {note.span.start: note for note in notes}
