"""``fin-rag evaluate`` and ``fin-rag golden`` on small sets of our own and on the shared corpus."""

import json

import pytest

from fin_rag.cli import main
from fin_rag.evaluation import GoldenSet
from fin_rag.index import FilingIndex
from tests.fakes import report

TEXT = "# {0}\n\n## Debt\n\nNet debt of {0} fell to {1} million.\n\n## Cash\n\nCash of {0} rose to {2} million."


@pytest.fixture
def folder(tmp_path):
    index = FilingIndex.open(tmp_path / "index")
    index.add(
        [
            report(TEXT.format("Veltor", "12.5", "3.1"), source="veltor.md", title="Veltor 2024", issuer="Veltor"),
            report(TEXT.format("Brunal", "99.0", "8.4"), source="brunal.md", title="Brunal 2024", issuer="Brunal"),
        ]
    )
    index.close()
    rows = [
        {"question_id": "q1", "question": "Net debt of Veltor?", "answer": "12.5 million",
         "passages": [{"document": "veltor", "quote": "Net debt of Veltor fell to 12.5 million."}]},
        {"question_id": "q2", "question": "Cash of Brunal?", "answer": "8.4 million", "type": "comparison",
         "passages": [{"document": "brunal.md", "section_path": "Cash"}]},
        {"question_id": "q3", "question": "Net debt of Talvor?", "type": "unanswerable"},
    ]  # fmt: skip
    (tmp_path / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def _run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out


def test_evaluate_prints_tables_pairs_and_what_was_left_out(folder, capsys):
    code, out = _run(
        capsys, "evaluate", folder / "golden.jsonl", "--index", folder / "index", "--compare", "fixed,structure-bare"
    )
    assert code == 0
    assert "golden: 2 questions measured" in out
    assert "index - structure-bare" in out
    assert "recall @5 by type" in out
    assert "note: 1 unanswerable question(s)" in out


def test_evaluate_as_json_holds_every_question_and_the_hash(folder, capsys):
    code, out = _run(
        capsys, "evaluate", folder / "golden.jsonl", "--index", folder / "index", "--compare", "fixed", "--json"
    )
    data = json.loads(out)
    assert code == 0
    assert data["golden"]["sha256"] == GoldenSet.load(folder / "golden.jsonl").content_hash
    assert [r["name"] for r in data["reports"]] == ["index", "fixed"]
    assert data["reports"][0]["summary"]["@5"]["recall"]["mean"] == 1
    assert [q["question_id"] for q in data["reports"][1]["questions"]] == ["q1", "q2"]
    pair = data["comparisons"][0]
    assert sorted(pair["won"] + pair["lost"] + pair["tied"]) == ["q1", "q2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--compare", "semantic"], "There is no baseline 'semantic'"),
        (["-k", "five"], "whole numbers"),
        (["--at", "@7"], "Measured: @1"),
        (["--depth", "2"], "at least the largest of ks"),
    ],
)
def test_wrong_arguments_are_one_clear_error(folder, capsys, arguments, message):
    given = ["evaluate", folder / "golden.jsonl", "--index", folder / "index", "--compare", "fixed", *arguments]
    code = main([str(argument) for argument in given])
    assert code == 2
    assert message in capsys.readouterr().err


def test_golden_check_names_the_places_that_are_not_there(folder, capsys):
    assert _run(capsys, "golden", "check", folder / "golden.jsonl", "--index", folder / "index")[0] == 0
    rows = (folder / "golden.jsonl").read_text().replace('"Cash"', '"Assets"')
    (folder / "golden.jsonl").write_text(rows)
    code = main(["golden", "check", str(folder / "golden.jsonl"), "--index", str(folder / "index"), "--json"])
    assert code == 2
    assert "has no section 'Assets'" in json.loads(capsys.readouterr().out)["message"]


def test_golden_convert_and_schema(folder, capsys):
    code, _ = _run(capsys, "golden", "convert", folder / "golden.jsonl", "--out", folder / "golden.csv")
    assert code == 0
    assert GoldenSet.load(folder / "golden.csv").questions == GoldenSet.load(folder / "golden.jsonl").questions
    code, out = _run(capsys, "golden", "schema")
    assert "passages" in json.loads(out)["properties"]


