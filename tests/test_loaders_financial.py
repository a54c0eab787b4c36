from __future__ import annotations

import gzip
import threading
from datetime import date
from pathlib import Path

import pytest
from langchain_core.document_loaders import BaseLoader

from fin_rag.errors import InputError, NotFoundError, ParseError
from fin_rag.loaders.financial import FinancialDocumentLoader
from fin_rag.schema import KEY_TYPES, PageMap, SourceDocument
from fin_rag.text.canonical import text_sha256
from tests.pdf_files import line, pdf

REPORT = "# Orbital, S.A. — Informe anual 2023\n\nLas ventas de la sociedad fueron de 12 millones de euros."


def write(folder: Path, name: str, data: bytes | str) -> Path:
    file = folder / name
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def test_one_document_with_the_contract_keys(tmp_path: Path) -> None:
    file = write(tmp_path, "informe.md", REPORT)
    loader = FinancialDocumentLoader(file, filed=date(2024, 2, 1), desk="rates")
    assert isinstance(loader, BaseLoader)
    [document] = loader.load()
    assert isinstance(document, SourceDocument)
    assert document.page_content == REPORT
    found = document.metadata
    assert found["source"] == str(file)
    assert found["text_sha256"] == text_sha256(REPORT)
    assert found["doc_id"] == found["text_sha256"][:16]
    assert (found["filed"], found["desk"], found["source_scope"]) == (20240201, "rates", "public")
    assert "page_map" not in found
    assert all(isinstance(found[key], wanted) for key, wanted in KEY_TYPES.items() if key in found)


def test_same_bytes_same_document(tmp_path: Path) -> None:
    plain = write(tmp_path, "a.md", REPORT)
    packed = write(tmp_path, "b.md.gz", gzip.compress(REPORT.encode(), mtime=0))
    one, two = (FinancialDocumentLoader(file).load()[0] for file in (plain, packed))
    assert one.metadata | {"source": ""} == two.metadata | {"source": ""}


def test_every_format_is_read(tmp_path: Path) -> None:
    texts = {
        "a.html": b"<html><body><p>Net sales rose.</p></body></html>",
        "a.txt": b"Net sales rose.",
        "a.pdf": pdf([[line(700, "Net sales rose.")]]),
        "a.xml": b"<doc><p>Net sales rose.</p></doc>",
        "a.json": b'{"text": "Net sales rose."}',
        "a.jsonl": b'{"text": "Net sales rose."}\n{"text": "Costs fell."}\n',
        "b.txt": b"<DOCUMENT>\n<TYPE>8-K\n<TEXT>\nNet sales rose.\n</TEXT></DOCUMENT>",
        "wrong.pdf": b"<html><body><p>Net sales rose.</p></body></html>",
    }
    for name, data in texts.items():
        [document] = FinancialDocumentLoader(write(tmp_path, name, data)).load()
        assert "Net sales rose." in document.page_content
        if name == "wrong.pdf":
            assert "though the name ends in .pdf" in document.markup.warnings[0]  # type: ignore[attr-defined]
        if name == "b.txt":
            assert document.metadata["doc_type"] == "8-K"


def test_page_map_travels_as_text(tmp_path: Path) -> None:
    [document] = FinancialDocumentLoader(write(tmp_path, "a.txt", "One\fTwo")).load()
    pages = PageMap.parse(document.metadata["page_map"])
    assert [span.slice(document.page_content) for _, span in pages.pages] == ["One", "Two"]


def test_the_caller_decides_the_kind(tmp_path: Path) -> None:
    file = write(tmp_path, "informe.md", REPORT)
    assert FinancialDocumentLoader(file, doc_type="kid").load()[0].metadata["doc_type"] == "kid"
    assert FinancialDocumentLoader(file, issuer="Otra").load()[0].metadata["issuer"] == "Otra"


def test_private_documents_need_a_session(tmp_path: Path) -> None:
    file = write(tmp_path, "informe.md", REPORT)
    with pytest.raises(InputError, match="session_id"):
        FinancialDocumentLoader(file, source_scope="private")
    [document] = FinancialDocumentLoader(file, source_scope="private", session_id="s1").load()
    assert (document.metadata["source_scope"], document.metadata["session_id"]) == ("private", "s1")


@pytest.mark.parametrize("key", ["text_sha256", "page_map", "spans", "start_index", "section_id"])
def test_keys_that_others_set_are_refused(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match=key):
        FinancialDocumentLoader(write(tmp_path, "a.md", REPORT), **{key: "x"})


def test_bad_arguments_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="filed"):
        FinancialDocumentLoader(tmp_path / "missing.md", filed="soon")
    with pytest.raises(InputError, match="path"):
        FinancialDocumentLoader(3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no full submission"):
        FinancialDocumentLoader(write(tmp_path, "a.md", REPORT), part="EX-99").load()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.md", b"", "empty"),
        ("a.html", b"<html><body><img src='x.png'></body></html>", "text"),
        ("a.pdf", b"%PDF-1.4 broken", "no readable PDF"),
        ("a.txt", bytes(range(32)) * 100, "binary"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    file = write(tmp_path, name, data)
    with pytest.raises(ParseError, match=words) as caught:
        FinancialDocumentLoader(file).load()
    assert str(file) in str(caught.value)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        FinancialDocumentLoader(tmp_path / "missing.md").load()
    with pytest.raises(InputError, match="directory"):
        FinancialDocumentLoader(tmp_path).load()


def test_pdf_from_several_threads(tmp_path: Path) -> None:
    file = write(tmp_path, "a.pdf", pdf([[line(700, f"Sheet {n} says so.")] for n in range(20)]))
    texts: list[str] = []
    threads = [
        threading.Thread(target=lambda: texts.append(FinancialDocumentLoader(file).load()[0].page_content))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 6
    assert len(set(texts)) == 1
    assert "Sheet 19 says so." in texts[0]
