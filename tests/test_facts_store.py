"""The store of facts: points in time, restatements, periods, units, derived values, and what it refuses."""

from __future__ import annotations

import datetime
import gzip
import json
import zipfile
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import InputError, IntegrityError, NotFoundError
from fin_rag.facts import FactStore
from fin_rag.facts.periods import FiscalCalendar, FiscalPeriod, calendar_of, duration_kind, instant
from fin_rag.schema import InlineFact, Markup, SourceDocument, Span

REVENUE = "us-gaap:Revenues"


@pytest.fixture
def store(tmp_path):
    with FactStore.open(tmp_path) as opened:
        yield opened


def row(start, end, value, filed, **more):
    base = {
        "ticker": "BRAL", "concept": REVENUE, "start": start, "end": end, "unit": "USD", "value": value,
        "form": "10-K", "accession": f"A-{filed}", "filed": filed,
    }  # fmt: skip
    return base | more


def companyfacts(entries, *, tag="Revenues", unit="USD", cik=7_001_234):
    facts = {"us-gaap": {tag: {"label": tag, "units": {unit: entries}}}}
    return {"cik": cik, "entityName": "Bralton Widgets Inc.", "facts": facts}


def entry(start, end, val, filed, fy, *, accn=None, form="10-K", **more):
    base = {"end": end, "val": val, "accn": accn or f"0007-{filed}", "fy": fy, "fp": "FY", "form": form, "filed": filed}
    return ({"start": start} if start else {}) | base | more


def load(store, tmp_path, *documents):
    folder = tmp_path / "facts"
    folder.mkdir(exist_ok=True)
    for number, document in enumerate(documents):
        (folder / f"{number}.json").write_text(json.dumps(document))
    return store.load_company_facts(folder)


# --- points in time -------------------------------------------------------------------------------


def test_a_restated_balance_has_the_value_known_at_each_date(store):
    cash = "us-gaap:CashAndCashEquivalentsAtCarryingValue"
    store.add_table([
        row(None, "2022-12-31", 503, "2023-03-01", concept=cash),
        row(None, "2022-12-31", 316, "2023-10-07", concept=cash, form="10-K/A"),
    ])  # fmt: skip
    before = store.fact("BRAL", cash, None, "2022-12-31", "2023-06-30")
    after = store.fact("BRAL", cash, None, "2022-12-31", "2023-12-31")
    assert (before.value, before.restated) == (503, ())
    assert after.value == 316
    assert [(one.value, one.accession) for one in after.restated] == [(503, "A-2023-03-01")]
    assert after.source.amended
    assert after.source.accession == "A-2023-10-07"


def test_a_filing_is_known_at_its_own_instant_and_not_a_moment_before(store):
    store.add_table([row("2023-01-01", "2023-12-31", 5, "2024-02-01T17:05:00+00:00")])
    at = datetime.datetime(2024, 2, 1, 17, 5, tzinfo=datetime.UTC)
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", at).value == 5
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", at - datetime.timedelta(microseconds=1)) is None
    madrid = datetime.timezone(datetime.timedelta(hours=1))
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", at.astimezone(madrid)).value == 5


def test_a_day_means_its_end_for_the_question_and_for_the_filing(store):
    store.add_table([row("2023-01-01", "2023-12-31", 5, "2024-02-01")])
    period = ("BRAL", REVENUE, "2023-01-01", "2023-12-31")
    assert store.fact(*period, "2024-02-01").value == 5
    assert store.fact(*period, datetime.date(2024, 2, 1)).value == 5
    assert store.fact(*period, 20240201).value == 5
    assert store.fact(*period, "2024-02-01T12:00:00Z") is None, "the hour of the filing is not known"
    assert store.fact(*period, "2024-01-31") is None


