"""The concept map: line items in English and Spanish, and the tags that have stood for them over time."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Concept:
    """Hold a line item.

    ``tags`` are in order of preference: for one period the first that has a value is taken. ``sign`` says what a
    positive value means; ``outflow`` that the statement prints it as a deduction, in brackets as a rule.
    ``additive`` tells whether values of parts of a year add up to the year's. ``rows`` are further labels of its row in
    a statement, which name something else in a question ("gross margin").
    """

    id: str
    statement: str
    kind: str
    sign: str
    tags: tuple[str, ...]
    names: tuple[str, ...]
    label_en: str
    label_es: str
    additive: bool = True
    outflow: bool = False
    rows: tuple[str, ...] = ()


class ConceptMap:
    """Find line items by name in either language, or by tag."""

    def __init__(self, concepts: tuple[Concept, ...]) -> None:
        self.concepts = concepts
        self._by_id = {one.id: one for one in concepts}
        self._by_name: dict[str, Concept] = {}
        self._by_row: dict[str, Concept] = {}
        self._by_tag: dict[str, Concept] = {}
        for one in concepts:
            for name in (one.id.replace("_", " "), one.label_en, one.label_es, *one.names):
                self._by_name.setdefault(name_key(name), one)
            for name in one.rows:
                self._by_row.setdefault(name_key(name), one)
            for tag in one.tags:
                self._by_tag.setdefault(tag, one)

    def find(self, name: str) -> Concept | None:
        """Return a line item by its id or a name, in English or Spanish; case and accents do not count."""
        return self._by_id.get(name) or self._by_name.get(name_key(name))

    def find_row(self, label: str) -> Concept | None:
        """Return the line item that a row of a statement is, by its whole label."""
        key = name_key(label)
        return self._by_row.get(key) or self._by_name.get(key)

    def by_tag(self, tag: str) -> Concept | None:
        """Return the line item that a tag stands for."""
        return self._by_tag.get(tag)

    def names(self) -> list[str]:
        """Return every name, sorted."""
        return sorted(self._by_name)

    def by_names(self) -> Mapping[str, Concept]:
        """Return the line items by the form in which names are compared."""
        return MappingProxyType(self._by_name)


def name_key(name: str) -> str:
    """Return a name as it is compared: lower case, no accents, words apart by one blank.

    Example:
        >>> name_key("Deuda financiera  neta"), name_key("Cash & Cash-Equivalents"), name_key("Tesorería")
        ('deuda financiera neta', 'cash cash equivalents', 'tesoreria')
    """
    plain = unicodedata.normalize("NFD", name.casefold())
    letters = (c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    return " ".join("".join(letters).split())


@cache
def concept_map() -> ConceptMap:
    """Return the concept map that comes with the package.

    Example:
        >>> concept_map().find("Ingresos").id, concept_map().by_tag("us-gaap:SalesRevenueNet").id
        ('revenue', 'revenue')
    """
    data = json.loads(files("fin_rag.facts").joinpath("concepts.json").read_text(encoding="utf-8"))
    return ConceptMap(tuple(_concept(one) for one in data["concepts"]))


def _concept(row: Mapping[str, Any]) -> Concept:
    tags, names = row["tags"], row["names"]
    english, spanish = list(names["en"]), list(names["es"])
    return Concept(
        id=str(row["id"]), statement=str(row["statement"]), kind=str(row["kind"]), sign=str(row["sign"]),
        tags=tuple(tag if ":" in tag else f"us-gaap:{tag}" for tag in tags),
        names=(*english, *spanish), label_en=english[0], label_es=spanish[0],
        additive=bool(row.get("additive", row["kind"] == "duration")), outflow=bool(row.get("outflow", False)),
        rows=tuple(row.get("rows", ())),
    )  # fmt: skip
