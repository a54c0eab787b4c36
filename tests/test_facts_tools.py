"""Tools, ratios and the calculator."""

from __future__ import annotations

import contextlib
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import ToolException

from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts import FactStore, calculate, calculator, compute_ratio, concept_map, fact_tools, ratio_names
from fin_rag.facts.ratios import compute_growth, find_ratio, ratio_map

FIGURES = {
    "us-gaap:Revenues": (1000, 1100, 1210),
    "us-gaap:CostOfRevenue": (600, 640, 700),
    "us-gaap:GrossProfit": (400, 460, 510),
    "us-gaap:OperatingIncomeLoss": (150, 160, 180),
    "us-gaap:NetIncomeLoss": (100, 110, 121),
    "us-gaap:IncomeTaxExpenseBenefit": (25, 28, 30),
    "us-gaap:IncomeLossFromContinuingOperationsBeforeIncomeTaxesExtraordinaryItemsNoncontrollingInterest": (
        125,
        138,
        151,
    ),
}
BALANCES = {
    "us-gaap:Assets": (900, 1000, 1200),
    "us-gaap:StockholdersEquity": (400, 450, 550),
    "us-gaap:AssetsCurrent": (300, 350, 420),
    "us-gaap:LiabilitiesCurrent": (200, 200, 210),
    "us-gaap:InventoryNet": (80, 100, 120),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with FactStore.open(tmp_path_factory.mktemp("facts")) as opened:
        rows = []
        for at, year in enumerate((2022, 2023, 2024)):
            base = {
                "ticker": "BRAL",
                "unit": "USD",
                "form": "10-K",
                "accession": f"A-{year}",
                "filed": f"{year + 1}-02-01",
            }
            rows += [
                base | {"concept": tag, "start": f"{year}-01-01", "end": f"{year}-12-31", "value": values[at]}
                for tag, values in FIGURES.items()
            ]
            rows += [
                base | {"concept": tag, "end": f"{year}-12-31", "value": values[at]} for tag, values in BALANCES.items()
            ]
        opened.add_table(rows)
        yield opened


def call(store, name, **arguments):
    tool = next(one for one in fact_tools(store) if one.name == name)
    return json.loads(tool.invoke(arguments))


def test_look_up_cites_the_filing(store):
    record = call(store, "xbrl_lookup", issuer="BRAL", concept="ingresos", period="FY2023")
    assert record["fact"]["value"] == "1100"
    assert record["fact"]["sources"][0]["accession"] == "A-2023"


def test_not_reported_is_an_answer_with_the_nearest(store):
    record = call(store, "xbrl_lookup", issuer="BRAL", concept="revenue", period="FY2019")
    assert record["found"] is False
    assert record["nearest"][0]["end"] == "2022-12-31"
    record = call(store, "xbrl_lookup", issuer="BRAL", concept="revenue", start="2020-01-01", end="2020-12-31")
    assert record["found"] is False
    assert record["nearest"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"issuer": "NONE", "concept": "revenue", "period": "FY2023"},
        {"issuer": "BRAL", "concept": "no such thing", "period": "FY2023"},
        {"issuer": "BRAL", "concept": "revenue", "period": "last year"},
        {"issuer": "BRAL", "concept": "revenue"},
    ],
)
def test_what_the_model_can_correct_raises(store, arguments):
    with pytest.raises(ToolException):
        call(store, "xbrl_lookup", **arguments)


def test_a_model_never_sees_beyond_the_point_in_time(store):
    tools = {one.name: one for one in fact_tools(store, as_of="2024-06-30")}
    late = {"issuer": "BRAL", "concept": "revenue", "period": "FY2024", "as_of": "2030-01-01"}
    assert json.loads(tools["xbrl_lookup"].invoke(late))["found"] is False
    series = json.loads(tools["xbrl_series"].invoke({"issuer": "BRAL", "concept": "revenue", "as_of": "2030-01-01"}))
    assert [one["end"] for one in series["points"]] == ["2022-12-31", "2023-12-31"]
    early = {"issuer": "BRAL", "ratio": "net margin", "period": "FY2023", "as_of": "2023-06-30"}
    assert json.loads(tools["ratio_calculator"].invoke(early))["value"] is None


