"""Answers: figures, abstention, citations, judges; the gate, the diagnosis and the report."""

import sys
import types
import xml.etree.ElementTree as ET
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.errors import InputError, MissingDependencyError, NotFoundError
from fin_rag.evaluation import (
    Corpus,
    Gate,
    GivenAnswer,
    GoldenSet,
    RagasJudge,
    Report,
    compare,
    diagnose,
    evaluate_answers,
    evaluate_retrieval,
    read_answers,
    write_answers,
)
from fin_rag.evaluation.claims import sentences
from fin_rag.evaluation.excerpts import coloured
from fin_rag.evaluation.figures import match_answer, printed_figures
from fin_rag.evaluation.judges import judged_scores, read_score
from fin_rag.schema import Span

TEXT = "Net debt fell to $12.5 million in 2024. <b>Cash</b> rose to $3.1 million. The board met twice in Soria."
PLACES = {"debt": (0, 39), "cash": (40, 74), "board": (75, len(TEXT))}


def _golden(**more):
    rows = [
        {"question_id": "debt", "question": "Net debt?", "answer": "$12.5 million"},
        {"question_id": "cash", "question": "Cash?", "answer": "$3.1 million"},
        {"question_id": "board", "question": "Where did the board meet?", "answer": "In Soria"},
    ]
    rows = [{**r, "passages": [{"document": "v", "spans": [PLACES[r["question_id"]]]}], **more} for r in rows]
    return GoldenSet.from_rows([*rows, {"question_id": "none", "question": "Sales in 2031?", "type": "unanswerable"}])


def _corpus(**metadata):
    return Corpus.from_documents([Document(page_content=TEXT, metadata={"doc_id": "v", "title": "<V>", **metadata})])


def _context(name, **more):
    start, end = PLACES[name]
    return {"document": "v", "spans": [(start, end)], "text": TEXT[start:end], **more}


def _answer(name, text, *, cite=True, **more):
    cited = _context(name, marker="[1]")
    data = {"question_id": name, "answer": text, "contexts": [_context(name)], "citations": [cited] if cite else []}
    return GivenAnswer.model_validate({**data, **more})


def _good():
    return [
        _answer("debt", "Net debt was $12.5 million [1]."),
        _answer("cash", "Cash rose to $3.1 million [1]."),
        _answer("board", "The board met in Soria [1]."),
        GivenAnswer(question_id="none", answer="NO_DISPONIBLE"),
    ]


@pytest.mark.parametrize(
    ("gold", "answer", "verdict", "more"),
    [
        ("$1,577.00", "It was 1577 million.", "exact", {}),
        ("$1,577.00", "It was $1.58 billion.", "rounded", {}),
        ("$1,577.00", "1,600", "wrong", {}),
        ("$1,577.00", "about $2 billion", "wrong", {}),
        ("1.577,0 millones", "1.577 millones de euros", "exact", {"lang": "es"}),
        ("24.26", "The ratio is 24.3.", "rounded", {}),
        ("24.26", "The ratio is 24.9.", "wrong", {}),
        ("24.26", "The ratio is 24.4.", "tolerated", {"tolerance": Decimal("0.01")}),
        ("8.0 %", "a ratio of 0.08", "exact", {}),
        ("(490.1)", "a profit of 490.1", "wrong", {}),
        ("−490,1", "una pérdida de −490,1", "exact", {"lang": "es"}),
        ("490.1", "$490.1 million", "exact", {"scale": Decimal(1_000_000)}),
        ("490.1", "$490.1 thousand", "wrong", {"scale": Decimal(1_000_000)}),
        ("$5 million", "€5 million", "wrong", {}),
        ("$5 million", "5", "wrong", {}),
        ("7,0; 12,5", "7,0 y 12,5", "exact", {"lang": "es"}),
        ("7,0; 12,5", "solo 7,0", "wrong", {"lang": "es"}),
        ("2023", "It was in 2023.", "exact", {}),
        ("Yes", "Yes.", None, {}),
    ],
)
def test_figures_are_matched_by_one_documented_rule(gold, answer, verdict, more):
    assert match_answer(gold, answer, **more) == verdict


@given(st.decimals(min_value=1, max_value=10**6, places=2), st.integers(0, 2))
def test_a_figure_rounded_to_fewer_places_is_never_wrong(value, places):
    rounded = round(value, places)
    close = abs(rounded - value) <= value * Decimal("0.05")
    assert (match_answer(f"{value:,f}", f"It was {rounded:,f}.") in ("exact", "rounded")) == close


