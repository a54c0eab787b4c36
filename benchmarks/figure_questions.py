"""Figure questions generated from the inline facts of the shared filings, answered without a model.

    python benchmarks/figure_questions.py [--count 600] [--shared ../shared] [--seed 3] [--show 10]

Questions are terse, full or wrapped in boilerplate, English and Spanish, about current and prior periods; a quarter of
them asks for something derived (growth, a margin, a fourth quarter); some have no answer (another company, year or line
item). The right value is read from the inline facts themselves, not through the store.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

from fin_rag.answers.asking import Corpus, ask
from fin_rag.facts import FactStore, concept_map
from fin_rag.facts.concepts import Concept
from fin_rag.facts.periods import calendar_of, duration_kind
from fin_rag.loaders import FinancialDocumentLoader
from fin_rag.schema import SourceDocument

Values: TypeAlias = dict[str, dict[tuple[str, str], Decimal]]
ROOT = Path(__file__).resolve().parents[1]
ENGLISH = {
    "terse": "{issuer} {label} {period}",
    "full": "What was {issuer}'s {label} in {period}?",
    "boilerplate": "You are a careful financial analyst. Using only the filings, please tell me: what was the "
    "{label} of {issuer} for {period}? Answer with the figure and its unit.",
}
SPANISH = {
    "terse": "{issuer} {label} {period}",
    "full": "¿Cuál fue {article} de {issuer} en {period}?",
    "boilerplate": "Eres un analista financiero. Basándote solo en los informes, dime por favor: ¿cuál fue "
    "la cifra de {label} de {issuer} en {period}? Responde con la cifra y su unidad.",
}
STRANGERS = ("Norvella Systems", "Quintmar Foods", "Helmsgate Energy", "Bruxton Mills")


@dataclass(frozen=True)
class Asked:
    """A question with its right value; ``None`` has no answer."""

    question: str
    value: Decimal | None
    lang: str
    wording: str
    kind: str
    span_doc: str = ""


def load(shared: Path, most: int) -> list[SourceDocument]:
    """Return the shared filings that hold inline facts."""
    found = []
    folder = Path(tempfile.mkdtemp())
    for path in sorted((shared / "data" / "sec").glob("*10[kq]_html*.html.gz")):
        plain = folder / path.name.removesuffix(".gz")
        plain.write_bytes(gzip.decompress(path.read_bytes()))
        document = FinancialDocumentLoader(plain).load()[0]
        if document.markup.facts and document.metadata.get("cik") and document.metadata.get("issuer"):
            found.append(document)
        if len(found) >= most:
            break
    return found


def truth(document: SourceDocument) -> dict[str, dict[tuple[str, str], Decimal]]:
    """Return the reported totals by line item and period; ambiguous ones are left out."""
    values: dict[str, dict[tuple[str, str], set[Decimal]]] = defaultdict(lambda: defaultdict(set))
    best: dict[tuple[str, str, str], int] = {}
    order = {tag: at for one in concept_map().concepts for at, tag in enumerate(one.tags)}
    for fact in document.markup.facts:
        concept = concept_map().by_tag(fact.concept)
        if concept is None or fact.dimensions or not isinstance(fact.value, Decimal):
            continue
        key = (concept.id, fact.start, fact.end)
        rank = order[fact.concept]
        if rank < best.get(key, 99):
            best[key] = rank
            values[concept.id][fact.start, fact.end] = set()
        if rank == best[key]:
            values[concept.id][fact.start, fact.end].add(fact.value)
    return {
        name: {when: next(iter(v)) for when, v in by.items() if len({abs(x) for x in v}) == 1}
        for name, by in values.items()
    }


def questions(documents: list[SourceDocument], count: int, rng: random.Random) -> list[Asked]:
    """Return questions about the documents."""
    known = {one.id: one for one in concept_map().concepts}
    facts = [(document, truth(document)) for document in documents]
    made: list[Asked] = []
    while len(made) < count:
        document, values = rng.choice(facts)
        ids = [name for name in values if values[name] and name != "effective_tax_rate_reported"]
        if not ids:
            continue
        concept = known[rng.choice(ids)]
        start, end = rng.choice(sorted(values[concept.id]))
        period = name_of(document, start, end)
        if period is None:
            continue
        lang = rng.choice(("en", "es"))
        kind = "derived" if rng.random() < 0.25 else "value"
        none = rng.random() < 0.17
        asked = write(document, values, concept, (start, end), period, lang, rng, kind=kind, none=none)
        if asked is not None:
            made.append(asked)
    return made


def name_of(document: SourceDocument, start: str, end: str) -> str | None:
    """Return the name of a period in the issuer's own calendar."""
    year, close = document.metadata.get("fiscal_year"), str(document.metadata.get("period_end") or "")
    if not isinstance(year, int) or len(close) != 8 or document.metadata.get("fiscal_period", "FY") != "FY":
        return None
    calendar = calendar_of([(f"{close[:4]}-{close[4:6]}-{close[6:]}", year)])
    part = calendar.part_of(start, end)
    label = calendar.year_of(date.fromisoformat(end))
    if not start:
        return f"FY{label}" if part == "Q4" and end[5:] == f"{close[4:6]}-{close[6:]}" else None
    return f"FY{label}" if part == "FY" else None


