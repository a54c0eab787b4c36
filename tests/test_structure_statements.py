"""Primary statements: where they stand, what they are, their columns, units and rows."""

from __future__ import annotations

import importlib.util
import sys
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.schema import InlineFact, Markup, Outline, PageMap, Section, Span
from fin_rag.structure.statements import PRIMARY_TYPES, Statement, find_statements

BALANCE_ROWS = (
    "| Cash and cash equivalents | $1,204 | $986 |\n| Inventories | 310 | — |\n| Total current assets | 1,514 | 986 |\n"
    "| Total assets | $1,514 | $986 |\n| Accounts payable | 200 | 150 |\n| Total liabilities | 200 | 150 |\n"
    "| Retained earnings | 1,314 | 836 |\n| Total liabilities and shareholders' equity | $1,514 | $986 |\n"
)
BALANCE = (
    "**Consolidated Balance Sheets**\n\n(in thousands)\n| | March 31, 2031 | March 31, 2030 |\n| --- | --- | --- |\n"
    + BALANCE_ROWS
)
INCOME_TEXT = (
    "HALVERSON TOOLS, INC.\n\nCONSOLIDATED STATEMENTS OF OPERATIONS\n(In millions, except per share amounts)\n\n"
    "Fiscal Year Ended\nMay 31, 2031 May 31, 2030 May 31, 2029\n"
    "Revenues $ 4,120 $ 3,900 $ 3,655\nCost of sales 2,610 2,480 2,301\nGross profit 1,510 1,420 1,354\n"
    "Selling, general and administrative\nexpenses 900 880 861\nOperating income 610 540 493\n"
    "Interest expense, net of capitalized\ninterest of $1, $2 and $3 (40) (38) —\n"
    "Income before income taxes 570 502 493\nProvision for income taxes 120 105 101\nNet income $ 450 $ 397 $ 392\n"
    "Net income per share:\nBasic $ 2.25 $ 1.99 $ 1.96\nDiluted $ 2.20 $ 1.95 $ 1.91\n"
    "Weighted average shares outstanding (in thousands):\nBasic 200,000 199,500 200,100\n"
    "See accompanying notes to consolidated financial statements.\n"
)


def one(text: str, **given: object) -> Statement:
    found = find_statements(text, **given)
    assert len(found) == 1, [s.title for s in found]
    return found[0]


def row(statement: Statement, label: str) -> tuple[Decimal | None, ...]:
    return next(r.values for r in statement.rows if r.label.startswith(label))


def test_a_balance_sheet_in_a_pipe_table() -> None:
    statement = one(BALANCE)
    assert (statement.statement_type, statement.basis) == ("balance_sheet", "consolidated")
    assert statement.period_ends == (20310331, 20300331)
    assert (statement.scale, statement.currency) == (1000, "USD")
    assert row(statement, "Inventories") == (Decimal(310_000), None)
    assert [r.label for r in statement.rows if r.total][:2] == ["Total current assets", "Total assets"]
    assert BALANCE[statement.span.start :].startswith("**Consolidated")
    assert statement.headers[0].slice(BALANCE).endswith("| --- | --- | --- |")


def test_an_income_statement_in_the_text_of_a_pdf() -> None:
    statement = one(INCOME_TEXT)
    assert statement.statement_type == "income"
    assert [(c.period_end, c.months) for c in statement.columns] == [(20310531, 12), (20300531, 12), (20290531, 12)]
    assert row(statement, "Revenues")[0] == Decimal(4_120_000_000)
    assert row(statement, "Selling, general and administrative expenses")[2] == Decimal(861_000_000)
    assert row(statement, "Interest expense") == (Decimal(-40_000_000), Decimal(-38_000_000), None)
    earnings, shares = (r.values[0] for r in statement.rows if r.label == "Basic")
    assert (earnings, shares) == (Decimal("2.25"), Decimal(200_000_000))
    assert statement.span.slice(INCOME_TEXT).rstrip().endswith("200,100")


