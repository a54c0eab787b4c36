"""The numbered examples of retrieval run offline and show what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SHOWN = {
    "10_assembly.py": ["1. ", "Known by the end of 2023: {2023}", "[1] ", "without citation: 'So is the coverage"],
    "11_variety.py": ["same text in 1 more", "as 'supply chain", "Another vector store"],
    "12_anchors_and_audit.py": ["primary: ", "Best line", "by: deterministic", "the same decision", "Found: False"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SHOWN))
def test_example_runs(name, capsys) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    for said in SHOWN[name]:
        assert said in printed
    assert len((EXAMPLES / name).read_text("utf-8").splitlines()) < 60