def test_the_more_precise_value_of_one_filing_wins_and_rounding_is_no_restatement(store):
    store.add_table([
        row("2023-01-01", "2023-12-31", 1_200_000_000, "2024-02-01", decimals=-8),
        row("2023-01-01", "2023-12-31", 1_234_000_000, "2024-02-01", decimals=-6),
        row("2023-01-01", "2023-12-31", 1_234_000_000, "2025-02-01", decimals=-6),
    ])  # fmt: skip
    fact = store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31")
    assert fact.value == 1_234_000_000
    assert fact.restated == ()
    assert [one.accession for one in fact.sources] == ["A-2025-02-01", "A-2024-02-01", "A-2024-02-01"]


def test_two_unlabelled_values_of_one_filing_are_shown_as_a_conflict(store):
    store.add_table([
        row("2023-01-01", "2023-12-31", value, "2024-02-01", decimals=-6) for value in (10_000_000, 12_000_000)
    ])  # fmt: skip
    fact = store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31")
    assert {fact.value, *(one.value for one in fact.conflicts)} == {10_000_000, 12_000_000}


def test_the_same_fact_in_two_filings_is_one_value_with_two_sources(store, tmp_path):
    twice = [
        entry("2023-01-01", "2023-12-31", 900, "2024-02-01", 2023),
        entry("2023-01-01", "2023-12-31", 900, "2025-02-01", 2024),
        entry("2023-01-01", "2023-12-31", 900, "2025-02-01", 2024, frame="CY2023"),
    ]
    report = load(store, tmp_path, companyfacts(twice))
    assert (report.facts, report.repeated) == (2, 1)
    fact = store.fact("7001234", "Revenues", "2023-01-01", "2023-12-31")
    assert [one.accession for one in fact.sources] == ["0007-2025-02-01", "0007-2024-02-01"]


@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(-3, 3), st.integers(1, 99)), min_size=1, max_size=12),
    st.integers(0, 61),
)
def test_nothing_filed_later_is_ever_used(filings, day):
    start = datetime.date(2024, 1, 1)
    rows = [
        row("2023-01-01", "2023-12-31", value, (start + datetime.timedelta(days=after)).isoformat(),
            decimals=decimals, accession=f"A-{number}")
        for number, (after, decimals, value) in enumerate(filings)
    ]  # fmt: skip
    import tempfile

    with tempfile.TemporaryDirectory() as folder, FactStore.open(folder) as store:
        store.add_table(rows)
        as_of = start + datetime.timedelta(days=day)
        fact = store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", as_of)
        known = [one for one in filings if one[0] <= day]
        assert (fact is None) == (not known)
        if fact is not None:
            last = max(one[0] for one in known)
            best = max(one[1] for one in known if one[0] == last)
            assert int(fact.value) in {one[2] for one in known if one[:2] == (last, best)}
            assert all(one.filed <= as_of.isoformat() for one in (*fact.sources, *fact.restated, *fact.conflicts))


# --- periods --------------------------------------------------------------------------------------


def test_fy_and_fp_of_the_file_are_never_the_period_of_a_figure(store, tmp_path):
    comparative = [
        entry(f"{year - 1}-10-01", f"{year}-09-30", value, "2023-11-03", 2023)
        for year, value in ((2021, 1_100), (2022, 1_200), (2023, 1_300))
    ]
    load(store, tmp_path, companyfacts(comparative))
    assert store.lookup("7001234", "revenue", "FY2021").fact.value == 1_100
    assert store.lookup("7001234", "revenue", "FY2023").fact.value == 1_300


@pytest.mark.parametrize(("close", "name"), [("2024-02-03", 2023), ("2024-02-03", 2024), ("2023-01-01", 2022)])
def test_an_issuer_calls_its_years_as_its_filings_say(close, name):
    calendar = calendar_of([(close, name)])
    assert calendar.year_of(datetime.date.fromisoformat(close)) == name


