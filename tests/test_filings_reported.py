"""Faults that users of other tools reported, each as one small input of its kind, and input that is broken."""

from __future__ import annotations

import pytest
from langchain_core.documents import Document

from fin_rag.errors import ParseError
from fin_rag.loaders.html import read_html
from fin_rag.schema import ITEM, PAGE_MAP, Markup, Outline, PageMap, Section, SourceDocument, Span
from fin_rag.splitters import FinancialReportTextSplitter, SecFilingTextSplitter
from fin_rag.structure.filings import outline_filing
from tests.fakes import assert_sound, words

PROSE = (
    "We make valves for water utilities and sell them in nine states under contracts that run for two years. "
    "Prices follow the cost of castings, which we buy from two foundries, and are reviewed each quarter."
)


def split(text: str, size: int, doc_type: str = "10-K", markup: Markup | None = None) -> list[Document]:
    splitter = SecFilingTextSplitter(size, tokenization=words())
    document = SourceDocument(
        page_content=text, metadata={"doc_type": doc_type, "lang": "en"}, markup=markup or Markup()
    )
    whole, outline, chunks = splitter.split_whole(document)
    assert_sound(whole.page_content, chunks, words(), size, outline.furniture)
    return chunks


def split_html(source: str, size: int = 120, doc_type: str = "10-K") -> list[Document]:
    loaded = read_html(source.encode())
    metadata = {"doc_type": doc_type, "lang": "en", PAGE_MAP: loaded.page_map.format()}
    document = SourceDocument(page_content=loaded.text, metadata=metadata, markup=loaded.markup)
    return SecFilingTextSplitter(size, tokenization=words()).split_documents([document])


def outline(text: str, doc_type: str = "10-K", markup: Markup | None = None, **metadata: object) -> Outline:
    return outline_filing(text, metadata={"doc_type": doc_type, **metadata}, markup=markup)


def items(found: Outline) -> dict[str, Section]:
    return {str(s.metadata[ITEM]): s for s in found if s.path[-1] == s.metadata.get(ITEM)}


def body(text: str, section: Section) -> str:
    start = section.heading.end if section.heading else section.span.start
    return text[start : section.span.end].strip()


ROWS = [f"| Product line {n} | {n},1{n:02} | ({n}) |" for n in range(10, 50)]
TABLE = "($ in millions)\n| | 2023 | 2022 |\n|---|---|---|\n" + "\n".join(ROWS)


@pytest.mark.parametrize("splitter", [SecFilingTextSplitter, FinancialReportTextSplitter])
def test_p019_later_pieces_of_a_table_keep_head_and_unit(splitter) -> None:
    chunks = splitter(80, tokenization=words()).create_documents([TABLE], [{"doc_type": "10-K", "lang": "en"}])
    assert len(chunks) >= 4
    for chunk in chunks:
        assert chunk.page_content.startswith("($ in millions)\n| | 2023 | 2022 |")
    together = "\n".join(chunk.page_content for chunk in chunks)
    assert [together.count(row) for row in ROWS] == [1] * len(ROWS)


@pytest.mark.parametrize("size", range(24, 60, 3))
def test_p020_no_row_is_cut(size) -> None:
    chunks = split("Item 8. Financial Statements\n\n" + TABLE, size)
    lines = [line for chunk in chunks for line in chunk.page_content.splitlines()]
    assert all(line.startswith("|") and line.endswith("|") for line in lines if "|" in line)
    assert all(sum(row in chunk.page_content for chunk in chunks) == 1 for row in ROWS)


def test_p022_headings_stay_with_their_tables() -> None:
    text = "## Americas\n| | 2023 |\n|---|---|\n| Sales | 12 |\n\n## Europe\n| | 2023 |\n|---|---|\n| Sales | 7 |\n"
    chunks = FinancialReportTextSplitter(64, tokenization=words()).create_documents([text], [{"lang": "en"}])
    [europe] = [chunk for chunk in chunks if "| Sales | 7 |" in chunk.page_content]
    assert europe.metadata["section_path"].endswith("Europe")
    assert "Europe" in europe.page_content
    assert "| Sales | 12 |" not in europe.page_content


def test_p024_a_number_in_its_own_span_is_part_of_its_sentence() -> None:
    source = (
        f"<p><b>Item 1. Business</b></p><p>The group operates <span>1,500</span><span> stores</span>.</p><p>{PROSE}</p>"
    )
    [chunk] = split_html(source)
    assert "The group operates 1,500 stores." in chunk.page_content
    assert chunk.metadata["section_path"] == "10-K > Part I > Item 1" or "1,500" not in chunk.metadata["section_path"]


def test_p026_each_chunk_of_a_section_names_it() -> None:
    text = "Item 1. Business\n\n**Supply of Castings**\n\n" + "\n\n".join([PROSE] * 4)
    chunks = split(text, 60, markup=Markup(headings=((Span(18, 41), 2),)))
    assert len(chunks) >= 2
    for chunk in chunks:
        assert chunk.metadata["section_path"].endswith("Supply of Castings")
        assert "Supply of Castings" in chunk.metadata["context_header"]


