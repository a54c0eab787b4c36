"""Which line item a claim is about: the rows that its words name, and whether a matched figure is on one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from fin_rag.answers.claims import Claim
from fin_rag.answers.evidence import Evidence, Printed
from fin_rag.answers.judge import period_agrees
from fin_rag.answers.labels import concept_names, concept_of, concepts_in, token_list, tokens

_LEADS_ON: Final = re.compile(r"\s*(?:of|in|on|for|from|de|del|en|por|para)\s", re.IGNORECASE)
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_GENERIC: Final = frozenset(
    {
        "total",
        "other",
        "net",
        "basic",
        "diluted",
        "balance",
        "amount",
        "otro",
        "neto",
        "saldo",
        "importe",
        "subtotal",
        "all",
        "consolidated",
    }
)
_MOST_ROWS: Final = 400


@dataclass(frozen=True, slots=True)
class Row:
    """Hold a row by its words: those of its label, of its label without brackets, and of its groups."""

    number: int
    doc: int
    label: str
    words: frozenset[str]
    plain: frozenset[str]
    groups: frozenset[str]
    concept: str


@dataclass(frozen=True, slots=True)
class Named:
    """Hold what the words of a claim name: rows by their label, and line items of the concept map."""

    rows: tuple[Row, ...] = ()
    concepts: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    @property
    def nothing(self) -> bool:
        """Tell whether no line item was recognised."""
        return not self.rows and not self.concepts


@dataclass(slots=True)
class Lines:
    """Find rows by the words that name them."""

    evidence: Evidence
    lang: str = ""
    rows: dict[int, Row] = field(default_factory=dict)
    by_word: dict[str, list[int]] = field(default_factory=dict)
    by_concept: dict[str, list[int]] = field(default_factory=dict)
    _seen: dict[str, Named] = field(default_factory=dict)
    _names: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        # Words of a company's name stand everywhere and name no line: "American Express common shares".
        self._names = frozenset(
            word for source in self.evidence.sources for name in source.names for word in tokens(name)
        )
        for number, figures in self.evidence.rows.items():
            first = figures[0]
            plain = tokens(_BRACKETS.sub(" ", first.label)) - self._names
            row = Row(
                number, first.doc, first.label, tokens(first.label), plain or tokens(first.label),
                tokens(first.groups), concept_of(first.label),
            )  # fmt: skip
            self.rows[number] = row
            for word in row.plain:
                self.by_word.setdefault(word, []).append(number)
            if row.concept:
                self.by_concept.setdefault(row.concept, []).append(number)

    def named_by(self, claim: Claim) -> Named:
        """Return what the nearest words that name anything name."""
        for text in claim.labels:
            if text not in self._seen:
                self._seen[text] = self._named(text)
            if not self._seen[text].nothing:
                return self._seen[text]
        return Named()

    def _named(self, text: str) -> Named:
        said = tokens(text) - self._names
        spoken = concept_names(text)
        concepts = frozenset(one for one, _ in spoken)
        full = [row for row in self._rows_with(said) if row.plain <= said and row.plain - _GENERIC]
        spelled = [word for word in token_list(text) if word not in self._names]
        inside = [row for row in full if _stands_in(self._spelled(row.label), spelled)]
        full = inside or full
        if not full and not concepts:
            full = [row for row in self._rows_with(said) if row.plain <= said and len(row.plain) > 1]
        best = [row for row in full if not any(row.plain < other.plain for other in full)]
        # "Other non-current liabilities" is a row of its own, and names no current liabilities.
        own = {row.concept for row in best}
        concepts = frozenset(
            one for one, name in spoken if one in own or not any(tokens(name) < row.plain for row in best)
        )  # fmt: skip
        grouped = [row for row in best if row.groups and (row.groups & said) - row.plain]
        if grouped:
            labels = {row.plain for row in grouped}
            best = [row for row in best if row.plain not in labels or row in grouped or not row.groups]
        return Named(tuple(best[:_MOST_ROWS]), concepts, said)

    def _spelled(self, label: str) -> list[str]:
        listed = token_list(_BRACKETS.sub(" ", label))
        return [word for word in listed if word not in self._names] or listed

    def _rows_with(self, said: frozenset[str]) -> Iterable[Row]:
        seen: set[int] = set()
        for word in sorted(said):
            for number in self.by_word.get(word, ()):
                if number not in seen:
                    seen.add(number)
                    yield self.rows[number]

    def rows_for(self, named: Named) -> list[Row]:
        """Return the rows that are meant: by their label, else by the line item that they are."""
        if named.rows:
            return list(named.rows)
        return [self.rows[number] for concept in sorted(named.concepts) for number in self.by_concept.get(concept, ())]

    def others(self, claim: Claim, named: Named) -> list[Named]:
        """Return what else the words around a claim may name: "$5 of net sales", "net sales rose 5 % ($3 million)"."""
        texts = [claim.mention.after.partition(";")[0]] if _LEADS_ON.match(claim.mention.after) else []
        if claim.mention.before.rstrip().endswith("(") or claim.number.text.startswith("("):
            texts += claim.labels[2:-3]
        found = []
        for text in texts:
            if text not in self._seen:
                self._seen[text] = self._named(text)
            one = self._seen[text]
            if not one.nothing and one is not named:
                found.append(one)
        return found

    def agrees(self, named: Named, printed: Printed, claim: Claim) -> bool:
        """Tell whether a figure stands on a line that the claim may mean."""
        return self._agrees(named, printed, claim) or any(
            self._agrees(one, printed, claim) for one in self.others(claim, named)
        )

    def _agrees(self, named: Named, printed: Printed, claim: Claim) -> bool:
        if named.nothing:
            return True
        if printed.row < 0:
            return self._running_agrees(named, printed)
        row = self.rows[printed.row]
        if any(row.number == one.number or row.plain == one.plain for one in named.rows):
            return self._same_group(named, row)
        if not named.rows:
            known = any(self.by_concept.get(concept) for concept in named.concepts)
            if row.concept or not known:
                return row.concept in named.concepts or not known
            # Words of another language cannot be compared; those of one language have to share something.
            return self._foreign(row) or bool(row.words & named.words)
        return self._close_enough(named, row) and not self._has_rival(named, row, claim)

    def _has_rival(self, named: Named, row: Row, claim: Claim) -> bool:
        """Tell whether a row that the claim names exactly has a figure of that period: longer labels are others."""
        for one in named.rows:
            if not one.plain < row.words or (row.words - one.plain) <= _GENERIC:
                continue
            for figure in self.evidence.rows[one.number]:
                same = figure.unit == claim.number.unit
                if same and period_agrees(claim, figure, self.evidence.sources[figure.doc]) is True:
                    return True
        return False

    def _foreign(self, row: Row) -> bool:
        lang = self.evidence.sources[row.doc].lang
        return not lang or not self.lang or lang[:2] != self.lang[:2]

    def _same_group(self, named: Named, row: Row) -> bool:
        """Tell rows of one label apart by the group that the claim names: "net sales of the North"."""
        twins = [one for one in named.rows if one.plain == row.plain]
        if any(one.number == row.number for one in twins):
            return True
        said = {one.groups & named.words for one in twins} - {frozenset()}
        return not said or bool(row.groups & named.words)

    def _close_enough(self, named: Named, row: Row) -> bool:
        best = max(len(one.plain) for one in named.rows)
        shared = len(row.words & named.words)
        if row.concept and row.concept in named.concepts:
            return not any(
                one.concept == row.concept and one.doc == row.doc and shared < len(one.plain) for one in named.rows
            )
        if shared < best:
            return False
        rivals = {one.concept for one in named.rows if one.concept}
        return not (row.concept and rivals and row.concept not in rivals)

    def _running_agrees(self, named: Named, printed: Printed) -> bool:
        """Judge a figure of running text by the words in front of it, else by its sentence."""
        own, whole = tokens(printed.label), tokens(printed.groups)
        mine = frozenset(concepts_in(printed.label[-160:]))
        if named.concepts and mine and not named.concepts & mine:
            return False
        if any(row.plain <= own for row in named.rows) or (named.concepts & mine):
            return True
        near = tokens(printed.label + " " + printed.near)
        others = [row for row in self._rows_with(own) if row.plain <= own and row.plain - _GENERIC]
        if named.rows and others:
            best = max(len(one.plain & near) for one in named.rows)
            return best >= max(len(row.plain) for row in others)
        return not named.rows or any(len(row.plain & whole) * 2 > len(row.plain) for row in named.rows) or bool(
            named.concepts & frozenset(concepts_in(printed.groups))
        )  # fmt: skip


def _stands_in(label: Sequence[str], text: Sequence[str]) -> bool:
    """Tell whether the words of a label stand together in a text, in order, with at most one word between them."""
    for start, word in enumerate(text):
        if word != label[0]:
            continue
        at, gaps = 0, 0
        for other in text[start : start + len(label) + 1]:
            if at < len(label) and other == label[at]:
                at += 1
            else:
                gaps += 1
        if at == len(label) and gaps <= 1:
            return True
    return False


def figures_of(rows: Sequence[Row], evidence: Evidence) -> list[Printed]:
    """Return the figures of rows, in order."""
    return [one for row in rows for one in evidence.rows[row.number]]
