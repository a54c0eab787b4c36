"""Primary statements in chunks: one unit each, cut between rows under their heads where they are too long."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.schema import Markup, Outline, Section, SourceDocument, Span, parse_spans
from fin_rag.splitters import SecFilingTextSplitter
from fin_rag.structure.filings import add_statements
from fin_rag.structure.statements import find_statements
from tests.fakes import assert_sound, words

HEAD = "**Consolidated Balance Sheets**\n\n(in thousands)\n| | June 30, 2031 | June 30, 2030 |\n| --- | --- | --- |\n"
ROWS = (
    "| ASSETS | | |\n| Cash and cash equivalents | $1,204 | $986 |\n| Inventories | 310 | 290 |\n"
    "| Total assets | $1,514 | $1,276 |\n| LIABILITIES AND EQUITY | | |\n| Accounts payable | 200 | 150 |\n"
    "| Total liabilities | 200 | 150 |\n| Retained earnings | 1,314 | 1,126 |\n"
    "| Total liabilities and shareholders' equity | $1,514 | $1,276 |\n"
)
FOOT = "\nSee accompanying notes to consolidated financial statements.\n"
INCOME = (
    "CONSOLIDATED STATEMENTS OF OPERATIONS\n(In millions, except per share amounts)\n\nYear Ended June 30,\n2031 2030\n"
    "Revenues $ 4,120 $ 3,900\nCost of sales 2,610 2,480\nOperating income 610 540\n"
    "Provision for income taxes 120 105\n"
    "Net income $ 450 $ 397\nDiluted earnings per share $ 2.20 $ 1.95\n"
)
NOTES = (
    "\nNotes to Consolidated Financial Statements\n\n1. Basis\n\nWe make hand tools and keep our books in dollars.\n"
)
FILING = (
    "PART II\n\nItem 7. Management's Discussion\n\nSales rose because we opened two shops.\n\n"
    "Item 8. Financial Statements and Supplementary Data\n\nThe report of our auditors stands behind the notes.\n\n"
    + HEAD + ROWS + FOOT + "\n41\n\n" + INCOME + FOOT + NOTES
    + "\nItem 9. Changes in and Disagreements with Accountants\n\nNone.\n"
)  # fmt: skip


def filing(text: str = FILING, markup: Markup | None = None) -> Document:
    return SourceDocument(page_content=text, metadata={"doc_type": "10-K", "lang": "en"}, markup=markup or Markup())


def split(size: int, text: str = FILING, markup: Markup | None = None) -> list[Document]:
    splitter = SecFilingTextSplitter(size, tokenization=words())
    whole, outline, chunks = splitter.split_whole(filing(text, markup))
    assert_sound(whole.page_content, chunks, words(), size, outline.furniture)
    return chunks


def of_type(chunks: list[Document], kind: str) -> list[Document]:
    return [chunk for chunk in chunks if chunk.metadata.get("statement_type") == kind]


def test_a_statement_that_fits_is_one_chunk() -> None:
    [balance] = of_type(split(200), "balance_sheet")
    assert balance.page_content == (HEAD + ROWS + FOOT).strip()
    assert balance.metadata["statement_basis"] == "consolidated"
    assert balance.metadata["period_ends"] == ["20310630", "20300630"]
    assert (balance.metadata["scale"], balance.metadata["currency"]) == (1000, "USD")
    assert balance.metadata["kind"] == "table"
    assert balance.metadata["item"] == "Item 8"
    assert balance.metadata["section_path"].endswith("Item 8 > Consolidated Balance Sheets")
    [income] = of_type(split(200), "income")
    assert income.page_content.startswith("CONSOLIDATED STATEMENTS OF OPERATIONS\n(In millions")


@pytest.mark.parametrize("kind", ["balance_sheet", "income"])
def test_a_long_statement_is_cut_between_rows_under_its_heads(kind) -> None:
    head, rows = {
        "balance_sheet": (HEAD.strip(), ROWS.splitlines()),
        "income": (INCOME[: INCOME.index("\nRevenues")], INCOME[INCOME.index("Revenues") :].splitlines()),
    }[kind]
    chunks = of_type(split(64), kind)
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.page_content.startswith(head)
        assert (chunk.metadata["parent_start"], chunk.metadata["parent_end"]) == (
            chunks[0].metadata["parent_start"],
            chunks[0].metadata["parent_end"],
        )
    parent = FILING[chunks[0].metadata["parent_start"] : chunks[0].metadata["parent_end"]]
    assert all(row in parent for row in rows)
    bodies = "\n".join(FILING[c.metadata["start_index"] : c.metadata["end_index"]] for c in chunks)
    assert all(bodies.count(row) == 1 for row in rows)


def test_what_stands_around_a_statement_is_not_in_its_chunk() -> None:
    chunks = split(200)
    for chunk in chunks:
        whole = "statement_type" in chunk.metadata
        assert not (whole and any(word in chunk.page_content for word in ("hand tools", "two shops", "None.")))
    [notes] = [c for c in chunks if "hand tools" in c.page_content]
    assert "Item 8" in notes.metadata["section_path"]


def test_a_bold_row_is_no_section() -> None:
    at = FILING.index("| LIABILITIES AND EQUITY")
    title = FILING.index("**Consolidated Balance")
    line = Span(at, FILING.index("\n", at))
    chunks = split(200, markup=Markup(headings=((Span(title, title + 31), 1), (line, 2))))
    assert len(of_type(chunks, "balance_sheet")) == 1
    assert not any("LIABILITIES" in c.metadata["section_path"] for c in chunks)


def test_a_continuation_page_is_read_under_its_own_heads_or_the_first() -> None:
    at = ROWS.index("| LIABILITIES")
    head = "**Consolidated Balance Sheets (continued)**\n\n"
    text = FILING.replace(ROWS, ROWS[:at] + "\n42\n\n" + head + ROWS[at:])
    chunks = of_type(split(64, text), "balance_sheet")
    later = [c for c in chunks if "Accounts payable" in c.page_content]
    assert len(later) == 1
    assert "June 30, 2031" in later[0].page_content


def test_sections_named_by_the_title_give_way_without_losing_what_follows() -> None:
    text = HEAD + ROWS + "\nSegments\n\nWe have one segment.\n"
    whole = Section("item8", "Item 8", ("10-K", "Item 8"), Span(0, len(text)), 1, metadata={"item": "Item 8"})
    wrong = Section("item8.x", "Balance", ("10-K", "Item 8", "Balance"), Span(0, len(text)), 2)
    at = text.index("Segments")
    inner = Section("item8.x.y", "Segments", ("10-K", "Item 8", "Balance", "Segments"), Span(at, len(text)), 3)
    outline = add_statements(text, Outline((whole, wrong, inner)), find_statements(text))
    assert [s.path for s in outline] == [
        ("10-K", "Item 8"),
        ("10-K", "Item 8", "Consolidated Balance Sheets"),
        ("10-K", "Item 8", "Segments"),
    ]


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900), st.booleans()), max_size=12))
def test_sections_never_cross(bounds) -> None:
    text = ("Words before it all.\n" * 5 + HEAD + ROWS + FOOT) + "Words behind.\n" * 20
    stack: list[Section] = []
    for number, (a, b, item) in enumerate(sorted((min(a, b), -max(a, b), f) for a, b, f in bounds)):
        span = Span(a, min(-b, len(text)))
        if len(span) and not any(s.span.overlaps(span) and not s.span.contains(span) for s in stack):
            level = 1 + sum(s.span.contains(span) for s in stack)
            name = f"Item {number}" if item else f"Title {number}"
            extra = {"item": name} if item else {}
            stack.append(Section(f"s{number}", name, ("10-K", name), span, level, metadata=extra))
    found = add_statements(text, Outline(tuple(stack)), find_statements(text)).sections
    for section, other in pairwise(found):
        assert section.span.start <= other.span.start
    for section in found:
        for other in found:
            if section.span.overlaps(other.span):
                assert section.span.contains(other.span) or other.span.contains(section.span)


def test_spans_of_a_cut_statement_are_slices() -> None:
    for chunk in split(64):
        spans = parse_spans(chunk.metadata["spans"])
        assert chunk.page_content == "\n\n".join(span.slice(FILING) for span in spans)


def test_notes_right_below_a_statement_belong_to_it() -> None:
    note = "\n(1) Including amounts due from a related party of $4 as of June 30, 2031.\n"
    [balance] = of_type(split(300, FILING.replace(ROWS, ROWS + note)), "balance_sheet")
    assert "related party" in balance.page_content
