"""A document of an index as it is read: lines, sections, pages, data frames, rows and vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import NotFoundError
from fin_rag.index import FilingIndex
from fin_rag.index.view import DocumentView
from fin_rag.schema import PageMap, Section, Span
from tests.fakes import WordEmbeddings, report, words
from tests.retrieval_corpus import made_index

TEXT = "# One\n\nFirst page.\n\n## Two\n\nSecond page.\nMore of it.\n\n# Three\n\nUnpaged end.\n"


def view(text: str = TEXT) -> DocumentView:
    two = text.index("## Two")
    three = text.index("# Three")
    sections = (
        Section("one", "One", ("One",), Span(0, three)),
        Section("two", "Two", ("One", "Two"), Span(two, three), 2),
        Section("three", "Three", ("Three",), Span(three, len(text))),
    )
    return DocumentView(0, "d", text, {}, sections, PageMap(((3, Span(0, two - 2)), (4, Span(two, three - 2)))))


def test_lines_know_number_page_and_innermost_section() -> None:
    got = [(line.number, line.page, line.section_id, line.span.slice(TEXT)) for line in view().lines]
    assert got == [
        (1, 3, "one", "# One"),
        (3, 3, "one", "First page."),
        (5, 4, "two", "## Two"),
        (7, 4, "two", "Second page."),
        (8, 4, "two", "More of it."),
        (10, None, "three", "# Three"),
        (12, None, "three", "Unpaged end."),
    ]


@given(st.text(alphabet="ab \n\t", max_size=60), st.integers(0, 60), st.integers(0, 60))
def test_lines_cover_what_is_printed(text, a, b) -> None:
    made = DocumentView(0, "d", text, {}, (), PageMap(()))
    covered = "".join(line.span.slice(text) for line in made.lines)
    assert "".join(covered.split()) == "".join(text.split())
    assert [line.number for line in made.lines] == [n for n, raw in enumerate(text.split("\n"), 1) if raw.strip()]
    span = Span(min(a, b), max(a, b))
    if len(span):
        assert list(made.lines_in(span)) == [line for line in made.lines if line.span.overlaps(span)]


def test_section_of_a_span_is_the_innermost_that_holds_it() -> None:
    made = view()
    inside = made.text.index("More")
    assert made.section_of(Span(inside, inside + 4)).section_id == "two"
    assert made.section_of(Span(0, inside)).section_id == "one"
    assert made.section_of(Span(0, len(TEXT))) is None


def test_frames() -> None:
    lines, toc = view().line_frame(), view().toc_frame()
    assert list(lines.columns) == ["line", "page", "section_id", "start", "end", "text"]
    assert lines.loc[lines.text == "More of it.", "page"].item() == 4
    assert lines.page.isna().sum() == 2
    assert toc.loc[1, ["section_id", "level", "path", "page", "page_end"]].tolist() == ["two", 2, "One > Two", 4, 4]


def test_index_keeps_pages_rows_and_vectors(tmp_path) -> None:
    index = FilingIndex.open(tmp_path / "ix", embeddings=WordEmbeddings(), tokenization=words())
    page_map = f"1:0-{len('# One')};2:{len('# One') + 2}-{len(TEXT)}"
    index.add(report(TEXT, source="a", doc_id="a", page_map=page_map))
    assert index.view("a").pages == PageMap.parse(page_map)
    assert "page_map" not in index.documents()[0]
    assert index.lines("a").page.tolist()[:2] == [1, 2]
    assert index.toc("a").title.tolist() == ["One", "Two", "Three"]
    rows = index.rows_in(index.view("a").number)
    chunks = index.fetch(rows)
    assert index.rows_by_id([str(chunks[rows[0]].id), "nobody"]) == {str(chunks[rows[0]].id): rows[0]}
    embedded = index.embed([index.prepared(chunks[row]) for row in rows])
    np.testing.assert_allclose(index.vectors_of(rows), embedded, atol=1e-6)
    index.remove("a")
    with pytest.raises(NotFoundError):
        index.view("a")
    index.close()


def test_private_document_is_seen_in_its_session_only(tmp_path) -> None:
    index = made_index(tmp_path / "ix")
    with pytest.raises(NotFoundError, match="memo"):
        index.lines("memo")
    assert len(index.lines("memo", session_id="desk-1")) == 2
    index.close()
