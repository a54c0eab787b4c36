"""Keywords: what is found, what is not, in both engines."""

from __future__ import annotations

import numpy as np
import pytest

from fin_rag.errors import IntegrityError
from fin_rag.index.catalogue import Allowed
from fin_rag.index.keywords import KeywordRecord, RankBm25Keywords, TantivyKeywords
from fin_rag.text.words import identifiers

EN = "Total Revenues, net, were $4.2 billion (Item 1A). BRK.B and R&D under 575/2013, ASC 842-10-25."
ES = "Las obligaciones contraídas ascienden a 1.234,5 millones; la información es útil."
CHUNKS = [
    (0, "en", EN),
    (1, "es", ES),
    (2, "en", "Item 1 describes the business."),
    (3, "en", "Net debt of 42 and 4.20."),
]


def allowed(*rows: int) -> Allowed:
    return Allowed(np.asarray(rows, dtype=np.int64), tuple(rows), everything=len(rows) == len(CHUNKS))


@pytest.fixture(params=["tantivy", "rank-bm25"])
def keywords(request, tmp_path):
    engine = TantivyKeywords(tmp_path / "k") if request.param == "tantivy" else RankBm25Keywords()
    engine.add(KeywordRecord(row, row, lang, text) for row, lang, text in CHUNKS)
    return engine


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("revenues", 0), ("Revenues?", 0), ("item 1a", 0), ("4.2", 0), ("BRK.B", 0), ("R&D", 0),
        ("575/2013", 0),
        ("842-10-25", 0), ("INFORMACION util", 1), ("1.234,5", 1), ("4.20", 3),
    ],
)  # fmt: skip
def test_words_and_identifiers_are_found(keywords, question, first) -> None:
    assert keywords.search(question, 4, allowed(0, 1, 2, 3))[0][0] == first


def test_spanish_stems_meet(tmp_path) -> None:
    engine = TantivyKeywords(tmp_path / "k")
    engine.add([KeywordRecord(0, 0, "es", ES)])
    everything = Allowed(np.asarray([0]), (0,), everything=True)
    assert engine.search("obligación contraída", 1, everything)


def test_numbers_are_not_found_by_their_halves(keywords) -> None:
    assert [row for row, _ in keywords.search("4.20", 4, allowed(0, 1, 2, 3))] == [3]


def test_nothing_shared_gives_nothing(keywords) -> None:
    assert keywords.search("zzz qqq", 4, allowed(0, 1, 2, 3)) == []
    assert keywords.search("", 4, allowed(0, 1, 2, 3)) == []
    assert keywords.search("¿?", 4, allowed(0, 1, 2, 3)) == []


def test_k_larger_than_what_is_there(keywords) -> None:
    assert len(keywords.search("revenues business debt", 10, allowed(0, 1, 2, 3))) == 3


def test_filter_holds_before_scoring(keywords) -> None:
    found = keywords.search("revenues business debt información", 4, allowed(2, 3))
    assert {row for row, _ in found} == {2, 3}
    assert all(score > 0 for _, score in found)
    assert keywords.search("revenues", 4, allowed(2, 3)) == []
    assert keywords.search("revenues", 4, Allowed(np.zeros(0, dtype=np.int64), (), everything=False)) == []


def test_removed_rows_are_gone(keywords) -> None:
    keywords.remove(0, 2)
    keywords.remove(50, 3)
    assert keywords.count() == 2
    assert keywords.search("revenues", 4, allowed(0, 1, 2, 3)) == []


def test_query_syntax_is_plain_text(keywords) -> None:
    assert keywords.search('revenues" AND (net: [TO *] ~^', 4, allowed(0, 1, 2, 3))[0][0] == 0


def test_ties_are_broken_by_row(tmp_path) -> None:
    for engine in (TantivyKeywords(tmp_path / "t"), RankBm25Keywords()):
        engine.add(KeywordRecord(row, 0, "en", "same text here") for row in range(30))
        everything = Allowed(np.arange(30), (0,), everything=True)
        assert [row for row, _ in engine.search("same text", 5, everything)] == [0, 1, 2, 3, 4]


def test_tantivy_is_there_after_reopening(tmp_path) -> None:
    TantivyKeywords(tmp_path / "k").add([KeywordRecord(7, 7, "en", EN)])
    again = TantivyKeywords(tmp_path / "k")
    assert again.search("revenues", 1, Allowed(np.asarray([7]), (7,), everything=True))[0][0] == 7


def test_damaged_index_says_how_to_mend_it(tmp_path) -> None:
    folder = tmp_path / "k"
    TantivyKeywords(folder).add([KeywordRecord(7, 7, "en", EN)])
    (folder / "keywords" / "meta.json").write_text("{")
    with pytest.raises(IntegrityError, match="rebuild"):
        TantivyKeywords(folder).count()


def test_identifiers_keep_inner_marks_only() -> None:
    assert identifiers("See Item 1A, 1,234.5 and S&P.") == ["1a", "1,234.5", "s&p"]
