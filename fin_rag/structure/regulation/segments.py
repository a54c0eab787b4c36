"""Read one part of a citation: a unit word with its numbers, lists and ranges, or a word like *this*."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, TypeAlias

from fin_rag.structure.regulation import civil_words as words
from fin_rag.structure.regulation.numbers import clean_number, fold

Step: TypeAlias = tuple[str, str]
Steps: TypeAlias = tuple[Step, ...]

THIS, PREVIOUS, NEXT, ALL_PREVIOUS = "@this", "@previous", "@next", "@all_previous"
PREVIOUS_TEXT = "@previous_text"  # the paragraph above, numbered or not
# From the outermost; what an annex holds is cited below the annex.
RANK: Final = {
    "annex": -1, "appendix": -1, "book": 0, "part": 0, "title": 1, "chapter": 2, "section": 3, "subsection": 4,
    "art": 6, "norma": 6, "da": 6, "dt": 6, "dd": 6, "df": 6, "recital": 6,
    "par": 7, "subparagraph": 8, "pt": 9, "sub": 10,
}  # fmt: skip
ARTICLE_RANK: Final = 6
MOST_ITEMS: Final = 60
_BLANKS: Final = re.compile(r"[ \n]{1,3}")
_GERMAN: Final = re.compile(r"artikel|abs[aä]tz|buchst|nummer|anh[aä]ng|titel|kapitel|abschn|teil", re.IGNORECASE)


@dataclass(slots=True)
class Item:
    """Hold one entry of a list of numbers: its steps, and the steps of its end where it is a range."""

    steps: Steps
    to: Steps = ()


@dataclass(slots=True)
class Segment:
    """Hold a unit word with its numbers: ``letras a) y c)``, ``this Article``."""

    kind: str
    items: list[Item]
    end: int
    plural: bool = False


def rank_of(segment: Segment) -> int:
    """Return how far out a segment's level lies; the outermost is the least."""
    return RANK.get(segment.kind, 6)


def read_segment(view: str, at: int, limit: int) -> Segment | None:
    """Read the segment that begins at an offset, or return ``None``."""
    before = words.RELATIVE_BEFORE.match(view, at, limit)
    if before:
        unit = words.UNIT.match(view, before.end(), limit)
        return _tied(unit, before["word"], unit.end()) if unit else None
    unit = words.UNIT.match(view, at, limit)
    if not unit:
        return None
    kind = _kind_of(unit)
    if kind == "subparagraph":
        return Segment(kind, [Item(())], unit.end())
    after = words.RELATIVE_AFTER.match(view, unit.end(), limit)
    if after:
        return _tied(unit, after["word"], after.end())
    blanks = _BLANKS.match(view, unit.end(), limit)
    found = read_numbers(view, blanks.end(), limit, kind, plural=_is_plural(unit.group())) if blanks else None
    if found is not None and _GERMAN.match(unit.group()):
        found = _without_bis(view, blanks.end() if blanks else 0, limit, kind, found)
    if found is None:
        return None
    items, end = found
    after = words.RELATIVE_AFTER.match(view, end, limit)
    if after and after["word"].lower() in ("anterior", "above", "below", "precedente"):
        end = after.end()
    return Segment(kind, items, end, plural=_is_plural(unit.group()))


def _without_bis(view: str, at: int, limit: int, kind: str, found: tuple[list[Item], int]) -> tuple[list[Item], int]:
    """Read *bis* as the German word for *to*: cut it off numbers that took it for a suffix."""
    if " bis" not in view[at : found[1]]:
        return found
    items: list[Item] = []
    end, open_range = found[1], False
    for item in found[0]:
        head, number = item.steps[:-1], item.steps[-1][1]
        plain = Item((*head, (item.steps[-1][0], number.removesuffix(" bis"))), item.to)
        if open_range and items:
            items[-1].to = plain.steps
        else:
            items.append(plain)
        open_range = number.endswith(" bis")
    if open_range:
        end = view.rfind(" bis", at, end)
        to = words.RANGE.match(view, end, limit)
        last = _number(view, to.end(), limit, kind) if to else None
        if last is not None:
            items[-1].to, end = (*items[-1].steps[:-1], last[0][-1]), last[1]
    return items, end


def _kind_of(unit: re.Match[str]) -> str:
    kind = unit.lastgroup or ""
    if kind == "disp":
        return next(name for word, name in words.DISPOSITIONS if word[:7] in unit.group().lower())
    return kind


def _is_plural(word: str) -> bool:
    return word.lower().endswith(
        ("s", "artikel", "artikeln", "sätze", "staben", "mern", "hänge", "sätzen")
    ) and not word.lower().endswith(("ss", "artikels"))


def _tied(unit: re.Match[str], word: str, end: int) -> Segment | None:
    """Return a segment that is named by its place: this, the previous, the next one."""
    kind, plain = _kind_of(unit), fold(word)
    if kind == "subparagraph" or (kind == "section" and plain == "this" and unit.group()[0].islower()):
        return None
    step = THIS
    loose = unit.group().lower().startswith(("párraf", "parraf"))
    if plain.startswith(
        ("anterior", "precedente", "the preceding", "the previous", "the foregoing", "above", "vorstehend")
    ):
        step = (
            ALL_PREVIOUS
            if plain.endswith("es") or unit.group().lower().endswith(("graphs", "points", "cles"))
            else PREVIOUS_TEXT
            if loose
            else PREVIOUS
        )
    elif plain.startswith(("siguiente", "the next", "below")):
        if plain.endswith("es") or unit.group().lower().endswith("s"):
            return None  # "the following paragraphs": a lead-in
        step = NEXT
    return Segment(kind, [Item(((kind, step),))], end)


