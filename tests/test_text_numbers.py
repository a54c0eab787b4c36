from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_rag.errors import InputError
from fin_rag.schema import Span
from fin_rag.text.number_digits import read_digits
from fin_rag.text.number_words import number_words
from fin_rag.text.numbers import Number, decimal_mark, find_numbers, parse_number


def values(text: str, **options: object) -> list[Decimal]:
    return [number.value for number in find_numbers(text, **options)]


def only(text: str, **options: object) -> Number:
    (number,) = find_numbers(text, **options)
    return number


# --- notation ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "english", "spanish"),
    [
        ("1,234.5", "1234.5", "1234.5"),
        ("1.234,5", "1234.5", "1234.5"),
        ("1,234,567", "1234567", "1234567"),
        ("1.234.567", "1234567", "1234567"),
        ("1.234", "1.234", "1234"),
        ("1,234", "1234", "1.234"),
        ("12,5", "12.5", "12.5"),
        ("0,125", "0.125", "0.125"),
        ("0.125", "0.125", "0.125"),
        ("1234,567", "1234.567", "1234.567"),
        ("1\u00a0234,5", "1234.5", "1234.5"),
        ("1\u202f234\u202f567", "1234567", "1234567"),
        ("1'234.50", "1234.50", "1234.50"),
        ("1,23,45,678", "12345678", "12345678"),
        ("1,577.00", "1577.00", "1577.00"),
        ("007", "7", "7"),
    ],
)
def test_notation(text: str, english: str, spanish: str):
    assert parse_number(text, lang="en").value == Decimal(english)
    assert parse_number(text, lang="es").value == Decimal(spanish)
    assert values(text, lang="en") == [Decimal(english)]
    assert values(text, lang="es") == [Decimal(spanish)]


def test_other_reading_is_kept_only_where_both_are_possible():
    assert only("1.234", lang="es").alternative == Decimal("1.234")
    assert only("1.234 millones", lang="es").alternative == Decimal("1234000")
    assert only("1.234,5", lang="es").alternative is None
    assert only("12,5", lang="es").alternative is None


def test_notation_of_the_text_decides_where_the_language_is_not_known():
    assert values("1.234 frente a 2.345,6") == [Decimal(1234), Decimal("2345.6")]
    assert values("1.234 against 2,345.6") == [Decimal("1.234"), Decimal("2345.6")]


def test_one_foreign_figure_does_not_turn_a_known_language_but_many_do():
    assert decimal_mark("1,234.5", lang="es") == ","
    assert decimal_mark("1,234.5 y 2,345.6 y 3,456.7", lang="es") == "."
    assert decimal_mark("1,234.5 y 2,345.6 y 3,456.7 y 1.234,5", lang="es") == ","
    assert decimal_mark("", lang="es-MX") == ","


def test_caller_can_settle_the_decimal_mark():
    assert values("1.234,5 y 1.234", decimal=".") == [Decimal("1234.5"), Decimal("1.234")]
    with pytest.raises(InputError, match="'decimal'"):
        find_numbers("1", decimal=";")
    with pytest.raises(InputError, match="'decimal'"):
        parse_number("1", decimal="")


def test_runs_that_are_no_figure_are_read_in_parts():
    assert values("2021,2022,2023") == [2021, 2022, 2023]
    assert [n.kind for n in find_numbers("3.4.1 Deuda")] == ["label"] * 3
    assert read_digits("1,2,3", ".") is None
    assert read_digits("1.234,567.8", ".") is None


# --- sign -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "value", "style"),
    [
        ("(567)", "-567", "parentheses"),
        ("(5)", "-5", "parentheses"),
        ("( 5 )", "-5", "parentheses"),
        ("$ (1,234)", "-1234", "parentheses"),
        ("$(1,234)", "-1234", "parentheses"),
        ("($ 1,234)", "-1234", "parentheses"),
        ("(5.2)%", "-5.2", "parentheses"),
        ("(12.5 %)", "-12.5", "parentheses"),
        ("(567", "-567", "parentheses"),
        ("-567", "-567", "minus"),
        ("\u2212567", "-567", "minus"),
        ("-$5", "-5", "minus"),
        ("$-5", "-5", "minus"),
        ("567-", "-567", "trailing_minus"),
        ("+5", "5", ""),
    ],
)
def test_sign_of_a_cell(cell: str, value: str, style: str):
    number = parse_number(cell, lang="en")
    assert (number.value, number.negative, number.kind) == (Decimal(value), style, "amount")
    assert number.text == cell