def test_each_value_has_its_own_span() -> None:
    for text in (BALANCE, INCOME_TEXT):
        statement = one(text)
        for found in statement.rows:
            for value, span in zip(found.values, found.value_spans, strict=True):
                if value is not None:
                    printed = span.slice(text).strip("$ ()").replace(",", "")
                    assert abs(value) == Decimal(printed) * found.scale


@pytest.mark.parametrize(
    ("title", "kind", "basis"),
    [
        ("CONDENSED CONSOLIDATED BALANCE SHEETS (Unaudited)", "balance_sheet", "condensed"),
        ("Consolidated Statements of Financial Position", "balance_sheet", "consolidated"),
        ("Statement of Consolidated Financial Condition", "balance_sheet", "consolidated"),
        ("PARENT COMPANY ONLY BALANCE SHEETS", "balance_sheet", "parent_only"),
        ("C ONSOLIDATED  BALANCE  SHEETS", "balance_sheet", "consolidated"),
        ("Balance Sheets", "balance_sheet", ""),
        ("BALANCE SHEETS — PARENT COMPANY", "balance_sheet", "parent_only"),
    ],
)
def test_titles_of_balance_sheets(title, kind, basis) -> None:
    statement = one(BALANCE.replace("**Consolidated Balance Sheets**", title))
    assert (statement.statement_type, statement.basis) == (kind, basis)
    assert statement.primary == (basis != "parent_only")


@pytest.mark.parametrize(
    "title",
    [
        "CONSOLIDATED STATEMENTS OF EARNINGS",
        "Statements of Income",
        "CONSOLIDATED\nSTATEMENTS OF OPERATIONS",
        "Condensed Consolidated Statements of Income (Loss)",
        "Consolidated Statement of Profit or Loss",
        "Consolidated Statements of Comprehensive Income",
    ],
)
def test_titles_of_income_statements(title) -> None:
    assert one(INCOME_TEXT.replace("CONSOLIDATED STATEMENTS OF OPERATIONS", title)).statement_type == "income"


def test_spanish_accounts() -> None:
    text = (
        "Cuenta de pérdidas y ganancias consolidada\n(Miles de euros)\n\n| | Nota | 2031 | 2030 |\n|---|---|---|---|\n"
        "| Importe neto de la cifra de negocios | 4 | 12.500 | 11.900 |\n"
        "| Aprovisionamientos | 5 | (7.100) | (6.950) |\n"
        "| Gastos de personal | | (2.400) | (2.310) |\n| Resultado de explotación | | 3.000 | 2.640 |\n"
        "| Resultado antes de impuestos | | 2.900 | 2.500 |\n| Impuesto sobre beneficios | 9 | (725) | (625) |\n"
        "| Resultado del ejercicio | | 2.175 | 1.875 |\n"
    )
    statement = one(text)
    assert (statement.statement_type, statement.scale, statement.currency) == ("income", 1000, "EUR")
    assert row(statement, "Aprovisionamientos") == (Decimal(-7_100_000), Decimal(-6_950_000))
    assert [r.note for r in statement.rows][:3] == ["4", "5", ""]
    assert [c.label for c in statement.columns] == ["2031", "2030"]


CASH_FLOW = (
    "CONSOLIDATED STATEMENTS OF CASH FLOWS\n(in millions)\n\nSix Months Ended June 30,\n2031 2030\n"
    "Cash flows from operating activities:\nNet income $ 30 $ 25\nDepreciation 12 11\n"
    "Net cash provided by operating activities 42 36\nInvesting activities:\nPurchases of property (10) (9)\n"
    "Net cash used in investing activities (10) (9)\n"
)
CASH_FLOW_REST = (
    "Financing activities:\nDividends paid (5) (4)\nNet cash used in financing activities (5) (4)\n"
    "Net increase in cash 27 23\nCash, beginning of period 50 27\nCash, end of period $ 77 $ 50\n"
)