def test_printed_figures_are_told_from_invented_ones():
    evidence = ["In millions. | Net debt | 12.5 |", "ventas de 1.234,5 millones"]
    found = dict(printed_figures("Net debt was $12.5 million, up from $13.9 million; 1,234.5 million.", evidence))
    assert found == {"$12.5 million": "equal", "$13.9 million": "unsupported", "1,234.5 million": "equal"}


def test_sentences_keep_figures_and_company_names_whole():
    text = "Vientalba, S.A. tuvo 1.234,5 millones. ¿Y la deuda? Net debt was 4.4x.\nSee [1]."
    assert sentences(text) == [
        "Vientalba, S.A. tuvo 1.234,5 millones.",
        "¿Y la deuda?",
        "Net debt was 4.4x.",
        "See [1].",
    ]


def test_good_answers_score_full_and_bad_ones_are_told_apart():
    report = evaluate_answers(_golden(), _good(), _corpus())
    for name in (
        "numeric_match", "word_match", "figure_verification", "citation_correctness", "gold_cited",
        "abstention_precision", "abstention_recall", "context_recall_offsets", "faithfulness_proxy",
    ):  # fmt: skip
        assert report.mean(name).mean == 1, name
    assert report.mean("invention").mean == 0
    assert report.failed == ()
    bad = evaluate_answers(
        _golden(),
        [
            _answer("debt", "Net debt was $99.9 million [1]."),
            _answer("cash", "NO_DISPONIBLE", contexts=[_context("debt")]),
            _answer("board", "The board met in Soria [1].", citations=[_context("cash", marker="[1]")]),
            GivenAnswer(question_id="none", answer="Sales were $5 million."),
        ],
        _corpus(),
    )
    assert bad.failed == ("debt", "cash", "none")
    assert bad.mean("invention").mean == pytest.approx(2 / 3)
    assert bad.mean("numeric_match").mean == 0
    assert bad.mean("abstention_precision").mean == 0
    assert bad.mean("abstention_recall").mean == 0
    assert bad.mean("citation_correctness").mean == 0
    assert [r.scores.get("context_recall_offsets") for r in bad.results] == [1, 0, 1, None]


def test_a_figure_check_from_outside_decides_and_a_record_is_kept():
    def verify(answer, evidence):
        assert evidence[0].metadata["doc_id"] == "v"
        return [("12.5", "wrong_period")]

    kept = _answer("cash", "3.1", figures=[{"text": "3.1", "verdict": "fact"}])
    report = evaluate_answers(_golden(), [_answer("debt", "12.5"), kept], verify=verify)
    assert [r.figures[0].verdict for r in report.results] == ["wrong_period", "fact"]
    assert "2 question(s) have no answer" in report.notes[0]


def test_routes_and_tool_calls_match_exactly():
    call = {"name": "xbrl_lookup", "args": {"concept": "Revenues", "year": 2024}}
    golden = _golden(route="facts", tool_calls=[call])
    same = _answer("debt", "x", route="facts", tool_calls=[call])
    other = _answer("cash", "x", route="text", tool_calls=[{**call, "args": {"concept": "Revenues", "year": 2023}}])
    report = evaluate_answers(golden, [same, other])
    assert [r.scores["route_match"] for r in report.results] == [1, 0]
    assert [r.scores["tool_calls_match"] for r in report.results] == [1, 0]


def test_answers_survive_a_file_and_faults_name_their_line(tmp_path):
    for ending in ("jsonl", "csv", "parquet"):
        write_answers(tmp_path / f"a.{ending}", _good())
        assert read_answers(tmp_path / f"a.{ending}") == tuple(_good()), ending
    (tmp_path / "a.jsonl").write_text('{"question_id": "q", "answr": "x"}\n')
    with pytest.raises(InputError, match="line 1: answr: no such field"):
        read_answers(tmp_path / "a.jsonl")
    for wrong in ([GivenAnswer(question_id="other")], [_good()[0], _good()[0]]):
        with pytest.raises(InputError):
            evaluate_answers(_golden(), wrong)


def test_the_output_of_a_chain_becomes_an_answer():
    documents = [Document(page_content=t, metadata={"doc_id": "v", "spans": "0-5"}) for t in ("a", "b")]
    answer = GivenAnswer.from_chain(
        "q", {"input": "?", "context": documents, "answer": "So it is [2].", "route": "text"}
    )
    assert [c.text for c in answer.citations] == ["b"]
    assert (answer.route, len(answer.contexts), answer.declined) == ("text", 2, False)