@pytest.mark.parametrize("cell", ["-", "\u2014", "\u2013", "$ \u2014", "\u2014 %", "--"])
def test_dash_in_a_cell_is_nil(cell: str):
    number = parse_number(cell)
    assert (number.value, number.kind) == (0, "nil")
    assert find_numbers(cell) == []


def test_ranges_and_compounds_have_no_sign():
    assert values("10-20% in 2022-2023 of COVID-19, $10-$20") == [10, 20, 2022, 2023, 19, 10, 20]


def test_brackets_in_a_row_are_negative_and_asides_are_not():
    row = "| Other, net | $ (1,234) | (567) | (5) | (5.2)% | (5.2%) |"
    assert values(row, lang="en") == [-1234, -567, -5, Decimal("-5.2"), Decimal("-5.2")]
    assert values("Operating margin (12.5%) 3.4%") == [Decimal("-12.5"), Decimal("3.4")]
    assert values("a loss of ($225.6) million") == [Decimal(-225_600_000)]
    assert values("rose 5% ($2 million) in all") == [5, 2_000_000]
    assert values("in all (12.5%) of sales") == [Decimal("12.5")]
    assert values("last year (2023) it was") == [2023]


def test_note_markers_are_no_amounts():
    assert [n.kind for n in find_numbers("EBITDA (1) 500")] == ["note", "amount"]
    assert [n.kind for n in find_numbers("EBITDA[2] | 500 |")] == ["note", "amount"]
    assert [n.kind for n in find_numbers("Total\n(2)\nAmounts exclude")] == ["note"]
    assert parse_number("1,234 (1)", lang="en").value == 1234
    assert parse_number("1,234¹", lang="en").text == "1,234"


def test_trailing_minus_counts_only_at_the_end_of_a_cell():
    assert values("| 567- | 1,234- |", lang="en") == [-567, -1234]
    assert values("pages 2- and 3") == [2, 3]


def test_area_code_of_a_telephone_is_no_loss():
    assert find_numbers("call (212) 555-0100")[0].value == 212


# --- currency, scale, unit --------------------------------------------------------------------


def test_same_amount_in_other_notations_is_equal():
    first, second, third, fourth = find_numbers("$890M, USD 890 million, 890,000,000 dollars, EUR 890.500.000")
    assert first.value == second.value == third.value == Decimal(890_000_000)
    assert first.currency == second.currency == third.currency == "USD"
    assert (fourth.value, fourth.currency) == (Decimal(890_500_000), "EUR")
    assert only("1.5B").value == only("1,500 million", lang="en").value


@pytest.mark.parametrize(
    ("text", "value", "currency", "scale"),
    [
        ("1.234,5 millones de euros", "1234500000", "EUR", 10**6),
        ("5 mil millones", "5000000000", "", 10**9),
        ("12 miles de millones de dólares", "12000000000", "USD", 10**9),
        ("2 billones de pesos colombianos", "2000000000000", "COP", 10**12),
        ("12 M€", "12000000", "EUR", 10**6),
        ("3.400 MEUR", "3400000000", "EUR", 10**6),
        ("45 mill. €", "45000000", "EUR", 10**6),
        ("1.234 miles de euros", "1234000", "EUR", 10**3),
        ("25 mil", "25000", "", 10**3),
        ("1 234,5 millones", "1234500000", "", 10**6),
        ("1 234 567 €", "1234567", "EUR", 1),
        ("890.500.000 EUR", "890500000", "EUR", 1),
        ("-5 €", "-5", "EUR", 1),
        ("1.000 libras esterlinas", "1000", "GBP", 1),
    ],
)
def test_spanish_amounts(text: str, value: str, currency: str, scale: int):
    number = only(f"fueron {text}, según", lang="es")
    assert (number.value, number.currency, number.scale) == (Decimal(value), currency, scale)
    assert number.text == text


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("$30mm", "30000000", "USD"),
        ("US$1.5bn", "1500000000", "USD"),
        ("$5-million", "5000000", "USD"),
        ("€12.5 billion", "12500000000", "EUR"),
        ("$ 5 m", "5000000", "USD"),
        ("12 thousand", "12000", ""),
        ("₹ 3 crore", "30000000", "INR"),
        ("HK$890 million", "890000000", "HKD"),
        ("CHF 1'234.50", "1234.50", "CHF"),
        ("$.05", "0.05", "USD"),
        ("890M", "890000000", ""),
    ],
)
def test_english_amounts(text: str, value: str, currency: str):
    number = only(f"was {text}, up", lang="en")
    assert (number.value, number.currency, number.text) == (Decimal(value), currency, text)