def test_a_continuation_page_belongs_to_its_statement() -> None:
    head = "CONSOLIDATED STATEMENTS OF CASH FLOWS (Continued)\n(in millions)\n\nSix Months Ended June 30,\n2031 2030\n"
    text = CASH_FLOW + "\n17\n\n" + head + CASH_FLOW_REST
    pages = PageMap(((1, Span(0, len(CASH_FLOW) + 4)), (2, Span(len(CASH_FLOW) + 5, len(text)))))
    statement = one(text, page_map=pages)
    assert len(statement.spans) == 2
    assert statement.pages == (1, 2)
    assert [(c.period_end, c.months) for c in statement.columns] == [(20310630, 6), (20300630, 6)]
    assert row(statement, "Cash, end of period") == (Decimal(77_000_000), Decimal(50_000_000))
    assert row(statement, "Net income")[0] == Decimal(30_000_000)


def test_rows_go_on_over_a_page_break_without_a_title() -> None:
    text = CASH_FLOW + "\n" + CASH_FLOW_REST
    pages = PageMap(((1, Span(0, len(CASH_FLOW))), (2, Span(len(CASH_FLOW) + 1, len(text)))))
    assert row(one(text, page_map=pages), "Cash, end of period")[1] == Decimal(50_000_000)


def test_what_only_names_a_statement_is_none() -> None:
    contents = (
        "Index to Consolidated Financial Statements\nConsolidated Balance Sheets 41\n"
        "Consolidated Statements of Operations 42\nConsolidated Statements of Cash Flows 43\n"
        "Notes to Consolidated Financial Statements 44\n\n"
        "| Consolidated Balance Sheets | 41 |\n|---|---|\n| Consolidated Statements of Income | 42 |\n\n"
        "The consolidated balance sheets and the consolidated statements of income should be read with the notes.\n\n"
        "Effect of derivatives on the Consolidated Statements of Income\n| | 2031 | 2030 |\n|---|---|---|\n"
        "| Interest rate swaps | 12 | 14 |\n| Foreign exchange contracts | (3) | 5 |\n| Commodity contracts | 1 | 2 |\n"
    )
    assert find_statements(contents) == ()
    assert len(find_statements(contents + BALANCE)) == 1


def test_selected_data_are_told_by_their_section() -> None:
    selected = "Item 6. Selected Financial Data\n\n" + BALANCE.replace("Consolidated ", "")
    text = selected + "\nItem 8. Financial Statements\n\n" + BALANCE
    sections = tuple(
        Section(f"i{n}", title, (title,), Span(text.index(title), end))
        for n, title, end in (
            (6, "Item 6. Selected Financial Data", len(selected)),
            (8, "Item 8. Financial Statements", len(text)),
        )
    )
    assert one(text, outline=Outline(sections)).span.start > len(selected)


def test_a_second_row_of_periods_opens_further_columns() -> None:
    text = (
        "Statement of Consolidated Comprehensive Income\n(in millions)\n"
        "| | Second quarter ended June 30, 2031 | Second quarter ended June 30, 2030 |\n| --- | --- | --- |\n"
        "| Net income | $10 | $8 |\n| Foreign currency translation | (1) | 2 |\n| Comprehensive income | $9 | $10 |\n"
        "| | Six months ended June 30, | |\n| | 2031 | 2030 |\n"
        "| Net income | $21 | $17 |\n| Foreign currency translation | 3 | (2) |\n| Comprehensive income | $24 | $15 |\n"
    )
    statement = one(text)
    assert [(c.period_end, c.months) for c in statement.columns] == [
        (20310630, 3),
        (20300630, 3),
        (20310630, 6),
        (20300630, 6),
    ]
    totals = [r.values for r in statement.rows if r.label == "Comprehensive income"]
    assert totals[1] == (None, None, Decimal(24_000_000), Decimal(15_000_000))