@pytest.mark.parametrize(
    ("start", "end", "kind"),
    [
        ("2024-01-29", "2024-05-18", "quarter"),  # 111 days: sixteen weeks
        ("2024-05-13", "2024-08-04", "quarter"),  # twelve weeks
        ("2024-01-01", "2024-06-30", "half"),
        ("2023-09-04", "2024-05-12", "nine_months"),  # 36 weeks
        ("2023-01-30", "2024-02-04", "year"),  # 53 weeks
        ("2024-01-01", "2024-02-15", "other"),
        ("", "2024-02-15", "instant"),
    ],
)
def test_lengths_are_told_apart(start, end, kind):
    assert duration_kind(start, end) == kind


def test_a_quarter_of_sixteen_weeks_is_the_first_quarter(store):
    store.add_table([
        row("2023-01-29", "2024-01-27", 148, "2024-03-20"),
        row("2024-01-28", "2024-05-18", 45, "2024-06-20", form="10-Q"),
        row("2024-01-28", "2025-02-01", 147, "2025-03-20"),
    ])  # fmt: skip
    assert store.lookup("BRAL", "revenue", "Q1 2025", None).fact is not None


def test_names_of_periods_are_read_in_both_languages():
    assert FiscalPeriod.parse("3T 2024") == FiscalPeriod(2024, "Q3") == FiscalPeriod.parse("2024Q3")
    assert FiscalPeriod.parse("1S 2024") == FiscalPeriod(2024, "H1")
    with pytest.raises(InputError, match="FY2024"):
        FiscalPeriod.parse("last year")


@given(
    st.dates(datetime.date(2000, 1, 1), datetime.date(2040, 12, 31)),
    st.dates(datetime.date(2015, 1, 1), datetime.date(2025, 12, 31)),
)
def test_the_close_of_a_fiscal_year_is_never_far_from_the_date(end, close):
    found = FiscalCalendar((close,)).close_after(end)
    assert -10 <= (found - end).days <= 366


# --- line items -----------------------------------------------------------------------------------


def test_a_line_item_is_one_unbroken_series_over_changing_tags(store):
    old, new = "us-gaap:SalesRevenueNet", "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
    store.add_table([
        row(f"{year}-01-01", f"{year}-12-31", year, f"{year + 1}-02-01", concept=tag)
        for year, tag in ((2016, old), (2017, old), (2018, new), (2019, new))
    ])  # fmt: skip
    series = store.series("BRAL", "importe neto de la cifra de negocios")
    assert [int(one.value) for one in series] == [2016, 2017, 2018, 2019]
    assert [one.concept for one in series] == [old] * 2 + [new] * 2


def test_units_are_never_mixed(store):
    store.add_table([
        row("2023-01-01", "2023-12-31", 10, "2024-02-01"),
        row("2023-01-01", "2023-12-31", 9, "2024-02-01", unit="EUR"),
    ])  # fmt: skip
    with pytest.raises(InputError, match="'EUR', 'USD'"):
        store.fact("BRAL", "revenue", "2023-01-01", "2023-12-31")
    assert store.fact("BRAL", "revenue", "2023-01-01", "2023-12-31", unit="EUR").value == 9


def test_a_breakdown_never_stands_for_the_total(store):
    north = {"srt:StatementGeographicalAxis": "bral:NorthMember"}
    store.add_table([row("2023-01-01", "2023-12-31", 4, "2024-02-01", dimensions=north)])
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31") is None
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", dimensions=north).value == 4


def test_unknown_issuers_and_concepts_are_named_and_never_replaced(store):
    store.add_table([row("2023-01-01", "2023-12-31", 4, "2024-02-01", name="Bralton Widgets Inc.")])
    with pytest.raises(NotFoundError, match=r"No filing of the issuer 'BRALT'.*bral"):
        store.fact("BRALT", "revenue", "2023-01-01", "2023-12-31")
    with pytest.raises(NotFoundError, match="revenue"):
        store.fact("BRAL", "revenuee", "2023-01-01", "2023-12-31")
    assert store.fact("Bralton Widgets Inc", "revenue", "2023-01-01", "2023-12-31").value == 4


# --- derived values -------------------------------------------------------------------------------


