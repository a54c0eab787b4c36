"""Official XML and HTML of statutes: BOE versions, eCFR, Formex, EUR-Lex; bad XML is refused."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from fin_rag import FinancialDocumentLoader
from fin_rag.errors import InputError, ParseError
from fin_rag.loaders.act_title import act_metadata
from fin_rag.loaders.regulation_xml import read_regulation_xml
from fin_rag.structure.regulation import read_statute

BOE = """<?xml version="1.0" encoding="UTF-8"?>
<response><data><metadatos><titulo>Ley 12/2032, de 5 de mayo, de pagos.</titulo>
<fecha_publicacion>20320506</fecha_publicacion></metadatos><texto>
<bloque id="a1" tipo="precepto">
<version fecha_publicacion="20320506" fecha_vigencia="20320601"><p class="articulo">Artículo 1. Objeto.</p>
<p class="parrafo">1. Primera.</p></version>
<version fecha_publicacion="20330110" fecha_vigencia="20330301"><p class="articulo">Artículo 1. Objeto.</p>
<p class="parrafo">1. Segunda, según el artículo 2.</p>
<blockquote class="nota_pie"><p class="nota_pie">Se modifica por el art. único de la Ley 1/2033.</p>
</blockquote></version>
</bloque>
<bloque id="a2" tipo="precepto"><version fecha_publicacion="20330110" fecha_vigencia="20330301">
<p class="articulo">Artículo 2. Lista.</p><p class="parrafo">Son pagos:</p><p class="parrafo_2">a) Uno.</p>
<p class="parrafo_2">b) Dos.</p><img src="x.png"/></version></bloque>
</texto></data></response>
"""
ECFR = """<?xml version="1.0"?>
<DIV5 N="248" TYPE="PART"><HEAD>PART 248—PRIVACY</HEAD>
<AUTH><HED>Authority:</HED><PSPACE>15 U.S.C. 78q.</PSPACE></AUTH>
<DIV8 N="248.4" TYPE="SECTION"><HEAD>§ 248.4 Notice.</HEAD><P>(a) <I>Rule.</I> (1) You must:
</P><P>(i) Tell, see § 248.4(b); and</P><P>(A) ask:</P><P>(<I>1</I>) once.</P><P>(b) <I>End.</I> Now.</P>
<CITA>[65 FR 1, June 29, 2000]</CITA></DIV8>
<DIV8 N="248.5" TYPE="SECTION"><HEAD>§§ 248.5-248.9 [Reserved]</HEAD></DIV8></DIV5>
"""
FORMEX = """<ACT><TITLE><TI><P>Regulation (EU) 2034/5</P><P>of 1 May 2034</P></TI></TITLE><ENACTING.TERMS>
<ARTICLE IDENTIFIER="001"><TI.ART>Article 1</TI.ART><STI.ART><P>Scope</P></STI.ART>
<PARAG IDENTIFIER="001.001"><NO.PARAG>1.</NO.PARAG><ALINEA><P>It covers<NOTE NOTE.ID="E1"><P>OJ L 1.</P></NOTE>:</P>
<LIST TYPE="alpha"><ITEM><NP><NO.P>(a)</NO.P><TXT>banks;</TXT></NP></ITEM>
<ITEM><NP><NO.P>(b)</NO.P><TXT>funds.</TXT></NP></ITEM></LIST></ALINEA></PARAG></ARTICLE></ENACTING.TERMS></ACT>
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# --- BOE ------------------------------------------------------------------------------------------


def test_the_newest_version_is_read_unless_a_day_is_given(tmp_path: Path) -> None:
    path = write(tmp_path, "ley.xml", BOE)
    (newest,) = FinancialDocumentLoader(path).load()
    assert "1. Segunda" in newest.page_content
    assert "1. Primera" not in newest.page_content
    (older,) = FinancialDocumentLoader(path, as_of=date(2032, 12, 31)).load()
    assert "1. Primera" in older.page_content
    assert "Artículo 2" not in older.page_content
    assert any("not in force on 20321231" in warning for warning in older.markup.warnings)
    assert older.metadata["filed"] == 20320506
    assert newest.metadata["filed"] == 20330110