def test_miles_is_a_distance_in_english():
    assert only("12 miles away", lang="en").value == 12
    assert only("12 miles de euros").value == 12_000


def test_currency_sign_belongs_to_the_figure_behind_it():
    assert [(n.value, n.currency) for n in find_numbers("500 $ 34 $ 20")] == [
        (500, ""),
        (34, "USD"),
        (20, "USD"),
    ]
    assert [(n.value, n.currency) for n in find_numbers("5 € 6 €")] == [(5, "EUR"), (6, "EUR")]


def test_plain_blanks_group_only_where_something_vouches_for_it():
    assert values("Nota 5 123,4 110,2", lang="es") == [5, Decimal("123.4"), Decimal("110.2")]
    assert values("100 200 300") == [100, 200, 300]


@pytest.mark.parametrize(
    ("text", "unit", "ratio"),
    [
        ("12,5 %", "%", "0.125"),
        ("12,5 por ciento", "%", "0.125"),
        ("12.5 per cent", "%", "0.125"),
        ("25 puntos básicos", "bp", "0.0025"),
        ("25 pb", "bp", "0.0025"),
        ("50 basis points", "bp", "0.0050"),
        ("2,5 puntos porcentuales", "pp", "0.025"),
        ("1,5x", "x", "1.5"),
        ("2 veces", "x", "2"),
    ],
)
def test_units(text: str, unit: str, ratio: str):
    number = only(text, lang="es")
    assert (number.unit, number.ratio, number.text) == (unit, Decimal(ratio), text)
    assert number.percent is (unit == "%")


def test_letters_that_case_folding_maps_elsewhere_do_not_break_the_reader():
    assert values("5 m\u0131llion 6 million\u017f 7 \u212a 8 m\u0130les") == [5, 6, 7, 8]


# --- kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("fiscal 2024", ["year"]),
        ("2,024 units", ["amount"]),
        ("$2024", ["amount"]),
        ("December 31, 2024", ["date", "year"]),
        ("31 de diciembre de 2024", ["date", "year"]),
        ("2024-12-31", ["date"] * 3),
        ("31/12/2024", ["date"] * 3),
        ("the 3rd and 1.º", ["ordinal", "ordinal"]),
        ("Item 7 and Note 12, artículo 5", ["label"] * 3),
        ("Form 10-K, Item 1A, Q3, S-1", ["label"] * 4),
        ("Exhibit 10.1", ["label"]),
        ("0000320193-24-000123", ["label"] * 3),
        ("1. Business", ["label"]),
        ("3M and 10K", ["label", "label"]),
        ("Directive 2014/65/EU", ["year", "label"]),
        ("sales of 12 stores", ["amount"]),
    ],
)
def test_kinds(text: str, kinds: list[str]):
    assert [number.kind for number in find_numbers(text, lang="en")] == kinds


# --- spans ------------------------------------------------------------------------------------


def test_offset_moves_spans_into_the_document():
    document = "Nota 3.\nVentas: 1.234,5 millones de euros"
    part = document[8:]
    (number,) = find_numbers(part, lang="es", offset=8)
    assert number.span.slice(document) == number.text == "1.234,5 millones de euros"
    with pytest.raises(InputError, match="'offset'"):
        find_numbers("1", offset=-1)


