"""Splitters: exact offsets, whole coverage, budgets that hold, LangChain's interface."""

from __future__ import annotations

import itertools
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.errors import InputError, IntegrityError
from fin_rag.schema import Section, Span
from fin_rag.splitters import (
    ChunkingConfig,
    FinancialReportTextSplitter,
    FixedWindowTextSplitter,
    RecursiveTextSplitter,
    SecFilingTextSplitter,
    joined_pages,
    splitter_for,
)
from fin_rag.splitters.regions import context_header, regions_of
from tests.fakes import assert_sound, byte_level, report, words

LINES = st.sampled_from([
    "# Annual report", "## Debt", "### 3.1 Maturities", "**Liquidity**",
    "Net sales rose 5 % to $1,234 million.",
    "Total 5", "See accompanying notes.", "La deuda neta fue de 12,5 millones de euros; véase la nota 4.",
    "| Year | Sales |", "|---|---:|", "| 2024 | 1,234 |", "| 2023 | (567) |", "(in millions)",
    "- first", "- second",
    "1. numbered", "", "", "```", "# of holders of record: 412", "¹ Restated.", "x" * 90, "\u00a0",
    "word " * 60,
])  # fmt: skip
TEXTS = st.one_of(st.lists(LINES, max_size=40).map("\n".join), st.text(max_size=400))


@pytest.mark.parametrize(("tokenization", "budget", "overlap"), [(words(), 24, 6), (byte_level(), 160, 30)])
@given(text=TEXTS)
def test_chunks_are_sound_whatever_the_text(tokenization, budget, overlap, text) -> None:
    splitter = FinancialReportTextSplitter(budget, overlap, tokenization=tokenization)
    assert_sound(text, splitter.split_documents([report(text, title="R")]), tokenization, budget)


@pytest.mark.parametrize("baseline", [FixedWindowTextSplitter, RecursiveTextSplitter])
@given(text=TEXTS)
def test_baselines_are_sound_too(baseline, text) -> None:
    splitter = baseline(24, 6, tokenization=words())
    assert_sound(text, splitter.split_documents([report(text, title="R")]), words(), 24)


@given(text=TEXTS)
def test_filings_are_sound_whatever_the_text(text) -> None:
    splitter = SecFilingTextSplitter(24, tokenization=words())
    document = Document(page_content=text, metadata={"doc_type": "10-K", "title": "F"})
    assert_sound(text, splitter.split_documents([document]), words(), 24)


def test_repeated_lines_get_their_own_offsets() -> None:
    text = "Total 5\n\nTotal 5\n\nTotal 5"
    chunks = FinancialReportTextSplitter(4, length_function=lambda t: len(t.split())).create_documents(
        [text], [{"title": "R"}]
    )
    assert [chunk.metadata["start_index"] for chunk in chunks] == [0, 9, 18]


def test_text_is_never_normalised() -> None:
    text = "Net sales rose.  Costs fell.\u00a0Margin held.\r\nCash grew."
    (chunk,) = FinancialReportTextSplitter(64, tokenization=words()).create_documents([text])
    assert chunk.page_content == text


def test_blank_lines_between_paragraphs_stay() -> None:
    text = "# Item 7\n\nFirst para.\n\nSecond para."
    (chunk,) = FinancialReportTextSplitter(64, tokenization=words()).create_documents([text])
    assert "First para.\n\nSecond para." in chunk.page_content


def test_inner_hash_line_is_no_heading_and_is_not_lost() -> None:
    text = "Item 5. Market\n\nOur shares trade.\n# of holders of record: 412\nDividends are paid."
    document = Document(page_content=text, metadata={"doc_type": "10-K", "title": "10-K"})
    chunks = SecFilingTextSplitter(64, tokenization=words()).split_documents([document])
    assert "# of holders of record: 412" in chunks[-1].page_content
    assert all("holders" not in chunk.metadata["section_path"] for chunk in chunks)


