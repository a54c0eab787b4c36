from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import InputError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.cover import period_end, registrant, trading_symbol, year_name
from fin_rag.loaders.dates import add_months, as_date_number, find_dates
from fin_rag.loaders.filename import read_name
from fin_rag.loaders.metadata import caller_metadata, document_metadata
from fin_rag.loaders.titlepage import call_date, find_title, read_title_page
from fin_rag.schema import KEY_TYPES

CHARTER = "(Exact name of registrant as specified in its charter)"
TEN_K = f"""SECURITIES AND EXCHANGE COMMISSION

FORM 10-K

For the fiscal year ended January 28, 2024

ORBITAL STORES, INC.

{CHARTER}

| Title of each class | Trading Symbol(s) | Name of each exchange on which registered |
| --- | --- | --- |
| 1.125% Notes due 2027 | ORB27 | New York Stock Exchange |
| Common Stock, $0.05 par value | ORBT | New York Stock Exchange |

PART I

Fiscal 2023 was good. Fiscal 2023 and fiscal 2022 had 52 weeks. We expect fiscal 2024 to be better.
"""


def settle(text: str, **kwargs: object) -> dict[str, object]:
    name = str(kwargs.pop("name", ""))
    hints = kwargs.pop("hints", {})
    return dict(document_metadata(LoadedText(text, hints=hints), name=name, caller=kwargs))  # type: ignore[arg-type]


def test_cover_of_an_annual_filing() -> None:
    found = settle(TEN_K)
    assert found["doc_type"] == "10-K"
    assert found["issuer"] == "ORBITAL STORES, INC."
    assert found["ticker"] == "ORBT"
    assert (found["period_end"], found["fiscal_year"], found["fiscal_period"]) == (20240128, 2023, "FY")
    assert found["title"] == "10-K 2023"
    assert len(str(found["doc_id"])) == 16
    assert "filed" not in found
    assert "cik" not in found


def test_strength_of_sources() -> None:
    hints = {"issuer": "Orbital Stores Inc", "fiscal_year": 2024, "doc_id": "0000123456-24-000007"}
    found = settle(TEN_K, hints=hints, name="10-K_OTHR_0000999999-20-000001.htm", fiscal_year=2022)
    assert found["fiscal_year"] == 2022  # the caller
    assert found["issuer"] == "Orbital Stores Inc"  # the format
    assert found["ticker"] == "ORBT"  # the cover
    assert found["doc_id"] == "0000123456-24-000007"


def test_file_name_fills_only_gaps() -> None:
    found = settle("Some words about bolts.", name="10-K_ORBT_0000999999-20-000001.htm")
    assert found["doc_type"] == "10-K"
    assert found["ticker"] == "ORBT"
    assert found["doc_id"] == "0000999999-20-000001"
    assert "fiscal_year" not in found
    assert settle("# Circular 7/2031\n\nNorma 1. Objeto.", name="memo_2024.md").get("fiscal_year") is None


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ORBITAL_2023Q2_10Q.pdf", {"doc_type": "10-Q", "fiscal_year": 2023, "fiscal_period": "Q2"}),
        ("ORBITAL_2021_10K.pdf", {"doc_type": "10-K", "fiscal_year": 2021}),
        ("ORBITAL_2022_8K_dated-2022-07-01.pdf", {"doc_type": "8-K"}),
        ("orbt-20240928.htm", {"ticker": "ORBT", "period_end": 20240928}),
        ("memo-20240301.md", {}),
        ("orbt-20241399.htm", {"ticker": "ORBT"}),
        (
            "1000180_10K_2010_0001000180-10-000008.txt",
            {"doc_id": "0001000180-10-000008", "doc_type": "10-K", "cik": "0001000180"},
        ),
        ("0001000180-10-000008-ex99.htm", {"doc_id": "0001000180-10-000008-ex99"}),
        ("000100018010000008.txt", {"doc_id": "0001000180-10-000008"}),
        ("10-K_DRAFT_2024.html.gz", {"doc_type": "10-K", "fiscal_year": 2024, "ticker": "DRAFT"}),
        ("10-K_FINAL.html", {"doc_type": "10-K"}),
        ("notes.txt", {}),
    ],
)
def test_file_names(name: str, found: dict[str, object]) -> None:
    assert read_name(name) == found


