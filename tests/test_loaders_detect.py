from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.loaders.detect import detect_kind, detect_language
from fin_rag.loaders.financial import read_loaded
from fin_rag.loaders.source import read_source
from fin_rag.schema import DOC_TYPES

COVER = "SECURITIES AND EXCHANGE COMMISSION\n\n{}\n\n(Exact name of registrant as specified in its charter)"


@pytest.mark.parametrize(
    ("printed", "doc_type", "form"),
    [
        ("FORM 10-K", "10-K", ""),
        ("**FORM 10-K**", "10-K", ""),
        ("FORM 10-K405", "10-K", "10-K405"),
        ("FORM 10-K/A\n(Amendment No. 1)", "10-K", "10-K/A"),
        ("Form 10-KSB", "10-K", "10-KSB"),
        ("FORM 10 - Q", "report", ""),
        ("FORM 10-Q", "10-Q", ""),
        ("                 FORM 8-K", "8-K", ""),
        ("FORM 20-F", "20-F", ""),
        ("ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE ACT", "10-K", ""),
        ("CURRENT REPORT\nPURSUANT TO SECTION 13 OR 15(d)", "8-K", ""),
    ],
)
def test_sec_covers(printed: str, doc_type: str, form: str) -> None:
    found = detect_kind(COVER.format(printed))
    assert (found.doc_type, found.form) == (doc_type, form)
    assert found.reason


@pytest.mark.parametrize(
    ("text", "doc_type"),
    [
        ("Orbital (ORBT)\nQ2 2031 Earnings Call\n\nOperator\n\nGood morning.", "earnings_call"),
        (
            "Results webcast\n\nOperator: Welcome to the call, we refer to our Form 10-K.\nAnn Ek: Thanks.",
            "earnings_call",
        ),
        ("TRANSCRIPCIÓN\nPresentación de resultados\n\nOperadora:\nBuenos días.", "earnings_call"),
        ("Artículo 1. Objeto.\nTexto.\n\nArtículo 2. Ámbito.\nTexto.", "regulation"),
        ("REGULATION (EU) 2031/88 OF THE COUNCIL\n\nWhereas:\n\nArticle 1\n\nScope", "regulation"),
        ("§ 399.12 Daily ledgers.\n(a) A broker must keep one.\n§ 399.13 Fees.", "regulation"),
        ("# Orbital, S.A. — Informe anual 2023\n\n## Carta del presidente", "annual_report"),
        ("# Orbital Group plc\n\nAnnual report and accounts 2023\n\nDear shareholders,", "annual_report"),
        ("# Fondo Uno — Folleto 2025\n\nEste folleto describe la sociedad gestora.", "prospectus"),
        ("# Documento de datos fundamentales\n\n## ¿Qué es este producto?", "kid"),
        ("Key Information Document\n\nWhat is this product?\n\nWhat are the costs?", "kid"),
        ("# Orbital — Research note: initiation 2025\n\nOur price target is 30.", "research"),
        ("# Orbital — Nota de research: inicio de cobertura\n\nPrecio objetivo: 30.", "research"),
        ("| Zona | 2031 |\n|---|---|\n| Norte (1) | 40 |\n\n(1) Incluye Andorra.", "report"),
        ("(1) one\n(2) two\n(3) three", "report"),
        ("", "report"),
    ],
)
def test_kinds(text: str, doc_type: str) -> None:
    assert detect_kind(text).doc_type == doc_type


def test_what_the_format_states_goes_first_and_the_name_last() -> None:
    assert detect_kind("Artículo 1.", hints={"doc_type": "10-K405"}).form == "10-K405"
    assert detect_kind("Text", hints={"doc_type": "424B3"}).doc_type == "prospectus"
    assert detect_kind("Text", hints={"doc_type": "EX-99.1"}).doc_type == "report"
    assert detect_kind("Text", name="ORBT_2023Q2_10Q.pdf").doc_type == "10-Q"
    assert detect_kind("# Informe anual 2023\n\nCuentas anuales", name="ORBT_10K.md").doc_type == "annual_report"


@given(st.text(max_size=400))
def test_any_text_has_a_kind_and_a_language(text: str) -> None:
    found = detect_kind(text)
    assert found.doc_type in DOC_TYPES
    assert 0 <= found.confidence <= 1
    assert detect_language(text) in ("en", "es")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Net sales rose by 5 % in the year, and the margin was 12 %.", "en"),
        ("La cifra de negocios creció un 5 % en el año.", "es"),
        ("We serve customers in Málaga and A Coruña from the plant of Peñafiel.", "en"),
        ("| Ventas | 1.234 | 1.100 |\n| Compañía | 3 | 4 |", "es"),
        ("1,234 5,678", "en"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_every_shared_case_is_of_its_kind(shared: Path) -> None:
    wanted = {"calls": "earnings_call", "regulation": "regulation", "footnotes": "report"}
    wrong = []
    for folder, doc_type in wanted.items():
        for file in sorted((shared / "cases" / folder).iterdir()):
            if file.name.endswith(".expected.json"):
                continue
            loaded = read_loaded(read_source(file))
            found = detect_kind(loaded.text, hints=loaded.hints)
            if found.doc_type != doc_type:
                wrong.append((file.name, found))
    assert wrong == []
