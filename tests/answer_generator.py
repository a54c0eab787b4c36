"""Answers written from tables of documents: true ones in many notations, and false ones with one thing wrong.

Ground truth is the cell that an answer was written from: its row's label, its column's period, its scale. Wordings come
in two sets, so that one can be looked at while the other one is held out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from langchain_core.documents import Document

from fin_rag.structure.blocks import blocks
from fin_rag.structure.rows import RowRecord, RowValue, rows_of
from fin_rag.text.numbers import parse_number

NAMES = (
    "Norvella Systems", "Quintmar Foods", "Ostrava Freight", "Helmsgate Energy", "Bruxton Mills", "Calderwick",
    "Zephalon", "Tarragel",
)  # fmt: skip
CORRUPTIONS = ("digit", "scale", "sign", "period", "entity", "points", "invented", "direction", "line")

ENGLISH = {
    "a": (
        "{issuer}'s {label} {was} {x} in {period}.",
        "In {period}, {label} {was} {x}.",
        "{label_cap} for {period} amounted to {x}.",
        "{issuer} reported {label} of {x} for {period}.",
        "According to the filing, {label} came to {x} in {period}.",
        "{label_cap}: {x} ({period}).",
        "The {period} figure for {label} is {x}.",
        "For {period}, {issuer} shows {x} in {label}.",
    ),
    "b": (
        "{period} {label} stood at {x}, as shown in the statement.",
        "Per the table, {label} totalled {x} in {period}.",
        "The company recorded {label} of {x} during {period}.",
        "As for {label}, the {period} amount was {x} [1].",
        "{issuer} had {label} of {x} at the end of {period}.",
        "- {label_cap} ({period}): {x}",
        "During {period} {issuer} posted {x} of {label}.",
        "Answer: {x}. This is {label} for {period}.",
    ),
}
ENGLISH["c"] = (
    "Looking at {period}, we see that {label} reached {x}.",
    "How much was {label}? It was {x} in {period}.",
    "**{label_cap}**: {x} for the year {period}.",
    "{x} - that is what {issuer} disclosed as {label} for {period}.",
    "The filing puts {label} at {x} for {period}.",
    "{issuer} closed {period} with {label} of {x}.",
    "Based on the evidence [1], {issuer}'s {period} {label} equals {x}.",
    "As to {label} during the {period} period: {x}.",
    "{period} saw {issuer} register {x} under {label}.",
    "I found {x} for {label} in {period} in the table.",
    "The amount of {label} ({period}) is {x} according to the consolidated statements.",
    "With {x} in {period}, {label} is shown on the face of the statement.",
)
ENGLISH["d"] = (
    "As of year-end {period}, {issuer} carried {label} amounting to {x} on its books.",
    "{issuer} ({period}): {label} = {x}.",
    "The company's {label} for the twelve months of {period} totaled {x}, based on the annual report.",
    "In {period}, the group's {label} were {x} (see page 40 of the Form 10-K).",
    "| Metric | {period} |\n|---|---|\n| {label_cap} | {x} |",
    "Sure! Here is what I found:\n\n1. {label_cap} in {period}: {x}\n\nLet me know if you need anything else.",
    "We calculate {label} at {x} for FY {period}.",
    "At {x}, {issuer}'s {label} in {period} is one of the key items in the statement.",
    "{period}'s {label} came out at {x}.",
    "It can be seen that, for the year {period}, the line '{label}' reads {x}.",
)
ENGLISH_TWO = {
    "a": (
        "{label_cap} {moved} from {y} in {before} to {x} in {period}.",
        "{label_cap} {was} {x} in {period}, compared with {y} in {before}.",
        "In {period}, {label} {moved} to {x} from {y} in {before}.",
        "{label_cap} was {x} and {y} in {period} and {before}, respectively.",
    ),
    "b": (
        "{issuer}'s {label} {moved} to {x} in {period}, versus {y} a year earlier.",
        "{label_cap} {moved} by {g} to {x} in {period}.",
        "{before}: {y}; {period}: {x} ({label}).",
        "Between {before} and {period}, {label} {moved} from {y} to {x}.",
    ),
}
ENGLISH_TWO["c"] = (
    "{label_cap} went from {y} ({before}) to {x} ({period}), so it {moved}.",
    "While it was {y} in {before}, {label} {was} {x} in {period}.",
    "Year over year, {label} {moved} {g}, from {y} to {x}, in {period}.",
    "{label_cap} for {before} and {period} was {y} and {x}.",
    "{issuer}: {label} {moved} to {x} ({period}) from {y} ({before}).",
    "Against {y} in {before}, {label} {moved} to {x} in {period}.",
    "In {period} {label} {moved} {g} compared with {before}.",
)
ENGLISH_TWO["d"] = (
    "{label_cap} {moved} from {y} to {x} between {before} and {period}.",
    "In {before}, {label} {was} {y}. The following year, {period}, it {moved} to {x}.",
    "{issuer}'s {label} {moved} to {x} in {period} ({before}: {y}).",
    "Compared with {before} ({y}), {label} {moved} in {period}, reaching {x}.",
    "{label_cap} of {x} in {period} compares with {y} in the prior year.",
    "{label_cap} {moved} by approximately {g} in {period} versus {before}.",
)
SPANISH = {
    "a": (
        "En {period}, {issuer} registró {label}: {x}.",
        "{label_cap} ascendió a {x} en {period}.",
        "Según el informe, {label} fue de {x} en el ejercicio {period}.",
        "El importe de {label} en {period} es {x}.",
    ),
    "b": (
        "{label_cap} se situó en {x} al cierre de {period}.",
        "Para el ejercicio {period}, la sociedad presenta {x} en {label}.",
        "{issuer} alcanzó {x} de {label} durante {period}.",
        "- {label_cap} ({period}): {x}",
    ),
}
SPANISH["c"] = (
    "El {period} arrojó {x} de {label}.",
    "{label_cap}: {x} (ejercicio {period}).",
    "La cifra correspondiente a {label} en {period} fue {x}.",
    "De acuerdo con las cuentas, {label} totalizó {x} en {period} [1].",
    "¿Cuánto fue {label} en {period}? {x}.",
    "{issuer} declara {x} en concepto de {label} para {period}.",
)
SPANISH["d"] = (
    "A cierre de {period}, {label} sumaba {x}.",
    "Durante {period}, {issuer} contabilizó {x} por {label}.",
    "El informe recoge {label} por importe de {x} en {period}.",
    "{label_cap} en {period}: {x}.",
    "En el año {period} la partida de {label} fue de {x}, según el cuadro.",
    "Respuesta: {x}. Corresponde a {label} del ejercicio {period}.",
)
SPANISH_TWO = {
    "a": (
        "{label_cap} {moved} de {y} en {before} a {x} en {period}.",
        "{label_cap} fue de {x} en {period}, frente a {y} en {before}.",
    ),
    "b": (
        "En {period}, {label} {moved} hasta {x}, frente a {y} el año anterior.",
        "{label_cap} {moved} un {g}, hasta {x}, en {period}.",
    ),
}
SPANISH_TWO["c"] = (
    "{label_cap} pasó de {y} ({before}) a {x} ({period}), es decir, {moved}.",
    "Si en {before} era de {y}, en {period} {label} {moved} hasta {x}.",
    "{label_cap} {moved} en {period} un {g} respecto a {before}.",
)
SPANISH_TWO["d"] = (
    "{label_cap}: {x} en {period} frente a {y} en {before}.",
    "Entre {before} y {period}, {label} {moved} de {y} a {x}.",
    "{label_cap} {moved} cerca de un {g} en {period}.",
)
UP = {"en": ("rose", "increased", "grew", "climbed"), "es": ("aumentó", "creció", "subió")}
DOWN = {"en": ("fell", "decreased", "declined", "dropped"), "es": ("disminuyó", "cayó", "bajó")}
SCALE_NAMES = {
    "en": {10**3: "thousand", 10**6: "million", 10**9: "billion"},
    "es": {10**3: "mil", 10**6: "millones", 10**9: "mil millones"},
}


@dataclass(frozen=True)
class Case:
    """An answer, its evidence, and what is wrong with it (empty: nothing)."""

    answer: str
    evidence: tuple[Document, ...]
    wrong: str
    notation: str
    wording: str
    lang: str


@dataclass(frozen=True)
class Cell:
    """A figure of a row with the year that its column names."""

    label: str
    year: int
    value: Decimal
    scale: int
    currency: str
    percent: bool
    decimals: int
    doc: Document
    row: RowRecord
    outflow: bool


def cells_of(document: Document) -> list[list[Cell]]:
    """Return the rows of a document whose columns name different years."""
    text, lang = document.page_content, document.metadata.get("lang", "en")
    found = []
    for block in blocks(text):
        if block.kind != "table":
            continue
        records = rows_of(text, block, lang=lang)
        labels = [record.label for record in records]
        for record in records:
            row = [cell for value in record.values if (cell := _cell(document, record, value, lang)) is not None]
            years = [cell.year for cell in row]
            plain = (
                len(record.label) > 3
                and not any(char.isdigit() for char in record.label)
                and labels.count(record.label) == 1
            )
            said = record.label.lower().strip(" :") not in (
                "total",
                "other",
                "net",
                "basic",
                "diluted",
                "otros",
                "subtotal",
            )
            # A table whose scale only the text around it tells has no notation that a cell alone could be written in.
            known = record.values and (
                record.values[0].scale != 1 or not _states_scale(text) or any(c.percent for c in row)
            )
            plain = plain and said and known
            if (
                row
                and len(set(years)) == len(years)
                and plain
                and record.label.count("(") == 0
                and len(record.label) < 70
            ):
                found.append(row)
    return found


def _states_scale(text: str) -> bool:
    return any(word in text.lower() for word in ("in millions", "in thousands", "miles de euros", "millones de euros"))


def _cell(document: Document, record: RowRecord, value: RowValue, lang: str) -> Cell | None:
    figure = parse_number(value.printed, lang=lang)
    year = value.period[-4:]
    if figure is None or not figure.value or figure.kind == "nil" or not (year.isdecimal() and year.startswith("20")):
        return None
    low = value.column.lower()
    if any(word in low for word in ("change", "variac", "vs", "increase", "months")) or figure.unit not in ("", "%"):
        return None
    outflow = figure.value < 0
    return Cell(
        record.label.strip(" :"), int(year), figure.value, value.scale, value.currency, figure.unit == "%",
        figure.decimals, document,
        record, outflow,
    )  # fmt: skip


# --- writing --------------------------------------------------------------------------------------


def grouped(value: Decimal, decimals: int, lang: str) -> str:
    """Write a number with separators of a language."""
    text = f"{value:,.{decimals}f}"
    return text.translate(str.maketrans(",.", ".,")) if lang == "es" else text


def write(
    cell: Cell, lang: str, rng: random.Random, *, exact: bool = False, signed: Decimal | None = None
) -> tuple[str, str]:
    """Write a cell's figure in one of many notations; return it with the notation's name."""
    value = cell.value if signed is None else signed
    minus, size = value < 0, abs(value)
    if cell.percent:
        text = grouped(size, cell.decimals, lang)
        style = rng.choice(("%", " %", " percent" if lang == "en" else " por ciento"))
        return _minus(text + style, rng, minus=minus, money=False), "percent"
    styles = ["as_word", "code", "full"] + ([] if exact else ["rounded"]) + (["short"] if cell.scale >= 10**6 else [])
    if cell.scale == 1:
        styles = ["plain"]
    style = rng.choice(styles)
    names = SCALE_NAMES[lang]
    symbol = {"USD": "$", "EUR": "€"}.get(cell.currency, "")
    if style == "plain":
        body = grouped(size, cell.decimals, lang)
        return _minus(symbol + body if lang == "en" else body, rng, minus=minus, money=bool(symbol)), style
    word = names[cell.scale]
    if style == "full":
        body = grouped(size * cell.scale, 0, lang)
        text = f"{symbol}{body}" if lang == "en" else f"{body} {_currency(cell, lang)}".rstrip()
        return _minus(text, rng, minus=minus, money=bool(symbol)), style
    if style == "rounded" and size * cell.scale >= 10**7:
        up = 10**9 if size * cell.scale >= 10**9 else 10**6
        places = 2 if up == 10**9 else 1
        body = grouped((size * cell.scale / up).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP), places, lang)
        text = f"{symbol}{body} {names[up]}" if lang == "en" else f"{body} {names[up]} {_currency(cell, lang)}".rstrip()
        return _minus(text, rng, minus=minus, money=bool(symbol)), style
    body = grouped(size, cell.decimals, lang)
    if style == "short" and symbol and lang == "en":
        return _minus(f"{symbol}{body}{'M' if cell.scale == 10**6 else 'B'}", rng, minus=minus, money=True), style
    if style == "code" and cell.currency:
        return _minus(f"{cell.currency} {body} {word}", rng, minus=minus, money=False), style
    text = f"{symbol}{body} {word}" if lang == "en" else f"{body} {word} {_currency(cell, lang)}".rstrip()
    return _minus(text, rng, minus=minus, money=bool(symbol)), "as_word"


def _currency(cell: Cell, lang: str) -> str:
    return (
        {"USD": "de dólares", "EUR": "de euros"}.get(cell.currency, "")
        if cell.scale >= 10**6
        else {"USD": "dólares", "EUR": "euros"}.get(cell.currency, "")
    )


def _minus(text: str, rng: random.Random, *, minus: bool, money: bool) -> str:
    if not minus:
        return text
    return rng.choice((f"-{text}", f"({text})", f"−{text}")) if money else f"-{text}"


def _label(cell: Cell) -> str:
    label = cell.label.rstrip(":")
    return label[0].lower() + label[1:] if label[:2] != label[:2].upper() else label


def generate(documents: Sequence[Document], count: int, *, seed: int = 7, wording: str = "a") -> Iterator[Case]:
    """Yield answers, half of them true."""
    rng = random.Random(seed)
    tables = [row for document in documents for row in cells_of(document)]
    by_doc: dict[int, list[list[Cell]]] = {}
    for row in tables:
        by_doc.setdefault(id(row[0].doc), []).append(row)
    made = 0
    while made < count:
        row = rng.choice(tables)
        case = _case(row, by_doc[id(row[0].doc)], rng, wording, true=made % 2 == 0)
        if case is not None:
            made += 1
            yield case


def _case(row: list[Cell], table: list[list[Cell]], rng: random.Random, wording: str, *, true: bool) -> Case | None:
    cell = rng.choice(row)
    lang = str(cell.doc.metadata.get("lang", "en"))
    prior = next((one for one in row if one.year == cell.year - 1), None)
    two = prior is not None and not cell.percent and rng.random() < 0.35 and (cell.value > 0) == (prior.value > 0)
    kind = "" if true else rng.choice(CORRUPTIONS)
    issuer = str(cell.doc.metadata.get("issuer") or "The company").title()
    if kind == "direction" and not two:
        two = prior is not None and not cell.percent and (cell.value > 0) == (prior.value > 0)
    if (kind == "direction" and not two) or (kind == "points" and not cell.percent):
        return None
    if two and prior is not None and cell.value != prior.value:
        return _two(cell, prior, rng, lang, wording, kind, issuer)
    if kind == "direction":
        return None
    return _one(cell, row, table, rng, lang, wording, kind, issuer)


def _one(
    cell: Cell,
    row: list[Cell],
    table: list[list[Cell]],
    rng: random.Random,
    lang: str,
    wording: str,
    kind: str,
    issuer: str,
) -> Case | None:
    figure, notation = write(cell, lang, rng, exact=kind in ("digit",))
    period, label = str(cell.year), _label(cell)
    template = rng.choice((SPANISH if lang == "es" else ENGLISH)[wording])
    if kind in ("digit", "invented", "scale", "sign", "points"):
        changed = corrupt(figure, cell, rng, kind, lang, table)
        if changed is None:
            return None
        figure = changed
    elif kind == "period":
        others = [one.year for one in row if one.year != cell.year and one.value != cell.value]
        period = str(rng.choice([*others, min(one.year for one in row) - rng.randint(1, 6)]))
    elif kind == "entity":
        issuer = rng.choice(NAMES)
        if "{issuer}" not in template:
            return None
    elif kind == "line":
        others = [
            one for each in table for one in each
            if one.year == cell.year and one.label != cell.label and one.percent == cell.percent
            and not _alike(one.label, cell.label)
            and not any(same.value == cell.value and same.label == one.label for line in table for same in line)
            and one.scale == cell.scale
        ]  # fmt: skip
        if not others:
            return None
        label = _label(rng.choice(others))
    if rng.random() < 0.5 and lang == "en" and kind != "period":
        period = rng.choice((f"fiscal {period}", f"FY{period}", f"fiscal year {period}"))
    was = "were" if label.endswith("s") and not label.endswith("ss") else "was"
    answer = template.format(
        issuer=issuer, label=label, label_cap=label[0].upper() + label[1:], x=figure, period=period, was=was
    )
    return Case(answer, (cell.doc,), kind, notation, template, lang)


def _alike(one: str, two: str) -> bool:
    first, second = set(one.lower().split()), set(two.lower().split())
    return first <= second or second <= first


def _two(cell: Cell, prior: Cell, rng: random.Random, lang: str, wording: str, kind: str, issuer: str) -> Case | None:  # noqa: C901  # one branch for each thing that can be wrong
    template = rng.choice((SPANISH_TWO if lang == "es" else ENGLISH_TWO)[wording])
    rises = abs(cell.value) > abs(prior.value)
    if kind == "direction":
        if "{moved}" not in template:
            return None
        rises = not rises
    elif kind in ("points", "line", "entity", "sign"):
        return None
    if cell.value < 0 and "{moved}" in template:
        return None
    moved = rng.choice((UP if rises else DOWN)[lang])
    x, notation = write(cell, lang, rng, exact=True)
    y, _ = write(prior, lang, rng, exact=True)
    period, before = str(cell.year), str(prior.year)
    growth = (abs(cell.value) - abs(prior.value)) / abs(prior.value) * 100
    g = grouped(abs(growth).quantize(Decimal("0.1"), ROUND_HALF_UP), 1, lang) + "%"
    if "{g}" in template and (abs(growth) < 1 or cell.value < 0):
        return None
    if kind == "period":
        if "{y}" not in template:
            return None
        period, before = before, period
        if "earlier" in template or "anterior" in template:
            return None
    elif kind in ("digit", "invented", "scale"):
        if "{x}" not in template:
            return None
        changed = corrupt(x, cell, rng, kind, lang, [[cell, prior]])
        if changed is None:
            return None
        x = changed
    label = _label(cell)
    was = "were" if label.endswith("s") else "was"
    answer = template.format(
        issuer=issuer, label=label, label_cap=label[0].upper() + label[1:], x=x, y=y, period=period, before=before,
        moved=moved, g=g,
        was=was,
    )  # fmt: skip
    return Case(answer, (cell.doc,), kind, notation, template, lang)


def corrupt(figure: str, cell: Cell, rng: random.Random, kind: str, lang: str, table: list[list[Cell]]) -> str | None:  # noqa: C901  # one branch for each thing that can be wrong
    """Return a figure with one thing wrong."""
    digits = [at for at, char in enumerate(figure) if char.isdigit()]
    if kind == "digit":
        significant = [at for at in digits if figure[: at + 1].strip("-−($€ 0.,") or figure[at] != "0"]
        at = rng.choice(significant[: max(1, min(len(significant), 4))])
        other = rng.choice([one for one in "123456789" if one != figure[at]])
        return figure[:at] + other + figure[at + 1 :]
    if kind == "invented":
        known = {str(abs(one.value)) for each in table for one in each}
        for _ in range(20):
            value = Decimal(
                rng.randint(10 ** (len(digits) - 1) if len(digits) > 1 else 1, 10 ** len(digits) - 1)
            ).scaleb(-cell.decimals)
            if str(value) not in known:
                return write(Cell(**{**cell.__dict__, "value": value}), lang, rng, exact=True)[0]
        return None
    if kind == "scale":
        swaps = {
            "million": "billion",
            "billion": "million",
            "thousand": "million",
            "mil millones": "millones",
            "millones": "mil millones",
        }
        for word in ("mil millones", "million", "billion", "thousand", "millones"):
            if word in figure:
                return figure.replace(word, swaps[word])
        if figure.endswith(("M", "B")):
            return figure[:-1] + ("B" if figure.endswith("M") else "M")
        return None
    if kind == "sign":
        if cell.outflow or cell.percent:
            return None
        return write(cell, lang, rng, signed=-abs(cell.value))[0]
    return (
        figure.replace("%", "percentage points" if lang == "en" else "puntos porcentuales").replace(
            "percent ", "percentage points "
        )
        if "%" in figure
        else None
    )


def sample_documents(root: Path) -> list[Document]:
    """Return the sample documents of the project, whole."""
    from fin_rag.loaders import FinancialDocumentLoader

    names = (
        "plwc-10k-2023.htm",
        "plwc-10k-2024.htm",
        "informe-anual-2024-vientalba.md",
        "folleto-albariza-renta-prudente.pdf",
    )
    return [FinancialDocumentLoader(root / "examples" / "data" / name).load()[0] for name in names]


def statement_pages(shared: Path, most: int = 40) -> list[Document]:
    """Return pages of the shared filings that print primary statements, one document a page."""
    from fin_rag.loaders import FinancialDocumentLoader
    from fin_rag.schema import PAGE_MAP, PageMap

    found = []
    for path in sorted((shared / "data" / "financebench" / "pdfs").glob("*10K.pdf"))[:most]:
        document = FinancialDocumentLoader(path).load()[0]
        metadata = {key: value for key, value in document.metadata.items() if key != PAGE_MAP}
        for number, span in PageMap.parse(str(document.metadata[PAGE_MAP])).pages:
            text = span.slice(document.page_content)
            head = text[:500].lower()
            if (
                "consolidated" in head
                and any(
                    w in head
                    for w in (
                        "balance sheet",
                        "statements of income",
                        "statements of operations",
                        "statements of cash flows",
                        "statement of income",
                        "statements of earnings",
                    )
                )
                and sum(c.isdigit() for c in text) > 300
            ):
                found.append(Document(page_content=text, metadata={**metadata, "page": number}))
    return found
