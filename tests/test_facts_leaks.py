"""Nothing that was filed later is ever used: in facts, derived values, ratios, tools and answers."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta

import pytest

from fin_rag.answers import ask
from fin_rag.facts import FactStore, compute_ratio, fact_tools
from fin_rag.facts.periods import FiscalPeriod, instant

TAGS = {"us-gaap:Revenues": 100, "us-gaap:CostOfRevenue": 60, "us-gaap:GrossProfit": 40, "us-gaap:NetIncomeLoss": 9}
QUARTERS = (("01-01", "03-31"), ("04-01", "06-30"), ("07-01", "09-30"))
PAIRS = 10_000


def rows(rng):
    for issuer in ("BRAL", "QUIN", "NORV"):
        for year in range(2018, 2025):
            for at, (start, end) in enumerate(QUARTERS, 1):
                filed = date(year, 3 * at, 28) + timedelta(days=rng.randint(20, 45))
                yield from filing(issuer, f"{year}-{start}", f"{year}-{end}", filed, "10-Q", rng)
                yield from filing(issuer, f"{year}-01-01", f"{year}-{end}", filed, "10-Q", rng)
            filed = date(year + 1, 1, 20) + timedelta(days=rng.randint(0, 60))
            for back in range(3):
                yield from filing(issuer, f"{year - back}-01-01", f"{year - back}-12-31", filed, "10-K", rng)
            if rng.random() < 0.5:
                later = filed + timedelta(days=rng.randint(5, 200))
                yield from filing(issuer, f"{year}-01-01", f"{year}-12-31", later, "10-K/A", rng)


def filing(issuer, start, end, filed, form, rng):
    for tag, base in TAGS.items():
        yield {
            "ticker": issuer,
            "concept": tag,
            "start": start,
            "end": end,
            "unit": "USD",
            "value": base * 1000 + rng.randint(0, 999),
            "form": form,
            "accession": f"{issuer}-{form}-{filed}",
            "filed": filed.isoformat(),
            "decimals": 0,
        }


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with FactStore.open(tmp_path_factory.mktemp("leaks")) as opened:
        opened.add_table(list(rows(random.Random(5))))
        yield opened


def filed_dates(record):
    """Yield every date of filing that a record names, however deep."""
    if isinstance(record, dict):
        for key, value in record.items():
            if key == "filed":
                yield value
            else:
                yield from filed_dates(value)
    elif isinstance(record, list):
        for one in record:
            yield from filed_dates(one)


@pytest.mark.slow
def test_ten_thousand_questions_never_see_a_later_filing(store):
    rng = random.Random(11)
    seen = 0
    for number in range(PAIRS):
        as_of = (date(2018, 1, 1) + timedelta(days=rng.randint(0, 2900))).isoformat()
        issuer = rng.choice(("BRAL", "QUIN", "NORV"))
        period = FiscalPeriod(rng.randint(2017, 2024), rng.choice(("FY", "Q1", "Q2", "Q3", "Q4", "H1", "9M", "H2")))
        concept = rng.choice(("revenue", "coste de ventas", "us-gaap:GrossProfit", "net income"))
        if number % 3 == 0:
            record = store.lookup(issuer, concept, period, as_of).record()
        elif number % 3 == 1:
            record = compute_ratio(store, issuer, rng.choice(("gross margin", "net margin")), period, as_of).record()
        else:
            record = store.trailing_twelve_months(issuer, concept, None, as_of).record()
        dates = list(filed_dates(record))
        seen += len(dates)
        assert all(instant(one) <= instant(as_of) for one in dates), (issuer, concept, str(period), as_of, record)
    assert seen > PAIRS


def test_tools_and_answers_stay_within_their_point_in_time(store):
    rng = random.Random(12)
    for _ in range(300):
        as_of = (date(2018, 1, 1) + timedelta(days=rng.randint(0, 2900))).isoformat()
        year = rng.randint(2017, 2024)
        tools = {one.name: one for one in fact_tools(store, as_of=as_of)}
        issuer = rng.choice(("BRAL", "QUIN"))
        asked = {"issuer": issuer, "concept": "revenue", "period": f"FY{year}", "as_of": "2030-01-01"}
        records = [json.loads(tools["xbrl_lookup"].invoke(asked))]
        records.append(
            json.loads(tools["xbrl_series"].invoke({"issuer": issuer, "concept": "ventas", "kind": "quarter"}))
        )
        records.append(ask(f"What was the revenue of {issuer} in FY{year}?", [], store, as_of=as_of).record())
        for record in records:
            assert all(instant(one) <= instant(as_of) for one in filed_dates(record))
