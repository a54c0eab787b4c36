from __future__ import annotations

import time
from pathlib import Path

import pytest

from fin_rag.errors import ParseError
from fin_rag.loaders.pdf import read_pdf
from fin_rag.loaders.pdf_lines import is_row, is_rule
from fin_rag.loaders.pdf_words import Words
from tests.pdf_files import Line, line, pdf


def statement(y: float, *rows: tuple[str, ...]) -> list[Line]:
    shown = []
    for step, (label, *cells) in enumerate(rows):
        shown.append(line(y - 12 * step, label))
        shown += [line(y - 12 * step, cell, x=300 + 80 * n) for n, cell in enumerate(cells)]
    return shown


def prose(y: float, *lines: str) -> list[Line]:
    return [line(y - 12 * step, text) for step, text in enumerate(lines)]


def test_one_row_of_a_statement_is_one_line() -> None:
    page = statement(700, ("Net sales", "$ 1,234", "$ 1,100"), ("Cost of sales", "(567)", "(600)"))
    assert read_pdf(pdf([page])).text == "Net sales $ 1,234 $ 1,100\nCost of sales (567) (600)"


def test_gaps_separate_paragraphs_but_not_rows_of_a_table() -> None:
    page = prose(740, "Rates may rise.", "They may fall too.")
    page += prose(690, "Costs rose.", "We say why below.")
    page += statement(650, ("Assets", "1", "2"))
    page += statement(620, ("Debt", "3", "4"), ("Total", "4", "6"))
    lines = read_pdf(pdf([page])).text.split("\n")
    assert lines[2] == ""
    assert lines[-3:] == ["Assets 1 2", "Debt 3 4", "Total 4 6"]


def test_pages_are_numbered_as_in_a_viewer_and_empty_ones_are_said() -> None:
    loaded = read_pdf(pdf([prose(700, "One."), [], prose(700, "Three.")]), name="x.pdf")
    assert loaded.text == "One.\n\nThree."
    assert [(n, s.slice(loaded.text)) for n, s in loaded.page_map.pages] == [
        (1, "One."),
        (2, ""),
        (3, "Three."),
    ]
    assert loaded.markup.warnings == ("1 pages hold no text (pictures or scans): 2",)


def test_a_sentence_runs_on_over_the_page_break() -> None:
    loaded = read_pdf(pdf([prose(700, "The company sells its bolts to"), prose(700, "makers of doors.")]))
    assert loaded.text == "The company sells its bolts to\nmakers of doors."


def test_page_numbers_and_running_heads_go_and_are_counted() -> None:
    bodies = ("Rates may rise.", "Costs may fall.", "Debt is due soon.", "Cash is kept.", "We hire.")
    pages = [
        [
            line(770, "Orbital 2023 Annual Report"),
            *prose(700, body, f"See note {n}."),
            line(30, f"Page {n} of 5"),
        ]
        for n, body in enumerate(bodies, 1)
    ]
    loaded = read_pdf(pdf(pages))
    assert loaded.text.count("Annual Report") == 1
    assert "Page" not in loaded.text
    assert loaded.markup.furniture == {"page_number": 5, "running_head": 4}
    assert loaded.markup.page_labels == {n: str(n) for n in range(1, 6)}
    assert all(body in loaded.text for body in bodies)


def test_printed_page_numbers_keep_their_letters() -> None:
    pages = [[*prose(700, f"Text {n} of many."), line(30, f"F-{n + 2}")] for n in range(1, 5)]
    loaded = read_pdf(pdf(pages))
    assert loaded.markup.page_labels == {1: "F-3", 2: "F-4", 3: "F-5", 4: "F-6"}
    assert "F-" not in loaded.text


def test_content_that_looks_like_furniture_stays() -> None:
    pages = [
        [*statement(740, ("(in millions)", "2023", "2022"), (f"Item {n}", f"{n * 7}", f"{n * 9}"))] for n in range(1, 6)
    ]
    loaded = read_pdf(pdf(pages))
    assert loaded.text.count("(in millions) 2023 2022") == 5
    assert loaded.markup.furniture == {}


def test_figures_that_do_not_rise_with_the_pages_are_no_page_numbers() -> None:
    pages = [
        [*prose(700, f"Text {letter}"), line(30, str(figure))]
        for letter, figure in zip("abcd", (40, 7, 93, 12), strict=True)
    ]
    assert [text for text in ("40", "7", "93", "12") if text in read_pdf(pdf(pages)).text] == [
        "40",
        "7",
        "93",
        "12",
    ]


def test_headings_by_size_and_weight_get_ranks() -> None:
    page = [
        line(760, "Risk factors", font="bold", size=16),
        line(735, "Interest rates", font="bold"),
        *prose(715, "Rates may rise or fall, and nobody can tell us when they will.", "So we hedge."),
        line(670, "Year ended December 31,", font="bold"),
        *statement(658, ("Net sales", "1,234", "1,100")),
    ]
    loaded = read_pdf(pdf([page]))
    assert [span.slice(loaded.text) for span, _ in loaded.markup.headings] == [
        "Risk factors",
        "Interest rates",
    ]
    first, second = (rank for _, rank in loaded.markup.headings)
    assert first <= second


def test_a_heading_over_two_lines_is_one_line() -> None:
    page = [
        line(760, "Discussion and Analysis of", font="bold", size=16),
        line(742, "Financial Condition", font="bold", size=16),
        *prose(715, "This text is long enough to be the body of the document, we think."),
    ]
    loaded = read_pdf(pdf([page]))
    assert loaded.text.startswith("Discussion and Analysis of Financial Condition\n")


