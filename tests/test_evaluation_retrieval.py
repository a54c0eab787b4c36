"""Measures of retrieval: against ir_measures, at equal context, with intervals, two runs side by side."""

import importlib
import sys
from itertools import pairwise

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, P, Qrel, R, ScoredDoc, nDCG
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from fin_rag.errors import InputError, NotFoundError
from fin_rag.evaluation import GoldenSet, evaluate_retrieval
from fin_rag.evaluation.baselines import CHUNKERS, baseline, fixed_windows, recursive_pieces, structure_pieces
from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.hits import hits_of, shared, united
from fin_rag.evaluation.imports import import_three_tables
from fin_rag.evaluation.intervals import mean_interval
from fin_rag.evaluation.results import compare
from fin_rag.schema import Span

CELL = 10  # characters of a passage in the made-up corpus
spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda p: Span(p[0], p[0] + p[1])), max_size=8)


def _chunk(number, doc_id="d", **metadata):
    start = number * CELL
    return Document(
        page_content="x" * CELL, metadata={"doc_id": doc_id, "spans": f"{start}-{start + CELL}", **metadata}
    )


def _golden(*gold, documents=("d",)):
    return GoldenSet.from_rows(
        [
            {"question_id": f"q{i}", "question": str(i), "passages": passages, "documents": list(documents)}
            for i, passages in enumerate(gold)
        ]
    )


def _place(number, **more):
    return {"document": "d", "spans": [(number * CELL, number * CELL + CELL)], **more}


def _corpus(size=1000, **metadata):
    return Corpus.from_documents([Document(page_content="x" * size, metadata={"doc_id": "d", **metadata})])


def _report(golden, rankings, **settings):
    given = {"ks": (1, 2, 5, 10), "characters": (), "tokens": (), **settings}
    return evaluate_retrieval(golden, lambda q: rankings[int(q)], given.pop("corpus", _corpus()), **given)


