"""The plain-function form: pages and sections from outside, every refusal in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag import ChunkingConfig, SectionSpan, Tokenization, chunk_document
from fin_rag.errors import InputError
from tests.fakes import byte_level, words

CONFIG = ChunkingConfig(max_tokens=16, overlap_tokens=4)
TEXT = "Preface words. Debt is low. Sales are high. Annex."


def split(pages, metadata=None, **settings):
    return chunk_document(pages, metadata, **{"config": CONFIG, "tokenization": words(), **settings})


def test_record_says_what_is_cited_and_what_is_read() -> None:
    (chunk,) = split("Net debt fell.", {"title": "Letter", "issuer": "Orrin"})
    assert chunk.text == "Net debt fell."
    assert chunk.prepared == "Orrin — Letter\n\nNet debt fell."
    assert chunk.token_count == words().count_tokens(chunk.prepared)
    assert (chunk.page, chunk.page_end) == (None, None)


def test_sections_from_outside_and_gaps_between_them() -> None:
    sections = [
        SectionSpan(15, 27, "Debt", path=("Notes",), metadata={"reviewed": True}),
        SectionSpan(28, 43, "Sales", section_id="sales"),
    ]
    chunks = split(TEXT, {"title": "R", "doc_type": "report"}, sections=sections)
    assert [c.text for c in chunks] == ["Preface words.", "Debt is low.", "Sales are high.", "Annex."]
    assert [c.metadata["section_path"] for c in chunks] == ["report", "Notes > Debt", "Sales", "report"]
    assert [c.metadata["section_id"] for c in chunks] == ["document", "section-1", "sales", "document"]
    assert chunks[1].metadata["reviewed"] is True
    assert "reviewed" not in chunks[0].metadata
    assert [c.metadata["context_header"] for c in chunks] == ["R", "R > Notes > Debt", "R > Sales", "R"]


@pytest.mark.parametrize("spans", [[(5, 3)], [(0, 10), (9, 12)], [(20, 25), (0, 5)], [(0, 999)], [(-1, 4)], [(4, 4)]])
def test_sections_out_of_order_or_range_are_refused(spans) -> None:
    with pytest.raises(InputError, match="Section"):
        split(TEXT, sections=[SectionSpan(a, b, "S") for a, b in spans])


def test_pages_in_every_form() -> None:
    texts = ["One two.", "Three four."]
    forms = [
        texts,
        [(1, texts[0]), (2, texts[1])],
        [Document(page_content=t, metadata={"page": n, "source": "a"}) for n, t in enumerate(texts, 1)],
    ]
    for pages in forms:
        (chunk,) = split(pages, {"title": "R"})
        assert chunk.text == "One two.\n\nThree four."
        assert (chunk.page, chunk.page_end) == (1, 2)


@pytest.mark.parametrize(
    ("pages", "message"),
    [
        ([(2, "a"), (1, "b")], "in order"),
        ([(0, "a")], "positive"),
        ([(1, "a"), (1, "b")], "in order"),
        ([], "at least one page"),
        (
            [Document(page_content="a", metadata={"source": x, "page": n}) for n, x in enumerate("ab", 1)],
            "2 documents",
        ),
    ],
)
def test_pages_of_two_documents_or_out_of_order_are_refused(pages, message) -> None:
    with pytest.raises(InputError, match=message):
        split(pages)


def test_limits_must_be_known_and_kept() -> None:
    with pytest.raises(InputError, match="max_input_tokens"):
        split("a", tokenization=Tokenization("t", len))
    with pytest.raises(InputError, match="above the 8"):
        split("a", tokenization=Tokenization("t", len, 8))
    with pytest.raises(InputError, match="leaves no room"):
        split("a", {"title": "word " * 15})


def test_private_documents_need_a_session() -> None:
    with pytest.raises(InputError, match="session_id"):
        split("a", {"source_scope": "private"})
    assert split("a", {"source_scope": "private", "session_id": "s"})[0].metadata["session_id"] == "s"


def test_every_chunk_has_metadata_of_its_own() -> None:
    chunks = split("One.\n\n" + "word " * 20, {"title": "R", "tags": ["a"]})
    chunks[0].metadata["tags"].append("b")
    assert chunks[1].metadata["tags"] == ["a"]


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_text_with_any_section(text, first, second) -> None:
    start, end = sorted((min(first, len(text)), min(second, len(text))))
    sections = [SectionSpan(start, end, "S")] if start < end else []
    config = ChunkingConfig(max_tokens=60, overlap_tokens=10)
    chunks = split(text, {"title": "R"}, config=config, tokenization=byte_level(), sections=sections)
    for chunk in chunks:
        assert chunk.text == "\n\n".join(span.slice(text) for span in chunk.spans)
        assert chunk.token_count <= 60
    inside = [c for c in chunks if c.metadata["section_id"] == "section-1"]
    assert all(start <= c.spans[0].start and c.spans[0].end <= end for c in inside)