def test_wrapped_column_heads_stand_in_one_line() -> None:
    page = [line(760, "STATEMENTS OF EQUITY", x=50)]
    for x, words in (
        (200, ("Additional", "Paid-in", "Capital")),
        (300, ("Retained", "Earnings")),
        (400, ("Total", "Equity")),
    ):
        page += [line(720 - 10 * step, word, x=x, size=8) for step, word in enumerate(words)]
    page += [
        line(680, "Balance"),
        *(line(680, cell, x=x) for cell, x in (("5", 200), ("6", 300), ("11", 400))),
    ]
    text = read_pdf(pdf([page])).text
    assert text.split("\n")[-2:] == [
        "Additional Paid-in Capital Retained Earnings Total Equity",
        "Balance 5 6 11",
    ]
    assert text.startswith("STATEMENTS OF EQUITY\n")


def test_short_lines_in_two_columns_stay_apart_where_no_table_follows() -> None:
    page = [line(720 - 12 * n, name, x=50) for n, name in enumerate(("Ann Ek", "Chief Officer"))]
    page += [line(720 - 12 * n, name, x=300) for n, name in enumerate(("Bo Lund", "Treasurer"))]
    assert read_pdf(pdf([page])).text.split("\n") == ["Ann Ek", "Chief Officer", "Bo Lund", "Treasurer"]


def test_hyphens_at_line_ends() -> None:
    words = Words(["The long-term plan brings information to its owners.", "A fixed rate and a well known plan."])
    assert words.joint("infor", "mation") == ""
    assert words.joint("long", "term") == "-"
    assert words.joint("10", "Q") == "-"
    assert words.joint("fixed", "rate") == "-"
    assert words.joint("333", "230217") == "-"


def test_hyphens_follow_the_habit_of_the_document() -> None:
    hyphenating = Words(["inver\ufffesión de empre\ufffesas", "inversión empresas", "nego\ufffecios"])
    assert hyphenating.joint("nego", "cios") == ""
    compounding = Words(["long\ufffeterm risk\ufffebased", "long-term risk-based", "break\ufffeins"])
    assert compounding.joint("break", "ins") == "-"


def test_cut_words_in_a_file_are_made_whole() -> None:
    page = prose(
        700,
        "The infor-",
        "mation is here, all information of the 10-",
        "Q for the long-",
        "term and long-term.",
    )
    text = read_pdf(pdf([page])).text.replace("\n", " ")
    assert "The information is here" in text
    assert "the 10-Q for the long-term and" in text


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Cost of sales (2,980) (2,862)", True),
        ("Net sales $ 3,642 $ 3,507", True),
        ("Other, net — 12", True),
        ("Return on equity 23 % 4 %", True),
        ("Ventas 1.234,5 1.100,2", True),
        ("We had 12 plants in 2023", False),
        ("In fiscal 2023 and 2022 we hedged", False),
        ("", False),
    ],
)
def test_rows(text: str, row: bool) -> None:
    assert is_row(text) is row


def test_rules_are_drawn_lines() -> None:
    assert is_rule("_" * 20)
    assert not is_rule("— —")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"%PDF-1.7\nnothing of the kind", "no readable PDF"),
        (pdf([[], []]), "no text on its 2 pages"),
    ],
)
def test_files_that_cannot_be_read_are_named(data: bytes, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        read_pdf(data, name="some.pdf")
    assert "some.pdf" in str(caught.value)


def test_encrypted_file_says_what_to_do() -> None:
    # The standard handler with an owner and a user password that nobody has.
    locked = pdf([prose(700, "Secret.")]).replace(
        b"/Root 1 0 R",
        b"/Root 1 0 R /ID [<"
        + b"01" * 16
        + b"> <"
        + b"01" * 16
        + b">] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"
        + b"ab" * 32
        + b"> /U <"
        + b"cd" * 32
        + b"> >>",
    )
    with pytest.raises(ParseError, match=r"some\.pdf is encrypted.*qpdf"):
        read_pdf(locked, name="some.pdf")


def test_title_fields_are_believed_only_where_they_are_titles() -> None:
    body = [prose(700, "Text of the report.")]
    assert read_pdf(pdf(body, title="Annual report 2023")).hints == {"title": "Annual report 2023"}
    assert read_pdf(pdf(body, title="Microsoft Word - ar23.doc")).hints == {}
    assert read_pdf(pdf(body, title="0001018724-18-000005")).hints == {"doc_id": "0001018724-18-000005"}


def test_real_files_keep_their_rows_and_are_quick(shared: Path) -> None:
    folder = shared / "data" / "financebench" / "pdfs"
    names = sorted(folder.glob("*_10Q.pdf"))[:2]
    if not names:
        pytest.skip("the shared PDF files are not on this machine")
    for file in names:
        started = time.process_time()
        loaded = read_pdf(file.read_bytes(), name=file.name)
        spent = time.process_time() - started
        pages = len(loaded.page_map.pages)
        assert spent < 3 * pages / 100
        rows = [text for text in loaded.text.split("\n") if is_row(text)]
        assert len(rows) > 3 * pages
        assert any(text.lower().startswith("total assets") for text in rows)
        assert loaded.markup.furniture["page_number"] > 0.8 * pages
        assert all(span.slice(loaded.text).strip() for span, _ in loaded.markup.headings)