def test_short_note_stays_one_chunk_and_long_line_is_cut_between_words() -> None:
    note = "word " * 60
    assert len(FinancialReportTextSplitter(80, tokenization=words()).create_documents([note], [{"title": "R"}])) == 1
    line = " ".join(f"{i},000.5" for i in range(3000))
    chunks = FinancialReportTextSplitter(80, tokenization=words()).create_documents([line], [{"title": "R"}])
    assert all(chunk.page_content.endswith(",000.5") for chunk in chunks)
    assert " ".join(chunk.page_content for chunk in chunks) == line


def test_a_sentence_across_pages_stays_whole() -> None:
    pages = [
        Document(page_content="Sales rose because the new", metadata={"source": "a.pdf", "page": 0}),
        Document(page_content="plant opened in May.", metadata={"source": "a.pdf", "page": 1}),
    ]
    (chunk,) = FinancialReportTextSplitter(64, tokenization=words()).split_documents(pages)
    assert (chunk.metadata["page"], chunk.metadata["page_end"]) == (1, 2)
    assert chunk.page_content == "Sales rose because the new\n\nplant opened in May."


def test_budget_counts_the_header_of_tables_too() -> None:
    rows = "\n".join(f"| Item number {i} | {i},234 | ({i}) |" for i in range(50))
    title = "Long section title about many things " * 5
    text = f"## {title}\n\n(in millions)\n| Line | 2024 | 2023 |\n|---|---|---|\n{rows}"
    chunks = FinancialReportTextSplitter(60, tokenization=words()).create_documents([text], [{"title": "Report"}])
    assert_sound(text, chunks, words(), 60)


def test_long_table_repeats_header_and_unit_and_keeps_rows_whole() -> None:
    rows = [f"| Deferred income taxes {i} | {i},234 | ({i}) |" for i in range(40)]
    text = "## Taxes\n\n($ in millions)\n| Line | 2023 | 2022 |\n|---|---|---|\n" + "\n".join(rows)
    chunks = FinancialReportTextSplitter(90, tokenization=words()).create_documents([text], [{"title": "Report"}])
    tables = [chunk for chunk in chunks if chunk.metadata["kind"] == "table"]
    assert len(tables) > 2
    for chunk in tables[1:]:
        assert chunk.page_content.startswith("($ in millions)\n| Line | 2023 | 2022 |")
    printed = list(itertools.chain.from_iterable(chunk.page_content.splitlines() for chunk in tables))
    assert all(printed.count(row) == 1 for row in rows)


def test_title_of_every_piece_is_in_path_and_header() -> None:
    text = "# R\n\n## Liquidity\n\n" + "\n\n".join("word " * 20 for _ in range(4))
    chunks = FinancialReportTextSplitter(40, tokenization=words()).create_documents([text], [{"title": "R"}])
    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.metadata["section_path"].endswith("Liquidity")
        assert "Liquidity" in chunk.metadata["context_header"]


def test_budget_alone_is_enough() -> None:
    chunks = FinancialReportTextSplitter(chunk_size=128).create_documents(["La deuda neta bajó. " * 200])
    assert all(chunk.metadata["token_count"] <= 128 for chunk in chunks)


def test_only_what_is_prefixed_counts() -> None:
    summary = "word " * 1700
    (chunk,) = FinancialReportTextSplitter(64, tokenization=words()).create_documents(
        ["Short."], [{"summary": summary}]
    )
    assert chunk.metadata["summary"] == summary
    assert chunk.metadata["token_count"] <= 64


def test_overlap_is_whole_paragraphs_and_recorded() -> None:
    text = "\n\n".join(f"Paragraph {i} has a few words." for i in range(12))
    chunks = FinancialReportTextSplitter(30, 12, tokenization=words()).create_documents([text], [{"title": "R"}])
    assert_sound(text, chunks, words(), 30)
    for before, after in itertools.pairwise(chunks):
        shared = text[after.metadata["start_index"] : before.metadata["end_index"]]
        assert after.metadata["overlap_tokens"] == len(shared.split()) <= 12
        assert after.metadata["overlap_tokens"] > 0
        assert after.page_content.startswith("Paragraph")