def test_what_was_left_out_is_counted_and_notes_are_quotations(tmp_path: Path) -> None:
    (document,) = FinancialDocumentLoader(write(tmp_path, "ley.xml", BOE)).load()
    assert document.markup.furniture == {"image": 1, "version": 1}
    assert "> Se modifica por el art. único de la Ley 1/2033." in document.page_content
    statute = read_statute(document.page_content, metadata=document.metadata, markup=document.markup)
    assert [p.address for p in statute.provisions] == ["art:1", "art:1/par:1", "art:2", "art:2/pt:a", "art:2/pt:b"]
    assert [r.targets for r in statute.references] == [("art:2",)]


def test_act_and_day_are_metadata(tmp_path: Path) -> None:
    metadata = FinancialDocumentLoader(write(tmp_path, "ley.xml", BOE)).load()[0].metadata
    assert (metadata["doc_type"], metadata["lang"]) == ("regulation", "es")
    assert (metadata["act"], metadata["act_date"]) == ("Ley 12/2032", 20320505)


def test_versions_without_dates_count_in_their_order() -> None:
    undated = BOE.replace(' fecha_publicacion="20330110" fecha_vigencia="20330301"', "")
    loaded = read_regulation_xml(undated.encode())
    assert loaded is not None
    assert "1. Segunda" in loaded.text
    assert any("no date" in warning for warning in loaded.markup.warnings)


def test_a_day_before_everything_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="no text in force on 19990101"):
        FinancialDocumentLoader(
            write(tmp_path, "ley.xml", BOE.replace("<titulo>Ley 12/2032, de 5 de mayo, de pagos.</titulo>", "")),
            as_of="1999-01-01",
        ).load()


def test_no_date_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="as_of"):
        FinancialDocumentLoader("ley.xml", as_of="mayo")


def test_sources_without_versions_warn_about_the_day(tmp_path: Path) -> None:
    path = write(tmp_path, "ley.md", "# Ley 9/2031\n\n###### Artículo 1. Objeto.\n\nTexto.")
    (document,) = FinancialDocumentLoader(path, as_of="2032-01-01").load()
    assert any("as_of" in warning for warning in document.markup.warnings)


# --- eCFR and Formex ------------------------------------------------------------------------------


def test_ecfr_levels_come_from_the_text(tmp_path: Path) -> None:
    (document,) = FinancialDocumentLoader(write(tmp_path, "part.xml", ECFR)).load()
    statute = read_statute(document.page_content, metadata=document.metadata, markup=document.markup)
    assert [p.address for p in statute.provisions] == [
        "part:248", "sec:248.4", "sec:248.4/a", "sec:248.4/a/1", "sec:248.4/a/1/i", "sec:248.4/a/1/i/A",
        "sec:248.4/a/1/i/A/1", "sec:248.4/b", "sec:248.5-248.9",
    ]  # fmt: skip
    rule = statute.find("sec:248.4/a")
    assert rule is not None
    assert rule.heading == "Rule"
    assert [(r.source, r.targets) for r in statute.references] == [("sec:248.4/a/1/i", ("sec:248.4/b",))]
    assert len(statute.notes) == 2


def test_a_section_filed_under_a_wrong_part_is_reported() -> None:
    nested = (
        '<DIV5 N="702" TYPE="PART"><HEAD>PART 702—ONE</HEAD><DIV8 TYPE="SECTION"><HEAD>§ 702.9 Last.</HEAD><P>Text.</P>'
        '<DIV8 TYPE="SECTION"><HEAD>§ 703.1 First.</HEAD><P>Text.</P></DIV8></DIV8></DIV5>'
    )
    loaded = read_regulation_xml(nested.encode())
    assert loaded is not None
    statute = read_statute(loaded.text)
    assert [p.address for p in statute.provisions] == ["part:702", "sec:702.9", "sec:703.1"]
    assert statute.warnings == ("sec:703.1 stands in part 702, though its number is one of part 703",)


