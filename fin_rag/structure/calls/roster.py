"""Lists of participants: who they are, and where the lists end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fin_rag.structure.calls.affiliation import (
    DASH,
    is_analyst_role,
    is_firm,
    is_role,
    joined_lines,
    split_affiliation,
)
from fin_rag.structure.calls.labels import parse_label
from fin_rag.structure.calls.lines import CallLine, plain
from fin_rag.structure.calls.model import Participant
from fin_rag.structure.calls.names import name_kind, without_honorific
from fin_rag.structure.calls.titles import ROSTER_TITLE, Title
from fin_rag.structure.calls.vocabulary import classes, fold, words

_GAP: Final = re.compile(r"[ \u00a0]{3,}|\t+")
_NARROW: Final = re.compile(r"[ \u00a0]{2,}|\t+")
_LABEL: Final = re.compile(r"(?P<label>[^\W\d_][^:]{2,40}?)\s*:\s*(?P<rest>\S.*)")
# A sentence ends inside the line: neither names nor offices do that. "Inc. Senior Analyst" is no sentence.
_SENTENCES: Final = re.compile(
    r"(?<!\binc)(?<!\bcorp)(?<!\bltd)(?<!\bbros)(?:[^\W\d_]{3,}|\d)[.?!…][\"”'’)]? (?=[^\W\d_a-z])", re.IGNORECASE
)
_BETWEEN: Final = re.compile(r"[;,]\s+(?![^()]*\))")
_COLUMN_SLACK: Final = 4
_LONGEST_LIST: Final = 400  # lines


@dataclass(frozen=True, slots=True)
class Roster:
    """Hold one list: the lines it takes (end-exclusive) and who stands in it."""

    first: int
    last: int
    people: tuple[Participant, ...]


@dataclass(slots=True)
class _Cell:
    """Hold one cell of a list: its words, its column, and how it is marked."""

    words: str
    column: int
    marked: bool
    gap: bool


class _Person:
    """Collect what a list says of one person."""

    def __init__(self, name: str, said: str = "", side: str = "") -> None:
        self.name = name
        self.side = side  # where it is not that of the whole list
        self.said = [said] if said else []

    @property
    def full(self) -> str:
        """Return all that stands behind the name."""
        return joined_lines(self.said)


def is_speech(line: CallLine) -> bool:
    """Tell whether a line reads as something said: a sentence, or a long run of small words."""
    tokens = line.bare.split()
    if not tokens:
        return False
    small = sum(token[0].islower() for token in tokens)
    if not line.short or _SENTENCES.search(line.bare) or any(_addresses(token) for token in tokens):
        return True
    if line.raw.rstrip("*_ ").endswith(("?", "!", "…")) and len(tokens) > 1:
        return True
    if line.ends_sentence:
        return fold(tokens[-1]) not in words("legal_forms") | words("suffixes") and (small > 0 or len(tokens) < 4)
    return len(tokens) >= 9 and small * 2 > len(tokens)


def _addresses(token: str) -> bool:
    """Tell whether a word is one by which people speak of themselves or to others; "IT" and "Mas i Pi" are not."""
    return (token[0].islower() or token[0] == "I") and token not in ("IT", "i") and fold(token) in words("pronouns")


def roster_label(line: CallLine) -> tuple[str, list[tuple[str, str]]] | None:
    """Return side and entries of a line such as ``MANAGEMENT: MR. X – ROLE``, if it is one."""
    return None if not line.short or is_speech(line) else _labelled(line.bare)


def _labelled(text: str) -> tuple[str, list[tuple[str, str]]] | None:
    """Return side and entries of words such as ``Analysts: Ann Lee (Orrin Bank), Bo Ek (Birk)``."""
    match = _LABEL.match(text)
    if match is None:
        return None
    label = fold(match["label"])
    side = classes("roster_titles").get(label) or classes("roster_labels").get(label)
    if side is None:
        return None
    several = [entry_of(part) for part in _BETWEEN.split(match["rest"]) if "(" in part]
    if len(several) > 1 and len(several) == len(_BETWEEN.split(match["rest"])) and all(several):
        return side, [entry for entry in several if entry]
    one = entry_of(match["rest"])
    return (side, [one]) if one else None


def entry_of(text: str) -> tuple[str, str] | None:
    """Return name and the rest of a list entry that stands on one line."""
    label = parse_label(text)
    if label is None or label.kind not in ("person", "analyst", "company", "unknown") or not label.affiliation:
        return None
    return label.name, label.affiliation


def read_roster(
    lines: Sequence[CallLine],
    title: Title,
    furniture: set[int],
    stop: int,
    named: frozenset[str],
    firms: Sequence[str] = (),
) -> Roster:
    """Read the list under a title, up to the line ``stop`` at most.

    ``named`` holds folded names that stand on speaker lines of the body, ``firms`` folded names of firms. The list
    ends where an operator speaks or where a sentence follows; the line above that sentence is then the first
    speaker line.
    """
    limit = min(stop, title.line + 1 + _LONGEST_LIST)
    last = list_end(lines, title.line + 1, limit, furniture)
    rows = [i for i in range(title.line + 1, last) if i not in furniture]
    people = _people(lines, rows, title.side, named)
    return Roster(title.line, last, tuple(_participant(person, title.side, firms) for person in people))


def read_labelled(lines: Sequence[CallLine], first: int, furniture: set[int], stop: int) -> Roster | None:
    """Read a list whose first line bears its label: ``MANAGEMENT: MR. X – ROLE – FIRM`` and the lines below."""
    if roster_label(lines[first]) is None:
        return None
    people: list[tuple[_Person, str]] = []
    side, at = "", first
    while at < min(stop, first + _LONGEST_LIST):
        if at in furniture:
            at += 1
            continue
        labelled = roster_label(lines[at])
        if labelled is None and (is_speech(lines[at]) or _is_operator(lines[at]) or _colon_label(lines[at])):
            break
        text = lines[at].bare
        side, entries = labelled if labelled is not None else (side, [entry_of(text)])
        named = [entry for entry in entries if entry is not None]
        if named:
            people += [(_Person(*entry), side) for entry in named]
        elif (people and text[0] in "–—-&(") or (people and not lines[at].gap):
            people[-1][0].said.append(text)
        else:
            break
        at += 1
    return Roster(first, at, tuple(_participant(person, whose) for person, whose in people)) if people else None


def read_table(lines: Sequence[CallLine], first: int) -> Roster | None:
    """Read a table of people, known by its head: ``| Name | Title | Company |``."""
    heads = [classes("table_heads").get(fold(cell), "") for cell in _table_cells(lines[first])]
    if "name" not in heads or len(heads) < 2 or not any(heads[1:]):
        return None
    people: list[Participant] = []
    at = first + 1
    while at < len(lines) and lines[at].bare.startswith("|"):
        cells = dict(zip(heads, _table_cells(lines[at]), strict=False))
        name = without_honorific(cells.get("name", ""))
        if name_kind(name) == "person":
            person = _Person(name, ", ".join(filter(None, (cells.get("role", ""), cells.get("firm", "")))))
            found = _participant(person, "")
            people.append(replace(found, role=cells.get("role", found.role), firm=cells.get("firm", found.firm)))
        at += 1
    return Roster(first, at, tuple(people)) if people else None


def _table_cells(line: CallLine) -> list[str]:
    return [cell.strip() for cell in line.bare.strip("| ").split("|")]


def _colon_label(line: CallLine) -> bool:
    head, colon, rest = line.bare.partition(":")
    return bool(colon) and bool(rest.strip()) and name_kind(head.strip()) not in ("", "single")


def _is_operator(line: CallLine) -> bool:
    head = line.bare.partition(":")[0]
    label = parse_label(head) if len(head) <= 60 else None
    return label is not None and (label.kind == "operator" or fold(label.role) in words("operators"))


def list_end(lines: Sequence[CallLine], first: int, limit: int, furniture: set[int]) -> int:
    """Return the line after the list."""
    at, previous = first, -1
    while at < limit:
        if at in furniture:
            at += 1
            continue
        line = lines[at]
        if _is_operator(line):
            return at
        if is_speech(line) or _speaks(line):
            # Entries that stand close together are followed by a blank line; what is one with them is an entry.
            entry = previous >= 0 and line.gap and not lines[previous].gap and not line.level
            heads = previous >= 0 and not _speaks(line) and not entry and _may_head(lines[previous])
            return previous if heads else at
        previous = at
        at += 1
    return limit


def _speaks(line: CallLine) -> bool:
    """Tell whether a line is a speaker line with what is said behind the colon."""
    head, colon, rest = line.bare.partition(":")
    if not colon or len(rest.split()) < 2 or len(head) > 80:
        return False
    label = parse_label(head)
    return label is not None and label.kind in ("person", "operator") and entry_of(rest.strip()) is None


def _may_head(line: CallLine) -> bool:
    label = parse_label(line.bare.rstrip(":"))
    return label is not None and label.kind not in ("role", "letter")


# --- entries --------------------------------------------------------------------------------------


def _cells(lines: Sequence[CallLine], rows: Sequence[int]) -> Iterator[list[_Cell]]:
    """Yield the cells of each line: wide gaps part columns, and narrow ones where a column begins."""
    begins = {lines[i].indent + gap.end() for i in rows for gap in _GAP.finditer(lines[i].raw)}
    for i in rows:
        line = lines[i]
        marked = line.level > 0 or line.bold or line.bullet
        if line.bare.startswith("|"):
            parts = [part.strip() for part in line.bare.strip("|").split("|") if part.strip(" -:")]
            yield [_Cell(" - ".join(parts), 0, marked, line.gap)] if parts else []
            continue
        gaps = [
            gap
            for gap in _NARROW.finditer(line.raw)
            if _GAP.fullmatch(gap.group()) or any(abs(line.indent + gap.end() - at) <= 1 for at in begins)
        ]
        cells: list[_Cell] = []
        at = 0
        for gap in [*gaps, None]:
            end = gap.start() if gap else len(line.raw)
            piece = line.raw[at:end].strip()
            if piece:
                whole = not cells and gap is None
                cells.append(_Cell(line.bare if whole else plain(piece), line.indent + at, marked, line.gap))
            at = gap.end() if gap else end
        yield cells


def _people(lines: Sequence[CallLine], rows: Sequence[int], side: str, named: frozenset[str]) -> list[_Person]:
    parted = [cells for cells in _cells(lines, rows) if cells]
    if any(len(cells) > 1 for cells in parted):
        return [person for column in _columns(parted) for person in _stack(column, side, named)]
    return _stack([cells[0] for cells in parted], side, named)


def _columns(parted: Sequence[Sequence[_Cell]]) -> list[list[_Cell]]:
    """Gather the cells of columns that begin at about the same place."""
    places: list[int] = []
    columns: list[list[_Cell]] = []
    for cells in parted:
        for cell in cells:
            near = next((i for i, place in enumerate(places) if abs(place - cell.column) <= _COLUMN_SLACK), -1)
            if near < 0:
                if len(places) >= _COLUMN_SLACK:
                    near = len(places) - 1
                else:
                    places.append(cell.column)
                    columns.append([])
            columns[near].append(cell)
    return [columns[i] for i in sorted(range(len(places)), key=places.__getitem__)]


def _stack(cells: Sequence[_Cell], side: str, named: frozenset[str]) -> list[_Person]:
    """Read cells that stand below each other: names, each with what belongs to it."""
    marks_names = any(cell.marked and name_kind(cell.words) == "person" for cell in cells)
    people: list[_Person] = []
    for at, cell in enumerate(cells):
        person = people[-1] if people else None
        following = cells[at + 1] if at + 1 < len(cells) else None
        labelled = _labelled(cell.words)
        if labelled is not None:
            people += [_Person(*entry, side=labelled[0]) for entry in labelled[1]]
            continue
        entry = None if person and marks_names and not cell.marked and not person.said else _entry(cell, named)
        if entry is not None:
            people.append(_Person(*entry))
        elif _is_name(cell, person, following, named, marks_names=marks_names, side=side):
            people.append(_Person(cell.words.rstrip(" :,")))
        elif person is not None:
            person.said.append(cell.words)
    return [person for person in people if name_kind(person.name) not in ("operator", "single", "")]


def _entry(cell: _Cell, named: frozenset[str]) -> tuple[str, str] | None:
    """Return name and the rest of a cell that holds both; lines that go on from another are none."""
    if fold(cell.words) in named:
        return None
    parts = [part.strip() for part in DASH.split(cell.words) if part.strip()]
    if len(parts) == 2 and is_role(parts[0]) and name_kind(parts[1]) == "person" and not is_firm(parts[1]):
        return parts[1], parts[0]
    if len(parts) > 1 and (name_kind(parts[0]) not in ("person", "analyst", "company", "unknown") or is_firm(parts[0])):
        return None
    label = parse_label(cell.words.rstrip(":"), known=named)
    if label is None or label.kind not in ("person", "analyst", "company", "unknown") or not label.affiliation:
        return None
    return label.name, label.affiliation


def _is_name(
    cell: _Cell, person: _Person | None, following: _Cell | None, named: frozenset[str], *, marks_names: bool, side: str
) -> bool:
    folded = fold(cell.words)
    if name_kind(cell.words.rstrip(" :,")) not in ("person", "analyst", "company"):
        return False
    if folded in named or (marks_names and cell.marked):
        return True
    if is_firm(cell.words) or is_role(cell.words):
        return False
    if person is None or person.said:
        # Beyond one affiliation, a further line without a blank line before it goes on from the last one.
        return person is None or cell.gap or cell.marked or not marks_names
    if following is not None and not following.gap and is_role(following.words):
        return True
    return side == "company" or cell.gap


def _participant(person: _Person, side: str, firms: Sequence[str] = ()) -> Participant:
    whose = {"company": "company", "external": "external", "host": "external"}.get(person.side or side, "")
    said = split_affiliation(person.full, side=whose, firms=firms, firm_first=_firm_first(person.full))
    if not whose and (said.role or said.firm):
        outside = is_analyst_role(said.role) or (bool(said.firm) and not said.role)
        whose = "external" if outside else "company"
    return Participant(without_honorific(person.name), said.role, said.firm, whose)


def _firm_first(said: str) -> bool:
    parts = [part.strip() for part in DASH.split(said) if part.strip()]
    return len(parts) == 2 and is_role(parts[1]) and (is_firm(parts[0]) or not is_role(parts[0]))


__all__ = [
    "ROSTER_TITLE",
    "Roster",
    "entry_of",
    "is_speech",
    "list_end",
    "read_labelled",
    "read_roster",
    "read_table",
    "roster_label",
]