def test_three_tables_go_in_with_their_documents(tmp_path, capsys):
    (tmp_path / "t_documentos.csv").write_text(
        "id_doc,titulo,tipo,emisor,ejercicio,fecha,texto\nA,Informe,informe_anual,Veltor,2024,2025-01-02,Deuda de 5.\n"
    )
    (tmp_path / "t_pasajes.csv").write_text("id_pasaje,id_doc,seccion,tipo,inicio,fin\np1,A,,texto,0,11\n")
    (tmp_path / "t_preguntas.csv").write_text(
        "id_pregunta,pregunta,respuesta_oro,pasajes_oro,tipo_pregunta,respondible,id_doc\n"
        "q1,¿Deuda?,5,p1,texto,True,A\nq2,¿Caja?,,,no_respondible,False,\n"
    )
    code, out = _run(
        capsys, "golden", "import", "three-tables", tmp_path, "--out", tmp_path / "g.jsonl", "--index", tmp_path / "i"
    )
    assert code == 0
    assert "1 added" in out
    code, out = _run(
        capsys, "evaluate", tmp_path / "g.jsonl", "--index", tmp_path / "i", "--compare", "fixed", "--json"
    )
    data = json.loads(out)
    assert {r["name"]: r["summary"]["@1"]["recall"]["mean"] for r in data["reports"]} == {"index": 1, "fixed": 1}
    code, out = _run(capsys, "evaluate", tmp_path, "--index", tmp_path / "new", "--json")
    assert json.loads(out)["reports"][0]["summary"]["@1"]["recall"]["mean"] == 1


@pytest.mark.slow
def test_the_command_gives_the_figures_of_the_textbook(shared, tmp_path, capsys):
    """As published beside the shared corpus: recall at 3 and 5 results and within 1,300 and 2,000 characters."""
    published = {
        "fixed": (0.819, 0.878, 0.748, 0.827),
        "recursive": (0.843, 0.888, 0.816, 0.867),
        "structure": (0.882, 0.919, 0.849, 0.894),
    }
    folder = shared / "data" / "corpus_es" / "plain"
    main(
        ["golden", "import", "three-tables", str(folder), "--out", str(tmp_path / "g.jsonl"), "--index", str(tmp_path)]
    )
    capsys.readouterr()
    main([
        "evaluate", str(tmp_path / "g.jsonl"), "--index", str(tmp_path), "--compare", ",".join(published), "--json",
    ])  # fmt: skip
    data = json.loads(capsys.readouterr().out)
    for found in data["reports"][1:]:
        cutoffs = ("@3", "@5", "@1300 characters", "@2000 characters")
        means = [found["summary"][cutoff]["recall"]["mean"] for cutoff in cutoffs]
        assert means == pytest.approx(published[found["name"]], abs=0.01)


def test_the_gate_decides_the_exit_code_and_writes_its_files(folder, capsys):
    answers = [
        {
            "question_id": "q1",
            "answer": "12.5 million [1]",
            "contexts": [{"document": "veltor", "text": "12.5 million"}],
        },
        {"question_id": "q2", "answer": "8.4 million", "contexts": [{"document": "brunal", "text": "8.4 million"}]},
        {"question_id": "q3", "answer": "NO_DISPONIBLE"},
    ]
    path = folder / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in answers))
    arguments = [
        "evaluate", folder / "golden.jsonl", "--index", folder / "index", "--answers", path, "--gate",
        "--junit", folder / "gate.xml", "--summary", folder / "gate.md", "--report", folder / "report.html",
    ]  # fmt: skip
    code, out = _run(capsys, *arguments)
    assert (code, "gate: passed" in out) == (0, True)
    assert 'failures="0"' in (folder / "gate.xml").read_text()
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
    answers[1]["answer"] = "9.9 million"
    path.write_text("".join(json.dumps(row) + "\n" for row in answers))
    code, out = _run(capsys, *arguments)
    assert code == 3
    assert "invention is 0.500 over 2" in out
    assert "lost, answered wrongly: 1 (q2)" in out
    assert "answered wrongly" in (folder / "gate.md").read_text()
    (folder / "strict.toml").write_text('[[rules]]\nmeasure = "recall"\ncutoff = "@1"\nat_least = 1.1\n')
    assert _run(capsys, *arguments[:4], "--gate", folder / "strict.toml")[0] == 3
    assert _run(capsys, *arguments[:4], "--report", folder / "no" / "report.html")[0] == 2
