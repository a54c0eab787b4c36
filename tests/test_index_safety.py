"""The index keeps what was committed: killed writers, damage, readers beside a writer, backups, other users."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from fin_rag.errors import InputError, IntegrityError, NotFoundError
from fin_rag.index import FilingIndex
from fin_rag.index.keywords import KeywordRecord, TantivyKeywords
from tests import crash, load
from tests.crash import document, opened
from tests.fakes import WordEmbeddings

NAMES = ("a0", "a1", "b0", "p0")


@pytest.fixture
def index(tmp_path):
    made = opened(tmp_path / "index")
    assert not made.add([document(name, 3) for name in NAMES]).failed
    yield made
    made.close()


def reopened(index: FilingIndex, spoil) -> FilingIndex:
    index.close()
    spoil(index.folder)
    return opened(index.folder)


@pytest.mark.slow
def test_killed_writers_lose_nothing(tmp_path) -> None:
    outcome = crash.crash(tmp_path / "index", kills=15, seed=7)
    assert outcome.losses == []
    assert outcome.inside >= 5, "most kills should fall inside of a call"


@pytest.mark.slow
def test_readers_see_one_state_while_a_writer_works(tmp_path) -> None:
    writer, readers = load.load(tmp_path / "index", seconds=8, readers=2)
    assert writer[2] == []
    assert writer[0] > 1
    for reads, versions, faults in readers:
        assert faults == []
        assert reads > 5
        assert versions > 1, "a reader should see what is written meanwhile"


def test_what_a_dead_writer_left_is_taken_out_at_opening(index, monkeypatch) -> None:
    monkeypatch.setattr(index._catalogue, "commit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        index.add(document("q1", 4))
    left = index._catalogue.stale_rows()
    assert left
    rows = range(left[0][0], left[0][0] + left[0][1])
    assert index._parts.vectors.file.read(rows).any()
    index.close()
    again = opened(index.folder)
    assert again._catalogue.stale_rows() == []
    assert not again._parts.vectors.file.read(rows).any()
    assert not set(rows) & again._parts.keywords.rows()
    assert again.verify() == []
    again.close()


def test_opening_beside_a_writer_does_not_touch_its_rows(index) -> None:
    with index._writer.locked():
        first = index._catalogue.reserve(5)
        beside = opened(index.folder)
        assert [row for row, _, _ in beside._catalogue.stale_rows()] == [first]
        beside.close()


def test_files_of_a_keyword_writer_that_was_killed_do_not_stop_the_next(tmp_path) -> None:
    keywords = TantivyKeywords(tmp_path)
    keywords.add(KeywordRecord(row, 0, "en", f"words number {row}") for row in range(10))
    folder, before = tmp_path / "keywords", tmp_path / "before"
    shutil.copytree(folder, before)
    keywords.remove(0, 3)
    left = [path for path in folder.iterdir() if not (before / path.name).exists()]
    assert left
    # Killed after its files were written and before they were committed.
    for path in (*left, folder / ".managed.json"):
        shutil.copy(path, before / path.name)
    shutil.rmtree(folder)
    before.rename(folder)
    again = TantivyKeywords(tmp_path)
    assert again.count() == 10
    again.remove(0, 3)
    assert again.rows() == set(range(3, 10))


def sql(folder: Path, statement: str) -> None:
    with sqlite3.connect(folder / "catalogue.sqlite") as database:
        database.execute(statement)
    database.close()


def spoiled_vectors(folder: Path) -> None:
    with (folder / "vectors.f32").open("r+b") as file:
        file.seek(40)
        file.write(b"\x00\x00\x80\x3f" * 7)


def lost_vectors(folder: Path) -> None:
    path = folder / "vectors.f32"
    os.truncate(path, path.stat().st_size // 2)


def lost_keywords(folder: Path) -> None:
    shutil.rmtree(folder / "keywords")


def spoiled_keywords(folder: Path) -> None:
    (folder / "keywords" / "meta.json").write_text("{")


def fewer_in_chroma(folder: Path) -> None:
    import chromadb

    client = chromadb.PersistentClient(path=str(folder / "chroma"))
    client.get_collection("fin_rag").delete(ids=["0", "2"])
    client.close()


def lost_chroma(folder: Path) -> None:
    shutil.rmtree(folder / "chroma")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (spoiled_vectors, "vectors of 'a0' do not match"),
        (lost_vectors, "vectors of 'p0' do not match"),
        (lost_keywords, "keyword index holds 0"),
        (spoiled_keywords, "keyword index .* cannot be read"),
        (fewer_in_chroma, "Chroma lacks 2 vectors"),
        (lost_chroma, "Chroma lacks"),
    ],
)
def test_damage_is_found_and_mended_from_the_texts(index, spoil, says) -> None:
    before = index.retriever(k=5, session_id="p").invoke("Version3 of p0 line 2")
    spoilt = reopened(index, spoil)
    faults = spoilt.verify()
    assert any(re.search(says, fault) for fault in faults), faults
    assert all("rebuild()" in fault for fault in faults)
    assert spoilt.rebuild() == spoilt.chunk_count
    assert spoilt.verify() == []
    assert spoilt.retriever(k=5, session_id="p").invoke("Version3 of p0 line 2") == before
    spoilt.close()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ('UPDATE documents SET metadata = replace(metadata, \'"text_sha256":"\', \'"text_sha256":"0\')', "its hash"),
        ("DELETE FROM chunks WHERE row = 1", "has .* chunks, not the"),
        ('UPDATE chunks SET metadata = replace(metadata, \'"spans":"\', \'"spans":"9\')', "outside of its text"),
    ],
)
def test_damage_of_the_catalogue_is_named(index, statement, says) -> None:
    spoilt = reopened(index, lambda folder: sql(folder, statement))
    assert any(re.search(says, fault) for fault in spoilt.verify())
    spoilt.close()


def test_another_model_is_found_by_verify(index) -> None:
    index._parts._embeddings = WordEmbeddings(24, salt="x")
    index._parts._model_checked = False
    assert any("another embedding model" in fault for fault in index.verify())


def test_formats_of_other_versions_are_refused_in_words(index) -> None:
    index.close()
    for version, advice in (("2", "Ingest the sources again"), ("99", "Install the fin_rag that made it")):
        sql(index.folder, f"UPDATE settings SET value = '{version}' WHERE key = 'format_version'")
        with pytest.raises(IntegrityError, match=advice):
            opened(index.folder)


def test_rebuilding_that_was_cut_off_changes_nothing(index, monkeypatch) -> None:
    index.close()
    with monkeypatch.context() as patched:
        patched.setattr("fin_rag.index.graph.Graph.add", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            index.rebuild()
    assert index.verify() == []
    index._catalogue.reserve(3)
    index.close()
    again = opened(index.folder)
    assert sorted(path.name for path in index.folder.iterdir() if path.is_dir()) == ["chroma", "keywords-2"]
    assert again.verify() == []
    again.close()


def test_erasing_that_was_cut_off_is_finished_at_opening(index, monkeypatch) -> None:
    monkeypatch.setattr(index._parts.keywords, "replace", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        index.remove_session("p")
    index.close()
    again = opened(index.folder)
    assert not (again.folder / "keywords").exists(), "the keyword index with the session's words is deleted"
    assert again.verify() == []
    again.close()


def test_a_snapshot_does_not_change_while_another_writes(index) -> None:
    other = opened(index.folder)
    with index.snapshot():
        allowed = index.resolve()
        other.add(document("a0", 9))
        other.rebuild()
        found = index.keyword_search("line", 500, allowed)
        assert {row for row, _ in found} == set(allowed.rows.tolist())
        assert all("Version3" in one.page_content for one in index.fetch(row for row, _ in found).values())
        with index.snapshot():
            assert index.resolve().rows.tolist() == allowed.rows.tolist()
        assert "Version3" in index.text("a0")
    assert "Version9" in index.text("a0")
    assert any("Version9" in one.page_content for one in index.retriever(k=3).invoke("Version9 of a0"))
    other.close()


def test_chunks_of_another_process_are_found_by_the_graph(index, monkeypatch) -> None:
    monkeypatch.setattr("fin_rag.index.vectors._EXACT_ROWS", 60)
    index.retriever(k=1).invoke("anything")  # opens Chroma's files
    other = opened(index.folder)
    other.add(document("c2", 11))
    other.close()
    found = index.dense_search("Version11 of c2 says line 3.", 3, index.resolve())
    assert all(one.metadata["doc_id"] == "c2" for one in index.fetch(row for row, _ in found).values())


# --- backup -------------------------------------------------------------------------------------


def test_backup_of_a_live_index_is_whole(index, tmp_path) -> None:
    end = threading.Event()

    def write() -> None:
        version = 10
        while not end.is_set():
            version += 1
            index.add([document("a0", version), document("a1", version)])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        made = [index.backup(tmp_path / f"backup-{i}") for i in range(3)]
    finally:
        end.set()
        writer.join()
    for i, folder in enumerate(made):
        restored = FilingIndex.restore(folder, tmp_path / f"restored-{i}", embeddings=WordEmbeddings())
        assert restored.verify() == []
        versions = {one["doc_id"]: one["version"] for one in restored.documents()}
        assert versions["a0"] == versions["a1"], "both are replaced in one commit"
        assert restored.retriever(k=1, session_id="p").invoke("p0")
        assert not restored.add(document("c0", 5)).failed
        restored.close()


def test_a_backup_can_be_opened_where_it_is(index, tmp_path) -> None:
    there = opened(index.backup(tmp_path / "backup"))
    assert there.documents() == index.documents()
    assert there.verify() == []
    there.close()


def test_damaged_backups_are_refused(index, tmp_path) -> None:
    backup = index.backup(tmp_path / "backup")
    with pytest.raises(InputError, match="exists"):
        index.backup(backup)
    with pytest.raises(NotFoundError, match="no backup"):
        FilingIndex.restore(tmp_path, tmp_path / "new")
    with pytest.raises(InputError, match="not empty"):
        FilingIndex.restore(backup, index.folder)
    manifest = (backup / "backup.json").read_text()
    (backup / "backup.json").write_text(manifest.replace('"vectors.f32"', '"../vectors.f32"'))
    with pytest.raises(IntegrityError, match="outside of itself"):
        FilingIndex.restore(backup, tmp_path / "new")
    (backup / "backup.json").write_text(manifest.replace('"format_version": ', '"format_version": 9'))
    with pytest.raises(IntegrityError, match="format 9"):
        FilingIndex.restore(backup, tmp_path / "new")
    (backup / "backup.json").write_text(manifest[:-9])
    with pytest.raises(IntegrityError, match="damaged"):
        FilingIndex.restore(backup, tmp_path / "new")
    (backup / "backup.json").write_text(manifest)
    with (backup / "vectors.f32").open("ab") as file:
        file.write(b"more")
    with pytest.raises(IntegrityError, match=r"'vectors.f32' .* is damaged"):
        FilingIndex.restore(backup, tmp_path / "new")
    (backup / "vectors.f32").unlink()
    with pytest.raises(IntegrityError, match="could not be copied"):
        FilingIndex.restore(backup, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "new.partial").exists()


# --- other users, full disks --------------------------------------------------------------------

READ = """
import os, sys
from pathlib import Path
from fin_rag.errors import IntegrityError
from tests.crash import document, opened

