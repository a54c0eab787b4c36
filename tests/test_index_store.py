"""The index: incremental, whole or not at all, the same after reopening."""

from __future__ import annotations

import subprocess
import sys

import pytest
from filelock import FileLock
from langchain_core.documents import Document

from fin_rag.errors import InputError, IntegrityError, NotFoundError
from fin_rag.index import FilingIndex
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, report, words

SMALL = ChunkingConfig(max_tokens=40, overlap_tokens=0)


def opened(folder, **settings) -> FilingIndex:
    given = {"embeddings": WordEmbeddings(), "tokenization": words(), "config": SMALL, **settings}
    return FilingIndex.open(folder, **given)


def letter(name: str, text: str = "Net sales rose 5 %.", **metadata) -> Document:
    return report(f"# {name}\n\n{text}", source=f"{name}.md", title=name, **metadata)


@pytest.fixture
def index(tmp_path):
    made = opened(tmp_path / "index")
    yield made
    made.close()


def test_adding_twice_changes_nothing(index) -> None:
    first = index.add([letter("A"), letter("B")])
    calls = index.embeddings.calls
    again = index.add([letter("A"), letter("B")])
    assert (len(first.added), first.chunks, first.embedded) == (2, 2, 2)
    assert (again.added, len(again.unchanged), again.embedded) == ([], 2, 0)
    assert index.embeddings.calls == calls
    assert (len(index), index.chunk_count, index.verify()) == (2, 2, [])


def test_files_are_added_once_across_processes(tmp_path) -> None:
    (tmp_path / "a.md").write_text("# Carta\n\nLas ventas netas subieron.", encoding="utf-8")
    code = (
        "import sys; from fin_rag import FilingIndex; print(len(FilingIndex.open(sys.argv[1]).add(sys.argv[2]).added))"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "index"), str(tmp_path / "a.md")],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert runs == ["1", "0"]
    index = FilingIndex.open(tmp_path / "index", create=False)
    (found,) = index.retriever(k=5).invoke("ventas netas")
    assert found.page_content == "# Carta\n\nLas ventas netas subieron."
    index.close()


def test_changed_document_replaces_its_older_form(index) -> None:
    index.add(letter("A", doc_id="a"))
    report_ = index.add(letter("A", "Net sales fell.", doc_id="a"))
    assert report_.replaced == ["a"]
    assert (len(index), index.chunk_count, index.verify()) == (1, 1, [])
    assert "fell" in index.text("a")
    assert all("rose" not in d.page_content for d in index.retriever(k=5).invoke("net sales rose"))


def test_same_id_in_one_call_is_reported_not_lost(index) -> None:
    found = index.add([letter("A", doc_id="x"), letter("B", doc_id="x")])
    assert found.added == ["x"]
    assert "same document id" in found.failed["B.md"]
    assert "Give one of them" in found.failed["B.md"]


def test_vectors_are_taken_again_by_content(index) -> None:
    index.add(letter("A", doc_id="a"))
    found = index.add(letter("A", doc_id="a", reviewed=True))
    assert (found.replaced, found.embedded) == (["a"], 0)
    assert index.documents()[0]["reviewed"] is True
    assert index.verify() == []


def test_removed_document_is_gone(index) -> None:
    index.add([letter("A", doc_id="a"), letter("B", doc_id="b")])
    assert index.remove(["a", "zzz"]) == ["a"]
    assert [d["doc_id"] for d in index.documents()] == ["b"]
    assert {d.metadata["doc_id"] for d in index.retriever(k=5).invoke("net sales")} == {"b"}
    assert index.verify() == []


def test_two_years_with_the_same_sentence_stay_two(index) -> None:
    index.add([letter("A", doc_id="y22", fiscal_year=2022), letter("A", doc_id="y23", fiscal_year=2023)])
    found = index.retriever(k=5).invoke("net sales rose")
    assert {d.metadata["fiscal_year"] for d in found} == {2022, 2023}
    assert len({d.id for d in found}) == 2


