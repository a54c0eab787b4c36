"""Headings: which lines are titles, in every style, and which level they have."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.schema import Markup, Span
from fin_rag.structure.headings import headings
from fin_rag.structure.levels import is_outer_title, roman


def titles(text: str, **options: object) -> list[str]:
    return [heading.title for heading in headings(text, **options)]


def levels(text: str, **options: object) -> list[tuple[int, str]]:
    return [(heading.level, heading.title) for heading in headings(text, **options)]


BODY = "Las ventas crecieron un 5 % y la deuda bajó por segundo año consecutivo."


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# Informe anual", "Informe anual"),
        ("### 3.2 Deuda ###", "3.2 Deuda"),
        ("Deuda y liquidez\n----------------", "Deuda y liquidez"),
        ("Deuda y liquidez\n================", "Deuda y liquidez"),
        ("**5. Segmentos de actividad**", "5. Segmentos de actividad"),
        ("__Riesgos__", "Riesgos"),
        ("*Supuestos del modelo*", "Supuestos del modelo"),
        ("1. Datos generales", "1. Datos generales"),
        ("3.4.1 Deuda", "3.4.1 Deuda"),
        ("II. Riesgos del emisor", "II. Riesgos del emisor"),
        ("A. Préstamos", "A. Préstamos"),
        ("Nota 5. Inmovilizado material", "Nota 5. Inmovilizado material"),
        ("Note 12 – Income Taxes", "Note 12 – Income Taxes"),
        ("ANEXO II", "ANEXO II"),
        ("GASTOS", "GASTOS"),
        ("OBJETIVO Y POLÍTICA DE INVERSIÓN", "OBJETIVO Y POLÍTICA DE INVERSIÓN"),
        ("(2) SIGNIFICANT ACCOUNTING POLICIES", "(2) SIGNIFICANT ACCOUNTING POLICIES"),
        ("UNAUDITED STATEMENTS OF\nFINANCIAL CONDITION", "UNAUDITED STATEMENTS OF FINANCIAL CONDITION"),
        ("Frozen food", "Frozen food"),
        ("¿Cuáles son los costes?", "¿Cuáles son los costes?"),
        ("What happens if the fund is unable to pay out?", "What happens if the fund is unable to pay out?"),
    ],
)
def test_every_style_is_found(line: str, title: str) -> None:
    text = f"{BODY}\n\n{line}\n\n{BODY}"
    (found,) = headings(text)
    assert found.title == title
    assert found.span.slice(text) == line


@pytest.mark.parametrize(
    "line",
    [
        "Estimados accionistas:",
        "Dear shareholders,",
        "The fund uses no leverage",
        "Notas del apartado «5. Segmentos»:",
        "1,500",
        "2024",
        "Madrid, 26 de febrero de 2025",
        "December 31, 2024",
        "(in millions, except per share data)",
        "Millones de euros",
        "www.example.com",
        "Nota 1. Arrendamientos. El grupo reconoce pasivos de 62,4 millones.",
        "(1) Incluye Andorra",
        "¹ Reexpresado",
        "Net sales 1,234 1,100",
        "IE00ZR7D0365",
        "Tabla 3. Deuda por vencimiento",
        "**Nota:** el plazo es de un mes",
        "31 de diciembre de 2024",
        "Intro ........ 3",
        "the lower case line",
        "-----",
    ],
)
def test_these_lines_are_no_titles(line: str) -> None:
    assert titles(f"{BODY}\n\n{line}\n\n{BODY}") == []


def test_a_number_sign_in_prose_is_no_heading() -> None:
    text = "Our shares trade on the exchange.\n# of holders of record: 412\nDividends are paid."
    assert titles(text) == []
    assert titles(f"{BODY}\n\n# of holders of record: 412\n\n{BODY}") == []


def test_a_heading_may_interrupt_a_paragraph() -> None:
    assert titles("Texto sin blanco.\n## Deuda\nMás texto.") == ["Deuda"]


def test_list_items_are_no_headings() -> None:
    assert titles(f"{BODY}\n\n1. Reducir costes\n2. Reciclar\n\n{BODY}") == []
    assert titles(f"{BODY}\n\n1. Reducir costes\n\n2. Reciclar\n\n3. Vender\n\n{BODY}") == []
    assert titles(f"{BODY}\n\n23.1 Consent of auditors\n\n99.1 Press release\n\n{BODY}") == []


def test_contents_rows_are_no_headings() -> None:
    rows = "1. Letter ........ 3\n2. Business model ........ 5\n3. Risks ........ 9"
    assert titles(f"Contents\n\n{rows}\n\n1. Letter\n\n{BODY}")[-1:] == ["1. Letter"]
    assert len(titles(f"{rows}\n\n1. Letter\n\n{BODY}")) == 1


def test_table_cells_and_code_are_no_headings() -> None:
    assert titles("| **Total** | 5 |\n|---|---|\n| # x | 6 |") == []
    assert titles("```\n# no\n```\n\n    texto") == []


def test_rows_of_short_lines_are_no_headings() -> None:
    cover = "Seattle, Washington\n\nMain Avenue\n\nPhone book\n\nState of incorporation"
    assert titles(f"{cover}\n\n{BODY}") == []


def test_a_title_needs_a_body() -> None:
    assert titles(f"{BODY}\n\nClara Yturbe\n\n## Auditoría\n\n{BODY}") == ["Auditoría"]
    assert titles(f"{BODY}\n\nClara Yturbe") == []


def test_titles_in_text_without_blank_lines() -> None:
    filled = "We serve consumers through stores that are open every day of the week in all regions."
    text = f"{filled}\nSellers\n{filled}\n2. Risk factors\n{filled}\n{filled}"
    assert titles(text) == ["Sellers", "2. Risk factors"]


def test_without_detection_only_the_source_speaks() -> None:
    text = f"# Uno\n\nDOS\n\n{BODY}\n\nTres\n\n{BODY}"
    assert titles(text, detect_markdown=False) == []
    markup = Markup(headings=((Span(text.index("Tres"), text.index("Tres") + 4), 2),))
    assert titles(text, detect_markdown=False, markup=markup) == ["Tres"]


def test_where_the_source_styles_its_headings_bare_lines_are_none() -> None:
    text = f"**Riesgos**\n\n{BODY}\n\nFrozen food\n\n{BODY}"
    markup = Markup(headings=((Span(0, 11), 3),))
    assert titles(text, markup=markup) == ["Riesgos"]


def test_running_heads_are_no_headings() -> None:
    page = f"ACME GROUP\n\nSTATEMENT OF {{}}\n\n{BODY}"
    text = "\n\n".join(page.format(name) for name in ("INCOME", "CASH FLOWS", "FINANCIAL POSITION"))
    assert titles(text) == [
        "STATEMENT OF INCOME",
        "STATEMENT OF CASH FLOWS",
        "STATEMENT OF FINANCIAL POSITION",
    ]


def test_continued_titles_are_no_headings() -> None:
    text = f"NOTES TO THE ACCOUNTS\n\n{BODY}\n\nNOTES TO THE ACCOUNTS (CONTINUED)\n\n{BODY}"
    assert titles(text) == ["NOTES TO THE ACCOUNTS"]


def test_levels_follow_marks() -> None:
    text = f"# Informe\n\n## Uno\n\n{BODY}\n\n### Dos\n\n{BODY}\n\n## Tres\n\n{BODY}"
    assert levels(text) == [(1, "Informe"), (2, "Uno"), (3, "Dos"), (2, "Tres")]


def test_levels_follow_numbers_across_styles() -> None:
    text = f"# Informe\n\n**1. Uno**\n\n{BODY}\n\n1.1 Dos\n\n{BODY}\n\nTRES\n\n{BODY}\n\n## 2. Cuatro\n\n{BODY}"
    by_title = {title: level for level, title in levels(text)}
    assert by_title["1. Uno"] == by_title["2. Cuatro"] == 2
    assert by_title["1.1 Dos"] == 3


@pytest.mark.parametrize("mark", ["**{}**", "{}"])
def test_unnumbered_titles_between_numbers_are_parts(mark: str) -> None:
    names = [
        "5. Segmentos",
        "Resinas",
        "Fertilizantes",
        "6. Mercados",
        "Notas aclaratorias",
        "7. Fin",
        "Glosario",
    ]
    text = "\n\n".join(f"{mark.format(name)}\n\n{BODY}" for name in names)
    assert [level for level, _ in levels(text)] == [1, 2, 2, 1, 1, 1, 1]


def test_letters_and_roman_numerals() -> None:
    text = "\n\n".join(f"{name}\n\n{BODY}" for name in ("I. Uno", "A. Bonos", "B. Letras", "C. Pagarés", "II. Dos"))
    assert [level for level, _ in levels(text)] == [1, 2, 2, 2, 1]
    assert (roman("XIV"), roman("IX")) == (14, 9)


def test_outer_titles_are_known_by_their_first_words() -> None:
    assert is_outer_title("EXPLANATORY NOTES TO THE TABLES")
    assert not is_outer_title("Notes and coins")


@given(st.text(max_size=400), st.booleans())
def test_any_text_gives_ordered_spans_and_steady_levels(text: str, detect: bool) -> None:
    found = headings(text, detect_markdown=detect)
    assert all(a.span.end <= b.span.start for a, b in pairwise(found))
    assert all(heading.title and heading.level >= 1 for heading in found)
    assert all(b.level <= a.level + 1 for a, b in pairwise(found))
    assert not found or (detect and found[0].level == 1)
