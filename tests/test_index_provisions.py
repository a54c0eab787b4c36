"""Provisions in an index: found by address, cited and citing across documents, filtered by prefix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langchain_core.documents import Document

from fin_rag.cli import main
from fin_rag.errors import InputError, NotFoundError
from fin_rag.index import FilingIndex
from fin_rag.index.filters import parse_filter
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, words

LAW = """# Ley 9/2031, de 3 de mayo, de depósitos

### TÍTULO I. Normas

###### Artículo 1. Objeto.

Esta ley regula el depósito.

###### Artículo 2. Requisitos.

1. La entidad presentará:

a) los estatutos;

b) el plan.

2. Se estará al artículo 1 y al artículo 5 de la Ley 10/2014.

> <small>Se modifica por el art. 3 de la Ley 2/2032.</small>
"""
DECREE = """# Real Decreto 100/2032, de 19 de febrero

###### Artículo 1. Desarrollo.

Desarrolla el artículo 2.1.b) de la Ley 9/2031 y el artículo 77 de la Ley 9/2031.

###### Artículo 3. Otro.

Rige el artículo 1.
"""


def statute(text: str, name: str, **metadata: object) -> Document:
    return Document(page_content=text, metadata={"doc_type": "regulation", "doc_id": name, "source": name, **metadata})


@pytest.fixture
def index(tmp_path: Path) -> Iterator[FilingIndex]:
    made = FilingIndex.open(
        tmp_path / "index",
        embeddings=WordEmbeddings(),
        tokenization=words(),
        config=ChunkingConfig(max_tokens=60, overlap_tokens=0),
    )
    made.add([statute(LAW, "ley"), statute(DECREE, "decreto")])
    yield made
    made.close()


def test_a_provision_is_found_by_address_and_act(index: FilingIndex) -> None:
    found = index.provision("art:2/par:1", act="LEY 9/2031")
    assert found.page_content == "1. La entidad presentará:\n\na) los estatutos;\n\nb) el plan."
    assert (found.metadata["address"], found.metadata["doc_id"]) == ("art:2/par:1", "ley")
    assert found.metadata["section_path"].startswith("TÍTULO I. Normas > Artículo 2. Requisitos")
    start, end = found.metadata["start_index"], found.metadata["end_index"]
    assert index.text("ley")[start:end] == found.page_content


def test_editors_notes_are_no_part_of_a_provision(index: FilingIndex) -> None:
    assert "Ley 2/2032" not in index.provision("art:2", act="Ley 9/2031").page_content


def test_the_act_may_be_left_out_where_one_alone_has_the_address(index: FilingIndex) -> None:
    assert index.provision("art:3").metadata["doc_id"] == "decreto"
    with pytest.raises(InputError, match="2 acts have a provision 'art:1'"):
        index.provision("art:1")
    assert index.provision("art:1", doc_id="ley").metadata["doc_id"] == "ley"


@pytest.mark.parametrize(
    ("address", "act", "message"),
    [("art:9", "Ley 9/2031", "art:"), ("art:1", "Ley 1/1999", "Ley 9/2031"), ("art:9", None, "no provision")],
)
def test_what_is_not_there_is_said_with_near_names(
    index: FilingIndex, address: str, act: str | None, message: str
) -> None:
    with pytest.raises(NotFoundError, match=message):
        index.provision(address, act=act)


def test_references_lead_to_other_documents_of_the_index(index: FilingIndex) -> None:
    first, second = index.references_of("art:1", act="Real Decreto 100/2032")
    assert (first.target_doc, first.targets, first.resolved) == ("ley", ("art:2/par:1/pt:b",), True)
    assert (second.target_doc, second.missing, second.resolved) == ("ley", ("art:77",), False)
    own, other = index.references_of("art:2", act="Ley 9/2031")
    assert (own.target_doc, own.targets) == ("ley", ("art:1",))
    assert (other.act, other.provisions, other.target_doc, other.resolved) == ("Ley 10/2014", ("art:5",), "", False)
    assert own.text == index.text("ley")[own.span.start : own.span.end]


def test_what_cites_a_provision_is_found_in_every_document(index: FilingIndex) -> None:
    cited = index.referenced_by("art:2/par:1", act="Ley 9/2031")
    assert [(one.doc_id, one.source) for one in cited] == [("decreto", "art:1")]
    assert [(one.doc_id, one.source) for one in index.referenced_by("art:1", act="Ley 9/2031")] == [
        ("ley", "art:2/par:2")
    ]
    assert [one.source for one in index.referenced_by("art:1", act="Real Decreto 100/2032")] == ["art:3"]


def test_references_follow_what_is_added_and_removed(index: FilingIndex) -> None:
    index.add(statute("# Ley 10/2014, de 26 de junio\n\n###### Artículo 5. Cinco.\n\nTexto.", "otra"))
    assert index.references_of("art:2", act="Ley 9/2031")[1].target_doc == "otra"
    index.remove("ley")
    assert index.referenced_by("art:5", act="Ley 10/2014") == []
    assert index.references_of("art:1", act="Real Decreto 100/2032")[0].target_doc == ""


def test_sections_of_a_code_are_found_in_another_part(index: FilingIndex) -> None:
    index.add(
        [
            statute("PART 7—ONE\n\n§ 7.1 Fees.\n\nSee § 8.2(a).", "p7", title="17 CFR Part 7"),
            statute("PART 8—TWO\n\n§ 8.2 More.\n\n(a) A.\n\n(b) See 17 CFR 7.1.", "p8", title="17 CFR Part 8"),
        ]
    )
    (there,) = index.references_of("sec:7.1")
    assert (there.target_doc, there.targets, there.resolved) == ("p8", ("sec:8.2/a",), True)
    assert [one.source for one in index.referenced_by("sec:8.2")] == ["sec:7.1"]
    assert [one.source for one in index.referenced_by("sec:7.1")] == ["sec:8.2/b"]


def test_private_acts_are_seen_by_their_session_only(index: FilingIndex) -> None:
    text = "# Ley 50/2031\n\n###### Artículo 8. Ocho.\n\nRige el artículo 1 de la Ley 9/2031."
    index.add(statute(text, "privada", source_scope="private", session_id="s1"))
    with pytest.raises(NotFoundError):
        index.provision("art:8")
    assert index.provision("art:8", session_id="s1").metadata["act"] == "Ley 50/2031"
    assert len(index.referenced_by("art:1", act="Ley 9/2031")) == 1
    assert len(index.referenced_by("art:1", act="Ley 9/2031", session_id="s1")) == 2


@pytest.mark.parametrize(
    ("prefix", "passes"),
    [("art:2", True), ("art:2/par:1/pt:b", True), ("art:20", False), ("art:2 bis", False), ("art:1", False)],
)
def test_chunks_are_filtered_by_the_levels_of_an_address(prefix: str, passes: bool) -> None:
    wanted = parse_filter({"address": {"$prefix": prefix}})
    assert wanted.matches({"address": "art:2"}) == passes
    assert wanted.matches({"address": "art:2", "provisions": ["art:2/par:1"]}) == passes
    assert not wanted.matches({})


def test_a_chunk_that_shows_other_paragraphs_is_not_let_through() -> None:
    wanted = parse_filter({"address": {"$prefix": "art:2/par:3"}})
    assert not wanted.matches({"address": "art:2", "provisions": ["art:2/par:1", "art:2/par:2"]})


def test_retrieval_can_be_kept_to_a_provision(index: FilingIndex) -> None:
    found = index.retriever(k=9, filter={"address": {"$prefix": "art:2/par:1"}}).invoke("estatutos")
    assert {(d.metadata["doc_id"], d.metadata["address"]) for d in found} == {("ley", "art:2")}
    inside = index.retriever(k=9, filter={"containers": {"$contains": "title:I"}}).invoke("depósito")
    assert {d.metadata["address"] for d in inside} == {"art:1", "art:2"}


def test_prefixes_of_numbers_are_refused() -> None:
    with pytest.raises(InputError, match=r"\$prefix"):
        parse_filter({"fiscal_year": {"$prefix": 20}})
    assert parse_filter({"title": {"$prefix": "Ley"}}).matches({"title": "Ley 9/2031"})


def test_inspect_shows_addresses_and_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ley.md"
    path.write_text(LAW, encoding="utf-8")
    assert main(["inspect", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "art:2/par:1/pt:b" in shown
    assert "references: 1 to this text, 0 of them without a target in it, 1 to other acts" in shown
    assert "  -> art:1  “artículo 1”" in shown
    assert "  => Ley 10/2014, art:5  “artículo 5 de la Ley 10/2014”" in shown