def test_span_of_a_cell_leaves_the_blanks_out():
    assert parse_number("  12,5 %\n", lang="es").span == Span(2, 8)


@pytest.mark.parametrize("text", ["", "  ", "Total", "10-K", "1 2", "12.05.2024", "5 and 6", "1A", "9" * 200])
def test_what_is_not_one_figure_is_none(text: str):
    assert parse_number(text) is None


TEXT = st.text(
    alphabet=st.sampled_from("0123456789" * 3 + ".,  ()-−%$€|\n'MmkKbx[]/:áñº\u00a0\u202f") | st.characters(),
    max_size=60,
)


@given(TEXT, st.sampled_from([None, "en", "es"]))
def test_every_digit_is_in_exactly_one_number_and_spans_are_slices(text: str, lang: str | None):
    numbers = find_numbers(text, lang=lang)
    last = 0
    covered: set[int] = set()
    for number in numbers:
        assert number.span.start >= last
        last = number.span.end
        assert number.span.slice(text) == number.text
        assert number.value.is_finite()
        covered.update(range(number.span.start, number.span.end))
    assert {i for i, char in enumerate(text) if char in "0123456789"} <= covered


@given(TEXT, st.sampled_from([None, "en", "es"]))
def test_parse_takes_any_text(text: str, lang: str | None):
    number = parse_number(text, lang=lang)
    assert number is None or number.span.slice(text) == number.text


AMOUNT = st.decimals(min_value=0, max_value=10**15, places=2).filter(lambda value: value >= 1)
STYLES = {
    "minus": "-{}",
    "long minus": "\u2212{}",
    "parentheses": "({})",
    "trailing": "{}-",
}


def printed(value: Decimal, lang: str) -> str:
    english = f"{value:,.2f}"
    return english if lang == "en" else english.translate(str.maketrans(",.", ".,"))


@given(AMOUNT, st.sampled_from(["en", "es"]), st.sampled_from(sorted(STYLES)))
def test_round_trip_of_negative_cells(value: Decimal, lang: str, style: str):
    assert parse_number(STYLES[style].format(printed(value, lang)), lang=lang).value == -value


@given(AMOUNT, st.sampled_from(["en", "es"]))
def test_round_trip_in_running_text(value: Decimal, lang: str):
    for text in (
        f"was {printed(value, lang)} in",
        f"| {printed(value, lang)} |",
        f"€ {printed(value, lang)}.",
    ):
        assert values(text, lang=lang) == [value]
        assert values(text) == [value]  # two decimals say by themselves which notation it is


@given(st.integers(min_value=0, max_value=10**18), st.sampled_from(["en", "es"]), st.sampled_from([0, 3, 6, 9]))
def test_scale_words_multiply_exactly(value: int, lang: str, power: int):
    word = {
        "en": ("", " thousand", " million", " billion"),
        "es": ("", " miles", " millones", " mil millones"),
    }
    text = printed(Decimal(value), lang)[:-3] + word[lang][power // 3] + " "
    assert only(text, lang=lang).value == Decimal(value) * 10**power


# --- vocabulary and time ----------------------------------------------------------------------


def test_every_word_of_the_vocabulary_is_read():
    words = number_words()
    for word, power in words.scales.items():
        assert only(f"7 {word}").scale == 10**power, word
    for word, unit in words.units.items():
        assert only(f"7{word}").unit == unit, word
    for mark, currency in words.currencies.items():
        assert only(f"7 {mark}").currency == currency, mark
    for label in words.labels:
        assert only(f"{label} 7").kind == "label", label


@pytest.mark.parametrize(
    "text",
    [
        "9" * 300_000, "1," * 150_000, "1.1.1/" * 20_000, "(" * 300_000, "(1" * 50_000, " " * 300_000,
        " 123" * 50_000, "1 234 567 " * 20_000, "5 de " * 50_000, "-" * 300_000 + "1", "$" * 300_000,
        "1/1/2020 " * 20_000, "1% " * 50_000, "1 000 " * 15_000,
    ],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_time_is_linear_on_hostile_text(text: str):
    start = time.process_time()
    find_numbers(text, lang="es")
    assert parse_number(text) is None
    assert time.process_time() - start < 5