def year_of_quarters(values=(10, 20, 30), whole=100, **more):
    ends = ("2023-03-31", "2023-06-30", "2023-09-30")
    rows = [
        row("2023-01-01", end, sum(values[: number + 1]), f"2023-{4 + 3 * number:02d}-20", form="10-Q", **more)
        for number, end in enumerate(ends)
    ]
    return [*rows, row("2023-01-01", "2023-12-31", whole, "2024-02-20", **more)]


def test_quarters_are_derived_from_cumulative_periods(store):
    store.add_table(year_of_quarters())
    found = {part: store.lookup("BRAL", "revenue", f"{part} 2023").fact for part in ("Q1", "Q2", "Q3", "Q4", "H2")}
    assert {part: int(fact.value) for part, fact in found.items()} == {"Q1": 10, "Q2": 20, "Q3": 30, "Q4": 40, "H2": 70}
    assert not found["Q1"].derived
    fourth = found["Q4"]
    assert (fourth.start, fourth.end, fourth.formula) == ("2023-10-01", "2023-12-31", "year - nine months")
    assert [int(part.value) for part in fourth.parts] == [100, 60]


def test_a_derived_quarter_waits_until_its_parts_are_known(store):
    store.add_table(year_of_quarters())
    early = store.lookup("BRAL", "revenue", "Q4 2023", "2024-02-19")
    assert not early.found
    assert "FY2023 is not reported" in early.reason
    assert store.lookup("BRAL", "revenue", "Q4 2023", "2024-02-20").fact.value == 40


def test_parts_on_different_bases_are_refused(store):
    store.add_table([*year_of_quarters(), row("2023-01-01", "2023-12-31", 80, "2025-02-20")])
    answer = store.lookup("BRAL", "revenue", "Q4 2023")
    assert not answer.found
    assert "not on one basis" in answer.reason
    assert store.lookup("BRAL", "revenue", "Q4 2023", "2024-12-31").fact.value == 40
    amended = row("2023-01-01", "2023-12-31", 90, "2024-05-20", form="10-K/A")
    store.add_table([amended])
    assert store.lookup("BRAL", "revenue", "Q4 2023", "2024-12-31").fact.value == 30, "a correction keeps the basis"


def test_what_does_not_add_up_is_never_derived(store):
    eps = "us-gaap:EarningsPerShareDiluted"
    store.add_table(year_of_quarters(concept=eps, unit="USD/shares"))
    answer = store.lookup("BRAL", "bpa", "Q4 2023")
    assert not answer.found
    assert "cannot be added" in answer.reason


def test_twelve_months_need_every_quarter(store):
    quarters = [("2024-01-01", "2024-03-31", 7), ("2025-04-01", "2025-06-30", 8), ("2025-07-01", "2025-09-30", 9),
                ("2025-10-01", "2025-12-31", 10)]  # fmt: skip
    store.add_table([row(start, end, value, "2026-02-01") for start, end, value in quarters])
    answer = store.trailing_twelve_months("BRAL", "revenue", "2025-12-31")
    assert not answer.found
    assert "Q1 2025 is not reported" in answer.reason
    assert not store.lookup("BRAL", "revenue", "FY2025").found
    store.add_table([row("2025-01-01", "2025-03-31", 11, "2026-02-01")])
    assert store.trailing_twelve_months("BRAL", "revenue", "2025-12-31").fact.value == 38


def test_twelve_months_roll_over_the_year_end(store):
    store.add_table([*year_of_quarters(), row("2024-01-01", "2024-06-30", 44, "2024-07-20", form="10-Q")])
    answer = store.trailing_twelve_months("BRAL", "revenue").fact
    assert (int(answer.value), answer.start, answer.end) == (114, "2023-07-01", "2024-06-30")


def test_what_is_not_reported_comes_with_its_nearest(store):
    store.add_table(year_of_quarters())
    answer = store.lookup("BRAL", "ventas", "FY2021")
    assert not answer.found
    assert answer.nearest[0].end == "2023-12-31"


# --- loading --------------------------------------------------------------------------------------


