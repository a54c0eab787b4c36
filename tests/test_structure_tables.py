"""Tables: labels, rows with exact spans, titles and units."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.structure.blocks import blocks
from fin_rag.structure.figures import figure_tail
from fin_rag.structure.tables import Table, table_rows, unit_of
from fin_rag.structure.units import is_unit_line


def read(text: str) -> Table:
    (block,) = [block for block in blocks(text) if block.kind == "table"]
    return table_rows(text, block)


def assert_exact(text: str, table: Table) -> None:
    at = table.header_span.end if table.header_span else 0
    for row in table.rows:
        assert row.span.start >= at
        at = row.span.end
        assert len(row.cells) == len(row.cell_spans)
        for cell, span in zip(row.cells, row.cell_spans, strict=True):
            assert row.span.contains(span)
            assert bool(cell) <= bool(span.slice(text))


def test_pipe_table() -> None:
    text = "Deuda\n(miles de euros)\n| | 2024 | 2023¹ |\n|:--|--:|--:|\n| **Bancos** | 1.250 | (85) |\n| Bonos | — | |"
    table = read(text)
    assert (table.title, table.currency, table.scale) == ("Deuda", "EUR", 1000)
    assert table.header == ("", "2024", "2023¹")
    assert [(row.label, row.cells) for row in table.rows] == [
        ("Bancos", ("1.250", "(85)")),
        ("Bonos", ("—", "")),
    ]
    assert table.rows[0].span.slice(text) == "| **Bancos** | 1.250 | (85) |"
    assert [span.slice(text) for span in table.rows[0].cell_spans] == ["1.250", "(85)"]
    assert_exact(text, table)


def test_equal_rows_have_spans_of_their_own() -> None:
    text = "| a | 2024 |\n|---|---|\n| Total | 5 |\n| Total | 5 |\n| Total | 5 |"
    starts = [row.span.start for row in read(text).rows]
    assert starts == sorted(set(starts))
    assert len(starts) == 3


def test_merged_and_stacked_headers_are_joined() -> None:
    text = (
        "| | Ejercicio 2024 | | Ejercicio 2023 | |\n|---|---|---|---|---|\n"
        "| (millones de euros) | Importe | % ventas | Importe | % ventas |\n| Ventas | 4.758,9 | "
        "100,0 % | 4.477,0 | 100,0 % |"
    )
    table = read(text)
    assert table.header[1:] == (
        "Ejercicio 2024 Importe",
        "Ejercicio 2024 % ventas",
        "Ejercicio 2023 Importe",
        "Ejercicio 2023 % ventas",
    )
    assert (table.currency, table.scale) == ("EUR", 1_000_000)
    assert [row.label for row in table.rows] == ["Ventas"]
    row = table.rows[0]
    assert table.unit(row, 0) == ("EUR", 1_000_000)
    assert table.unit(row, 1) == ("", 1)


def test_years_below_a_spanning_header_are_column_labels() -> None:
    text = "| | Coste anual | |\n|---|---|---|\n| Concepto | 2025 | 2024 |\n| Gastos¹ | 0,36 % | 0,40 % |"
    assert read(text).header == ("Concepto", "Coste anual 2025", "Coste anual 2024")


def test_escapes_breaks_and_entities_in_cells() -> None:
    text = "| Clase \\| tipo | Cambio<br>vigente (2) | 2031\\* |\n|---|---|---|\n| I\\*\\* | 814,6&nbsp;(3) | 2 |"
    table = read(text)
    assert table.header == ("Clase | tipo", "Cambio vigente (2)", "2031*")
    assert (table.rows[0].label, table.rows[0].cells) == ("I**", ("814,6 (3)", "2"))


def test_notes_and_sources_set_as_rows_are_no_data() -> None:
    text = (
        "| País | Clientes | Cuota |\n|---|---|---|\n| España (1) | 210 | 18 % |\n| Europa | | |\n"
        "| Total | 290 | |\n| (1) Incluye Canarias. | | |\n| Fuente: la compañía. | | |"
    )
    assert [row.kind for row in read(text).rows] == ["data", "group", "data", "note", "note"]


def test_rows_state_their_own_unit() -> None:
    text = (
        "($ in millions, except per share data)\n| | 2024 |\n|---|---|\n| Revenue | 1,234 |\n"
        "| Diluted earnings per share | 5.61 |\n| Shares (thousands) | 220 |\n| Margin | 12 % |"
    )
    table = read(text)
    assert [table.unit(row, 0) for row in table.rows] == [("USD", 1_000_000), ("USD", 1), ("", 1000), ("", 1)]


def test_the_sentence_that_leads_in_states_the_unit() -> None:
    text = "The following table shows debt (in millions):\n\n| | 2024 |\n|---|---|\n| Notes | 1,000 |"
    assert read(text).scale == 1_000_000


def test_text_table_of_single_blanks() -> None:
    text = (
        "(in millions)\nYear Ended December 31,\n2023 2024\nOPERATING ACTIVITIES:\nNet income $ "
        "3,033 $ 10,073\n"
        "Depreciation of property and operating lease\nassets, and other 11,478 —\nTax of $5 and "
        "$(3) 533 (538)"
    )
    table = read(text)
    assert table.header == ("", "Year Ended December 31, 2023", "Year Ended December 31, 2024")
    assert [(row.kind, row.label, row.cells) for row in table.rows] == [
        ("group", "OPERATING ACTIVITIES:", ()),
        ("data", "Net income", ("$ 3,033", "$ 10,073")),
        ("data", "Depreciation of property and operating lease assets, and other", ("11,478", "—")),
        ("data", "Tax of $5 and $(3)", ("533", "(538)")),
    ]
    assert_exact(text, table)


def test_aligned_text_table_with_a_gap_in_a_row() -> None:
    text = (
        "<TABLE>\n<CAPTION>\n                     YEARS ENDED JUNE 30,\n                    "
        "----------------------\n"
        "                       1998         1999\n                    ---------    ---------\n"
        "<S>                 <C>          <C>\nASSETS\nCash (note 3)......  $ 1,914       $13,741\n"
        "Goodwill...........                    603\nOther assets.......      558           585\n</TABLE>"
    )
    table = read(text)
    assert table.header == ("", "YEARS ENDED JUNE 30, 1998", "YEARS ENDED JUNE 30, 1999")
    assert [(row.label, row.cells) for row in table.rows] == [
        ("ASSETS", ()),
        ("Cash (note 3)", ("$ 1,914", "$13,741")),
        ("Goodwill", ("", "603")),
        ("Other assets", ("558", "585")),
    ]
    assert_exact(text, table)


def test_html_table() -> None:
    text = (
        "<table><caption>Producción (miles de euros)</caption><thead><tr><th>Planta</th><th "
        "colspan='2'>2031<sup>(1)</sup>"
        "</th></tr></thead>\n<tbody><tr><td>Gijón</td><td>12</td><td>(3)</td></tr>\n<tr><td>H<sub>2</sub>O"
        "</td><td>4</td><td></td></tr></tbody></table>"
    )
    table = read(text)
    assert (table.title, table.currency, table.scale) == ("Producción (miles de euros)", "EUR", 1000)
    assert table.header[:2] == ("Planta", "2031(1)")
    assert [(row.label, row.cells) for row in table.rows] == [("Gijón", ("12", "(3)")), ("H2O", ("4", ""))]
    assert_exact(text, table)


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("(in millions, except per share data)", ("", 1_000_000)),
        ("Miles de euros", ("EUR", 1000)),
        ("Balance (millones de euros)", ("EUR", 1_000_000)),
        ("(expresado en miles de euros)", ("EUR", 1000)),
        ("Cifras en millones de euros", ("EUR", 1_000_000)),
        ("miles de millones de euros", ("EUR", 1_000_000_000)),
        ("($ in millions)", ("USD", 1_000_000)),
        ("Dollars in thousands", ("USD", 1000)),
        ("US$ '000", ("USD", 1000)),
        ("(000's omitted)", ("", 1000)),
        ("€m", ("EUR", 1_000_000)),
        ("Movimiento del ejercicio 2024, en miles de euros", ("EUR", 1000)),
        ("A 31 de diciembre. Miles de euros", ("EUR", 1000)),
        ("He paid in 2024, in euros and dollars of the day", None),
        ("Ventas (M€)", ("EUR", 1_000_000)),
        ("Cotización (euros)", ("EUR", 1)),
        ("Consumo de agua (miles de metros cúbicos)", ("", 1000)),
        ("Emisiones (toneladas de CO2)", None),
        ("Activo corriente (sin caja)", None),
        ("EBITDA ajustado (1)", None),
        ("In 2023 revenue rose by 3 million dollars", None),
        ("The market was in euros", None),
        ("Plan A (m)", None),
        ("", None),
    ],
)
def test_units(line: str, unit: tuple[str, int] | None) -> None:
    assert unit_of(line) == unit


def test_unit_lines_say_nothing_else() -> None:
    assert is_unit_line("(in thousands)")
    assert not is_unit_line("Deuda (miles de euros)")


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("Net sales $ 1,234 $ (56) (5)%", ["$ 1,234", "$ (56)", "(5)%"]),
        ("Trading profits $16,073 $ 19,383 $ --", ["$16,073", "$ 19,383", "$ --"]),
        ("Ventas 4.758,9 12,5 %", ["4.758,9", "12,5 %"]),
        ("Balance as of December 31, 2024 498 5", ["498", "5"]),
        ("Weighted average rate 1.09% —% 2 %", ["1.09%", "—%", "2 %"]),
        ("Commitments (notes 9 and 10)", []),
        ("2026 1,250", ["1,250"]),
        ("In 2023 and 2024, sales rose.", []),
        ("Capital 25,441 46,086(7)(8)", ["25,441", "46,086(7)(8)"]),
    ],
)
def test_figures_at_the_end_of_a_line(line: str, cells: list[str]) -> None:
    assert [line[a:b] for a, b in figure_tail(line).cells] == cells


CELLS = st.text(st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029|\\"), max_size=8)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=5), min_size=1, max_size=8))
def test_every_pipe_row_is_a_row(rows: list[list[str]]) -> None:
    text = "| Concepto | 2024 |\n|---|---|\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    table = read(text)
    assert_exact(text, table)
    assert len(table.rows) <= len(rows)
    assert table.header_span is not None
    assert text[table.header_span.end :].count("\n") <= len(table.rows)


@given(st.text(alphabet="abc 12,.()$%|-\n\t<>/tablrde", max_size=300))
def test_any_table_block_can_be_read(text: str) -> None:
    for block in blocks(text):
        if block.kind == "table":
            assert_exact(text, table_rows(text, block))


def test_large_tables() -> None:
    rows = "| fila | 1.234 | 5.678 |\n" * 10_000
    assert len(read(f"| a | 2024 | 2023 |\n|---|---|---|\n{rows}").rows) == 10_000
    wide = "| x " + "| 1.234 " * 500 + "|\n"
    table = read("| a " + "| 2024 " * 500 + "|\n|" + "---|" * 501 + "\n" + wide * 20)
    assert len(table.header) == 501
    assert all(len(row.cells) == 500 for row in table.rows)
