"""Chunks of calls: one speaker each, named in the header, with what was left out counted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

import fin_rag
from fin_rag.errors import InputError
from fin_rag.schema import SourceDocument, parse_spans
from fin_rag.splitters import EarningsCallTextSplitter, splitter_for
from fin_rag.structure.calls import CallOutline, united
from tests.calls_generator import TEXTS, Script, scripts
from tests.fakes import assert_sound, words

CALL = """Orrin Tools (ORRN) Q2 2031 Earnings Call

Prepared Remarks:

Operator

Good day and welcome to the call of Orrin Tools for the second quarter.

Ann Lee -- Chief Executive Officer

We sold more bolts than in any other quarter, and we sold them at better prices.

Costs rose by two percent, which is less than we had feared in the spring of the year.

Questions and Answers:

Operator

Our first question comes from Bo Ek with Birk Bank. Please go ahead, your line is open.

Bo Ek -- Birk Bank -- Analyst

Do you think that the prices will hold through the second half of the year?

Ann Lee -- Chief Executive Officer

Yes.

Cy Roe -- Chief Financial Officer

We have contracts for most of the volume, so we see little risk to prices this year.

Bo Ek -- Birk Bank -- Analyst

Thank you.
"""
METADATA = {"doc_type": "earnings_call", "issuer": "Orrin Tools", "fiscal_year": 2031, "fiscal_period": "Q2"}


def splitter(size: int = 60, **options: object) -> EarningsCallTextSplitter:
    return EarningsCallTextSplitter(size, tokenization=words(), **options)


def chunks(size: int = 60, **options: object) -> list[Document]:
    return splitter(size, **options).create_documents([CALL], [dict(METADATA)])


def turns_of(found: list[Document]) -> list[int]:
    return [chunk.metadata["turn_index"] for chunk in found if "turn_index" in chunk.metadata]


def test_chunks_say_who_speaks_in_answer_to_whom() -> None:
    answer = next(chunk for chunk in chunks() if "contracts" in chunk.page_content)
    metadata = answer.metadata
    assert (metadata["speaker"], metadata["speaker_type"], metadata["role"]) == (
        "Cy Roe", "company", "Chief Financial Officer",
    )  # fmt: skip
    assert (metadata["section"], metadata["exchange"], metadata["exchange_part"]) == ("qa", 1, "answer")
    assert metadata["kind"] == "turn"
    assert metadata["context_header"] == (
        "Orrin Tools — Q2 2031 call > Q&A > Cy Roe (Chief Financial Officer), answering Bo Ek (Birk Bank)"
    )
    assert "firm" not in metadata
    question = next(chunk for chunk in chunks() if "second half" in chunk.page_content)
    assert (question.metadata["firm"], question.metadata["exchange_part"]) == ("Birk Bank", "question")


def test_operators_and_short_turns_are_left_out_and_counted() -> None:
    document = Document(page_content=CALL, metadata=dict(METADATA))
    _, outline, found = splitter().split_whole(document)
    assert turns_of(found) == [1, 3, 5]
    assert "2 turns of operators and 2 of fewer than 10 words are in the outline but in no chunk" in outline.warnings
    assert isinstance(outline, CallOutline)
    assert len(outline.turns) == 7
    assert sum("turn_index" in section.metadata for section in outline) == 7


def test_what_is_left_out_can_be_asked_for() -> None:
    assert turns_of(chunks(include_operator=True)) == [0, 1, 2, 3, 5]
    assert turns_of(chunks(min_turn_words=1)) == [1, 3, 4, 5, 6]
    assert turns_of(chunks(include_operator=True, min_turn_words=0)) == list(range(7))


def test_a_call_of_short_turns_keeps_them() -> None:
    text = "Operator: Hello.\nAnn Lee: Good day.\nBo Ek: Why?\nAnn Lee: Price."
    assert turns_of(splitter().create_documents([text], [{"doc_type": "earnings_call"}])) == [1, 2, 3]


def test_long_turns_are_cut_inside_and_each_piece_says_who() -> None:
    found = [chunk for chunk in chunks(40) if chunk.metadata.get("turn_index") == 1]
    assert len(found) == 2
    assert {chunk.metadata["speaker"] for chunk in found} == {"Ann Lee"}
    assert {chunk.metadata["parent_start"] for chunk in found} == {CALL.index("Ann Lee -- Chief")}
    assert all("Good day" not in chunk.page_content for chunk in found)


def test_a_question_may_carry_its_answers() -> None:
    question = next(c for c in chunks(90, join_exchanges=True) if "second half" in c.page_content)
    spans = parse_spans(question.metadata["spans"])
    assert len(spans) == 3
    assert spans[1].slice(CALL) == "Ann Lee -- Chief Executive Officer\n\nYes."
    assert "contracts" in spans[2].slice(CALL)
    assert question.metadata["token_count"] <= 90
    assert question.page_content == "\n\n".join(span.slice(CALL) for span in spans)


def test_answers_that_do_not_fit_stay_out_of_the_question() -> None:
    found = chunks(46, join_exchanges=True)
    assert all(chunk.metadata["token_count"] <= 46 for chunk in found)
    question = next(c for c in found if "second half" in c.page_content)
    assert "contracts" not in question.page_content
    assert any("contracts" in chunk.page_content for chunk in found)


def test_options_are_part_of_the_ids() -> None:

    ids = [
        {chunk.id for chunk in chunks(**options)} for options in ({}, {"include_operator": True}, {"min_turn_words": 3})
    ]
    assert not ids[0] & ids[1]
    assert not ids[0] & ids[2]


def test_a_text_without_speakers_is_split_all_the_same() -> None:
    text = "good day and welcome .\nsales rose by two percent .\n"
    _, outline, found = splitter().split_whole(Document(page_content=text, metadata={"doc_type": "earnings_call"}))
    assert found[0].page_content == text.strip()
    assert "speaker" not in found[0].metadata
    assert any("no speakers" in warning for warning in outline.warnings)


def test_the_splitter_is_picked_by_kind_or_content() -> None:
    assert isinstance(
        splitter_for(Document(page_content="x", metadata={"doc_type": "earnings_call"})), EarningsCallTextSplitter
    )
    assert isinstance(splitter_for(Document(page_content=CALL)), EarningsCallTextSplitter)
    assert not isinstance(splitter_for(Document(page_content="We sell bolts.")), EarningsCallTextSplitter)
    assert fin_rag.EarningsCallTextSplitter is EarningsCallTextSplitter


def test_too_few_words_are_refused() -> None:
    with pytest.raises(InputError, match="min_turn_words"):
        splitter(min_turn_words=-1)


@settings(max_examples=60)
@given(
    script=scripts(), layout=st.sampled_from(sorted(TEXTS)), size=st.integers(40, 200), operator=st.booleans(),
    least=st.sampled_from([0, 10]), joined=st.booleans(),
)  # fmt: skip
def test_chunks_of_any_call_hold_the_contract(
    script: Script, layout: str, size: int, operator: bool, least: int, joined: bool
) -> None:
    text = TEXTS[layout](script)
    call = SourceDocument(page_content=text, metadata={"doc_type": "earnings_call", "title": "Q2 call", "lang": "en"})
    cutter = splitter(size, include_operator=operator, min_turn_words=least, join_exchanges=joined)
    whole, outline, found = cutter.split_whole(call)
    assert isinstance(outline, CallOutline)
    left_out = cutter.left_out(outline, text)
    assert_sound(
        whole.page_content, found, words(), size, united([*outline.furniture, *(turn.span for turn in left_out)])
    )
    gone = {turn.index for turn in left_out}
    assert set(turns_of(found)) == {turn.index for turn in outline.turns} - gone
    for chunk in found:
        if "turn_index" in chunk.metadata:
            turn = outline.turns[chunk.metadata["turn_index"]]
            assert chunk.metadata.get("speaker", "") == turn.speaker
            assert turn.span.start <= chunk.metadata["start_index"] < chunk.metadata["end_index"] <= turn.span.end
