"""Find the pages of an HTML source, and what is printed on every page and is no content."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from fin_rag.loaders.html_cells import is_unit_line
from fin_rag.loaders.html_model import LEAD, LIST_ITEM, TABLE_ROW, Break, Item, Line

_NUMBER: Final = re.compile(
    r"[-–—|\s]{0,4}(?:page|pág(?:ina)?\.?|p\.)?\s?(?P<label>(?:[A-Z]{1,3}\s?[-–—]\s?)?\d{1,4}|(?=[ivx])(?:xl|x{0,3})(?:ix|iv|v?i{0,3}))"
    r"(?:\s?(?:of|de|/)\s?(?:[A-Z]{1,3}\s?[-–—]\s?)?\d{1,4})?[-–—|.\s]{0,4}",
    re.IGNORECASE,
)
_BACK_LINK: Final = re.compile(
    r"(?:(?:return|back|go)\s+to\s+)?(?:the\s+)?(?:table\s+of\s+contents?|index(?:\s+to\s+(?:consolidated\s+)?financial\s+statements?)?|"
    r"contents?|top|índice|indice|volver\s+al\s+índice|toc)(?:\s+table\s+of\s+contents|\s+index\s+to\s+financial\s+statements?)?"
    r"\W{0,3}(?:(?:[A-Z]-)?\d{1,3})?",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(
    r"\W{0,3}(?:part\s+[ivx]+\W{1,3})?(?:items?|punto|note|nota|exhibit|schedule|anexo)\b", re.IGNORECASE
)
_NOTE_MARK: Final = re.compile(r"[*†‡]|\(\d{1,2}\)|[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_PART: Final = re.compile(r"\W{0,3}part\s+[ivx]+\b.{0,60}", re.IGNORECASE)
_CONTINUED: Final = re.compile(r"\b(?:continued|cont[’'.]?d|continuación|cont\.)\W*$", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d+")
_EDGE: Final = 4
_SHORT: Final = 140
_MIN_REPEATS: Final = 3
_LONG_RUN: Final = 9
_RUN_GAP: Final = 2
_LONGEST_STEP: Final = 9


def split_pages(flow: Sequence[Item]) -> list[list[Line]]:
    """Return the lines of each page; a document without page breaks is one page."""
    styled = sum(1 for item in flow if isinstance(item, Break) and not item.rule)
    pages: list[list[Line]] = [[]]
    for item in flow:
        if isinstance(item, Line):
            pages[-1].append(item)
        elif pages[-1] and (not item.rule or (not styled and _ends_page(pages[-1]))):
            pages.append([])
    if not pages[-1] and len(pages) > 1:
        pages.pop()
    return pages


def _ends_page(lines: Sequence[Line]) -> bool:
    """Tell whether a rule ends a page: the line before it is a page number."""
    return any(_page_number(line) for line in lines[-2:])


def _page_number(line: Line) -> str:
    """Return the printed page number that is all of a line, or nothing."""
    if line.kind in (TABLE_ROW, LIST_ITEM) or not 0 < line.width <= 20:
        return ""
    found = _NUMBER.fullmatch(line.text)
    return found["label"] if found else ""


def drop_furniture(pages: Sequence[Sequence[Line]]) -> tuple[Counter[str], dict[int, str]]:
    """Mark page numbers, running heads and links back to the contents as dropped.

    Returns:
        How many lines of each kind were dropped, and the printed number of each page (1-based).
    """
    counts: Counter[str] = Counter()
    labels: dict[int, str] = {}
    if len(pages) > 1:
        heads = _Heads(pages)
        for at, page in enumerate(pages):
            below = _clear_edge(page[::-1], at, heads, counts)
            label = _clear_edge(page, at, heads, counts, found=below)
            if label:
                labels[at + 1] = label
    _drop_back_links(pages, counts)
    if all(line.dropped for page in pages for line in page):
        for page in pages:
            for line in page:
                line.dropped = ""
        counts.clear()
    return counts, labels


def _clear_edge(lines: Sequence[Line], at: int, heads: _Heads, counts: Counter[str], *, found: str = "") -> str:
    """Drop furniture from the outer edge of a page inwards; return the page number printed there."""
    label = found
    kept = 0
    for place, line in enumerate(lines[: _EDGE + 1]):
        if line.dropped:
            break
        number = _page_number(line)
        if number and label in ("", number):
            line.dropped, label = "page_number", number
        elif heads.holds(line, at) and not _heads_table(lines, place):
            line.dropped = "running_head"
            label = label or heads.label(line)
        else:
            kept += 1
            if kept > 1 or line.kind == TABLE_ROW:
                break
            continue
        counts[line.dropped] += 1
    return label


def _heads_table(lines: Sequence[Line], place: int) -> bool:
    """Tell whether a line gives the unit of the table that stands next to it: that is no furniture."""
    beside = lines[place + 1 : place + 2]
    return bool(beside) and beside[0].kind in (TABLE_ROW, LEAD) and is_unit_line(lines[place].text)


def _drop_back_links(pages: Sequence[Sequence[Line]], counts: Counter[str]) -> None:
    """Drop links back to the contents wherever they stand, if they come again and again."""
    found = [
        line
        for page in pages
        for line in page
        if 0 < line.width < 80 and line.linked and not line.dropped and _is_back_link(line)
    ]
    if len(found) >= _MIN_REPEATS:
        for line in found:
            line.dropped = "running_head"
        counts["running_head"] += len(found)


def _is_back_link(line: Line) -> bool:
    return bool(line.linked) and line.linked >= line.total - 6 and bool(_BACK_LINK.fullmatch(line.text))


class _Heads:
    """Know which short lines come again at the edges of pages."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        where: dict[str, list[int]] = defaultdict(list)
        forms: dict[str, list[str]] = defaultdict(list)
        for at, page in enumerate(pages):
            edge = [*page[:_EDGE], *page[max(len(page) - _EDGE, _EDGE) :]]
            for line in edge:
                if _may_repeat(line):
                    key = _key(line)
                    if not where[key] or where[key][-1] != at:
                        where[key].append(at)
                    forms[_DIGITS.sub("#", key)].append(line.text)
        self._count = len(pages)
        self._slots = {form: _rising(texts) for form, texts in forms.items() if len(texts) >= _MIN_REPEATS}
        self._where = {key: found for key, found in where.items() if len(found) >= _MIN_REPEATS}
        self._firsts = {key: _run_starts(found) for key, found in self._where.items()}
        self._runs = {key: _longest(found, self._firsts[key]) for key, found in self._where.items()}

    def holds(self, line: Line, at: int) -> bool:
        """Tell whether a line at the edge of page ``at`` (from 0) is a running head or foot."""
        if not _may_repeat(line):
            return False
        if _is_back_link(line):
            return True
        if _ITEM.match(line.text) or _NOTE_MARK.match(line.text):
            return False
        if self._slot(line) >= 0:
            return True
        key = _key(line)
        where = self._where.get(key)
        if where is None:
            return False
        starts = self._firsts[key]
        run = self._runs[key]
        continued = bool(_CONTINUED.search(line.text))
        if not continued and run < _LONG_RUN and len(where) * 10 < self._count * 3:
            return False
        if _PART.fullmatch(line.text) and run < _MIN_REPEATS:
            return False
        return continued or at not in starts or not _prominent(line)

    def label(self, line: Line) -> str:
        """Return the page number in a running head or foot, or nothing."""
        slot = self._slot(line)
        if slot < 0:
            return ""
        numbers = _DIGITS.findall(line.text)
        return str(numbers[slot]) if slot < len(numbers) else ""

    def _slot(self, line: Line) -> int:
        """Return which number in a line counts the pages, or -1."""
        return self._slots.get(_DIGITS.sub("#", _key(line)), -1)


