"""Filters: one grammar, clear refusals, the same answer in Python and in SQL."""

from __future__ import annotations

import datetime
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import InputError
from fin_rag.index.filters import (
    Condition,
    as_of_filter,
    date_number,
    matches_json,
    parse_filter,
    scope_filter,
    to_sql,
)

VALUES = st.one_of(st.integers(-2, 2), st.sampled_from(["a", "b", "0"]), st.booleans(), st.just(1.5))
KEYS = st.sampled_from(["tag", "size", "item", "fiscal_year", "ticker"])
METADATA = st.dictionaries(
    st.sampled_from(["tag", "size", "labels"]), st.one_of(VALUES, st.lists(st.sampled_from("ab"), min_size=1))
).flatmap(
    lambda free: st.fixed_dictionaries(
        {},
        optional={
            "fiscal_year": st.integers(2020, 2023),
            "ticker": st.sampled_from(["A", "B"]),
            "item": st.sampled_from(["Item 1", "Item 2"]),
            "merged_with": st.just(["Item 2"]),
        },
    ).map(lambda known: {**free, **known})
)


@st.composite
def conditions(draw):
    key = draw(KEYS)
    if key == "fiscal_year":
        value = st.integers(2019, 2024)
    elif key == "ticker":
        value = st.sampled_from(["A", "B", "C"])
    elif key == "item":
        value = st.sampled_from(["Item 1", "Item 2", "Item 3"])
    else:
        value = VALUES
    operator = draw(st.sampled_from(["$eq", "$ne", "$in", "$nin", "$gt", "$lte"]))
    if operator in ("$in", "$nin"):
        return {key: {operator: draw(st.lists(value, max_size=3))}}
    if operator in ("$gt", "$lte"):
        return (
            {key: {operator: draw(st.integers(2019, 2024))}} if key in ("fiscal_year", "size") else {key: draw(value)}
        )
    return {key: {operator: draw(value)}}


FILTERS = st.recursive(
    conditions(),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
    ),
    max_leaves=6,
)


@given(FILTERS, METADATA)
def test_sql_and_python_agree(given_filter, metadata) -> None:
    parsed = parse_filter(given_filter)
    db = sqlite3.connect(":memory:")
    db.create_function("fin_rag_matches", -1, matches_json, deterministic=True)
    db.execute("CREATE TABLE c (metadata TEXT, fiscal_year INTEGER, ticker TEXT, item TEXT)")
    row = [json.dumps(metadata), *(metadata.get(key) for key in ("fiscal_year", "ticker", "item"))]
    db.execute("INSERT INTO c VALUES (?, ?, ?, ?)", row)
    columns = {key: f"c.{key}" for key in ("fiscal_year", "ticker", "item")}
    sql = to_sql(parsed, columns, ("c.metadata",))
    found = db.execute(f"SELECT count(*) FROM c WHERE {sql.text}", sql.parameters).fetchone()[0]
    db.close()
    assert bool(found) == parsed.matches(metadata)


def test_two_keys_one_key_and_none() -> None:
    assert len(parse_filter({"ticker": "A", "fiscal_year": 2023}).parts) == 2
    assert len(parse_filter({"ticker": "A"}).parts) == 1
    assert parse_filter({}).matches({"anything": 1})
    assert parse_filter(None).matches({})


def test_year_as_text_is_read_as_a_number() -> None:
    assert parse_filter({"fiscal_year": "2023"}).matches({"fiscal_year": 2023})
    with pytest.raises(InputError, match="whole number"):
        parse_filter({"fiscal_year": "last year"})


def test_dates_in_any_form() -> None:
    day = datetime.date(2023, 6, 30)
    for form in (20230630, "2023-06-30", "20230630", day):
        assert parse_filter({"filed": {"$lte": form}}).parts == (Condition("filed", "$lte", 20230630),)
    with pytest.raises(InputError, match="must be a date"):
        date_number("filed", "2023-02-30")


def test_as_of_keeps_what_was_filed_by_the_end_of_the_day() -> None:
    known = as_of_filter("2023-06-30")
    assert known.matches({"filed": 20230630})
    assert not known.matches({"filed": 20230701})
    assert not known.matches({}), "a document without a date cannot be shown to have been known"


def test_a_condition_never_matches_a_missing_key() -> None:
    for operator, value in (("$ne", "A"), ("$nin", ["A"]), ("$eq", "A"), ("$contains", "A")):
        assert not parse_filter({"ticker": {operator: value}}).matches({"cik": "0000000001"})


def test_cik_is_ten_digits_however_typed() -> None:
    for typed in (320193, "320193", "0000320193"):
        assert parse_filter({"cik": typed}).matches({"cik": "0000320193"})


def test_merged_item_is_found_by_each_of_its_numbers() -> None:
    chunk = {"item": "Item 1", "merged_with": ["Item 2"]}
    assert parse_filter({"item": "Item 2"}).matches(chunk)
    assert not parse_filter({"item": "Item 3"}).matches(chunk)


def test_private_documents_are_for_their_session_only() -> None:
    private = {"source_scope": "private", "session_id": "s1"}
    assert not scope_filter(None).matches(private)
    assert not scope_filter("s2").matches(private)
    assert scope_filter("s1").matches(private)
    assert scope_filter("s1").matches({"source_scope": "public"})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ticker": {"$equals": "A"}}, r"\$equals"),
        ({"ticker": {}}, "empty"),
        ({"$not": [{"ticker": "A"}]}, r"\$not"),
        ({"$or": []}, "list of filters"),
        ({"ticker": {"$in": "A"}}, "list of values"),
        ({"size": {"$gt": "10"}}, "compares numbers"),
        ({"ticker": None}, "string, number or boolean"),
        (["ticker"], "mapping"),
    ],
)
def test_wrong_filters_are_refused(wrong, message) -> None:
    with pytest.raises(InputError, match=message):
        parse_filter(wrong)
