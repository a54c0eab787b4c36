"""Blocks: what kind a run of lines is, where it begins and ends, and that nothing is lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.schema import Block, Markup, Span
from fin_rag.structure.blocks import blocks


def kinds(text: str, **options: object) -> list[tuple[str, str]]:
    return [(block.kind, block.span.slice(text)) for block in blocks(text, **options)]


def assert_tiles(text: str, found: list[Block], span: Span | None = None) -> None:
    at = span.start if span else 0
    end = span.end if span else len(text)
    for block in found:
        assert block.span.start >= at
        assert not text[at : block.span.start].strip()
        assert len(block.span)
        assert not block.span.slice(text)[0].isspace()
        assert not block.span.slice(text)[-1].isspace()
        assert block.header is None or block.span.contains(block.header)
        at = block.span.end
    assert at <= end
    assert not text[at:end].strip()


PIECES = st.sampled_from([
    "# Title", "## 1. Deuda", "**Riesgos**", "GASTOS", "3.4.1 Deuda", "Plain words here", "A sentence ends.",
    "| a | 2024 |", "|---|---|", "| x | 1.234 |", "- item", "1. uno", "2. dos", "(1) nota", "¹ nota", "```",
    "~~~", "---", "===", "<table>", "</table>", "<TABLE>", "<tr><td>a</td><td>5</td></tr>", "<S> <C>", "|",
    "$",
    "Net sales 1,234 1,100", "Cash......... 12", "2024 2023", "(in millions)", "Intro .......... 3", "", "",
    "\f",
    "\u2028", "\r", "\t", "  ", "\u00a0", "1,500", "* estrella", "**", "Tabla 3. Deuda", "\u200b", "—",
])  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("\n".join))


@given(TEXTS)
def test_every_character_is_in_one_block(text: str) -> None:
    assert_tiles(text, blocks(text))


@given(TEXTS, st.data())
def test_a_part_of_a_text_is_tiled_too(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    span = Span(start, data.draw(st.integers(start, len(text))))
    assert_tiles(text, blocks(text, span), span)


@given(TEXTS)
def test_without_markdown_nothing_is_a_heading(text: str) -> None:
    found = blocks(text, detect_markdown=False)
    assert_tiles(text, found)
    assert all(block.kind != "heading" for block in found)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 60), st.integers(1, 6)), max_size=6))
def test_any_styled_spans_keep_the_tiling(text: str, raw: list[tuple[int, int, int]]) -> None:
    styled = tuple((Span(start, start + length), rank) for start, length, rank in raw)
    assert_tiles(text, blocks(text, markup=Markup(headings=styled)))


def test_paragraphs_lists_and_headings_are_apart() -> None:
    text = "## Estrategia\n\nUn párrafo\nde dos líneas.\n\n- uno\n- dos\n  sigue\n\nOtro."
    assert [kind for kind, _ in kinds(text)] == ["heading", "prose", "list", "prose"]


def test_loose_list_is_one_block_and_the_next_list_another() -> None:
    text = "- a\n\n- b\n\nTexto.\n\na) acciones;\nb) bonos."
    assert kinds(text) == [("list", "- a\n\n- b"), ("prose", "Texto."), ("list", "a) acciones;\nb) bonos.")]


def test_each_note_is_a_block_of_its_own() -> None:
    text = "| a | 1 |\n|---|---|\n| b | 2 |\n\n(1) Incluye (85).\n(2) Neto.\n¹ Otra."
    assert [slice_ for kind, slice_ in kinds(text) if kind == "prose"] == [
        "(1) Incluye (85).",
        "(2) Neto.",
        "¹ Otra.",
    ]


def test_fenced_code_holds_no_heading_and_an_open_fence_is_text() -> None:
    assert kinds("```\n# no\n| a | b |\n```\n\n# yes\n\nText.")[0][0] == "code"
    assert [kind for kind, _ in kinds("```\n\n# yes\n\nText.")] == ["prose", "heading", "prose"]


def test_front_matter_is_code() -> None:
    assert kinds("---\ntitle: Ley\n---\n\n# Ley\n\nTexto.")[0] == ("code", "---\ntitle: Ley\n---")


@pytest.mark.parametrize(
    "text",
    [
        "| a | 2024 |\n|---|---|\n| x | 1 |",
        "| a | 2024 |\n| x | 1 |\n| y | 2 |",
        "a | 2024\n--- | ---\nx | 1",
        "<table><tr><th>a</th></tr>\n\n<tr><td>1</td></tr></table>",
        "<TABLE>\n<CAPTION>\n   1998   1999\n<S>  <C>  <C>\nCash....  1   2\n\nDebt....  3   4\n</TABLE>",
        "(in millions)\n2024 2023\nNet sales $ 1,234 $ 1,100\nCosts (5) —",
        "Net sales      1,234    1,100\n\nCost of sales    567      (89)",
        "Cash ........ 1,234\nDebt ........ 5,678",
    ],
)
def test_a_table_of_any_make_is_one_block(text: str) -> None:
    assert kinds(f"Before it.\n\n{text}\n\nAfter it.") == [
        ("prose", "Before it."),
        ("table", text),
        ("prose", "After it."),
    ]


def test_title_and_unit_line_belong_to_the_table_and_its_header() -> None:
    text = "Deuda por vencimiento\n(miles de euros)\n| | 2024 |\n|---|---|\n| Bancos | 1.250 |"
    (table,) = blocks(text)
    assert table.header is not None
    assert table.header.slice(text) == text[: text.index("\n| Bancos")]


def test_unit_line_or_caption_over_a_blank_line_belongs_to_the_table() -> None:
    for line in (
        "(in thousands)",
        "Millones de euros",
        "Cuadro 3. Vencimientos",
        "**Deuda, en miles de euros**",
    ):
        text = f"Texto.\n\n{line}\n\n| a | 1 |\n|---|---|\n| b | 2 |"
        assert [kind for kind, _ in kinds(text)] == ["prose", "table"], line


def test_a_sentence_above_a_table_stays_prose() -> None:
    text = "The table shows net sales by region.\n| a | 2024 |\n|---|---|\n| b | 2 |"
    assert [kind for kind, _ in kinds(text)] == ["prose", "table"]


def test_a_heading_right_above_a_table_stays_a_heading() -> None:
    text = "## Americas\n| a | 1 |\n|---|---|\n| b | 2 |\n## Europe\n| a | 3 |\n|---|---|\n| b | 4 |"
    assert [kind for kind, _ in kinds(text)] == ["heading", "table", "heading", "table"]


def test_merged_header_below_the_rule_is_header() -> None:
    text = "| | 2024 | |\n|---|---|---|\n| (EUR) | Total | % |\n| Ventas | 1,0 | 5 % |"
    (table,) = blocks(text)
    assert table.header is not None
    assert table.header.slice(text).endswith("| (EUR) | Total | % |")


def test_text_rows_are_not_taken_for_a_second_header() -> None:
    text = "| Dato | Valor |\n|---|---|\n| ISIN | IE00ZR7D0365 |\n| Divisa | EUR |\n| Patrimonio | 174,3 |"
    (table,) = blocks(text)
    assert table.header is not None
    assert table.header.slice(text) == "| Dato | Valor |\n|---|---|"


def test_wrapped_labels_and_group_titles_stay_in_a_text_table() -> None:
    text = (
        "Year Ended December 31,\n2024 2023\nOPERATING ACTIVITIES:\nNet income 3,033 "
        "1,011\nDepreciation of property, "
        "equipment and operating lease\nassets, and other 11,478 9,341\n\nSee accompanying notes."
    )
    found = blocks(text)
    assert [block.kind for block in found] == ["table", "prose"]
    assert found[0].header is not None
    assert found[0].header.slice(text) == "Year Ended December 31,\n2024 2023"


def test_a_group_title_that_the_source_styled_stays_in_its_table() -> None:
    text = "(in millions)\n2024 2023\nASSETS\nCash 3,033 1,011\nOther 5 6"
    styled = Markup(headings=((Span(text.index("ASSETS"), text.index("\nCash")), 2),))
    assert [kind for kind, _ in kinds(text, markup=styled)] == ["table"]


def test_two_text_tables_in_a_row_are_two_blocks() -> None:
    one = "(in millions)\n2024 2023\nNet income 3,033 1,011\nOther 5 6"
    text = f"{one}\n(in thousands)\n2024 2023\nShares 1 2\nVotes 3 4"
    assert [block.kind for block in blocks(text)] == ["table", "table"]


@pytest.mark.parametrize(
    "text",
    [
        "We opened stores in 2023 and 2024\nand sold 1,500 units.",
        "The ratio was 2.1 in 2023.\nIt rose to 2.4 in 2024.",
        "1,500",
        "Telephone (206) 266-1000",
    ],
)
def test_prose_with_figures_is_no_table(text: str) -> None:
    assert {kind for kind, _ in kinds(text)} == {"prose"}


def test_contents_pages_are_lists() -> None:
    text = "Contents\n\n1. Letter ........ 3\n2. Model ........ 5\n2.1 Risks ........ 9\nAnnex ........ 12"
    assert kinds(text)[-1][0] == "list"


def test_crlf_and_form_feeds_keep_offsets() -> None:
    text = "# Uno\r\n\r\nTexto.\fMás.\r\n"
    assert kinds(text) == [("heading", "# Uno"), ("prose", "Texto.\fMás.")]


@pytest.mark.parametrize(
    "text",
    [
        "<div>" * 100_000,
        "<table>\n" * 20_000,
        "word " * 200_000,
        "1 2 " * 250_000,
        "|a" * 300_000,
        "*" * 300_000,
        "**a" * 100_000,
        "[" * 300_000,
        ". " * 300_000,
        "TITLE OF\n" * 20_000,
        "Some title\n\n" * 20_000,
        "```\n" * 20_001,
        "| fila | 1.234 |\n" * 20_000,
        "| 1.234 " * 500 + "|\n",
        "label  " + "1,234  " * 500,
        "\n" * 300_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    begin = time.process_time()
    found = blocks(text)
    assert time.process_time() - begin < 5
    assert_tiles(text, found)
