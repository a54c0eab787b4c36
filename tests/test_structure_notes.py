"""Notes: every style of marker, which note each calls, what only looks like a marker, and what is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.schema import PageMap
from fin_rag.structure.notes import find_notes
from fin_rag.structure.notes.segments import is_notes_title


def joined(text: str, **options: object) -> list[tuple[str, str]]:
    """Return anchors with the notes that they call, both as printed."""
    return [(join.marker.anchor.slice(text), join.note.text(text)) for join in find_notes(text, **options).joins]


def table(rows: str, notes: str = "", head: str = "| Line | 2031 |") -> str:
    bars = "|---" * head.count("|", 1) + "|"
    return f"{head}\n{bars}\n{rows}\n\n{notes}"


STYLES = [
    ("raised", table("| Sales¹ | 4 |", "¹ Net."), [("Sales¹", "¹ Net.")]),
    ("raised letters", table("| Sales ᵃ | 4 |", "ᵃ Net."), [("Sales ᵃ", "ᵃ Net.")]),
    ("raised in brackets", table("| Sales⁽²⁾ | 4 |", "⁽²⁾ Net."), [("Sales⁽²⁾", "⁽²⁾ Net.")]),
    ("brackets", table("| Sales (1) | 4 |", "(1) Net."), [("Sales (1)", "(1) Net.")]),
    (
        "two at once",
        table("| Sales (1)(2) | 4 |", "(1) A.\n(2) B."),
        [("Sales (1)(2)", "(1) A."), ("Sales (1)(2)", "(2) B.")],
    ),
    (
        "a list",
        table("| Sales (1, 2) | 4 |", "(1) A.\n(2) B."),
        [("Sales (1, 2)", "(1) A."), ("Sales (1, 2)", "(2) B.")],
    ),
    ("square brackets", table("| Sales [1] | 4 |", "[1] Net."), [("Sales [1]", "[1] Net.")]),
    ("letters", table("| Fee (a) | 4 |", "(a) Per year."), [("Fee (a)", "(a) Per year.")]),
    ("capital letters", table("| Fee [A] | 4 |", "[A] Per year."), [("Fee [A]", "[A] Per year.")]),
    (
        "roman numbers",
        table("| ROE (i) | 4 |\n| ROA (ii) | 1 |", "(i) Of equity.\n(ii) Of assets."),
        [("ROE (i)", "(i) Of equity."), ("ROA (ii)", "(ii) Of assets.")],
    ),
    (
        "stars",
        table("| A\\* | 4 |\n| **B** | 5 |\n| C\\*\\* | 6 |", "\\* One.\n\\*\\* Two."),
        [("A\\*", "\\* One."), ("C\\*\\*", "\\*\\* Two.")],
    ),
    (
        "a star and one in brackets",
        table("| A* | 4 |\n| B (*) | 5 |", "* One.\n(*) Two."),
        [("A*", "* One."), ("B (*)", "(*) Two.")],
    ),
    ("daggers", table("| A† | 4 |\n| B‡ | 5 |", "† One.\n‡ Two."), [("A†", "† One."), ("B‡", "‡ Two.")]),
    (
        "slashes",
        table("| Oro 2/ | 5 |\n| Plata 1/ | 1/2 |", "1/ Al cierre.\n2/ A precio de mercado."),
        [("Oro 2/", "2/ A precio de mercado."), ("Plata 1/", "1/ Al cierre.")],
    ),
    ("closing brackets", table("| Ventas 1) | 10 |", "1) Sin IVA."), [("Ventas 1)", "1) Sin IVA.")]),
    (
        "words",
        table("| Renta fija (nota 1) | 10 |", "Nota 1: incluye letras."),
        [("Renta fija (nota 1)", "Nota 1: incluye letras.")],
    ),
    (
        "Markdown",
        "El ratio fue del 94 %[^b].\n\n[^b]: Neto.\n\n    Sin redondear.",
        [("El ratio fue del 94 %[^b].", "[^b]: Neto.\n\n    Sin redondear.")],
    ),
    (
        "HTML",
        table("| Sales<sup>1,2</sup> | 4 |", "<sup>1</sup> A.\n<sup>2</sup> B."),
        [("Sales<sup>1,2</sup>", "<sup>1</sup> A."), ("Sales<sup>1,2</sup>", "<sup>2</sup> B.")],
    ),
    (
        "lost height",
        "Emitió bonos verdes1 en mayo.\n\n1 Según el marco.",
        [("Emitió bonos verdes1 en mayo.", "1 Según el marco.")],
    ),
    ("in the header", table("| A | 4 |", "(1) Restated.", "| Line | 2031 (1) |"), [("2031 (1)", "(1) Restated.")]),
    ("in a cell", table("| A | 7 %(2) |", "(2) Estimate."), [("7 %(2)", "(2) Estimate.")]),
    ("in prose", "Sold a unit.¹ Kept two.\n\n¹ In May.", [("Sold a unit.¹", "¹ In May.")]),
]


@pytest.mark.parametrize(("text", "wanted"), [s[1:] for s in STYLES], ids=[s[0] for s in STYLES])
def test_styles(text: str, wanted: list[tuple[str, str]]) -> None:
    assert joined(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        table("| Loss | (1) |\n| Gain | (340) |", "(1) A note without a call."),
        table("| Floor space (m²) | 4 |\n| Growth 2³ | 8 |", "² Not called.\n³ Neither."),
        "See [sic] and [0, 1] and [a link](http://x.example/1).\n\n[1] A source.",
        "Under article 5(2) and section 12(a), either (a) cash or (b) shares.",
        "It grew by 10⁶ units and **bold** words.",
        "The 5<sup>th</sup> plant of Acme<sup>TM</sup> opened.",
    ],
    ids=["amounts", "exponents", "brackets", "provisions", "powers", "ordinals"],
)
def test_what_only_looks_like_a_marker_calls_nothing(text: str) -> None:
    found = find_notes(text)
    assert (found.joins, found.unresolved) == ((), ())


def test_numbering_that_restarts_per_table_stays_with_its_table() -> None:
    one = table("| North (1) | 40 |", "(1) Includes Andorra.")
    other = table("| South (1) | 210 |", "(1) Without trainees.")
    assert joined(f"## Sales\n\n{one}\n\n## Staff\n\n{other}") == [
        ("North (1)", "(1) Includes Andorra."),
        ("South (1)", "(1) Without trainees."),
    ]


def test_numbering_that_restarts_per_page() -> None:
    pages = ["Sold a unit (1).\n\n(1) In May.", "Bought two (1).\n\n(1) In June."]
    text = "\n\f\n".join(pages)
    wanted = [("Sold a unit (1).", "(1) In May."), ("Bought two (1).", "(1) In June.")]
    assert joined(text) == wanted
    first = len(pages[0])
    page_map = PageMap.parse(f"1:0-{first};2:{first + 3}-{len(text)}")
    assert joined(text.replace("\f", "\n"), page_map=page_map) == wanted


def test_notes_that_a_title_binds_to_a_section() -> None:
    text = (
        "## 1. Ventas\n\n" + table("| Norte [1] | 4 |") + "\n## 2. Costes\n\n" + table("| Norte [1] | 2 |")
        + "\n## Notas a las tablas\n\nNotas del apartado «1. Ventas»:\n\n[1] Con Ceuta.\n\n"
        "Notas del apartado «2. Costes»:\n\n[1] Sin fletes."
    )  # fmt: skip
    assert [note for _, note in joined(text)] == ["[1] Con Ceuta.", "[1] Sin fletes."]


def test_a_later_list_is_no_list_of_notes() -> None:
    text = table("| Agua (1) | 3 |") + "Notas:\n\n1. Hectómetros.\n\n## Residuos\n\n1. Reducir.\n2. Reciclar."
    found = find_notes(text)
    assert [note.text(text) for note in found.notes] == ["1. Hectómetros."]


def test_the_closing_list_of_a_plan_answers_no_marker_that_has_its_note() -> None:
    text = table("| Agua (1) | 3 |", "(1) En origen.") + "\n\nEl plan es:\n\n1. Reducir.\n2. Reciclar."
    assert joined(text) == [("Agua (1)", "(1) En origen.")]


def test_column_of_note_numbers_calls_the_notes_of_the_accounts() -> None:
    text = (
        table("| Plant | 5 | 900 |\n| Stock | 6 | 5 |\n| Cash | | 44 |", head="| ASSETS | Note | 2031 |")
        + "Notes 1 to 9 form an integral part of this balance sheet.\n\n"
        "## Note 5. Plant\n\nMeasured at cost.\n\n## Note 6. Stock\n\nFirst in, first out."
    )
    assert [(a, n.split("\n")[0]) for a, n in joined(text)] == [
        ("Plant", "## Note 5. Plant"),
        ("Stock", "## Note 6. Stock"),
    ]


def test_a_lost_note_is_reported_and_not_guessed() -> None:
    text = table("| North (1) | 4 |\n| South (3) | 5 |", "(1) With Ceuta.\n(2) Called by nothing.")
    found = find_notes(text)
    assert [(m.printed, m.anchor.slice(text)) for m in found.unresolved] == [("(3)", "South (3)")]
    assert [join.note.text(text) for join in found.joins] == ["(1) With Ceuta."]


def test_notes_that_were_set_as_rows() -> None:
    text = table("| Spain (1) | 210 |\n| Total | 290 |\n| (1) With Ceuta. | |\n| Source: us | |")
    found = find_notes(text)
    assert joined(text) == [("Spain (1)", "(1) With Ceuta.")]
    assert found.notes[0].row is not None
    assert "Source" not in "".join(note.text(text) for note in found.notes)


def test_notes_above_a_table_with_its_title_between() -> None:
    text = "## Output\n\n(1) Provisional.\n\n**Output by plant**\n\n" + table("| Lugo (1) | 13 |")
    assert joined(text) == [("Lugo (1)", "(1) Provisional.")]


def test_a_note_that_goes_on_overleaf_has_two_spans() -> None:
    text = "Costs fell (1).\n\n(1) With depreciation over\n\f\nten years.\n\nMore of the report stands here."
    found = find_notes(text)
    assert len(found.joins[0].note.spans) == 2
    assert found.joins[0].note.text(text).endswith("ten years.")


def test_notes_that_call_each_other_in_a_circle_end() -> None:
    text = table("| A (1) | 4 |", "(1) See note (2).\n(2) See note (1).")
    found = find_notes(text)
    assert ("A (1)", "(1) See note (2).") in joined(text)
    assert all(not span.contains(join.marker.span) for join in found.joins for span in join.note.spans)


def test_raised_markers_with_a_blank_between_them() -> None:
    text = table("| Dividend¹ ² | 4 |", "¹ Gross.\n² Proposed.")
    assert joined(text) == [("Dividend¹ ²", "¹ Gross."), ("Dividend¹ ²", "² Proposed.")]


def test_a_note_may_go_on_below_a_paragraph_of_its_section() -> None:
    text = table("| A (1) | 4 |\n| B (2) | 3 |", "(1) One.") + "\n\nThe zone lost two shops.\n\n(2) Two."
    assert joined(text) == [("A (1)", "(1) One."), ("B (2)", "(2) Two.")]


def test_page_numbers_between_dashes_make_no_table() -> None:
    text = "- 12 -\n\nThe plan¹ will be reviewed.\n\n______\n¹ Every year.\n\n- 13 -\n"
    assert find_notes(text).tables == 0
    assert joined(text) == [("The plan¹ will be reviewed.", "¹ Every year.")]


def test_a_figure_in_money_may_have_a_marker_glued_to_it() -> None:
    text = "EPS was $0.10(1) under rule 5.2(1).\n\n(1) Diluted."
    assert [marker for marker, _ in joined(text)] == ["EPS was $0.10(1) under rule 5.2(1)."]


def test_titles_of_notes_are_not_those_of_the_accounts() -> None:
    assert is_notes_title("Notas a las tablas", heading=True)
    assert not is_notes_title("Notas a los estados financieros", heading=True)


@given(st.text(alphabet="aB 12\n|-()[]*†¹²/.:^#\\<>sup", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    found = find_notes(text)
    for join in found.joins:
        assert join.marker.span.slice(text) == join.marker.printed
        assert all(0 <= span.start < span.end <= len(text) for span in join.note.spans)
    assert [note.start for note in found.notes] == sorted(note.start for note in found.notes)


MARKS = st.lists(st.integers(1, 9), min_size=1, max_size=6, unique=True)


@given(MARKS, MARKS, st.sampled_from(["({})", "[{}]"]))
def test_every_marker_gets_the_note_of_its_number_or_none(called: list[int], given_: list[int], form: str) -> None:
    rows = "\n".join(f"| Row {form.format(n)} | {n} |" for n in called)
    notes = "\n".join(f"{form.format(n)} Note number {n}." for n in sorted(given_))
    text = table(rows, notes)
    found = find_notes(text)
    answered = {join.marker.printed: join.note.text(text) for join in found.joins}
    for n in called:
        mark = form.format(n)
        assert answered.get(mark) == (f"{mark} Note number {n}." if n in given_ else None)
    assert {m.printed for m in found.unresolved} == {form.format(n) for n in set(called) - set(given_)}


@pytest.mark.parametrize(
    "text", ["(1) " * 20_000, "Sales (1). " * 20_000, "| A (1) | 2 |\n" * 10_000, "¹²³" * 20_000, "*a " * 20_000]
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    find_notes(text)
