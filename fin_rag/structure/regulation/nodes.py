"""The tree that is built line by line: what is open, where it began, where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fin_rag.structure.regulation.headings import ARTICLE_KINDS, CIVIL_RANKS, Heading


@dataclass(slots=True, eq=False)
class Node:
    """Hold one part of a statute while the tree is built; ``end`` is settled when it closes.

    ``bare`` kinds are levels without a name (``/a/1``); ``number`` is printed as addresses write it.
    ``label_end`` is where the label ends, ``title_end`` where the whole heading ends.
    """

    kind: str
    number: str
    address: str
    rank: int
    start: int
    label_end: int
    title_end: int
    parent: Node | None = None
    title: str = ""
    end: int = -1
    state: str = ""
    children: list[Node] = field(default_factory=list)
    filled: bool = False
    lead: str = ""

    @property
    def step(self) -> str:
        """Return the last step of the address: how paths name this node."""
        if self.kind == "level":
            return self.number
        if self.kind == "preamble":
            return self.number or self.kind
        return f"{self.kind}:{self.number}"

    @property
    def is_item(self) -> bool:
        """Tell whether the node is a paragraph, point or bare level inside a provision."""
        return self.kind in ("par", "pt", "sub", "level")

    @property
    def is_provision(self) -> bool:
        """Tell whether the node holds paragraphs itself: an article, norm, rule, annex, recital."""
        return self.kind in ARTICLE_KINDS

    def ancestors(self) -> list[Node]:
        """Return the nodes above, the outermost first."""
        above: list[Node] = []
        node = self.parent
        while node is not None:
            above.append(node)
            node = node.parent
        return above[::-1]

    def provision(self) -> Node:
        """Return the article, norm or rule that the node lies in, or the node itself."""
        node = self
        while node.is_item and node.parent is not None:
            node = node.parent
        return node


class Tree:
    """Keep the open nodes of a statute and everything that was opened, in document order."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.open: list[Node] = []

    @property
    def current(self) -> Node | None:
        """Return the innermost open node."""
        return self.open[-1] if self.open else None

    def provision(self) -> Node | None:
        """Return the innermost open article, norm, rule or annex."""
        return next((node for node in reversed(self.open) if node.is_provision), None)

    def close_all(self, at: int) -> None:
        """Close every open node at an offset."""
        self._close_to(0, at)

    def close_items(self, at: int, keep: Node | None) -> None:
        """Close the open items below ``keep``, or all of them."""
        count = len(self.open)
        while count and self.open[count - 1].is_item and self.open[count - 1] is not keep:
            count -= 1
        self._close_to(count, at)

    def close_provision(self, at: int) -> None:
        """Close the open provision and what is open in it, containers stay open."""
        count = len(self.open)
        while count and (
            self.open[count - 1].is_item or self.open[count - 1].is_provision or self.open[count - 1].kind == "group"
        ):
            count -= 1
        self._close_to(count, at)

    def _close_to(self, count: int, at: int) -> None:
        for node in self.open[count:]:
            node.end = max(at, node.start)
        del self.open[count:]

    def add_heading(self, heading: Heading, start: int) -> Node:
        """Open what a heading names, after closing what it ends."""
        for kind, number, rank in heading.inner:
            self._imply(kind, number, rank, start)
        self._make_room(heading, start)
        annex = next((node for node in self.open if node.kind == "annex"), None)
        inside = annex is not None and heading.kind in CIVIL_RANKS
        node = Node(
            kind=heading.kind,
            number=heading.number,
            address=f"{annex.address}/{heading.address}" if annex is not None and inside else heading.address,
            rank=heading.rank,
            start=start,
            label_end=heading.label_end,
            title_end=heading.label_end,
        )
        return self._push(node)

    def add_item(self, kind: str, number: str, address: str, start: int, label_end: int) -> Node:
        """Open an item inside the current node."""
        return self._push(Node(kind, number, address, 99, start, label_end, label_end))

    def _imply(self, kind: str, number: str, rank: int, start: int) -> None:
        """Open a container that a number implies, unless it is open."""
        if any(node.kind == kind and node.number == number for node in self.open):
            return
        self._make_room(Heading(0, kind, number, rank, start, start), start)
        self._push(Node(kind, number, f"{kind}:{number}", rank, start, start, start))

    def _make_room(self, heading: Heading, start: int) -> None:
        count = len(self.open)
        while count:
            node = self.open[count - 1]
            if not node.is_item and node.rank < heading.rank and self._may_hold(node, heading):
                break
            count -= 1
        self._close_to(count, start)

    @staticmethod
    def _may_hold(node: Node, heading: Heading) -> bool:
        """Tell whether a heading may stand inside a node of a lower rank."""
        if node.kind == heading.kind == "preamble":
            return True
        return not node.is_provision or (node.kind in ("annex", "appendix") and heading.rank > node.rank)

    def _push(self, node: Node) -> Node:
        node.parent = self.current
        if node.parent is not None:
            node.parent.children.append(node)
            node.parent.filled = True
        self.open.append(node)
        self.nodes.append(node)
        return node


def walk_up(node: Node | None) -> Iterator[Node]:
    """Yield a node and those above it, the innermost first."""
    while node is not None:
        yield node
        node = node.parent
