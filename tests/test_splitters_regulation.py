"""Statutes in chunks: one provision a chunk, addresses, references as keys or as text within the budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from langchain_core.documents import Document

from fin_rag import RegulationTextSplitter, splitter_for
from fin_rag.errors import InputError
from fin_rag.schema import parse_spans
from fin_rag.structure.regulation import read_statute
from tests.fakes import assert_sound, words
from tests.regulation_generator import LAYOUTS, Act, acts

LAW = """# Ley 9/2031, de 3 de mayo, de depósitos

### TÍTULO I. Normas

###### Artículo 1. Objeto.

Esta ley regula el depósito.

###### Artículo 2. Requisitos.

1. La entidad presentará:

a) los estatutos de la entidad;

b) el plan de negocio de la entidad;

c) la lista de sus consejeros.

2. Se estará al artículo 1 y al artículo 5 de la Ley 10/2014.

> <small>Se modifica por el art. 3 de la Ley 2/2032.</small>

### TÍTULO II. Plazos

###### Artículo 3. Plazo.

El plazo cuenta desde lo previsto en el artículo 2.1.b).
"""


def split(text: str = LAW, size: int = 60, **settings: str) -> list[Document]:
    splitter = RegulationTextSplitter(size, tokenization=words(), **settings)  # type: ignore[arg-type]
    return splitter.create_documents([text], [{"doc_type": "regulation", "lang": "es"}])


def by_address(chunks: list[Document]) -> dict[str, Document]:
    return {c.metadata["address"]: c for c in chunks if "address" in c.metadata and "state" not in c.metadata}


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize(("expand", "direction"), [("ids", "out"), ("text", "both")])
@settings(max_examples=15)
@given(act=acts())
def test_chunks_of_every_system_are_sound(layout: str, expand: str, direction: str, act: Act) -> None:
    text = LAYOUTS[layout](act).text
    splitter = RegulationTextSplitter(24, tokenization=words(), expand_references=expand, reference_direction=direction)
    document = Document(page_content=text, metadata={"doc_type": "regulation", "lang": "en", "title": "Act"})
    _, outline, chunks = splitter.split_whole(document)
    assert_sound(text, chunks, words(), 24, outline.furniture)
    assert chunks == splitter.split_whole(document)[2]
    statute = read_statute(text)
    for chunk in chunks:
        address = chunk.metadata.get("address")
        if address is not None:
            held = statute.find(address)
            assert held is not None
            assert held.span.start < chunk.metadata["end_index"]


def test_splitter_is_chosen_for_regulation() -> None:
    assert isinstance(
        splitter_for(Document(page_content="x", metadata={"doc_type": "regulation"})), RegulationTextSplitter
    )


def test_a_provision_that_fits_is_one_chunk_with_its_path() -> None:
    found = by_address(split())
    assert set(found) >= {"art:1", "art:2", "art:3"}
    assert found["art:1"].metadata["context_header"].endswith("TÍTULO I. Normas > Artículo 1. Objeto")
    assert found["art:1"].metadata["containers"] == ["title:I"]
    assert found["art:2"].metadata["references"] == ["art:1"]
    assert found["art:2"].metadata["external_references"] == ["Ley 10/2014, art:5"]
    assert found["art:3"].metadata["references"] == ["art:2/par:1/pt:b"]


def test_notes_of_editors_are_chunks_of_their_own() -> None:
    (note,) = [c for c in split() if c.metadata.get("state") == "editorial_note"]
    assert (note.metadata["kind"], note.metadata["address"]) == ("note", "art:2")
    assert "references" not in note.metadata
    assert not any("Ley 2/2032" in c.page_content for c in split() if c is not note and "state" not in c.metadata)


def test_points_cut_off_from_their_lead_have_it_in_front() -> None:
    chunks = [c for c in split(size=30) if "b) el plan" in c.page_content]
    assert chunks
    for chunk in chunks:
        assert chunk.page_content.index("La entidad presentará:") < chunk.page_content.index("b) el plan")
    alone = [c for c in split(size=30) if c.page_content.rstrip().endswith(":")]
    assert alone == []


def test_cited_text_is_a_further_span_within_the_budget() -> None:
    found = by_address(split(expand_references="text"))
    cited = found["art:3"]
    assert "b) el plan de negocio" in cited.page_content
    assert len(parse_spans(cited.metadata["spans"])) == 2
    assert cited.metadata["token_count"] <= 60
    assert "b) el plan de negocio" not in by_address(split(expand_references="ids"))["art:3"].page_content


def test_cited_text_without_room_is_counted() -> None:
    body = "Texto largo " * 30
    text = f"###### Artículo 1. Uno.\n\n{body}.\n\n###### Artículo 2. Dos.\n\nVéase el artículo 1."
    found = by_address(split(text, 40, expand_references="text"))
    assert found["art:2"].metadata["references_left_out"] == 1


def test_what_cites_a_provision_is_found_from_it() -> None:
    inward = by_address(split(expand_references="ids", reference_direction="in"))
    assert inward["art:1"].metadata["referenced_by"] == ["art:2/par:2"]
    assert inward["art:2"].metadata["referenced_by"] == ["art:3"]
    assert "references" not in inward["art:2"].metadata
    both = by_address(split(expand_references="text", reference_direction="both", size=120))
    assert "El plazo cuenta" in both["art:2"].page_content


def test_no_keys_where_none_are_wanted() -> None:
    assert not any({"references", "referenced_by"} & c.metadata.keys() for c in split(expand_references="none"))


def test_references_in_a_circle_end() -> None:
    text = "Artículo 1. Uno.\n\nVéase el artículo 2.\n\nArtículo 2. Dos.\n\nVéase el artículo 1."
    found = by_address(split(text, expand_references="text", reference_direction="both"))
    assert found["art:1"].page_content.count("Véase el artículo 1.") == 1


@pytest.mark.parametrize("wrong", [{"expand_references": "all"}, {"reference_direction": "up"}])
def test_unknown_options_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        RegulationTextSplitter(60, tokenization=words(), **wrong)  # type: ignore[arg-type]


def test_options_shape_the_ids() -> None:
    first = [c.id for c in split()]
    assert first == [c.id for c in split()]
    assert not set(first) & {c.id for c in split(expand_references="none")}
