"""The figure check: what passes, what fails and as what, in both languages."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.answers import verify_figures
from fin_rag.answers.claims import read_answer
from fin_rag.answers.when import read_periods
from fin_rag.errors import InputError
from fin_rag.facts import Fact

INCOME = """CONSOLIDATED STATEMENTS OF INCOME
(in millions, except per share data)

| | 2024 | 2023 | 2022 |
|---|---:|---:|---:|
| Net sales | $ 1,356.2 | $ 1,234.5 | $ 1,180.0 |
| Cost of sales | 815.4 | 760.1 | 731.6 |
| Gross profit | 540.8 | 474.4 | 448.4 |
| Operating income | 212.7 | 171.3 | (14.6) |
| Net income (loss) | 150.9 | 118.2 | (31.0) |
| Diluted earnings per share | 5.61 | 4.32 | (1.15) |
| Purchases of property and equipment | (104.7) | (98.3) | (77.5) |
"""
TABLE = Document(
    page_content=INCOME,
    metadata={
        "doc_id": "D1",
        "issuer": "Bralton Widgets, Inc.",
        "ticker": "BRAL",
        "fiscal_year": 2024,
        "period_end": 20241231,
        "lang": "en",
    },
)
SPANISH = Document(
    page_content=(
        "Balance (miles de euros)\n\n| Partida | 2024 | 2023 |\n|---|---:|---:|\n| Ventas | 1.284.610 | 1.167.342 |\n"
        "| Deuda financiera neta | 2.384.612 | 2.193.098 |\n| Gastos de personal | (148.926) | (137.415) |\n"
        "| Margen operativo | 24,6 % | 22,5 % |\n"
    ),
    metadata={
        "doc_id": "D2",
        "issuer": "Vientalba Renovables, S.A.",
        "lang": "es",
        "fiscal_year": 2024,
        "period_end": 20241231,
    },
)


def verdicts(answer, evidence=TABLE, **more):
    return [one.verdict for one in verify_figures(answer, evidence, **more).figures]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Net sales were $1,356.2 million in 2024.", ["equal"]),
        ("Net sales came to USD 1,356,200,000 in fiscal 2024.", ["equal"]),
        ("Net sales reached $1.36 billion in 2024.", ["rounded"]),
        ("In 2024, net sales were about $1,360 million.", ["rounded"]),
        ("Net sales were more than $1.3 billion in 2024.", ["rounded"]),
        ("Diluted earnings per share were $5.61 in 2024 and $4.32 in 2023.", ["verbatim", "verbatim"]),
        ("The net loss was $31.0 million in 2022.", ["equal"]),
        ("Net income was -$31.0 million in 2022.", ["equal"]),
        ("Net income (loss) was $(31.0) million in 2022.", ["equal"]),
        ("Purchases of property and equipment were $104.7 million in 2024.", ["equal"]),
        (
            "Net sales rose 9.9% to $1,356.2 million in 2024 from $1,234.5 million in 2023.",
            ["derived", "equal", "equal"],
        ),
        ("Gross margin was 39.9% in 2024.", ["derived"]),
        ("Gross margin rose by 1.4 percentage points in 2024.", ["derived"]),
        ("Gross margin rose by 145 basis points in 2024.", ["derived"]),
        ("Net sales increased by $121.7 million in 2024.", ["derived"]),
        ("In millions: net sales 1,356.2 in 2024.", ["equal"]),
        ("Net sales: 1,356.2 (2024)", ["verbatim"]),
        ("Las ventas netas fueron de 1.356,2 millones de dólares en 2024.", ["equal"]),
        ("Operating income was $212.7 million in 2024, versus $171.3 million the year before.", ["equal", "equal"]),
        ("Bralton's operating income grew from $171.3 million to $212.7 million in 2024.", ["equal", "equal"]),
    ],
)
def test_true_figures_pass(answer, expected):
    assert verdicts(answer) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Net sales were $1,365.2 million in 2024.", "unsupported"),
        ("Net sales were $1,356.2 billion in 2024.", "wrong_scale"),
        ("Net sales were $1,356.2 thousand in 2024.", "wrong_scale"),
        ("Net sales were $1,356.2 in 2024.", "wrong_scale"),
        ("Diluted earnings per share were $5.61 million in 2024.", "wrong_scale"),
        ("Net sales were $1,356.2 million in 2023.", "wrong_period"),
        ("Net sales were $1,356.2 million in 2019.", "wrong_period"),
        ("Net income was $31.0 million in 2022.", "wrong_sign"),
        ("Net income was -$150.9 million in 2024.", "wrong_sign"),
        ("Operating income was $150.9 million in 2024.", "wrong_line"),
        ("Gross profit was $212.7 million in 2024.", "wrong_line"),
        ("Norvella's net sales were $1,356.2 million in 2024.", "wrong_entity"),
        ("Net sales fell to $1,356.2 million in 2024.", "wrong_direction"),
        ("Net sales fell 9.9% in 2024.", "wrong_direction"),
        ("Net sales rose 8.9% in 2024.", "unsupported"),
        ("Gross margin rose by 1.4% in 2024.", "wrong_scale"),
        ("Net sales were about $1,400.0 million in 2024.", "unsupported"),
    ],
)
def test_false_figures_fail_as_what_they_are(answer, expected):
    assert verdicts(answer) == [expected]


def test_direction_is_also_held_against_the_figures_of_the_answer():
    report = verify_figures("Net sales fell from $1,234.5 million in 2023 to $1,356.2 million in 2024.", TABLE)
    assert [one.verdict for one in report.failed] == ["wrong_direction"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Las ventas fueron de 1.284,6 millones de euros en 2024.", ["rounded"]),
        ("Las ventas crecieron un 10,0 %, hasta 1.284.610 miles de euros, en 2024.", ["derived", "equal"]),
        (
            "La deuda financiera neta ascendió a 2.384,6 millones en 2024, frente a 2.193,1 millones un año antes.",
            ["rounded", "rounded"],
        ),
        ("Los gastos de personal fueron de 148,9 millones de euros en 2024.", ["rounded"]),
        ("El margen operativo mejoró 2,1 puntos porcentuales en 2024.", ["derived"]),
        ("El margen operativo mejoró un 2,1 % en 2024.", ["wrong_scale"]),
        ("Las ventas cayeron un 10,0 % en 2024.", ["wrong_direction"]),
        ("Las ventas fueron de 1.284,6 miles de euros en 2024.", ["wrong_scale"]),
        ("La deuda financiera neta ascendió a 2.193,1 millones de euros en 2024.", ["wrong_period"]),
        ("Albariza registró ventas de 1.284,6 millones de euros en 2024.", ["wrong_entity"]),
    ],
)
def test_spanish(answer, expected):
    assert verdicts(answer, SPANISH) == expected


def test_a_changed_figure_and_a_changed_year_are_both_refused():
    evidence = "Retention was 87% in 2021."
    assert verdicts("Retention was 85% in 2021.", evidence) == ["unsupported"]
    assert verdicts("Retention was 87% in 2022.", evidence) == ["wrong_period"]
    assert verify_figures("87% in 2022", "87% in 2021").failed[0].reason == "printed for 2021, not for 2022"


@pytest.mark.parametrize(
    ("answer", "evidence", "passes"),
    [
        ("$890M", "Revenue was USD 890 million.", True),
        ("USD 890 million", "Revenue was 890,000,000 dollars.", True),
        ("EUR 890.500.000", "Revenue was 890 million euros.", False),
        ("1.5B", "Revenue was 1,500 million.", True),
        ("890.000.000 dólares", "Revenue was $890M.", True),
        ("€890 million", "Revenue was $890 million.", False),
    ],
)
def test_notations_of_one_amount(answer, evidence, passes):
    assert verify_figures(answer, evidence).ok is passes


@pytest.mark.parametrize(
    ("answer", "expected"), [("1577 million", "equal"), ("$1.58 billion", "rounded"), ("1,600", "unsupported")]
)
def test_exact_rounded_and_wrong_are_three_things(answer, expected):
    evidence = (
        "(in millions)\n\n| | 2018 |\n|---|---|\n| Purchases of property, plant and equipment (PP&E) | $ 1,577 |\n"
    )
    assert verdicts(answer, evidence) == [expected]


def test_years_dates_ordinals_items_and_lists_are_no_figures():
    text = (
        "1. As of December 31, 2024 (see Note 7 and Item 1A of the Form 10-K), in the 3rd quarter of fiscal 2023 [2], "
        "for the twelve months ended June 30, 2022 and the 52 weeks before."
    )
    assert read_answer(text).claims == ()
    assert verify_figures(text, "").ok


def test_twin_tables_of_two_companies_are_told_apart():
    other = Document(
        page_content=INCOME.replace("1,356.2", "2,468.1").replace("1,234.5", "2,222.2"),
        metadata={
            "doc_id": "D9",
            "issuer": "Quintmar Foods Corp.",
            "fiscal_year": 2024,
            "period_end": 20241231,
            "lang": "en",
        },
    )
    both = [TABLE, other]
    assert verdicts("Quintmar's net sales were $2,468.1 million in 2024.", both) == ["equal"]
    assert verdicts("Bralton's net sales were $2,468.1 million in 2024.", both) == ["wrong_entity"]
    answer = "Bralton reported net sales of $1,356.2 million in 2024. Quintmar reported $2,468.1 million."
    assert verdicts(answer, both) == ["equal", "equal"]
    assert (
        verdicts(answer.replace("Bralton", "X").replace("Quintmar", "Bralton").replace("X", "Quintmar"), both)
        == ["wrong_entity"] * 2
    )


def test_quarters_and_nine_months_of_one_date_are_told_apart():
    text = (
        "(in thousands)\n\n| | Three Months Ended September 30, 2024 | Nine Months Ended September 30, 2024 |\n"
        "|---|---:|---:|\n"
        "| Revenue | 48,100 | 139,250 |\n| Net income | 4,100 | 9,900 |\n"
    )
    assert verdicts("Revenue was $48.1 million in the third quarter of 2024.", text) == ["equal"]
    assert verdicts("Revenue was $139.25 million in the third quarter of 2024.", text) == ["wrong_period"]
    assert verdicts("Revenue for the nine months ended September 30, 2024 was $139,250 thousand.", text) == ["equal"]
    assert verdicts("Revenue for the nine months ended September 30, 2024 was $48,100 thousand.", text) == [
        "wrong_period"
    ]


def test_a_fiscal_year_is_called_as_its_document_calls_it():
    text = (
        "(in millions)\n\n| | February 3, 2024 | January 28, 2023 |\n|---|---:|---:|\n| Inventories | 310.4 | 287.9 |\n"
    )
    early = Document(
        page_content=text, metadata={"fiscal_year": 2023, "period_end": 20240203, "issuer": "Bralton Stores, Inc."}
    )
    assert verdicts("Inventories were $310.4 million at the end of fiscal 2023.", early) == ["equal"]
    assert verdicts("Inventories were $310.4 million at the end of fiscal 2022.", early) == ["wrong_period"]
    assert verdicts("Inventories were $287.9 million at the end of fiscal 2022.", early) == ["equal"]


def test_the_page_of_a_statement_whose_layout_was_lost():
    text = (
        "CONSOLIDATED BALANCE SHEETS\n(Amounts in millions)\n \nAt December 31, 2019\n \nAt December 31, 2018\nAssets\n"
        " \nCash and cash equivalents\n$\n"
        "5,794\n $\n4,225\nInventories, net\n32\n \n43\nTotal current assets\n7,292\n \n6,106\n"
    )
    assert verdicts("Cash and cash equivalents were $5,794 million in 2019 and $4,225 million in 2018.", text) == [
        "equal",
        "equal",
    ]
    assert verdicts("Total current assets were $6,106 million in 2019.", text) == ["wrong_period"]
    assert verdicts("Inventories, net were $43 million in 2018.", text) == ["equal"]


def test_strict_lets_only_what_is_printed_pass():
    evidence = "Net sales were $1,356.2 million in 2024, up 9.9 %."
    assert verify_figures("Net sales were $1,356.2 million in 2024.", evidence, strict=True).ok
    report = verify_figures("Net sales were $1.36 billion in 2024.", evidence, strict=True)
    assert not report.ok
    assert report.figures[0].verdict == "rounded"


def test_facts_prove_what_the_evidence_does_not_print():
    fact = Fact("BRAL", "us-gaap:Assets", "", "2024-12-31", "USD", Decimal(2_345_000_000))
    answer = "Total assets were $2,345 million in 2024."
    assert verdicts(answer) == ["unsupported"]
    assert verdicts(answer, facts=[fact]) == ["fact"]
    assert verdicts(answer.replace("2024", "2023"), facts=[fact]) == ["unsupported"]
    assert verdicts(answer.replace("Total assets", "Goodwill"), facts=[fact]) == ["unsupported"]


def test_the_report_is_one_json_record_with_places():
    prefix = "Intro.\n\n"
    chunk = Document(
        page_content=INCOME, metadata={**TABLE.metadata, "spans": f"{len(prefix)}-{len(prefix) + len(INCOME)}"}
    )
    report = verify_figures("Net sales were $1,356.2 million in 2024.", chunk)
    record = json.loads(json.dumps(report.record()))
    figure = record["figures"][0]
    start, end = figure["evidence_span"]
    assert "1,356.2" in INCOME[start:end]
    assert figure["source_span"] == [start + len(prefix), end + len(prefix)]
    assert (figure["doc_id"], figure["label"]) == ("D1", "Net sales")
    assert record["ok"] is True


def test_figures_of_the_answer_are_placed_in_the_answer():
    answer = "— Ünïcode: net sales were $1,356.2 million (2024)."
    (figure,) = verify_figures(answer, TABLE).figures
    assert figure.span.slice(answer) == "$1,356.2 million"


def test_no_evidence_supports_nothing():
    assert verdicts("Net sales were $5 million.", []) == ["unsupported"]
    assert verify_figures("There is nothing to report.", []).ok
    with pytest.raises(InputError, match="documents or texts"):
        verify_figures("x", [1])


def test_small_numbers_in_words_are_evidence():
    assert verify_figures("It has 3 segments.", "The company has three segments.").ok
    assert not verify_figures("It has 4 segments.", "The company has three segments.").ok


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three months ended June 30, 2024", [(2024, 6, "", 3)]),
        ("Q3 FY24 and 3Q23", [(2024, 0, "Q3", 3), (2023, 0, "Q3", 3)]),
        ("el tercer trimestre de 2024", [(2024, 0, "Q3", 3)]),
        ("a 31 de diciembre de 2024 y 2023", [(2024, 12, "", 0), (2023, 12, "", 0)]),
        ("los nueve primeros meses de 2024", [(2024, 0, "", 9)]),
        ("it may rise by 20 may be", []),
        ("$2024 and 2,023", []),
    ],
)
def test_periods_are_read(text, expected):
    assert [(one.year, one.month, one.part, one.months) for one in read_periods(text)] == expected


@given(st.decimals(min_value=1, max_value=99_999, places=1), st.integers(0, 2))
def test_a_figure_that_is_printed_passes_and_its_double_does_not(value, year):
    head = "(in millions)\n\n| | 2024 | 2023 | 2022 |\n|---|---|---|---|\n"
    text = head + f"| Backlog | {value:,} | {value * 3:,} | {value * 7:,} |\n"
    amount, when = value * (1, 3, 7)[year], 2024 - year
    assert verify_figures(f"Backlog was ${amount:,} million in {when}.", text).ok
    assert not verify_figures(f"Backlog was ${amount * 2:,} million in {when}.", text).ok


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_is_read_without_an_error(answer, evidence):
    json.dumps(verify_figures(answer, evidence).record())


def test_a_table_in_the_answer_is_read_by_rows_and_columns():
    answer = (
        "Here are the figures (in millions):\n\n| Metric | 2024 | 2023 |\n|---|---:|---:|\n"
        "| Net sales | 1,356.2 | 1,234.5 |\n"
        "| Gross profit | 474.4 | 540.8 |\n"
    )
    report = verify_figures(answer, TABLE)
    assert [one.verdict for one in report.figures] == ["equal", "equal", "wrong_period", "wrong_period"]


def test_a_period_in_brackets_belongs_to_the_figure_beside_it():
    evidence = "Net income was $150.9 million ($118.2 million in 2023) in the year under review."
    assert verdicts("Net income was $118.2 million in 2023.", evidence) == ["verbatim"]


@pytest.mark.parametrize(
    ("answer", "passes"),
    [
        ("Net sales rose from $1,234.5 to $1,356.2 million in 2024.", True),
        ("Net sales rose from $1,334.5 to $1,356.2 million in 2024.", False),
        (
            "It had gross profit of $540.8 million and spent $104.7 million on purchases of property and equipment.",
            True,
        ),
        (
            "Operating income rose to $212.7 million (2023: $171.3 million), while net income reached $150.9 million.",
            True,
        ),
        (
            "Net sales grew 9.9% to $1,356.2 million in 2024, while net income rose from $118.2 to $150.9 million.",
            True,
        ),
        ("Gross margin was between 38.4 and 39.9% in 2023 and 2024.", True),
        ("Net income rose 27.7% ($32.7 million) in 2024.", True),
        ("Net income rose 27.7% ($23.7 million) in 2024.", False),
    ],
)
def test_sentences_with_several_figures(answer, passes):
    report = verify_figures(answer, TABLE)
    assert report.ok is passes, [(one.text, one.verdict, one.reason) for one in report.figures]