def test_figures_inside_a_label_are_no_cells() -> None:
    text = (
        BALANCE_ROWS.replace("|", " ")
        .replace("$", "")
        .replace(
            "  Retained",
            "  Common stock, $0.01 par value:\n Authorized shares — 5,000\n Issued shares — 514 and 521\n"
            " Outstanding shares — 491 and 498 5 6\n Dividends payable ($0.48 and $0.40\nper share) 7 8\n Retained",
        )
    )
    statement = one("Consolidated Balance Sheets\n(in millions)\nMarch 31, 2031 March 31, 2030\n" + text)
    assert row(statement, "Outstanding shares — 491 and 498") == (Decimal(5_000_000), Decimal(6_000_000))
    assert row(statement, "Issued shares — 514 and 521") == (None, None)
    assert row(statement, "Dividends payable ($0.48 and $0.40 per share)") == (Decimal(7_000_000), Decimal(8_000_000))


def test_an_equity_statement_with_components_has_closing_dates() -> None:
    text = (
        "CONSOLIDATED STATEMENTS OF STOCKHOLDERS' EQUITY\n(in thousands, except share data)\n"
        "| | Common Stock Shares | Common Stock Amount | Retained Earnings | Total |\n|---|---|---|---|---|\n"
        "| Balance at June 30, 2030 | 1,000 | $10 | $500 | $510 |\n| Net income | | | 90 | 90 |\n"
        "| Dividends | | | (20) | (20) |\n| Balance at June 30, 2031 | 1,000 | $10 | $570 | $580 |\n"
    )
    statement = one(text)
    assert statement.statement_type == "equity"
    assert statement.period_ends == (20300630, 20310630)
    assert row(statement, "Balance at June 30, 2031") == (1000, 10_000, 570_000, 580_000)


def test_heads_without_a_date_are_completed_by_facts() -> None:
    text = BALANCE.replace("March 31, 2031", "This year").replace("March 31, 2030", "Last year")
    facts = []
    for printed, end in (("1,204", "2031-03-31"), ("986", "2030-03-31")):
        at = text.index(printed)
        facts.append(InlineFact("us-gaap:Cash", Decimal(1), "", end, unit="USD", span=Span(at, at + len(printed))))
    assert one(text, markup=Markup(facts=tuple(facts))).period_ends == (20310331, 20300331)


def test_the_own_set_is_primary_and_a_subsidiary_guarantor_is_not() -> None:
    whole = BALANCE + "\n" + INCOME_TEXT + "\n" + CASH_FLOW + CASH_FLOW_REST
    far = "Our customers renew these agreements every second year and pay in advance.\n" * 200
    other = "Condensed Consolidating Balance Sheet of the Guarantor Subsidiaries\n" + BALANCE.split("\n", 1)[1]
    found = find_statements(whole + far + other)
    assert {s.statement_type for s in found if s.primary} == set(PRIMARY_TYPES)
    assert [s.primary for s in found] == [True, True, True, False]


def test_metadata_is_flat_and_leaves_out_what_is_unknown() -> None:
    assert one(BALANCE).metadata() == {
        "statement_type": "balance_sheet",
        "statement_basis": "consolidated",
        "scale": 1000,
        "period_ends": ["20310331", "20300331"],
        "currency": "USD",
    }
    bare = one(BALANCE.replace("$", "").replace("March 31, 2031", "A").replace("March 31, 2030", "B"))
    assert bare.metadata().keys() == {"statement_type", "statement_basis", "scale"}


PIECES = [*BALANCE.splitlines(), *INCOME_TEXT.splitlines(), *CASH_FLOW.splitlines(), "", "|", "—", "(", "1,2 3)", "$"]


