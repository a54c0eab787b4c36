"""Titles of financial statements, recognised by their letters alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from fin_rag.structure.cells import clean, is_value, pipe_cells
from fin_rag.structure.figures import is_year_row
from fin_rag.structure.lines import Line, bullet, is_sentence, is_year, plain
from fin_rag.structure.statements.tokens import split_row
from fin_rag.structure.statements.vocabulary import squeeze, words
from fin_rag.structure.units import unit_of

_LONGEST: Final = 200
_LONGEST_PREFIX: Final = 70
_LONGEST_ROW: Final = 2_000
_FIRST_LETTER: Final = re.compile(r"[^\W\d_]")
_NUMBERED: Final = re.compile(r"[*_#\s]*(?:\(?\d{1,2}[.)]|note\b|nota\b|item\b)", re.IGNORECASE)
_DAY: Final = re.compile(r"\d{1,2}(?!\d)[^.]{0,80}$")
_PAGE_TAIL: Final = re.compile(r"[\s.·…_]+(?:[FS]-)?\d{1,3}$")


class Title(NamedTuple):
    """Hold a statement's title: its lines ``first`` to ``last`` (exclusive), its type and what it says of itself."""

    first: int
    last: int
    kind: str
    text: str
    letters: str
    continued: bool
    in_table: bool
    paged: bool


def find_titles(lines: Sequence[Line]) -> list[Title]:
    """Find the lines that can be the title of a statement; what stands below them decides.

    A title may run over two or three lines, or stand in the first row of a pipe table.
    """
    found: list[Title] = []
    index = 0
    while index < len(lines):
        title = _title_at(lines, index)
        if title is None:
            index += 1
        else:
            found.append(title)
            index = title.last
    return found


def _title_at(lines: Sequence[Line], index: int) -> Title | None:
    text = lines[index].text
    if not text:
        return None
    if text[0] == "|":
        return _in_table(index, text) if len(text) <= _LONGEST_ROW else None
    if len(text) > _LONGEST or text[0] in "-•(" or text[-1] in ";,?" or bullet(text):
        return None
    letters = squeeze(text)
    if not any(word in letters for word in words().gate):
        return None
    shown = plain(text.lstrip("# "))
    if _has_figures(shown):
        return None
    kind = _kind(shown, letters)
    if kind:
        last, shown = _with_date(lines, index, shown)
        return _make(index, last, kind, shown, squeeze(shown))
    return _wrapped(lines, index, shown, letters)


def _with_date(lines: Sequence[Line], index: int, shown: str) -> tuple[int, str]:
    """Join the line that completes a date on which a title breaks off: "YEARS ENDED MARCH"."""
    last = shown.rsplit(None, 1)[-1].lower().strip(".,")
    if last in words().months and index + 1 < len(lines) and _DAY.match(lines[index + 1].text):
        return index + 2, f"{shown} {plain(lines[index + 1].text)}"
    return index + 1, shown


def _wrapped(lines: Sequence[Line], index: int, shown: str, letters: str) -> Title | None:
    """Join a title that breaks off ("CONSOLIDATED STATEMENTS") with the lines that complete it."""
    at, parts = index, shown
    for _ in range(2):
        if not words().breaks_off.search(letters):
            return None
        at += 1
        while at < len(lines) and not lines[at].text and at <= index + 3:
            at += 1
        if at >= len(lines) or not lines[at].text or lines[at].text[0] == "|" or len(lines[at].text) > 100:
            return None
        parts = f"{parts} {plain(lines[at].text)}"
        letters = squeeze(parts)
        kind = _kind(parts, letters)
        if kind:
            return _make(index, at + 1, kind, parts, letters)
    return None


def _in_table(index: int, text: str) -> Title | None:
    """Read a title in the first cell of a row whose other cells name periods or nothing."""
    low = text[:400].lower()
    if not any(word in low for word in words().gate):
        return None
    cells = [clean(text[a:b]) for a, b in pipe_cells(text)]
    filled = [cell for cell in cells if cell]
    if not filled or len(filled[0]) > _LONGEST:
        return None
    shown = filled[0]
    others = [cell for cell in filled[1:] if cell != shown]
    letters = squeeze(shown)
    kind = _kind(shown, letters, in_table=True)
    heads = words().component_heads if kind == "equity" else None
    for cell in others:
        if is_year_row(cell) or unit_of(cell) or unit_of(f"({cell})"):
            continue
        if heads is None or is_value(cell) or not heads.search(squeeze(cell)):
            return None
    return _make(index, index + 1, kind, shown, letters, in_table=True) if kind else None


def _has_figures(shown: str) -> bool:
    """Tell whether figures that are no years, days or page number close the line."""
    cells = [shown[a:b] for piece in split_row(shown, 0) for a, b in piece.cells]
    money = [cell for cell in cells if not is_year(cell.strip("(),")) and not (cell.isdigit() and len(cell) < 4)]
    return bool(money) or len([cell for cell in cells if not is_year(cell.strip("(),"))]) > 1


def _make(first: int, last: int, kind: str, text: str, letters: str, *, in_table: bool = False) -> Title:
    continued = words().continued.search(letters) is not None
    return Title(first, last, kind, text, letters, continued, in_table, _PAGE_TAIL.search(text) is not None)


def _kind(shown: str, letters: str, *, in_table: bool = False) -> str:
    """Return the type of statement that a line names, or an empty string."""
    known = words()
    first = _FIRST_LETTER.search(shown)
    if first is None or not first[0].isupper() or _NUMBERED.match(shown):
        return ""
    if shown.endswith((".", ":")) and (is_sentence(shown) or len(shown) > 100):
        return ""
    if letters.startswith("balance") and known.bare_balance.fullmatch(letters):
        return "balance_sheet" if len(letters) > len("balances") or in_table else ""
    best = _core(letters, known.titles)
    if best is None:
        return ""
    kind, start, end = best
    prefix, suffix = letters[:start], letters[end:]
    if len(prefix) > _LONGEST_PREFIX or known.prefix_banned.search(prefix) or is_sentence(shown):
        return ""
    if suffix and not known.suffix_leads.match(suffix):
        return ""
    return "" if known.suffix_banned.search(suffix) else kind


def _core(letters: str, titles: Mapping[str, re.Pattern[str]]) -> tuple[str, int, int] | None:
    """Return the type whose name comes first in the letters, with its bounds."""
    best: tuple[str, int, int] | None = None
    for kind, pattern in titles.items():
        found = pattern.search(letters)
        if found and (best is None or found.start() < best[1]):
            best = (kind, found.start(), found.end())
    return best
