"""The HTML loader: text, headings, lists, tables, pages, furniture, anchors, bad input."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_rag.errors import ParseError
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.html import decode_html, read_html
from fin_rag.schema import Span

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "sec"


def load(html: str) -> LoadedText:
    return read_html(html.encode())


def text_of(html: str) -> str:
    return load(html).text


def content_of(loaded: LoadedText) -> str:
    """Return the text without running heads and page numbers."""
    kept, at = [], 0
    for mark in loaded.markup.running:
        kept.append(loaded.text[at : mark.start].strip())
        at = mark.end
    return "\n\n".join(part for part in (*kept, loaded.text[at:].strip()) if part)


# --- blocks and inline text --------------------------------------------------------------------
@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One<p>Two", "One\n\nTwo"),
        ("<div>One</div>Two<div>Three</div>", "One\n\nTwo\n\nThree"),
        ("<p>Line<br>next<br><br>Far</p>", "Line\nnext\n\nFar"),
        ("<p>a&nbsp;&nbsp;b&ensp;c&thinsp;d\n  e</p>", "a b c d e"),
        ("<p>zero&#8203;width and soft&shy;hyphen</p>", "zerowidth and softhyphen"),
        ("<div><span>I</span><span>TEM 1</span><span>. BUSIN</span>ESS</div>", "ITEM 1. BUSINESS"),
        ("<p>(a)<span style='padding-left:14pt'>Net of tax</span></p>", "(a) Net of tax"),
        ("<p>I<font size=1>TEM</font> 1</p>", "ITEM 1"),
        ("<p>operates <span>1,500</span><span> stores</span></p>", "operates 1,500 stores"),
        ("<p>the <b>bold</b> and <i>slanted</i> word</p>", "the bold and slanted word"),
        ("<p>It&#146;s &#147;ok&#148; &#150; yes</p>", "It’s “ok” – yes"),
        ("<p>100 m<sup>2</sup> and note<sup>1</sup>, see<sup>(2)</sup> Acme<sup>TM</sup> 5<sup>th</sup></p>",
         "100 m² and note¹, see(2) Acme™ 5th"),
        ("<p>CO<sub>2</sub></p>", "CO2"),
        ("<p># of shares</p>", "\\# of shares"),
        ("<pre>a   b\n  c</pre>", "a   b\n  c"),
        ("<DOCUMENT><TYPE>8-K<SEQUENCE>1<FILENAME>x.htm<TEXT><html><body><p>Body</p></body></html>", "Body"),
        ("<p>kept<!-- not this --> text</p>", "kept text"),
        ("<p><ix:nonNumeric name='n'><div>inner</div></ix:nonNumeric>after</p>", "inner\n\nafter"),
    ],
)  # fmt: skip
def test_text(html: str, text: str) -> None:
    assert text_of(html) == text


def test_lists() -> None:
    assert text_of("<ul><li>a<li><p>b</p></ul><ol start=3><li>c<li>d</ol>") == "- a\n- b\n3. c\n4. d"
    assert text_of("<ul><li>a<ul><li>b</ul><li>c</ul>") == "- a\n  - b\n- c"
    assert text_of("<div>• first</div><div>• second</div>") == "- first\n- second"
    bullets = "<table><tr><td></td><td>•</td><td>first risk</td></tr></table>"
    assert text_of(bullets * 2) == "- first risk\n- first risk"


def test_hidden_text_is_left_out_and_counted() -> None:
    loaded = load(
        "<style>.x{color:red}</style><script>var a;</script>"
        '<div style="DISPLAY : none">secret</div><span style="visibility:hidden">ghost</span>'
        '<p style="visibility: hidden">&#8203;</p><p>seen</p>'
    )
    assert loaded.text == "seen"
    assert loaded.markup.furniture == {"hidden": 2}


# --- headings -----------------------------------------------------------------------------------
def test_headings_are_marked_and_ranked() -> None:
    loaded = load(
        "<h2>Chapter</h2>"
        '<div><span style="font-weight:700">ITEM 1A. RISK FACTORS</span></div>'
        "<p><b>Competition</b></p><p><b><i>We may lose customers.</i></b></p><p><u>Other</u></p>"
        "<p><i>Pricing</i></p><p>Body text that is long enough to set the size of the body.</p>"
        '<p align="center">PART I</p>'
    )
    marked = [(span.slice(loaded.text), rank) for span, rank in loaded.markup.headings]
    assert [text for text, _ in marked] == [
        "## Chapter", "**ITEM 1A. RISK FACTORS**", "**Competition**", "**We may lose customers.**", "Other",
        "*Pricing*", "PART I",
    ]  # fmt: skip
    ranks = [rank for _, rank in marked]
    assert ranks[:6] == sorted(ranks[:6])
    assert "Body text" not in "".join(text for text, _ in marked)


def test_larger_type_is_a_heading_above_bold() -> None:
    loaded = load(
        '<p style="font-size:16pt">Item 2. Properties</p><p style="font-size:10pt"><b>Offices</b></p>'
        + '<p style="font-size:10pt">We own offices in many towns and lease others.</p>' * 3
    )
    ranks = {span.slice(loaded.text): rank for span, rank in loaded.markup.headings}
    assert ranks["Item 2. Properties"] < ranks["**Offices**"]


def test_class_styles_of_a_simple_sheet_count() -> None:
    sheet = "<style>p.h, .k { font-weight: bold } .gone{display:none}</style>"
    loaded = load(sheet + "<p class='h'>Liquidity</p><p class='gone'>x</p><p>Cash rose.</p>")
    assert loaded.text == "**Liquidity**\n\nCash rose."


def test_a_long_bold_paragraph_is_no_heading() -> None:
    assert load(f"<p><b>{'word ' * 100}</b></p>").markup.headings == ()


# --- tables -------------------------------------------------------------------------------------
STATEMENT = """
<p>(In millions, except per share data)</p>
<table>
<tr><td colspan=3></td><td colspan=7>Years ended December 31,</td></tr>
<tr><td colspan=3></td><td colspan=3>2024</td><td></td><td colspan=3>2023</td></tr>
<tr><td colspan=3>Net sales:</td><td colspan=3></td><td></td><td colspan=3></td></tr>
<tr><td colspan=3 style="padding:2px 1pt 2px 13pt">Products</td><td>$</td><td>1,234</td><td></td><td></td>
    <td>$</td><td>(567</td><td>)</td></tr>
