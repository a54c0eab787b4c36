"""Reports in chunks: notes beside what cites them, tables that keep their heads, budgets, odd input."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.schema import parse_spans
from fin_rag.splitters import FinancialReportTextSplitter, prepared_text
from fin_rag.tokens import Tokenization, load_tokenization
from tests.fakes import assert_sound, byte_level, report, words

NOTED = """# Annual report

## Debt

The debt fell for the second year.

(EUR million)

| Line | 2031 | 2030 |
|---|---:|---:|
| Gross debt (1) | 410 | 455 |
| Net debt (2) | 340 | 390 |
| Lease debt (3) | 12 | 14 |

(1) Nominal value.

(2) Without leases.

## Outlook

We expect 300 in 2032.
"""


def splitter(budget: int = 64, overlap: int = 0, **options: object) -> FinancialReportTextSplitter:
    return FinancialReportTextSplitter(budget, overlap, tokenization=words(), **options)


def chunks_of(text: str, budget: int = 64, **options: object) -> list[Document]:
    return splitter(budget, **options).split_documents([report(text, title="Acme — Report 2031")])


def holding(chunks: list[Document], words_: str) -> Document:
    return next(chunk for chunk in chunks if words_ in chunk.page_content)


def test_a_chunk_carries_exactly_the_notes_that_it_cites() -> None:
    chunks = chunks_of(NOTED, 128)
    debt = holding(chunks, "Net debt")
    spans = [span.slice(NOTED) for span in parse_spans(debt.metadata["spans"])]
    assert spans[1:] == ["(1) Nominal value.", "(2) Without leases."]
    assert debt.metadata["unresolved_markers"] == ["(3)"]
    assert (debt.metadata["currency"], debt.metadata["scale"]) == ("EUR", 1_000_000)
    assert "(1)" not in holding(chunks, "We expect").page_content


def test_row_groups_carry_their_own_notes_only() -> None:
    chunks = chunks_of(NOTED, 44)
    net = holding(chunks, "| Net debt")
    if "| Gross debt" not in net.page_content:
        assert "(2) Without leases." in net.page_content
        assert "(1) Nominal value." not in net.page_content
    for chunk in chunks:
        if "| 2031 |" not in chunk.page_content:
            assert "debt (" not in chunk.page_content


def test_a_footnote_brings_the_note_of_the_accounts_that_it_refers_to() -> None:
    text = "| A | 2031 |\n|---|---|\n| Land (1) | 4 |\n\n(1) See note 12.\n\n## Note 12. Pledges\n\nA mortgage of 3."
    land = holding(chunks_of(text), "Land")
    assert land.page_content.endswith("(1) See note 12.\n\n## Note 12. Pledges\n\nA mortgage of 3.")
    assert "notes_left_out" not in land.metadata


def test_a_note_without_room_is_counted() -> None:
    text = NOTED.replace("Without leases.", "Without leases " * 40)
    chunks = chunks_of(text, 48)
    assert any(chunk.metadata.get("notes_left_out") for chunk in chunks)
    assert "Without leases" in "".join(chunk.page_content for chunk in chunks)


def test_notes_are_chunks_of_their_own_on_request() -> None:
    alone = [chunk for chunk in chunks_of(NOTED, 128, index_notes=True) if chunk.metadata["kind"] == "note"]
    assert [chunk.page_content for chunk in alone] == ["(1) Nominal value.", "(2) Without leases."]
    assert alone[0].metadata["context_header"] == "Acme — Report 2031 > Annual report > Debt > Gross debt"
    assert alone[0].metadata["cited_by"] == ["Annual report > Debt > Gross debt"]
    assert [c for c in chunks_of(NOTED, 128) if c.metadata["kind"] == "note"] == []


def test_a_note_that_nothing_cites_is_not_lost() -> None:
    chunks = chunks_of("| A | 2031 |\n|---|---|\n| B | 4 |\n\n(7) Called by nothing.")
    assert "(7) Called by nothing." in "".join(chunk.page_content for chunk in chunks)


def test_markers_without_a_note_are_warned_of(caplog) -> None:
    document = report(NOTED, source="a.md")
    with caplog.at_level(logging.INFO):
        outline = splitter().outline(document)
    assert any("(3)" in warning and "has no note" in warning for warning in outline.warnings)
    many = "\n".join(f"| Row¹ {n}² | 1 |" for n in range(60))
    warnings = splitter().outline(report(f"| A | 2031 |\n|---|---|\n{many}")).warnings
    assert len(warnings) < 30
    assert "further markers" in warnings[-1]


def test_rows_in_words_are_what_is_read_and_the_table_is_what_is_cited() -> None:
    tokenization = words()
    for chunk in chunks_of(NOTED, 128, tables="linear"):
        assert chunk.page_content == "\n\n".join(s.slice(NOTED) for s in parse_spans(chunk.metadata["spans"]))
        prepared = prepared_text(chunk, tokenization)
        assert chunk.metadata["token_count"] == tokenization.count_tokens(prepared) <= 128
        if "| Net debt" in chunk.page_content:
            assert "Net debt: 2031 = 340 EUR million; 2030 = 390 EUR million" in prepared
            assert "|" not in prepared


def test_form_of_tables_and_notes_are_part_of_the_ids() -> None:
    ids = {chunks_of(NOTED, 128, **options)[0].id for options in ({}, {"tables": "linear"}, {"index_notes": True})}
    assert len(ids) == 3
    with pytest.raises(InputError, match="tables"):
        splitter(tables="html")


def test_without_markdown_headings_no_title_is_invented() -> None:
    chunks = chunks_of("# of holders: 412\n\n**Bold.**\n\nText.", detect_markdown_headings=False)
    assert {chunk.metadata["section_path"] for chunk in chunks} == {"report"}


def test_fenced_code_is_no_heading() -> None:
    text = "# Report\n\n```\n# not a title\n```\n\nText."
    assert [section.title for section in splitter().outline(report(text))] == ["Report"]


# --- reports of people who do this job ------------------------------------------------------------


def test_headings_count_against_the_budget_of_tables_too() -> None:
    path = "\n\n".join(f"{'#' * level} {'long title of a part ' * 2}{level}" for level in range(1, 5))
    rows = "\n".join(f"| Row number {n} | {n},000 | {n},100 |" for n in range(50))
    text = f"{path}\n\n| Line | 2031 | 2030 |\n|---|---|---|\n{rows}"
    tokenization = byte_level()
    chunks = FinancialReportTextSplitter(400, tokenization=tokenization).split_documents([report(text, title="R")])
    assert_sound(text, chunks, tokenization, 400)


def test_every_row_of_a_wide_table_keeps_its_own_column_heads() -> None:
    heads = [f"Year ended in the zone number {n}" for n in range(40)]
    lines = [[f"{row}.{n:03d}" for n in range(40)] for row in range(1, 9)]
    table = ["| Line | " + " | ".join(heads) + " |", "|" + "---|" * 41]
    table += [f"| Label {row} | " + " | ".join(cells) + " |" for row, cells in enumerate(lines, 1)]
    text = "(EUR)\n" + "\n".join(table)
    chunks = chunks_of(text, 128)
    assert_sound(text, chunks, words(), 128)
    for row, cells in enumerate(lines, 1):
        for head, cell in zip(heads, cells, strict=True):
            chunk = next(c for c in chunks if f"{cell} |" in c.page_content)
            assert f"{head} |" in chunk.page_content
            assert f"Label {row} |" in chunk.page_content
    assert min(chunk.metadata["token_count"] for chunk in chunks) > 30


def test_pieces_of_a_long_table_begin_with_head_and_unit_and_hold_each_row_once() -> None:
    rows = [f"| Item {n} (1) | {n},123 | ({n}67) |" for n in range(1, 41)]
    text = "($ in millions)\n| | 2023 | 2022 |\n|---|---|---|\n" + "\n".join(rows) + "\n\n(1) Restated."
    chunks = chunks_of(text, 96)
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.page_content.startswith("($ in millions)\n| | 2023 | 2022 |")
        assert chunk.page_content.endswith("(1) Restated.")
    whole = "\n".join(chunk.page_content for chunk in chunks)
    assert [whole.count(row) for row in rows] == [1] * 40


def test_groups_of_rows_are_even_and_keep_the_title_that_they_stand_under() -> None:
    rows = ["| Assets | | |"] + [f"| Asset {n} | {n} | {n} |" for n in range(12)]
    text = "| EUR | 2031 | 2030 |\n|---|---|---|\n" + "\n".join(rows)
    chunks = chunks_of(text, 64)
    sizes = [chunk.metadata["token_count"] for chunk in chunks]
    assert max(sizes) < 2 * min(sizes)
    assert all("| Assets |" in chunk.page_content for chunk in chunks)


def test_tables_stay_under_their_own_heading() -> None:
    text = (
        "## Americas\n\n| A | 2031 |\n|---|---|\n| Sales | 4 |\n\n## Europe\n\n| A | 2031 |\n|---|---|\n| Sales | 5 |"
    )
    assert [(c.metadata["section_path"], "| Sales |" in c.page_content) for c in chunks_of(text)] == [
        ("Americas", True),
        ("Europe", True),
    ]


def test_a_heading_never_stands_alone_before_a_long_table() -> None:
    rows = "\n".join(f"| Row {n} | {n} | {n} |" for n in range(40))
    for chunk in chunks_of(f"## Long table\n\n| A | 2031 | 2030 |\n|---|---|---|\n{rows}", 64):
        assert chunk.page_content.strip("# ") != "Long table"


def test_both_pieces_of_a_section_name_its_title() -> None:
    chunks = chunks_of("## Liquidity risk\n\n" + "\n\n".join(f"Paragraph {n} of the text." for n in range(30)))
    assert len(chunks) > 1
    assert all("Liquidity risk" in chunk.metadata["context_header"] for chunk in chunks)
    assert all(chunk.metadata["section_path"].endswith("Liquidity risk") for chunk in chunks)


# --- budgets --------------------------------------------------------------------------------------

LABELS = st.text(alphabet="abcdé ñ", min_size=1, max_size=12)
FIGURES = st.sampled_from(["1,204", "(12)", "4.1%", "—", "", "7 (2)", "310¹"])
TABLES = st.lists(st.tuples(LABELS, FIGURES, FIGURES), min_size=1, max_size=12).map(
    lambda rows: "| Line (1) | 2031 | 2030* |\n|---|---|---|\n" + "\n".join(f"| {a} | {b} | {c} |" for a, b, c in rows)
)
NOTES = st.sampled_from(["(1) Restated for the sale.", "¹ Unaudited.", "* Estimate.", "(2) " + "Long note. " * 12])
PROSE = st.text(alphabet="ab c.\né(1)¹", min_size=1, max_size=160)
HEADS = st.sampled_from(["## Debt", "**Risks**", "3.1 Liquidity", "OUTLOOK"])
REPORTS = st.lists(st.one_of(TABLES, NOTES, PROSE, HEADS), min_size=1, max_size=10).map("\n\n".join)


@settings(max_examples=60)
@pytest.mark.parametrize(("tokenization", "budget", "overlap"), [(words(), 32, 8), (byte_level(), 200, 40)])
@given(text=REPORTS, notes=st.booleans())
def test_generated_reports_are_sound(tokenization, budget, overlap, text, notes) -> None:
    made = FinancialReportTextSplitter(budget, overlap, tokenization=tokenization, index_notes=notes)
    _, outline, chunks = made.split_whole(report(text, title="R"))
    for chunk in chunks:
        spans = parse_spans(chunk.metadata["spans"])
        assert chunk.page_content == "\n\n".join(span.slice(text) for span in spans)
        assert chunk.metadata["token_count"] == tokenization.count_tokens(prepared_text(chunk, tokenization)) <= budget
        assert chunk.metadata["overlap_tokens"] <= overlap
    covered = {
        at for chunk in chunks for span in parse_spans(chunk.metadata["spans"]) for at in range(span.start, span.end)
    }
    covered |= {at for mark in outline.furniture for at in range(mark.start, mark.end)}
    assert [text[at] for at in range(len(text)) if at not in covered and not text[at].isspace()] == []
    assert [c.id for c in made.split_documents([report(text, title="R")])] == [c.id for c in chunks]


@settings(max_examples=60)
@given(text=REPORTS)
def test_tokenizers_that_read_a_text_once_count_as_those_that_read_every_piece(text) -> None:
    def starts(given_: str) -> list[int]:
        return [at for at in range(len(given_)) if not given_[at].isspace() and (at == 0 or given_[at - 1].isspace())]

    plain = words()
    once = Tokenization("words", plain.count_tokens, 512, token_starts=starts)
    one, other = (
        FinancialReportTextSplitter(32, 8, tokenization=t).split_documents([report(text)]) for t in (plain, once)
    )
    assert [(c.page_content, c.metadata["token_count"]) for c in one] == [
        (c.page_content, c.metadata["token_count"]) for c in other
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("budget", "overlap"), [(256, 32), (384, 48), (480, 64)])
def test_budgets_hold_on_the_spanish_corpus(shared, budget, overlap) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.read_parquet(shared / "data" / "corpus_es" / "hard" / "rag6_documentos.parquet")
    for tokenization in (load_tokenization(), byte_level()):
        made = FinancialReportTextSplitter(budget, overlap, tokenization=tokenization)
        for text, title in list(zip(frame.texto, frame.titulo, strict=True))[::4]:
            _, outline, chunks = made.split_whole(report(text, title=title))
            assert_sound(text, chunks, tokenization, budget, outline.furniture)


# --- odd input ------------------------------------------------------------------------------------


def test_notes_that_cite_each_other_in_a_circle() -> None:
    text = "| A | 2031 |\n|---|---|\n| B (1) | 4 |\n\n(1) See note (2).\n(2) See note (1)."
    assert_sound(text, chunks_of(text), words(), 64)


@pytest.mark.parametrize(("rows", "columns"), [(10_000, 3), (12, 500)])
def test_huge_tables(rows, columns) -> None:
    heads = " | ".join(f"Col {n}" for n in range(columns))
    body = "\n".join(f"| Row {r} | " + " | ".join(f"{r}.{n}" for n in range(columns)) + " |" for r in range(rows))
    text = f"| Line | {heads} |\n|{'---|' * (columns + 1)}\n{body}"
    assert_sound(text, chunks_of(text, 256), words(), 256)


def test_a_heading_longer_than_the_budget_gives_way() -> None:
    text = f"# Report\n\n## {'very long title ' * 60}\n\nThe text."
    chunks = chunks_of(text, 64)
    assert_sound(text, chunks, words(), 64)
    assert all(len(chunk.metadata["context_header"].split()) < 64 for chunk in chunks)


def test_mixed_line_ends_and_encodings_keep_their_offsets() -> None:
    text = "# Informe\r\n\r\nVentas\u00a012 €.\rCaja \ufffd 3.\r\n\r\n"
    text += "| A (1) | 2031 |\r\n|---|---|\r\n| B | 4 |\r\n\r\n(1) Nota.\r\n"
    assert_sound(text, chunks_of(text), words(), 64)


@pytest.mark.parametrize("text", ["", " \n\n ", "|", "(1)", "¹", "| |\n|---|", "# ", "\f"])
def test_nearly_empty_texts(text) -> None:
    assert_sound(text, chunks_of(text), words(), 64)
