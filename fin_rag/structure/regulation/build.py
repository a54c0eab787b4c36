"""Build the tree of a statute: one pass over its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from fin_rag.schema import Markup, Span
from fin_rag.structure.regulation import zones as zone
from fin_rag.structure.regulation.headings import TOP_RANK, Heading
from fin_rag.structure.regulation.items import Items, labels_after
from fin_rag.structure.regulation.labels import Label
from fin_rag.structure.regulation.lines import Line
from fin_rag.structure.regulation.nodes import Node, Tree
from fin_rag.structure.regulation.scan import Scan, scan_text
from fin_rag.structure.regulation.states import is_state_word, state_of
from fin_rag.structure.regulation.systems import BASEL, CIVIL, FCA, FINRA, is_status_line
from fin_rag.structure.regulation.titles import title_of

_SUPPLEMENT: Final = re.compile(r"[•*\s]{0,12}Supplementary Material\b", re.IGNORECASE)
_STAYS: Final = '-–—•·|>*«“‘"„'
_GROUP_RANK: Final = 4
_LOOK_AHEAD: Final = 120


@dataclass(slots=True)
class Built:
    """Hold the tree and what stands outside it: notes with their owners, furniture, quotations, the rest."""

    view: str
    scan: Scan
    nodes: list[Node]
    notes: list[tuple[Span, Node | None]] = field(default_factory=list)
    furniture: list[Span] = field(default_factory=list)
    quotes: list[Span] = field(default_factory=list)
    silent: list[Span] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def build(text: str, markup: Markup) -> Built:
    """Read a statute into a tree of nodes with spans."""
    scan = scan_text(text, markup)
    built = Built(scan.view, scan, [], warnings=list(scan.warnings))
    _Builder(text, scan, built).run()
    return built


class _Builder:
    """Walk the lines once; each line opens, continues or closes something."""

    def __init__(self, text: str, scan: Scan, built: Built) -> None:
        self._text = text
        self._scan = scan
        self._built = built
        self._lines: Sequence[Line] = scan.lines
        self._tree = Tree()
        self._items: dict[int, Items] = {}
        self._following = labels_after(scan.labels, [int(found is not None) for found in scan.headings])
        self._signed = False
        self._skip_to = 0
        self._previous: Line | None = None
        self._titled = False

    def run(self) -> None:
        """Walk the lines and settle every node."""
        for index, line in enumerate(self._lines):
            kind = self._scan.zones[index]
            if index < self._skip_to:
                continue
            if kind in (zone.FURNITURE, zone.FRONT):
                self._built.furniture.append(Span(line.outer, line.end))
            elif kind == zone.CONTENTS:
                self._built.silent.append(Span(line.outer, line.end))
            elif kind == zone.NOTE:
                self._built.notes.append((Span(self._mark_start(line), line.end), self._tree.provision()))
            else:
                self._content(index, line)
        self._tree.close_all(len(self._text))
        self._built.nodes = self._tree.nodes
        for node in reversed(self._built.nodes):  # inner nodes first
            node.state = node.state or state_of(self._built.view, node)
            if node.state and is_state_word(node.title):
                node.title = ""

    def _mark_start(self, line: Line) -> int:
        start = self._text.rfind("\n", 0, line.start) + 1
        return start if not self._text[start : line.start].strip(" >") else line.outer

    def _content(self, index: int, line: Line) -> None:
        heading = self._scan.headings[index]
        if self._scan.zones[index] == zone.QUOTE:
            self._built.quotes.append(Span(line.outer, line.end))
            self._text_line(index, line, quoted=True)
        elif heading is not None:
            self._heading(heading, line)
        elif self._signed or zone.is_signature(line):
            self._sign(line)
        elif self._scan.system == CIVIL and self._opens_another_text(index, line):
            self._tree.close_all(line.outer)
        elif self._scan.system in (BASEL, FCA) and self._is_subheading(index, line):
            self._subheading(line)
        else:
            self._text_line(index, line, quoted=False)
        self._previous = self._lines[max(index, self._skip_to - 1)]
        self._titled = heading is not None and self._scan.zones[index] != zone.QUOTE

    def _sign(self, line: Line) -> None:
        if not self._signed:
            self._tree.close_all(line.outer)
        self._signed = True
        self._built.silent.append(Span(line.outer, line.end))

    # --- headings -----------------------------------------------------------------------------

    def _heading(self, heading: Heading, line: Line) -> None:
        self._signed = False
        if heading.kind == "group" and heading.rank == TOP_RANK:
            self._tree.close_all(line.outer)
            return
        node = self._tree.add_heading(heading, line.outer)
        title = title_of(heading, self._lines, self._stops_title, ends_here=self._ends_provision)
        node.title, node.title_end, node.label_end = title.text, title.end, heading.label_end
        self._skip_to = title.next_line
        if node.kind == "group":
            node.title = heading.number
        if title.body is not None:
            node.title_end = max(node.title_end, node.label_end)
            self._body_of(node, title.body, title.next_line - 1)

    def _body_of(self, node: Node, start: int, index: int) -> None:
        """Read the text that stands on the heading's own line."""
        line = self._lines[index]
        node.filled, node.lead = True, line.text
        label = self._scan.label_at(start, line.end)
        if label is not None and (label.is_first or self._scan.system != CIVIL):
            node.lead = ""
            self._label(label, index, line)
        else:
            self._items_of(node).inline(self._scan.view, start, line.end)

    def _stops_title(self, index: int) -> bool:
        return (
            self._scan.headings[index] is not None
            or self._scan.labels[index] is not None
            or self._scan.zones[index] != zone.BODY
            or is_status_line(self._lines[index])
            or zone.is_signature(self._lines[index])
        )

    def _ends_provision(self, index: int) -> bool:
        """Tell whether nothing of a provision is left from a line on."""
        while index < len(self._lines) and self._scan.zones[index] in (zone.NOTE, zone.FURNITURE):
            index += 1
        if index >= len(self._lines):
            return True
        return self._scan.headings[index] is not None or zone.is_signature(self._lines[index])

    def _is_subheading(self, index: int, line: Line) -> bool:
        """Tell whether a line without an end mark heads the numbered provision below it."""
        if line.finished or line.dangling or len(line.text) > 120 or self._scan.labels[index] is not None:
            return False
        if not line.text[:1].isupper() or is_status_line(line):
            return False
        below = self._scan.headings[index + 1] if index + 1 < len(self._lines) else None
        previous = self._previous
        return below is not None and below.rank > _GROUP_RANK and (previous is None or not previous.text.endswith(","))

    def _opens_another_text(self, index: int, line: Line) -> bool:
        """Tell the title of a text that an act approves: capitals alone, after the dispositions, above a heading."""
        provision = self._tree.provision()
        if provision is None or provision.kind not in ("da", "dt", "dd", "df"):
            return False
        below = self._scan.headings[index + 1] if index + 1 < len(self._lines) else None
        shouted = line.text.isupper() and line.blank_before and not line.finished
        return shouted and below is not None and below.kind not in ("da", "dt", "dd", "df", "group")

    def _subheading(self, line: Line) -> None:
        heading = Heading(0, "group", line.text, _GROUP_RANK, line.end, line.end)
        node = self._tree.add_heading(heading, line.outer)
        node.title, node.title_end = line.text, line.end

    # --- text ---------------------------------------------------------------------------------

    def _items_of(self, provision: Node) -> Items:
        found = self._items.get(id(provision))
        if found is None:
            found = Items(self._tree, provision, bare=self._scan.system != CIVIL)
            self._items[id(provision)] = found
        return found

    def _text_line(self, index: int, line: Line, *, quoted: bool) -> None:
        provision = self._tree.provision()
        if index in self._scan.recitals and not quoted:
            self._recital(index, line)
            return
        if provision is None or provision.kind in ("recital", "preamble"):
            self._fore(index, line, provision)
            return
        if self._scan.system == FINRA and _SUPPLEMENT.match(line.text):
            self._tree.close_items(line.outer, None)
            self._items.pop(id(provision), None)
            return
        label = None if quoted else self._scan.labels[index]
        if label is not None and self._label(label, index, line):
            return
        current = self._tree.current
        if not quoted and current is not None and current.is_item and current.filled and self._new_paragraph(line):
            self._items_of(provision).paragraph(line.outer, self._upcoming(index))
        current = self._tree.current
        if current is not None and not (self._scan.system == FCA and is_status_line(line)):
            current.filled, current.lead = True, line.text
            if not quoted:
                self._items_of(provision).inline(self._scan.view, line.start, line.end)

    def _fore(self, index: int, line: Line, provision: Node | None) -> None:
        """Read text before the first provision, and recitals."""
        if index in self._scan.closing:
            self._tree.close_all(line.outer)
        elif provision is None and not self._tree.nodes and index >= self._scan.preamble >= 0:
            self._tree.add_heading(
                Heading(index, "preamble", "", TOP_RANK, line.outer, line.outer), line.outer
            ).filled = True
        elif provision is not None:
            provision.filled = True

    def _recital(self, index: int, line: Line) -> None:
        label = self._scan.recitals[index]
        heading = Heading(index, "recital", label.number, TOP_RANK, label.end, label.end)
        node = self._tree.add_heading(heading, line.outer)
        node.filled = label.end < line.end

    def _new_paragraph(self, line: Line) -> bool:
        """Tell whether a line without a label begins a paragraph of its own."""
        previous = self._previous
        if line.text[:1] in _STAYS or line.text[:1].islower() or previous is None or not previous.finished:
            return False
        return line.blank_before or len(previous.text) < 0.75 * max(self._scan.width, 1) or self._scan.width == 0

    def _label(self, label: Label, index: int, line: Line) -> bool:
        """Open the node of a label; return whether it was one."""
        provision = self._tree.provision()
        if provision is None:
            return False
        items = self._items_of(provision)
        node = items.place(label, self._following[index], sure=self._is_sure(line))
        if node is None:
            return False
        if label.start == line.start:
            node.start = line.outer
        inner, at = items.run_in(self._scan.view, node, line.end)
        if at < line.end:
            inner.filled = True
            inner.lead = line.text
            self._whole_line_title(inner, index, at)
            items.inline(self._scan.view, at, line.end)
        self._reserved_range(label, node, line)
        return True

    def _upcoming(self, index: int) -> Iterator[Label]:
        """Yield the labels that follow in the same provision, only so many that a look ahead stays cheap."""
        at = index + 1
        stop = min(len(self._lines), index + _LOOK_AHEAD)
        while at < stop and self._scan.headings[at] is None:
            label = self._scan.labels[at]
            if label is not None:
                yield label
            at += 1

    def _is_sure(self, line: Line) -> bool:
        previous = self._previous
        return line.blank_before or previous is None or previous.finished or previous.joins or self._titled

    def _whole_line_title(self, node: Node, index: int, at: int) -> None:
        """Take a short line without an end mark after a label for the level's heading: ``(b) Records``."""
        line = self._lines[index]
        words = line.text[at - line.start :]
        if self._scan.system == CIVIL or node.title or line.finished or line.joins or line.dangling or len(words) > 100:
            return
        if not words[:1].isupper() or index + 1 >= len(self._lines) or words.endswith((",", "—", "–")):
            return
        below = self._lines[index + 1]
        if self._scan.headings[index + 1] is None and not below.text[:1].islower():
            node.title, node.title_end = words.strip(), line.end

    def _reserved_range(self, label: Label, node: Node, line: Line) -> None:
        """Name every level of a range of levels that is reserved as a whole."""
        if label.last and len(label.last) == 1 and len(label.number) == 1 and node.kind == "level":
            base = node.address.rpartition("/")[0]
            for code in range(ord(label.number) + 1, ord(label.last) + 1):
                twin = Node("level", chr(code), f"{base}/{chr(code)}", 99, node.start, node.label_end, node.title_end)
                twin.parent, twin.end, twin.filled = node.parent, line.end, True
                self._tree.nodes.append(twin)
