from __future__ import annotations

import contextlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import NotFoundError, ParseError
from fin_rag.loaders.generic_json import read_json
from fin_rag.loaders.generic_xml import read_xml
from fin_rag.loaders.plain import plain_pages, read_plain
from fin_rag.loaders.submission import read_submission

HEADER = b"""<SEC-DOCUMENT>0000950117-01-500102.txt : 20010430
<SEC-HEADER>0000950117-01-500102.hdr.sgml : 20010430
ACCESSION NUMBER:\t\t0000950117-01-500102
CONFORMED SUBMISSION TYPE:\t8-K
CONFORMED PERIOD OF REPORT:\t20010426
FILED AS OF DATE:\t\t20010430

FILER:

\tCOMPANY DATA:
\t\tCOMPANY CONFORMED NAME:\t\t\tORBITAL NETWORKS INC
\t\tCENTRAL INDEX KEY:\t\t\t0001000695
\t\tFISCAL YEAR END:\t\t\t0131
</SEC-HEADER>
"""


def document(kind: str, filename: str, text: str) -> bytes:
    return (f"<DOCUMENT>\n<TYPE>{kind}\n<FILENAME>{filename}\n<TEXT>\n{text}\n</TEXT>\n</DOCUMENT>\n").encode()


MAIN = document("8-K", "a.txt", "<PAGE>\nITEM 5. OTHER EVENTS.")
PRESS = document("EX-99.1", "p.htm", "<html><body><p>Sales rose.</p></body></html>")
IMAGE = document("GRAPHIC", "logo.jpg", "begin 644 logo.jpg\nM_]C_X")


def test_plain_text_is_its_own_canonical_text() -> None:
    text = "\tItem 1.\r\nBusiness \u00a0 \ufb01rst\r\n\r\n\r\n  End  "
    assert read_plain(text.encode()).text == text


def test_plain_text_without_a_visible_character() -> None:
    with pytest.raises(ParseError, match=r"empty\.txt"):
        read_plain(b"\n \f\n", name="empty.txt")


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("One\fTwo\f", ["One", "Two"]),
        ("\fOne\f\fThree", ["One", "", "Three"]),
        ("Cover\n<PAGE>\nTwo\n<PAGE>   3\nThree", ["Cover\n", "\nTwo\n", "\nThree"]),
        ("=== PAGE 1 ===\nOne\n=== PAGE 2 ===\nTwo", ["\nOne\n", "\nTwo"]),
        (
            "<start_of_page_1>\nOne\n<end_of_page_1>\n\n<start_of_page_2>\nTwo\n<end_of_page_2>",
            ["\nOne\n", "\nTwo\n"],
        ),
        ("No marks <PAGE> inside a line", []),
    ],
)
def test_page_marks(text: str, pages: list[str]) -> None:
    found = plain_pages(text).pages
    assert [span.slice(text) for _, span in found] == pages
    assert [number for number, _ in found] == list(range(1, len(pages) + 1))


@given(st.text(alphabet="a\n\f <PAGE>=12", max_size=80))
def test_pages_are_in_order_and_lose_nothing_but_marks(text: str) -> None:
    spans = [span for _, span in plain_pages(text).pages]
    assert all(a.end <= b.start for a, b in pairwise(spans))
    if spans:
        left = "".join(span.slice(text) for span in spans)
        assert left.count("a") == text.count("a")


def test_submission_header_and_main_document() -> None:
    loaded = read_submission(HEADER + PRESS + MAIN + IMAGE + b"</SEC-DOCUMENT>")
    assert loaded.text == "<PAGE>\nITEM 5. OTHER EVENTS.\n"
    assert loaded.hints == {
        "doc_type": "8-K",
        "doc_id": "0000950117-01-500102",
        "issuer": "ORBITAL NETWORKS INC",
        "cik": "0001000695",
        "fiscal_year_end": "0131",
        "period_end": 20010426,
        "filed": 20010430,
    }
    assert loaded.page_map.format() == "1:6-29"
    assert "2 further documents" in loaded.markup.warnings[0]
    assert "EX-99.1 (p.htm)" in loaded.markup.warnings[0]


def test_submission_part_by_type() -> None:
    loaded = read_submission(HEADER + MAIN + PRESS, part="ex-99.1")
    assert loaded.text.strip() == "Sales rose."
    assert loaded.hints["doc_id"] == "0000950117-01-500102-EX-99.1"
    assert "doc_type" not in loaded.hints
    with pytest.raises(NotFoundError, match=r"EX-99\.1"):
        read_submission(HEADER + MAIN + PRESS, part="EX-10")


def test_submission_without_documents() -> None:
    with pytest.raises(ParseError, match="no document"):
        read_submission(HEADER, name="x.txt")
    with pytest.raises(ParseError, match="coded binary"):
        read_submission(IMAGE, name="x.txt")


def test_submission_cut_short_keeps_what_is_there() -> None:
    assert read_submission(MAIN[: MAIN.index(b"EVENTS")]).text == "<PAGE>\nITEM 5. OTHER "


def test_xml_reads_elements_in_order_with_marks_inside() -> None:
    data = b"<a><t>Art. 1</t><p>A <b>firm</b> must <!-- no -->pay.</p><q><p>(a) one;</p><p>(b) two.</p></q></a>"
    assert read_xml(data).text == "Art. 1\n\nA firm must pay.\n\n(a) one;\n\n(b) two."


def test_xml_entities_are_refused_and_never_fetched() -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y SYSTEM "file:///etc/passwd">]><a>&y;</a>'
    with pytest.raises(ParseError, match="declares entities"):
        read_xml(bomb, name="bomb.xml")


def test_xml_that_is_broken_or_empty() -> None:
    loaded = read_xml(b"<a><p>One</p><p>Two")
    assert loaded.text == "One\n\nTwo"
    assert "damaged" in loaded.markup.warnings[0]
    with pytest.raises(ParseError, match="without text"):
        read_xml(b"<a><b/></a>", name="x.xml")


def test_xml_nested_deeply_is_read() -> None:
    assert "text" in read_xml(b"<a>" * 2_000 + b"text" + b"</a>" * 2_000).text


def test_xml_nested_without_measure_ends_in_text_or_a_clear_error() -> None:
    deep = b"<a>" * 200_000 + b"text" + b"</a>" * 200_000
    with contextlib.suppress(ParseError):
        assert read_xml(deep).text


def test_json_becomes_facts_and_paragraphs() -> None:
    data = b'{"symbol": "orbt", "year": 2031, "pages": [{"title": "Bolts", "body": "One.\\nTwo."}, {"n": null}]}'
    loaded = read_json(data)
    assert loaded.text == "symbol: orbt\nyear: 2031\ntitle: Bolts\n\nOne.\nTwo."
    assert loaded.hints == {"ticker": "ORBT", "fiscal_year": 2031}


def test_json_lines_and_bad_json() -> None:
    assert read_json(b'{"a": 1}\n{"b": "x"}', lines=True).text == "a: 1\nb: x"
    with pytest.raises(ParseError, match="broken JSON"):
        read_json(b'{"a": ', name="x.json")
    with pytest.raises(ParseError, match="no text"):
        read_json(b"[[], {}]", name="x.json")
    with pytest.raises(ParseError, match=r"nests deeper|broken JSON"):
        read_json(b"[" * 5000 + b"1" + b"]" * 5000, name="x.json")