@pytest.mark.parametrize(
    ("page", "name"),
    [
        (f"ORBITAL PLC\n\n{CHARTER}", "ORBITAL PLC"),
        (
            f"Commission File Number 1-22\n------\nINTERNATIONAL BOLTS\nCORPORATION\n____\n{CHARTER}",
            "INTERNATIONAL BOLTS CORPORATION",
        ),
        (f"**ORBITAL, INC.** {CHARTER}", "ORBITAL, INC."),
        ("For the year ended June 30, 2020\n(Exact name of registrant as specified in its charter)", ""),
        ("| 1-2672 | Orbital Gas and Electric Company | 61-0264150 |", "Orbital Gas and Electric Company"),
        ("Commission File No. 1-434\n\nTHE ORBITAL COMPANY\n\nOne Plaza", "THE ORBITAL COMPANY"),
        ("Text.\n\nTHE ORBITAL COMPANY\n(REGISTRANT)\nBy: /s/ Ann Ek", "THE ORBITAL COMPANY"),
        ("No name at all", ""),
    ],
)
def test_registrants(page: str, name: str) -> None:
    assert registrant(page) == name


@pytest.mark.parametrize(
    ("row", "symbol"),
    [
        ("Common Stock, $0.01 par value ORBT The Nasdaq Stock Market LLC", "ORBT"),
        ("Class B Shares | ORB.B | NYSE", "ORB.B"),
        ("1.0% Notes due 2030 ORB30 New York Stock Exchange", ""),
        ("COMMON STOCK NEW YORK STOCK EXCHANGE", ""),
        ("Contingent Value Rights | CELG RT | New York Stock Exchange", ""),
    ],
)
def test_trading_symbols(row: str, symbol: str) -> None:
    assert trading_symbol(f"Title of each class Trading Symbol(s)\n{row}") == symbol
    assert trading_symbol(row) == ""  # without the table's head there is no telling


@pytest.mark.parametrize(
    ("page", "doc_type", "end"),
    [
        ("For the fiscal year ended\nDecember 31, 2023", "10-K", 20231231),
        ("FOR THE FISCAL YEAR ENDED MAY 31, 2021", "10-K", 20210531),
        ("For the year (52 weeks) ended Dec. 26, 2020", "10-K", 20201226),
        (
            "For the Quarterly Period Ended March 31, 2021\nas amended for the year ended December 31, 2020",
            "10-Q",
            20210331,
        ),
        ("December 31, 2023\n(For the fiscal year ended)", "10-K", 20231231),
        ("For the fiscal year ended February 30, 2023", "10-K", None),
        ("PART I\nIn the fiscal year ended June 30, 2020 we grew.", "10-K", None),
        ("Date of Report (Date of earliest event reported): May 3, 2023", "8-K", 20230503),
        ("Date of Report (Date of earliest event reported): July 1, 2022 (June 30, 2022)", "8-K", 20220630),
        ("May 3, 2023\nDate of Report (Date of earliest event reported)", "8-K", 20230503),
    ],
)
def test_period_ends(page: str, doc_type: str, end: int | None) -> None:
    assert period_end(page, doc_type) == end


@pytest.mark.parametrize(
    ("body", "end", "year"),
    [
        ("", 20231231, 2023),
        ("", 20240128, 2023),
        ("Fiscal 2024 and fiscal 2023. " * 9, 20240131, 2024),
        ("Fiscal 2023 and fiscal 2022. Fiscal 2024 will be better." * 1 + "fiscal 2023 " * 9, 20240128, 2023),
        (
            "fiscal year 2018 refers to the year ended January 31, 2018. fiscal 2017 fiscal 2017 fiscal 2017",
            20180131,
            2018,
        ),
        ("", 20210103, 2020),
    ],
)
def test_the_filer_names_its_year(body: str, end: int, year: int) -> None:
    assert year_name(body, end) == year


