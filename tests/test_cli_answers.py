"""The commands over facts and answers."""

from __future__ import annotations

import json

import pytest

from fin_rag.cli import main

STATEMENTS = """# Bralton Widgets, Inc. annual report 2024

CONSOLIDATED BALANCE SHEETS
(in thousands)

| | December 31, 2024 | December 31, 2023 |
|---|---:|---:|
| Cash and cash equivalents | $1,200 | $900 |
| Inventories | 300 | 250 |
| Total assets | $1,500 | $1,150 |
| Total liabilities | 400 | 300 |
| Shareholders' equity | 1,100 | 850 |

## Litigation

A supplier has sued the company over a late delivery.
"""


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path, capsys):
    (tmp_path / "report.md").write_text(STATEMENTS)
    facts = {
        "cik": 7001234,
        "entityName": "Bralton Widgets, Inc.",
        "facts": {
            "us-gaap": {
                "Revenues": {
                    "units": {
                        "USD": [
                            {
                                "start": f"{year}-01-01",
                                "end": f"{year}-12-31",
                                "val": value,
                                "accn": f"A-{year}",
                                "fy": year,
                                "fp": "FY",
                                "form": "10-K",
                                "filed": f"{year + 1}-02-01",
                            }
                            for year, value in ((2023, 1_000_000), (2024, 1_100_000))
                        ]
                    }
                }
            }
        },
    }
    (tmp_path / "facts.json").write_text(json.dumps(facts))
    more = (
        "--set",
        "issuer=Bralton Widgets, Inc.",
        "--set",
        "ticker=BRAL",
        "--set",
        "fiscal_year=2024",
        "--set",
        "period_end=20241231",
    )
    assert run("ingest", tmp_path / "report.md", "--index", tmp_path / "index", *more) == 0
    capsys.readouterr()
    return tmp_path


def loaded(folder, capsys):
    assert run("facts", "load", folder / "facts.json", "--ticker", "BRAL", "--index", folder / "index") == 0
    assert "2 facts added" in capsys.readouterr().out


def test_facts_are_loaded_and_read_as_of_a_date(folder, capsys):
    loaded(folder, capsys)
    index = ("--index", folder / "index")
    assert run("facts", "get", "BRAL", "ingresos", "FY2024", *index) == 0
    assert "1,100,000 USD" in capsys.readouterr().out
    assert run("facts", "get", "BRAL", "revenue", "FY2024", "--as-of", "2025-01-31", *index, "--json") == 1
    assert json.loads(capsys.readouterr().out)["nearest"][0]["value"] == "1000000"
    assert run("facts", "series", "BRAL", "revenue", *index) == 0
    assert capsys.readouterr().out.count("us-gaap:Revenues") == 2
    assert run("facts", "ratio", "BRAL", "gross margin", "FY2024", *index) == 1
    assert "gross_profit is not reported" in capsys.readouterr().out
    assert run("facts", "list", *index, "--json") == 0
    assert json.loads(capsys.readouterr().out)["issuers"][0]["ticker"] == "BRAL"
    assert run("facts", "get", "NONE", "revenue", "FY2024", *index) == 2


def test_ask_takes_the_route_that_fits(folder, capsys):
    loaded(folder, capsys)

    def asked(question):
        run("ask", question, "--index", folder / "index", "--json")
        return json.loads(capsys.readouterr().out)

    assert (
        asked("What was Bralton's revenue in FY2024?")["answer"]
        == "Revenue of Bralton Widgets, Inc. (FY2024): $1.1 million [1]"
    )
    assert asked("What was Bralton's revenue in FY2024?")["route"] == "facts"
    assert asked("How much did Bralton's revenue grow from 2023 to 2024?")["route"] == "facts+code"
    statements = asked("What were Bralton's total assets in FY2024?")
    assert (statements["route"], statements["value"]) == ("statements", "1500000")
    start, end = statements["sources"][0]["span"]
    assert "1,500" in STATEMENTS[start:end]
    assert asked("Who has sued Bralton?")["route"] == "evidence"
    refused = asked("What was Norvella's revenue in FY2024?")
    assert (refused["route"], refused["answer"]) == ("none", "NO_DISPONIBLE")
    assert "Norvella" in refused["reason"]


def test_ask_refuses_in_words_and_with_an_exit_code(folder, capsys):
    assert run("ask", "What was Norvella's revenue in FY2024?", "--index", folder / "index") == 1
    assert "NO_DISPONIBLE" in capsys.readouterr().out


def test_verify_names_what_fails(folder, capsys):
    answer = folder / "answer.txt"
    answer.write_text("Total assets were $1,500 thousand in 2024 and $1,250 thousand in 2023.")
    assert run("verify", f"@{answer}", "--evidence", folder / "report.md") == 1
    out = capsys.readouterr().out
    assert "ok    $1,500 thousand" in out
    assert "FAIL  $1,250 thousand" in out
    assert run("verify", "Net sales were $5 million.", "--text", "Net sales: $5 million", "--json") == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True
    assert run("verify", "Net sales were $5 million.") == 2
    assert (
        run("verify", "Total assets were $1,500 thousand in 2024.", "--index", folder / "index", "--document", "none")
        == 2
    )


def test_a_model_has_to_be_named_with_its_provider(folder, capsys):
    assert run("ask", "x", "--index", folder / "index", "--llm", "something") == 2
    assert "PROVIDER:MODEL" in capsys.readouterr().err