# --- judges ---------------------------------------------------------------------------------------


def test_scores_that_are_missing_are_counted_apart():
    """Scores 1.0, 0.8 and NaN: the mean is over two, and one is not scored (the answer declined)."""
    judge = lambda rows: [{"faithfulness": s} for s in ([1.0], 0.8, float("nan"))]  # noqa: E731
    report = evaluate_answers(_golden(), _good()[:3], judge=judge)
    mean = report.mean("faithfulness")
    assert (mean.mean, mean.n, mean.unscored) == (pytest.approx(0.9), 2, 1)
    assert any("faithfulness: 1 answer(s) not scored" in note for note in report.notes)
    result = Gate.load().check(answers=report)
    rule = next(r for r in result.rules if r.rule.measure == "faithfulness")
    assert rule.outcome == "passed"
    assert "1 not scored" in rule.sentence


@pytest.mark.parametrize(
    ("value", "score"),
    [(0.9, 0.9), ([0.9], 0.9), ({"score": 0.9}, 0.9), (types.SimpleNamespace(value=0.9), 0.9), (None, None),
     ("nan", None), ("high", None), ([], None), (float("inf"), None), (True, 1.0)],
)  # fmt: skip
def test_scores_are_read_in_every_form(value, score):
    assert read_score(value) == score


def _fake_ragas(monkeypatch, metrics, evaluate, **more):
    ragas, known = types.ModuleType("ragas"), types.ModuleType("ragas.metrics")
    for name, value in metrics.items():
        setattr(known, name, value)
    ragas.evaluate, ragas.metrics = evaluate, known
    for name, value in more.items():
        setattr(ragas, name, value)
    monkeypatch.setitem(sys.modules, "ragas", ragas)
    monkeypatch.setitem(sys.modules, "ragas.metrics", known)


class _Rows(list):
    from_list = classmethod(lambda cls, rows: cls(rows))


def test_the_adapter_knows_the_names_of_several_versions(monkeypatch):
    class ResponseRelevancy: ...

    def evaluate(dataset, metrics, llm):
        assert dataset[0]["user_input"] == "Net debt?"
        assert [type(m).__name__ for m in metrics] == ["str", "ResponseRelevancy"]
        return types.SimpleNamespace(scores=[{"faithfulness": [0.7], "response_relevancy": 0.6} for _ in dataset])

    _fake_ragas(
        monkeypatch, {"faithfulness": "f", "ResponseRelevancy": ResponseRelevancy}, evaluate, EvaluationDataset=_Rows
    )
    report = evaluate_answers(_golden(), _good()[:1], judge=RagasJudge(llm="model"))
    assert report.mean("faithfulness").mean == 0.7
    assert report.mean("answer_relevancy").mean == 0.6
    assert report.mean("context_recall").unscored == 1
    only = evaluate_answers(_golden(), _good()[:1], judge=lambda rows: [{"faithfulness": 0.7} for _ in rows])
    assert not any("context_recall" in note for note in only.notes)


def test_the_adapter_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ragas", None)
    with pytest.raises(MissingDependencyError, match=r"fin-rag\[ragas\]"):
        RagasJudge(llm="model")([{"user_input": "?"}])
    with pytest.raises(InputError, match="among faithfulness"):
        RagasJudge(llm="model", metrics=["bleu"])
    with pytest.raises(InputError, match="0 rows for 1"):
        judged_scores(lambda rows: [], [(next(iter(_golden())), _good()[0])])


# --- gate -----------------------------------------------------------------------------------------


def _retrieval(rankings, **settings):
    given = {"ks": (1, 2), "characters": (50, 200), "tokens": (), **settings}
    documents = {
        name: Document(page_content=TEXT[a:b], metadata={"doc_id": "v", "spans": f"{a}-{b}"})
        for name, (a, b) in PLACES.items()
    }
    found = {q.question: [documents[n] for n in rankings.get(q.question_id, ())] for q in _golden()}
    return evaluate_retrieval(_golden(), lambda q: found[q], _corpus(), **given)


GOOD = {name: (name,) for name in PLACES}