def _may_repeat(line: Line) -> bool:
    return line.kind not in (TABLE_ROW, LIST_ITEM) and 2 < line.width <= _SHORT


def _key(line: Line) -> str:
    return line.text.lower() + ("*" if line.bold and line.bold >= line.total else "")


def _prominent(line: Line) -> bool:
    """Tell whether a line looks like a heading, so that its first appearance has to stay."""
    return bool((line.bold and line.bold >= line.total) or line.level or line.center or line.text.isupper())


def _rising(texts: Sequence[str]) -> int:
    """Return which number of a repeated line rises from page to page, or -1."""
    numbers = [[int(number[-9:]) for number in _DIGITS.findall(text)] for text in texts]
    pairs = list(pairwise(numbers))
    for slot in range(len(numbers[0]) - 1, -1, -1):
        rises = sum(1 for a, b in pairs if 0 < b[slot] - a[slot] <= _LONGEST_STEP)
        if rises >= 2 and rises * 10 >= len(pairs) * 8:
            return slot
    return -1


def _run_starts(where: Sequence[int]) -> set[int]:
    """Return the pages at which a run of (every or every other) pages with the same line begins."""
    return {page for last, page in zip((-9, *where), where, strict=False) if page - last > _RUN_GAP}


def _longest(where: Sequence[int], starts: set[int]) -> int:
    best = run = 0
    for page in where:
        run = 1 if page in starts else run + 1
        best = max(best, run)
    return best
