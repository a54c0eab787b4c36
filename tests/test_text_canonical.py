from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import InputError
from fin_rag.schema import Span
from fin_rag.text.canonical import clean_text, decode, replace_all, text_sha256


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"\xef\xbb\xbfa\xc3\xb1o", "año", "utf-8"),
        ("año 5 €".encode("utf-16"), "año 5 €", "utf-16-le"),
        (b"\xfe\xff" + "año".encode("utf-16-be"), "año", "utf-16-be"),
        ("Net sales rose.".encode("utf-16-be"), "Net sales rose.", "utf-16-be"),
        ("año 5 €".encode("cp1252"), "año 5 €", "cp1252"),
        (b"caf\x81\xe9", "caf\x81é", "latin-1"),
        (b"", "", "utf-8"),
    ],
)
def test_encodings(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding) == (text, encoding)
    assert bool(decoded.warnings) == (encoding in ("cp1252", "latin-1") or data[:2] == b"\x00N")


def test_one_damaged_byte_does_not_spoil_the_rest_of_a_utf8_text() -> None:
    decoded = decode("Las compañías añadirán más años.".encode() + b"\xe1" + " Y más.".encode())
    assert decoded.text.startswith("Las compañías añadirán más años.")
    assert decoded.text.count("�") == 1
    assert "1 damaged" in decoded.warnings[0]


def test_declared_encoding_is_used_only_where_utf8_fails() -> None:
    assert decode("año".encode(), declared="latin-1").text == "año"
    assert decode("ãîä".encode("cp1251", "ignore") or b"\xe3\xee\xe4", declared="cp1251").encoding == "cp1251"
    assert decode(b"\xe3\xee\xe4", declared="no-such-code").encoding == "cp1252"


def test_hash_is_of_the_text_not_of_the_bytes() -> None:
    assert text_sha256(decode("año".encode("cp1252")).text) == text_sha256(decode("año".encode()).text)
    assert len(text_sha256("\ud800")) == 64


def test_clean_text_maps_back_over_ligatures_blanks_and_soft_hyphens() -> None:
    source = "la e\ufb03cacia de\u00a0la inver\u00adsión"
    made = clean_text(source)
    assert made.text == "la efficacia de la inversión"
    for word in ("efficacia", "inversión", "de la"):
        start = made.text.index(word)
        span = made.offsets.to_source(Span(start, start + len(word)))
        assert clean_text(span.slice(source)).text == word
    half = made.offsets.to_source(Span(5, 6))  # inside the ligature: the whole of it
    assert half.slice(source) == "\ufb03"


def test_map_refuses_spans_of_another_text() -> None:
    made = clean_text("abc")
    with pytest.raises(InputError, match="reaches beyond"):
        made.offsets.to_source(Span(0, 4))
    with pytest.raises(InputError, match="reaches beyond"):
        made.offsets.to_clean(Span(0, 4))


@given(st.text(alphabet="ab \u00a0\ufb01\u00ad\u200b", max_size=60), st.data())
def test_every_span_finds_its_way_back(source: str, data: st.DataObject) -> None:
    made = clean_text(source)
    start = data.draw(st.integers(0, len(made.text)))
    end = data.draw(st.integers(start, len(made.text)))
    back = made.offsets.to_source(Span(start, end))
    assert 0 <= back.start <= back.end <= len(source)
    assert made.text[start:end] in clean_text(back.slice(source)).text
    assert made.offsets.to_clean(Span(0, len(source))) == Span(0, len(made.text))


@given(st.text(max_size=80), st.text(min_size=1, max_size=3))
def test_replace_all_equals_str_replace(source: str, old: str) -> None:
    made = replace_all(source, re.compile(re.escape(old)), {old: "<>"})
    assert made.text == source.replace(old, "<>")
    assert made.offsets.to_source(Span(0, len(made.text))) == Span(0, len(source))


@given(st.binary(max_size=200))
def test_decode_never_raises(data: bytes) -> None:
    assert isinstance(decode(data).text, str)