def test_header_can_be_put_in_front() -> None:
    splitter = FinancialReportTextSplitter(64, tokenization=words(), add_context_header=True)
    (chunk,) = splitter.create_documents(["Net sales rose."], [{"title": "Letter", "issuer": "Orrin"}])
    assert chunk.page_content == "Orrin — Letter\n\nNet sales rose."
    assert chunk.page_content[chunk.metadata["body_offset"] :] == "Net sales rose."


def test_langchain_methods_agree() -> None:
    text = "# A\n\nOne.\n\n# B\n\nTwo."
    splitter = FinancialReportTextSplitter(16, tokenization=words())
    documents = splitter.create_documents([text])
    assert splitter.split_text(text) == [chunk.page_content for chunk in documents]
    given = [Document(page_content=text)]
    assert [c.id for c in splitter.split_documents(given)] == [c.id for c in documents]
    assert [c.id for c in splitter.transform_documents(given)] == [c.id for c in documents]


def test_length_function_of_langchain_counts() -> None:
    chunks = FinancialReportTextSplitter(chunk_size=80, length_function=len).create_documents(
        ["word " * 100], [{"title": "R"}]
    )
    assert all(chunk.metadata["token_count"] <= 80 for chunk in chunks)
    assert len(chunks) > 5


def test_part_of_a_document_yields_offsets_of_the_whole() -> None:
    whole = "Introduction.\n\nNet sales rose."
    part = Document(page_content=whole[15:], metadata={"source": "a.md", "start_index": 15, "doc_type": "report"})
    (chunk,) = FinancialReportTextSplitter(64, tokenization=words()).split_documents([part])
    assert whole[chunk.metadata["start_index"] : chunk.metadata["end_index"]] == chunk.page_content


def test_chunks_do_not_share_metadata_objects() -> None:
    given = {"tags": ["a"], "title": "R"}
    chunks = FinancialReportTextSplitter(16, tokenization=words()).create_documents(
        ["# A\n\nOne.\n\n# B\n\nTwo."], [given]
    )
    chunks[0].metadata["tags"].append("b")
    assert chunks[1].metadata["tags"] == ["a"] == given["tags"]


def test_ids_depend_on_text_and_settings_only() -> None:
    first = FinancialReportTextSplitter(16, tokenization=words()).create_documents(["One."])
    again = FinancialReportTextSplitter(16, tokenization=words()).create_documents(["One."])
    other = FinancialReportTextSplitter(17, tokenization=words()).create_documents(["One."])
    assert first[0].id == again[0].id != other[0].id


@pytest.mark.parametrize(
    ("arguments", "words_of_message"),
    [
        ({"chunk_size": 300, "chunk_overlap": 400}, "must be at least 0 and less than chunk_size"),
        ({"chunk_size": 0}, "at least 1"),
        ({"chunk_size": 600, "tokenization": words()}, "above the 512 tokens"),
        ({"tokenization": words(), "length_function": len}, "not both"),
    ],
)
def test_wrong_budgets_are_refused(arguments, words_of_message) -> None:
    with pytest.raises(InputError, match=words_of_message):
        SecFilingTextSplitter(**arguments)


def test_title_that_eats_the_budget_is_refused() -> None:
    with pytest.raises(InputError, match="leaves no room"):
        FinancialReportTextSplitter(10, tokenization=words()).create_documents(["Body."], [{"title": "word " * 20}])


def test_character_that_does_not_fit_is_refused() -> None:
    huge = byte_level()
    with pytest.raises(InputError, match="does not fit"):
        FinancialReportTextSplitter(8, tokenization=huge).create_documents(["💶💶"], [{"title": "R"}])


def test_changed_text_is_noticed() -> None:
    chunk = FinancialReportTextSplitter(16, tokenization=words())
    whole, _, _ = chunk.split_whole(report("One.", source="a.md", title="A"))
    changed = whole.model_copy(update={"page_content": "Two."})
    with pytest.raises(IntegrityError, match="has changed"):
        chunk.split_documents([changed])


