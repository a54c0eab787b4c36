"""Read one citation at a place: its parts put together, and the act it names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from fin_rag.structure.regulation import civil_words as words
from fin_rag.structure.regulation.act_names import name_at, named_before
from fin_rag.structure.regulation.acts import NAMED, PRONOUN, Acts
from fin_rag.structure.regulation.segments import (
    ARTICLE_RANK,
    MOST_ITEMS,
    RANK,
    Item,
    Segment,
    Steps,
    rank_of,
    read_numbers,
    read_segment,
)

_LINK: Final = re.compile(
    r",?[ \n]{1,3}(?:of|to|in|under|del|de|en|der|des|zur|zum)[ \n]{1,3}(?:(?:la|el|los|las|the|dem|der)"
    r"[ \n]{1,2})?(?:(?:Council|Commission)[ ])?"
)
# German names the act of a citation in the genitive, without a preposition.
_GENITIVE: Final = re.compile(r"(?:jene[rs]|diese[rs]|der[ ]vorliegenden|der[ ]genannten)[ ]", re.IGNORECASE)
# Statutes, agreements and whatever else has articles: any name in capitals after *of*.
_OTHER_TEXT: Final = re.compile(
    r"[ \n]{1,3}(?:of|del|de|des|der)[ \n]{1,3}(?:(?:la|el|los|las|the)[ \n]{1,2})?"
    r"(?P<name>[A-ZÁÉÍÓÚÑ][\wáéíóúñü’'.-]{2,30}(?:[ ](?:(?:de|del|of|on|for|the|and|y|la|los|las)[ ]){0,3}"
    r"[A-ZÁÉÍÓÚÑ][\wáéíóúñü’'-]{1,30}){0,8})"
)
_BLANKS: Final = re.compile(r"[ \n]{1,3}")
_MOST_SEGMENTS: Final = 6
_POSSESSIVE: Final = re.compile(r"(?<!\w)(?:sus?|its|their)[ \n]\Z", re.IGNORECASE)


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
    segment = read_segment(view, at, limit)
    if segment is None:
        return None
    items, end, before = list(segment.items), segment.end, segment
    for _ in range(_MOST_SEGMENTS):
        following = _joined(view, end, limit, before)
        if following is None:
            break
        items = _combined(items, following, inner=rank_of(following) > rank_of(before))
        outer, end, before = before, following.end, following
        plural = next((one for one in (outer, segment) if one.plural and one.kind in ("art", "par")), None)
        if plural is not None and rank_of(following) > rank_of(plural):
            items, end, before = _resumed(view, end, limit, items, plural, before)
    items = [item for item in items if item.steps]
    if not items:
        return None
    cited = Cited(at, end, items)
    cited.relative = any(number.startswith("@") for item in items for _, number in item.steps)
    _name_act(view, cited, limit, acts)
    return cited


# --- parts ------------------------------------------------------------------------------------


def _joined(view: str, end: int, limit: int, before: Segment) -> Segment | None:
    """Read a segment that belongs to the one before: ``… del apartado 1`` or ``…, letra b)``."""
    of = words.OF.match(view, end, limit)
    if of:
        segment = read_segment(view, of.end(), limit) or _bare_annex(view, of, limit)
        if segment is not None and rank_of(segment) <= rank_of(before):
            return segment
    sub = words.SUB.match(view, end, limit)
    if sub:
        segment = read_segment(view, sub.end(), limit)
        inner = segment is not None and not (before.kind == "annex" and rank_of(segment) == ARTICLE_RANK)
        if (
            segment is not None
            and inner
            and rank_of(segment) > rank_of(before)
            and _is_close(view, end, sub.end(), segment)
        ):
            return None if _begins_another(view, segment, before, limit) else segment
    return None


def _begins_another(view: str, segment: Segment, before: Segment, limit: int) -> bool:
    """Tell whether an inner segment belongs to a citation of its own: ``…, the first subparagraph of Article 1(2)``."""
    of = words.OF.match(view, segment.end, limit)
    outer = read_segment(view, of.end(), limit) if of else None
    return outer is not None and rank_of(outer) == rank_of(before)


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


def _combined(items: list[Item], segment: Segment, *, inner: bool) -> list[Item]:
    """Add a segment to what was cited: an outer one to every entry, an inner one to the last.

    An inner segment that fills a level in the middle (``letras a) y b) del artículo 12, apartado 1``) goes to
    every entry too.
    """
    if segment.kind == "subparagraph":
        return items
    fills = all(item.steps and RANK.get(item.steps[-1][0], 6) > rank_of(segment) for item in items)
    if not inner or fills:
        return [_merged(item, own) for own in segment.items for item in items][:MOST_ITEMS]
    last = items[-1]
    kept = items[:-1]
    if last.to:
        kept.append(last)
        last = Item(last.to)
    return [*kept, *(_merged(last, own) for own in segment.items)]


def _merged(item: Item, other: Item) -> Item:
    """Join the steps of two parts of a citation, the outer ones first; at most one of them is a range."""

    def ordered(one: Steps, two: Steps) -> Steps:
        if one and two and one[0][0] == two[-1][0] == "pt":  # ``punto 2.º de la letra c)``: one point in another
            return (*two, ("sub", one[0][1]), *one[1:])
        return tuple(sorted((*one, *two), key=lambda step: RANK.get(step[0], 6)))

    steps = ordered(item.steps, other.steps)
    if item.to:
        return Item(steps, ordered(item.to, other.steps))
    return Item(steps, ordered(item.steps, other.to) if other.to else ())


def _resumed(
    view: str, end: int, limit: int, items: list[Item], first: Segment, before: Segment
) -> tuple[list[Item], int, Segment]:
    """Go on with a list after a level of one of its entries: ``Articles 4(2), point (a), and 5``."""
    and_ = words.AND.match(view, end, limit)
    found = read_numbers(view, and_.end(), limit, first.kind, plural=True) if and_ else None
    if found is None or view[found[1] : found[1] + 1].isalnum():
        return items, end, before
    above = tuple(step for step in items[-1].steps if RANK.get(step[0], ARTICLE_RANK) < rank_of(first))
    further = [Item((*above, *item.steps), (*above, *item.to) if item.to else ()) for item in found[0]]
    return [*items, *further], found[1], Segment(first.kind, found[0], found[1], plural=True)


def _other_text(view: str, end: int, limit: int) -> tuple[str, int, bool] | None:
    """Read the name of a text that is no act by its words: ``artículo 5 de los Estatutos``."""
    match = _OTHER_TEXT.match(view, end, limit)
    if not match or words.UNIT.match(view, match.start("name"), limit):
        return None
    return " ".join(match["name"].split()).rstrip("."), match.end("name"), False


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
    if link is None and blanks and _GENITIVE.match(view, blanks.end(), limit):
        link = blanks
    if not link:
        return
    found = name_at(view, link.end(), limit, acts) or _other_text(view, cited.end, limit)
    if found is None:
        return
    name, end, own = found
    cited.end = end
    if own:
        cited.own = True
    else:
        cited.act = name
