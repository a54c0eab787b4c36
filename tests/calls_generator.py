"""Calls made up for tests: who says what, printed in each of the layouts that transcripts come in."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

RULE, DOUBLE = "-" * 60, "=" * 60

COMPANY = (
    ("Marta Ilves", "Chief Executive Officer"), ("Bram de Vries", "CFO"),
    ("Su-Lin O'Hara", "Head of Investor Relations"),
    ("Jon Paul Newsome", "Executive VP & Chief Risk Officer"), ("Íñigo Zubeldia", "President"),
)  # fmt: skip
ANALYSTS = (
    ("Greta Lindqvist", "Ostrom Bank"), ("Paul McRae", "Kettle & Byrne LLC"), ("Mei-Ling Hsu", "Corbel Securities"),
    ("Otis Grange", "Bell Tower Research"), ("R. J. Dunne", "Pell Street Capital"),
)  # fmt: skip
SENTENCES = (
    "Volumes were flat, and pricing -- mostly in frozen -- added three points.",
    "Note: all tonnages are metric.", "Slide 4: shipments rose by 5%.", "We start at 9:00 a.m. on Monday.",
    "First: margin. Second: cash.",
    "Gross margin was 41.5%, up 120 basis points.", "See https://example.org/a for more.",
    "I agree with Marta Ilves on that.", "Greta Lindqvist asked about this before.", "We said: \"ship, then scale.\"",
    "Net debt fell to $1,234 million (from $1,400 million).", "That is it.", "Thank you.", "[Technical Difficulty]",
    "As Bram de Vries said, costs fell; prices did not.", "El ebitda creció un 6 %.", "(inaudible) the second half.",
    "What does that mean for next year?", "It depends on volumes - and on fuel.",
)  # fmt: skip
INTERRUPTIONS = ("Right, but --", "Sure.", "Yes.", "Okay. And", "No, no.", "Go ahead...")


@dataclass(frozen=True)
class Said:
    """Hold one turn as it should be read back."""

    speaker: str
    type: str
    paragraphs: tuple[str, ...]
    section: str
    exchange: int = 0
    part: str = ""
    role: str = ""
    firm: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass
class Script:
    """Hold a whole call: the people in it and what they say."""

    company: list[tuple[str, str]]
    analysts: list[tuple[str, str]]
    turns: list[Said] = field(default_factory=list)
    break_at: int = -1  # index of a turn inside which a page ends


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw a call: opening, prepared remarks, exchanges with follow-ups and interruptions, closing."""
    company = draw(st.permutations(COMPANY))[: draw(st.integers(2, 4))]
    analysts = draw(st.permutations(ANALYSTS))[: draw(st.integers(1, 4))]
    script = Script(list(company), list(analysts))

    def words(low: int = 1, high: int = 3) -> tuple[str, ...]:
        count = draw(st.integers(low, high))
        return tuple(" ".join(draw(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3))) for _ in range(count))

    def officer(at: int, section: str, said: tuple[str, ...], exchange: int = 0) -> Said:
        name, role = company[at % len(company)]
        return Said(name, "company", said, section, exchange, "answer" if exchange else "", role=role)

    add = script.turns.append
    first = company[0][0]
    add(Said("Operator", "operator", (f"Good day and welcome to the call. I turn it over to {first}.",), "prepared"))
    for at in range(draw(st.integers(1, len(company)))):
        add(officer(at, "prepared", words(1, 4)))
    for number, (name, firm) in enumerate(analysts, start=1):
        opening = "We will now begin the question-and-answer session. Our first" if number == 1 else "Our next"
        announced = f"{opening} question comes from {name} with {firm}. Please go ahead."
        add(Said("Operator", "operator", (announced,), "qa"))
        add(Said(name, "analyst", words(1, 2), "qa", number, "question", firm=firm))
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(company) - 1))
            short = (draw(st.sampled_from(INTERRUPTIONS)),)
            add(officer(at, "qa", short if draw(st.booleans()) else words(), number))
            if draw(st.booleans()):
                again = (draw(st.sampled_from(INTERRUPTIONS)),)
                add(Said(name, "analyst", again, "qa", number, "question", firm=firm))
        if script.turns[-1].type == "analyst":
            add(officer(draw(st.integers(0, 3)), "qa", words(), number))
    add(Said("Operator", "operator", ("There are no further questions. This concludes the call.",), "qa"))
    long = [i for i, turn in enumerate(script.turns) if len(turn.paragraphs) > 1]
    script.break_at = draw(st.sampled_from(long)) if long else -1
    return script