@pytest.mark.parametrize(
    ("body", "end", "year", "period"),
    [
        (
            "three and six months ended December 31, 2022; six months ended December 31, 2022.",
            "December 31, 2022",
            2023,
            "Q2",
        ),
        ("three months ended March 31, 2021", "March 31, 2021", 2021, "Q1"),
        (
            "36 weeks ended September 3, 2022. " * 4 + "12 weeks ended September 3, 2022. " * 4,
            "September 3, 2022",
            2022,
            "Q3",
        ),
        (
            "nine months ended October 29, 2023. three months ended October 29, 2023. " * 3 + "fiscal 2023 " * 5,
            "October 29, 2023",
            2023,
            "Q3",
        ),
    ],
)
def test_quarters(body: str, end: str, year: int, period: str) -> None:
    found = settle(f"FORM 10-Q\nFor the quarterly period ended {end}\nORBITAL INC\n{CHARTER}\nPART I\n{body}")
    assert (found["fiscal_year"], found["fiscal_period"]) == (year, period)
    assert found["title"] == f"10-Q {year} {period}"


def test_spanish_annual_report() -> None:
    text = (
        "# Orbital Renovables, S.A. y sociedades dependientes\n\n"
        "**Informe anual correspondiente al ejercicio terminado el 31 de diciembre de 2024**\n\n"
        "Estimados accionistas: las ventas de la sociedad crecieron en el año."
    )
    found = settle(text)
    assert found["doc_type"] == "annual_report"
    assert found["issuer"] == "Orbital Renovables, S.A."
    assert (found["period_end"], found["fiscal_year"], found["fiscal_period"]) == (20241231, 2024, "FY")
    assert found["lang"] == "es"
    assert found["title"] == "Informe anual 2024"


def test_kid() -> None:
    text = (
        "# Documento de datos fundamentales\n\n| Nombre del producto | Orbital Prudente, FI, clase A |\n"
        "| ISIN | ES0199876402 |\n| Productor | Gestora Orbital, SGIIC, S.A. |\n\n"
        "## ¿Qué es este producto?\n\nEs un fondo de inversión."
    )
    found = settle(text)
    assert found["issuer"] == "Gestora Orbital, SGIIC, S.A."
    assert found["isin"] == "ES0199876402"
    assert found["title"] == "Orbital Prudente, FI, clase A — Documento de datos fundamentales"


def test_call_title_page() -> None:
    text = (
        "Orbital (ORBT)\n\nCall for the period ending June 29, 2024.\n\nQ4 2024 Earnings Call\n"
        "Aug 8, 2024, 8:30 a.m. ET\n\nOperator\n\nHi."
    )
    found = settle(text)
    assert (found["issuer"], found["ticker"]) == ("Orbital", "ORBT")
    assert (found["fiscal_year"], found["fiscal_period"]) == (2024, "Q4")
    assert (found["period_end"], found["filed"]) == (20240629, 20240808)
    assert call_date("A talk about June 3, 2020 and many other things that happened in the course of the year.") is None


def test_press_release() -> None:
    text = (
        "Orbital Reports First-Quarter 2023 Results\n\n"
        "BERN - April 25, 2023 - Orbital, Inc. (NASDAQ: ORBT) today reported."
    )
    found = settle(text)
    assert (found["doc_type"], found["ticker"]) == ("report", "ORBT")
    assert (found["fiscal_year"], found["fiscal_period"]) == (2023, "Q1")
    assert "filed" not in found


def test_a_report_that_mentions_periods_has_none_of_its_own() -> None:
    found = settle("# Sample notes\n\nThe Q1 2025 report of the year ended July 1, 2023 is good.")
    assert not {"fiscal_year", "fiscal_period", "period_end", "issuer"} & found.keys()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('---\ntitle: "Ley 9/2031, de depósitos"\n---\n# Other', "Ley 9/2031, de depósitos"),
        ("Índice\n\n## Circular 7/2031", "Circular 7/2031"),
        ("Exhibit 99.1\n\nOrbital reports results", "Orbital reports results"),
        ("x" * 50 + " " + "y" * 100, "x" * 50),
        ("", ""),
    ],
)
def test_titles(text: str, title: str) -> None:
    assert find_title(text) == title


