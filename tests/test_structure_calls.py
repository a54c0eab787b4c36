"""Calls: every layout is read back as it was said; odd ones are read with care."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings

from fin_rag.loaders.transcripts import read_transcript
from fin_rag.structure.calls import CallOutline, outline_call
from tests.calls_generator import BARE, DATA, TEXTS, UNTITLED, Script, merged, scripts


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
    return text, outline_call(text, metadata={"doc_type": "earnings_call"})


@pytest.mark.parametrize("layout", [*TEXTS, *DATA])
@settings(max_examples=40)
@given(script=scripts())
def test_every_layout_is_read_back(layout: str, script: Script) -> None:
    text, outline = read(layout, script)
    wanted = merged(script)
    got = [(t.speaker.casefold(), flat(t.text(text))) for t in outline.turns]
    names = {"indian": {"Operator": "Moderator"}, "spanish": {"Operator": "Operadora"}}.get(layout, {})
    assert got == [(names.get(t.speaker, t.speaker).casefold(), flat(t.text)) for t in wanted], text
    for turn, said in zip(outline.turns, wanted, strict=True):
        assert turn.speaker_type == said.type, (turn, text)
        if layout not in UNTITLED or said.type != "operator":
            assert turn.section == said.section, (turn, text)
        assert turn.exchange_part == said.part, (turn, text)
        if layout not in BARE and said.role and layout != "indian":
            assert turn.role == said.role, (turn, text)
        if said.firm:
            assert turn.firm == said.firm, (turn, text)
    pairs = {(t.exchange, s.exchange) for t, s in zip(outline.turns, wanted, strict=True)}
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