def merged(script: Script) -> list[Said]:
    """Return the turns with consecutive ones of one speaker in one part made one."""
    found: list[Said] = []
    for turn in script.turns:
        last = found[-1] if found else None
        if last is not None and last.speaker == turn.speaker and last.section == turn.section:
            found[-1] = Said(
                last.speaker, last.type, (*last.paragraphs, *turn.paragraphs), last.section, last.exchange, last.part,
                last.role, last.firm,
            )  # fmt: skip
        else:
            found.append(turn)
    return found


def _parts(script: Script) -> tuple[list[Said], list[Said]]:
    turns = merged(script)
    return [t for t in turns if t.section == "prepared"], [t for t in turns if t.section == "qa"]


# --- text -------------------------------------------------------------------------------------------


def motley(script: Script) -> str:
    prepared, qa = _parts(script)

    def header(turn: Said) -> str:
        if turn.type == "operator":
            return turn.speaker
        return f"{turn.speaker} -- {turn.role}" if turn.role else f"{turn.speaker} -- {turn.firm} -- Analyst"

    def body(turns: list[Said]) -> str:
        return "\n\n".join(f"{header(turn)}\n\n{turn.text}" for turn in turns)

    roster = "\n\n".join(dict.fromkeys(header(t) for t in prepared + qa if t.type != "operator"))
    return (
        "Orrin Tools (ORRN -1.20%)\nQ2 2031 Earnings Call\nAug 04, 2031, 8:30 a.m. ET\n\nContents:\n\n"
        "    Prepared Remarks\n"
        f"    Questions and Answers\n    Call Participants\n\nPrepared Remarks:\n\n{body(prepared)}\n\n"
        f"Questions & Answers:\n\n"
        f"{body(qa)}\n\nDuration: 31 minutes\n\nCall participants:\n\n{roster}\n\nMore ORRN analysis\n"
    )


def _rosters(script: Script, mark: str = " - ") -> tuple[str, str]:
    return (
        "\n".join(f"{name}{mark}{role}" for name, role in script.company),
        "\n".join(f"{name}{mark}{firm}" for name, firm in script.analysts),
    )


def seeking(script: Script) -> str:
    prepared, qa = _parts(script)
    own, others = _rosters(script)
    lines = "\n\n".join(f"{t.speaker}\n\n{t.text}" for t in prepared)
    asked = "\n\n".join(f"{t.speaker}\n\n{t.text}" for t in qa)
    return (
        f"Orrin Tools (NYSE:ORRN) Q3 2030 Earnings Conference Call November 2, 2030 9:00 AM ET\n\n"
        f"Company Participants\n\n{own}"
        f"\n\nConference Call Participants\n\n{others}\n\n{lines}\n\nQuestion-and-Answer Session\n\n{asked}\n"
    )


def letters(script: Script) -> str:
    prepared, qa = _parts(script)
    own, others = _rosters(script, " – ")
    mark = {"question": "Q - ", "answer": "A - "}
    lines = "\n\n".join(f"{t.speaker}\n\n{t.text}" for t in prepared)
    asked = "\n\n".join(f"{mark.get(t.part, '')}{t.speaker}\n\n{t.text}" for t in qa)
    return f"Executives\n\n{own}\n\nAnalysts\n\n{others}\n\n{lines}\n\nQuestion-and-Answer Session\n\n{asked}\n"


def seeking_markdown(script: Script) -> str:
    prepared, qa = _parts(script)
    own, others = (roster.replace("\n", "  \n") for roster in _rosters(script))

    def body(turns: list[Said]) -> str:
        blocks = []
        for turn in turns:
            below = f"  \n*{turn.role or turn.firm}*" if turn.type != "operator" else "  "
            blocks.append(f"**{turn.speaker}**{below}\n\n{turn.text}")
        return "\n\n".join(blocks)

    return (
        f"# Orrin Tools, Inc. (ORRN) Q1 2032 Earnings Call Transcript\n\n**Company Participants**\n\n{own}\n\n"
        f"**Conference Call Participants**\n\n{others}\n\n**Presentation**\n\n{body(prepared)}\n\n"
        f"**Question-and-Answer Session**\n\n{body(qa)}\n"
    )


