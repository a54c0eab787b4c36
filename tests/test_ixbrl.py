"""Inline XBRL: values, contexts, units, spans, continuations, hints."""

from __future__ import annotations

import gzip
import importlib.util
import re
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.html import read_html
from fin_rag.loaders.ixbrl_values import format_name, read_number, read_text
from fin_rag.schema import InlineFact

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "sec"

HEADER = """
<div style="display:none"><ix:header><ix:hidden>
<ix:nonNumeric contextRef="fy" name="dei:EntityCentralIndexKey">0000012345</ix:nonNumeric>
<ix:nonNumeric contextRef="fy" name="dei:DocumentFiscalYearFocus">2024</ix:nonNumeric>
<ix:nonNumeric contextRef="fy" name="dei:DocumentFiscalPeriodFocus">FY</ix:nonNumeric>
<ix:nonFraction contextRef="end" unitRef="usd" name="us-gaap:Commitments" xs:nil="true" decimals="0"/>
</ix:hidden><ix:resources>
<xbrli:context id="fy"><xbrli:entity><xbrli:identifier scheme="s">0000012345</xbrli:identifier></xbrli:entity>
<xbrli:period><xbrli:startDate>2024-01-01</xbrli:startDate><xbrli:endDate>2024-12-31</xbrli:endDate></xbrli:period>
</xbrli:context>
<xbrli:context id="end"><xbrli:entity><xbrli:segment>
<xbrldi:explicitMember dimension="srt:ProductAxis"> acme:WidgetMember </xbrldi:explicitMember>
<xbrldi:typedMember dimension="acme:PlanAxis"><acme:Plan>Plan 7</acme:Plan></xbrldi:typedMember>
</xbrli:segment></xbrli:entity><xbrli:period><xbrli:instant>2024-12-31</xbrli:instant></xbrli:period></xbrli:context>
<xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
<xbrli:unit id="eps"><xbrli:divide><xbrli:unitNumerator><xbrli:measure>iso4217:USD</xbrli:measure>
</xbrli:unitNumerator><xbrli:unitDenominator><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unitDenominator>
</xbrli:divide></xbrli:unit>
</ix:resources></ix:header></div>
"""


def load(body: str, header: str = HEADER) -> LoadedText:
    return read_html((header + body).encode())


def shown(loaded: LoadedText) -> list[InlineFact]:
    return [fact for fact in loaded.markup.facts if fact.span is not None]


def printed(loaded: LoadedText, fact: InlineFact) -> str:
    assert fact.span is not None
    return fact.span.slice(loaded.text)


def fraction(text: str, **attrib: str) -> str:
    given_attributes = {"contextRef": "fy", "unitRef": "usd", "name": "us-gaap:Revenues", **attrib}
    joined = " ".join(f'{name}="{value}"' for name, value in given_attributes.items())
    return f"<ix:nonFraction {joined}>{text}</ix:nonFraction>"


def test_a_fact_in_running_text() -> None:
    number = fraction("1,234.5", scale="6", decimals="-5", format="ixt:num-dot-decimal", id="f1")
    loaded = load(f"<p>Sales were <b>${number}</b> million.</p>")
    (fact,) = shown(loaded)
    assert loaded.text == "Sales were $1,234.5 million."
    assert printed(loaded, fact) == "1,234.5"
    assert fact.value == Decimal("1234500000")
    assert (fact.concept, fact.start, fact.end) == ("us-gaap:Revenues", "2024-01-01", "2024-12-31")
    assert (fact.unit, fact.scale, fact.decimals, fact.fact_id) == ("USD", 6, "-5", "f1")


def test_facts_in_table_cells() -> None:
    minus = fraction("567", sign="-", scale="6", contextRef="end", format="ixt:num-dot-decimal")
    zero = fraction("&#8212;", format="ixt:fixed-zero")
    eps = fraction("6.11", unitRef="eps")
    loaded = load(
        "<table><tr><td></td><td colspan=3>2024</td><td colspan=3>20|23</td></tr>"
        f"<tr><td>Loss | gain</td><td>$</td><td>({minus}</td><td>)</td>"
        f"<td>$</td><td>{zero}</td><td></td></tr>"
        f"<tr><td>Per share</td><td></td><td>{eps}</td><td></td><td></td><td>{eps}</td><td></td></tr></table>"
    )
    assert "| Loss \\| gain | $(567) | $— |" in loaded.text
    loss, nothing, one, other = shown(loaded)
    assert [printed(loaded, fact) for fact in (loss, nothing, one, other)] == ["567", "—", "6.11", "6.11"]
    assert loss.value == Decimal(-567_000_000)
    assert (loss.start, loss.end) == ("", "2024-12-31")
    assert loss.dimensions == (("acme:PlanAxis", "Plan 7"), ("srt:ProductAxis", "acme:WidgetMember"))
    assert nothing.value == 0
    assert one.unit == "USD/shares"
    assert one.span != other.span