def test_unreadable_files_are_named_and_the_rest_is_taken(index, tmp_path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.md").write_text("# Letter\n\nNet sales rose.")
    (folder / "empty.md").write_text("")
    (folder / "noise.pdf").write_bytes(bytes(range(256)) * 20)
    (folder / "picture.png").write_bytes(b"\x89PNG")
    found = index.add(folder)
    assert len(found.added) == 1
    assert {path.rsplit("/")[-1] for path in found.failed} == {"empty.md", "noise.pdf"}
    assert all(found.failed.values())
    assert [path.rsplit("/")[-1] for path in found.skipped] == ["picture.png"]
    assert "empty.md" in str(found)


def test_folder_without_documents_is_refused(index, tmp_path) -> None:
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match="holds no document"):
        index.add(tmp_path / "none")
    with pytest.raises(NotFoundError, match="does not exist"):
        index.add(tmp_path / "missing.pdf")


def test_private_documents_need_and_keep_their_session(index) -> None:
    assert index.add(letter("P", source_scope="private")).failed, "private without a session"
    index.add(letter("P", source_scope="private", session_id="s1", doc_id="p"))
    assert index.documents() == []
    assert index.retriever(k=5).invoke("net sales") == []
    assert index.retriever(k=5, session_id="s2").invoke("net sales") == []
    assert [d.metadata["doc_id"] for d in index.retriever(k=5, session_id="s1").invoke("net sales")] == ["p"]
    with pytest.raises(NotFoundError):
        index.text("p", session_id="s2")
    forged = {"$or": [{"session_id": "s1"}, {"source_scope": "private"}]}
    assert index.retriever(k=5, filter=forged).invoke("net sales") == []


def test_private_copy_never_takes_the_place_of_a_public_one(index) -> None:
    text = "# A\n\nNet sales rose 5 %."
    public = index.add(report(text, source="a.md", title="A")).added
    for session in ("s1", "s2"):
        private = report(text, source="a.md", title="A", source_scope="private", session_id=session)
        assert index.add(private).added not in ([], public)
    assert [d["doc_id"] for d in index.documents()] == public
    assert len(index.documents(session_id="s1")) == 2
    forged = report(text, source="x.md", doc_id=public[0], source_scope="private", session_id="s3")
    assert "another scope" in index.add(forged).failed["x.md"]
    assert [d["doc_id"] for d in index.documents()] == public


def test_another_model_is_refused_by_name_or_by_vector(tmp_path) -> None:
    opened(tmp_path / "i").add(letter("A"))
    with pytest.raises(IntegrityError, match="words-24"):
        opened(tmp_path / "i", embeddings=WordEmbeddings(8))
    twin = WordEmbeddings(24, salt="other")
    twin.model_name = "words-24"
    with pytest.raises(IntegrityError, match="another embedding model"):
        opened(tmp_path / "i", embeddings=twin).retriever(k=1).invoke("net sales")
    with pytest.raises(IntegrityError, match="Give it as 'embeddings'"):
        FilingIndex.open(tmp_path / "i").retriever(k=1).invoke("net sales")


def test_another_budget_is_refused(tmp_path) -> None:
    opened(tmp_path / "i").add(letter("A"))
    with pytest.raises(InputError, match="Ingest into a new folder"):
        opened(tmp_path / "i", config=ChunkingConfig(max_tokens=41, overlap_tokens=0))
    assert opened(tmp_path / "i", config=None).config == SMALL


def test_second_writer_is_refused(index, monkeypatch) -> None:
    monkeypatch.setattr("fin_rag.index.writer._PATIENCE", 0.1)
    with FileLock(str(index.folder / "writer.lock")), pytest.raises(IntegrityError, match="Another process"):
        index.add(letter("A"))
    assert len(index.add(letter("A")).added) == 1


