"""Outlines of SEC filings: Items, Parts, states, sub-headings, notes, cross-reference indexes."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_rag.schema import ITEM, Markup, Outline, Section, Span
from fin_rag.structure.filings import outline_filing
from fin_rag.structure.filings.forms import family_name, form_named
from fin_rag.structure.filings.grammar import parse_heading

SHARED = Path(__file__).resolve().parents[2] / "shared"
PROSE = (
    "We make valves for water utilities and sell them in nine states under contracts that run for two years. "
    "Prices follow the cost of castings, which we buy from two foundries, and are reviewed each quarter.\n"
)


def outline(text: str, form: str = "10-K", markup: Markup | None = None, **metadata: object) -> Outline:
    return outline_filing(text, metadata={"doc_type": form, **metadata}, markup=markup)


def items(found: Outline) -> list[Section]:
    return [s for s in found if s.path[-1] == s.metadata.get(ITEM)]


def ids(found: Outline) -> list[str]:
    return [s.section_id for s in items(found)]


def body(found: Outline, section_id: str, text: str) -> str:
    section = found.find(section_id)
    assert section is not None
    start = section.heading.end if section.heading else section.span.start
    return text[start : section.span.end].strip()


def assert_sound(found: Outline, text: str) -> None:
    """Sections lie in the text, rise, nest or stand apart, and have ids of their own."""
    assert len({s.section_id for s in found}) == len(found)
    open_sections: list[Section] = []
    last = (-1, 0)
    for section in found:
        assert 0 <= section.span.start <= section.span.end <= len(text)
        assert (section.span.start, -section.span.end) >= last
        last = (section.span.start, -section.span.end)
        while open_sections and open_sections[-1].span.end <= section.span.start:
            open_sections.pop()
        if open_sections:
            assert section.span.end <= open_sections[-1].span.end
        if section.heading is not None:
            assert section.span.contains(section.heading)
        open_sections.append(section)
    for span in found.furniture:
        assert span.slice(text).strip()


# --- headings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "form", "numbers", "title"),
    [
        ("Item 1A. Risk Factors", "10-K", ("1A",), "Risk Factors"),
        ("ITEM 5 -- OTHER EVENTS", "8-K", ("5",), "OTHER EVENTS"),
        ("Item 2.Properties", "10-K", ("2",), "Properties"),
        ("I T E M  1.  BUSINESS", "10-K", ("1",), "BUSINESS"),
        ("Item 1 A. Risk Factors", "10-K", ("1A",), "Risk Factors"),
        ("Item 1(b). Unresolved Staff Comments", "10-K", ("1B",), "Unresolved Staff Comments"),
        ("Item 9A(T). Controls and Procedures", "10-K", ("9A",), "Controls and Procedures"),
        ("ITEM 2 CERTAIN PROPERTIES", "10-K", ("2",), "CERTAIN PROPERTIES"),
        ("ITEM II. PROPERTIES", "10-K", ("2",), "PROPERTIES"),
        ("PART II. ITEM 7. MANAGEMENT'S DISCUSSION", "10-K", ("7",), "MANAGEMENT'S DISCUSSION"),
        ("Items 1 and 2. Business and Properties", "10-K", ("1", "2"), "Business and Properties"),
        ("Items 10, 11, 12 and 13", "10-K", ("10", "11", "12", "13"), ""),
        ("Items 10 through 13.", "10-K", ("10", "11", "12", "13"), ""),
        ("Item 7/7A. Discussion and Market Risk", "10-K", ("7", "7A"), "Discussion and Market Risk"),
        ("[Item 3.] Legal Proceedings", "10-K", ("3",), "Legal Proceedings"),
        ("ITEM 9.01(d). Exhibits", "8-K", ("9.01",), "Exhibits"),
        ("Item 16.B. Item 16.B. Code of Ethics", "20-F", ("16B",), "Code of Ethics"),
        ("Punto 3. Información clave", "20-F", ("3",), "Información clave"),
        ("ITEM 1. BUSINESS ......... 3", "10-K", ("1",), "BUSINESS"),
        ("| Item 1. | Business | 3 |", "10-K", ("1",), "Business"),
    ],
)
def test_heading_forms(line: str, form: str, numbers: tuple[str, ...], title: str) -> None:
    heading = parse_heading(line, form_named(form))
    assert heading is not None
    assert heading.numbers == numbers
    assert heading.title_of(line) == title


@pytest.mark.parametrize(
    "line",
    [
        "Item 2 of this Form 10-K, which lists our plants.",
        "Item 405 of Regulation S-K requires disclosure.",
        "Item 601(b)(31) certificates are attached.",
        "Item 15(a)(3) Exhibits",
        "ITEM X. INFORMATION ABOUT OUR EXECUTIVE OFFICERS",
        "ITEM 17 [ ] ITEM 18 [X]",
        "Items of inventory",
    ],
)
def test_lines_that_are_no_headings(line: str) -> None:
    assert parse_heading(line, form_named("20-F" if "17" in line else "10-K")) is None


def test_variants_of_a_form_are_read_as_their_family() -> None:
    assert [family_name(n) for n in ("10-K405", "10-KT", "10-K/A", "10-KSB", "10-Q/A", "20-F", "x")] == [
        "10-K", "10-K", "10-K", "10-KSB", "10-Q", "20-F", "",
    ]  # fmt: skip
    text = f"Item 6. Management's Discussion and Analysis\n\n{PROSE}\nItem 7. Financial Statements\n\n{PROSE}"
    found = outline(text, "10-KSB")
    assert ids(found) == ["part2.item6", "part2.item7"]
    assert found.sections[-1].path[0] == "10-K"


def test_the_cover_decides_where_no_form_is_given() -> None:
    text = f"FORM 8-K\n\nCURRENT REPORT\n\nItem 2.02 Results of Operations and Financial Condition\n\n{PROSE}"
    assert ids(outline_filing(text, metadata={})) == ["item2.02"]


# --- choosing -------------------------------------------------------------------------------------


def test_contents_page_never_wins() -> None:
    text = (
        "TABLE OF CONTENTS\n\nPART I\n\nItem 1. Business 3\n\nItem 2. Properties 9\n\nPART I\n\n"
        f"Item 1. Business\n\n{PROSE}\nItem 2. Properties\n\n{PROSE}"
    )
    found = outline(text)
    assert ids(found) == ["part1.item1", "part1.item2"]
    assert body(found, "part1.item1", text) == PROSE.strip()
    assert found.find("cover") is not None
    assert_sound(found, text)


def test_a_row_of_one_on_an_8k_cover_is_no_item() -> None:
    text = (
        "TABLE OF CONTENTS\n\nItem 8.01 Other Events\n\nSIGNATURE\n\nItem 8.01 Other Events\n\n"
        f"{PROSE}\nSIGNATURE\n\nBy: /s/ A. Doe"
    )
    found = outline(text, "8-K")
    assert ids(found) == ["item8.01"]
    assert body(found, "item8.01", text) == PROSE.strip()


def test_wrapped_cross_reference_is_no_heading() -> None:
    text = (
        f"Item 1. Business\n\n{PROSE}for a longer discussion of the market see\n"
        f"Item 7. Management's Discussion and Analysis of this report.\n\nItem 2. Properties\n\n{PROSE}\n"
        f"Item 7. Management's Discussion and Analysis\n\n{PROSE}"
    )
    found = outline(text)
    assert ids(found) == ["part1.item1", "part1.item2", "part2.item7"]
    assert "for a longer discussion" in body(found, "part1.item1", text)


def test_running_heads_are_furniture() -> None:
    text = (
        f"PART I\n\nItem 1. Financial Statements\n\n{PROSE}\n12\n\n"
        f"Item 1. Financial Statements (continued)\n\n{PROSE}\n"
        "13\n\nItem 1. Financial Statements (continued)\n\n"
        f"{PROSE}\nItem 2. Management's Discussion\n\n{PROSE}"
    )
    found = outline(text, "10-Q")
    assert ids(found) == ["part1.item1", "part1.item2"]
    furniture = [s.slice(text) for s in found.furniture]
    assert furniture.count("Item 1. Financial Statements (continued)") == 2
    assert "12" in furniture


def test_running_part_head_does_not_cut_an_item() -> None:
    text = f"PART I\n\nItem 1. Business\n\n{PROSE}\nPART I\n\n{PROSE}\nPART I\n\n{PROSE}\nItem 2. Properties\n\n{PROSE}"
    found = outline(text)
    assert body(found, "part1.item1", text).count("We make valves") == 3


def test_the_same_number_in_both_parts_of_a_10q_without_a_part_line() -> None:
    text = (
        f"Item 1. Financial Statements\n\n{PROSE}\nItem 4. Controls and Procedures\n\n{PROSE}\n"
        f"Item 1. Legal Proceedings\n\nNone.\n\nItem 6. Exhibits\n\n{PROSE}"
    )
    assert ids(outline(text, "10-Q")) == ["part1.item1", "part1.item4", "part2.item1", "part2.item6"]


def test_items_stay_in_document_order() -> None:
    text = (
        f"PART I. FINANCIAL INFORMATION\n\nItem 2. Management's Discussion and Analysis\n\n{PROSE}\n"
        "Item 1. Financial Statements\n\n"
        f"{PROSE}\nItem 3. Quantitative and Qualitative Disclosures About Market Risk\n\n{PROSE}"
    )
    assert ids(outline(text, "10-Q")) == ["part1.item2", "part1.item1", "part1.item3"]


def test_titles_stand_in_for_numbers_where_the_contents_page_links_them() -> None:
    rows = [
        "Item 1. Financial Statements 3",
        "Item 2. Management's Discussion and Analysis 9",
        "Item 1. Legal Proceedings 20",
    ]
    head = "\n\n".join(rows) + "\n\n"
    parts = [
        f"PART I. FINANCIAL INFORMATION\n\n**Condensed Statements of Income**\n\n{PROSE}\n",
        f"**Management's Discussion and Analysis of Financial Condition and Results of Operations**\n\n{PROSE}\n",
        f"PART II. OTHER INFORMATION\n\n**Item 1. Legal Proceedings**\n\n{PROSE}",
    ]
    offsets, links, at = {}, [], 0
    for row, name in zip(rows, "abc", strict=True):
        links.append((Span(at, at + len(row)), name))
        at += len(row) + 2
    for part, name in zip(parts, "abc", strict=True):
        offsets[name] = at
        at += len(part)
    text = head + "".join(parts)
    found = outline(text, "10-Q", Markup(anchors=offsets, links=tuple(links)))
    assert ids(found) == ["part1.item1", "part1.item2", "part2.item1"]
    first = found.find("part1.item1")
    assert first is not None
    assert first.warnings
    assert "Condensed Statements" in first.span.slice(text)


# --- bodies ---------------------------------------------------------------------------------------


def test_adjacent_small_items_keep_their_sentences() -> None:
    text = "ITEM 10. DIRECTORS\nIncorporated.\nITEM 11. EXECUTIVE COMPENSATION\nIncorporated as well."
    found = outline(text)
    assert [body(found, i, text) for i in ids(found)] == ["Incorporated.", "Incorporated as well."]


def test_merged_items_share_one_span() -> None:
    text = f"Items 1 and 2. Business and Properties\n\nWe drill wells. {PROSE}\nItem 3. Legal Proceedings\n\nNone."
    found = outline(text)
    one, two = found.find("part1.item1"), found.find("part1.item2")
    assert one is not None
    assert two is not None
    assert one.span == two.span
    assert two.metadata["merged_with"] == ["Item 1"]


def test_newer_items_are_known() -> None:
    text = (
        "Item 1B. Unresolved Staff Comments\n\nNone.\n\nItem 1C. Cybersecurity\n\n"
        "We have a CISO.\n\nItem 2. Properties\n\nNone."
    )
    assert ids(outline(text)) == ["part1.item1b", "part1.item1c", "part1.item2"]


def test_heading_over_several_lines() -> None:
    text = f"ITEM\n7A. QUANTITATIVE\nAND QUALITATIVE DISCLOSURES\nABOUT MARKET RISK\n\n{PROSE}"
    found = outline(text)
    assert ids(found) == ["part2.item7a"]
    assert body(found, "part2.item7a", text) == PROSE.strip()


def test_body_on_the_line_of_the_heading() -> None:
    text = (
        "Item 3. Legal Proceedings. We are a defendant in two cases.\n\n"
        "Item 4. Mine Safety Disclosures. Not applicable."
    )
    found = outline(text)
    assert body(found, "part1.item3", text) == "We are a defendant in two cases."
    assert items(found)[1].metadata["state"] == "not_applicable"


def test_item_ends_before_the_next_part_and_before_signatures() -> None:
    text = (
        "PART I\n\nItem 4. Controls and Procedures\n\nEffective.\n\nPART II OTHER INFORMATION\n\n"
        "Item 1. Legal Proceedings\n\n"
        "None.\n\nSIGNATURES\n\nPursuant to the requirements of the Act, signed by A. Doe."
    )
    found = outline(text, "10-Q")
    assert body(found, "part1.item4", text) == "Effective."
    assert body(found, "part2.item1", text) == "None."
    assert found.find("signatures") is not None
    assert_sound(found, text)


def test_introduction_of_a_part_belongs_to_no_item() -> None:
    text = (
        "PART II\n\nItem 9B. Other Information\n\nNone.\n\nPART III\n\n"
        "Certain information required by Part III is omitted.\n\n"
        f"Item 10. Directors, Executive Officers and Corporate Governance\n\n{PROSE}"
    )
    found = outline(text)
    part = found.find("part3")
    assert body(found, "part2.item9b", text) == "None."
    assert part is not None
    assert "Certain information" in part.span.slice(text)
    assert all("Certain information" not in s.span.slice(text) for s in items(found))


def test_the_printed_part_has_the_last_word() -> None:
    text = (
        "PART III\n\nItem 13. Certain Relationships\n\nNone.\n\nPART IV\n\n"
        f"Item 14. Exhibits and Reports on Form 8-K\n\n{PROSE}"
    )
    assert ids(outline(text)) == ["part3.item13", "part4.item14"]


def test_only_the_main_document_of_a_submission_counts() -> None:
    text = (
        f"<DOCUMENT>\n<TYPE>8-K\n<TEXT>\nItem 5. Other Events\n\n{PROSE}\n</TEXT>\n</DOCUMENT>\n"
        "<DOCUMENT>\n<TYPE>EX-10\n<TEXT>\nItem 9. Regulation FD Disclosure\n\n"
        f"{PROSE}\n</TEXT>\n</DOCUMENT>\n"
    )
    assert ids(outline(text, "8-K")) == ["item5"]


@pytest.mark.parametrize(
    ("title", "text", "state"),
    [
        ("Properties", "We own a plant and lease two foundries near the river.", "present"),
        ("Properties", "None.", "present"),
        ("[Reserved]", "", "reserved"),
        ("Mine Safety Disclosures", "Not applicable.", "not_applicable"),
        (
            "Executive Compensation",
            "Incorporated by reference to our Proxy Statement.",
            "incorporated_by_reference",
        ),
        ("Legal Proceedings", "See Note 16 in Item 8.", "cross_reference"),
        ("Selected Financial Data", "Omitted pursuant to General Instruction I(2).", "omitted"),
    ],
)
def test_states(title: str, text: str, state: str) -> None:
    found = outline(f"Item 3. {title}\n\n{text}\n\nItem 4. Other\n\n{PROSE}")
    assert items(found)[0].metadata["state"] == state


def test_an_item_that_points_elsewhere_says_where() -> None:
    found = outline(f"Item 3. Legal Proceedings\n\nSee Note 16 in Item 8.\n\nItem 4. Other\n\n{PROSE}")
    assert items(found)[0].metadata["refers_to"] == ["Note 16", "Item 8"]


def test_short_main_item_is_a_warning() -> None:
    found = outline(f"Item 1. Business\n\nSee exhibit 13.\n\nItem 2. Properties\n\n{PROSE}")
    assert any("short" in w for w in items(found)[0].warnings)


def test_text_behind_the_signatures_names_the_item_that_points_to_it() -> None:
    text = (
        "Item 7. Management's Discussion and Analysis\n\nSee page FS-1.\n\n"
        "Item 9. Changes in Accountants\n\nNone.\n\n"
        f"SIGNATURES\n\nPursuant to the Act, signed by A. Doe.\n\n"
        "**Management's Discussion and Analysis of Financial Condition and Results of Operations**\n\n"
        f"{PROSE * 4}"
    )
    found = outline(text)
    annex = found.find("part2.item7.annex")
    item = found.find("part2.item7")
    assert annex is not None
    assert item is not None
    assert annex.metadata[ITEM] == "Item 7"
    assert "Item 7" in annex.path
    assert item.metadata["text_in"] == "part2.item7.annex"
    assert_sound(found, text)


# --- inside Items ---------------------------------------------------------------------------------


def test_sub_headings_nest_by_style() -> None:
    text = (
        "Item 7. Management's Discussion and Analysis\n\n**LIQUIDITY AND CAPITAL RESOURCES**\n\n"
        f"{PROSE}\n**Cash Flows**\n\n{PROSE}\n"
        f"**CRITICAL ACCOUNTING ESTIMATES**\n\n{PROSE}"
    )
    marks = [(Span(text.index(t), text.index(t) + len(t)), r) for t, r in (
        ("**LIQUIDITY AND CAPITAL RESOURCES**", 2), ("**Cash Flows**", 3),
        ("**CRITICAL ACCOUNTING ESTIMATES**", 2),
    )]  # fmt: skip
    found = outline(text, markup=Markup(headings=tuple(marks)))
    paths = [s.section_path for s in found]
    assert "10-K > Part II > Item 7 > LIQUIDITY AND CAPITAL RESOURCES > Cash Flows" in paths
    assert "10-K > Part II > Item 7 > CRITICAL ACCOUNTING ESTIMATES" in paths
    assert_sound(found, text)


def test_inner_heading_does_not_end_an_8k_item() -> None:
    text = f"Item 5.02 Departure of Directors\n\nA director left.\n\n**Compensation plan**\n\nTerms follow. {PROSE}"
    found = outline(text, "8-K")
    assert "Terms follow." in body(found, "item5.02", text)
    child = next(s for s in found if s.title == "Compensation plan")
    assert child.section_id.startswith("item5.02.")


def test_notes_of_the_statements() -> None:
    text = (
        "Item 8. Financial Statements and Supplementary Data\n\n"
        "**Notes to Consolidated Financial Statements**\n\n"
        f"**Note 1 – Basis of Presentation**\n\n{PROSE}\n**Use of Estimates**\n\n{PROSE}\n"
        "**Note 2 – Income Taxes**\n\n"
        f"{PROSE}\n**Report of Independent Registered Public Accounting Firm**\n\n{PROSE}"
    )
    found = outline(text)
    second = found.find("part2.item8.note2")
    assert second is not None
    assert second.section_path == "10-K > Part II > Item 8 > Note 2 – Income Taxes"
    assert second.metadata["note"] == 2
    assert second.span.slice(text).count("We make valves") == 1
    assert any(s.path[-2:] == ("Note 1 – Basis of Presentation", "Use of Estimates") for s in found)
    assert_sound(found, text)


# --- cross-reference indexes ----------------------------------------------------------------------


def test_cross_reference_index_is_resolved_or_flagged() -> None:
    text = (
        f"**ABOUT US**\n\n{PROSE}\n**RISK FACTORS**\n\n{PROSE * 3}\n**LEGAL PROCEEDINGS**\n\n{PROSE}\n"
        "**FORM 10-K CROSS REFERENCE INDEX**\n\n| Item 1. | Business | 4-6 |\n| Item 1A. | "
        "Risk Factors | 27-36 |\n"
        "| Item 1B. | Unresolved Staff Comments | Not applicable |\n| Item 3. | Legal Proceedings | 36 |\n"
        "| Item 10. | Directors | 319-321* |\n\n| Item 11. | Executive Compensation | (b) |\n\n"
        "(b) Incorporated by reference to the proxy statement.\n"
    )
    found = outline(text)
    risk, business = found.find("part1.item1a"), found.find("part1.item1")
    assert risk is not None
    assert business is not None
    assert "We make valves" in risk.span.slice(text)
    assert business.metadata["state"] == "cross_reference"
    assert business.warnings
    states = {s.metadata[ITEM]: s.metadata["state"] for s in items(found)}
    assert states["Item 1B"] == "not_applicable"
    assert [s.metadata["index_position"] for s in items(found)].count(1) == 1
    assert states["Item 11"] == "incorporated_by_reference"
    assert "Item 10" in states
    assert_sound(found, text)


def test_pages_resolve_an_index() -> None:
    pages = [f"**Our story**\n\n{PROSE * 4}\n", f"**More of it**\n\n{PROSE * 4}\n"]
    index = (
        "**Cross Reference Index**\n\n| Item 1. | Business | 1-2 |\n| Item 1A. | Risk Factors | "
        "Not applicable |\n"
        "| Item 2. | Properties | Not applicable |\n| Item 3. | Legal Proceedings | Not applicable |\n"
    )
    text = "".join(pages) + index
    first, second = len(pages[0]), len(pages[0]) + len(pages[1])
    found = outline(text, page_map=f"1:0-{first};2:{first}-{second};3:{second}-{len(text)}")
    section = found.find("part1.item1")
    assert section is not None
    assert section.span.slice(text).count("We make valves") == 8
    assert section.metadata["pages"] == "1-2"
    assert_sound(found, text)


# --- bad input ------------------------------------------------------------------------------------


def test_nothing_to_find() -> None:
    assert outline("").sections == ()
    found = outline(f"A letter to our owners\n\n{PROSE}")
    assert not items(found)
    assert found.warnings


@pytest.mark.parametrize(
    "text",
    [
        "Item 1. " * 40_000,
        "ITEM " * 60_000,
        "Item 1. Business\n" * 8_000,
        "| Item 1. | Business | 3 |\n" * 6_000,
        " " * 300_000,
    ],
)
def test_odd_text_takes_linear_time(text: str) -> None:
    assert_sound(outline(text), text)


PIECES = st.sampled_from([
    "Item 1. Business", "Item 1A. Risk Factors", "ITEM 2. PROPERTIES", "Items 10 and 11.", "PART I",
    "PART II",
    "SIGNATURES", "Item 1. Business 3", "| Item 7. | Discussion | 12 |", "**Note 1 – Basis**", "**Overview**",
    "EXHIBIT INDEX", "None.", PROSE, "41", "", "Item 8. Financial Statements (continued)", "<PAGE>   2",
    "Table of Contents", "Item 9.01 Exhibits",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PIECES, max_size=30),
    st.sampled_from(["\n", "\n\n"]),
    st.sampled_from(["10-K", "10-Q", "8-K", "20-F", "40-F"]),
)
def test_outlines_are_sound_whatever_the_order(pieces: list[str], gap: str, form: str) -> None:
    text = gap.join(pieces)
    assert_sound(outline(text, form), text)


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_an_outline(text: str) -> None:
    assert_sound(outline(text), text)


def test_same_input_same_outline() -> None:
    text = f"Item 1. Business\n\n{PROSE}\nItem 2. Properties\n\n{PROSE}"
    assert outline(text) == outline(text)


# --- reviewed filings -----------------------------------------------------------------------------

reviewed = pytest.mark.skipif(
    not (SHARED / "data" / "sec" / "truth.json").exists(), reason="the reviewed filings are not at hand"
)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@reviewed
def test_written_variants() -> None:
    folder = SHARED / "data" / "sec"
    _module(folder / "evaluate_items.py")
    scorer = _module(folder / "evaluate_variants.py")
    adapter = _module(Path(__file__).parent / "evaluators" / "sec_items.py")
    result = scorer.run(adapter.items, json.loads((folder / "variants.json").read_text()))
    assert [name for name, verdict in result.items() if verdict != "ok"] == []


@reviewed
@pytest.mark.parametrize(
    ("sets", "least"), [("10k_text", 0.99), ("10k_text_toc", 0.99), ("8k,8k_html_b,20f_html", 0.99)]
)
def test_reviewed_filings(sets: str, least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = _module(SHARED / "data" / "sec" / "evaluate_items.py")
    out = tmp_path / "scores.json"
    evaluators = str(Path(__file__).parent / "evaluators")
    arguments = ["evaluate_items", "sec_items:items", "--sets", sets, "--out", str(out), "--path", evaluators]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(sys, "path", list(sys.path))
    scorer.main()
    scores = json.loads(out.read_text())["sets"]
    assert {name: row["strictF1"] for name, row in scores.items() if row["strictF1"] < least} == {}


def test_exhibits_bound_behind_the_signatures_are_not_the_signatures() -> None:
    text = (
        f"Item 1. Business\n\n{PROSE}\nItem 15. Exhibits\n\n21.1 List of Subsidiaries\n\n31.1 Certification\n\n"
        "SIGNATURES\n\nThe registrant has caused this report to be signed.\n\nAnn Lee\n\n"
        "Exhibit 21.1\n\nLIST OF SUBSIDIARIES\n\nOrrin Drills Ltd. Ireland\n\nOrrin Finance Inc. Delaware\n\n"
        "Exhibit 31.1\n\nCERTIFICATION\n\nI, Ann Lee, certify that I have reviewed this report.\n\nAnn Lee\n"
    )
    found = outline(text)
    inside = {s.section_id: s.span.slice(text) for s in found}
    assert "Orrin Drills" in inside["exhibit21.1"]
    assert "certify" in inside["exhibit31.1"]
    assert "Orrin Drills" not in inside["signatures"]
    assert [s.path for s in found if s.section_id == "exhibit21.1"] == [("10-K", "Exhibit 21.1")]
