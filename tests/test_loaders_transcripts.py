"""Transcripts as data: every shape becomes the same text, and bad data are refused in words."""

from __future__ import annotations

import json

import pytest

from fin_rag.errors import ParseError
from fin_rag.loaders import FinancialDocumentLoader
from fin_rag.loaders.content import LoadedText
from fin_rag.loaders.transcripts import read_transcript
from fin_rag.splitters import EarningsCallTextSplitter

TURN = {"speaker": "Ann Lee", "title": "CEO", "content": "Sales rose."}


def read(value: object) -> LoadedText:
    loaded = read_transcript(json.dumps(value).encode(), name="call.json", format="json")
    assert loaded is not None
    return loaded


def read_xml(text: str) -> LoadedText | None:
    return read_transcript(text.encode(), name="call.xml", format="xml")


# --- shapes -----------------------------------------------------------------------------------------


def test_turns_become_speaker_lines() -> None:
    loaded = read(
        {"symbol": "orrn", "quarter": "2031Q2", "transcript": [TURN, {**TURN, "content": "Costs fell.\r\nTwice."}]}
    )
    assert loaded.text == "# ORRN Q2 2031 earnings call\n\n## Ann Lee -- CEO\n\nSales rose.\n\nCosts fell.\nTwice."
    assert loaded.hints == {
        "doc_type": "earnings_call",
        "ticker": "ORRN",
        "fiscal_year": 2031,
        "fiscal_period": "Q2",
        "title": "Q2 2031 call",
    }


def test_empty_turns_are_left_out_and_counted() -> None:
    loaded = read({"transcript": [TURN, {**TURN, "content": ""}, {**TURN, "content": None}]})
    assert loaded.text.count("##") == 1
    assert loaded.markup.furniture == {"empty_turn": 2}


def test_a_call_given_twice_is_told_once() -> None:
    loaded = read({"transcript": "Ann Lee: Up.", "transcript_split": [{"speaker": "Ann Lee", "text": "Up."}]})
    assert loaded.text.count("Up.") == 1


def test_a_whole_call_in_one_string_is_kept_word_for_word() -> None:
    content = "Operator: Good day.\nAnn Lee: Sales: up 2%.\n\nNote: unaudited."
    loaded = read([{"symbol": "ORRN", "quarter": 2, "year": 2031, "date": "2031-07-30 17:00:00", "content": content}])
    assert loaded.text.endswith(content)
    assert loaded.hints["filed"] == 20310730


def test_codes_are_named_and_one_that_is_not_stays() -> None:
    loaded = read({
        "event": {"year": 2031, "quarter": 3, "company_name": "Orrin Tools"},
        "speakers": [{"speaker": "spk1", "text": "Hi."}, {"speaker": "spk2", "text": "Yes."}],
        "speaker_name_map_v2": {"spk1": {"name": "Ann Lee", "title": "CEO"}},
    })  # fmt: skip
    assert "## Ann Lee -- CEO\n\nHi.\n\n## spk2\n\nYes." in loaded.text
    assert loaded.hints["issuer"] == "Orrin Tools"


def test_two_parts_without_speakers_are_titled() -> None:
    loaded = read(
        {"event": {"year": 2031, "quarter": 2}, "prepared_remarks": "Hello.", "questions_and_answers": "Why?"}
    )
    assert "# Prepared remarks\n\nHello.\n\n# Questions and answers\n\nWhy?" in loaded.text


def test_rows_of_several_calls_stay_apart() -> None:
    rows = [{"ticker": "A", "year": 2031, "quarter": q, "speaker": "Ann Lee", "text": f"Part {q}."} for q in (1, 2, 1)]
    data = "\n".join(map(json.dumps, rows)).encode()
    loaded = read_transcript(data, format="jsonl")
    assert loaded is not None
    assert [line for line in loaded.text.split("\n") if line.startswith("Part")] == ["Part 1.", "Part 1.", "Part 2."]
    assert any("2 calls" in warning for warning in loaded.markup.warnings)


def test_sentences_without_speakers_get_none() -> None:
    rows = [{"transcript_id": 7, "sentence": text} for text in ("good day .", "sales rose .")]
    loaded = read_transcript("\n".join(map(json.dumps, rows)).encode(), format="jsonl")
    assert loaded is not None
    assert loaded.text.endswith("good day .\nsales rose .")


def test_a_firm_that_everybody_has_is_the_issuer() -> None:
    rows = [{"speaker": f"{n} Lee", "company": "Orrin", "text": "Hello."} for n in ("Ann", "Bo", "Cy")]
    loaded = read({"transcript_split": rows})
    assert loaded.hints["issuer"] == "Orrin"
    assert "## Ann Lee\n" in loaded.text


# --- XML --------------------------------------------------------------------------------------------


def test_the_body_of_a_story_keeps_its_lines() -> None:
    loaded = read_xml(
        "<Event><EventStory><Body>Operator   [1]&#13;\nRook &amp; Co&#13;\n</Body></EventStory>"
        "<companyName>Orrin Inc</companyName><companyTicker>ORN.N</companyTicker></Event>"
    )
    assert loaded is not None
    assert loaded.text == "Operator   [1]\nRook & Co"
    assert (loaded.hints["issuer"], loaded.hints["ticker"]) == ("Orrin Inc", "ORN.N")


