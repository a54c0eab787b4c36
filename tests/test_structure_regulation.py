"""Statutes: hierarchy, addresses, states, notes; references resolved or named with their act."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_rag import FinancialDocumentLoader
from fin_rag.structure.regulation import Statute, act_key, read_statute, spoken
from tests.evaluators.regulation import neutral
from tests.regulation_generator import LAYOUTS, Act, acts


def addresses(statute: Statute) -> list[str]:
    return [p.address for p in statute.provisions if not p.transparent]


def internal(text: str, **metadata: str) -> list[tuple[str, str, tuple[str, ...]]]:
    statute = read_statute(text, metadata=metadata)
    return [(r.source, r.span.slice(text), r.targets) for r in statute.references if r.scope == "internal"]


def external(text: str, **metadata: str) -> list[tuple[str, tuple[str, ...]]]:
    statute = read_statute(text, metadata=metadata)
    return [(r.act, r.provisions) for r in statute.references if r.scope == "external"]


# --- every system ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", list(LAYOUTS))
@settings(max_examples=40)
@given(act=acts())
def test_every_system_is_read_back(layout: str, act: Act) -> None:
    made = LAYOUTS[layout](act)
    statute = read_statute(made.text)
    assert addresses(statute) == made.addresses, made.text
    found = [(ref.source, target) for ref in statute.references for target in ref.targets]
    assert found == made.references, made.text
    assert all(ref.resolved for ref in statute.references)
    for address, path in made.paths.items():
        provision = statute.find(address)
        assert provision is not None
        assert provision.path[: len(path)] == path


@pytest.mark.parametrize("layout", list(LAYOUTS))
@settings(max_examples=20)
@given(act=acts())
def test_provisions_nest_and_reading_is_repeatable(layout: str, act: Act) -> None:
    text = LAYOUTS[layout](act).text
    statute = read_statute(text)
    assert statute == read_statute(text)
    stack = []
    for provision in statute.provisions:
        while stack and stack[-1].span.end <= provision.span.start:
            stack.pop()
        assert not stack or stack[-1].span.contains(provision.span)
        assert provision.span.contains(provision.label)
        stack.append(provision)


@given(
    text=st.lists(
        st.sampled_from([
            "Artículo 1. Uno.", "Artículo 1", "«Artículo 2. Dos.", "»", "CAPÍTULO I", "1. Texto.", "a) algo;", "(i) x",
            "§ 1.1 Fees.", "(a) A.", "CRE10.1 Text", "1.1.1 R", "4512. Rule", "Article 5", "ANNEX I", "> nota", "—————",
            "Uno. Texto:", "Disposición final. Fin.", "ANEXO",
            "véase el artículo", "1 de esta ley", "Ley 10/2014, artículo 5", "“quoted", "## I", "---",
        ]),
        max_size=30,
    ).map("\n".join)
)  # fmt: skip
def test_odd_text_never_raises_and_spans_stay_inside(text: str) -> None:
    statute = read_statute(text)
    for provision in statute.provisions:
        assert 0 <= provision.span.start <= provision.span.end <= len(text)
    for reference in statute.references:
        assert reference.span.slice(text).strip()
        assert set(reference.missing) <= set(reference.targets)


# --- hierarchy ------------------------------------------------------------------------------------


def test_letter_or_numeral_is_told_by_the_open_list() -> None:
    nested = read_statute("§ 9.1 Lists.\n\n(a) A.\n\n(1) One.\n\n(i) Sub.\n\n(ii) Sub.\n\n(b) B.")
    assert addresses(nested)[1:] == ["sec:9.1/a", "sec:9.1/a/1", "sec:9.1/a/1/i", "sec:9.1/a/1/ii", "sec:9.1/b"]
    flat = read_statute("§ 9.1 Lists.\n\n" + "\n\n".join(f"({c}) Text." for c in "abcdefghij"))
    assert addresses(flat)[-2:] == ["sec:9.1/i", "sec:9.1/j"]


def test_text_after_a_list_belongs_to_the_paragraph() -> None:
    text = "Artículo 3. Lista.\n\n1. Son:\n\na) uno;\n\nb) dos.\n\nEn todo caso rige.\n\n2. Fin."
    statute = read_statute(text)
    point, paragraph = statute.find("art:3/par:1/pt:b"), statute.find("art:3/par:1")
    assert point is not None
    assert paragraph is not None
    assert point.text(text) == "b) dos."
    assert "En todo caso rige." in paragraph.text(text)


@pytest.mark.parametrize(
    ("line", "address"),
    [
        ("Artículo vigésimo segundo. Plazo.", "art:22"),
        ("Artículo 83 bis. Plazo.", "art:83 bis"),
        ("Artículo único. Plazo.", "art:unico"),
        ("Norma 3.ª Plazo.", "norma:3"),
        ("NORMA TERCERA. Plazo.", "norma:3"),
        ("Disposición final única. Plazo.", "df:unica"),
        ("Norma derogatoria única. Plazo.", "dd:unica"),
        ("Artículo uno.", "art:1"),
    ],
)
def test_numbers_in_words_and_signs_become_digits(line: str, address: str) -> None:
    assert addresses(read_statute(f"{line}\n\nTexto del precepto que sigue.")) == [address]


def test_a_reference_at_the_start_of_a_line_is_no_heading() -> None:
    text = (
        "Artículo 6. Uno.\n1. Se estará a lo previsto en el\nArtículo 7 y a su desarrollo.\n\nArtículo 7. Dos.\nTexto."
    )
    assert addresses(read_statute(text)) == ["art:6", "art:6/par:1", "art:7"]


def test_contents_that_repeat_every_heading_are_no_provisions() -> None:
    titles = ["Artículo 1. Objeto.", "Artículo 2. Ámbito.", "Artículo 3. Plazos.", "Disposición final única. Vigor."]
    body = "\n".join(f"{title}\nTexto propio de este precepto." for title in titles)
    text = "ÍNDICE\n" + "\n".join(titles) + "\nDISPONGO:\nCAPÍTULO I\nGeneral\n" + body
    statute = read_statute(text)
    assert addresses(statute)[:2] == ["chapter:I", "art:1"]
    assert sorted(a for a in addresses(statute) if a.startswith("art")) == ["art:1", "art:2", "art:3"]
    assert not any("twice" in warning for warning in statute.warnings)


def test_a_contents_list_may_name_what_an_excerpt_lacks() -> None:
    contents = [
        f"CHAPTER {n} {w}" for n, w in zip(("I", "II", "III", "IV"), ("ONE", "TWO", "FEES", "END"), strict=True)
    ]
    body = "CHAPTER I\n\nSCOPE\n\nArticle 1\n\nOne rule stands here.\n\nCHAPTER IV\n\nEND\n\nArticle 9\n\nNine."
    found = addresses(read_statute("CONTENTS\n\n" + "\n\n".join(contents) + "\n\n" + body))
    assert found == ["chapter:I", "art:1", "chapter:IV", "art:9"]


def test_short_acts_with_chapters_in_every_title_have_no_contents_list() -> None:
    parts = [
        f"TÍTULO {n}\nNormas\nCAPÍTULO I\nUno\nArtículo {a}. Regla.\nTexto breve." for n, a in (("I", 1), ("II", 2))
    ]
    found = addresses(read_statute("\n".join(parts)))
    assert found == ["title:I", "chapter:I", "art:1", "title:II", "chapter:I", "art:2"]


def test_quoted_amendments_stay_with_the_provision_that_amends() -> None:
    text = (
        "Artículo 1. Objeto.\n\nCrea.\n\nDisposición final primera. Modificación de la Ley 8/2025, de 1 de marzo.\n\n"
        "Uno. El artículo 14 queda así:\n\n«Artículo 14. Plazos.\n\n1. Un mes, según el artículo 1.»\n\n"
        "Dos. El apartado 2 del artículo 15 se suprime.\n\nDisposición final segunda. Vigor.\n\nMañana."
    )
    statute = read_statute(text)
    assert addresses(statute) == ["art:1", "df:1", "df:1/par:1", "df:1/par:2", "df:2"]
    cited = [(r.scope, r.act, r.provisions) for r in statute.references]
    assert cited == [("external", "Ley 8/2025", ("art:14",)), ("external", "Ley 8/2025", ("art:15/par:2",))]


def test_an_unclosed_quotation_ends_where_the_act_goes_on() -> None:
    text = (
        "Artículo 1. Modificación.\n\nEl artículo 3 de la Ley 4/2030 queda así:\n\n«Artículo 3. Nuevo.\n\n"
        "1. Sin cierre.\n\nArtículo 2. Vigor.\n\nMañana."
    )
    statute = read_statute(text)
    assert addresses(statute) == ["art:1", "art:2"]
    assert any("not closed" in warning for warning in statute.warnings)


def test_articles_numbered_twice_are_reported() -> None:
    statute = read_statute("Artículo 1. Uno.\n\nTexto.\n\nArtículo 1. Otra vez.\n\nTexto.")
    assert addresses(statute) == ["art:1", "art:1"]
    assert any("twice" in warning for warning in statute.warnings)


@pytest.mark.parametrize(
    ("text", "address", "state"),
    [
        ("Artículo 5. (Derogado)\n\nArtículo 6. Otro.\n\nTexto.", "art:5", "deleted"),
        ("Artículo 5. Plazo.\n\n—————\n\nArtículo 6. Otro.\n\nTexto.", "art:5", "deleted"),
        ("§ 7.1 [Reserved]\n\n§ 7.2 Fees.\n\nTen.", "sec:7.1", "reserved"),
        ("§ 7.1 Fees.\n\n(a) One. (1) Text.\n\n(2) [Reserved]\n\n(b) Two.", "sec:7.1/a/2", "reserved"),
        ("§ 7.1 Fees.\n\n(a) One. (1) Text.\n\n(2) [Reserved]\n\n(b) Two.", "sec:7.1/a", ""),
        ("ABCD 1.1 Scope\n1.1.1\nR\n[deleted]\n1.1.2\nG\nText.", "rule:ABCD 1.1.1R", "deleted"),
    ],
)
def test_provisions_without_text_are_marked(text: str, address: str, state: str) -> None:
    found = read_statute(text).find(address)
    assert found is not None
    assert found.state == state


def test_notes_of_editors_are_apart_and_yield_no_references() -> None:
    text = (
        "###### Artículo 1. Uno.\n\nTexto.\n\n> <small>Se modifica por el art. 2 de la Ley 5/2036.</small>\n\n"
        "###### Artículo 2. Dos.\n\nTexto."
    )
    statute = read_statute(text)
    assert [note.owner for note in statute.notes] == ["art:1"]
    assert statute.references == ()
    first = statute.find("art:1")
    assert first is not None
    assert "Ley 5/2036" not in first.text(text)


def test_page_furniture_is_no_text_of_the_law() -> None:
    text = (
        "Artículo 1. Uno.\n1. La entidad tendrá un plan, de acuerdo con lo\nBOLETÍN OFICIAL DEL ESTADO\n"
        "Núm. 45    Sábado 20 de febrero de 2032    Sec. I. Pág. 12001\ncve: BOE-A-2032-2222\nprevisto aquí.\n2. Fin."
    )
    statute = read_statute(text)
    first = statute.find("art:1/par:1")
    assert first is not None
    assert "BOLETÍN" not in first.text(text)
    assert "previsto aquí." in first.text(text)
    assert len(statute.furniture) == 3


# --- references -----------------------------------------------------------------------------------


def test_relative_words_are_tied_to_their_place() -> None:
    text = (
        "Artículo 1. Uno.\n\n1. A.\n\n2. B, según el apartado anterior.\n\nArtículo 2. Dos.\n\n"
        "Según el artículo anterior y el párrafo siguiente de este artículo.\n\nOtro, según el párrafo anterior."
    )
    assert [found[2] for found in internal(text)] == [("art:1/par:1",), ("art:1",), ("art:2",), ("art:2",)]


def test_lists_and_ranges_are_expanded() -> None:
    text = "Article 3\n\nX\n\nSee Articles 3(1), 4(2), point (a), and 5 to 7, and points (a) to (c) of Article 8(1)."
    assert [found[2] for found in internal(text)] == [
        ("art:3/par:1", "art:4/par:2/pt:a", "art:5", "art:6", "art:7"),
        ("art:8/par:1/pt:a", "art:8/par:1/pt:b", "art:8/par:1/pt:c"),
    ]


@pytest.mark.parametrize(
    ("sentence", "act", "provisions"),
    [
        ("Rige el artículo 5 de la Ley 10/2014.", "Ley 10/2014", ("art:5",)),
        ("Rige la Ley 10/2014, de 26 de junio, artículos 5 y 6.", "Ley 10/2014", ("art:5", "art:6")),
        ("Rige el artículo 5 de los Estatutos.", "Estatutos", ("art:5",)),
        ("Rigen los artículos 5 a 7 del Real Decreto 84/2015.", "Real Decreto 84/2015", ("art:5", "art:6", "art:7")),
        ("Rige el artículo 5 del Código Civil.", "Código Civil", ("art:5",)),
        ("Rige el artículo 5 del reglamento de esta ley.", "reglamento de esta ley", ("art:5",)),
        ("Article 5(1) of Regulation (EU) No 600/2014 applies.", "Regulation (EU) No 600/2014", ("art:5/par:1",)),
        ("Article 5 TFEU applies.", "TFEU", ("art:5",)),
    ],
)
def test_other_acts_are_named_and_never_internal(sentence: str, act: str, provisions: tuple[str, ...]) -> None:
    text = f"Artículo 5. Uno.\n\n{sentence}"
    assert (act, provisions) in external(text)
    assert internal(text) == []


def test_short_names_and_words_of_taking_up_carry_the_act_over() -> None:
    text = (
        "Article 1\n\nX\n\nArticle 6 of Directive 2031/65/EU (‘the Markets Directive’) applies.\n\nArticle 2\n\nY\n\n"
        "Article 9 of the Markets Directive and Article 4 of that Directive apply. Article 1 of this Regulation stands."
    )
    named = external(text, title="Regulation (EU) 2033/1")
    assert named[1:] == [("Directive 2031/65/EU", ("art:9",)), ("Directive 2031/65/EU", ("art:4",))]
    assert [found[2] for found in internal(text, title="Regulation (EU) 2033/1")] == [("art:1",)]


def test_the_number_of_the_citing_act_makes_a_reference_internal() -> None:
    text = "Artículo 1. Uno.\n\nRige el artículo 5 de la Ley 10/2014.\n\nArtículo 5. Dos.\n\nTexto."
    assert internal(text, title="Ley 10/2014, de 26 de junio")[0][2] == ("art:5",)
    assert internal(text, title="Ley 11/2014, de 26 de junio") == []
    assert act_key("Real Decreto 5/2023") != act_key("Real Decreto-ley 5/2023")


def test_citations_of_the_code_are_recognised() -> None:
    text = (
        "§ 229.303 Analysis.\n\n(a) A. (1) One.\n\n(i) X.\n\n(ii) Y.\n\n(b) See 17 CFR 240.10b-21, 12 CFR 226.5a, "
        "26 CFR 1.1031(a)-1, 12 CFR 3.4-3.9 and 229.303(a)(1)(i) and (ii)."
    )
    statute = read_statute(text)
    named = [(r.act, r.provisions) for r in statute.references if r.scope == "external"]
    assert [provisions[0] for _, provisions in named[:3]] == ["sec:240.10b-21", "sec:226.5a", "sec:1.1031(a)-1"]
    assert {"sec:3.4", "sec:3.9"} <= set(named[3][1])
    cited = {target for _, provisions in named for target in provisions} | {
        target for r in statute.references for target in r.targets
    }
    assert {"sec:229.303/a/1/i", "sec:229.303/a/1/ii"} <= cited


def test_references_in_a_circle_are_just_references() -> None:
    text = "Artículo 1. Uno.\n\nVéase el artículo 2.\n\nArtículo 2. Dos.\n\nVéase el artículo 1."
    statute = read_statute(text)
    assert [ref.targets for ref in statute.references_of("art:1")] == [("art:2",)]
    assert [ref.source for ref in statute.referenced_by("art:1")] == ["art:2"]


def test_targets_that_are_not_there_are_reported() -> None:
    statute = read_statute("Artículo 1. Uno.\n\nVéase el artículo 99 y la sección 3.ª del capítulo IV.")
    assert [ref.missing for ref in statute.references] == [("art:99",), ("section:3",)]
    assert any("art:99" in warning for warning in statute.warnings)


def test_addresses_read_aloud() -> None:
    assert spoken("sec:240.10b-5/a/1") == "§ 240.10b-5(a)(1)"


# --- shared cases ---------------------------------------------------------------------------------


def test_shared_cases(shared: Path, tmp_path: Path) -> None:
    folder = shared / "cases" / "regulation"
    failed = {}
    for expected in sorted(folder.glob("*.expected.json")):
        case = json.loads(expected.read_text(encoding="utf-8"))
        (document,) = FinancialDocumentLoader(folder / case["input"], doc_type="regulation").load()
        produced = neutral(document.page_content, title=document.metadata.get("title", ""), markup=document.markup)
        output = tmp_path / "produced.json"
        output.write_text(json.dumps(produced), encoding="utf-8")
        command = [sys.executable, str(shared / "cases" / "grade.py"), str(expected), str(output)]
        graded = subprocess.run(command, capture_output=True, text=True, check=False)
        if graded.returncode or "FAIL" in graded.stdout:
            failed[case["id"]] = graded.stdout
    assert failed == {}