def test_nested_facts_share_their_text() -> None:
    inner = fraction("12", name="us-gaap:Inner")
    loaded = load(f"<p>In all {fraction(inner, name='us-gaap:Outer', scale='3')} units</p>")
    outer, within = shown(loaded)
    assert outer.span == within.span
    assert (outer.value, within.value) == (Decimal(12_000), Decimal(12))


def test_hidden_and_nil_facts() -> None:
    loaded = load("<p>Text.</p>")
    by_name = {fact.concept: fact for fact in loaded.markup.facts}
    assert by_name["us-gaap:Commitments"].value is None
    assert all(fact.span is None for fact in by_name.values())
    assert loaded.text == "Text."


def test_a_missing_context_drops_the_fact_with_a_warning() -> None:
    loaded = load(f"<p>{fraction('5', contextRef='gone')} and {fraction('five')}</p>")
    assert shown(loaded) == []
    assert loaded.markup.furniture["fact_without_context"] == 1
    assert loaded.markup.furniture["fact_without_value"] == 1
    assert any("context" in warning for warning in loaded.markup.warnings)
    assert loaded.text == "5 and five"


def test_a_text_block_with_continuations() -> None:
    loaded = load(
        '<ix:nonNumeric contextRef="fy" name="us-gaap:Policy" continuedAt="k1"><p><b>Leases</b></p>'
        "</ix:nonNumeric>"
        '<ix:continuation id="k1" continuedAt="k2"><p>We lease <ix:exclude>[37]</ix:exclude>stores.</p>'
        "</ix:continuation>"
        "<p>Between.</p>"
        '<ix:continuation id="k2" continuedAt="k1"><p>And trucks.</p></ix:continuation>'
    )
    (fact,) = shown(loaded)
    assert fact.value == "Leases\n\nWe lease stores.\n\nAnd trucks."
    assert printed(loaded, fact).endswith("stores.")
    assert "Between" not in printed(loaded, fact)


def test_a_fact_in_a_running_head_keeps_its_value() -> None:
    head = '<p><ix:nonNumeric contextRef="fy" name="acme:Name">Acme</ix:nonNumeric> Form 10-K {n}</p>'
    pages = [f"<p>Text of {word}.</p>{head.format(n=n)}" for n, word in enumerate("abcde", 7)]
    loaded = load('<hr style="page-break-after:always">'.join(pages))
    names = [fact for fact in loaded.markup.facts if fact.concept == "acme:Name"]
    assert [(fact.value, fact.span) for fact in names] == [("Acme", fact.span) for fact in names]
    assert {fact.span.slice(loaded.text) for fact in names} == {"Acme"}
    assert len(names) == 5


def test_hints_come_from_the_cover() -> None:
    loaded = load(
        '<p>Form <ix:nonNumeric contextRef="fy" name="dei:DocumentType">10-K</ix:nonNumeric> for '
        '<ix:nonNumeric contextRef="fy" name="dei:DocumentPeriodEndDate" '
        'format="ixt:date-monthname-day-year-en">December&#160;31, 2024</ix:nonNumeric></p>'
        '<p><ix:nonNumeric contextRef="fy" name="dei:EntityRegistrantName">Acme  Corp.</ix:nonNumeric></p>'
        '<p><ix:nonNumeric contextRef="end" name="dei:TradingSymbol">acme</ix:nonNumeric></p>'
    )
    assert loaded.hints == {
        "issuer": "Acme Corp.",
        "ticker": "ACME",
        "cik": "0000012345",
        "doc_type": "10-K",
        "fiscal_year": 2024,
        "fiscal_period": "FY",
        "period_end": 20241231,
    }


def test_a_fact_in_a_repeated_header_cell_stands_in_the_header() -> None:
    name = '<ix:nonNumeric contextRef="fy" name="acme:Region">Europe</ix:nonNumeric>'
    loaded = load(
        f"<table><tr><td></td><td colspan=2>{name}</td></tr><tr><td></td><td>{name}</td><td>2023</td></tr>"
        "<tr><td>Cash</td><td>1,100</td><td>900</td></tr><tr><td>Debt</td><td>10</td><td>9</td></tr></table>"
    )
    assert [printed(loaded, fact) for fact in shown(loaded)] == ["Europe", "Europe"]