<tr><td colspan=3>Margin | rate<sup>(1)</sup></td><td></td><td>12.5</td><td>%</td><td></td>
    <td></td><td>&#8212;</td><td></td></tr>
<tr><td colspan=3>&nbsp;</td><td colspan=3></td><td></td><td colspan=3></td></tr>
</table>
"""


def test_a_statement_becomes_a_pipe_table() -> None:
    assert text_of(STATEMENT) == (
        "(In millions, except per share data)\n"
        "| | Years ended December 31, 2024 | Years ended December 31, 2023 |\n"
        "| --- | --- | --- |\n"
        "| Net sales: | | |\n"
        "|   Products | $1,234 | $(567) |\n"
        "| Margin \\| rate(1) | 12.5% | — |"
    )


def test_a_unit_line_in_the_table_moves_above_it() -> None:
    rows = "<tr><td>(in thousands)</td><td>2024</td><td>2023</td></tr><tr><td>Cash</td><td>5,1</td><td>6</td>"
    assert text_of(f"<table>{rows}</table>").splitlines() == [
        "(in thousands)",
        "| | 2024 | 2023 |",
        "| --- | --- | --- |",
        "| Cash | 5,1 | 6 |",
    ]


def test_rowspans_are_resolved() -> None:
    table = (
        "<table><tr><th rowspan=2>Name</th><th colspan=2>Pay</th></tr><tr><th>2024</th><th>2023</th></tr>"
        "<tr><td>Ann</td><td>10</td><td>9</td></tr><tr><td>Bob</td><td>8</td><td>7</td></tr></table>"
    )
    assert text_of(table).splitlines()[0] == "| Name | Pay 2024 | Pay 2023 |"


def test_a_header_that_stands_beside_its_figures_joins_their_column() -> None:
    table = (
        "<table><tr><td></td><td>2024</td><td></td><td>2023</td><td></td></tr>"
        "<tr><td>Cash</td><td></td><td>1,100</td><td></td><td>2,200</td></tr>"
        "<tr><td>Debt</td><td></td><td>3,300</td><td></td><td>4,400</td></tr></table>"
    )
    assert text_of(table).splitlines()[0] == "| | 2024 | 2023 |"


def test_notes_under_a_table_stay_prose() -> None:
    table = (
        "<table><tr><td></td><td>2024</td><td>2023</td></tr><tr><td>Cash</td><td>1,100</td><td>900</td></tr>"
        "<tr><td>Debt</td><td>10</td><td>9</td></tr>"
        "<tr><td colspan=3>(a) Includes restricted cash of the subsidiaries.</td></tr></table>"
    )
    assert text_of(table).endswith("| Debt | 10 | 9 |\n\n(a) Includes restricted cash of the subsidiaries.")


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ("<tr><td>Item 1.</td><td>Business</td></tr>", "Item 1. Business"),
        (
            "<tr><td>Item 1.</td><td>Business</td><td>3</td></tr>"
            "<tr><td>Item 1A.</td><td>Risk Factors</td><td>12</td></tr>",
            "Item 1. Business 3\n\nItem 1A. Risk Factors 12",
        ),
        ("<tr><td>One column</td></tr><tr><td><p>of</p><p>text</p></td></tr>", "One column\n\nof\n\ntext"),
        ("<tr><td>(1)</td><td>Includes leases.</td></tr>", "(1) Includes leases."),
        ("<tr><td><b>ITEM 9B.</b></td><td><b>OTHER</b></td></tr>", "**ITEM 9B. OTHER**"),
    ],
)
def test_layout_tables_are_flattened(rows: str, text: str) -> None:
    assert text_of(f"<table>{rows}</table>") == text


def test_a_contents_page_of_free_titles_is_flattened() -> None:
    rows = "".join(
        f"<tr><td>Topic {name}</td><td>{page}</td></tr>"
        for name, page in zip("abcdef", (3, 5, 9, 9, 20, 41), strict=True)
    )
    assert "|" not in text_of(f"<table>{rows}</table>")


def test_nested_tables() -> None:
    inner = "<table><tr><td>Cash</td><td>1,100</td></tr><tr><td>Debt</td><td>2,200</td></tr></table>"
    for _ in range(10):
        inner = f"<table><tr><td><p>Lead</p>{inner}</td></tr></table>"
    text = text_of(inner)
    assert text.count("Lead") == 10
    assert "| Cash | 1,100 |\n| Debt | 2,200 |" in text
    formatted = "<table><tr><td>Cash</td><td><table><tr><td>$</td><td>5</td></tr></table></td></tr></table>"
    assert text_of(formatted) == "Cash $5"


def test_absurd_spans_are_capped_and_reported() -> None:
    loaded = load(
        "<table><tr><td colspan=1000000000>a</td><td>1</td></tr>"
        "<tr><td>c</td><td rowspan=99999999>2</td></tr><tr><td>d</td><td>3</td></tr></table>"
    )
    assert "capped" in loaded.markup.warnings[0]
    assert {"a", "c", "d"} <= set(loaded.text.replace("|", " ").split())


# --- pages --------------------------------------------------------------------------------------
def paged(bodies: list[str], foot: str = "<p align=center>{n}</p>", head: str = "") -> str:
    pages = [f"{head}{body}{foot.format(n=n)}" for n, body in enumerate(bodies, 1)]
    return '<hr style="page-break-after:always">'.join(pages)


def test_pages_and_page_numbers() -> None:
    loaded = load(paged(["<p>First page.</p>", "<p><b>Item 2. Properties</b></p><p>None.</p>", "<p>Third.</p>"]))
    assert content_of(loaded) == "First page.\n\n**Item 2. Properties**\n\nNone.\n\nThird."
    assert [(number, span.slice(loaded.text)) for number, span in loaded.page_map.pages] == [
        (1, "First page."),
        (2, "**Item 2. Properties**\n\nNone."),
        (3, "Third."),
    ]
    assert loaded.markup.furniture == {"page_number": 3}
    assert loaded.markup.page_labels == {1: "1", 2: "2", 3: "3"}


@pytest.mark.parametrize(
    "foot",
    ["<p>Acme 2023 Form 10-K {n}</p>", "<p>Acme | 2023 Form 10-K | {n}</p>", "<div>- {n} -</div>",
     "<p>Page F-{n} of F-9</p>", "<table><tr><td>Acme Corp</td><td>{n}</td></tr></table>"],
)  # fmt: skip
def test_feet_with_page_numbers_are_furniture(foot: str) -> None:
    bodies = [f"<p>Text of page {word}.</p>" for word in ("one", "two", "three", "four", "five")]
    loaded = load(paged(bodies, foot))
    assert content_of(loaded) == "\n\n".join(f"Text of page {w}." for w in ("one", "two", "three", "four", "five"))
    assert sum(loaded.markup.furniture.values()) == 5


def test_back_links_and_running_heads_go_and_headings_stay() -> None:
    head = '<p><a href="#toc">Table of Contents</a></p><p>ACME CORP NOTES (continued)</p>'
    bodies = [f"<p>Item {n}. Financial Statements (continued)</p><p>Text {n} here.</p>" for n in (1, 1, 2, 2)]
    loaded = load(paged(bodies, head=head))
    assert "Table of Contents" not in content_of(loaded)
    assert "ACME CORP" not in content_of(loaded)
    assert content_of(loaded).count("(continued)") == 4
    assert loaded.markup.furniture["running_head"] == 8


def test_a_heading_that_runs_on_keeps_its_first_appearance() -> None:
    head = "<p align=center><b>NOTES TO THE STATEMENTS</b></p>"
    loaded = load(paged([f"<p>Body {word}.</p>" for word in "abcdef"], head=head))
    assert content_of(loaded).count("NOTES TO THE STATEMENTS") == 1
    assert loaded.text.startswith("**NOTES TO THE STATEMENTS**")


def test_the_unit_line_of_a_table_at_the_page_top_is_no_furniture() -> None:
    table = (
        "<p>(in millions)</p><table><tr><td></td><td>2024</td><td>2023</td></tr>"
        "<tr><td>Cash</td><td>1,{n}00</td><td>5</td></tr><tr><td>Debt</td><td>7</td><td>8</td></tr></table>"
    )
    loaded = load(paged([table.format(n=n) + f"<p>End {w}.</p>" for n, w in enumerate("abcdef")]))
    assert loaded.text.count("(in millions)\n|") == 6


def test_a_sentence_goes_on_over_a_page_break() -> None:
    loaded = load(paged(["<p>Our business depends on the prices that we are able</p>", "<p>to charge.</p>"]))
    assert loaded.text == "Our business depends on the prices that we are able to charge.\n\n1\n\n2"
    assert [mark.slice(loaded.text) for mark in loaded.markup.running] == ["1", "2"]
    assert loaded.page_map.range(Span(60, 62)) == (2, 2)


def test_plain_rules_are_breaks_only_after_page_numbers() -> None:
    loaded = load("<p>a</p><hr><p>b</p><p>24<p><hr noshade><p>c</p>")
    assert [number for number, _ in loaded.page_map.pages] == [1, 2]
    assert content_of(loaded) == "a\n\nb\n\nc"


def test_text_is_never_dropped_whole() -> None:
    assert text_of(paged(["<p>Same line</p>"] * 4, foot="")).startswith("Same line")


# --- anchors and links --------------------------------------------------------------------------
def test_anchors_and_links() -> None:
    loaded = load(
        '<table><tr><td><a href="#i1">Item 1.</a></td><td><a href="#i%31">Business</a></td><td>3</table>'
        '<div id="i1"></div><p><b><a name="x"></a>Item 1. Business</b></p><p id="end"></p>'
    )
    text = loaded.text
    assert text[loaded.markup.anchors["i1"] :].startswith("**Item 1. Business**")
    assert loaded.markup.anchors["x"] == loaded.markup.anchors["i1"]
    assert loaded.markup.anchors["end"] == len(text)
    assert [(span.slice(text), target) for span, target in loaded.markup.links] == [
        ("Item 1.", "i1"),
        ("Business", "i1"),
    ]


def test_an_anchor_before_furniture_points_behind_it() -> None:
    pages = ['<p>a</p><p>1</p><div id="next"></div>', "<p>Item 2. Properties</p><p>2</p>"]
    loaded = load('<hr style="page-break-after:always">'.join(pages))
    assert loaded.text[loaded.markup.anchors["next"] :].startswith("Item 2. Properties")


# --- encodings and bad input ---------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "text", "warned"),
    [
        ("<p>año</p>".encode(), "año", False),
        ("<meta charset=iso-8859-1><p>año</p>".encode("latin-1"), "año", False),
        (b"<?xml version='1.0' encoding='ASCII'?><p>a&#241;o</p>", "año", False),
        ("<p>año “x”</p>".encode("cp1252"), "año “x”", True),
        ("\ufeff<p>año</p>".encode("utf-16-le"), "año", False),
        ("<p>años cañón ñu</p>".encode() + b"<p>bad \xff byte</p>", "años cañón ñu\n\nbad \ufffd byte", True),
    ],
)
def test_encodings(data: bytes, text: str, warned: bool) -> None:
    loaded = read_html(data)
    assert loaded.text == text
    assert bool(loaded.markup.warnings) is warned


def test_decode_reports_nothing_for_good_bytes() -> None:
    assert decode_html(b"plain") == ("plain", [])


@pytest.mark.parametrize("data", [b"", b"   ", b"<html><body></body></html>", b"<img src=a.jpg>", b"<p>- - -</p>"])
def test_no_text_is_an_error(data: bytes) -> None:
    with pytest.raises(ParseError, match=r"scan\.htm"):
        read_html(data, name="scan.htm")


def test_deep_nesting_and_truncation() -> None:
    assert text_of("<div>" * 10_000 + "deep" + "</div>" * 10_000) == "deep"
    assert text_of("<table><tr><td>" * 5_000 + "deep").endswith("deep")
    assert "Cash" in text_of(STATEMENT[: STATEMENT.index("Margin")] + "<td>Cash</td><td><b")
    assert text_of("<p>a</b></i></td></table><p>b</div>") == "a\n\nb"


def test_a_title_is_a_hint_only_if_it_says_something() -> None:
    assert load("<title>Annual Report 2024</title><p>x</p>").hints == {"title": "Annual Report 2024"}
    assert load("<title>acme-20241231</title><p>x</p>").hints == {}


# --- properties ---------------------------------------------------------------------------------
_PIECES = st.sampled_from(
    ["<p>", "</p>", "<b>", "</b>", "<table>", "</table>", "<tr>", "<td>", "<td colspan=2>", "</td>", "<br>",
     "<li>", "<ul>", "</ul>", "<hr style='page-break-after:always'>", "<a href='#q'>", "</a>", "<a name=q>",
     "<ix:nonNumeric contextRef=c name=n>", "</ix:nonNumeric>", "<h2>", "</h2>", "<sup>", "</sup>",
     "alpha ", "Beta", " $", "1,234", ")", "(5", "2024", "|", " ", "•", "\u00a0", "# "]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(_PIECES, max_size=60))
def test_any_markup_gives_spans_inside_the_text(pieces: list[str]) -> None:
    html = "<p>start</p>" + "".join(pieces)
    loaded = load(html)
    text = loaded.text
    for word in ("alpha", "Beta"):
        assert text.count(word) >= html.count(word) > 0 or word not in html
    for span, _ in loaded.markup.headings:
        assert "\n" not in span.slice(text)
        assert span.start == 0 or text[span.start - 1] in "\n "
    assert all(span.slice(text).strip() for span, _ in loaded.markup.links)
    assert all(0 <= at <= len(text) for at in loaded.markup.anchors.values())
    assert loaded == load(html)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 10**6), min_size=2, max_size=5), min_size=2, max_size=8))
def test_every_figure_of_a_table_stands_in_its_row(rows: list[list[int]]) -> None:
    body = "".join(
        f"<tr><td>Row {name}</td>" + "".join(f"<td>$</td><td>{value:,}</td>" for value in row) + "</tr>"
        for name, row in zip("abcdefgh", rows, strict=False)
    )
    lines = {line.split("|")[1].strip(): line for line in text_of(f"<table>{body}</table>").splitlines() if "|" in line}
    for name, row in zip("abcdefgh", rows, strict=False):
        cells = [cell.strip() for cell in lines[f"Row {name}"].split("|")[2:-1]]
        assert [cell for cell in cells if cell] == [f"${value:,}" for value in row]


# --- real filings -------------------------------------------------------------------------------
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared filings are not here")
@pytest.mark.parametrize("form", ["10k_html_old*0000950153*", "8k_html_b__data*", "10q_html_b__data*"])
def test_real_filings(form: str) -> None:
    path = next(SHARED.glob(form))
    loaded = read_html(gzip.decompress(path.read_bytes()), name=path.name)
    assert len(loaded.page_map.pages) > 2
    assert "\u00a0" not in loaded.text
    assert "\n\n\n" not in loaded.text
    for span, _ in loaded.markup.headings:
        assert "\n" not in span.slice(loaded.text)