def test_pages_that_do_not_rise_stay_apart(caplog) -> None:
    pages = [Document(page_content="One.", metadata={"source": "a.pdf", "page": n}) for n in (3, 2)]
    with caplog.at_level(logging.WARNING):
        assert len(joined_pages(pages)) == 2
    assert "do not rise" in caplog.text


def test_the_kind_picks_the_splitter() -> None:
    assert isinstance(splitter_for(Document(page_content="", metadata={"doc_type": "8-K"})), SecFilingTextSplitter)
    assert isinstance(
        splitter_for(Document(page_content="", metadata={"doc_type": "kid"})), FinancialReportTextSplitter
    )


# --- regions and headers --------------------------------------------------------------------------


def test_heading_without_text_goes_with_the_section_below() -> None:
    text = "PART I\n\nItem 1\n\nBody."
    sections = [
        Section("p", "PART I", ("p",), Span(0, 21), 1, Span(0, 6)),
        Section("i", "Item 1", ("p", "i"), Span(8, 21), 2, Span(8, 14)),
    ]
    (region,) = regions_of(text, sections, Section("r", "", (), Span(0, 21)))
    assert (region.section.section_id, region.span, region.parent) == ("i", Span(0, 21), Span(0, 21))


def test_sections_that_cross_are_cut_with_a_warning(caplog) -> None:
    sections = [Section("a", "", (), Span(0, 5)), Section("b", "", (), Span(3, 8))]
    regions = regions_of("x" * 10, sections, Section("r", "", (), Span(0, 10)))
    assert [(r.section.section_id, r.span) for r in regions] == [
        ("a", Span(0, 3)),
        ("b", Span(3, 5)),
        ("r", Span(5, 10)),
    ]
    assert "reaches beyond the end" in caplog.text


def test_long_path_gives_way_from_the_outside() -> None:
    path = ("10-K", "Part II", "Item 7 " + "long " * 8, "Liquidity")
    header = context_header({"issuer": "Orrin", "title": "10-K 2024"}, path, tokenization=words(), max_tokens=30)
    assert header == "Orrin — 10-K 2024 > … > Liquidity"


def test_settings_must_be_complete() -> None:
    with pytest.raises(InputError, match="exactly"):
        ChunkingConfig.from_settings({"max_tokens": 100})
    with pytest.raises(InputError, match="whole numbers"):
        ChunkingConfig.from_settings({"max_tokens": 100, "overlap_tokens": "5"})


def test_separators_never_get_into_the_text() -> None:
    text = "One paragraph.\n\n\nAnother one.\n\n\n\nA third."
    chunks = FinancialReportTextSplitter(3, tokenization=words()).create_documents([text], [{"title": "R"}])
    assert [chunk.page_content for chunk in chunks] == ["One paragraph.", "Another one.", "A third."]


def test_styled_blocks_of_html_are_headings(tmp_path) -> None:
    from fin_rag import FinancialDocumentLoader

    source = tmp_path / "a.html"
    source.write_text(
        '<html><body><div><span style="font-weight:700">Item 1A. Risk Factors</span></div>'
        "<div>Rates may rise.</div></body></html>"
    )
    documents = FinancialDocumentLoader(source, doc_type="10-K").load()
    (chunk,) = SecFilingTextSplitter(64, tokenization=words()).split_documents(documents)
    assert "Item 1A" in chunk.metadata["section_path"]
    assert chunk.page_content.endswith("Rates may rise.")


def test_merged_items_keep_every_number_down_to_their_sub_headings() -> None:
    text = (
        "PART I\n\nItems 1 and 2. Business and Properties\n\nWe drill.\n\n**Wells**\n\nDeep.\n\nItem 3. Legal\n\nNone."
    )
    given = [{"doc_type": "10-K", "title": "R"}]
    chunks = SecFilingTextSplitter(8, tokenization=words()).create_documents([text], given)
    merged = [c for c in chunks if c.metadata["item"] == "Item 1"]
    assert len(merged) >= 2
    assert all(c.metadata["merged_with"] == ["Item 2"] for c in merged)
    assert sum("Deep." in c.page_content for c in chunks) == 1