def test_p027_the_contents_page_is_no_item() -> None:
    text = (
        "Item 1. Business .... 8\nItem 1A. Risk Factors .... 24\nItem 2. Properties .... 80\n\n"
        f"Item 1. Business\n\n{PROSE}\n\nItem 1A. Risk Factors\n\n{PROSE}\n\nItem 2. Properties\n\n{PROSE}\n"
    )
    found = items(outline(text))
    assert list(found) == ["Item 1", "Item 1A", "Item 2"]
    assert all(body(text, section) == PROSE for section in found.values())


def test_p029_short_neighbours_keep_their_sentences() -> None:
    text = "ITEM 10. DIRECTORS\nIncorporated.\nITEM 11. EXECUTIVE COMPENSATION\nIncorporated."
    assert [body(text, s) for s in items(outline(text)).values()] == ["Incorporated.", "Incorporated."]


def test_p030_merged_items_are_found_by_both_and_stored_once() -> None:
    text = "Items 1 and 2. Business and Properties\nWe drill wells.\nItem 3. Legal Proceedings\nNone.\n"
    found = items(outline(text))
    assert body(text, found["Item 1"]) == body(text, found["Item 2"]) == "We drill wells."
    chunks = split(text, 60)
    assert sum("We drill wells." in chunk.page_content for chunk in chunks) == 1
    [wells] = [chunk for chunk in chunks if "drill" in chunk.page_content]
    assert {wells.metadata["item"], *wells.metadata["merged_with"]} == {"Item 1", "Item 2"}


def test_p032_newer_items_stand_in_their_order() -> None:
    text = (
        "Item 1B. Unresolved Staff Comments\nNone.\nItem 1C. Cybersecurity\nWe have a CISO.\nItem 2. Properties\nOne.\n"
    )
    assert list(items(outline(text))) == ["Item 1B", "Item 1C", "Item 2"]


def test_p034_a_heading_may_wrap() -> None:
    text = f"ITEM\n7A. QUANTITATIVE\nAND QUALITATIVE DISCLOSURES\n\n{PROSE}\n"
    found = items(outline(text))
    assert list(found) == ["Item 7A"]
    assert body(text, found["Item 7A"]) == PROSE


def test_p036_anchors_inside_headings_shift_nothing() -> None:
    names = [("1", "Business"), ("1A", "Risk Factors"), ("2", "Properties"), ("3", "Legal Proceedings")]
    links = "".join(f'<p><a href="#x{number}">Item {number}. {title}</a></p>' for number, title in names)
    parts = "".join(
        f'<p><b><a id="x{number}"></a>Item {number}. {title}</b></p><p>{PROSE} This is of {title}.</p>'
        for number, title in names
    )
    loaded = read_html(f"<html><body>{links}<hr/>{parts}</body></html>".encode())
    found = items(outline(loaded.text, markup=loaded.markup))
    assert list(found) == [f"Item {number}" for number, _ in names]
    for number, title in names:
        section = found[f"Item {number}"]
        assert body(loaded.text, section).endswith(f"This is of {title}.")
        assert loaded.text[section.span.start :].lstrip("*# ").startswith(f"Item {number}. {title}")


def test_p037_an_inner_heading_does_not_end_an_8k_item() -> None:
    source = (
        "<p><b>Item 5.02 Departure of Directors</b></p><p>A director left on the first of May.</p>"
        "<p><b>Compensation plan</b></p><p>Terms follow.</p><p><b>Item 9.01 Exhibits</b></p><p>None.</p>"
    )
    loaded = read_html(source.encode())
    found = items(outline(loaded.text, "8-K", loaded.markup))
    assert "Terms follow." in found["Item 5.02"].span.slice(loaded.text)
    assert "Terms follow." not in found["Item 9.01"].span.slice(loaded.text)


def test_p038_an_index_over_two_tables_is_resolved_or_flagged() -> None:
    first = "| Item | | Pages |\n|---|---|---|\n| Item 1 | Business | 3-4 |\n| Item 1A | Risk Factors | 5 |\n"
    second = "| Item 8 | Financial Statements | 7 |\n|---|---|---|\n| Item 10 | Directors | 319-321* |\n"
    head = f"Annual report\n\n{PROSE}\n\nForm 10-K Cross Reference Index\n\n"
    text = f"{head}{first}\n{second}\n* Incorporated by reference.\n"
    found = items(outline(text))
    assert set(found) >= {"Item 1", "Item 1A", "Item 10"}
    for section in found.values():
        flagged = section.metadata["state"] in ("cross_reference", "incorporated_by_reference") or section.warnings
        assert flagged or len(body(text, section)) > 100
    assert found["Item 10"].metadata.get("part") != "Part I"