def streetevents(script: Script) -> str:
    own = "\n".join(f"   * {name}\n     Orrin Tools Inc - {role}" for name, role in script.company)
    others = "\n".join(f"   * {name}\n     {firm} - Analyst" for name, firm in script.analysts)

    def body(turns: list[Said]) -> str:
        blocks = []
        for number, turn in enumerate(turns, start=1):
            who = "" if turn.type == "operator" else f",  Orrin Tools Inc - {turn.role}"
            who = f",  {turn.firm} - Analyst" if turn.firm else who
            blocks.append(f"{RULE}\n{turn.speaker}{who}    [{number}]\n{RULE}\n{turn.text}\n")
        return "\n".join(blocks)

    prepared, qa = _parts(script)
    return (
        f"Q4 2029 Orrin Tools Inc Earnings Call\n\n{DOUBLE}\nCorporate Participants\n{DOUBLE}\n{own}\n\n{DOUBLE}\n"
        f"Conference Call Participants\n{DOUBLE}\n{others}\n\n{DOUBLE}\nPresentation\n{body(prepared)}\n{DOUBLE}\n"
        f"Questions and Answers\n{body(qa)}\n{RULE}\nDefinitions\n{RULE}\nPRELIMINARY TRANSCRIPT: a draft.\n\n"
        f"{RULE}\nDisclaimer\n{RULE}\nThe provider reserves the right to change this document.\n"
    )


def factset(script: Script) -> str:
    dots = "." * 80
    head = "Orrin Tools Inc. (ORRN)                    Corrected Transcript\n"
    head += "Q1 2031 Earnings Call                      07-May-2031\n"
    foot = (
        "                    1-877-555-0100   www.example.com\n                                              {page}\n"
        "                    Copyright © 2001-2031 Example, LLC\n"
    )
    letter = {"question": "Q", "answer": "A"}

    def body(turns: list[Said], offset: int) -> str:
        blocks = []
        for at, turn in enumerate(turns):
            text = turn.text
            if at + offset == script.break_at and len(turn.paragraphs) > 1:
                text = f"{turn.paragraphs[0]}\n\n{foot.format(page=3)}{head}\n" + "\n\n".join(turn.paragraphs[1:])
            if turn.type == "operator":
                blocks.append(f"Operator: {text}\n{dots}")
                continue
            who = f"{turn.role}, Orrin Tools Inc." if turn.role else f"Analyst, {turn.firm}"
            edge = " " * 30 + letter[turn.part] if turn.part else ""
            blocks.append(f"{turn.speaker}\n{who}{edge}\n\n{text}\n{dots}")
        return "\n".join(blocks)

    prepared, qa = _parts(script)
    own = "\n".join(f"{name}\n{role}, Orrin Tools Inc." for name, role in script.company)
    others = "\n".join(f"{name}\nAnalyst, {firm}" for name, firm in script.analysts)
    return (
        f"{head}\nCORPORATE PARTICIPANTS\n{own}\n{dots}\nOTHER PARTICIPANTS\n{others}\n{dots}\n\n"
        f"MANAGEMENT DISCUSSION SECTION\n\n"
        f"{body(prepared, 0)}\n\n{foot.format(page=2)}{head}\nQUESTION AND ANSWER SECTION\n\n"
        f"{body(qa, len(prepared))}\n\n"
        "Disclaimer\nThe information herein is based on sources we believe to be reliable.\n"
    )