def test_the_line_that_names_the_act_is_its_title() -> None:
    page = read_title_page("2009L0065 — EN — 003.001\n\nDIRECTIVE 2009/65/EC OF THE COUNCIL\n\nText.", "regulation")
    assert page["title"] == "DIRECTIVE 2009/65/EC OF THE COUNCIL"


def test_title_pages_of_laws_state_no_periods() -> None:
    assert read_title_page("# Ley 9/2024, de 3 de mayo\n\nEjercicio 2024", "regulation") == {
        "title": "Ley 9/2024, de 3 de mayo",
        "act": "Ley 9/2024",
        "act_date": 20240503,
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"filed": date(2024, 2, 1)}, {"filed": 20240201}),
        ({"filed": datetime(2024, 2, 1, 9, 30)}, {"filed": 20240201}),  # noqa: DTZ001 - a date is read off it
        ({"period_end": "2024-02-01T00:00:00Z"}, {"period_end": 20240201}),
        ({"fiscal_year": "2024"}, {"fiscal_year": 2024}),
        ({"cik": 320193}, {"cik": "0000320193"}),
        ({"doc_type": "form 10-k"}, {"doc_type": "10-K"}),
        ({"doc_type": "Annual Report"}, {"doc_type": "annual_report"}),
        ({"doc_type": "proxy"}, {"doc_type": "proxy"}),
        ({"ticker": "orbt", "lang": "ES"}, {"ticker": "ORBT", "lang": "es"}),
        ({"desk": "rates", "tags": ("a", "b"), "none": None}, {"desk": "rates", "tags": ["a", "b"]}),
        ({"source_scope": "private", "session_id": "s1"}, {"source_scope": "private", "session_id": "s1"}),
    ],
)
def test_caller_values_are_normalised(given: dict[str, object], kept: dict[str, object]) -> None:
    assert caller_metadata(given) == kept


@pytest.mark.parametrize(
    "given",
    [
        {"filed": "yesterday"},
        {"filed": 20240231},
        {"filed": True},
        {"fiscal_year": "FY24"},
        {"fiscal_year": 24},
        {"fiscal_period": "H1"},
        {"cik": "12-34"},
        {"issuer": 7},
        {"doc_type": "earning_call"},
        {"doc_type": ""},
        {"lang": "Spanish"},
        {"source_scope": "secret"},
        {"source_scope": "private"},
        {"session_id": "s1"},
        {"extra": {"nested": 1}},
    ],
)
def test_wrong_caller_values_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(InputError):
        caller_metadata(given)


def test_hints_of_a_wrong_type_are_dropped_not_trusted() -> None:
    found = settle("Text", hints={"fiscal_year": "2024", "period_end": "x", "fiscal_period": "H1", "issuer": ""})
    assert not {"fiscal_year", "period_end", "fiscal_period", "issuer"} & found.keys()


@given(st.text(max_size=300), st.text(alphabet="10-KQ_ABC.2023pdf", max_size=25))
def test_any_document_gets_flat_typed_metadata(text: str, name: str) -> None:
    for key, value in settle(text, name=name).items():
        assert isinstance(value, KEY_TYPES.get(key, str))


@given(st.dates(date(1900, 1, 1), date(2199, 12, 31)))
def test_dates_come_back(day: date) -> None:
    number = as_date_number(day, key="filed")
    assert as_date_number(day.isoformat(), key="filed") == number
    assert as_date_number(number, key="filed") == number
    assert [value for _, value in find_dates(f"on {day:%d} de enero de 2024, {day.isoformat()}")][-1:] in (
        [number],
        [20240100 + day.day],
    )
    assert add_months(number, 0) // 100 == number // 100
