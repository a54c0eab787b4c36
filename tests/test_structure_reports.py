"""Outline of reports: nesting, ids, paths, and the shared corpus."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.schema import Markup, Outline, Section, Span
from fin_rag.structure.blocks import blocks
from fin_rag.structure.reports import outline_report, slug

BODY = "Las ventas crecieron un 5 % y la deuda bajó por segundo año consecutivo."
REPORT = (
    f"# Informe 2024\n\nResumen breve.\n\n## 3. Deuda\n\n{BODY}\n\n### 3.2 Vencimientos\n\n{BODY}\n\n"
    f"## 4. Fin\n\n{BODY}\n"
)


def assert_sound(text: str, outline: Outline) -> None:
    ids = [section.section_id for section in outline]
    assert len(set(ids)) == len(ids)
    stack: list[Section] = []
    start = 0
    for section in outline:
        assert section.span.start >= start
        start = section.span.start
        assert section.span.end <= len(text)
        assert section.heading is not None
        assert section.heading.start == section.span.start
        assert section.path[-1] == section.title
        while stack and stack[-1].span.end <= section.span.start:
            stack.pop()
        assert not stack or stack[-1].span.contains(section.span)
        stack.append(section)
        assert section.level == len(stack)


def test_sections_reach_to_the_next_of_their_level() -> None:
    outline = outline_report(REPORT, metadata={})
    debt = outline.find("informe-2024.3-deuda")
    assert debt is not None
    assert debt.span.slice(REPORT).endswith(f"{BODY}\n\n")
    assert "3.2" in debt.span.slice(REPORT)
    assert "4. Fin" not in debt.span.slice(REPORT)
    assert_sound(REPORT, outline)


def test_the_documents_own_title_is_left_out_of_paths() -> None:
    outline = outline_report(REPORT, metadata={"title": "INFORME 2024"})
    assert [section.section_path for section in outline] == [
        "Informe 2024",
        "3. Deuda",
        "3. Deuda > 3.2 Vencimientos",
        "4. Fin",
    ]
    assert [section.section_id for section in outline][2] == "3-deuda.3-2-vencimientos"
    assert [section.level for section in outline] == [1, 2, 3, 2]
    kept = outline_report(REPORT, metadata={"title": "Another title"})
    assert kept.sections[2].section_path == "Informe 2024 > 3. Deuda > 3.2 Vencimientos"


def test_a_title_line_of_the_sections_own_style_still_holds_them() -> None:
    text = f"Informe anual\n\n{BODY}\n\nRiesgos de mercado\n\n{BODY}\n\nPerfil de riesgo\n\n{BODY}"
    outline = outline_report(text, metadata={"title": "Informe anual"})
    assert [(s.level, s.section_path) for s in outline] == [
        (1, "Informe anual"),
        (2, "Riesgos de mercado"),
        (2, "Perfil de riesgo"),
    ]
    assert_sound(text, outline)


def test_repeated_titles_get_ids_of_their_own() -> None:
    text = "\n\n".join(f"## Otros\n\n{BODY}" for _ in range(3)) + f"\n\n## Otros 2\n\n{BODY}"
    assert [s.section_id for s in outline_report(text, metadata={})] == [
        "otros",
        "otros-2",
        "otros-3",
        "otros-2-2",
    ]


def test_text_without_headings_has_no_invented_section() -> None:
    outline = outline_report(BODY, metadata={"title": "Nota"})
    assert len(outline) == 0
    assert outline.warnings
    assert len(outline_report(REPORT, metadata={}, detect_markdown=False)) == 0
    assert outline_report("", metadata={}).warnings == ()


def test_styled_lines_alone_make_sections() -> None:
    text = f"Deuda\n\n{BODY}\n\nCaja\n\n{BODY}"
    caja = text.index("Caja")
    markup = Markup(headings=((Span(0, 5), 2), (Span(caja, caja + 4), 2)))
    outline = outline_report(text, metadata={}, markup=markup, detect_markdown=False)
    assert [s.title for s in outline] == ["Deuda", "Caja"]


def test_slugs() -> None:
    assert slug("¿Qué es este producto?") == "que-es-este-producto"
    assert slug("***") == "section"
    assert len(slug("palabra " * 40)) <= 48


LINES = st.sampled_from([
    "# A", "## B", "### 1. C", "**D**", "**2. E**", "FFFF", "1. Gastos", "1.1 Costes", "2. Riesgos", "- x",
    "",
    "Nota 3. Deuda", "III. Bonos", "Calendario previsto", "Texto que termina.", "| a | 1 |", "|---|---|", "",
    "Anexo", "===",
])  # fmt: skip
TEXTS = st.one_of(st.text(max_size=300), st.lists(LINES, max_size=40).map("\n".join))


@given(TEXTS, st.sampled_from(["", "A", "D"]))
def test_any_outline_is_sound(text: str, title: str) -> None:
    assert_sound(text, outline_report(text, metadata={"title": title}))


def _fold(title: str) -> str:
    return re.sub(r"^\d+\. ", "", title.lower())


@pytest.mark.parametrize("variant", ["plain", "hard"])
def test_shared_corpus(shared: Path, variant: str) -> None:
    """Titles, sections and tables of every document of the corpus are found as its passages mark them."""
    pandas = pytest.importorskip("pandas", reason="reads the corpus")
    folder = shared / "data" / "corpus_es" / variant
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    documents = pandas.read_parquet(folder / "rag6_documentos.parquet")
    passages = pandas.read_parquet(folder / "rag6_pasajes.parquet")
    counts = dict.fromkeys(("title", "found", "false", "passage", "section", "table", "whole"), 0)
    for document in documents.itertuples():
        text = document.texto
        outline = outline_report(text, metadata={"title": document.titulo})
        assert_sound(text, outline)
        heads = {(s.heading.start, s.heading.end) for s in outline if s.heading}
        tables = {(b.span.start, b.span.end) for b in blocks(text) if b.kind == "table"}
        mine = passages[passages.id_doc == document.id_doc]
        gold = {(p.inicio, p.fin) for p in mine.itertuples() if p.tipo == "titulo"}
        counts["title"] += len(gold)
        counts["found"] += len(gold & heads)
        counts["false"] += len(heads - gold)
        for passage in mine.itertuples():
            inner = [s for s in outline if s.span.start <= passage.inicio < s.span.end]
            name = inner[-1].title if len(inner) > 1 else ""
            counts["passage"] += 1
            counts["section"] += _fold(name) == _fold(passage.seccion)
            if passage.tipo == "tabla":
                counts["table"] += 1
                counts["whole"] += (passage.inicio, passage.fin) in tables
    assert counts["found"] >= 0.99 * counts["title"]
    assert counts["false"] <= 0.01 * counts["title"]
    assert counts["section"] >= 0.99 * counts["passage"]
    assert counts["whole"] >= 0.98 * counts["table"]
