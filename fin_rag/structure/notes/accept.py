"""Which of the lines that open like notes are notes."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from fin_rag.structure.notes.marks import Opening
from fin_rag.structure.notes.model import Marker, NoteKey
from fin_rag.structure.notes.segments import WEAK, Segment

# Forms that a list, a formula or a plain sentence hardly opens with.
_STRONG = frozenset({"caret", "raised", "word"})
_MOST_TITLE_WORDS = 6


class Calls:
    """Know which keys are called, in which forms, tables and pages, and where."""

    def __init__(self, markers: Iterable[Marker], pages: Iterable[int]) -> None:
        self._tables: set[tuple[int, NoteKey]] = set()
        self._pages: set[tuple[int, NoteKey]] = set()
        self._forms: set[tuple[str, NoteKey]] = set()
        self._keys: dict[NoteKey, list[int]] = defaultdict(list)
        for marker, page in zip(markers, pages, strict=True):
            if marker.form == "account":
                continue
            self._tables.add((marker.table, marker.key))
            self._pages.add((page, marker.key))
            self._forms.add((marker.form, marker.key))
            self._keys[marker.key].append(marker.span.start)

    def in_table(self, table: int, key: NoteKey) -> bool:
        """Tell whether a table calls the key."""
        return table >= 0 and (table, key) in self._tables

    def on_page(self, page: int, key: NoteKey) -> bool:
        """Tell whether a page calls the key."""
        return page > 0 and (page, key) in self._pages

    def before(self, offset: int, key: NoteKey) -> bool:
        """Tell whether the key is called before an offset."""
        return bisect_left(self._keys.get(key, []), offset) > 0

    def in_form(self, form: str, key: NoteKey) -> bool:
        """Tell whether the key is called anywhere in that form."""
        return (form, key) in self._forms


def accepted(segments: Sequence[Segment], calls: Calls) -> list[Segment]:
    """Return the segments that are notes, in order; none of one group repeats a key."""
    bullets = Counter(s.run for s in segments if s.opening and s.text.startswith("* "))
    lone = _lone_bullets(segments)
    taken: dict[tuple[int, int, str], set[tuple[NoteKey, str]]] = defaultdict(set)
    last_zone: list[Segment] = []
    kept = []
    for segment in segments:
        opening = segment.opening
        if opening is None:
            last_zone.clear()
            continue
        if segment.text.startswith("* ") and (bullets[segment.run] > 1 or id(segment) in lone):
            continue
        group = taken[segment.table, segment.zone, segment.scope] if segment.table >= 0 else set()
        if (opening.key, opening.form) in group and opening.form not in _STRONG and segment.table >= 0:
            continue
        if _is_note(segment, opening, calls):
            group.add((opening.key, opening.form))
            kept.append(segment)
    return sorted([*kept, *_rescued(segments, kept, calls)], key=lambda s: s.span.start)


def _rescued(segments: Sequence[Segment], kept: Sequence[Segment], calls: Calls) -> list[Segment]:
    """Return a list that closes a text without pages if its numbers answer markers that nothing else answers."""
    answered = {segment.opening.key for segment in kept if segment.opening}
    last = [(s, s.opening) for s in segments if s.tail and s.opening and s.opening.form == "dot" and not s.listed]
    wanted = [s for s, o in last if o.key not in answered and calls.before(s.span.start, o.key)]
    return wanted if len(wanted) == len(last) else []


def _lone_bullets(segments: Sequence[Segment]) -> set[int]:
    """Return bullets that stand in a loose list: the neighbouring paragraph opens with the same bullet."""
    lone = set()
    for one, other in pairwise(segments):
        both = one.text.startswith("* ") and other.text.startswith("* ") and one.run != other.run
        if both and one.scope == other.scope and one.block == other.block:
            lone.add(id(other))
            if one.table < 0 and one.zone < 0:
                lone.add(id(one))
    return lone


def _is_note(segment: Segment, opening: Opening, calls: Calls) -> bool:
    key, form = opening.key, opening.form
    near = segment.table >= 0 or segment.zone >= 0
    called = calls.in_table(segment.table, key) or calls.on_page(segment.page, key)
    if form in WEAK:
        return _is_weak_note(segment, opening, calls, called=called)
    if form == "word":
        return called or (segment.table >= 0 and not _is_account(segment, opening))
    if form in _STRONG:
        return True
    if (segment.listed or key.kind == "roman") and not called:
        return False
    if form in ("star", "sign"):
        escaped = segment.text.startswith("\\")
        any_call = calls.in_form("star", key) or calls.in_form("sign", key) or calls.in_form("paren", key)
        return any_call or (escaped and near)
    if form == "slash":
        return called or calls.in_form("slash", key)
    listing = segment.text.rstrip().endswith((";", ",")) and not called
    if (near or segment.foot) and not listing:
        return True
    return not listing and (calls.in_form(form, key) or calls.in_table(segment.below, key))


def _is_account(segment: Segment, opening: Opening) -> bool:
    """Tell whether "Nota 5. Deuda. Vence en 2030." is a note of the accounts: a number, a title, then the text."""
    title = segment.text[opening.length :].split(". ", 1)[0]
    stop = segment.text[: opening.length].rstrip()[-1:]
    return stop in ".–—-" and len(title.split()) <= _MOST_TITLE_WORDS


def _is_weak_note(segment: Segment, opening: Opening, calls: Calls, *, called: bool) -> bool:
    """Believe a list number or a bare number only below a title or lead-in of notes, or where it is called."""
    if segment.listed:
        return False
    if segment.zone >= 0:
        return opening.form != "bare" or called or calls.before(segment.span.start, opening.key)
    if segment.tail and opening.form == "bare" and calls.in_form("glued", opening.key):
        return calls.before(segment.span.start, opening.key)
    return called and (segment.table >= 0 or segment.foot)