@settings(max_examples=150)
@given(
    st.lists(
        st.tuples(
            st.sets(st.integers(0, 19), min_size=1, max_size=6),
            st.lists(st.integers(0, 19), unique=True, max_size=15),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_measures_equal_ir_measures_where_results_are_whole_passages(cases):
    golden = _golden(*([_place(n) for n in sorted(gold)] for gold, _ in cases))
    report = _report(golden, [[_chunk(n) for n in ranking] for _, ranking in cases])
    qrels = [Qrel(f"q{i}", str(n), 1) for i, (gold, _) in enumerate(cases) for n in gold]
    run = [
        ScoredDoc(f"q{i}", str(n), 100.0 - rank)
        for i, (_, ranking) in enumerate(cases)
        for rank, n in enumerate(ranking)
    ]
    wanted = {m(cutoff=k): (name, k) for name, m in
              (("recall", R), ("precision", P), ("mrr", RR), ("ndcg", nDCG)) for k in (1, 2, 5, 10)}  # fmt: skip
    theirs = {(m.query_id, wanted[m.measure]): m.value for m in ir_measures.iter_calc(list(wanted), qrels, run)}
    for result in report.results:
        for name, k in wanted.values():
            ours = result.scores[f"@{k}"][name]
            assert ours == pytest.approx(theirs.get((result.question_id, (name, k)), 0.0), abs=1e-9), (name, k)


@given(spans, spans)
def test_span_arithmetic_equals_sets_of_characters(first, second):
    def characters(some):
        return {at for span in some for at in range(span.start, span.end)}

    a, b = united(first), united(second)
    assert characters(a) == characters(first)
    assert all(x.end < y.start for x, y in pairwise(a))
    assert shared(a, b) == len(characters(first) & characters(second))


def test_a_passage_is_found_when_the_results_together_hold_half_of_it():
    golden = _golden([{"document": "d", "spans": "0-100"}])
    parts = [Document(page_content="x" * 30, metadata={"doc_id": "d", "spans": s}) for s in ("0-30", "10-40", "35-65")]
    report = _report(golden, [parts])
    assert [report.results[0].scores[f"@{k}"]["recall"] for k in (1, 2, 5)] == [0, 0, 1]
    assert report.results[0].judged.ranks[0].found == 3
    strict = _report(golden, [parts], threshold=0.7)
    assert strict.results[0].scores["@5"]["recall"] == 0
    assert strict.results[0].judged.ranks[0].best == pytest.approx(0.65)


def test_spans_of_another_document_do_not_count():
    corpus = Corpus.from_documents([Document(page_content="x" * 99, metadata={"doc_id": i}) for i in "de"])
    report = _report(_golden([_place(0)]), [[_chunk(0, "e")]], corpus=corpus)
    assert report.results[0].scores["@10"]["recall"] == 0


def test_budgets_read_the_longest_beginning_that_fits_and_charge_the_header():
    golden = _golden([_place(2)])
    ranking = [_chunk(n, context_header="Head") for n in (0, 1, 2, 3)]  # 16 characters each with the blank line
    words = lambda text: len(text.split())  # noqa: E731  # two tokens each
    from fin_rag.tokens import Tokenization

    report = _report(
        golden, [ranking], characters=(15, 47, 48), tokens=(5, 6), tokenization=Tokenization("words", words)
    )
    scores = report.results[0].scores
    assert [scores[f"@{n} characters"]["recall"] for n in (15, 47, 48)] == [0, 0, 1]
    assert [scores[f"@{n} tokens"]["recall"] for n in (5, 6)] == [0, 1]
    assert scores["@48 characters"]["precision"] == pytest.approx(1 / 3)
    assert scores["@48 characters"]["gold_share"] == pytest.approx(10 / 48)
    assert report.context(report.cutoffs[0]) == (16, 2)


def test_the_row_of_a_long_table_counts_when_its_columns_are_named():
    rows = "\n".join(f"| Item {i:03} | {i} | {i + 1} |" for i in range(100))
    text = f"| Asset | 2024 | 2023 |\n|---|---|---|\n{rows}\n"
    start = text.index("| Item 050")
    end = text.index("\n", start)
    corpus = Corpus.from_documents([Document(page_content=text, metadata={"doc_id": "d"})])
    golden = _golden([{"document": "d", "spans": [(0, len(text))], "evidence": [(start, end)]}])
    row = Document(page_content=text[start:end], metadata={"doc_id": "d", "spans": f"{start}-{end}"})
    named = Document(
        page_content=f"| Asset | 2024 | 2023 |\n\n{text[start:end]}",
        metadata={"doc_id": "d", "spans": f"0-23;{start}-{end}"},
    )
    assert _report(golden, [[row]], corpus=corpus).results[0].scores["@5"]["recall"] == 0
    assert _report(golden, [[row]], corpus=corpus).results[0].scores["@5"]["evidence"] == 1
    assert _report(golden, [[row, named]], corpus=corpus).results[0].judged.ranks[0].found == 2
    assert _report(golden, [[named]], corpus=corpus, long_table=9000).results[0].scores["@5"]["recall"] == 0


def test_equivalent_places_pages_and_missing_documents():
    corpus = _corpus(page_map="1:0-100;2:100-200")
    golden = _golden(
        [{**_place(1), "equivalents": [_place(5)]}, {"document": "gone", "page": 1}],
        [{"document": "d", "page": 2}],
    )
    report = _report(golden, [[_chunk(5)], [_chunk(3), _chunk(10)]], corpus=corpus)
    first, second = (r.scores["@10"] for r in report.results)
    assert (first["recall"], first["equivalent"], first["page"]) == (0, 0.5, None)
    assert (second["recall"], second["page"], second["mrr"]) == (1, 1, 0.5)
    assert report.mean("page", "@10").unscored == 1
    assert any("'gone'" in note for note in report.notes)


def test_a_parent_passage_counts_as_the_whole_that_is_read():
    text = "".join(chr(97 + i % 26) for i in range(300))
    corpus = Corpus.from_documents([Document(page_content=text, metadata={"doc_id": "d"})])
    metadata = {"doc_id": "d", "spans": "50-60", "parent_start": 40, "parent_end": 140}
    parent = Document(page_content=text[40:140], metadata=metadata)
    child = Document(page_content=text[50:60], metadata=metadata)
    assert [h.spans for h in hits_of([parent, child], corpus)] == [(Span(40, 140),), (Span(50, 60),)]
    plain = Document(page_content=text[7:20], metadata={"source": "d", "start_index": 7})
    assert hits_of([plain], corpus)[0].spans == (Span(7, 20),)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"doc_id": "other", "spans": "0-5"}, "no known document"),
        ({"doc_id": "d"}, "start_index"),
        ({"doc_id": "d", "spans": "990-1005"}, "its document has 1000"),
    ],
)
def test_results_that_stand_nowhere_are_an_error(metadata, message):
    with pytest.raises(InputError, match=message):
        _report(_golden([_place(0)]), [[Document(page_content="x", metadata=metadata)]])


