"""The README: its blocks run as they stand."""

from __future__ import annotations

import html
import re
import shlex
from pathlib import Path

import pytest

from fin_rag.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_blocks_run(elsewhere, capsys) -> None:
    scope: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "README.md", "exec"), scope)
    assert scope["report"].failed == {}
    assert len(scope["evidence"]) == 3
    assert {found.metadata["ticker"] for found in scope["evidence"]} == {"PLWC"}
    assert "Debt" in capsys.readouterr().out


def test_commands_run(elsewhere, capsys) -> None:
    lines = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("fin-rag ")]
    assert len(lines) >= 3
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0, line
    assert "Item 7" in capsys.readouterr().out


def test_first_screen_shows_what_the_demo_prints(elsewhere) -> None:
    shown = README.split("```text\n")[1].split("```")[0]
    index_lines = [line[5:] for line in shown.splitlines() if line.startswith("   | ")]
    assert index_lines
    text = "".join(
        (ROOT / "examples" / "data" / name).read_text("utf-8")
        for name in ("plwc-10q-2025q1.htm", "informe-anual-2024-vientalba.md")
    )
    squeezed = re.sub(r"\W+", "", html.unescape(re.sub(r"<[^>]*>", "", text)))
    assert all(re.sub(r"\W+", "", line) in squeezed for line in index_lines)


def test_readme_names_the_two_commands() -> None:
    assert "make demo" in README
    assert "make test" in README
    assert len(README.splitlines()) <= 300
