"""Read one citation at a place: units, numbers, lists, ranges, relative words, and the act it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from fin_rag.structure.regulation import civil_words as words
from fin_rag.structure.regulation.acts import (
    BACK,
    BARE,
    NAMED,
    NUMBERED,
    OWN,
    PRONOUN,
    US_ACT,
    Acts,
    act_class,
    clean_act,
)
from fin_rag.structure.regulation.numbers import clean_number, fold

Step: TypeAlias = tuple[str, str]
Steps: TypeAlias = tuple[Step, ...]

THIS, PREVIOUS, NEXT, ALL_PREVIOUS = "@this", "@previous", "@next", "@all_previous"
_RANK: Final = {"book": 0, "part": 0, "title": 1, "chapter": 2, "section": 3, "subsection": 4, "annex": -1, "appendix": -1,
                "art": 6, "norma": 6, "da": 6, "dt": 6, "dd": 6, "df": 6, "recital": 6, "par": 7, "subparagraph": 8, "pt": 9, "sub": 10}  # fmt: skip
_ARTICLE_RANK: Final = 6
_LINK: Final = re.compile(
    r",?[ \n]{1,3}(?:of|to|in|under|del|de|en|der|des)[ \n]{1,3}(?:(?:la|el|los|las|the|dem|der)"
    r"[ \n]{1,2})?(?:(?:Council|Commission)[ ])?"
)
_BLANKS: Final = re.compile(r"[ \n]{1,3}")
_MOST_SEGMENTS: Final = 6
_MOST_ITEMS: Final = 60
_POSSESSIVE: Final = re.compile(r"(?<!\w)(?:sus?|its|their)[ \n]\Z", re.IGNORECASE)
_SENTENCE: Final = 600
_STOP: Final = re.compile(r"[.;][ \n]+(?=[A-ZÁÉÍÓÚÑ«(0-9])|\n[ ]*\n")
_ACT_WORDS: Final = re.compile(
    r"(?<!\w)(?=(?:Ley|Real[ ]Decreto|Decreto|Orden|Circular|Reglamento|Directiva|Decisi[óo]n|C[óo]digo"
    r"|Constituci|Estatuto|Tratado|Treaty|TFEU|TEU|TFUE|TUE|Regulation|Directive|Decision|Commission|Council)"
    r"(?!\w)"
    r"|(?:dich|citad|mencionad|referid|es[ae]|aquel|that|the[ ]said|est[ea]|presente|this)\w{0,2}[ ])"
)
_GERMAN: Final = re.compile(
    r"artikel|abs[aä]tz|buchst|nummer|anh[aä]ng|titel|kapitel|abschn|teil", re.IGNORECASE
)


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


@dataclass(slots=True)
class Cited:
    """Hold one citation: its span, what it cites, and whose.

    ``items`` are absolute or relative steps; ``own`` says that the citing act is named (``of this
    Regulation``); ``act`` is another act. ``relative`` tells that a word like *this* or *previous* ties it
    to its place.
    """

    start: int
    end: int
    items: list[Item] = field(default_factory=list)
    act: str = ""
    own: bool = False
    relative: bool = False


def read_citation(view: str, at: int, limit: int, acts: Acts) -> Cited | None:
    """Read the citation of provisions that begins at an offset, or return ``None``."""
    segment = _segment(view, at, limit)
    if segment is None:
        return None
    items, end, before = list(segment.items), segment.end, segment
    for _ in range(_MOST_SEGMENTS):
        following = _joined(view, end, limit, before)
        if following is None:
            break
        items = _combined(items, following, inner=_rank(following) > _rank(before))
        end, before = following.end, following
        if segment.plural and segment.kind == "art" and _rank(following) > _ARTICLE_RANK:
            items, end, before = _resumed(view, end, limit, items, segment, before)
    items = [item for item in items if item.steps]
    if not items:
        return None
    cited = Cited(at, end, items)
    cited.relative = any(number.startswith("@") for item in items for _, number in item.steps)
    _name_act(view, cited, limit, acts)
    return cited


# --- segments ---------------------------------------------------------------------------------


def _joined(view: str, end: int, limit: int, before: Segment) -> Segment | None:
    """Read a segment that belongs to the one before: ``… del apartado 1`` or ``…, letra b)``."""
    of = words.OF.match(view, end, limit)
    if of:
        segment = _segment(view, of.end(), limit) or _bare_annex(view, of, limit)
        if segment is not None and _rank(segment) <= _rank(before):
            return segment
    sub = words.SUB.match(view, end, limit)
    if sub:
        segment = _segment(view, sub.end(), limit)
        inner = segment is not None and not (before.kind == "annex" and _rank(segment) == _ARTICLE_RANK)
        if (
            segment is not None
            and inner
            and _rank(segment) > _rank(before)
            and _is_close(view, end, sub.end(), segment)
        ):
            return None if _begins_another(view, segment, before, limit) else segment
    return None


def _begins_another(view: str, segment: Segment, before: Segment, limit: int) -> bool:
    """Tell whether an inner segment belongs to a citation of its own: ``…, the first subparagraph of Article 1(2)``."""
    of = words.OF.match(view, segment.end, limit)
    outer = _segment(view, of.end(), limit) if of else None
    return outer is not None and _rank(outer) == _rank(before)


def _is_close(view: str, end: int, start: int, segment: Segment) -> bool:
    """Tell whether an inner segment goes with what stands before it: no relative word, and a comma between."""
    tied = any(number.startswith("@") for item in segment.items for _, number in item.steps)
    return not tied and (
        "," in view[end:start]
        or view[start : start + 1].isupper()
        or segment.kind in ("par", "pt", "sub", "subparagraph")
    )


def _bare_annex(view: str, of: re.Match[str], limit: int) -> Segment | None:
    """Read ``of the Annex``, which needs no number."""
    unit = words.UNIT.match(view, of.end(), limit)
    if unit and unit.lastgroup == "annex" and unit.group()[0].isupper():
        return Segment("annex", [Item((("annex", ""),))], unit.end())
    return None


def _rank(segment: Segment) -> int:
    return _RANK.get(segment.kind, 6)


def _segment(view: str, at: int, limit: int) -> Segment | None:
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
    found = _numbers(view, blanks.end(), limit, kind, plural=_is_plural(unit.group())) if blanks else None
    if found is not None and _GERMAN.match(unit.group()):
        found = _without_bis(view, blanks.end() if blanks else 0, limit, kind, found)
    if found is None:
        return None
    items, end = found
    after = words.RELATIVE_AFTER.match(view, end, limit)
    if after and after["word"].lower() in ("anterior", "above", "below", "precedente"):
        end = after.end()
    return Segment(kind, items, end, plural=_is_plural(unit.group()))


def _without_bis(
    view: str, at: int, limit: int, kind: str, found: tuple[list[Item], int]
) -> tuple[list[Item], int]:
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
    if plain.startswith(
        ("anterior", "precedente", "the preceding", "the previous", "the foregoing", "above", "vorstehend")
    ):
        step = (
            ALL_PREVIOUS
            if plain.endswith("es") or unit.group().lower().endswith(("graphs", "points", "cles"))
            else PREVIOUS
        )
    elif plain.startswith(("siguiente", "the next", "below")):
        if plain.endswith("es") or unit.group().lower().endswith("s"):
            return None  # "the following paragraphs": a lead-in
        step = NEXT
    return Segment(kind, [Item(((kind, step),))], end)


# --- numbers ----------------------------------------------------------------------------------


def _numbers(view: str, at: int, limit: int, kind: str, *, plural: bool) -> tuple[list[Item], int] | None:
    first = _number(view, at, limit, kind)
    if first is None:
        return None
    items, end = [Item(first[0])], first[1]
    while len(items) < _MOST_ITEMS:
        to = words.RANGE.match(view, end, limit)
        if to and not items[-1].to:
            last = _next_number(view, to.end(), limit, kind, items[-1].steps)
            if last is not None and (
                plural or view[to.end()] in "(" or len(items[-1].steps) > 1 or kind == "pt"
            ):
                items[-1].to, end = last
                continue
        and_ = words.AND.match(view, end, limit)
        if not and_:
            break
        following = _next_number(view, and_.end(), limit, kind, items[-1].steps)
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
            text.startswith(" ")
            and (match["paren"].isdigit() or len(match["paren"]) > 2)
            and steps[-1][0] != "annex"
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


# --- putting together -------------------------------------------------------------------------


def _combined(items: list[Item], segment: Segment, *, inner: bool) -> list[Item]:
    """Add a segment to what was cited: an outer one to every entry, an inner one to the last.

    An inner segment that fills a level in the middle (``letras a) y b) del artículo 12, apartado 1``) goes to every entry
    too.
    """
    if segment.kind == "subparagraph":
        return items
    fills = all(item.steps and _RANK.get(item.steps[-1][0], 6) > _rank(segment) for item in items)
    if not inner or fills:
        return [_merged(item, own) for own in segment.items for item in items][:_MOST_ITEMS]
    last = items[-1]
    kept = items[:-1]
    if last.to:
        kept.append(last)
        last = Item(last.to)
    return [*kept, *(_merged(last, own) for own in segment.items)]


def _merged(item: Item, other: Item) -> Item:
    """Join the steps of two parts of a citation, the outer ones first; at most one of them is a range."""

    def ordered(one: Steps, two: Steps) -> Steps:
        return tuple(sorted((*one, *two), key=lambda step: _RANK.get(step[0], 6)))

    steps = ordered(item.steps, other.steps)
    if item.to:
        return Item(steps, ordered(item.to, other.steps))
    return Item(steps, ordered(item.steps, other.to) if other.to else ())


def _resumed(
    view: str, end: int, limit: int, items: list[Item], first: Segment, before: Segment
) -> tuple[list[Item], int, Segment]:
    """Go on with a list of articles after a level of one of them: ``Articles 4(2), point (a), and 5``."""
    and_ = words.AND.match(view, end, limit)
    found = _numbers(view, and_.end(), limit, first.kind, plural=True) if and_ else None
    if found is None or view[found[1] : found[1] + 1].isalnum():
        return items, end, before
    return [*items, *found[0]], found[1], Segment(first.kind, found[0], found[1], plural=True)


# --- the act ----------------------------------------------------------------------------------


def _name_act(view: str, cited: Cited, limit: int, acts: Acts) -> None:
    """Read the act that follows a citation, if one does."""
    blanks = _BLANKS.match(view, cited.end, limit)
    pronoun = PRONOUN.match(view, blanks.end(), limit) if blanks else None
    if pronoun:
        cited.act, cited.end = (
            named_before(view, cited.start, acts) or acts.of_gender(pronoun.group()) or pronoun.group(),
            pronoun.end(),
        )
        return
    if _POSSESSIVE.search(view, max(0, cited.start - 8), cited.start):
        cited.act = named_before(view, cited.start, acts)
    if blanks:
        short = acts.short_at(view, blanks.end())
        named = NAMED.match(view, blanks.end(), limit)
        if short:
            cited.act, cited.end = short
            return
        if named and named["treaty"]:
            cited.act, cited.end = named.group(), named.end()
            return
    link = _LINK.match(view, cited.end, limit)
    if not link:
        return
    found = name_at(view, link.end(), limit, acts)
    if found is None:
        return
    name, end, own = found
    cited.end = end
    if own:
        cited.own = True
    else:
        cited.act = name


def named_before(view: str, at: int, acts: Acts) -> str:
    """Return the act that the sentence before an offset names last; nothing if it is the citing act or there is none."""
    start = max(0, at - _SENTENCE)
    for stop in _STOP.finditer(view, start, at):
        start = stop.end()
    found: tuple[int, str] = (-1, "")
    for match in _ACT_WORDS.finditer(view, start, at):
        named = name_at(view, match.start(), at, acts)
        if named is not None and match.start() > found[0]:
            found = (match.start(), "" if named[2] else named[0])
    return found[1]


def name_at(view: str, at: int, limit: int, acts: Acts) -> tuple[str, int, bool] | None:
    """Read the name of an act at an offset: name, where it ends, and whether it is the citing act itself."""
    own = OWN.match(view, at, limit)
    if own:
        return "", own.end(), True
    back = BACK.match(view, at, limit)
    if back:
        name = acts.last.get(act_class(back["type"])) or acts.latest or back.group()
        return name, back.end(), acts.is_own(name)
    numbered = NUMBERED.match(view, at, limit)
    if numbered:
        name = clean_act(numbered.group())
        return name, numbered.end(), acts.is_own(name)
    short = acts.short_at(view, at)
    if short:
        return short[0], short[1], acts.is_own(short[0])
    american = US_ACT.match(view, at, limit)
    if american:
        return american.group(), american.end(), False
    named = NAMED.match(view, at, limit)
    if named and not BARE.fullmatch(named.group()):
        name = clean_act(named.group())
        return name, named.end(), acts.is_own(name)
    return _bare(view, at, limit, acts)


def _bare(view: str, at: int, limit: int, acts: Acts) -> tuple[str, int, bool] | None:
    """Read ``the Directive``, ``la Ley``: the citing act if it is of that sort, else the last one of that sort."""
    bare = BARE.match(view, at, limit)
    if not bare:
        return None
    sort = act_class(bare.group())
    name = acts.last.get(sort, "")
    if sort == acts.own.sort or (not name and not acts.own.sort):
        return "", bare.end(), True
    return name or bare.group(), bare.end(), False