def test_elements_that_name_their_speaker_become_turns() -> None:
    loaded = read_xml(
        "<transcript><section name='Q&amp;A'><turn speaker='Ann Lee' role='CEO'><p>One.</p><p>Two.</p></turn>"
        "<turn><speaker>Bo Ek</speaker><text>Why?</text></turn></section></transcript>"
    )
    assert loaded is not None
    assert loaded.text == "# Q&A\n\n## Ann Lee -- CEO\n\nOne.\n\nTwo.\n\n## Bo Ek\n\nWhy?"


@pytest.mark.parametrize("text", ["<report><p>We sell bolts.</p></report>", "<Event><place>Room 4</place></Event>"])
def test_other_xml_is_not_taken(text: str) -> None:
    assert read_xml(text) is None


@pytest.mark.parametrize(
    "entity",

    ['<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">', '<!ENTITY a SYSTEM "file:///etc/hostname">', '<!ENTITY % a SYSTEM "http://x.example/a">'],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(entity: str, encoding: str) -> None:
    text = f"<!DOCTYPE x [{entity}]><Event><EventStory><Body>Operator [1]\n&a;</Body></EventStory></Event>"
    with pytest.raises(ParseError, match="entities"):
        read_transcript(text.encode(encoding), name="call.xml", format="xml")


def test_an_unknown_entity_is_named() -> None:
    with pytest.raises(ParseError, match="&nbsp;"):
        read_xml("<!DOCTYPE x SYSTEM 'x.dtd'><transcript><turn speaker='A'>One.&nbsp;Two.</turn></transcript>")


def test_xml_that_is_cut_off_says_so() -> None:
    loaded = read_xml("<Event><EventStory><Body>Operator   [1]\nHello to every")
    assert loaded is not None
    assert loaded.text.endswith("Hello to every")
    assert "damaged" in loaded.markup.warnings[0]


# --- bad data ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"symbol": "X", "quarter": "2031Q1"}, "no 'transcript', 'content' or 'speakers' key"),
        ({"symbol": "X", "transcript": []}, "'transcript' is empty"),
        ({"symbol": "X", "transcript": {"pages": 3}}, r"Its keys are \['pages'\]"),
        ({"transcript": [{"who": "A", "content": "x"}]}, "entry 0 of 'transcript' has no 'speaker' key"),
        (
            {"transcript": [TURN, {"speaker": "A", "said": "x"}]},
            "entry 1 of 'transcript' has no 'content' or 'text' key",
        ),
        ({"transcript": [{"speaker": "A", "content": 12}]}, "must be a text. Got int"),
        ({"transcript": [TURN, "Bo Ek: Why?"]}, "entry 1 of 'transcript' is no object"),
        ({"transcript": [{**TURN, "content": " "}]}, "nothing is said"),
        ({"event": {"year": 2031}, "speaker_name_map_v2": {"spk1": {"name": "A"}}}, "no 'speakers' key"),
    ],
)
def test_wrong_shapes_say_what_is_missing(value: object, named: str) -> None:
    with pytest.raises(ParseError, match=named) as caught:
        read(value)
    assert "call.json" in str(caught.value)


def test_broken_json_is_an_error() -> None:
    with pytest.raises(ParseError, match="broken JSON"):
        read_transcript(b'{"transcript": [', format="json")


@pytest.mark.parametrize(
    "value",
    [
        {"rows": [{"name": "Revenue", "text": "12"}, {"name": "Costs", "text": "7"}]},
        [{"name": "Policy A", "content": "Long text."}, {"name": "Policy B", "content": "More."}],
        {"title": "Report", "text": "We sell bolts."},
        {"segments": [{"name": "Europe", "text": "Sales rose."}]},
        [],
        12,
    ],
)
def test_other_json_is_not_taken(value: object) -> None:
    assert read_transcript(json.dumps(value).encode(), format="json") is None


# --- through the loader -----------------------------------------------------------------------------


def test_the_loader_knows_transcripts_by_their_shape(tmp_path) -> None:
    path = tmp_path / "call.json"
    rows = [
        {"speaker": "Operator", "content": "Welcome."},
        TURN,
        {"speaker": "Bo Ek", "title": "Analyst", "content": "Why?"},
    ]
    path.write_text(json.dumps({"symbol": "ORRN", "quarter": "2031Q2", "transcript": rows}))
    (document,) = FinancialDocumentLoader(path).load()
    metadata = document.metadata
    assert (metadata["doc_type"], metadata["ticker"], metadata["fiscal_period"]) == ("earnings_call", "ORRN", "Q2")
    outline = EarningsCallTextSplitter().outline(document)
    assert [turn.speaker_type for turn in outline.turns] == ["operator", "company", "analyst"]


def test_the_loader_takes_xml_with_a_body_for_no_web_page(tmp_path) -> None:
    path = tmp_path / "call.xml"
    path.write_text(
        '<?xml version="1.0"?><Event><EventStory><Body>Q1 2031 Orrin Inc Earnings Call&#13;\n'
        "&#13;\nOperator   [1]&#13;\n"
        "Welcome.&#13;\n</Body></EventStory><companyName>Orrin Inc</companyName></Event>"
    )
    (document,) = FinancialDocumentLoader(path).load()
    assert document.page_content == "Q1 2031 Orrin Inc Earnings Call\n\nOperator   [1]\nWelcome."
    assert (document.metadata["doc_type"], document.metadata["issuer"]) == ("earnings_call", "Orrin Inc")


def test_the_loader_reads_other_json_as_facts(tmp_path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"name": "Policy A", "content": "We insure boats."}')
    (document,) = FinancialDocumentLoader(path).load()
    assert document.page_content == "name: Policy A\ncontent: We insure boats."
