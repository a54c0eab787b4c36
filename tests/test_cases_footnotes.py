"""The shared cases of footnotes, graded by the grader that lies beside them."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ADAPTER = Path(__file__).parent / "evaluators" / "footnotes.py"


@pytest.mark.parametrize("number", range(1, 15))
def test_case(shared: Path, tmp_path: Path, number: int) -> None:
    spec = importlib.util.spec_from_file_location("footnotes_adapter", ADAPTER)
    assert spec is not None
    assert spec.loader is not None
    adapter = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(adapter)
    expected = shared / "cases" / "footnotes" / f"footnotes-dev-{number:02d}.expected.json"
    case = json.loads(expected.read_text(encoding="utf-8"))
    produced = tmp_path / "produced.json"
    produced.write_text(
        json.dumps(adapter.produce(expected.parent / case["input"]), ensure_ascii=False), encoding="utf-8"
    )
    grader = [sys.executable, str(shared / "cases" / "grade.py"), str(expected), str(produced)]
    graded = subprocess.run(grader, capture_output=True, text=True, check=False)
    assert graded.returncode == 0, graded.stdout