def test_p039_the_text_behind_the_signatures_names_the_item_that_points_to_it() -> None:
    text = (
        f"Item 1. Business\n\n{PROSE}\n\nItem 7. Management's Discussion and Analysis\n\n"
        "See the Financial Section that begins on page FS-1.\n\nItem 8. Financial Statements\n\nSee page FS-9.\n\n"
        "SIGNATURES\n\nPursuant to the requirements of the Act the registrant has signed.\n\n"
        f"MANAGEMENT'S DISCUSSION AND ANALYSIS\n\nResults of operations improved. {PROSE * 4}\n"
    )
    chunks = split(text, 200)
    [results] = [c for c in chunks if "Results of operations improved" in c.page_content]
    assert "Item 7" in results.metadata["section_path"]
    assert results.metadata["item"] == "Item 7"


def test_p041_a_running_part_head_cuts_nothing() -> None:
    pages = [f"PART I\n\n{'Item 1. Business' if not n else ''}\n\n{PROSE}\n\n{n + 1}\n" for n in range(4)]
    text, spans, at = "\n".join(pages), [], 0
    for number, page in enumerate(pages, 1):
        spans.append((number, Span(at, at + len(page))))
        at += len(page) + 1
    found = outline(text, page_map=PageMap(tuple(spans)).format())
    assert list(items(found)) == ["Item 1"]
    assert body(text, items(found)["Item 1"]).count("water utilities") == 4


def test_p043_the_next_part_is_not_glued_to_the_last_item() -> None:
    text = "PART I\nItem 4. Controls\nEffective.\nPART II OTHER INFORMATION\nItem 1. Legal Proceedings\nNone.\n"
    found = [s for s in outline(text, "10-Q") if s.path[-1] == s.metadata.get(ITEM)]
    assert [body(text, s) for s in found] == ["Effective.", "None."]


# --- bad input ----------------------------------------------------------------------------------
FILING = (
    f"<html><body><p><b>PART I</b></p><p><b>Item 1. Business</b></p><p>{PROSE}</p>"
    f"<p><b>Item 1A. Risk Factors</b></p><p>{PROSE}</p></body></html>"
)


def read(source: str) -> tuple[str, Markup, dict[str, Section]]:
    loaded = read_html(source.encode())
    return loaded.text, loaded.markup, items(outline(loaded.text, markup=loaded.markup))


@pytest.mark.parametrize("cut", [len(FILING) - 20, FILING.index("Item 1A") + 25, FILING.index("</p><p><b>Item 1A")])
def test_truncated_html_gives_what_is_there(cut) -> None:
    text, _, found = read(FILING[:cut])
    assert "Item 1" in found
    assert "water utilities" in body(text, found["Item 1"])
    assert set(found) <= {"Item 1", "Item 1A"}


def test_malformed_html_is_read() -> None:
    broken = FILING.replace("</b></p>", "</p></i>", 2).replace("<p>We", "<p <p>We") + "</table></div><td>"
    _, _, found = read(broken)
    assert "Item 1" in found


def test_tables_nested_ten_deep_keep_their_text() -> None:
    deep = "<table><tr><td>" * 10 + "The innermost cell." + "</td></tr></table>" * 10
    text, _, found = read(FILING.replace("</body>", f"{deep}</body>"))
    assert text.count("The innermost cell.") == 1
    assert list(found) == ["Item 1", "Item 1A"]


def test_a_missing_context_is_counted_and_the_text_stays() -> None:
    fact = '<ix:nonFraction contextRef="gone" unitRef="usd" name="us-gaap:Revenues" scale="6">1,204</ix:nonFraction>'
    text, markup, found = read(FILING.replace("</body>", f"<p>Revenue was ${fact}.</p></body>"))
    assert "Revenue was $1,204." in text
    assert markup.facts == ()
    assert any("context" in warning for warning in markup.warnings)
    assert "Item 1A" in found


def test_contents_links_that_lead_nowhere_do_no_harm() -> None:
    links = "".join(
        f'<p><a href="#gone{n}">Item {n}. {t}</a> {n}</p>' for n, t in (("1", "Business"), ("1A", "Risk Factors"))
    )
    text, _, found = read(FILING.replace("<body>", f"<body>{links}<hr/>"))
    assert [body(text, s) for s in found.values()] == [PROSE, PROSE]


def test_two_filings_in_one_file_are_not_one() -> None:
    inside = f"Item 1. Business\n\n{PROSE}\n\nItem 2. Properties\n\nOne.\n"
    one = f"<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n{inside}</TEXT>\n</DOCUMENT>\n"
    other = one.replace("water utilities", "gas utilities")
    found = items(outline(one + other))
    assert list(found) == ["Item 1", "Item 2"]
    assert "gas utilities" not in body(one + other, found["Item 1"])
    assert "gas utilities" not in body(one + other, found["Item 2"])


def test_a_filing_that_is_an_image_is_one_clear_error() -> None:
    with pytest.raises(ParseError, match="text recognition"):
        read_html(b'<html><body><img src="page1.jpg"/><img src="page2.jpg"/></body></html>')


def test_no_item_is_stated_with_confidence_where_there_is_none() -> None:
    text = f"Dear shareholders,\n\n{PROSE}\n\nSee Item 7 of our annual report, and Item 1A, Risk Factors, for more.\n"
    found = outline(text)
    assert items(found) == {}
    assert found.warnings
