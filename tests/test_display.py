"""How objects show themselves in notebooks, as data frames, and while long work goes on."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.answers import verify_figures
from fin_rag.display import html_table
from fin_rag.evaluation.tables import Table
from fin_rag.index import Progress
from fin_rag.inspector import ProgressLine, ResultsTable
from fin_rag.query import Library, analyse
from fin_rag.schema import Outline, Section, Span

EVIL = "<script>alert(1)</script>"


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_in_a_table_becomes_markup(title: str, cell: str) -> None:
    html = html_table(title, ["a"], [[cell]])
    assert html.count("<") == html_table("", ["a"], [[""]]).count("<")


def test_rows_left_out_are_counted() -> None:
    html = html_table("t", ["n"], ([n] for n in range(100)), most=10)
    assert html.count("<td>") == 10
    assert "and 90 more rows" in html


def test_outline_shows_its_sections_and_warnings() -> None:
    sections = (Section("a", EVIL, (EVIL,), Span(0, 9)), Section("a.b", "Debt", (EVIL, "Debt"), Span(3, 9), 2))
    html = Outline(sections, warnings=("a part is <missing>",))._repr_html_()
    assert "2 sections" in html
    assert "\u2003Debt" in html
    assert "a part is &lt;missing&gt;" in html
    assert "<script" not in html


def test_plan_shows_what_was_read() -> None:
    html = analyse(f"What was Acme's net revenue in 2024? {EVIL}", Library([]))._repr_html_()
    assert "revenue" in html
    assert "2024" in html
    assert "<script" not in html


def test_verdicts_show_themselves_and_make_a_frame() -> None:
    pytest.importorskip("pandas")
    report = verify_figures(
        "Sales were $5 million in 2031 and $7 million in 2030.",
        Document(page_content="Sales were $5 million in 2031.", metadata={"doc_id": "d", "spans": "10-40"}),
    )
    assert "1 of 2 figures do not hold" in report._repr_html_()
    frame = report.frame()
    assert list(frame["passed"]) == [True, False]
    assert "figures hold" in verify_figures("No figures.", "x")._repr_html_()


def test_results_show_themselves_and_make_a_frame() -> None:
    pytest.importorskip("pandas")
    found = [Document(page_content=EVIL, metadata={"rank": 1, "score": 0.5, "doc_id": "d", "page": 3, "spans": "0-25"})]
    assert "<script" not in ResultsTable(found)._repr_html_()
    frame = ResultsTable(found).frame()
    assert frame.loc[0, "text"] == EVIL
    assert frame.loc[0, "page"] == 3
    assert "0 results" in ResultsTable([])._repr_html_()


def test_tables_of_an_evaluation_show_themselves() -> None:
    assert "<td>a&lt;b</td>" in Table("t", ("x",), (("a<b",),))._repr_html_()


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_rewrites_one_line_of_a_terminal() -> None:
    out = _Terminal()
    line = ProgressLine(out)
    for done in (1, 2, 3):
        line(Progress(done, 3, "a.md", done * 10))
    shown = out.getvalue()
    assert shown.count("\n") == 1
    assert shown.count("\r") == 3
    assert "3/3 documents, 30 chunks" in shown
    assert "about 0 s left" in shown


def test_progress_in_a_log_is_whole_lines() -> None:
    out = io.StringIO()
    line = ProgressLine(out)
    for done in (1, 2, 3):
        line(Progress(done, 3, "a.md", done * 10))
    assert "\r" not in out.getvalue()
    assert out.getvalue().splitlines()[-1].startswith("3/3 documents")
