"""``ask``: answer a question without a model, from facts or statement rows; else show evidence, or say why not.

Routes: ``facts`` (a reported figure), ``facts+code`` (a ratio or a change over reported figures), ``statements`` and
``statements+code`` (the same from the rows of statements, for issuers without XBRL), ``evidence`` (reasons, policy,
risk: text), ``none`` (nothing in the store is about the issuer, period or line item).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from langchain_core.documents import Document

from fin_rag.answers.abstain import abstention_reason
from fin_rag.answers.claims import company_names
from fin_rag.answers.compute import Source, compute
from fin_rag.answers.guard import NO_DISPONIBLE, unavailable
from fin_rag.answers.labels import vocabulary_words
from fin_rag.answers.questions import FigureQuestion, read_question
from fin_rag.answers.statementvalues import StatementValues
from fin_rag.answers.when import read_periods
from fin_rag.answers.wording import figure_sentence
from fin_rag.errors import InputError, NotFoundError
from fin_rag.facts.concepts import name_key
from fin_rag.facts.periods import FiscalPeriod
from fin_rag.facts.view import FactView
from fin_rag.query import Library, QueryPlan, Selection, analyse, select_documents
from fin_rag.schema import CIK, DOC_ID, DOC_TYPE, FILED, ISSUER, TICKER, SourceDocument

if TYPE_CHECKING:
    from fin_rag.facts.store import FactStore, PointInTime

FACTS: Final = "facts"
STATEMENTS: Final = "statements"
EVIDENCE: Final = "evidence"
NONE: Final = "none"
_CODE: Final = "+code"
_MOST_DOCUMENTS: Final = 6


@dataclass(frozen=True, slots=True)
class Answered:
    """Hold an answer: its text, the route by which it was found and why, the value, and what it rests on.

    ``value`` is in base units (a share in per cent); ``sources`` are facts or places in documents, as JSON values;
    ``documents`` is the evidence of the text route. ``certain`` is false where figures of statements were read
    without all that would settle them.
    """

    text: str
    route: str
    reason: str
    value: Decimal | None = None
    unit: str = ""
    sources: tuple[dict[str, object], ...] = ()
    documents: tuple[Document, ...] = ()
    plan: QueryPlan | None = None
    certain: bool = True

    @property
    def found(self) -> bool:
        """Tell whether there is an answer or evidence."""
        return self.route != NONE

    def record(self) -> dict[str, object]:
        """Return the answer as plain JSON values."""
        return {
            "answer": self.text, "route": self.route, "reason": self.reason,
            "value": None if self.value is None else f"{self.value:f}", "unit": self.unit,
            "sources": list(self.sources),
            "certain": self.certain,
            "evidence": [{"text": one.page_content, "metadata": one.metadata} for one in self.documents],
        }  # fmt: skip


@dataclass(slots=True)
class Corpus:
    """Give the documents that questions are answered from: metadata in order, and a way to their text.

    ``text_of`` returns a document's canonical text with its metadata (a page map may be among them) by its number.
    """

    metadata: Sequence[Mapping[str, object]]
    text_of: Callable[[int], Document]
    search: Callable[[str], list[Document]] | None = None
    _values: dict[int, StatementValues] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Sequence[Document], search: Callable[[str], list[Document]] | None = None) -> Corpus:
        """Make a corpus of whole documents."""
        return cls([one.metadata for one in documents], lambda number: documents[number], search)

    @classmethod
    def of_index(cls, index: Any, **settings: Any) -> Corpus:  # noqa: ANN401  # FilingIndex; retrieval is its own
        """Make a corpus of a ``FilingIndex``; ``settings`` (``as_of``, ``filter``, ``session_id``, ``k``) limit it."""
        session = settings.get("session_id")
        listed = index.documents(settings.get("filter"), session_id=session)
        limit = _day_number(settings.get("as_of"))
        listed = [one for one in listed if limit is None or (one.get(FILED) and int(str(one[FILED])) <= limit)]
        retriever = index.retriever(**{key: value for key, value in settings.items() if value is not None})

        def text_of(number: int) -> Document:
            name = str(listed[number][DOC_ID])
            return Document(page_content=index.text(name, session_id=session), metadata=dict(listed[number]))

        return cls(listed, text_of, retriever.invoke)

    def values(self, number: int) -> StatementValues:
        """Return the statement values of a document, read once."""
        if number not in self._values:
            document = self.text_of(number)
            markup = document.markup if isinstance(document, SourceDocument) else None
            self._values[number] = StatementValues(document.page_content, document.metadata, markup=markup)
        return self._values[number]


def ask(
    question: str,
    corpus: Corpus | Sequence[Document],
    facts: FactStore | None = None,
    *,
    as_of: PointInTime = None,
    unavailable_text: str = NO_DISPONIBLE,
) -> Answered:
    r"""Answer a question without a model.

    Args:
        question: in English or Spanish.
        corpus: the documents, or a ``Corpus`` (``Corpus.of_index(index)``).
        facts: reported facts; they are asked first.
        as_of: the point in time that facts are limited to; the corpus is limited where it is made.
        unavailable_text: the wording where there is no answer; ``{reason}`` in it is filled in.

    Example:
        >>> text = "CONSOLIDATED BALANCE SHEETS\n(in thousands)\n| | December 31, 2024 |\n|---|---|\n"
        >>> text += "| Cash | $1,200 |\n"
        >>> text += "| Inventories | 300 |\n| Total assets | $1,500 |\n| Total liabilities | 400 |\n"
        >>> text += "| Shareholders' equity | 1,100 |\n"
        >>> about = {"issuer": "Acme, Inc.", "fiscal_year": 2024, "period_end": 20241231}
        >>> filing = Document(page_content=text, metadata=about)
        >>> ask("What were Acme's total assets in FY2024?", [filing]).text
        'Total assets of Acme, Inc. (FY2024): $1.5 million [1]'
    """
    held = corpus if isinstance(corpus, Corpus) else Corpus.of(corpus)
    view = FactView(facts, as_of) if facts is not None else None
    return _Asker(held, view, unavailable_text).answer(question)


class _Asker:
    def __init__(self, corpus: Corpus, facts: FactView | None, wording: str) -> None:
        self._corpus = corpus
        self._facts = facts
        self._wording = wording

    def answer(self, question: str) -> Answered:
        library = Library(list(enumerate(self._all_metadata())))
        plan = analyse(question, library)
        chosen = select_documents(plan, library, library.documents)
        missing = plan.missing or _strangers(question, library)
        if missing and not plan.mentions:
            return self._none(plan, f"no filing of {', '.join(missing)} in the store")
        asked = read_question(question)
        if asked is None or (plan.shape in ("reason", "text", "name", "yes_no") and not asked.periods):
            return self._evidence(question, plan, "the question asks for text, not for a figure")
        issuer = self._issuer(plan, library)
        reasons: list[str] = []
        if self._facts is not None:
            for name in self._fact_issuers(plan, library, chosen):
                done = self._by_facts(asked, name, plan, reasons)
                if done is not None:
                    return done
        done = self._by_statements(asked, plan, chosen, issuer, reasons)
        if done is not None:
            return done
        return self._evidence(
            question, plan, "; ".join(dict.fromkeys(reasons)) or "no statement gives the figure", figure=True
        )

    def _all_metadata(self) -> list[Mapping[str, object]]:
        """Return the documents, and the issuers of facts that no document is of."""
        listed = list(self._corpus.metadata)
        if self._facts is not None:
            known = {str(one.get(CIK) or one.get(TICKER) or "") for one in listed}
            for issuer in self._facts.store.issuers():
                if not {issuer.cik, issuer.ticker} & known:
                    names = {ISSUER: issuer.name or issuer.ticker, TICKER: issuer.ticker, CIK: issuer.cik}
                    listed.append({key: value for key, value in names.items() if value})
        return listed

    def _issuer(self, plan: QueryPlan, library: Library) -> str:
        keys = [key for mention in plan.mentions for key in mention.entities]
        return keys[0] if keys else next(iter(library.entities), "") if len(library.entities) == 1 else ""

    def _fact_issuers(self, plan: QueryPlan, library: Library, chosen: Selection) -> list[str]:
        listed = self._all_metadata()
        keys = [key for mention in plan.mentions for key in mention.entities]
        numbers = library.documents_of(keys) if keys else set(chosen.weights) if len(library.entities) == 1 else set()
        names: list[str] = []
        for number in sorted(numbers):
            names += [str(listed[number][key]) for key in (CIK, TICKER, ISSUER) if listed[number].get(key)]
        return list(dict.fromkeys(names))

    # --- routes -------------------------------------------------------------------------------

    def _by_facts(self, asked: FigureQuestion, issuer: str, plan: QueryPlan, reasons: list[str]) -> Answered | None:
        view = self._facts
        if view is None or not asked.periods:
            return None
        try:
            label = view.issuer(issuer).name or view.issuer(issuer).label
        except NotFoundError:
            return None

        def value_of(concept: str, period: FiscalPeriod, shift: int) -> Source | None:
            wanted = FiscalPeriod(period.year + shift, period.part)
            try:
                found = view.lookup(issuer, concept, wanted)
            except NotFoundError:
                return None
            except InputError as error:  # several units, none of which is the issuer's own
                reasons.append(str(error))
                return None
            if found.fact is None:
                reasons.append(found.reason)
                return None
            fact = found.fact
            return Source(fact.value, fact.unit, fact.record(), concept, fact.derived)

        done = compute(asked, value_of)
        if done.value is None:
            return None
        route = FACTS + (_CODE if done.code else "")
        text = figure_sentence(asked, done, label, plan.lang)
        return Answered(text, route, f"reported facts of {label}", done.value, done.unit, done.records(), plan=plan)

    def _by_statements(
        self, asked: FigureQuestion, plan: QueryPlan, chosen: Selection, issuer: str, reasons: list[str]
    ) -> Answered | None:
        if not asked.periods or not issuer:
            return None
        numbers = [one for one in chosen.weights if one < len(self._corpus.metadata)]
        ordered = sorted(numbers, key=lambda one: (-chosen.weights[one], one))[:_MOST_DOCUMENTS]
        for number in ordered:
            metadata = self._corpus.metadata[number]
            values = self._corpus.values(number)
            done = compute(asked, _statement_reader(values, metadata))
            if done.value is None:
                reasons.append(
                    f"{metadata.get(DOC_TYPE) or 'document'} {metadata.get(DOC_ID) or ''}: {done.reason}".replace(
                        "  ", " "
                    )
                )
                continue
            name = str(metadata.get(ISSUER) or issuer)
            route = STATEMENTS + (_CODE if done.code else "")
            reason = f"statement rows of {metadata.get(DOC_ID) or metadata.get('source') or name}"
            text = figure_sentence(asked, done, name, plan.lang)
            return Answered(text, route, reason, done.value, done.unit, done.records(), plan=plan, certain=done.certain)
        return None

    def _evidence(self, question: str, plan: QueryPlan, reason: str, *, figure: bool = False) -> Answered:
        documents = self._corpus.search(question) if self._corpus.search is not None else []
        if not documents:
            return self._none(plan, reason)
        why = abstention_reason(question, documents)
        if why:
            return self._none(plan, f"{reason}; {why}" if figure else why)
        return Answered("", EVIDENCE, reason, documents=tuple(documents), plan=plan)

    def _none(self, plan: QueryPlan, reason: str) -> Answered:
        return Answered(unavailable(self._wording, reason), NONE, reason, plan=plan)


def _strangers(question: str, library: Library) -> tuple[str, ...]:
    """Return the names in a question that stand where companies stand and that no issuer has."""
    known = {word for entity in library.entities.values() for name in entity.names for word in name}
    known |= {ticker.lower() for entity in library.entities.values() for ticker in entity.tickers}
    found = []
    for name, subject in company_names(question):
        said = name_key(name).split()
        if subject and said and not read_periods(name) and not set(said) & (known | vocabulary_words()):
            found.append(name)
    return tuple(found)


def _statement_reader(
    values: StatementValues, metadata: Mapping[str, object]
) -> Callable[[str, FiscalPeriod, int], Source | None]:
    def value_of(concept: str, period: FiscalPeriod, shift: int) -> Source | None:
        found = values.value(concept, period, shift)
        if found is None:
            return None
        record: dict[str, object] = {
            "doc_id": metadata.get(DOC_ID) or "", "span": [found.span.start, found.span.end], "label": found.label,
            "statement": found.statement, "period_end": found.period_end, "value": f"{found.value:f}",
            "concept": concept,
        }  # fmt: skip
        return Source(found.value, found.currency, record, concept)

    return value_of


def _day_number(day: object) -> int | None:
    return None if day is None or day == "" else int(str(day).replace("-", "")[:8])