class Breaking(WordEmbeddings):
    """Fail on one text."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        if any("POISON" in text for text in texts):
            raise OSError(28, "No space left on device")
        return super().embed_documents(texts)


def test_failure_leaves_the_index_as_it_was(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fin_rag.index.writer._GROUP_CHUNKS", 1)
    index = opened(tmp_path / "i", embeddings=Breaking())
    with pytest.raises(IntegrityError, match="No space left"):
        index.add([letter("A"), letter("B", "POISON"), letter("C")])
    assert [d["title"] for d in index.documents()] == ["A"]
    assert index.verify() == []
    assert len(index.add([letter("A"), letter("C")]).added) == 1
    assert index.verify() == []


def test_death_before_the_commit_is_mended_by_the_next_write(tmp_path, monkeypatch) -> None:
    index = opened(tmp_path / "i")
    index.add(letter("A"))
    monkeypatch.setattr(index._catalogue, "commit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        index.add(letter("B"))
    index.close()
    index = opened(tmp_path / "i")
    assert [d.metadata["title"] for d in index.retriever(k=5).invoke("net sales")] == ["A"]
    index.add(letter("C"))
    assert (len(index), index.verify()) == (2, [])
    index.close()


def test_keywords_are_rebuilt_from_the_texts(index) -> None:
    index.add([letter("A"), letter("B")])
    before = index.keyword_search("sales", 5, index.resolve())
    assert index.rebuild() == 2
    assert index.keyword_search("sales", 5, index.resolve()) == before


def test_rank_bm25_finds_the_same_chunks(tmp_path) -> None:
    opened(tmp_path / "i").add([letter("A", "Debt fell."), letter("B", "Net sales rose."), letter("C", "No change.")])
    index = opened(tmp_path / "i", keywords="rank-bm25")
    assert index.keyword_search("debt", 5, index.resolve())[0][0] == 0
    assert len(index.add(letter("D", "Debt rose.")).added) == 1
    assert len(index.keyword_search("debt", 5, index.resolve())) == 2


def test_deleted_folder_can_be_filled_again_in_the_same_process(tmp_path) -> None:
    import shutil

    for _ in range(2):
        index = opened(tmp_path / "i")
        assert len(index.add(letter("A")).added) == 1
        assert len(index.retriever(k=1).invoke("net sales")) == 1
        index.close()
        shutil.rmtree(tmp_path / "i")


def test_no_index_and_other_formats_are_named(tmp_path) -> None:
    with pytest.raises(NotFoundError, match="fin-rag ingest"):
        FilingIndex.open(tmp_path / "none", create=False)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be made"):
        FilingIndex.open(tmp_path / "file" / "index")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "catalogue.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(IntegrityError, match="cannot be read"):
        FilingIndex.open(tmp_path / "bad")


def test_more_chunks_than_a_batch_in_one_call(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fin_rag.index.writer._GROUP_CHUNKS", 10_000)
    index = opened(tmp_path / "i")
    text = "\n\n".join(f"# Section {i}\n\nLine {i} of many." for i in range(6000))
    assert index.add(report(text, source="big.md", title="Big", doc_id="big")).chunks == 6000
    assert index.verify() == []
    index.close()


def test_two_processes_at_once_lose_nothing(tmp_path) -> None:
    code = (
        "import sys\n"
        "from tests.fakes import WordEmbeddings, report, words\n"
        "from fin_rag.index import FilingIndex\n"
        "from fin_rag.splitters import ChunkingConfig\n"
        "config = ChunkingConfig(max_tokens=40, overlap_tokens=0)\n"
        "index = FilingIndex.open(sys.argv[1], embeddings=WordEmbeddings(), tokenization=words(), config=config)\n"
        "name = sys.argv[2]\n"
        "text = '\\n\\n'.join(f'# {name} {i}\\n\\nLine {i} of {name}.' for i in range(200))\n"
        "print(len(index.add(report(text, source=name, title=name, doc_id=name)).added))\n"
    )
    runs = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "i"), name], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    assert [run.communicate(timeout=120)[0].strip() for run in runs] == ["1", "1"]
    index = opened(tmp_path / "i")
    assert (index.chunk_count, index.verify()) == (400, [])
    for name in ("one", "two"):
        found = index.retriever(k=3, filter={"doc_id": name}).invoke("line 7")
        assert {d.metadata["doc_id"] for d in found} == {name}
    index.close()


def test_the_pages_and_sections_of_a_document_are_kept(index) -> None:
    index.add(report("# A\n\nOne.\n\nTwo.", doc_id="a", source="a", page_map="1:0-9;2:11-15"))
    assert index.view("a").pages.pages[1][0] == 2
    assert index.view("a").sections[0].title == "A"
    assert all("page_map" not in m for m in (*index.documents(), index.retriever(k=1).invoke("One")[0].metadata))
    with pytest.raises(NotFoundError):
        index.view("b")
