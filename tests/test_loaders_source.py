from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

import pytest

from fin_rag.errors import FinRagError, InputError, NotFoundError, ParseError
from fin_rag.loaders.source import identify, read_source

HTML = b"<html><body><p>Net sales rose.</p></body></html>"


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("a.htm", HTML, "html"),
        ("a.txt", HTML, "html"),
        ("a.pdf", HTML, "html"),
        ("a.html", b"%PDF-1.7\n...", "pdf"),
        ("noname", b"\n\n%PDF-1.4 ...", "pdf"),
        ("a.xml", b"<?xml version='1.0'?><html xmlns='x'><body/></html>", "html"),
        ("a.xml", b"<?xml version='1.0'?><doc><p>Text</p></doc>", "xml"),
        ("a.html", b"<table><tr><td>1</td></tr></table>", "html"),
        ("a.md", b"# Title\n\n<table><tr><td>1</td></tr></table>", "markdown"),
        ("a.md", b"<small>note</small> text", "markdown"),
        ("a.txt", b"<TABLE>\n<S>  <C>\nSales 12\n</TABLE>", "text"),
        ("a.txt", b"<PAGE>\nForm 10-K", "text"),
        ("a.txt", b"<SEC-DOCUMENT>0000000001-01-000001.txt\n<SEC-HEADER>", "submission"),
        ("a.html", b"<DOCUMENT>\n<TYPE>8-K\n<TEXT>\n<html>", "submission"),
        ("a.txt", b"-----BEGIN PRIVACY-ENHANCED MESSAGE-----\n", "submission"),
        ("a.json", b'{"a": [1, 2]}', "json"),
        ("a.txt", b'{"speaker": "Ann"}\n{"speaker": "Bo"}\n', "jsonl"),
        ("a.txt", b"[1] See the note.\nText", "text"),
        ("a.txt", "Año fiscal 2024".encode("utf-16"), "text"),
        ("a.html", "<html><body>año</body></html>".encode("utf-16"), "html"),
    ],
)
def test_content_decides_over_the_name(name: str, data: bytes, found: str) -> None:
    assert identify(data, name=name).format == found


def test_wrong_extension_is_said() -> None:
    assert identify(HTML, name="a.pdf").warnings == ("the content is html, though the name ends in .pdf",)
    assert identify(HTML, name="a.xhtml").warnings == ()
    assert identify(b"Plain words", name="a.md").warnings == ()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n\t\r\n", "empty"),
        (b"\xef\xbb\xbf\n", "empty"),
        (b"PK\x03\x04rest of it", "zip or Office"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Office"),
        (bytes(range(256)) * 40, "binary"),
        (b"text" + b"\x01\x02\x03" * 200, "binary"),
    ],
)
def test_what_no_reader_takes_is_refused_by_name(tmp_path: Path, data: bytes, words: str) -> None:
    file = tmp_path / "some.html"
    file.write_bytes(data)
    with pytest.raises(ParseError, match=words) as caught:
        read_source(file)
    assert "some.html" in str(caught.value)


def test_gzip_is_unpacked_whatever_its_name(tmp_path: Path) -> None:
    file = tmp_path / "filing.html"
    file.write_bytes(gzip.compress(HTML))
    assert read_source(file).data == HTML
    twice = tmp_path / "filing.html.gz"
    twice.write_bytes(gzip.compress(HTML[:10]) + gzip.compress(HTML[10:]))  # two members
    source = read_source(str(twice))
    assert (source.data, source.name, source.path) == (HTML, "filing.html", str(twice))


def test_gzip_bomb_is_noticed_early(tmp_path: Path) -> None:
    file = tmp_path / "bomb.txt.gz"
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as out:
        for _ in range(40):
            out.write(b"\x20" * (1 << 20))
    file.write_bytes(packed.getvalue())
    with pytest.raises(ParseError, match="gzip bomb"):
        read_source(file)
    with pytest.raises(ParseError, match="more than 1000000 bytes"):
        read_source(file, max_bytes=1_000_000)


def test_broken_and_cut_gzip(tmp_path: Path) -> None:
    file = tmp_path / "cut.txt.gz"
    file.write_bytes(gzip.compress(b"words " * 5000)[:-20])
    with pytest.raises(ParseError, match="ends too early"):
        read_source(file)
    file.write_bytes(b"\x1f\x8b\x08\x00" + b"\x00" * 6 + b"\xff" * 50)
    with pytest.raises(ParseError, match="broken gzip"):
        read_source(file)
    nested = HTML
    for _ in range(3):
        nested = gzip.compress(nested)
    file.write_bytes(nested)
    with pytest.raises(ParseError, match="gzip inside gzip"):
        read_source(file)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        read_source(tmp_path)
    with pytest.raises(NotFoundError, match=r"missing\.txt"):
        read_source(tmp_path / "missing.txt")
    with pytest.raises(InputError, match="str or a Path"):
        read_source(12)  # type: ignore[arg-type]
    with pytest.raises(FinRagError):
        read_source("bad\0name")


def test_size_limit_holds_for_plain_files(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_bytes(b"x" * 2000)
    with pytest.raises(ParseError, match="limit of 1000"):
        read_source(file, max_bytes=1000)


def test_long_lines_and_deep_brackets_end_in_time() -> None:
    assert identify(b"[" * 200_000, name="a.txt").format == "text"
    assert identify(b"<div>" * 200_000, name="a.html").format == "html"
    assert identify(zlib.compress(b"words") + b" text" * 50, name="a.txt").format == "text"