def test_company_facts_come_as_file_folder_and_archive(tmp_path):
    data = companyfacts([entry("2023-01-01", "2023-12-31", 12.5, "2024-02-01", 2023)])
    plain, packed, archive = tmp_path / "a.json", tmp_path / "b.json.gz", tmp_path / "companyfacts.zip"
    plain.write_text(json.dumps(data))
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    with zipfile.ZipFile(archive, "w") as bulk:
        bulk.writestr("CIK0007001234.json", plain.read_bytes())
        bulk.writestr("CIK0000000002.json", "{}")
    for number, path in enumerate((plain, packed, archive)):
        with FactStore.open(tmp_path / str(number)) as store:
            report = store.load_company_facts(path, tickers={"BRAL": 7001234})
            assert report.facts == 1
            assert store.fact("BRAL", "revenue", "2023-01-01", "2023-12-31").value == Decimal("12.5")
            assert (path == archive) == bool(report.skipped)


def test_entries_that_cannot_be_read_are_counted(store, tmp_path):
    bad = [
        {"end": "2023-12-31"},
        entry("2024-01-01", "2023-12-31", 1, "2024-02-01", 2023),
        entry(None, "soon", 1, "2024-02-01", 2023),
    ]
    report = load(store, tmp_path, companyfacts(bad))
    assert report.facts == 0
    assert sum(report.skipped.values()) == 3
    assert report.warnings


def test_a_file_that_is_no_company_facts_is_refused_and_changes_nothing(store, tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[1, 2")
    with pytest.raises(InputError, match="no JSON"):
        store.load_company_facts(path)
    assert len(store) == 0


def test_columns_that_are_missing_are_named(store):
    with pytest.raises(InputError, match="cik, ticker or issuer, filed"):
        store.add_table([{"concept": "x", "end": "2023-12-31", "value": 1}])


def test_inline_facts_keep_their_spans_and_are_replaced_with_their_document(store):
    text = "Net sales 1,250"
    fact = InlineFact("us-gaap:Revenues", Decimal(1250), "2023-01-01", "2023-12-31", "USD", "-6", 6, Span(10, 15))
    document = SourceDocument(
        page_content=text,
        metadata={"doc_id": "D1", "ticker": "BRAL", "filed": 20240201, "doc_type": "10-K"},
        markup=Markup(facts=(fact, fact)),
    )
    assert store.add_document(document).facts == 1
    assert store.add_document(document).facts == 1
    found = store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", "2024-02-01")
    assert found.source.span.slice(text) == "1,250"
    assert found.source.doc_id == "D1"
    assert store.remove("D1") == 1
    assert len(store) == 0


def test_a_document_without_a_filing_date_is_unknown_at_every_point_in_time(store):
    fact = InlineFact(REVENUE, Decimal(9), "2023-01-01", "2023-12-31", "USD", "-6", 6, None)
    document = SourceDocument(
        page_content="x", metadata={"doc_id": "D1", "ticker": "BRAL"}, markup=Markup(facts=(fact,))
    )
    store.add_document(document)
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31").value == 9
    assert store.fact("BRAL", REVENUE, "2023-01-01", "2023-12-31", "2099-01-01") is None


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "facts.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(IntegrityError, match="no store of facts"):
        FactStore.open(tmp_path)
    with pytest.raises(NotFoundError):
        FactStore.open(tmp_path / "elsewhere", create=False)


def test_points_in_time_are_read_or_refused():
    assert instant("1970-01-01") == instant(datetime.date(1970, 1, 1)) == 86_399_999_999
    with pytest.raises(InputError, match="as_of"):
        instant("yesterday")


def test_the_shared_corpora_are_exact(shared, tmp_path):
    from tests.evaluators.xbrl import load as load_corpus

    with FactStore.open(tmp_path) as store:
        load_corpus(shared / "data" / "corpus_es" / "hard", store)
        derived = [one for tick in ("ZANE", "RASA") for one in store.series(tick, "ingresos", "quarter", derive=True)]
    assert sum(one.derived for one in derived) >= 10
