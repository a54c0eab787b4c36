"""Paragraphs, points and sub-points inside one provision: where each opens, continues and ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor
from typing import Final

from fin_rag.structure.regulation.labels import Label, continues, first_style, read_label, skips
from fin_rag.structure.regulation.lines import plain_text
from fin_rag.structure.regulation.nodes import Node, Tree

_DEEPEST: Final = 8
_LEAD: Final = (":", "—", "–", ":—")
_ITALIC: Final = re.compile(r"[ ]*[*_](?P<title>[^*_\n]{1,200})[*_][ ]*(?P<dash>[—–-]{0,2})[ ]*")
_PHRASE: Final = re.compile(
    r"[ ]*(?P<title>[A-Z][^.()\n]{0,80})\.[ ]+(?=\()|[ ]*(?P<name>[A-Z][^.()\n]{0,80})[—–][ ]*(?=\()"
)
_INLINE: Final = re.compile(
    r"(?:(?<=[:;,.] )|(?<=[ ][yoeu] )|(?<= or )|(?<= and ))(?=\(?[a-z0-9]{1,4}(?:[.][º°ª])?\)?[ ])"
)
_DOTTED_STYLES: Final = frozenset({"num", "word"})


@dataclass(slots=True)
class _List:
    """Hold an open list: its style, the place of its last entry, that entry's node, what introduced it."""

    style: str
    last: float
    node: Node
    introduced: bool