async def test_tools_also_run_async(store):
    for tool in fact_tools(store):
        if tool.name == "xbrl_lookup":
            content = await tool.ainvoke({"issuer": "BRAL", "concept": "revenue", "period": "FY2024"})
            assert json.loads(content)["fact"]["value"] == "1210"


def test_a_tool_call_carries_the_record_as_artifact(store):
    tool = fact_tools(store)[0]
    message = tool.invoke(
        {
            "type": "tool_call",
            "id": "1",
            "name": tool.name,
            "args": {"issuer": "BRAL", "concept": "revenue", "period": "FY2024"},
        }
    )
    assert message.artifact["fact"]["value"] == "1210"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("gross margin", "42.149"),
        ("margen neto", "10"),
        ("current ratio", "2"),
        ("ROE", "24.2"),
        ("asset turnover", "1.1"),
        ("inventory turnover", "6.364"),
        ("working capital", "210"),
        ("effective tax rate", "19.868"),
        ("días de inventario", "57.357"),
    ],
)
def test_ratios(store, name, value):
    result = compute_ratio(store, "BRAL", name, "FY2024")
    assert result.value.quantize(Decimal("0.001")) == Decimal(value).quantize(Decimal("0.001"))
    assert all(fact.source.accession for fact in result.inputs.values())


def test_a_ratio_without_an_input_says_which(store):
    result = compute_ratio(store, "BRAL", "interest coverage", "FY2024")
    assert result.value is None
    assert result.reason == "interest_expense is not reported"
    assert "total_assets of the period before" in compute_ratio(store, "BRAL", "roa", "FY2022").reason


def test_growth_over_one_year_and_over_several(store):
    assert compute_growth(store, "BRAL", "revenue", "FY2024").value == 10
    result = compute_growth(store, "BRAL", "revenue", "FY2024", since="FY2022")
    assert (result.ratio.id, result.value) == ("cagr", 10)
    with pytest.raises(InputError, match="earlier period"):
        compute_growth(store, "BRAL", "revenue", "FY2022", since="FY2024")


def test_every_ratio_names_line_items_of_the_concept_map():
    assert len(ratio_names()) >= 40
    known = {one.id for one in concept_map().concepts}
    for ratio in ratio_map().values():
        assert set(ratio.inputs) <= known, ratio.id
        assert find_ratio(ratio.label_es).id
        assert find_ratio(ratio.label_en).id == ratio.id
    with pytest.raises(NotFoundError, match="Known:"):
        find_ratio("magic number")


def test_no_name_stands_for_two_line_items():
    seen: dict[str, str] = {}
    from fin_rag.facts.concepts import name_key

    for one in concept_map().concepts:
        for name in {name_key(name) for name in one.names}:
            assert seen.setdefault(name, one.id) == one.id, name


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", "14"),
        ("(1,234.5 + 0.5) / 5", "247"),
        ("$1,200 - 12.5% * 800", "1100"),
        ("percent_change(80, 100)", "25"),
        ("max(1,200)", "200"),
        ("2 ** 10", "1024"),
        ("0.1 + 0.2", "0.3"),
        ("sum(1, 2, 3) / 3", "2"),
        ("-(5)", "-5"),
    ],
)
def test_the_calculator_counts_exactly(expression, value):
    assert calculate(expression) == Decimal(value)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1 / 0",
        "__import__('os')",
        "9 ** 9999999",
        "a.b",
        "open('x')",
        "(lambda: 1)()",
        "[1]",
        "1 if 1 else 2",
        "1e999999",
        "0x10",
        "-" * 200 + "1",
    ],
)
def test_the_calculator_refuses_everything_else(expression):
    with pytest.raises(InputError):
        calculate(expression)


@given(st.text(max_size=80))
def test_the_calculator_never_fails_otherwise(expression):
    with contextlib.suppress(InputError):
        assert isinstance(calculate(expression), Decimal)


def test_the_calculator_tool_reports_errors_to_the_model():
    with pytest.raises(ToolException, match="divides by zero"):
        calculator().invoke({"expression": "1/0"})
