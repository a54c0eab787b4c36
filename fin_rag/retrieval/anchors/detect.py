"""The detectors: what each says of every passage of the pool, and what it found, in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from fin_rag.index.view import DocumentView
from fin_rag.retrieval.anchors.lines import coverage, score_lines, split_lines
from fin_rag.retrieval.anchors.model import (
    CHUNK_EMBEDDINGS,
    CONTENT_KEYWORDS,
    DETECTORS,
    SHAPES,
    STATEMENT_ROWS,
    TITLE_EMBEDDINGS,
    TITLE_KEYWORDS,
    Hit,
    Passage,
    Plan,
)
from fin_rag.retrieval.anchors.pool import Pool, Titles
from fin_rag.retrieval.anchors.rows import statement_rows
from fin_rag.retrieval.lexical import pool_scores, rarity, text_terms
from fin_rag.schema import Section, Span

_HITS: Final = 12  # that a detector notes
_SECTIONS: Final = 6  # that are searched for themselves
_IN_A_SECTION: Final = 3
_LONGEST_LINE: Final = 2000  # code points of a line that patterns are tried on
_NEAR_TITLE: Final = 0.5  # cosine from which a title fits as well as any
_LINE_SHARE: Final = 0.5  # of the content score is the best line, the rest the passage


class Detection:
    """Run the detectors for one question over a pool, and keep what they found.

    Args:
        pool: the passages, already searched once.
        plan: what to look for.
        titles: the sections of the documents at hand.
        detectors: the names of those to run.
    """

    def __init__(self, pool: Pool, plan: Plan, titles: Titles, detectors: Collection[str]) -> None:
        self.pool = pool
        self.plan = plan
        self.hits: list[Hit] = []
        self.sections: list[tuple[DocumentView, Section, float]] = []
        self._detectors = detectors
        self.names = [name for name in DETECTORS if name in detectors]
        self._title_scores(titles)
        self._search_sections()
        self._find_rows()
        for passage in self.passages:
            passage.bag = Counter(text_terms(passage.text))
            passage.held = plan.held_in(frozenset(passage.bag))
        self.weights = term_weights(plan.terms, [passage.held for passage in self.passages])
        self._score_titles_of_passages()
        self._score_content()
        self._score_meaning()

    @property
    def passages(self) -> list[Passage]:
        """Return the passages of the pool by row."""
        return [self.pool.passages[row] for row in sorted(self.pool.passages)]

    def coverage(self, passage: Passage) -> float:
        """Return the share of the weight of the question's terms that a passage holds."""
        return coverage(passage.held, self.weights)

    # --- titles -------------------------------------------------------------------------------

    def _title_scores(self, titles: Titles) -> None:
        self._by_section: dict[str, dict[tuple[str, str], float]] = {TITLE_KEYWORDS: {}, TITLE_EMBEDDINGS: {}}
        if TITLE_KEYWORDS in self._detectors:
            scored = titles.by_words(self.plan)
            self._keep_titles(TITLE_KEYWORDS, titles, [score for score, _ in scored], [words for _, words in scored])
        if TITLE_EMBEDDINGS in self._detectors and titles.entries:
            cosines = titles.by_meaning(self.pool.vector)
            low, high = sorted(cosines)[len(cosines) // 2], max(*cosines, _NEAR_TITLE)
            # What is no nearer than the middle of all titles is no hit.
            scaled = [max(cosine - low, 0.0) / (high - low) if high > low else 0.0 for cosine in cosines]
            self._keep_titles(TITLE_EMBEDDINGS, titles, scaled, [f"cosine {cosine:.3f}" for cosine in cosines])

    def _keep_titles(self, name: str, titles: Titles, scores: Sequence[float], evidence: Sequence[str]) -> None:
        for (view, section), score in zip(titles.entries, scores, strict=True):
            if score > 0:
                self._by_section[name][view.doc_id, section.section_id] = score
        best = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:_HITS]
        for i in best:
            view, section = titles.entries[i]
            if scores[i] > 0:
                said = f"title {section.title!r}: {evidence[i]}"
                self.hits.append(Hit(name, view.doc_id, section.span, scores[i], said, section.section_id))
        combined = self._combined(titles)
        top = sorted(range(len(combined)), key=lambda i: (-combined[i], i))[:_SECTIONS]
        self.sections = [(*titles.entries[i], combined[i]) for i in top if combined[i] > 0]

    def _combined(self, titles: Titles) -> list[float]:
        words, meaning = self._by_section[TITLE_KEYWORDS], self._by_section[TITLE_EMBEDDINGS]
        keys = [(view.doc_id, section.section_id) for view, section in titles.entries]
        return [words.get(key, 0.0) + meaning.get(key, 0.0) for key in keys]

    def _search_sections(self) -> None:
        """Look inside the sections whose titles speak for themselves, whatever the searches over all found."""
        for view, section, _ in self.sections:
            allowed = self.pool.within(section, view)
            if len(allowed.rows):
                self.pool.search(_IN_A_SECTION, allowed)

    def _find_rows(self) -> None:
        """Look up the rows that print what a metric is made of, in the documents at hand."""
        if STATEMENT_ROWS not in self._detectors:
            return
        views = {view.number: view for view in self.pool.documents()}
        found = list(statement_rows(self.plan.query, self.pool.statements(views)))
        for number, view in views.items():
            own = [hit for hit in found if hit.doc == number]
            for hit, row in zip(own, self.pool.at(view, [hit.span for hit in own]) if own else (), strict=True):
                if row is None:
                    continue
                passage = self.pool.passages[row]
                passage.scores[STATEMENT_ROWS] = max(passage.score(STATEMENT_ROWS), hit.score)
                section_id = passage.section.section_id if passage.section else ""
                said = f"row {hit.label!r} of the {hit.statement_type} statement prints {hit.item}"
                self.hits.append(Hit(STATEMENT_ROWS, view.doc_id, hit.span, hit.score, said, section_id))
        self._cut(STATEMENT_ROWS)

    def _score_titles_of_passages(self) -> None:
        for name, scores in self._by_section.items():
            for passage in self.passages:
                around = [s for s in passage.view.sections if s.span.contains(passage.body)]
                best = max((scores.get((passage.view.doc_id, s.section_id), 0.0) for s in around), default=0.0)
                if best:
                    passage.scores[name] = best

    # --- content ------------------------------------------------------------------------------

    def _score_content(self) -> None:
        passages = self.passages
        whole = pool_scores(self.plan.search, [], [passage.bag for passage in passages])
        best = max(whole, default=0.0) or 1.0
        for passage, score in zip(passages, whole, strict=True):
            lines = split_lines(passage.view.text, passage.body)
            scored = score_lines(passage.view.text, lines, self.weights, self.plan.held)
            shaped = self._shaped(passage.view.text, lines)
            values = [one.score * (1.25 if line in shaped else 1.0) for one, line in zip(scored, lines, strict=True)]
            at = max(range(len(lines)), key=lambda i: (values[i], -i), default=None)
            if at is None:
                continue
            passage.anchor = lines[at]
            passage.evidence = ", ".join(scored[at].terms)
            if CONTENT_KEYWORDS in self._detectors:
                passage.scores[CONTENT_KEYWORDS] = _LINE_SHARE * scored[at].score + (1 - _LINE_SHARE) * score / best
            if SHAPES in self._detectors:
                found = [(one.score, shaped[line]) for one, line in zip(scored, lines, strict=True) if line in shaped]
                share, names = max(found, default=(0.0, ""))
                if share > 0:
                    passage.scores[SHAPES] = share
                    self._note(SHAPES, passage, share, names)
            if passage.score(CONTENT_KEYWORDS) > 0:
                self._note(CONTENT_KEYWORDS, passage, passage.score(CONTENT_KEYWORDS), passage.evidence)
        self._cut(CONTENT_KEYWORDS)
        self._cut(SHAPES)

    def _shaped(self, text: str, lines: Sequence[Span]) -> dict[Span, str]:
        """Return the lines that hold a shape or a pattern of the plan, with the names of those."""
        patterns = {**self.plan.shapes, **self.plan.patterns}
        if SHAPES not in self._detectors or not patterns:
            return {}
        compiled = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}
        found: dict[Span, str] = {}
        for line in lines:
            end = min(line.end, line.start + _LONGEST_LINE)
            names = [name for name, pattern in compiled.items() if pattern.search(text, line.start, end)]
            if names:
                found[line] = ", ".join(names)
        return found

    def _score_meaning(self) -> None:
        if CHUNK_EMBEDDINGS not in self._detectors:
            return
        cosines = self.pool.cosines
        low, high = min(cosines.values(), default=0.0), max(cosines.values(), default=0.0)
        for row, passage in self.pool.passages.items():
            score = (cosines[row] - low) / (high - low) if high > low else 1.0
            if score > 0:
                passage.scores[CHUNK_EMBEDDINGS] = score
                self._note(CHUNK_EMBEDDINGS, passage, score, f"cosine {cosines[row]:.3f}")
        self._cut(CHUNK_EMBEDDINGS)

    # --- notes --------------------------------------------------------------------------------

    def _note(self, name: str, passage: Passage, score: float, evidence: str) -> None:
        section_id = passage.section.section_id if passage.section else ""
        span = passage.anchor if passage.anchor is not None and name != CHUNK_EMBEDDINGS else passage.body
        self.hits.append(Hit(name, passage.view.doc_id, span, score, evidence, section_id))

    def _cut(self, name: str) -> None:
        """Keep the best hits of a detector."""
        own = [hit for hit in self.hits if hit.detector == name]
        own.sort(key=lambda hit: (-hit.score, hit.doc_id, hit.span))
        self.hits = [hit for hit in self.hits if hit.detector != name] + own[:_HITS]


def term_weights(terms: Mapping[str, float], held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the weights of terms by how rare they are among texts, given by the terms that each holds.

    A term that no text holds can tell none from another and is left out.
    """
    counts = Counter(term for bag in held for term in bag)
    rare = rarity(sorted(terms), counts, max(len(held), 1))
    return {term: weight * rare[term] for term, weight in terms.items() if counts.get(term)}