def write(
    document: SourceDocument,
    values: Values,
    concept: Concept,
    when: tuple[str, str],
    period: str,
    lang: str,
    rng: random.Random,
    *,
    kind: str,
    none: bool,
) -> Asked | None:
    """Write one question."""
    issuer = str(document.metadata["issuer"]).title()
    label = rng.choice([concept.label_en, *concept.names[:3]]) if lang == "en" else concept.label_es
    value = values[concept.id].get(when)
    wording = rng.choice(("terse", "full", "boilerplate"))
    template = (ENGLISH if lang == "en" else SPANISH)[wording]
    if kind == "derived":
        if duration_kind(*when) == "instant" or value is None:
            return None
        year = int(period[2:])
        before = [v for (s, e), v in values[concept.id].items() if name_of(document, s, e) == f"FY{year - 1}"]
        if len(before) != 1 or not before[0] or none or not concept.additive:
            return None
        growth = (value - before[0]) / abs(before[0]) * 100
        question = (
            f"By what percentage did {issuer}'s {concept.label_en} change from FY{year - 1} to FY{year}?"
            if lang == "en"
            else f"¿En qué porcentaje variaron los {concept.label_es} de {issuer} de {year - 1} a {year}?"
        )
        return Asked(question, growth, lang, "full", kind)
    if none:
        change = rng.choice(("company", "year"))
        issuer = rng.choice(STRANGERS) if change == "company" else issuer
        period = f"FY{int(period[2:]) - 14}" if change == "year" else period
        value, kind = None, f"none:{change}"
    article = label
    return Asked(
        template.format(issuer=issuer, label=label, period=period, article=article), value, lang, wording, kind
    )


def right(found: Decimal | None, wanted: Decimal | None) -> bool:
    """Tell whether a value is the right one, or rightly absent."""
    if found is None or wanted is None:
        return found is wanted
    return abs(abs(found) - abs(wanted)) <= abs(wanted) * Decimal("0.0005") + Decimal("0.0000001")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--documents", type=int, default=30)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--show", type=int, default=8)
    parser.add_argument("--no-facts", action="store_true", help="answer from statement rows alone")
    options = parser.parse_args()
    documents = load(options.shared, options.documents)
    store = FactStore.open(tempfile.mkdtemp())
    for document in documents:
        store.add_document(document)
    corpus = Corpus.of(documents)
    total, good, shown = Counter(), Counter(), 0
    routes = Counter()
    started = time.process_time()
    for one in questions(documents, options.count, random.Random(options.seed)):  # noqa: S311  # repeatable
        answer = ask(one.question, corpus, None if options.no_facts else store)
        fine = right(answer.value, one.value)
        routes[answer.route] += 1
        for key in (("all", ""), ("lang", one.lang), ("kind", one.kind), ("wording", one.wording)):
            total[key] += 1
            good[key] += fine
        if not fine and answer.value is not None:
            total["presented wrong", ""] += 1
        if not fine and shown < options.show:
            shown += 1
            print(
                f"[{one.kind}] {one.question}\n"
                f"     wanted {one.value}, got {answer.value} ({answer.route}: {answer.reason[:160]})"
            )
    print(
        json.dumps(
            {
                f"{a} {b}".strip(): f"{good[a, b]}/{total[a, b]} = {good[a, b] / total[a, b]:.3f}"
                for a, b in sorted(total)
            },
            indent=1,
        )
    )
    print(dict(routes), f"{time.process_time() - started:.1f} CPU s, {len(documents)} documents, {len(store)} facts")


if __name__ == "__main__":
    main()
