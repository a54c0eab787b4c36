"""Numbered notes of the accounts ("Nota 5. Inmovilizado"), which columns and sentences refer to."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from fin_rag.schema import Block, Span
from fin_rag.structure.lines import plain
from fin_rag.structure.notes.model import Marker, Note, NoteKey
from fin_rag.structure.notes.vocabulary import says_any
from fin_rag.structure.titles import number_of

_TITLED: Final = re.compile(
    r"(?:notas?|notes?)\s+(?:n\.?[ºo°]\s?)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3})(?:\s?\([a-z]\))?\s?(?:[.:)–—-]{1,2}|$|(?=\s+[^\W\d_]))",
    re.IGNORECASE,
)
_SPACED: Final = re.compile(r"(\d{1,2})\s{1,4}[^\W\d_]")  # "3 Segments", which is a number only under the accounts
_LONGEST_BODY: Final = 700  # code points of a note's text that travel with what cites it
_LONGEST_TITLE: Final = 120


class Accounts:
    """Find the numbered notes of the accounts and resolve references to them."""

    def __init__(self, text: str, blocks: Sequence[Block], markers: Sequence[Marker]) -> None:
        self._by_number: dict[str, list[Note]] = defaultdict(list)
        wanted = {marker.key.value for marker in markers if marker.form == "account"}
        if not wanted:
            return
        worded, under, bare = _headings(text, blocks)
        columns = [m for m in markers if m.form == "account" and m.where == "row_label"]
        chosen = {**bare, **under} if under else (bare if self._fits(bare, columns) else {})
        chosen = {**chosen, **worded}
        numbers = wanted | {value.split(".")[0] for value in wanted}
        for index, number in sorted(chosen.items()):
            if number in numbers:
                self._by_number[number].append(_note(text, blocks, index, number))

    @staticmethod
    def _fits(bare: dict[int, str], columns: Sequence[Marker]) -> bool:
        """Tell whether plain numbered headings answer most of what a column of notes asks for."""
        numbers = set(bare.values())
        met = sum(marker.key.value.split(".")[0] in numbers for marker in columns)
        return len(columns) > 1 and 2 * met > len(columns)

    @property
    def notes(self) -> list[Note]:
        """Return the notes that something may refer to, in order."""
        return sorted((n for found in self._by_number.values() for n in found), key=lambda n: n.start)

    def resolve(self, marker: Marker) -> Note | None:
        """Return the note that a reference names: the next one below, else the one above; 7 for a missing 7.2."""
        for value in dict.fromkeys((marker.key.value, marker.key.value.split(".")[0])):
            found = self._by_number.get(value)
            if found:
                at = bisect_right([note.start for note in found], marker.span.start)
                note = found[min(at, len(found) - 1)]
                inside = any(span.contains(marker.span) for span in note.spans)
                return None if inside else note
        return None


def _headings(text: str, blocks: Sequence[Block]) -> tuple[dict[int, str], dict[int, str], dict[int, str]]:
    """Return numbered headings by block index: those that say "Note", those under the accounts, all others."""
    worded: dict[int, str] = {}
    under: dict[int, str] = {}
    bare: dict[int, str] = {}
    level = 0
    for index, block in enumerate(blocks):
        raw = block.span.slice(text)[: 4 * _LONGEST_TITLE]
        title = plain(raw.lstrip("# "))
        found = _TITLED.match(title) if _can_title(block, raw, title) else None
        if found:
            worded[index] = found["number"]
            continue
        if block.kind != "heading":
            continue
        if level and block.level <= level:
            level = 0
        number = number_of(title)
        spaced = _SPACED.match(title) if level else None
        if spaced:
            under[index] = spaced[1]
        elif number and number.scheme == "arabic" and not number.word:
            (under if level else bare)[index] = ".".join(map(str, number.parts))
        elif says_any(title, "account_words") and not level:
            level = block.level
    return worded, under, bare


def _can_title(block: Block, raw: str, title: str) -> bool:
    """Tell whether a block may open a note of the accounts: a heading, a line of its own, or a title run in."""
    if block.kind == "heading":
        return True
    if block.kind != "prose":
        return False
    first = raw.split("\n", 1)[0]
    alone = first == raw and len(title) <= _LONGEST_TITLE and not title.endswith((".", ";"))
    found = _TITLED.match(title)
    return alone or (found is not None and found[0].rstrip()[-1:] in ".–—-")


def _note(text: str, blocks: Sequence[Block], index: int, number: str) -> Note:
    """Build a note of its heading and its first paragraphs."""
    heading = blocks[index]
    end, last = heading.span.end, index
    for following in range(index + 1, len(blocks)):
        block = blocks[following]
        if block.kind in ("heading", "table") or _TITLED.match(block.span.slice(text)[:40]):
            break
        whole = last > index or (heading.kind != "heading" and len(heading.span) > _LONGEST_TITLE)
        if whole and block.span.end - heading.span.end > (_LONGEST_BODY if last > index else 0):
            break
        end, last = block.span.end, following
    if end - heading.span.start > 4 * _LONGEST_BODY:
        end = _cut(text, heading.span.end, heading.span.start + _LONGEST_BODY)
    span = Span(heading.span.start, end)
    found = _TITLED.match(plain(heading.span.slice(text).lstrip("# ")))
    printed = found[0].rstrip(".:–—-) ") if found else number
    return Note(f"account-{span.start}", printed, NoteKey("number", number), "account", (span,), "account")


def _cut(text: str, low: int, high: int) -> int:
    """Return the end of the last whole sentence before ``high``, else of the last word."""
    for mark in (". ", "\n", " "):
        at = text.rfind(mark, low, high)
        if at > low:
            return at + (mark == ". ")
    return high