class Items:
    """Place the labels of one provision; ``bare`` systems (CFR, FINRA, Basel, FCA) have levels without names."""

    def __init__(self, tree: Tree, provision: Node, *, bare: bool) -> None:
        self._tree = tree
        self._provision = provision
        self._bare = bare
        self._lists: list[_List] = []

    # --- labels -------------------------------------------------------------------------------

    def place(self, label: Label, following: Label | None, *, sure: bool) -> Node | None:
        """Open the node of a label, or return ``None`` if it is no label of this provision.

        Args:
            label: the label.
            following: the label of the next labelled line, if there is one.
            sure: tells whether the line begins a paragraph of its own.
        """
        found = self._ambiguous(label, following) or self._continued(label)
        if found is None and (style := first_style(label)):
            return self._opened(style, 1.0, label) if len(self._lists) < _DEEPEST else None
        if found is None and sure:
            found = self._skipped(label)
        if found is None and sure and self._may_start_here(label):
            style, value = label.options[0]
            return self._opened(style, value, label)
        if found is None:
            return None
        depth, value = found
        return self._entered(depth, value, label)

    def _ambiguous(self, label: Label, following: Label | None) -> tuple[int, float] | None:
        """Read ``(i)`` as a numeral under ``(h)`` where ``(ii)`` follows: say that it continues nothing."""
        if len({style for style, _ in label.options}) < 2 or not label.is_first or following is None:
            return None
        continued = self._continued(label)
        if continued is None:
            return None
        numeral = [style for style, place in label.options if place == 1.0]
        if any(style in numeral and place == 2.0 for style, place in following.options):
            self._opened(numeral[0], 1.0, label)
            return (len(self._lists) - 1, -1.0)
        return None

    def _continued(self, label: Label) -> tuple[int, float] | None:
        for depth in range(len(self._lists) - 1, -1, -1):
            place = continues(self._lists[depth].style, self._lists[depth].last, label)
            if place is not None:
                return depth, place
        return self._continued_otherwise(label)

    def _continued_otherwise(self, label: Label) -> tuple[int, float] | None:
        """Go on with numbered paragraphs whose numbers are printed in two ways: ``(1)``, then ``2.``."""
        style, value = label.options[0]
        for depth, entry in enumerate(self._lists):
            if entry.node.kind == "par" and {style, entry.style} == {"num", "(1"} and value == floor(entry.last) + 1:
                return depth, value
        return None

    def _skipped(self, label: Label) -> tuple[int, float] | None:
        for depth in range(len(self._lists) - 1, -1, -1):
            place = skips(self._lists[depth].style, self._lists[depth].last, label)
            if place is not None:
                return depth, place
        return None

    def _may_start_here(self, label: Label) -> bool:
        """Tell whether a list may begin in the middle: an excerpt, or a provision with what is left of one."""
        styles = {entry.style for entry in self._lists}
        style, _ = label.options[0]
        short = style == "word" or len(re.sub(r"\W", "", label.number)) <= 3
        return style not in styles and short and (not self._lists or self._introduced())

    def _entered(self, depth: int, value: float, label: Label) -> Node | None:
        if value < 0:
            return self._lists[depth].node
        entry = self._lists[depth]
        parent = entry.node.parent
        self._tree.close_items(label.start, parent if parent is not None and parent.is_item else None)
        del self._lists[depth + 1 :]
        entry.last = self._last_place(label, entry.style, value)
        entry.node = self._new(entry.style, label)
        return entry.node

    def _opened(self, style: str, value: float, label: Label) -> Node:
        introduced = self._introduced()
        if self._lists and not self._lists[-1].node.filled and style[:1] == self._lists[-1].style[:1]:
            introduced = True
        node = self._new(style, label)
        self._lists.append(_List(style, self._last_place(label, style, value), node, introduced))
        return node

    @staticmethod
    def _last_place(label: Label, style: str, value: float) -> float:
        if not label.last:
            return value
        end = read_label(f"({label.last})", 0, len(label.last) + 2)
        return next((place for option, place in end.options if option == style), value) if end else value

    def _introduced(self) -> bool:
        current = self._tree.current
        return current is not None and current.lead.endswith(_LEAD)

    def _new(self, style: str, label: Label) -> Node:
        parent = self._tree.current or self._provision
        kind = "level" if self._bare else self._kind(style, parent)
        base = parent.address
        if style.startswith("dec"):
            kind, base = ("level" if self._bare else "par"), self._provision.address
        step = label.number if kind == "level" else f"{kind}:{label.number}"
        return self._tree.add_item(kind, label.number, f"{base}/{step}", label.start, label.end)

    def _kind(self, style: str, parent: Node) -> str:
        if parent.kind in ("pt", "sub"):
            return "sub"
        if style in ("(a", "a", "(A", "A"):
            return "pt"
        if style in ("(i", "i", "(I", "I"):
            return "sub"
        if parent.kind == "par":
            return "sub" if style == "ord" or style in _DOTTED_STYLES else "pt"
        introduced = parent.lead.endswith(_LEAD)
        if style == "ord":
            return "sub" if introduced else "par"
        return "pt" if style in ("(1", "1") and introduced else "par"

    # --- text ---------------------------------------------------------------------------------

    def paragraph(self, at: int, upcoming: Iterable[Label]) -> None:
        """Close the lists that end before a paragraph without a label.

        Where a later label goes on with a list, the paragraph belongs to that list's open entry; else to what
        introduced the lists.
        """
        if not self._lists or self._introduced():
            return
        found = self._taken_up(upcoming)
        keep = -1 if found is None else found
        if keep < 0:
            keep = len(self._lists) - 1
            while keep >= 0 and self._ends_with_its_lead(self._lists[keep]):
                keep -= 1
        node = self._lists[keep].node if keep >= 0 else None
        self._tree.close_items(at, node)
        del self._lists[keep + 1 :]

    def _taken_up(self, upcoming: Iterable[Label]) -> int | None:
        """Return the depth of the open list that later labels go on with, past lists that begin after this place."""
        begun: dict[str, float] = {}
        for label in upcoming:
            inner = next((style for style, _ in label.options if style in begun), "")
            place = continues(inner, begun[inner], label) if inner else None
            found = self._continued(label)
            if place is not None:
                begun[inner] = place
            elif found is not None:
                return found[0]
            elif (opened := first_style(label)) is not None:
                begun[opened] = 1.0
            else:
                return None
        return None

    @staticmethod
    def _ends_with_its_lead(entry: _List) -> bool:
        return entry.introduced or (
            entry.style not in ("num", "word", "ord", "(1", "supp") and entry.node.kind != "par"
        )

    # --- inside one line ----------------------------------------------------------------------

    def run_in(self, view: str, node: Node, end: int) -> tuple[Node, int]:
        """Open the levels that begin on the line of another: ``(a) *General.* (1) A broker``.

        Returns:
            The innermost node and the offset where its text begins.
        """
        at = node.label_end
        for _ in range(4):
            title = self._title(view, at, end, node)
            at = title or at
            while at < end and view[at] == " ":
                at += 1
            label = read_label(view, at, end) if view[at : at + 1] == "(" or not self._bare else None
            if label is None or not label.is_first or label.options[0][0] in _DOTTED_STYLES:
                return node, at
            if not self._may_run_in(label, node):
                return node, at
            node = self._opened(first_style(label) or "", 1.0, label)
            at = label.end
        return node, at

    def _title(self, view: str, at: int, end: int, node: Node) -> int | None:
        if not self._bare:
            return None
        match = _ITALIC.match(view, at, end) or _PHRASE.match(view, at, end)
        if not match:
            return None
        shown = match["title"] or (match.groupdict().get("name") or "")
        after = match.end()
        if match.re is _PHRASE:
            label = read_label(view, after, end)
            if label is None or not label.is_first:
                return None
        elif not shown.rstrip().endswith((".", ":", "—")) and not match["dash"] and after < end:
            return None  # words in italics that begin a sentence: a defined term
        node.title = plain_text(shown)
        node.title_end = match.start() + len(match.group().rstrip())
        return after

    def _may_run_in(self, label: Label, node: Node) -> bool:
        style = first_style(label)
        return style is not None and all(entry.style != style for entry in self._lists) and node is self._tree.current

    def inline(self, view: str, start: int, end: int) -> None:
        """Open the points of a list that runs inside one paragraph: ``Son: a) uno; b) otro``."""
        colon = view.find(": ", start, end)
        if colon < 0 or self._tree.current is None:
            return
        labels = _inline_labels(view, colon + 1, end)
        if len(labels) < 2:
            return
        outer = self._tree.current
        outer.lead = ":"
        depth = len(self._lists)
        for label in labels:
            if not self.place(label, None, sure=False):
                break
        self._tree.close_items(end, outer if outer.is_item else None)
        del self._lists[depth:]
        outer.lead = ""


def _inline_labels(view: str, start: int, end: int) -> list[Label]:
    """Return the labels of a list inside a paragraph, from its first entry on and without gaps."""
    labels: list[Label] = []
    style, last = "", 0.0
    for match in _INLINE.finditer(view, start, end):
        label = read_label(view, match.start(), end)
        if label is None or label.options[0][0] in ("num", "dec1", "dec2", "word"):
            continue
        if not labels and label.is_first and view[start : label.start].strip() == "":
            style, last = first_style(label) or "", 1.0
            labels.append(label)
        elif labels and (place := continues(style, last, label)) is not None:
            last = place
            labels.append(label)
    return labels


def labels_after(labels: Sequence[Label | None], limits: Sequence[int]) -> list[Label | None]:
    """Return for each line the label of the next labelled line before the next heading.

    ``limits`` holds 1 where a line is a heading.
    """
    found: list[Label | None] = [None] * len(labels)
    following: Label | None = None
    for index in range(len(labels) - 1, -1, -1):
        found[index] = following
        if limits[index]:
            following = None
        elif labels[index] is not None:
            following = labels[index]
    return found
