"""Question analysis: names, periods, metrics, kinds, clauses, comparisons, and what is in no document."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import InputError, NotFoundError, ParseError
from fin_rag.query import Lexicon, Library, QueryPlan, analyse, select_documents
from fin_rag.query.analyse import formula_items
from fin_rag.query.concepts import concepts_of
from fin_rag.query.library import name_words
from fin_rag.query.periods import find_periods
from fin_rag.query.vocabulary import metrics_data

FILINGS = [
    {"issuer": "Orrin Tools, Inc.", "ticker": "ORRN", "title": "10-K 2022", "doc_type": "10-K", "fiscal_year": 2022,
     "fiscal_period": "FY", "period_end": 20220630, "filed": 20220815, "lang": "en"},
    {"issuer": "Orrin Tools, Inc.", "ticker": "ORRN", "title": "10-K 2023", "doc_type": "10-K", "fiscal_year": 2023,
     "fiscal_period": "FY", "period_end": 20230630, "filed": 20230814, "lang": "en"},
    {"issuer": "Orrin Tools, Inc.", "ticker": "ORRN", "title": "10-Q 2023 Q2", "doc_type": "10-Q", "fiscal_year": 2023,
     "fiscal_period": "Q2", "period_end": 20221231, "filed": 20230209, "lang": "en"},
    {"issuer": "Orrin Tools, Inc.", "ticker": "ORRN", "title": "8-K 2023-03-02", "doc_type": "8-K",
     "period_end": 20230302, "filed": 20230306, "lang": "en"},
    {"issuer": "Brightwater Foods Company", "title": "10-K 2023", "doc_type": "10-K", "fiscal_year": 2023,
     "fiscal_period": "FY", "period_end": 20231231, "lang": "en"},
    {"issuer": "Hidrala Aguas, S.A.", "title": "Hidrala Aguas, S.A. — Informe anual 2023", "doc_type": "annual_report",
     "fiscal_year": 2023, "lang": "es"},
    {"issuer": "Grupo Velmar Industrial, S.A.", "title": "Grupo Velmar Industrial — Informe anual 2023",
     "doc_type": "annual_report", "fiscal_year": 2023, "lang": "es"},
    {"issuer": "Velmar Industrial Papelera, S.A.", "title": "Velmar Industrial Papelera — Informe anual 2023",
     "doc_type": "annual_report", "fiscal_year": 2023, "lang": "es"},
    {"issuer": "Cumbre Gestión", "title": "Cumbre Bolsa Norte ETF — Folleto 2025", "doc_type": "prospectus",
     "fiscal_year": 2025, "lang": "es"},
    {"issuer": "Cumbre Gestión", "title": "Cumbre Renta Sur ETF — Folleto 2025", "doc_type": "prospectus",
     "fiscal_year": 2025, "lang": "es"},
    {"issuer": "Cumbre Gestión", "title": "Cumbre Renta Sur ETF — Datos fundamentales (KID) 2025", "doc_type": "kid",
     "fiscal_year": 2025, "lang": "es"},
]  # fmt: skip
LIBRARY = Library(list(enumerate(FILINGS)))


def plan(question: str, **settings: object) -> QueryPlan:
    return analyse(question, LIBRARY, **settings)


def chosen(question: str, **settings: object) -> set[int]:
    return set(select_documents(plan(question, **settings), LIBRARY, range(len(FILINGS))).weights)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What was Orrin Tools' revenue in fiscal 2023?", {1}),
        ("ORRN FY23 capex?", {1}),
        ("orrin fy22 net income", {0}),
        ("Orin Tools inventory at the end of FY2022", {0}),  # a typo
        ("Brightwatr gross margin 2023", {4}),
        ("What did Orrin report for the second quarter of fiscal 2023?", {2}),
        ("Orrin 2Q23 operating cash flow", {2}),
        ("Which agreement did Orrin Tools sign on March 2, 2023?", {3}),
        ("Orrin's 8-K filed 6 March 2023", {3}),
        ("ventas de hidrala aguas en 2023", {5}),
        ("¿Qué dividendo reparte Velmar Industrial Papelera?", {7}),
        ("¿Qué plantilla tiene Grupo Velmar Industrial?", {6}),
        ("¿Qué vende Velmar Industrial?", {6, 7}),  # a part of both names
        ("¿Qué costes de entrada tiene Cumbre Renta Sur ETF según el KID?", {10}),
        ("¿Qué depositario tiene Cumbre Bolsa Norte ETF?", {8}),
    ],
)
def test_documents_meant(question: str, wanted: set[int]) -> None:
    assert chosen(question) == wanted


def test_similar_names_stay_apart() -> None:
    mention = plan("ventas de Velmar Industrial Papelera en 2023").mentions[0]
    assert mention.entities == ("Velmar Industrial Papelera, S.A.",)


def test_company_not_held_finds_nothing_and_says_so() -> None:
    known = {"revenue", "orrin"}
    read = plan("What was Talvor Furniture's revenue in 2023?", occurs=lambda word: word in known)
    assert read.missing == ("Talvor Furniture",)
    selection = select_documents(read, LIBRARY, range(len(FILINGS)))
    assert selection.empty
    assert not selection.weights
    assert "Talvor Furniture" in selection.reasons[0]


def test_missing_name_beside_a_known_one_is_reported() -> None:
    read = plan("Compare the margins of Orrin Tools and Talvor Furniture", occurs=lambda word: word != "talvor")
    assert read.missing == ("Talvor Furniture",)
    assert select_documents(read, LIBRARY, range(len(FILINGS))).weights.keys() <= {0, 1, 2, 3}


def test_issuer_outside_the_hard_filter_is_empty_not_widened() -> None:
    selection = select_documents(plan("Orrin Tools revenue"), LIBRARY, [4, 5])
    assert selection.empty


def test_period_without_document_backs_off_in_the_open() -> None:
    selection = select_documents(plan("Orrin Tools revenue in 2011"), LIBRARY, range(len(FILINGS)))
    assert set(selection.weights) == {0, 1, 2, 3}
    assert "2011" in selection.backed_off[0]


def test_forecast_for_a_year_is_sought_in_the_report_before_it() -> None:
    assert chosen("What production does Brightwater forecast for 2024?") == {4}


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("FY2019", ["FY 2019"]), ("FY'24", ["FY 2024"]), ("fiscal year 2021", ["FY 2021"]),
        ("ejercicio 2023", ["FY 2023"]), ("in 2020-2022", ["FY 2020", "FY 2021", "FY 2022"]),
        ("from FY2016 to FY2018", ["FY 2016", "FY 2017", "FY 2018"]),
        ("Q3 FY2022", ["Q3 2022"]), ("3T 2024", ["Q3 2024"]), ("FY2023Q1", ["Q1 2023"]), ("2021 Q1", ["Q1 2021"]),
        ("segundo trimestre de 2024", ["Q2 2024"]), ("H1 FY2023", ["H1 2023"]),
        ("primer semestre de 2023", ["H1 2023"]),
        ("May 26, 2023", ["20230526"]), ("1st July 2022", ["20220701"]), ("3 de marzo de 2024", ["20240303"]),
        ("a 31-12-2023", ["20231231"]), ("2022-11-01", ["20221101"]),
        ("2000 million euros", []), ("$2,023", []), ("2023 employees", []), ("Item 2024/5", []),
    ],
)  # fmt: skip
def test_periods(text: str, periods: list[str]) -> None:
    assert [str(period) for period in find_periods(text)] == periods


def test_year_that_names_a_document_is_told_from_one_that_is_asked_for() -> None:
    periods = find_periods("sales growth expected for 2025 in the 2024 annual report")
    assert [(p.year, p.names_document) for p in periods] == [(2025, False), (2024, True)]


@given(st.text(max_size=200))
def test_any_text_is_analysed(text: str) -> None:
    read = plan(text)
    assert all(0 <= period.start < period.end <= len(text) for period in read.periods)
    json.dumps(read.as_dict())


@pytest.mark.parametrize(
    ("question", "metrics"),
    [
        ("What is the quick ratio?", ["quick_ratio"]),
        ("DPO of Orrin", ["days_payable"]),
        ("free cash flow and net debt", ["free_cash_flow", "net_debt"]),
        ("¿Cuál es el fondo de maniobra?", ["working_capital"]),
        ("return on assets (ROA)", ["roa"]),
        ("capex as a % of revenue", ["capex_to_revenue"]),
        ("¿Cuánto facturó?", ["revenue"]),
    ],
)
def test_metrics(question: str, metrics: list[str]) -> None:
    assert [match.metric for match in plan(question).metrics] == metrics


def test_metric_file_is_whole() -> None:
    data = metrics_data()
    assert len(data["item"]) + len(data["ratio"]) >= 100
    for group in data.values():
        for name, entry in group.items():
            assert entry["names"], name
            assert set(formula_items(name)) <= data["item"].keys()
            assert formula_items(name), name


def test_directions_to_the_reader_are_not_searched_for() -> None:
    read = plan(
        "Assume that you are a public equities analyst. Answer the following question by primarily using information "
        "that is detailed in the balance sheet: what is the FY2022 inventory of Orrin Tools? Round to two decimals."
    )
    assert "analyst" not in read.search
    assert "decimals" not in read.search
    assert "inventory" in read.search
    assert read.statements == ("balance_sheet",)


def test_clause_without_a_subject_takes_the_first_one() -> None:
    read = plan("¿Cuál era la deuda financiera neta de Hidrala Aguas en 2023 y qué no incluye?")
    assert len(read.clauses) == 2
    assert "deuda financiera neta" in read.clauses[1]


def test_comparison_gives_one_group_each() -> None:
    selection = select_documents(
        plan("¿Qué ETF de Cumbre tiene los gastos corrientes más bajos según los folletos?"), LIBRARY, range(11)
    )
    assert [numbers for _, numbers in selection.groups] == [(8,), (9,)]


def test_two_issuers_are_compared() -> None:
    selection = select_documents(plan("Compare revenue of Orrin Tools and Brightwater in 2023"), LIBRARY, range(11))
    assert [numbers for _, numbers in selection.groups] == [(4,), (1,)]


def test_other_language_names_the_same_concept() -> None:
    english, spanish = concepts_of("legal proceedings"), concepts_of("litigios")
    assert english[0].name == spanish[0].name


def test_private_issuer_is_unknown_without_its_session() -> None:
    read = analyse("Orrin Tools revenue", Library([]), occurs=lambda _: False)
    assert not read.mentions
    assert read.missing == ("Orrin Tools",)


def test_one_cik_is_one_issuer_under_both_names() -> None:
    library = Library([
        (0, {"issuer": "Squarely, Inc.", "cik": "0000000009", "title": "10-K 2016"}),
        (1, {"issuer": "Blockade, Inc.", "cik": "0000000009", "title": "10-K 2022"}),
    ])  # fmt: skip
    assert len(library.entities) == 1
    assert library.documents_of(analyse("Squarely sales", library).mentions[0].entities) == {0, 1}


def test_legal_forms_are_no_part_of_a_name() -> None:
    assert name_words("Hidrala Aguas, S.A.") == name_words("HIDRALA AGUAS SA")


def test_lexicon(tmp_path) -> None:
    path = tmp_path / "terms.yaml"
    path.write_text(
        "- term: AT1\n  variants: [contingent convertible, CoCo]\n  titles: [capital]\n"
        "- term: call\n  patterns: ['\\bcalled? at par\\b']\n  disambiguators: [bond]\n",
        "utf-8",
    )
    lexicon = Lexicon.load(path)
    assert [t.topic for t in plan("Any CoCo outstanding?", lexicon=lexicon).topics if t.own] == ["AT1"]
    assert [t.topic for t in plan("Which bond was called at par?", lexicon=lexicon).topics if t.own] == ["call"]
    assert not [t for t in plan("Who called at par?", lexicon=lexicon).topics if t.own]


def test_bad_lexicon_is_refused(tmp_path) -> None:
    with pytest.raises(NotFoundError):
        Lexicon.load(tmp_path / "none.yaml")
    bad = tmp_path / "bad.json"
    bad.write_text("[", "utf-8")
    with pytest.raises(ParseError):
        Lexicon.load(bad)
    bad.write_text('[{"term": "a", "colour": 1}]', "utf-8")
    with pytest.raises(InputError, match="colour"):
        Lexicon.load(bad)