def test_the_good_configuration_passes_and_the_broken_one_fails_with_its_stage():
    retrieval, answers = _retrieval(GOOD), evaluate_answers(_golden(), _good(), _corpus())
    good = Gate.load().check(retrieval=retrieval, answers=answers, diagnosis=diagnose(retrieval, answers, cutoff="@1"))
    assert good.passed
    assert good.exit_code == 0
    assert [r.outcome for r in good.rules].count("not measured") == 2
    broken = _retrieval({**GOOD, "debt": ("cash", "board", "debt"), "cash": ()})
    invented = [_answer("debt", "Net debt was $99 million.", contexts=[_context("cash")]), *_good()[1:]]
    wrong = evaluate_answers(_golden(), invented, _corpus())
    bad = Gate.load().check(retrieval=broken, answers=wrong, diagnosis=diagnose(broken, wrong, cutoff="@1"))
    assert bad.exit_code == 3
    assert {"figure_verification", "invention"} <= {r.measured for r in bad.failed}
    assert "ranked low" in bad.markdown()
    suite = ET.fromstring(bad.junit().split("\n", 1)[1])
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == len(bad.failed)
    assert "ranked low: 1 (debt)" in suite.find("testcase/failure").text


def test_vetoes_fail_also_when_nothing_was_measured():
    result = Gate.load().check(retrieval=_retrieval(GOOD))
    assert {r.measured for r in result.failed} == {"figure_verification", "invention"}
    assert not result.passed


@pytest.mark.parametrize("ending", ["json", "toml"])
def test_thresholds_come_from_a_file(tmp_path, ending):
    text = {
        "json": '{"rules": [{"measure": "recall", "cutoff": "@1", "at_least": 0.9}]}',
        "toml": '[[rules]]\nmeasure = "recall"\ncutoff = "@1"\nat_least = 0.9\n',
    }[ending]
    path = tmp_path / f"gate.{ending}"
    path.write_text(text)
    assert Gate.load(path).check(retrieval=_retrieval(GOOD)).passed
    assert not Gate.load(path).check(retrieval=_retrieval({"debt": ("debt",)})).passed
    with pytest.raises(NotFoundError, match="Measured: @2"):
        Gate.load(path).check(retrieval=_retrieval(GOOD, ks=(2,)))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ('[{"measure": "recal", "at_least": 1}]', "rule 1: row: there is no measure 'recal'"),
        ('[{"measure": "recall", "at_least": 1}]', "there is no measure 'recall' of answers"),
        ('[{"measure": "invention"}]', "one of 'at_least' and 'at_most'"),
        ('[{"measure": "invention", "atmost": 1}]', "atmost: no such field"),
        ("{}", "needs a list 'rules'"),
        ("[", "cannot be read"),
        ("[]", "at least one rule"),
    ],
)
def test_a_gate_file_with_faults_is_refused(tmp_path, rules, message):
    path = tmp_path / "gate.json"
    path.write_text(f'{{"rules": {rules}}}')
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        Gate.load(path)


# --- diagnosis ------------------------------------------------------------------------------------


