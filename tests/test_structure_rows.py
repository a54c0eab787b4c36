"""Row records: label, period, value, currency, scale, notes; and rows in words."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from fin_rag.schema import Span
from fin_rag.structure.blocks import blocks
from fin_rag.structure.notes import find_notes
from fin_rag.structure.rows import LinearTables, linear_row, read_rows, rows_of, without_marks
from fin_rag.structure.tables import table_rows

REPORT = """## Results

(in EUR million, except per share data)

| | 2031¹ | Change |
|---|---:|---:|
| Sales (2) | 1,204.5 | 4.1% |
| Net loss | (12) | n.m. |
| Earnings per share | 0.40 | |

¹ Unaudited.
(2) Without VAT.
"""


def records(text: str, lang: str = "en"):
    parts = blocks(text)
    notes = find_notes(text, blocks=parts)
    block = next(block for block in parts if block.kind == "table")
    return rows_of(text, block, notes=notes, table=0, lang=lang)


def test_a_row_has_label_period_value_unit_and_notes() -> None:
    sales, loss, earnings = records(REPORT)
    assert sales.label == "Sales"
    assert [note.marker for note in sales.notes] == ["(2)"]
    figure, change = sales.values
    assert (figure.column, figure.period, figure.value) == ("2031", "2031", Decimal("1204.5"))
    assert (figure.currency, figure.scale, figure.amount) == ("EUR", 1_000_000, Decimal("1204500000.0"))
    assert [note.marker for note in figure.notes] == ["¹"]
    assert (change.value, change.currency, change.scale) == (Decimal("4.1"), "", 1)
    assert loss.values[0].value == Decimal(-12)
    assert loss.values[1].value is None
    assert earnings.values[0].amount == Decimal("0.40")
    assert figure.span.slice(REPORT) == "1,204.5"


def test_group_titles_stand_over_their_rows() -> None:
    text = "| EUR | 2031 |\n|---|---|\n| Assets | |\n| Cash | 4 |\n| Liabilities | |\n| Loans | 3 |"
    assert [(row.groups, row.label) for row in records(text)] == [(("Assets",), "Cash"), (("Liabilities",), "Loans")]


def test_notes_and_sources_are_no_rows() -> None:
    text = "| Zone | 2031 |\n|---|---|\n| North (1) | 4 |\n| (1) With Ceuta. | |\n| Source: us | |"
    assert [row.label for row in records(text)] == ["North"]


def test_spanish_figures_are_read_in_their_notation() -> None:
    text = "| Miles de euros | 31-12-2031 |\n|---|---:|\n| Ventas | 1.204 |"
    (row,) = records(text, lang="es")
    assert (row.values[0].amount, row.values[0].currency, row.values[0].period) == (
        Decimal(1204000),
        "EUR",
        "31-12-2031",
    )


def linear(text: str) -> LinearTables:
    block = next(block for block in blocks(text) if block.kind == "table")
    view = table_rows(text, block)
    return LinearTables(text, [(block, view, read_rows(text, view, block, notes=None, table=0, lang="en"))])


def test_rows_in_words_name_their_columns_and_units() -> None:
    words = linear(REPORT).render(Span(0, len(REPORT)))
    assert "Sales: 2031 = 1,204.5 EUR million; Change = 4.1%" in words
    assert "|" not in words
    assert "¹ Unaudited." in words
    assert "(in EUR million" in words


def test_a_row_that_is_cut_through_stays_as_printed() -> None:
    start = REPORT.index("| Sales")
    half = Span(start, start + 12)
    assert linear(REPORT).render(half) == half.slice(REPORT)


def test_words_of_scale_follow_the_language() -> None:
    text = "| Millones de euros | 2031 |\n|---|---:|\n| Ventas | 4 |"
    assert linear_row(records(text, lang="es")[0], lang="es") == "Ventas: 2031 = 4 EUR millones"


CELLS = st.text(alphabet="aB1,.() *¹", max_size=8)


@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6))
def test_any_table_gives_rows_whose_spans_are_in_order(rows: list[list[str]]) -> None:
    text = "| a | 2031 |\n|---|---|\n" + "\n".join("| " + " | ".join(cells) + " |" for cells in rows)
    found = records(text)
    starts = [row.span.start for row in found]
    assert starts == sorted(starts)
    for row in found:
        assert all(row.span.contains(value.span) for value in row.values)
        assert all(value.printed == without_marks(value.printed) or value.printed for value in row.values)
    linear(text).render(Span(0, len(text)))
