"""Metadata filters: one grammar, checked before use, resolved in our own catalogue.

A filter is a mapping in the form that Chroma and LangChain users know: ``{"ticker": "ACME",
"fiscal_year": {"$gte": 2022}}``. Several keys mean *and*; ``$and`` and ``$or`` take lists of filters.
A condition never matches a chunk that lacks the key, not even ``$ne`` and ``$nin``: a filter can only
narrow.

``$prefix`` takes what a string begins with. On ``address`` it goes by the levels of a statute: ``art:12`` lets
``art:12/par:3`` through and not ``art:120``, and ``art:12/par:3`` also lets a chunk through that shows the whole of
``art:12``.
"""

from __future__ import annotations

import datetime
import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from fin_rag.errors import InputError
from fin_rag.schema import FILED, ITEM, KEY_TYPES, PERIOD_END, SESSION_ID, SOURCE_SCOPE, Scalar
from fin_rag.splitters.regulation import ADDRESS, PROVISIONS
from fin_rag.structure.regulation import is_within

Filter: TypeAlias = Mapping[str, object]
ALSO_ITEMS: Final = "merged_with"  # the further Items of a merged heading; ``item`` names the first

_COMPARE: Final = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
_OPERATORS: Final = ("$eq", "$ne", "$in", "$nin", "$contains", "$prefix", *_COMPARE)
_DATE_KEYS: Final = frozenset({FILED, PERIOD_END})


@dataclass(frozen=True, slots=True)
class Condition:
    """Hold one comparison: ``key operator value``."""

    key: str
    operator: str
    value: Scalar | tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Hold alternatives, each a conjunction."""

    branches: tuple[Conjunction, ...]


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Hold conditions that must all be met; none means that everything passes."""

    parts: tuple[Condition | AnyOf, ...]

    def __and__(self, other: Conjunction) -> Conjunction:
        return Conjunction(self.parts + other.parts)

    def matches(self, metadata: Mapping[str, object]) -> bool:
        """Tell whether one chunk's metadata meet every condition."""
        return all(_matches(part, metadata) for part in self.parts)


def parse_filter(given: Filter | None) -> Conjunction:
    """Check a filter and bring it into one form.

    Years and dates given as text are read as numbers where the key holds numbers.

    Raises:
        InputError: if an operator is unknown, a value has the wrong type, or the shape is not a mapping.

    Example:
        >>> parse_filter({"fiscal_year": "2023", "ticker": {"$in": ["A", "B"]}}).parts[0]
        Condition(key='fiscal_year', operator='$eq', value=2023)
    """
    if given is None:
        return Conjunction(())
    if not isinstance(given, Mapping):
        raise InputError(f"A filter must be a mapping such as {{'ticker': 'ACME'}}. Got {given!r}.")
    parts: list[Condition | AnyOf] = []
    for key, value in given.items():
        if key == "$and":
            for inner in _branches(key, value):
                parts += inner.parts
        elif key == "$or":
            parts.append(AnyOf(_branches(key, value)))
        elif key.startswith("$"):
            raise InputError(f"Unknown filter operator {key!r}. At the top there are '$and' and '$or'.")
        elif isinstance(value, Mapping):
            if not value:
                raise InputError(f"The filter on {key!r} is empty. Give it a value or an operator.")
            parts += [_condition(key, operator, operand) for operator, operand in value.items()]
        else:
            parts.append(_condition(key, "$eq", value))
    return Conjunction(tuple(parts))


def scope_filter(session_id: str | None) -> Conjunction:
    """Return the filter that hides private documents of other sessions; public ones always pass."""
    public = Conjunction((Condition(SOURCE_SCOPE, "$eq", "public"),))
    if not session_id:
        return public
    own = Conjunction((Condition(SOURCE_SCOPE, "$eq", "private"), Condition(SESSION_ID, "$eq", session_id)))
    return Conjunction((AnyOf((public, own)),))


def as_of_filter(as_of: int | str | datetime.date | None) -> Conjunction:
    """Return the filter for what was filed by the end of that day.

    Documents without a ``filed`` date cannot be shown to have been known and do not pass.

    Example:
        >>> as_of_filter("2023-06-30").parts
        (Condition(key='filed', operator='$lte', value=20230630),)
    """
    if as_of is None:
        return Conjunction(())
    return Conjunction((Condition(FILED, "$lte", date_number(FILED, as_of)),))


