"""The people that a transcript lists, found by any spelling of their names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fin_rag.structure.calls.model import Participant
from fin_rag.structure.calls.names import name_key, same_person
from fin_rag.structure.calls.vocabulary import fold

# People who share a first or a last name beyond this many are compared no further.
_MOST_ALIKE: Final = 24


class Directory:
    """Find participants by name.

    Example:
        >>> directory = Directory([Participant("Jon Paul Newsome", firm="Ostrom Bank")])
        >>> found = directory.find("Paul Newsome")
        >>> found.firm if found else ""
        'Ostrom Bank'
    """

    def __init__(self, people: Iterable[Participant]) -> None:
        self.people: tuple[Participant, ...] = _merged(people)
        self._exact = {name_key(person.name): person for person in reversed(self.people)}
        self._alike: dict[str, list[Participant]] = {}
        for person in self.people:
            for word in set(name_key(person.name)):
                alike = self._alike.setdefault(word, [])
                if len(alike) < _MOST_ALIKE:
                    alike.append(person)
        self._found: dict[str, Participant | None] = {}

    @property
    def folded(self) -> frozenset[str]:
        """Return the folded names."""
        return frozenset(fold(person.name) for person in self.people)

    def find(self, name: str) -> Participant | None:
        """Return the participant whom a name means, or ``None`` if nobody or more than one fits."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Participant | None:
        key = name_key(name)
        if key in self._exact:
            return self._exact[key]
        if len(key) < 2:
            return None
        near = {id(p): p for word in (key[0], key[-1]) for p in self._alike.get(word, ())}
        fitting = [person for person in near.values() if same_person(person.name, name)]
        return fitting[0] if len(fitting) == 1 else None


def _merged(people: Iterable[Participant]) -> tuple[Participant, ...]:
    """Unite entries of one name, so that a list at the top and one at the tail complete each other."""
    merged: dict[tuple[str, ...], Participant] = {}
    for person in people:
        key = name_key(person.name)
        old = merged.get(key)
        merged[key] = (
            person
            if old is None
            else Participant(old.name, old.role or person.role, old.firm or person.firm, old.side or person.side)
        )
    return tuple(merged.values())
