"""Find page numbers and running heads among the lines of pages.

A line at a page's edge is furniture if it says the same on neighbouring pages and a gap sets it apart from
the text, or if it holds a number that rises with the pages. A head's first appearance stays: it may be the
real heading, and nothing is lost that way.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fin_rag.loaders.pdf_lines import Line, usual_gap

_DEPTH: Final = 4
_MIN_PAGES: Final = 3
_APART: Final = 1.4
_NUMBER: Final = re.compile(r"\d+")
# Letters that may stand around a page number: "Page 3 of 90", "F-12", "- 4 -", "Página 3".
_PAGE_WORDS: Final = re.compile(r"(?:page|p[áa]gina|p[áa]g\.?|p\.|of|de|[a-z]{1,3}-)|[\W_\d]", re.IGNORECASE)
_FIRST_NUMBER: Final = re.compile(r"^\W{0,3}(\d{1,4})\b")
_LAST_NUMBER: Final = re.compile(r"\b(?:[A-Z]{1,3}-)?(\d{1,4})\W{0,3}$")
# A head that tells how to read figures is content, however often it comes; so are fields of a form.
_NUMBER_OF: Final = re.compile(r"\b(\d{1,4}) (?:of|de|/) \d{1,4}\W{0,3}$")
_PAGE_OF: Final = re.compile(r"\b(?:page|p[áa]gina|p[áa]g\.?) ?#", re.IGNORECASE)
_CONTENT: Final = re.compile(
    r"\b(?:in|of) (?:millions|thousands|billions)|\bmill(?:ones|ions|\.)|\bmiles de|\bper share|\bpor"
    r" acci[óo]n"
    r"|\bunaudited|\bno auditad|\bended\b|\bas of\b|\bterminad[oa]s?\b|\bcerrad[oa]s? el\b|^/s/"
    r"|^\([a-z0-9]{1,3}\)|[:,;]$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Furniture:
    """Hold what is furniture on a page: kinds by line, and the page number that is printed there.

    Kinds are ``page_number`` and ``running_head``.
    """

    lines: dict[int, str]
    label: str = ""


def find_furniture(pages: Sequence[Sequence[Line]]) -> list[Furniture]:
    """Return for each page which of its lines are furniture, of which kind, and its printed number.

    Example:
        >>> at = lambda y, text: Line(text, 20, 200, y, y, 10, False, False)
        >>> page = lambda n: [at(780, "Acme Report"), at(740, f"Text {n}a."), at(20, str(n))]
        >>> find_furniture([page(1), page(2), page(3), page(4)])[3]
        Furniture(lines={0: 'running_head', 2: 'page_number'}, label='4')
    """
    edges = [_edge_lines(page) for page in pages]
    numbered = _numbered(pages, edges)
    repeated = _repeated(pages, edges)
    seen: set[str] = set()
    found = []
    for position, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        lines = _take_off(page, _candidates(page, edge, position, numbered, repeated), seen)
        found.append(Furniture(lines, _label([page[index].text for index in lines], position, numbered)))
    return found


def _label(texts: list[str], position: int, numbered: set[tuple[str, int]]) -> str:
    """Return the page number printed on a page's furniture, with its letters (``F-3``); nothing if none."""
    for text in texts:
        for key, value in _readings(text):
            if (key, value - position) in numbered:
                printed = re.search(rf"(?:\b[A-Za-z]{{1,3}}-)?(?<!\d)0*{value}(?!\d)", text)
                return printed.group() if printed else str(value)
    return ""


def _edge_lines(page: Sequence[Line]) -> list[int]:
    count = len(page)
    return sorted({*range(min(_DEPTH, count)), *range(max(count - _DEPTH, 0), count)})


def _is_number(text: str) -> bool:
    """Tell whether a line is nothing but a page number."""
    return len(text) <= 24 and not _PAGE_WORDS.sub("", text) and 1 <= len(_NUMBER.findall(text)) <= 2


def _readings(text: str) -> Iterator[tuple[str, int]]:
    """Yield what a line says without the number that may be its page number, and that number."""
    if _is_number(text):
        number = _NUMBER.findall(text)[0]
        if len(number) <= 4:
            yield "", int(number)
        return
    if len(text) > 160:
        return
    for pattern in (_FIRST_NUMBER, _LAST_NUMBER, _NUMBER_OF):
        found = pattern.search(text)
        if found:
            yield f"{text[: found.start(1)]}#{text[found.end(1) :]}".casefold(), int(found.group(1))


def _numbered(pages: Sequence[Sequence[Line]], edges: Sequence[list[int]]) -> set[tuple[str, int]]:
    """Return ``(words, step)`` of lines whose number rises in step with the pages.

    Numbering may start anew (F-1, F-2), so each distance between number and page counts for itself.
    """
    counts: Counter[tuple[str, int]] = Counter()
    for position, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        counts.update({(key, value - position) for i in edge for key, value in _readings(page[i].text)})
    # Words with a number may be headings that happen to keep step (Note 4, Note 5): ask for one page more.
    return {
        pair
        for pair, count in counts.items()
        if count >= (2 if _PAGE_OF.search(pair[0]) else _MIN_PAGES + bool(pair[0]))
    }


def _repeated(pages: Sequence[Sequence[Line]], edges: Sequence[list[int]]) -> set[tuple[str, int]]:
    """Return ``(words, page)`` of lines that neighbouring pages share (the next or the one after)."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for position, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        for key in {page[i].text.casefold() for i in edge}:
            if len(key) <= 110 and not _CONTENT.search(key) and sum(map(str.isalpha, key)) >= 3:
                places[key].append(position)
    found: set[tuple[str, int]] = set()
    for key, positions in places.items():
        run = [positions[0]]
        for position in [*positions[1:], positions[-1] + 100]:
            if position - run[-1] <= 2:
                run.append(position)
                continue
            if len(run) >= _MIN_PAGES:
                found.update((key, at) for at in run)
            run = [position]
    return found


def _candidates(
    page: Sequence[Line],
    edge: list[int],
    position: int,
    numbered: set[tuple[str, int]],
    repeated: set[tuple[str, int]],
) -> dict[int, str]:
    """Return the edge lines that could be furniture, each with its kind."""
    found: dict[int, str] = {}
    for index in edge:
        text = page[index].text
        if any((key, value - position) in numbered for key, value in _readings(text)):
            found[index] = "page_number" if _is_number(text) else "running_head"
        elif (text.casefold(), position) in repeated:
            found[index] = "repeated"
    return found


def _take_off(page: Sequence[Line], candidates: dict[int, str], seen: set[str]) -> dict[int, str]:
    """Take candidates off both ends of a page, as far as a gap sets them apart from the text."""
    usual = usual_gap(page)
    count = len(page)
    if count == len(candidates):
        # A page that says what its neighbours say, and nothing else, is content.
        candidates = {index: kind for index, kind in candidates.items() if kind != "repeated"}
    found: dict[int, str] = {}
    for side in (range(count), range(count - 1, -1, -1)):
        step = side.step
        block: list[int] = []
        settled = 0
        for index in side:
            if index not in candidates or len(block) == _DEPTH:
                break
            block.append(index)
            inner = index + step
            apart = not 0 <= inner < count or abs(page[index].bottom - page[inner].bottom) > _APART * usual
            if apart or candidates[index] == "page_number":
                settled = len(block)
        for index in block[:settled]:
            key = page[index].text.casefold()
            if candidates[index] != "repeated":
                found[index] = candidates[index]
            elif key in seen:
                found[index] = "running_head"
            seen.add(key)
    return dict(sorted(found.items()))
