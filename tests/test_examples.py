"""The numbered examples: short, offline, and they show what they promise."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
NUMBERED = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))
SHOWN = {
    "01_splitters_in_a_plain_chain.py": ["FinancialReportTextSplitter", "body of the chunk: True"],
    "02_checked_answers.py": ["1.29 to 1.00 [4].  (passed)", "NO_DISPONIBLE: '2.75'", "Debt Covenants"],
    "03_quick_start.py": ["2 added", "Results of Operations", "within 1000 tokens"],
    "04_earnings_calls.py": ["analyst  Devin Achterberg", "questions with their answers", "Dagny Thorsell"],
    "05_regulation.py": ["art:2/par:2 cites", "art:6 is cited by", "Ámbito de aplicación"],
    "06_facts_for_an_agent.py": ["issuers=1", '"found": true', '"value": "44.79'],
    "07_as_of.py": ["known on 2023-12-31: 10-K 2023 (filed 20230824)\n", "10-Q 2025 Q1 (filed 20241105)", "them: []"],
    "08_private_sessions.py": [
        "session None: sees ['10-Q 2025 Q1']; the memo was found: False",
        "'Memo of counsel']; the memo was found: True",
        "session desk-8: sees ['10-Q 2025 Q1']; the memo was found: False",
    ],
    "09_own_embeddings.py": ["words", "refused: "],
    "13_own_vector_store.py": ["chunks in InMemoryVectorStore", "prospectus p. "],
    "14_own_lexicon.py": ["topics: []", "with the lexicon: ", "Debt Covenants", "topics: ['covenants']"],
    "15_evaluation_and_gate.py": ["recall @5: ", "gate: passed", "opens offline"],
    "16_figure_check.py": ["12.8%: derived", "wrong_period", "NO_DISPONIBLE ("],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SHOWN))
def test_example_shows_what_it_promises(name, capsys) -> None:
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    for said in SHOWN[name]:
        assert said in printed


@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.name)
def test_example_is_short_and_says_its_idea(path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) < 60
    assert ast.get_docstring(ast.parse(text))


def test_every_example_is_run_and_listed() -> None:
    tested = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_examples*.py"))
    listed = (EXAMPLES / "README.md").read_text("utf-8")
    for path in NUMBERED:
        assert path.name in tested
        assert path.name in listed
    numbers = [path.name[:2] for path in NUMBERED]
    assert len(numbers) == len(set(numbers))
