"""Calls: every layout is read back as it was said; odd ones are read with care."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_rag.loaders.transcripts import read_transcript
from fin_rag.schema import Section, Span
from fin_rag.structure.calls import CallOutline, call_title, outline_call, united
from tests.calls_generator import BARE, DATA, TEXTS, UNTITLED, Script, merged, scripts
from tests.evaluators.calls import produce

CALL = {"doc_type": "earnings_call"}


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", text.replace("\\&", "&")).strip()


def read(layout: str, script: Script) -> tuple[str, CallOutline]:
    if layout in TEXTS:
        text = TEXTS[layout](script)
    else:
        form, write = DATA[layout]
        loaded = read_transcript(write(script).encode(), format=form)
        assert loaded is not None
        text = loaded.text
    return text, outline_call(text, metadata=CALL)


def outlined(text: str, **metadata: object) -> CallOutline:
    return outline_call(text, metadata={**CALL, **metadata})


def who(outline: CallOutline) -> list[tuple[str, str, int, str]]:
    return [(t.speaker, t.speaker_type, t.exchange, t.exchange_part) for t in outline.turns]


def said(text: str, outline: CallOutline) -> list[str]:
    return [flat(turn.text(text)) for turn in outline.turns]


# --- every layout -----------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", [*TEXTS, *DATA])
@settings(max_examples=30)
@given(script=scripts())
def test_every_layout_is_read_back(layout: str, script: Script) -> None:
    text, outline = read(layout, script)
    wanted = merged(script)
    got = [(t.speaker.casefold(), flat(t.text(text))) for t in outline.turns]
    names = {"indian": {"Operator": "Moderator"}, "spanish": {"Operator": "Operadora"}}.get(layout, {})
    assert got == [(names.get(t.speaker, t.speaker).casefold(), flat(t.text)) for t in wanted], text
    for turn, script_turn in zip(outline.turns, wanted, strict=True):
        assert turn.speaker_type == script_turn.type, (turn, text)
        if layout not in UNTITLED or script_turn.type != "operator":
            assert turn.section == script_turn.section, (turn, text)
        assert turn.exchange_part == script_turn.part, (turn, text)
        if layout not in BARE and script_turn.role and layout != "indian":
            assert turn.role == script_turn.role, (turn, text)
        if script_turn.firm:
            assert turn.firm == script_turn.firm, (turn, text)
    pairs = {(t.exchange, s.exchange) for t, s in zip(outline.turns, wanted, strict=True)}
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)


@pytest.mark.parametrize("layout", [*TEXTS, *DATA])
@settings(max_examples=8)
@given(script=scripts())
def test_text_without_furniture_is_the_turns_in_order(layout: str, script: Script) -> None:
    text, outline = read(layout, script)
    spans = [span for turn in outline.turns for span in turn.texts]
    assert spans == sorted(spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    gone = united([*outline.furniture, *(turn.header for turn in outline.turns)])
    at, kept = outline.turns[0].span.start, ""
    for mark in gone:
        if at <= mark.start < outline.turns[-1].span.end:
            kept += text[at : mark.start] + "\n"
            at = mark.end
    kept += text[at : outline.turns[-1].span.end]
    assert flat(kept) == flat("\n".join(turn.text(text) for turn in outline.turns))


@pytest.mark.parametrize("layout", [*TEXTS, *DATA])
@settings(max_examples=5)
@given(script=scripts())
def test_sections_nest_and_name_every_turn(layout: str, script: Script) -> None:
    text, outline = read(layout, script)
    assert len({section.section_id for section in outline}) == len(outline)
    open_: list[Section] = []
    for section in outline:
        assert section.span.end <= len(text)
        while open_ and open_[-1].span.end <= section.span.start:
            open_.pop()
        assert not open_ or open_[-1].span.contains(section.span)
        open_.append(section)
    indexes = [section.metadata["turn_index"] for section in outline if "turn_index" in section.metadata]
    assert indexes == list(range(len(outline.turns)))
    assert outline == read(layout, script)[1]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(
    ["Operator", "Operator:", "Ann Lee", "Ann Lee: Yes.", "Ann Lee -- CEO", "CEO: No.", "**Ann Lee**", "*CEO*", "# A B",
     "Q - Ann Lee", "Q", "A", "P.: ¿Y?", "[00:01:02] Ann Lee", "Presentation", "Questions and Answers", "Analysts",
     "Call participants:", "Disclaimer", "Page 3", "----------", "==========", "3", "", "", "It rose. Then it fell.",
     "Note: it is", "| Name | Role |", "| Ann Lee | CEO |", "Our first question comes from Bo Ek of Orrin Bank.", "\f",
     "Orrin Q2 2031 Earnings Call", "said Ann Lee", "Ann Lee,  Orrin - CEO    [2]", "[Operator]: Hi.",
     "\ufeff", "é\u2028x"]
)))  # fmt: skip
def test_any_lines_give_a_sound_outline(lines: list[str]) -> None:
    text = "\n".join(lines)
    outline = outlined(text)
    for turn in outline.turns:
        assert turn.text(text).strip()
        assert 0 <= turn.span.start <= turn.texts[0].start <= turn.span.end <= len(text)
        assert bool(turn.exchange) == bool(turn.exchange_part)
        assert turn.speaker_type != "operator" or not turn.exchange
    assert all(Span(0, len(text)).contains(mark) for mark in outline.furniture)


# --- who speaks -------------------------------------------------------------------------------------


def test_speakers_inside_one_line_have_turns_of_their_own() -> None:
    text = "Operator: Welcome. Analyst: How is margin? CFO: Up 2 points to 41%."
    outline = outlined(text)
    assert [turn.speaker_type for turn in outline.turns] == ["operator", "analyst", "company"]
    assert said(text, outline)[-1] == "Up 2 points to 41%."


def test_a_gap_in_place_of_a_name_keeps_the_turn() -> None:
    text = "Operator: We begin.\n<inaudible> - Analyst: Can you repeat guidance?\nDana Wills - CFO: Three percent."
    turn = outlined(text).turns[1]
    assert (turn.speaker, turn.speaker_type, turn.role, turn.text(text)) == (
        "", "analyst", "Analyst", "Can you repeat guidance?",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other"),
    [("Kaan Peker-Yıldız", "Kaan Peker-Yildiz"), ("Lou Castell", "Lou Castel"), ("Jon Paul Newsome", "Paul Newsome"),
     ("Geoffrey Lee", "Geoff Lee"), ("Robert Haldane", "Bob Haldane"), ("Allison Landry-Cox", "Allison Landry")],
)  # fmt: skip
def test_spellings_of_a_name_are_one_person(one: str, other: str) -> None:
    text = (
        f"Operator: Welcome.\nNed Stone: Sales rose.\nOperator: Our first question comes from {one} with Orrin Bank.\n"
        f"{one}: Is growth durable?\nNed Stone: Yes.\n{other}: For how long?\nNed Stone: Long."
    )
    asked = [turn for turn in outlined(text).turns if turn.exchange_part == "question"]
    assert {turn.exchange for turn in asked} == {1}
    assert {turn.speaker for turn in asked} == {one}
    assert {turn.firm for turn in asked} == {"Orrin Bank"}


def test_speech_that_begins_with_a_known_name_is_no_speaker_line() -> None:
    text = (
        "Company Participants\n\nAnn Lee – CEO\nBo Ek – CFO\n\nOperator\n\nWelcome.\n\nAnn Lee\n\nThe rest is what\n"
        "Bo Ek\nwill show you in a minute.\n\nBo Ek agrees with me.\n\nBo Ek\n\nI do.\n"
    )
    outline = outlined(text)
    assert [turn.speaker for turn in outline.turns] == ["Operator", "Ann Lee", "Bo Ek"]
    assert said(text, outline)[1].endswith("Bo Ek agrees with me.")


@pytest.mark.parametrize("line", ["Note: it is unaudited.", "Slide 4: volumes.", "First: cost.", "9:00 a.m. it began.",
                                  "https://example.org/a: see it.", "Gross margin: 41%.",
                                  "Primero: el precio."])  # fmt: skip
def test_a_colon_makes_no_speaker(line: str) -> None:
    text = f"Operator: Welcome.\nAnn Lee: Good day.\n{line}\nBo Ek: Yes.\nAnn Lee: No."
    assert [turn.speaker for turn in outlined(text).turns] == ["Operator", "Ann Lee", "Bo Ek", "Ann Lee"]


@pytest.mark.parametrize("aside", ["[Operator Instructions]", "[Technical Difficulty]", "(inaudible)", "[ Kestrel ]"])
def test_an_aside_is_what_is_said(aside: str) -> None:
    text = f"Operator\n\nWelcome.\n\nAnn Lee -- CEO\n\n{aside}\n\nGood day.\n\nBo Ek -- CFO\n\n{aside}\n"
    outline = outlined(text)
    assert [turn.speaker for turn in outline.turns] == ["Operator", "Ann Lee", "Bo Ek"]
    assert said(text, outline)[2] == aside


def test_what_is_not_stated_is_not_made_up() -> None:
    text = "Operator: Our first question is from Bo Ek.\nBo Ek: Why?\nAnn Lee: Price.\nUnknown speaker: And mix."
    assert [(t.role, t.firm) for t in outlined(text).turns[1:]] == [("", "")] * 3


def test_roles_and_firms_come_from_line_list_or_announcement() -> None:
    text = (
        "Corporate Participants\n\nAnn Lee\nChief Executive Officer, Orrin Foods\nBo Ek\nTreasurer, Orrin Foods\n\n"
        "Operator\n\nI turn it over to Cy Roe, our Chief Financial Officer.\n\nCy Roe\n\nHello.\n\n"
        "Ann Lee\n\nWelcome.\n\n"
        "Bo Ek\n\nThank you.\n\nQuestions and Answers\n\nOperator\n\n"
        "First is Di Fay of Rook, Hale & Co.\n\nDi Fay\n\nWhy?\n"
    )
    turns = {turn.speaker: (turn.role, turn.firm) for turn in outlined(text).turns}
    assert turns["Ann Lee"] == ("Chief Executive Officer", "Orrin Foods")
    assert turns["Cy Roe"] == ("Chief Financial Officer", "")
    assert turns["Di Fay"] == ("", "Rook, Hale & Co.")


def test_a_table_lists_the_participants() -> None:
    text = (
        "# Orrin Q1 2031 Earnings Call\n\n| Name | Title |\n|---|---|\n| Ann Lee | CEO |\n\n"
        "Ann Lee: Hello.\nBo Ek: Why?"
    )
    outline = outlined(text + "\nAnn Lee: Mix.")
    assert outline.participants[0].role == "CEO"
    assert outline.turns[0].role == "CEO"


# --- exchanges --------------------------------------------------------------------------------------


def test_follow_ups_and_interruptions_stay_in_the_exchange() -> None:
    text = (
        "Operator: Welcome.\nNed Stone: Sales rose.\nOperator: The first question is from Lia Baum of Orrin Bank.\n"
        "Lia Baum: On cost --\nNed Stone: Yes?\nLia Baum: -- is it lower?\nNed Stone: It is.\nIda Roe: By a tenth.\n"
        "Operator: Next, Tom Ash from Birk.\nTom Ash: Cash?\nNed Stone: Fine.\nOperator: No further questions.\n"
        "Ned Stone: Thank you."
    )
    assert [(turn.exchange, turn.exchange_part[:1]) for turn in outlined(text).turns] == [
        (0, ""), (0, ""), (0, ""), (1, "q"), (1, "a"), (1, "q"), (1, "a"), (1, "a"), (0, ""), (2, "q"),
        (2, "a"), (0, ""),
        (0, ""),
    ]  # fmt: skip


def test_without_an_operator_whoever_gives_the_word_hosts() -> None:
    text = (
        "Ann Ro: Welcome to the webcast.\nNed Stone: Sales rose.\n"
        "Ann Ro: Now to questions. The first is from Lia Baum.\n"
        "Lia Baum: Why?\nNed Stone: Price."
    )
    outline = outlined(text)
    assert [turn.section for turn in outline.turns] == ["prepared"] * 2 + ["qa"] * 3
    assert who(outline)[2:] == [
        ("Ann Ro", "company", 0, ""), ("Lia Baum", "analyst", 1, "question"), ("Ned Stone", "company", 1, "answer"),
    ]  # fmt: skip


def test_askers_without_names_are_told_apart_by_the_calls_for_them() -> None:
    text = (
        "Operadora: Buenas tardes.\nAna Ruiz (Consejera Delegada): Hola.\n"
        "Operadora: La primera pregunta es de Luis Paz.\n"
        "P.: ¿Y el gas?\nR. (Ana Ruiz): Baja.\nP.: ¿Mucho?\nR. (Ana Ruiz): Sí.\n"
        "Operadora: La siguiente pregunta es de Eva Sol.\n"
        "P.: ¿Dividendo?\nR. (Ana Ruiz): No."
    )
    assert [turn.exchange for turn in outlined(text).turns] == [0, 0, 0, 1, 1, 1, 1, 0, 2, 2]


# --- what is no speech ------------------------------------------------------------------------------


def test_lists_notices_and_page_furniture_are_no_speech() -> None:
    text = (
        "Orrin plc Q1 2031 Earnings Call\n\nCorporate Participants\n\nAnn Lee - CEO\n\nPresentation\n\nAnn Lee\n\n"
        "We sell bol-\n\nPage 2 of 9\n\nts to everyone.\n\nDisclaimer\n\nNobody is liable.\n"
    )
    outline = outlined(text)
    assert said(text, outline) == ["We sell bol- ts to everyone."]
    assert {section.section_id for section in outline} >= {"participants", "notices", "prepared"}


def test_two_calls_are_noticed() -> None:
    one = (
        "Operator: Welcome to the {} quarter call.\nJo Marsh: Bricks.\n"
        "Operator: First is Li Wei of Sun Bank.\nLi Wei: Why?\n"
    )
    text = "".join(
        f"# Alpha Q{n} 2031 Earnings Call Transcript\n\n{one.format(w)}Jo Marsh: Up.\n\n"
        for n, w in ((1, "first"), (2, "second"))
    )
    outline = outlined(text)
    assert any("more than one call" in warning for warning in outline.warnings)
    assert [turn.call for turn in outline.turns] == [0] * 5 + [1] * 5
    assert [turn.section for turn in outline.turns].count("prepared") >= 4


def test_a_call_that_breaks_off_says_so() -> None:
    outline = outlined("Operator\n\nWelcome.\n\nAnn Lee -- CEO\n\nSales rose and we are now turn")
    assert any("breaks off" in warning for warning in outline.warnings)
    assert any("no questions" in warning for warning in outline.warnings)


@pytest.mark.parametrize(
    "text", ["", "  \n", "good day and welcome .\nsales rose .\n", "Just prose: it has no speakers."]
)
def test_without_speakers_there_are_no_turns(text: str) -> None:
    outline = outlined(text)
    assert outline.turns == ()
    assert bool(outline.warnings) == bool(text.strip())


def test_empty_turns_are_dropped_and_counted() -> None:
    outline = outlined(
        "Operator\n\nWelcome to all.\n\nAnn Lee -- CEO\n\nBo Ek -- CFO\n\nCash rose.\n\nAnn Lee -- CEO\n\nYes.\n"
    )
    assert [turn.speaker for turn in outline.turns] == ["Operator", "Bo Ek", "Ann Lee"]
    assert any("without words" in warning for warning in outline.warnings)


# --- size, repeatability, shared cases --------------------------------------------------------------


def long_call(exchanges: int) -> str:
    speech = (
        "We think that volumes will grow, and that pricing -- mostly in frozen -- adds three points. Note: an estimate."
    )
    parts = [f"Prepared Remarks:\n\nOperator\n\nWelcome.\n\nAnn Lee -- CEO\n\n{speech}\n\nQuestions and Answers:\n\n"]
    for number in range(exchanges):
        name = f"{chr(65 + number % 26)}ob Smith{chr(97 + number // 26 % 26)}on"
        parts.append(
            f"Operator\n\nOur next question comes from {name} with Orrin Bank.\n\n{name} -- Orrin Bank -- Analyst\n\n"
            f"What about it?\n\nAnn Lee -- CEO\n\n{speech} {speech}\n\nNed Stone -- CFO\n\n{speech}\n\n"
        )
    return "".join(parts)


def operations(text: str) -> int:
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        outlined(text)
    finally:
        sys.setprofile(None)
    return count


def test_work_grows_with_the_text() -> None:
    short, long = long_call(75), long_call(300)
    outlined(short)  # fills what is remembered once
    assert operations(long) < 4.4 * operations(short)
    first, whole = outlined(short).turns, outlined(long).turns
    assert len(whole) == 4 * 300 + 2
    assert whole[: len(first)] == first


def test_every_run_gives_the_same_outline() -> None:
    code = (
        "from tests.test_structure_calls import long_call, outlined; import hashlib; "
        "print(hashlib.sha256(repr(outlined(long_call(6))).encode()).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(runs) == 1


def test_shared_cases_are_read_in_full(shared, tmp_path) -> None:
    cases = sorted((shared / "cases" / "calls").glob("*.expected.json"))
    assert len(cases) >= 14
    failed = {}
    for case in cases:
        expected = json.loads(case.read_text(encoding="utf-8"))
        output = tmp_path / f"{expected['id']}.json"
        output.write_text(json.dumps(produce(case.parent / expected["input"])), encoding="utf-8")
        grader = [sys.executable, str(shared / "cases" / "grade.py"), str(case), str(output)]
        graded = subprocess.run(grader, capture_output=True, text=True, check=False)
        if graded.returncode:
            failed[expected["id"]] = graded.stdout
    assert failed == {}


def test_titles_of_calls_are_short() -> None:
    assert call_title({"fiscal_period": "Q3", "fiscal_year": 2024}) == "Q3 2024 call"
    assert call_title({"fiscal_period": "Q3"}) == ""