def test_each_stage_that_can_lose_a_question_is_named():
    golden = GoldenSet.from_rows([
        *({"question_id": q, "question": q, "answer": "$12.5 million", "passages": [p]} for q, p in {
            "gone": {"document": "other", "page": 1},
            "filter": {"document": "v", "spans": [PLACES["debt"]]},
            "split": {"document": "v", "spans": [PLACES["debt"]]},
            "lost": {"document": "v", "spans": [PLACES["debt"]]},
            "low": {"document": "v", "spans": [PLACES["debt"]]},
            "uncited": {"document": "v", "spans": [PLACES["debt"]]},
            "refused": {"document": "v", "spans": [PLACES["debt"]]},
            "declined": {"document": "v", "spans": [PLACES["debt"]]},
            "wrong": {"document": "v", "spans": [PLACES["debt"]]},
            "fine": {"document": "v", "spans": [PLACES["debt"]]},
        }.items()),
        {"question_id": "none", "question": "none", "type": "unanswerable"},
    ])  # fmt: skip

    def at(span):
        return Document(
            page_content="x" * (span[1] - span[0]), metadata={"doc_id": "v", "spans": f"{span[0]}-{span[1]}"}
        )

    gold, far = at(PLACES["debt"]), at(PLACES["board"])
    rankings = {"gone": [far], "filter": [far], "split": [at((0, 9))], "lost": [far], "low": [far, far, gold]}
    retrieval = evaluate_retrieval(
        golden, lambda q: rankings.get(q, [gold]), _corpus(), ks=(1,), characters=(60,), tokens=()
    )
    context = {"contexts": [_context("debt")], "citations": [_context("debt", marker="[1]")]}
    answers = evaluate_answers(
        golden,
        [
            GivenAnswer.model_validate({"question_id": "uncited", "answer": "$9 million [1]", **context,
                                        "citations": [_context("cash", marker="[1]")]}),
            GivenAnswer.model_validate({"question_id": "refused", "answer": "", "refused": True, **context}),
            GivenAnswer.model_validate({"question_id": "declined", "answer": "NO_DISPONIBLE", **context}),
            GivenAnswer.model_validate({"question_id": "wrong", "answer": "$9 million [1]", **context}),
            GivenAnswer.model_validate({"question_id": "fine", "answer": "$12.5 million [1]", **context}),
            GivenAnswer.model_validate({"question_id": "none", "answer": "$1 million", **context}),
        ],
        _corpus(),
    )  # fmt: skip
    searched = lambda q: {"w"} if q.question_id == "filter" else None  # noqa: E731
    found = diagnose(retrieval, answers, cutoff="@1", searched=searched)
    assert {item.question_id: item.stage for item in found.lost} == {
        "gone": "not ingested", "filter": "filtered out", "split": "split apart", "lost": "not found",
        "low": "ranked low", "uncited": "not cited", "refused": "figure refused", "declined": "declined",
        "wrong": "answered wrongly", "none": "answered without evidence",
    }  # fmt: skip
    assert found.measured == 11
    packed = diagnose(retrieval, cutoff="@60 characters")
    assert {i.question_id: i.stage for i in packed.lost}["low"] == "packed out"
    with pytest.raises(NotFoundError):
        diagnose(retrieval, cutoff="@9")


def test_the_matrix_speaks_for_each_quarter():
    good, poor = _retrieval(GOOD), _retrieval({})
    faithful = evaluate_answers(_golden(), _good(), _corpus())
    stray = evaluate_answers(_golden(), [_answer(n, "It was $99 million.") for n in PLACES], _corpus())
    said = {
        (r is good, a is faithful): diagnose(r, a, cutoff="@1").matrix for r in (good, poor) for a in (faithful, stray)
    }
    assert len(set(said.values())) == 4
    assert "Look at retrieval first" in said[False, True]
    assert "Retrieval is not the problem" in said[True, False]
    assert "not measured" in diagnose(good, cutoff="@1").matrix


# --- report ---------------------------------------------------------------------------------------


class _Page(HTMLParser):
    """Collect open tags, marks with their text, and anything that would load from elsewhere."""

    def __init__(self):
        super().__init__()
        self.open, self.outside, self.marks, self.seen = [], [], {}, []
        self.void = {"meta", "line", "polyline", "br"}

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        values = dict(attrs)
        self.outside += [v for k, v in attrs if k in ("src", "href") and v]
        if tag not in self.void:
            self.open.append((tag, values.get("class")))

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if self.open and self.open[-1][0] == "mark":
            self.marks.setdefault(self.open[-1][1], []).append(data)


def test_the_report_is_one_page_that_escapes_what_documents_say():
    first, other = _retrieval({**GOOD, "debt": ()}, name="index"), _retrieval(GOOD, name="<script>")
    answers = evaluate_answers(_golden(), _good(), _corpus())
    diagnosis = diagnose(first, answers, cutoff="@1")
    report = Report(
        (first, other), (compare(other, first, cutoff="@1"),), answers, diagnosis, Gate.load().check(answers=answers),
        ("@1",),
    )  # fmt: skip
    html = report.html(_corpus())
    page = _Page()
    page.feed(html)
    assert page.open == []
    assert page.outside == []
    assert "script" not in page.seen
    assert page.seen.count("svg") == 2
    assert "b" not in page.seen
    assert "&lt;b&gt;Cash&lt;/b&gt;" in html
    assert "Net debt fell to $12.5 million in 2024." in page.marks["gold"]
    assert report.as_dict()["comparisons"][0]["lost"] == ["debt"]
    assert html == report.html(_corpus())


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda p: Span(min(p), max(p))), max_size=4)


@given(st.text("a<&\"' ñ\n", min_size=31, max_size=40), spans, spans)
def test_colouring_keeps_every_character(text, gold, found):
    page = _Page()
    page.open.append(("pre", None))
    collected = []
    page.handle_data = collected.append
    page.feed(coloured(text, Span(0, 31), gold, found))
    page.close()
    assert "".join(collected) == text[:31]