def look(folder):
    index = opened(Path(folder))
    found = index.retriever(k=2).invoke("Version3 of a1 says line 2.")
    print([one.metadata["doc_id"] for one in found], len(index.keyword_search("line", 9, index.resolve())))
    for change in (lambda: index.add(document("a0", 4)), lambda: index.remove_session("p"), index.rebuild):
        try:
            change()
        except IntegrityError as error:
            print(error)
    index.close()

look(sys.argv[2])  # imports what is imported late: the other user may not read the interpreter's files
uid = int(sys.argv[3])
if uid:
    os.setgid(uid)
    os.setuid(uid)
print("---")
look(sys.argv[1])
"""


def test_an_index_in_a_folder_that_may_not_be_written_is_searched(index) -> None:
    index.close()
    folder = index.folder
    shutil.copytree(folder, folder.with_name("copy"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    for parent in folder.parents:  # so that another user gets there
        if parent.stat().st_uid == os.getuid() and not stat.S_IMODE(parent.stat().st_mode) & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    uid = 0 if os.getuid() else 65534
    run = subprocess.run(
        [sys.executable, "-c", READ, str(folder), str(folder.with_name("copy")), str(uid)],
        capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": ".", "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/nonexistent"},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    lines = run.stdout.partition("---")[2].split("\n")[1:-1]
    assert lines[0].startswith("['a1', ")
    assert lines[0].endswith("] 9")
    assert len(lines) == 4
    assert all("cannot be written" in line for line in lines[1:]), lines
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def test_files_of_the_keyword_index_can_be_read_like_the_others(index) -> None:
    rights = {stat.S_IMODE((index.folder / name).stat().st_mode) & 0o044 for name in ("keywords/meta.json",)}
    assert rights == {stat.S_IMODE((index.folder / "vectors.f32").stat().st_mode) & 0o044}


FULL = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from tests.crash import document, opened
from fin_rag.errors import IntegrityError
index = opened(Path(sys.argv[1]))
index.retriever(k=1).invoke("anything")
size = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    for i in range(400):
        failed = index.add(document(f"c{i}", 39)).failed
        assert not failed, failed
    print("never full")
except IntegrityError as error:
    print("refused", error)
"""


@pytest.mark.parametrize("kilobytes", [1, 60, 200, 700])
def test_a_full_disk_is_a_clean_error(index, kilobytes) -> None:
    index.close()
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FULL, str(index.folder), str(kilobytes * 1024)],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert run.stdout.startswith("refused"), run.stdout + run.stderr
    again = opened(index.folder)
    assert again.verify() == []
    assert {"a0", "a1", "b0"} <= {one["doc_id"] for one in again.documents()}
    assert not again.add(document("a0", 4)).failed
    again.close()