# --- numbers ----------------------------------------------------------------------------------


def read_numbers(view: str, at: int, limit: int, kind: str, *, plural: bool) -> tuple[list[Item], int] | None:
    """Read the numbers of one kind at an offset, lists and ranges included; return them and where they end."""
    first = _number(view, at, limit, kind)
    if first is None:
        return None
    items, end = [Item(first[0])], first[1]
    while len(items) < MOST_ITEMS:
        to = words.RANGE.match(view, end, limit)
        if to and not items[-1].to:
            last = _next_number(view, to.end(), limit, kind, items[-1].steps)
            if last is not None and (plural or view[to.end()] in "(" or len(items[-1].steps) > 1 or kind == "pt"):
                items[-1].to, end = last
                continue
        and_ = words.AND.match(view, end, limit)
        if not and_:
            break
        following = _next_number(view, and_.end(), limit, kind, items[-1].steps)
        if following is not None and kind == "pt" and not _alike(items[-1].steps[0][1], following[0][0][1]):
            break
        if following is None or not (plural or _surely_goes_on(view, and_.end(), following, kind)):
            break
        items.append(Item(following[0]))
        end = following[1]
    return items, end


def _surely_goes_on(view: str, at: int, following: tuple[Steps, int], kind: str) -> bool:
    """Tell whether a number after *and* goes on with a list whose unit word is singular."""
    return view[at] == "(" or view[following[1] - 1] == ")" or (kind == "art" and len(following[0]) > 1)


def _next_number(view: str, at: int, limit: int, kind: str, before: Steps) -> tuple[Steps, int] | None:
    """Read a further number of a list; a bracket alone goes on at the level of the one before."""
    if (kind in ("art", "norma", "par") or len(before) > 1) and kind != "pt" and view[at : at + 1] == "(":
        match = words.ATTACHED.match(view, at, limit)
        if not match or len(before) < 1:
            return None
        inner = match["paren"] or ""
        same = next((i for i in range(len(before) - 1, 0, -1) if _alike(before[i][1], inner)), None)
        if same is None and kind != "par":
            same = len(before) - 1 if len(before) > 1 else None
        if same is None:
            return _number(view, at, limit, kind) if kind == "par" else None
        return _attached(view, match.end(), limit, (*before[:same], (before[same][0], inner)))
    return _number(view, at, limit, kind)


def _alike(one: str, other: str) -> bool:
    return one[:1].isdigit() == other[:1].isdigit()


def _number(view: str, at: int, limit: int, kind: str) -> tuple[Steps, int] | None:
    pattern = words.NUMBERS[
        "disp" if kind in ("da", "dt", "dd", "df") else "container" if kind in words.CONTAINER_KINDS else kind
    ]
    match = pattern.match(view, at, limit)
    if not match or not match.group():
        return None
    groups = match.groupdict()
    inner = groups.get("in") or groups.get("half") or match.group()
    number = clean_number(inner) if not (groups.get("in") or groups.get("half")) else inner
    if kind == "art" and number == "unica":
        number = "unico"
    if kind in ("da", "dt", "dd", "df") and number == "unico":
        number = "unica"
    if kind == "par" and groups.get("half"):
        kind = "pt"  # Spanish laws call letters paragraphs too
    steps: Steps = ((kind, number),)
    lettered = len(number) == 1 and number.isalpha() and number.isupper() and number not in "IVXLC"
    if kind == "recital" or (kind in words.CONTAINER_KINDS and not lettered):
        return steps, match.end()
    return _attached(view, match.end(), limit, steps)


def _attached(view: str, at: int, limit: int, steps: Steps) -> tuple[Steps, int]:
    """Read the levels that are glued to a number: ``.3.b)``, ``(1)(b)(i)``."""
    for _ in range(5):
        match = words.ATTACHED.match(view, at, limit)
        if not match or _is_aside(view, match, steps):
            break
        text = match["dotted"] or match["ord"] or match["half"] or match["paren"]
        kind = _level_kind(steps, text, is_ordinal=bool(match["ord"]))
        steps = (*steps, (kind, clean_number(text) if text[0].isdigit() else text))
        at = match.end()
    return steps, at


def _is_aside(view: str, match: re.Match[str], steps: Steps) -> bool:
    """Tell brackets with a footnote call or a year from a level."""
    text = match.group()
    if match["paren"]:
        return (
            text.startswith(" ") and (match["paren"].isdigit() or len(match["paren"]) > 2) and steps[-1][0] != "annex"
        )
    if match["half"]:
        return (
            text.startswith(" ")
            and view[match.end() : match.end() + 1].strip(" ,.;)") != ""
            and steps[-1][0] not in ("par", "art", "norma")
        )
    return False


def _level_kind(steps: Steps, text: str, *, is_ordinal: bool) -> str:
    last = steps[-1][0]
    if is_ordinal and last in ("pt", "par"):
        return "sub"
    if text[0].isdigit():
        return {"par": "pt", "pt": "sub", "sub": "sub"}.get(last, "par")
    return "sub" if last in ("pt", "sub") else "pt"
