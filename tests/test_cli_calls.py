"""Calls on the command line: a table of turns, and evidence by speaker, role, firm, part and exchange."""

from __future__ import annotations

import json

import pytest

from fin_rag.cli import main
from tests.test_splitters_calls import CALL


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    (folder / "call.txt").write_text(CALL, encoding="utf-8")
    assert main(["ingest", str(folder / "call.txt"), "--index", str(folder / "index"), "--json"]) == 0
    return folder


def found(folder, capsys, *options: str) -> list[tuple[str, int]]:
    capsys.readouterr()
    assert main(["search", "prices of bolts", "--index", str(folder / "index"), "--json", "-k", "20", *options]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    return sorted({(r["metadata"].get("speaker", ""), r["metadata"].get("turn_index", -1)) for r in results})


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (["--speaker", "Ann Lee"], [("Ann Lee", 1)]),
        (["--speaker", "Roe"], [("Cy Roe", 5)]),
        (["--role", "Financial Officer"], [("Cy Roe", 5)]),
        (["--firm", "Birk"], [("Bo Ek", 3)]),
        (["--section", "prepared"], [("Ann Lee", 1)]),
        (["--exchange", "1"], [("Bo Ek", 3), ("Cy Roe", 5)]),
        (["--section", "qa", "--speaker", "Ann"], []),
    ],
)
def test_evidence_is_filtered_by_who_speaks(folder, capsys, options, wanted) -> None:
    assert found(folder, capsys, *options) == wanted


def test_a_call_is_shown_as_a_table_of_turns(folder, capsys) -> None:
    assert main(["inspect", str(folder / "call.txt")]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("   ")]
    assert len(rows) == 7
    assert rows[3].split()[:6] == ["3", "qa", "1", "question", "Bo", "Ek"]
    assert "(Birk Bank)" in rows[3]
    assert "2 turns of operators" in out


def test_turns_are_there_for_scripts(folder, capsys) -> None:
    assert main(["inspect", str(folder / "call.txt"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [turn["exchange"] for turn in report["turns"]] == [None, None, None, 1, 1, 1, 1]
    start, end = report["turns"][4]["spans"][0]
    assert CALL[start:end] == "Yes."
    assert {person["name"] for person in report["participants"]} == {"Ann Lee", "Bo Ek", "Cy Roe"}