def test_wrong_arguments_are_refused():
    golden = _golden([_place(0)])
    for wrong in ({"threshold": 0}, {"depth": 5}, {"within_documents": True}):
        with pytest.raises(InputError):
            _report(golden, [[]], **wrong)
    with pytest.raises(InputError, match="no finished question"):
        _report(GoldenSet.from_rows([{"question_id": "q", "question": "0", "type": "unanswerable"}]), [[]])
    report = _report(golden, [[]])
    with pytest.raises(NotFoundError, match="Measured: @1, @2"):
        report.mean("recall", "@7")
    with pytest.raises(NotFoundError, match="Known: recall"):
        report.mean("recal", "@5")


def test_two_runs_are_compared_question_by_question():
    golden = _golden([_place(0)], [_place(1)], [_place(2)])
    a = _report(golden, [[_chunk(0)], [], [_chunk(2)]], name="a")
    b = _report(golden, [[], [_chunk(1)], [_chunk(9), _chunk(2)]], name="b")
    seen = compare(a, b, "recall", "@5")
    assert (seen.won, seen.lost, seen.tied) == (("q1",), ("q0",), ("q2",))
    assert seen.difference.mean == 0
    assert not seen.certain
    other = _report(_golden([_place(7)]), [[]])
    with pytest.raises(InputError, match="different golden sets"):
        compare(a, other)