@pytest.mark.parametrize(
    ("raw", "fmt", "value"),
    [
        ("1,234", "ixt:num-dot-decimal", "1234"),
        ("1.234,5", "ixt:num-comma-decimal", "1234.5"),
        ("1 234,5", "ixt:numcommadecimal", "1234.5"),
        ("1\u00a0234.5", "ixt:numdotdecimal", "1234.5"),
        ("0.0167", "", "0.0167"),
        ("—", "ixt:fixed-zero", "0"),
        ("-", "ixt:zerodash", "0"),
        ("no", "ixt-sec:numwordsen", "0"),
        ("Twenty-two", "ixt-sec:numwordsen", "22"),
        ("one hundred and five", "ixt-sec:numwordsen", "105"),
        ("two million, three hundred thousand", "ixt-sec:numwordsen", "2300000"),
    ],
)
def test_numbers(raw: str, fmt: str, value: str) -> None:
    assert read_number(raw, fmt) == Decimal(value)


@pytest.mark.parametrize("raw", ["", "n/a", "1..2", "12 apples", "NaN", "Infinity", "9" * 200])
def test_what_is_no_number(raw: str) -> None:
    assert read_number(raw, "ixt:num-dot-decimal") is None


@pytest.mark.parametrize(
    ("raw", "fmt", "value"),
    [
        ("September 28, 2024", "ixt:date-monthname-day-year-en", "2024-09-28"),
        ("Sept 28, 2024", "ixt:datemonthdayyearen", "2024-09-28"),
        ("9/28/24", "ixt:date-month-day-year", "2024-09-28"),
        ("28.9.2024", "ixt:date-day-month-year", "2024-09-28"),
        ("December 2024", "ixt:date-monthname-year-en", "2024-12"),
        ("December 31", "ixt:date-monthname-day-en", "--12-31"),
        ("12/30", "ixt:date-month-day", "--12-30"),
        ("some day", "ixt:date-month-day", "some day"),
        ("☐", "ixt:fixed-false", "false"),
        ("☒", "ixt-sec:boolballotbox", "true"),
        ("☐", "ixt-sec:boolballotbox", "false"),
        ("2.5", "ixt-sec:duryear", "P2Y6M"),
        ("84", "ixt-sec:durday", "P84D"),
        ("two years, six months", "ixt-sec:durwordsen", "P2Y6M"),
        ("soon", "ixt-sec:durwordsen", "soon"),
        ("Delaware", "", "Delaware"),
    ],
)
def test_texts(raw: str, fmt: str, value: str) -> None:
    assert read_text(raw, fmt) == value


@given(st.decimals(0, 10**12, allow_nan=False, places=2))
def test_printed_numbers_are_read_back(value: Decimal) -> None:
    assert read_number(f"{value:,}", "ixt:num-dot-decimal") == value


@given(
    st.text(max_size=40),
    st.sampled_from(["ixt:num-dot-decimal", "ixt-sec:durwordsen", "ixt:date-month-day", "x"]),
)
def test_any_text_and_format_is_taken(raw: str, fmt: str) -> None:
    read_number(raw, fmt)
    assert isinstance(read_text(raw, fmt), str)
    assert format_name(fmt).islower()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared filings are not here")
@pytest.mark.parametrize("form", ["10q_html_b__data*", "8k_html_b__data*", "10k_html_a__*IBM*"])
def test_every_fact_of_a_real_filing_holds_its_printed_text(form: str) -> None:
    loaded = read_html(gzip.decompress(next(SHARED.glob(form)).read_bytes()))
    facts = shown(loaded)
    assert len(facts) > 10
    for fact in facts:
        text = printed(loaded, fact)
        if isinstance(fact.value, Decimal) and fact.value and "numwords" not in fact.format:
            figure = abs(fact.value.scaleb(-fact.scale))
            assert re.sub(r"[^\d.]", "", text).strip("0.") == f"{figure:f}".strip("0.")


@pytest.mark.slow
def test_facts_agree_with_an_independent_parser(shared) -> None:
    pytest.importorskip("ixbrlparse", reason="the independent parser is not installed (extra 'dev')")
    path = Path(__file__).resolve().parents[1] / "benchmarks" / "inline_facts.py"
    spec = importlib.util.spec_from_file_location("inline_facts", path)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    sys.modules["inline_facts"] = benchmark
    spec.loader.exec_module(benchmark)
    total = benchmark.Tally()
    paths = benchmark.filings(shared / "data" / "sec", 40)
    for filing in paths:
        total.add(benchmark.compare(benchmark.read_source(filing), filing.name))
    assert len(paths) == 40
    assert total.compared > 50_000
    assert total.equal >= 0.999 * total.compared, total.faults[:10]
    assert total.printed == total.shown, total.faults[:10]
