"""One search: from a question to ranked evidence, under a filter that is resolved already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from fin_rag.index.catalogue import Allowed, StoredChunk
from fin_rag.index.store import FilingIndex, StoredSource
from fin_rag.index.writer import section_words
from fin_rag.query import Lexicon, Library, QueryPlan, Selection, analyse, select_documents
from fin_rag.query.concepts import Concept, concepts_of, search_terms
from fin_rag.query.vocabulary import finder, tokenize
from fin_rag.retrieval.evidence import Evidence, covered_by
from fin_rag.retrieval.fusion import Fused, score_fusion
from fin_rag.retrieval.lines import LineReader, LineScore, Passage, Reading
from fin_rag.retrieval.statements import figures_of, statement_evidence
from fin_rag.retrieval.tables import completed
from fin_rag.schema import CONTEXT_HEADER, DOC_TYPE, KIND, SPANS, parse_spans
from fin_rag.text.words import stems

DENSE: Final = "dense"
KEYWORD: Final = "keyword"
TITLE: Final = "title"
LINE: Final = "line"
STATEMENT: Final = "statement"
PARTS: Final = (DENSE, KEYWORD, TITLE, LINE, STATEMENT, "documents", "terms", "clauses", "comparison", "cleaning")
"""Names of the parts of a search; each can be switched off, which is what the ablation does."""

_POOL: Final = 80  # chunks that are read line by line
_TITLE_WEIGHT: Final = 0.25
_FUSED_SHARE, _COVERAGE_SHARE, _LINE_SHARE = 0.4, 0.25, 0.35
_PLACE_BONUS: Final = 0.12
_YEAR_BONUS: Final = 0.06
_ASIDE_MALUS: Final = 0.2
_RISK_ITEM: Final = "Item 1A"
_SMALL: Final = 150  # characters
_SMALL_MALUS: Final = 0.2
_OPENING_CHUNKS: Final = 3
_MOST_OPENED: Final = 6  # documents
_OPENING_BONUS: Final = 0.25
_SERVING: Final = 2  # results of a clause that answer it well
_ROUTE_AFTER: Final = 3  # chunks before a statement that is a side matter
_MOST_STATEMENT_SOURCES: Final = 3
_ANNUAL_FIRST: Final = ("10-K", "20-F", "40-F", "annual_report", "10-Q", "6-K")


@dataclass(frozen=True, slots=True)
class Unit:
    """Hold one sub-search: its text, the documents it is about, and the form of its answer."""

    text: str
    documents: tuple[int, ...]
    shape: str


@dataclass(slots=True)
class Found:
    """Hold what a search found: the plan, the documents chosen, evidence best first, and items of statements."""

    plan: QueryPlan
    selection: Selection
    evidence: list[Evidence] = field(default_factory=list)
    items: dict[str, tuple[str, ...]] = field(default_factory=dict)


class Searcher:
    """Search one index; it holds nothing that a search changes, so threads may share it."""

    def __init__(
        self, index: FilingIndex, *, weights: tuple[float, float], without: Sequence[str], lexicon: Lexicon | None
    ) -> None:
        self._index = index
        self._weights = weights
        self._off = frozenset(without)
        self._lexicon = lexicon

    def plan(self, question: str, library: Library, visible: Allowed) -> QueryPlan:
        """Return the plan of a question; words are looked up in what is ``visible`` to the session alone."""
        return analyse(question, library, lexicon=self._lexicon, occurs=lambda word: self._index.occurs(word, visible))

    def search(self, question: str, library: Library, allowed: Allowed, visible: Allowed) -> Found:
        """Return evidence for a question, best first."""
        plan = self.plan(question, library, visible)
        selection = select_documents(plan, library, allowed.documents)
        found = Found(plan, selection)
        if selection.empty:
            return found
        if "documents" in self._off:
            selection.weights = dict.fromkeys(allowed.documents, 1.0)
            selection.groups = ()
        units = self._units(plan, selection)
        ranked = [self._unit(plan, selection, unit, allowed, number) for number, unit in enumerate(units)]
        chunks = _merged(ranked, interleaved=bool(self._groups(selection)))
        found.evidence = completed(chunks, self._index.chunks_of)
        if STATEMENT not in self._off:
            self._add_statements(found)
        return found

    def _groups(self, selection: Selection) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return () if "comparison" in self._off else selection.groups

    def _units(self, plan: QueryPlan, selection: Selection) -> list[Unit]:
        """Return the sub-searches: one a group, or the question and each of its clauses."""
        text = plan.search if "cleaning" not in self._off and plan.search else plan.question
        documents = tuple(sorted(selection.weights))
        groups = self._groups(selection)
        if groups:
            return [Unit(text, numbers, plan.shape) for _, numbers in groups]
        clauses = () if "clauses" in self._off else plan.clauses
        # The first clause asks for the answer's form; one behind it ("and is it included …?") for words.
        shapes = (plan.shape, *("text" for _ in clauses[1:]))
        return [
            Unit(text, documents, plan.shape),
            *(Unit(clause, documents, shape) for clause, shape in zip(clauses, shapes, strict=False)),
        ]

    # --- chunks ----------------------------------------------------------------------------------

    def _unit(self, plan: QueryPlan, selection: Selection, unit: Unit, allowed: Allowed, number: int) -> list[Evidence]:
        text = unit.text
        scope = self._index.narrow(allowed, unit.documents)
        concepts = concepts_of(text, plan)
        hits = self._fused(plan, text, concepts, scope)[:_POOL]
        opening = self._opening(plan, scope) if TITLE not in self._off else {}
        known = {hit.row for hit in hits}
        hits += [Fused(row, 0.0, {}, {}) for row in opening if row not in known]
        stored = self._index.stored_chunks(hit.row for hit in hits)
        hits = [hit for hit in hits if hit.row in stored]
        sources = self._index.sources({stored[hit.row].doc for hit in hits})
        hits = [hit for hit in hits if stored[hit.row].doc in sources]
        evidence = [self._evidence(hit, stored[hit.row], sources[stored[hit.row].doc], number) for hit in hits]
        readings = self._readings(plan, unit.shape, concepts, evidence)
        for one, hit, reading in zip(evidence, hits, readings, strict=True):
            weight = min(selection.weights.get(one.source.doc, 1.0), 1.2)
            one.reading = reading
            one.score = _score(hit, reading) * weight if reading else hit.score * weight
            place = _place_bonus(plan, one) if TITLE not in self._off else 0.0
            one.score -= _smallness(one)
            if hit.row in opening:
                one.score += _OPENING_BONUS
                one.found_by["opening"] = f"of {opening[hit.row]}"
            one.score -= _aside(plan, one)
            if place:
                one.score += place
                one.found_by["section"] = str(one.metadata.get("item") or one.metadata.get("section_path"))
            if reading and reading.line > 0:
                one.found_by[LINE] = f"{reading.line:.2f} in one line" + (", under its name" if reading.label else "")
        evidence.sort(key=lambda one: (-one.score, one.row))
        return evidence

    def _fused(self, plan: QueryPlan, text: str, concepts: Sequence[Concept], scope: Allowed) -> list[Fused]:
        terms = {} if "terms" in self._off else search_terms(concepts, text)
        dense, keyword = self._shifted(plan)
        runs: dict[str, list[tuple[int, float]]] = {}
        words = " ".join([text, *plan.identifiers])
        if DENSE not in self._off and dense > 0:
            runs[DENSE] = self._index.dense_search(text, _POOL, scope)
        if KEYWORD not in self._off and keyword > 0:
            runs[KEYWORD] = self._index.keyword_search(words, _POOL, scope, terms=terms)
        if TITLE not in self._off:
            titles = {title: 0.6 for topic in plan.topics for title in topic.titles}
            runs[TITLE] = self._index.title_search(" ".join([text, *plan.items]), _POOL, scope, terms=titles)
        return score_fusion(runs, {DENSE: dense, KEYWORD: keyword, TITLE: _TITLE_WEIGHT})

    def _opening(self, plan: QueryPlan, scope: Allowed) -> dict[int, str]:
        """Return the first chunks of the Items that open with what a topic asks for: what the company is and does."""
        items = {item for topic in plan.topics if topic.opening for item in topic.items}
        if not items or len(scope.documents) > _MOST_OPENED:
            return {}
        found: dict[int, str] = {}
        inside = set(scope.rows.tolist())
        annual = [d for d in scope.documents if self._index.document_type(d) == "10-K"]
        for document in annual:
            rows = [c for c in self._index.chunks_of(document) if c.metadata.get("item") in items and c.row in inside]
            seen: dict[str, int] = {}
            for chunk in rows:
                item = str(chunk.metadata["item"])
                seen[item] = seen.get(item, 0) + 1
                if seen[item] <= _OPENING_CHUNKS:
                    found[chunk.row] = item
        return found

    def _shifted(self, plan: QueryPlan) -> tuple[float, float]:
        """Move weight to words where the question holds exact identifiers."""
        dense, keyword = self._weights
        moved = dense * 0.5 if plan.identifiers and keyword > 0 else 0.0
        return dense - moved, keyword + moved

    def _evidence(self, hit: Fused, chunk: StoredChunk, source: StoredSource, unit: int) -> Evidence:
        spans = parse_spans(str(chunk.metadata[SPANS]))
        found = {name: f"rank {hit.ranks[name]} ({hit.scores[name]:.3f})" for name in sorted(hit.ranks)}
        return Evidence(source, spans, chunk.metadata, chunk.chunk_id, hit.score, found, unit, row=hit.row)

    def _readings(
        self, plan: QueryPlan, shape: str, concepts: Sequence[Concept], evidence: Sequence[Evidence]
    ) -> list[Reading | None]:
        if LINE in self._off or not evidence:
            return [None] * len(evidence)
        passages = [Passage(str(one.metadata.get(CONTEXT_HEADER, "")), one.source.text, one.spans) for one in evidence]
        growth = plan.growth and bool(plan.metrics)
        years = sorted(set(plan.years()) | ({year - 1 for year in plan.years()} if growth else set()))
        printed = _printed(plan)
        reader = LineReader(concepts, passages, shape=shape, years=years, growth=growth, printed=printed)
        return list(reader.read())

    # --- statements --------------------------------------------------------------------------------

    def _add_statements(self, found: Found) -> None:
        """Put statements in front where the question is about their figures, else behind the first chunks."""
        plan, selection = found.plan, found.selection
        if not plan.metrics and not plan.statements:
            return
        first = bool(plan.statements) or (_printed(plan) and not plan.breakdown and not plan.adjusted)
        groups = [numbers for _, numbers in self._groups(selection)] or [tuple(selection.weights)]
        added = []
        for unit, numbers in enumerate(groups):
            best = sorted(numbers, key=lambda doc: -selection.weights.get(doc, 0.0))[: 4 * _MOST_STATEMENT_SOURCES]
            sources = self._index.sources(best)
            ordered = sorted(
                sources.values(),
                key=lambda s: (-round(selection.weights.get(s.doc, 0.0), 2), _annual_rank(s), -_moment(s), s.doc),
            )[:_MOST_STATEMENT_SOURCES]
            chunks: dict[int, Sequence[StoredChunk]] = {
                s.doc: self._index.chunks_of(s.doc) for s in ordered if s.statements
            }
            for evidence, items in statement_evidence(plan, [s for s in ordered if s.doc in chunks], chunks):
                evidence.unit = unit
                if plan.growth and items and max(figures_of(evidence, item) for item in items) < 2:
                    first = bool(plan.statements)  # a change cannot be read from one column
                found.items[evidence.identity] = items
                added.append(evidence)
        _insert(found, added, first=first)


def _annual_rank(source: StoredSource) -> int:
    kind = str(source.metadata.get("doc_type", ""))
    return _ANNUAL_FIRST.index(kind) if kind in _ANNUAL_FIRST else len(_ANNUAL_FIRST)


def _moment(source: StoredSource) -> int:
    for key in ("filed", "period_end"):
        value = source.metadata.get(key)
        if isinstance(value, int):
            return value
    year = source.metadata.get("fiscal_year")
    return year * 10_000 if isinstance(year, int) else 0


def _insert(found: Found, added: Sequence[Evidence], *, first: bool) -> None:
    """Insert statements among chunks and drop the chunks that they contain, as their children."""
    chunks = []
    for chunk in found.evidence:
        outer = next((one for one in added if covered_by(chunk, one)), None)
        if outer is None:
            chunks.append(chunk)
        else:
            outer.children.append(chunk.identity)
            outer.found_by |= {name: why for name, why in chunk.found_by.items() if name not in outer.found_by}
    reported = next((i + 1 for i, chunk in enumerate(chunks[:_ROUTE_AFTER]) if _reports_ratio(found.plan, chunk)), 0)
    at = reported if first else min(_ROUTE_AFTER, len(chunks))
    for one in added:
        one.score = max((c.score for c in chunks[at:]), default=0.5) if not first else 1.0
    found.evidence = [*chunks[:at], *added, *chunks[at:]]


def _printed(plan: QueryPlan) -> bool:
    """Tell whether a figure that is printed is asked for, and no reason or forecast."""
    return plan.shape not in ("reason", "definition") and not plan.forward


def _reports_ratio(plan: QueryPlan, chunk: Evidence) -> bool:
    """Tell whether a chunk prints, under its very name, a measure that else has to be computed."""
    computed = any(metric.formula for metric in plan.metrics)
    return computed and not plan.statements and chunk.reading is not None and chunk.reading.label


def _aside(plan: QueryPlan, one: Evidence) -> float:
    """Return what a chunk loses by standing where things are defined or disclaimed, or only feared."""
    asides = finder("asides")
    if asides.has(tokenize(section_words(one.metadata))) and not asides.has(tokenize(plan.question)):
        return _ASIDE_MALUS
    risks = one.metadata.get("item") == _RISK_ITEM and plan.periods and not plan.forward
    return _ASIDE_MALUS / 2 if risks and not any(_RISK_ITEM in topic.items for topic in plan.topics) else 0.0


def _numbered_alike(item: str, doc_type: str) -> bool:
    """Tell whether a form numbers its Items as topics name them: as a 10-K does, or an 8-K its events."""
    return doc_type == "10-K" or ("." in item and doc_type == "8-K")


def _place_bonus(plan: QueryPlan, one: Evidence) -> float:
    """Return what a chunk gains by standing in a section where a topic of the question has its place."""
    item = str(one.metadata.get("item", ""))
    path = frozenset(stems(section_words(one.metadata)))
    bonus = 0.0
    for topic in plan.topics:
        if item and item in topic.items and _numbered_alike(item, str(one.source.metadata.get(DOC_TYPE))):
            bonus = max(bonus, _PLACE_BONUS)
        elif any(set(stems(title)) <= path for title in topic.titles if stems(title)):
            bonus = max(bonus, _PLACE_BONUS * 0.75)
    return bonus


def _score(hit: Fused, reading: Reading) -> float:
    found = _FUSED_SHARE * hit.score + _COVERAGE_SHARE * reading.coverage + _LINE_SHARE * reading.line
    return found + _YEAR_BONUS * reading.years


def _smallness(one: Evidence) -> float:
    """Return what a bare line of prose loses: a heading without its text answers nothing."""
    if one.metadata.get(KIND) in ("note", "table") or one.size >= _SMALL:
        return 0.0
    return _SMALL_MALUS * (1 - one.size / _SMALL)


def _merged(ranked: Sequence[list[Evidence]], *, interleaved: bool) -> list[Evidence]:
    """Bring the results of sub-searches into one list.

    Groups take turns. A question with clauses gives its best, then the best of each clause, then the rest of its own.
    """
    if interleaved:
        order = [
            unit[place] for place in range(max(map(len, ranked), default=0)) for unit in ranked if place < len(unit)
        ]
    else:
        main, clauses = ranked[0], ranked[1:]
        order = [
            *main[:1],
            *(unit[0] for unit in clauses if unit),
            *main[1:],
            *(o for unit in clauses for o in unit[1:2]),
        ]
    unique: dict[str, Evidence] = {}
    for one in order:
        unique.setdefault(one.identity, one)
    if not interleaved:
        for clause in ranked[1:]:
            for one in clause[:_SERVING]:
                _serve(unique[one.identity], one)
    return list(unique.values())


def _serve(kept: Evidence, other: Evidence) -> None:
    """Note that evidence answers another clause well: its lines count for both."""
    if kept is other or kept.reading is None or other.reading is None:
        return
    kept.serves += 1
    lines = zip(kept.reading.lines, other.reading.lines, strict=True)
    kept.reading = replace(
        kept.reading,
        lines=tuple(LineScore(a.span, max(a.score, b.score)) for a, b in lines),
        label=kept.reading.label or other.reading.label,
    )


def explained(found: Found) -> Mapping[str, object]:
    """Return plan, documents and reasons as plain data."""
    return {
        "plan": found.plan.as_dict(),
        "documents": {str(doc): round(weight, 3) for doc, weight in sorted(found.selection.weights.items())},
        "groups": [[name, list(numbers)] for name, numbers in found.selection.groups],
        "reasons": [*found.plan.reasons, *found.selection.reasons],
        "backed_off": list(found.selection.backed_off),
        "empty": found.selection.empty,
    }