def capital_iq(script: Script) -> str:
    joins = ("<br> ", ";", "")

    def body(turns: list[Said]) -> str:
        blocks = []
        for at, turn in enumerate(turns):
            join, who = joins[at % 3], (turn.role or turn.firm).replace("&", "\\&")
            if join == ";":
                line = f"## {turn.speaker};{who}"
            elif join or turn.firm:
                line = f"## {turn.speaker} <br> {who}"
            else:
                line = f"## {turn.speaker} {who}"
            blocks.append(f"{'## Operator' if turn.type == 'operator' else line}\n\n{turn.text}")
        return "\n\n".join(blocks)

    prepared, qa = _parts(script)
    own = "\n".join(f"{name}\n{role}".replace("&", "\\&") for name, role in script.company)
    others = "\n\n".join(f"## {name}\n\n{firm}" for name, firm in script.analysts)
    return (
        "<start_of_page_1>\n# **Orrin Tools, Inc. NYSE:ORRN FQ2 2031 Earnings Call Transcripts**\n"
        "<end_of_page_1>\n\n<start_of_page_2>\n"
        "# Table of Contents \n\nCall Participants ..... 3\nPresentation ..... 4\n"
        "Question and Answer ..... 9\n<end_of_page_2>\n\n"
        f"<start_of_page_3>\n# Call Participants \n\n## EXECUTIVES\n\n{own}\n\n## ANALYSTS\n\n{others}\n"
        f"<end_of_page_3>\n\n"
        f"<start_of_page_4>\n# Presentation \n\n{body(prepared)}\n<end_of_page_4>\n\n<start_of_page_9>\n"
        f"# Question and Answer \n\n"
        f"{body(qa)}\n<end_of_page_9>\n"
    )


def tagged(script: Script) -> str:
    names = {"company": "Executives", "analyst": "Analysts", "operator": "Operator"}
    return "\n\n".join(f"{t.speaker} ({names[t.type]})\n{t.text}" for t in merged(script))


def edited(script: Script) -> str:
    prepared, qa = _parts(script)

    def body(turns: list[Said]) -> str:
        return "\n\n".join(
            f"{t.speaker}\n\n{t.text}" if t.type == "operator" else f"{t.speaker} - {t.role or t.firm}\n\n{t.text}"
            for t in turns
        )

    return (
        f"Orrin Tools Q3 2031 Results Conference Call\n\n{body(prepared)}\n\n++++++++++\n\nQ&A Session\n\n{body(qa)}\n"
    )


def colon(script: Script) -> str:
    return "# ORRN Q2 2031 Earnings Call Transcript\n\n**Date:** 2031-07-23\n\n---\n\n" + "\n".join(
        f"{t.speaker}: " + "\n".join(t.paragraphs) for t in merged(script)
    )


def company_pdf(script: Script) -> str:
    pages = ["=== PAGE 1 ===\n \n1 \n \nOrrin Tools, Inc. (ORRN)  \nSecond Quarter 2030 Follow Up Call  \n"]
    for at, turn in enumerate(merged(script)):
        for number, paragraph in enumerate(turn.paragraphs):
            if number == 1 and at == script.break_at:
                pages.append("=== PAGE 2 ===\n \n2 \n")
            text = paragraph if number else f"{turn.speaker}:  {paragraph}"
            pages.append("  \n ".join(textwrap.wrap(text, 88, break_on_hyphens=False)) + "  \n")
    return "\n".join(pages)


def indian(script: Script) -> str:
    head = "\nOrrin Tools Limited\nMay 12, 2031\n\nPage {page} of 9\n"
    own = "\n".join(f"            MR. {n.upper()} – {r.upper()} – ORRIN TOOLS LIMITED" for n, r in script.company)
    lines = [
        head.format(page=1),
        f"MANAGEMENT: {own.strip()}",
        "MODERATOR:  MS. NEHA RAO – ALDER SECURITIES",
        head.format(page=2),
    ]
    for at, turn in enumerate(merged(script)):
        speaker = "Moderator" if turn.type == "operator" else turn.speaker
        for number, paragraph in enumerate(turn.paragraphs):
            if number == 1 and at == script.break_at:
                lines.append(head.format(page=3))
            lines.append(f"{speaker}:    {paragraph}" if not number else f"             {paragraph}")
    return "\n".join(lines)


def stamped(script: Script) -> str:
    lines = []
    for at, turn in enumerate(merged(script)):
        who = turn.speaker if turn.type == "operator" else f"{turn.speaker} ({turn.role or turn.firm})"
        lines += [f"[00:{at:02}:{number:02}] {who}: {text}" for number, text in enumerate(turn.paragraphs)]
    return (
        "# Orrin Tools Q3 2031\n\n## Summary\n- Volumes rose 5%. [(00:00:41) Marta Ilves]\n\n## Transcript\n\n"
        + "\n".join(lines)
    )