def test_xml_with_a_body_is_no_html(tmp_path: Path) -> None:
    wrapped = ECFR.replace('<DIV5 N="248"', '<TEXT><BODY><DIV5 N="248"').replace("</DIV5>", "</DIV5></BODY></TEXT>")
    (document,) = FinancialDocumentLoader(write(tmp_path, "title.xml", wrapped)).load()
    assert document.page_content.startswith("### PART 248")


def test_formex_articles_points_and_footnotes(tmp_path: Path) -> None:
    (document,) = FinancialDocumentLoader(write(tmp_path, "act.xml", FORMEX)).load()
    statute = read_statute(document.page_content, metadata=document.metadata, markup=document.markup)
    addresses = [p.address for p in statute.provisions]
    assert addresses == ["art:1", "art:1/par:1", "art:1/par:1/pt:a", "art:1/par:1/pt:b"]
    assert [note.owner for note in statute.notes] == ["art:1"]
    assert statute.name == "Regulation (EU) 2034/5"


def test_footnotes_of_a_web_page_are_notes(tmp_path: Path) -> None:
    page = (
        '<html><body><p class="oj-ti-art">Article 1</p><p class="oj-sti-art">Scope</p><p>1. See Decision 2009/11/EU '
        '<a href="#n1" id="c1">(<span>1</span>)</a>.</p><p>2. Paragraph 1 rules.</p>'
        '<p><a id="n1" href="#c1">(<span>1</span>)</a> Decision 2009/11/EU (OJ L 4, 8.1.2009, p. 7).</p></body></html>'
    )
    (document,) = FinancialDocumentLoader(write(tmp_path, "act.html", page), doc_type="regulation").load()
    statute = read_statute(document.page_content, markup=document.markup)
    assert [p.address for p in statute.provisions] == ["art:1", "art:1/par:1", "art:1/par:2"]
    assert len(statute.notes) == 1


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["head", "late"])
def test_entities_are_refused(place: str) -> None:
    padding = "<!-- " + "x" * (300_000 if place == "late" else 1) + " -->"
    entity = f'<!DOCTYPE DIV8 [{padding}<!ENTITY e SYSTEM "file:///etc/hosts">]>'
    data = f'<?xml version="1.0"?>{entity}<DIV8 TYPE="SECTION"><HEAD>§ 1.1 A.</HEAD><P>&e;</P></DIV8>'
    if place == "late":
        data = f"<?xml version='1.0'?><!-- <DIV8 -->{entity}" + data.partition("]>")[2]
    with pytest.raises(ParseError, match="entities"):
        read_regulation_xml(data.encode())


def test_damaged_xml_is_read_as_far_as_possible() -> None:
    loaded = read_regulation_xml(b'<DIV8 TYPE="SECTION"><HEAD>\xc2\xa7 1.1 A.</HEAD><P>Ten.</DIV8>')
    assert loaded is not None
    assert "Ten." in loaded.text
    assert any("damaged" in warning for warning in loaded.markup.warnings)


def test_other_xml_is_left_to_others() -> None:
    assert read_regulation_xml(b"<doc><p>Text.</p></doc>") is None


# --- titles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "act", "day"),
    [
        ("Orden ECC/461/2013, de 20 de marzo, por la que", "Orden ECC/461/2013", 20130320),
        ("Real Decreto-ley 5/2023, de 28 de junio", "Real Decreto-ley 5/2023", 20230628),
        ("Regulation (EU) No 575/2013 of 26 June 2013 on", "Regulation (EU) No 575/2013", 20130626),
        ("Reglamento (UE) 2016/679, de 27 de abril de 2016", "Reglamento (UE) 2016/679", 20160427),
        ("Circular 1/2022", "Circular 1/2022", None),
        ("Informe anual 2023", None, None),
    ],
)
def test_acts_are_read_off_titles(title: str, act: str | None, day: int | None) -> None:
    found = act_metadata(title, [])
    assert (found.get("act"), found.get("act_date")) == (act, day)
