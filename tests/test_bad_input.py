"""Bad input at the door of the index: one clear reason each, and the index as it was."""

from __future__ import annotations

import gzip
import subprocess
import sys
import textwrap

import pytest

from fin_rag.index import FilingIndex
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, report, words

SENTENCE = b"<p>Net sales rose because the plant in Lugo opened.</p>"


@pytest.fixture
def index(tmp_path):
    made = FilingIndex.open(
        tmp_path / "index",
        embeddings=WordEmbeddings(),
        tokenization=words(),
        config=ChunkingConfig(max_tokens=60, overlap_tokens=0),
    )
    made.add(report("# Letter\n\nNet debt fell.", source="a.md", title="A", doc_id="a"))
    yield made
    made.close()


def bomb() -> bytes:
    return gzip.compress(b"\x00" * 600_000_000, 1)


REFUSED = {
    "empty.md": (b"", "empty"),
    "blank.txt": (b" \n\t ", "empty"),
    "no_text.html": (b"<html><head><title>x</title></head><body><script>1</script></body></html>", "text"),
    "noise.pdf": (bytes(range(256)) * 50, "noise.pdf"),
    "noise.txt": (bytes(range(256)) * 50, "noise.txt"),
    "cut.pdf": (b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog", "cut.pdf"),
    "office.html": (b"PK\x03\x04" + b"\x00" * 100, "zip"),
    "cut.md.gz": (gzip.compress(b"# Letter\n\nNet sales rose." * 100)[:40], "cut.md.gz"),
    "entity.xml": (
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><a>&x; Net sales</a>',
        "entit",
    ),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_with_a_reason(index, tmp_path, name) -> None:
    data, word = REFUSED[name]
    (tmp_path / name).write_bytes(data)
    found = index.add(tmp_path / name)
    assert list(found.failed) == [str(tmp_path / name)]
    (reason,) = found.failed.values()
    assert word in reason.lower()
    assert "\n" not in reason
    assert [d["doc_id"] for d in index.documents()] == ["a"]
    assert index.verify() == []


@pytest.mark.slow
def test_gzip_bomb_is_refused(index, tmp_path) -> None:
    (tmp_path / "bomb.txt.gz").write_bytes(bomb())
    assert len(index.add(tmp_path / "bomb.txt.gz").failed) == 1
    assert len(index) == 1


TAKEN = {
    "unclosed.html": b"<html><body><table><tr><td>Net sales<td>1,234<tr><td>Costs<td>(567)" + SENTENCE,
    "html_named.txt": b"<!DOCTYPE html><html><body>" + SENTENCE * 3 + b"</body></html>",
    "latin.txt": "La deuda neta bajó a 12,5 millones; año récord.".encode("latin-1"),
    "utf16.txt": "La deuda neta bajó a 12,5 millones.".encode("utf-16"),
    "zipped.html.gz": gzip.compress(b"<html><body>" + SENTENCE + b"</body></html>"),
}


@pytest.mark.parametrize("name", sorted(TAKEN))
def test_odd_but_readable_is_taken(index, tmp_path, name) -> None:
    (tmp_path / name).write_bytes(TAKEN[name])
    found = index.add(tmp_path / name)
    assert found.failed == {}
    assert len(found.added) == 1
    text = index.text(found.added[0])
    assert ("Net sales" in text) or ("deuda neta bajó" in text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"<html><body>" + b"<div>" * 4_000_000 + SENTENCE,
        b"<html><body>" + b"<table><tr><td>" * 100_000 + SENTENCE,
        b"<html><body>" + SENTENCE + b"<b><i>" * 1_000_000 + b"</i>" * 1_000_000,
        b"# " * 500_000 + b"\nNet sales",
        b"| 1 " * 400_000 + b"\nNet sales",
        (b"(" * 200_000 + b")" * 200_000) + b" Net sales",
        b"Item 1. " * 200_000 + b"Net sales",
        (b"x" * 3_000_000) + b" Net sales",
        b"1.1.1.1." * 200_000 + b" Net sales",
    ],
    ids=["divs", "tables", "bold", "hashes", "pipes", "brackets", "items", "letters", "numbers"],
)
def test_adversarial_input_ends(tmp_path, data) -> None:
    """Take or refuse it: what matters is that it ends, far below what a quadratic way would need."""
    is_html = data.startswith(b"<html")
    path = tmp_path / ("a.html" if is_html else "a.txt")
    path.write_bytes(data)
    code = f"from tests.test_shared_data import fault_of; print(fault_of({str(path)!r}))"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240, capture_output=True)


def test_a_full_disk_is_one_error_and_loses_nothing(tmp_path) -> None:
    code = textwrap.dedent(
        """
        import resource, signal, sys
        from pathlib import Path
        from tests.fakes import WordEmbeddings, report, words
        from fin_rag.errors import IntegrityError
        from fin_rag.index import FilingIndex
        from fin_rag.splitters import ChunkingConfig

        def opened():
            config = ChunkingConfig(max_tokens=60, overlap_tokens=0)
            model = WordEmbeddings()
            return FilingIndex.open(sys.argv[1], embeddings=model, tokenization=words(), config=config)

        index = opened()
        index.add(report("# Letter\\n\\nNet debt fell.", source="a.md", title="A", doc_id="a"))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        largest = max(p.stat().st_size for p in Path(sys.argv[1]).rglob("*") if p.is_file())
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 4096, hard))
        text = "\\n\\n".join(f"# Section {i}\\n\\n" + f"Words number {i} of many. " * 40 for i in range(900))
        try:
            index.add(report(text, source="b.md", title="B", doc_id="b"))
        except IntegrityError as error:
            print("refused:", error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        index.close()
        index = opened()
        print([d["doc_id"] for d in index.documents()])
        print(len(index.add(report(text, source="b.md", title="B", doc_id="b")).added), index.verify())
        """
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "i")],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    refused, documents, after = run.stdout.strip().splitlines()
    assert refused.startswith("refused: ")
    assert documents == "['a']"
    assert after == "1 []"