def spanish(script: Script) -> str:
    prepared, qa = _parts(script)

    def body(turns: list[Said]) -> str:
        return "\n\n".join(
            f"Operadora:\n{t.text}" if t.type == "operator" else f"{t.speaker} – {t.role or t.firm}:\n{t.text}"
            for t in turns
        )

    return (
        "TRANSCRIPCIÓN\nPresentación de resultados del primer semestre de 2031\nOrrin Herramientas, S.A.\n"
        "\nPresentación\n\n"
        f"{body(prepared)}\n\nRonda de preguntas\n\n{body(qa)}\n"
    )


# --- data -------------------------------------------------------------------------------------------


def alpha_vantage(script: Script) -> str:
    rows = [
        {"speaker": t.speaker, "title": t.role or ("Operator" if t.type == "operator" else f"Analyst, {t.firm}"),
         "content": t.text, "sentiment": "0.1"}
        for t in script.turns
    ]  # fmt: skip
    return json.dumps({"symbol": "ORRN", "quarter": "2031Q1", "transcript": rows})


def api_ninjas(script: Script) -> str:
    rows = [
        {"speaker": t.speaker, "company": t.firm or "Orrin Tools",
         "role": t.role or ("Analyst" if t.firm else "Operator"),
         "text": t.text}
        for t in script.turns
    ]  # fmt: skip
    flat = "\n".join(f"{t.speaker}: {t.text}" for t in script.turns)
    return json.dumps({"ticker": "ORRN", "year": "2030", "quarter": "4", "transcript": flat, "transcript_split": rows})


def modeling_prep(script: Script) -> str:
    content = "\n".join(f"{t.speaker}: " + "\n".join(t.paragraphs) for t in merged(script))
    return json.dumps(
        [{"symbol": "ORRN", "quarter": 2, "year": 2030, "date": "2030-07-30 17:00:00", "content": content}]
    )


def earnings_call(script: Script) -> str:
    codes = {name: f"spk{at:02}" for at, name in enumerate(dict.fromkeys(t.speaker for t in script.turns))}
    titles = {t.speaker: t.role or (f"Analyst, {t.firm}" if t.firm else "Conference Operator") for t in script.turns}
    return json.dumps({
        "event": {"year": 2031, "quarter": 3, "conference_date": "2031-10-21T17:00:00.000-04:00"},
        "speakers": [{"speaker": codes[t.speaker], "text": t.text} for t in script.turns],
        "speaker_name_map_v2": {code: {"name": name, "title": titles[name]} for name, code in codes.items()},
    })  # fmt: skip


def hub_rows(script: Script) -> str:
    return "\n".join(
        json.dumps({
            "ticker": "ORRN", "year": 2031, "quarter": 1, "section": "Q&A" if t.section == "qa" else "Prepared Remarks",
            "speaker": t.speaker, "role": t.role or ("Analyst" if t.firm else "Operator"), "text": paragraph,
        })
        for t in script.turns
        for paragraph in t.paragraphs
    )  # fmt: skip


def streetevents_xml(script: Script) -> str:
    body = streetevents(script).replace("&", "&amp;").replace("<", "&lt;").replace("\n", "&#13;\n")
    return (
        f"<Event Id='1'><EventStory><Body>{body}</Body></EventStory><companyName>Orrin Tools Inc</companyName></Event>"
    )


TEXTS: dict[str, Callable[[Script], str]] = {
    "motley": motley, "seeking": seeking, "letters": letters, "seeking_markdown": seeking_markdown,
    "streetevents": streetevents, "factset": factset, "capital_iq": capital_iq, "tagged": tagged, "edited": edited,
    "colon": colon, "company_pdf": company_pdf, "indian": indian, "stamped": stamped, "spanish": spanish,
}  # fmt: skip
DATA: dict[str, tuple[str, Callable[[Script], str]]] = {
    "alpha_vantage": ("json", alpha_vantage), "api_ninjas": ("json", api_ninjas),
    "modeling_prep": ("json", modeling_prep),
    "earnings_call": ("json", earnings_call), "hub_rows": ("jsonl", hub_rows),
    "streetevents_xml": ("xml", streetevents_xml),
}  # fmt: skip
# Layouts that print neither titles of parts nor anybody's affiliation: less can be asked of them.
BARE = frozenset({"colon", "company_pdf", "modeling_prep", "tagged"})
UNTITLED = BARE | {"indian", "stamped", "alpha_vantage", "api_ninjas", "earnings_call"}