def date_number(key: str, value: object) -> int:
    """Read a date as YYYYMMDD.

    Raises:
        InputError: if ``value`` is no date.
    """
    if isinstance(value, datetime.date):
        return value.year * 10_000 + value.month * 100 + value.day
    digits = str(value).replace("-", "")
    try:
        datetime.date.fromisoformat(f"{digits[:4]}-{digits[4:6]}-{digits[6:]}")
    except ValueError as error:
        raise InputError(f"{key!r} must be a date such as 20230630 or '2023-06-30'. Got {value!r}.") from error
    return int(digits)


def _branches(key: str, value: object) -> tuple[Conjunction, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise InputError(f"{key!r} needs a list of filters. Got {value!r}.")
    return tuple(parse_filter(inner) for inner in value)


def _condition(key: str, operator: str, value: object) -> Condition:
    if operator not in _OPERATORS:
        near = difflib.get_close_matches(operator, _OPERATORS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else f" Known: {', '.join(_OPERATORS)}."
        raise InputError(f"Unknown filter operator {operator!r} on {key!r}.{hint}")
    if operator in ("$in", "$nin"):
        if not isinstance(value, Sequence | set | frozenset) or isinstance(value, str):
            raise InputError(f"{operator!r} on {key!r} needs a list of values. Got {value!r}.")
        return Condition(key, operator, tuple(_scalar(key, item) for item in value))
    scalar = _scalar(key, value)
    if operator == "$prefix" and not isinstance(scalar, str):
        raise InputError(f"{operator!r} on {key!r} compares text. Got {value!r}.")
    if operator in _COMPARE and isinstance(scalar, str | bool):
        raise InputError(f"{operator!r} on {key!r} compares numbers. Got {value!r}.")
    return Condition(key, operator, scalar)


def _scalar(key: str, value: object) -> Scalar:
    if key in _DATE_KEYS:
        return date_number(key, value)
    wanted = KEY_TYPES.get(key)
    if wanted is int and isinstance(value, str):
        if not value.strip().lstrip("-").isdigit():
            raise InputError(f"The filter on {key!r} needs a whole number. Got {value!r}.")
        return int(value)
    if wanted is str and isinstance(value, int) and not isinstance(value, bool):
        # A CIK is ten digits, however it is typed.
        return f"{value:010d}" if key == "cik" else str(value)
    if key == "cik" and isinstance(value, str) and value.isdigit():
        return value.zfill(10)
    if not isinstance(value, str | int | float | bool):
        raise InputError(f"The filter on {key!r} needs a string, number or boolean. Got {value!r}.")
    return value


# --- evaluation in Python, the reference for the SQL below ---------------------------------------


def _matches(part: Condition | AnyOf, metadata: Mapping[str, object]) -> bool:
    if isinstance(part, AnyOf):
        return any(branch.matches(metadata) for branch in part.branches)
    stored = metadata.get(part.key)
    if part.key == ITEM and part.operator in ("$eq", "$in") and ALSO_ITEMS in metadata:
        wanted = part.value if isinstance(part.value, tuple) else (part.value,)
        further = metadata[ALSO_ITEMS]
        named = [stored, *further] if isinstance(further, list) else [stored]
        return any(item in named for item in wanted)
    if stored is None:
        return False
    if part.operator == "$contains":
        return part.value in stored if isinstance(stored, list) else str(part.value) in str(stored)
    if isinstance(stored, list):
        return False
    if part.operator == "$prefix":
        prefix = str(part.value)
        return _shows(metadata, prefix) if part.key == ADDRESS else str(stored).startswith(prefix)
    return _compare(stored, part)


def _shows(metadata: Mapping[str, object], prefix: str) -> bool:
    """Tell whether a chunk of a statute shows a provision, something below it, or a whole that it belongs to."""
    address, shown = str(metadata[ADDRESS]), metadata.get(PROVISIONS)
    parts = [str(part) for part in shown] if isinstance(shown, list) else [address]
    return is_within(address, prefix) or any(is_within(part, prefix) or is_within(prefix, part) for part in parts)


def _compare(stored: object, part: Condition) -> bool:
    value = part.value
    if isinstance(value, tuple):
        found = any(_equal(stored, item) for item in value)
        return found if part.operator == "$in" else not found
    if part.operator in ("$eq", "$ne"):
        return _equal(stored, value) == (part.operator == "$eq")
    if not isinstance(stored, int | float) or not isinstance(value, int | float):
        return False
    return {
        "$gt": stored > value,
        "$gte": stored >= value,
        "$lt": stored < value,
        "$lte": stored <= value,
    }[part.operator]


def _equal(stored: object, value: Scalar) -> bool:
    # 1 and True are different values in a filter, though equal in Python.
    return (
        stored == value
        and isinstance(stored, str) == isinstance(value, str)
        and (isinstance(stored, bool) == isinstance(value, bool))
    )


# --- SQL ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sql:
    """Hold a boolean SQL expression and its parameters."""

    text: str
    parameters: tuple[Scalar, ...]


def to_sql(filters: Conjunction, columns: Mapping[str, str], json_columns: Sequence[str]) -> Sql:
    """Write a filter as SQL.

    ``columns`` maps metadata keys to columns of their own; other keys are read out of ``json_columns``,
    the first that holds the key.
    """
    texts: list[str] = []
    parameters: list[Scalar] = []
    for part in filters.parts:
        sql = (
            _any_sql(part, columns, json_columns)
            if isinstance(part, AnyOf)
            else _condition_sql(part, columns, json_columns)
        )
        texts.append(sql.text)
        parameters += sql.parameters
    return Sql(" AND ".join(texts) or "1", tuple(parameters))


def _any_sql(part: AnyOf, columns: Mapping[str, str], json_columns: Sequence[str]) -> Sql:
    branches = [to_sql(branch, columns, json_columns) for branch in part.branches]
    text = " OR ".join(f"({branch.text})" for branch in branches)
    return Sql(f"({text})", tuple(p for branch in branches for p in branch.parameters))


def _condition_sql(part: Condition, columns: Mapping[str, str], json_columns: Sequence[str]) -> Sql:
    if part.key in columns and not isinstance(part.value, bool):
        return _column_sql(part, columns[part.key], json_columns)
    # Rare keys are compared by the one implementation above, through a function of the connection.
    condition = json.dumps([part.key, part.operator, part.value])
    arguments = ", ".join(json_columns)
    return Sql(f"fin_rag_matches(?, {arguments})", (condition,))


def _column_sql(part: Condition, column: str, json_columns: Sequence[str]) -> Sql:
    value = part.value
    if part.key == ITEM and part.operator in ("$eq", "$in"):
        wanted = value if isinstance(value, tuple) else (value,)
        marks = ", ".join("?" * len(wanted))
        named = f"{json_columns[0]} LIKE '%\"{ALSO_ITEMS}\"%' AND fin_rag_matches(?, {', '.join(json_columns)})"
        condition = json.dumps([part.key, part.operator, value])
        return Sql(f"({column} IN ({marks}) OR ({named}))", (*wanted, condition))
    if isinstance(value, tuple):
        if not value:
            return Sql("0" if part.operator == "$in" else f"{column} IS NOT NULL", ())
        marks = ", ".join("?" * len(value))
        return Sql(f"{column} {'IN' if part.operator == '$in' else 'NOT IN'} ({marks})", value)
    if part.operator == "$contains":
        return Sql(f"instr({column}, ?) > 0", (str(value),))
    if part.operator == "$prefix":
        return Sql(f"instr({column}, ?) = 1", (str(value),))
    symbol = {"$eq": "=", "$ne": "<>", **_COMPARE}[part.operator]
    return Sql(f"{column} {symbol} ?", (value,))


def matches_json(condition: str, *metadata: str) -> bool:
    """Compare one written condition with metadata written as JSON; the SQL function behind rare keys."""
    key, operator, value = json.loads(condition)
    part = Condition(key, operator, tuple(value) if isinstance(value, list) else value)
    merged: dict[str, object] = {}
    for text in reversed(metadata):
        merged.update(json.loads(text))
    return _matches(part, merged)