@given(st.lists(st.sampled_from(PIECES), max_size=60), st.sampled_from(["\n", "\r\n", " "]))
def test_spans_are_ordered_and_inside_whatever_the_text(parts, mark) -> None:
    text = mark.join(parts)
    last = 0
    for statement in find_statements(text):
        assert statement.span.start >= last
        last = statement.span.end
        assert last <= len(text)
        for found in statement.rows:
            assert len(found.values) == len(found.value_spans) == len(statement.columns)
            assert statement.span.contains(found.span)
            cells = [span for span in found.value_spans if span is not None]
            assert all(a.end <= b.start for a, b in pairwise(cells))


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_rows_agree_with_the_inline_facts_of_the_same_filing(shared) -> None:
    benchmark = _module(Path(__file__).resolve().parents[1] / "benchmarks" / "statements.py")
    total, filings, lacking = benchmark.Tally(), 0, []
    for path in sorted((shared / "data" / "sec").glob("*10[kq]_html*")):
        document = benchmark.load(path)
        if not document.markup.facts:
            continue
        statements = benchmark.statements_of(document)
        if {s.statement_type for s in statements if s.primary} < set(PRIMARY_TYPES):
            lacking.append(path.name)
            continue
        filings += 1
        total.add(benchmark.compare(statements, document.markup.facts, document.page_content, path.name))
    # These filings print their statements in an exhibit to which Item 8 points.
    assert all(any(name in path for name in ("IBM_", "ibm-10-k", "wfc-10-k")) for path in lacking), lacking
    assert filings >= 40
    assert total.share >= 0.995, total.misses[:20]


@pytest.mark.slow
def test_every_annual_report_in_pdf_has_its_three_statements(shared) -> None:
    benchmark = _module(Path(__file__).resolve().parents[1] / "benchmarks" / "statements.py")
    for path in sorted((shared / "data" / "financebench" / "pdfs").glob("*_10[KQ].pdf")):
        found = [s for s in benchmark.statements_of(benchmark.load(path)) if s.primary]
        assert {s.statement_type for s in found} >= set(PRIMARY_TYPES), path.name
        assert all(any(s.period_ends) for s in found), path.name


PLAIN = """
                    MERIDIAN PAPER COMPANY AND SUBSIDIARIES
                          CONSOLIDATED BALANCE SHEETS
                           DECEMBER 31, 1995 AND 1994
                             (Dollars in thousands)
<TABLE>
<CAPTION>
                                                          1995          1994
                                                        --------      --------
<S>                                                     <C>           <C>
CURRENT ASSETS:
  Cash and cash equivalents.........................    $  4,211      $  3,876
  Accounts receivable, less allowance of
    $310 in 1995 and $290 in 1994...................      21,540        19,233
                                                        --------      --------
      Total current assets..........................      25,751        23,109
                                                        --------      --------
                                                        $ 25,751      $ 23,109
                                                        ========      ========
CURRENT LIABILITIES:
  Current portion of long-term debt.................          --           250
      Total current liabilities.....................          --           250
SHAREHOLDERS' EQUITY:
  Common stock, $1 par value; 10,000 shares authorized;
    6,200 shares issued.............................       6,200         6,200
  Retained earnings.................................      19,551        16,659
                                                        --------      --------
                                                        $ 25,751      $ 23,109
                                                        ========      ========
</TABLE>
"""


def test_plain_text_with_leaders_and_rules() -> None:
    statement = one(PLAIN)
    assert (statement.statement_type, statement.scale, statement.currency) == ("balance_sheet", 1000, "USD")
    assert statement.period_ends == (19951231, 19941231)
    label = "Accounts receivable, less allowance of $310 in 1995 and $290 in 1994"
    assert row(statement, label) == (Decimal(21_540_000), Decimal(19_233_000))
    assert row(statement, "Common stock, $1 par value; 10,000 shares authorized; 6,200")[0] == Decimal(6_200_000)
    assert row(statement, "Current portion of long-term debt") == (None, Decimal(250_000))
    assert [r.total for r in statement.rows if not r.label] == [True, True]
    cash = next(r for r in statement.rows if r.label.startswith("Cash"))
    assert cash.path == ("CURRENT ASSETS:",)