def test_a_day_that_nobody_heeds_is_noted():
    golden = GoldenSet.from_rows([{"question_id": "q", "question": "0", "passages": [_place(0)], "as_of": 20240101}])
    assert any("later filings" in note for note in _report(golden, [[]]).notes)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Clusters of four questions that succeed together: 95 % intervals over clusters hold; over questions, not."""
    random = np.random.default_rng(5)
    held = {True: 0, False: 0}
    trials, truth = 300, 0.6
    for _ in range(trials):
        rates = np.clip(random.normal(truth, 0.25, size=40), 0, 1)
        values = [float(random.random() < rate) if random.random() < 0.2 else float(rate > 0.5) for rate in rates
                  for _ in range(4)]  # fmt: skip
        names = [str(i) for i in range(40) for _ in range(4)]
        expected = 0.2 * _clipped_mean(truth, 0.25) + 0.8 * _above_half(truth, 0.25)
        for clustered in held:
            found = mean_interval(values, names if clustered else None, resamples=400)
            held[clustered] += found.low <= expected <= found.high
    assert 0.90 <= held[True] / trials <= 0.99
    assert held[False] / trials < 0.80


def _sample(mean, deviation):
    return np.random.default_rng(0).normal(mean, deviation, size=200_000)


def _clipped_mean(mean, deviation):
    return float(np.clip(_sample(mean, deviation), 0, 1).mean())


def _above_half(mean, deviation):
    return float((_sample(mean, deviation) > 0.5).mean())


def test_intervals_say_what_they_do_not_know():
    assert mean_interval([None, float("nan")]).mean is None
    assert mean_interval([None, float("nan")]).unscored == 2
    one = mean_interval([1.0, 0.0], ["a", "a"])
    assert (one.mean, one.low, one.high) == (0.5, None, None)
    assert mean_interval([1.0] * 9 + [0.0], None) == mean_interval([1.0] * 9 + [0.0], None)


@given(st.lists(st.sampled_from(["word", " ", "\n", "\n\n", ". ", "| a |", "## T\n", "¹ n", "long" * 60]), max_size=40))
def test_baselines_cut_every_text_within_their_size(parts):
    text = "".join(parts)
    for (span,) in fixed_windows(text):
        assert 0 < len(span) <= 500
    assert "".join(text.split()) == "".join("".join(s.slice(text) for (s,) in recursive_pieces(text)).split())
    assert all(0 < len(s) <= 500 for (s,) in recursive_pieces(text))
    for chunk in structure_pieces(text):
        assert all(0 <= s.start < s.end <= len(text) for s in chunk)


def test_the_structure_baseline_joins_notes_and_keeps_tables_alone():
    text = "# T\n\n## A\n\nOne.\n\nTwo.\n\n| x¹ |\n\n¹ Note.\n\n## B\n\nThree."
    assert [[s.slice(text) for s in chunk] for chunk in structure_pieces(text)] == [
        ["One.\n\nTwo."], ["| x¹ |", "¹ Note."], ["Three."],
    ]  # fmt: skip
    with pytest.raises(InputError, match="recursive"):
        baseline("semantic", _corpus())


@pytest.mark.parametrize("variant", ["plain", "hard"])
def test_the_baselines_give_the_figures_of_the_textbook(shared, variant):
    """The evaluator beside the shared corpora, run in this process, is the oracle."""
    folder = shared / "data" / "corpus_es"
    sys.path.insert(0, str(folder))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        oracle, theirs = importlib.import_module("evaluate"), importlib.import_module("lesson_chunkers")
        bank = oracle.Banco(variant)
        names = {"fixed": "fijo_cab", "recursive": "recursivo_cab", "structure": "estructura_cab"}
        wanted = {ours: bank.mide(getattr(theirs, name)).mean(numeric_only=True) for ours, name in names.items()}
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = written
    taken = import_three_tables(folder / variant)
    corpus = Corpus.from_documents(taken.documents)
    for name in CHUNKERS:
        report = evaluate_retrieval(
            taken.golden, baseline(name, corpus), corpus, ks=(3, 5), characters=(1300, 2000), tokens=()
        )
        pairs = [("recall", "@3", "recall@3"), ("recall", "@5", "recall@5"), ("full", "@5", "completa@5"),
                 ("evidence", "@5", "evid@5"), ("equivalent", "@5", "equiv@5"),
                 ("recall", "@1300 characters", "b1300"), ("recall", "@2000 characters", "b2000")]  # fmt: skip
        for measure, cutoff, column in pairs:
            ours = report.mean(measure, cutoff).mean
            assert ours == pytest.approx(float(wanted[name][column]), abs=0.01), (name, column)


class _Packing(BaseRetriever):
    """Return far results by rank, and the gold one when told a budget."""

    def _get_relevant_documents(self, query, *, run_manager, k=5):
        return [_chunk(n) for n in range(10, 10 + k)]

    def retrieve(self, question, *, max_chars=None, max_tokens=None):
        return [_chunk(2)] if (max_chars or max_tokens) >= 10 else []


def test_a_retriever_that_packs_is_told_the_budget():
    corpus, golden = _corpus(), _golden([_place(2)])
    settings = {"ks": (5,), "characters": (9, 20), "tokens": (), "pack_budgets": True}
    scores = evaluate_retrieval(golden, _Packing(), corpus, **settings).results[0].scores
    assert [scores[c]["recall"] for c in ("@5", "@9 characters", "@20 characters")] == [0, 0, 1]
    with pytest.raises(InputError, match="pack_budgets"):
        evaluate_retrieval(golden, lambda q: [], corpus, pack_budgets=True)
