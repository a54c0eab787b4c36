"""Commands that help along: doctor, completion, edgar, exit codes, and an index that Ctrl-C leaves whole."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import types
from importlib.metadata import PackageNotFoundError

import pytest
from langchain_core.documents import Document

from fin_rag.cli import build_parser, main
from fin_rag.cli.completion import completion_script
from fin_rag.errors import InputError, MissingDependencyError, NotFoundError
from fin_rag.index import FilingIndex
from fin_rag.inspector import checkup
from fin_rag.loaders.edgar import download_filings
from tests.fakes import WordEmbeddings, words

WHO = "Jane Doe jane@example.org"


def letters(count: int) -> list[Document]:
    return [
        Document(page_content=f"# Letter {n}\n\nNet debt fell in year {n}.", metadata={"doc_id": f"d{n}"})
        for n in range(count)
    ]


def opened(folder) -> FilingIndex:
    return FilingIndex.open(folder, embeddings=WordEmbeddings(), tokenization=words())


# --- doctor -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    index = FilingIndex.open(tmp_path / "ix")
    index.add(letters(2))
    index.close()
    return tmp_path / "ix"


def test_doctor_finds_a_sound_index_sound(folder, capsys) -> None:
    assert main(["doctor", "--index", str(folder), "--json"]) == 0
    findings = {one["name"]: one for one in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["health of the index"]["state"] == "ok"
    assert findings[f"index {folder}"]["found"] == "2 documents, 2 chunks"
    assert findings["model use-multilingual-v3"]["state"] == "ok"


def test_doctor_mends_the_keyword_index(folder, capsys) -> None:
    shutil.rmtree(folder / "keywords")
    assert main(["doctor", "--index", str(folder)]) == 1
    out = capsys.readouterr().out
    assert f"fin-rag doctor --index {folder} --repair" in out
    assert "1 faults." in out
    assert main(["doctor", "--index", str(folder), "--repair"]) == 0
    capsys.readouterr()
    assert main(["search", "net debt", "--index", str(folder), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["results"]) == 2


def test_doctor_names_the_command_for_a_missing_index(tmp_path, capsys) -> None:
    assert main(["doctor", "--index", str(tmp_path / "none")]) == 1
    assert "fin-rag ingest PATH --index" in capsys.readouterr().out


def test_doctor_names_packages_that_are_missing_or_of_another_version(monkeypatch) -> None:
    installed = {"one": "1.5", "two": "9.0"}

    def version(name: str) -> str:
        if name not in installed:
            raise PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(checkup, "version", version)
    monkeypatch.setattr(checkup, "requires", lambda _: ["one>=1,<2", "two<3", "three>=1", 'four; extra == "x"'])
    found = {one.name: one for one in checkup._packages()}
    assert set(found) == {"two", "three", "packages"}
    assert found["three"].remedy == "pip install 'three>=1'"
    assert found["two"].state == checkup.FAULT


# --- completion -------------------------------------------------------------------------------


def completed(line: list[str]) -> list[str]:
    script = completion_script(build_parser(), "bash")
    typed = " ".join(f'"{word}"' for word in line)
    code = f"{script}\nCOMP_WORDS=({typed}); COMP_CWORD={len(line) - 1}; _fin_rag; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["fin-rag", "in"], ["ingest", "inspect"]),
        (["fin-rag", "inspect", "a.md", "--ht"], ["--html"]),
        (["fin-rag", "search", "--lang", ""], ["en", "es"]),
        (["fin-rag", "facts", "g"], ["get"]),
        (["fin-rag", "facts", "series", "--kin"], ["--kind"]),
        (["fin-rag", "completion", "z"], ["zsh"]),
    ],
)
def test_bash_completes(line, expected) -> None:
    assert completed(line) == expected


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_every_command_is_completed(shell, capsys) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name in ("ingest", "search", "inspect", "evaluate", "golden", "view", "doctor", "edgar"):
        assert name in script


# --- Ctrl-C and exit codes --------------------------------------------------------------------


def test_ctrl_c_leaves_the_index_whole(tmp_path) -> None:
    index = opened(tmp_path / "ix")
    index.add(letters(1))

    def stop(progress) -> None:
        if progress.done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.add(letters(6), progress=stop)
    assert index.verify() == []
    assert index.retriever().invoke("net debt")
    index.add(letters(6))
    assert len(index) == 6
    assert index.verify() == []
    index.close()


@pytest.mark.parametrize("part", ["vectors", "keywords"])
def test_ctrl_c_in_the_midst_of_writing_leaves_the_index_whole(tmp_path, monkeypatch, part) -> None:
    index = opened(tmp_path / "ix")
    index.add(letters(1))
    target = getattr(index._parts, part)
    real = type(target).add

    def stopped(self, *arguments, **more):
        real(self, *arguments, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(target), "add", stopped)
        with pytest.raises(KeyboardInterrupt):
            index.add(letters(4))
    index.close()
    again = opened(tmp_path / "ix")
    assert len(again) == 1
    again.add(letters(4))
    assert len(again) == 4
    assert again.verify() == []
    again.close()


def test_ctrl_c_has_an_exit_code_of_its_own(monkeypatch, capsys) -> None:
    from fin_rag.cli import doctor

    def stop(_) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "run", stop)
    assert main(["doctor"]) == 130
    assert "goes on from there" in capsys.readouterr().err


def test_exit_codes_are_documented(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for code in ("0  done", "1  done, and not all is well", "2  wrong", "3  the gate", "130  stopped"):
        assert code in out


# --- edgar ------------------------------------------------------------------------------------


class _Filing:
    def __init__(self, number: int) -> None:
        self.accession_number = f"0000000001-31-{number:06}"

    def full_text_submission(self) -> str:
        return f"<SEC-DOCUMENT>{self.accession_number}"


@pytest.fixture
def edgar(monkeypatch):
    asked: dict[str, object] = {}

    class Company:
        def __init__(self, ticker: str) -> None:
            if asked.get("down"):
                raise ConnectionError("name or service not known")
            asked["ticker"] = ticker

        def get_filings(self, *, form: str, amendments: bool):
            asked.setdefault("forms", []).append((form, amendments))
            return [] if form == "20-F" else [_Filing(n) for n in range(9)]

    module = types.SimpleNamespace(set_identity=lambda who: asked.update(who=who), Company=Company)
    monkeypatch.setitem(sys.modules, "edgar", module)
    return asked


def test_edgar_downloads_and_keeps_what_is_there(edgar, tmp_path, capsys) -> None:
    arguments = ["edgar", "ORRN", "--years", "3", "--out", str(tmp_path), "--user-agent", WHO, "--json"]
    assert main(arguments) == 0
    assert len(json.loads(capsys.readouterr().out)["written"]) == 3
    assert edgar["who"] == WHO
    assert edgar["forms"] == [("10-K", False)]
    assert main(arguments) == 0
    assert len(json.loads(capsys.readouterr().out)["kept"]) == 3
    assert [p.suffix for p in sorted(tmp_path.iterdir())] == [".txt"] * 3


def test_edgar_counts_quarters(edgar, tmp_path) -> None:
    assert len(download_filings("ORRN", tmp_path, user_agent=WHO, forms=["10-Q"], years=2).written) == 8


def test_edgar_without_a_network_says_so(edgar, tmp_path) -> None:
    edgar["down"] = True
    with pytest.raises(NotFoundError, match="cannot be reached"):
        download_filings("ORRN", tmp_path, user_agent=WHO)


def test_edgar_says_what_is_missing_or_wrong(edgar, tmp_path, monkeypatch) -> None:
    with pytest.raises(NotFoundError, match="no 20-F"):
        download_filings("ORRN", tmp_path, user_agent=WHO, forms=["20-F"])
    for ticker, who, years in (("../x", WHO, 1), ("ORRN", "Jane", 1), ("ORRN", WHO, 0)):
        with pytest.raises(InputError):
            download_filings(ticker, tmp_path, user_agent=who, years=years)
    monkeypatch.setitem(sys.modules, "edgar", None)
    with pytest.raises(MissingDependencyError, match=r"fin-rag\[edgar\]"):
        download_filings("ORRN", tmp_path, user_agent=WHO)
