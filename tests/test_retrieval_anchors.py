"""AnchorRetriever: detectors, candidates, roles, the audit record and its replay."""

from __future__ import annotations

import asyncio
import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import ValidationError

from fin_rag.errors import InputError
from fin_rag.retrieval import (
    AnchorRetriever,
    EvidenceArbiter,
    HybridEnsemble,
    KeywordRetriever,
    assemble,
    audit_schema,
    explain_lines,
    replay,
)
from fin_rag.retrieval.anchors.lines import score_lines, split_lines
from fin_rag.retrieval.anchors.model import COMPOSITIONS, DETECTORS
from fin_rag.retrieval.anchors.plan import make_plan
from fin_rag.schema import Span, parse_spans
from tests.fakes import report
from tests.retrieval_corpus import TWIN, made_index


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = made_index(tmp_path_factory.mktemp("index"))
    yield made
    made.close()


def test_evidence_is_cited_with_role_reason_and_anchor_line(index) -> None:
    found = AnchorRetriever(index=index, k=2).invoke("What did the board propose as dividend?")
    first = found[0]
    text = index.text(first.metadata["doc_id"])
    assert first.metadata["doc_id"] == "velmo"
    assert first.metadata["role"] == "primary"
    assert first.metadata["reason"].startswith("primary: ")
    assert first.page_content == "\n\n".join(s.slice(text) for s in parse_spans(first.metadata["spans"]))
    assert "0.40 euros" in parse_spans(first.metadata["anchors"])[0].slice(text)
    assert [document.metadata["rank"] for document in found] == list(range(1, len(found) + 1))
    assert set(first.metadata["found_by"]) <= set(DETECTORS)


def test_both_years_stay_two(index) -> None:
    for found in (
        AnchorRetriever(index=index, k=9).invoke(TWIN),
        asyncio.run(AnchorRetriever(index=index, k=9).ainvoke(TWIN)),
    ):
        twins = [d for d in found if TWIN in d.page_content]
        assert sorted(d.metadata["fiscal_year"] for d in twins) == [2022, 2023]
        assert {d.metadata["role"] for d in twins} == {"primary"}
    ensemble = HybridEnsemble(
        retrievers=[AnchorRetriever(index=index, k=9), KeywordRetriever(index=index, k=9)], weights=[0.5, 0.5]
    )
    years = [d.metadata["fiscal_year"] for d in ensemble.invoke(TWIN) if TWIN in d.page_content]
    assert sorted(years) == [2022, 2023]


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        ({}, {"bron-2022", "bron-2023", "velmo"}),
        ({"as_of": "2023-12-31"}, {"bron-2022", "velmo"}),
        ({"as_of": 20231231, "filter": {"ticker": "BRON"}}, {"bron-2022"}),
        ({"session_id": "desk-1"}, {"bron-2022", "bron-2023", "velmo", "memo"}),
    ],
)
@pytest.mark.parametrize("in_call", [False, True])
def test_scope_holds_in_every_detector(index, scope, seen, in_call) -> None:
    question = "kilns wholesale customers dividend refit winter net sales"
    retriever = AnchorRetriever(index=index, k=20, **({} if in_call else scope))
    examined = retriever.examine(question, **(scope if in_call else {}))
    assert examined.documents
    assert {d.metadata["doc_id"] for d in examined.documents} <= seen
    assert {candidate["doc_id"] for candidate in examined.record["candidates"]} == seen
    hits = [hit for found in examined.record["detectors"].values() for hit in found]
    assert {hit["doc_id"] for hit in hits} <= seen
    assert {document["doc_id"] for document in examined.record["documents"]} <= seen


def test_not_found_is_an_answer(index) -> None:
    retriever = AnchorRetriever(index=index, arbiter=EvidenceArbiter(least_cosine=0.99))
    for question in ("zirconium quokka telemetry", "   "):
        examined = retriever.examine(question)
        assert not examined.found
        assert examined.documents == []
        assert examined.record["results"] == []
        assert {j["role"] for j in examined.record["decision"]["judgements"]} <= {"discarded"}
        jsonschema.validate(examined.record, audit_schema())
    assert AnchorRetriever(index=index, filter={"ticker": "NONE"}).examine("net sales").found is False


@pytest.mark.parametrize("question", ["net sales of tiles in 2023", "dividend", TWIN, ""])
def test_record_validates_survives_json_and_replays(index, question) -> None:
    records = []
    retriever = AnchorRetriever(
        index=index, k=3, as_of="2024-12-31", filter={"ticker": {"$in": ["BRON", "VELM"]}},
        patterns={"euros": r"\d+ million euros"}, keywords={"tiles": 2.0}, on_record=records.append,
    )  # fmt: skip
    examined = retriever.examine(question)
    assert records == [examined.record]
    stored = json.loads(json.dumps(examined.record))
    jsonschema.Draft202012Validator.check_schema(audit_schema())
    jsonschema.validate(stored, audit_schema())
    again = replay(stored, index)
    assert again.differences == ()
    assert json.loads(json.dumps(again.record)) == stored
    assert asyncio.run(retriever.aexamine(question)).record == examined.record


def test_replay_names_what_changed(tmp_path) -> None:
    index = made_index(tmp_path / "ix")
    record = AnchorRetriever(index=index, k=3).examine("dividend of the board").record
    index.add(report("# Dividend\n\nThe board proposes a dividend of 0.55 euros.", doc_id="velmo", source="v",
                     ticker="VELM", fiscal_year=2023, title="Velmo outlook"))  # fmt: skip
    differences = replay(record, index).differences
    assert "the text of 'velmo' is another one than it was" in differences
    assert "'candidates' differs" in differences
    index.remove("velmo")
    assert "the document 'velmo' is no longer in the index" in replay(record, index).differences
    with pytest.raises(InputError, match="format"):
        replay({"format": "other"}, index)
    index.close()


STATEMENT = """# Annual report

## Consolidated income statement

Years ended December 31, in millions of euros

| | 2023 | 2022 |
|---|---:|---:|
| Net sales | 1,204 | 1,131 |
| Cost of sales | (802) | (770) |
| Gross profit | 402 | 361 |
| Operating income | 155 | 140 |
| Income tax expense | (31) | (29) |
| Net income | 124 | 111 |

## Outlook

We speak of turnover, of growth and of turnover again, and of margins on turnover.
"""


def test_row_of_a_statement_is_found_by_the_metrics_other_name(tmp_path) -> None:
    index = made_index(tmp_path / "ix")
    index.add(report(STATEMENT, doc_id="orv-2023", source="o", title="Orvane annual report 2023", issuer="Orvane AG",
                     doc_type="annual_report", fiscal_year=2023, filed=20240301))  # fmt: skip
    examined = AnchorRetriever(index=index, k=1).examine("What was the turnover of Orvane in 2023?")
    assert "| Net sales | 1,204 |" in examined.documents[0].page_content
    (hit, *_) = examined.record["detectors"]["statement_rows"]
    assert Span(*hit["span"]).slice(STATEMENT).startswith("| Net sales")
    assert "prints revenue" in hit["evidence"]
    jsonschema.validate(examined.record, audit_schema())
    assert replay(examined.record, index).differences == ()
    index.close()


@pytest.mark.parametrize("detector", [name for name in DETECTORS if name != "statement_rows"])
def test_each_detector_works_alone(index, detector) -> None:
    examined = AnchorRetriever(index=index, k=3, detectors=[detector]).examine(
        "How much was the proposed dividend in euros?"
    )
    hits = examined.record["detectors"]
    assert list(hits) == [detector]
    assert hits[detector]
    for hit in hits[detector]:
        assert 0 < hit["score"] <= 1
        assert hit["evidence"]
        start, end = hit["span"]
        assert Span(start, end).slice(index.text(hit["doc_id"])).strip()


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_each_composition_works_alone(index, composition) -> None:
    found = AnchorRetriever(index=index, k=1, compositions={composition: 1.0}).invoke("dividend of the board in euros")
    assert found[0].metadata["doc_id"] == "velmo"
    assert "dividend" in found[0].page_content
    assert found[0].metadata["score"] == 1.0


def test_title_leads_to_text_that_shares_no_word_with_the_question(index) -> None:
    retriever = AnchorRetriever(index=index, k=9, filter={"doc_id": "bron-2023"}, pool_size=1)
    found = retriever.examine("What does it say on liquidity?")
    paths = [candidate["section_path"] for candidate in found.record["candidates"]]
    assert any(path.endswith("Liquidity") for path in paths)
    assert found.documents[0].metadata["section_path"].endswith("Liquidity")


def test_roles_can_be_narrowed(index) -> None:
    found = AnchorRetriever(index=index, k=9, roles=["primary"]).invoke("dividend of the board in euros")
    assert {document.metadata["role"] for document in found} == {"primary"}


@pytest.mark.parametrize(
    "wrong",
    [{"detectors": ["titel_keywords"]}, {"detectors": []}, {"compositions": {"none": 1}}, {"k": 0}, {"roles": ["main"]},
     {"compositions": {"hybrid_embedding": 0}}, {"patterns": {"open": "("}}, {"keywords": {"tiles": 0}}],
)  # fmt: skip
def test_wrong_settings_are_refused(index, wrong) -> None:
    with pytest.raises((ValidationError, InputError)):
        AnchorRetriever(index=index, **wrong)


class TestStandard(RetrieversIntegrationTests):
    """LangChain's standard tests."""

    @pytest.fixture(autouse=True)
    def _index(self, index) -> None:
        type(self).index = index

    @property
    def retriever_constructor(self):
        return AnchorRetriever

    @property
    def retriever_constructor_params(self) -> dict:
        return {"index": self.index}

    @property
    def retriever_query_example(self) -> str:
        return "net sales of tiles, dividend, kilns and wholesale customers"


# --- plan and lines -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "shapes"),
    [
        ("How much debt is there?", {"amount"}),
        ("¿En qué fecha vence el bono?", {"date"}),
        ("Who chairs the committee?", set()),
    ],
)
def test_shape_of_the_value_asked(question, shapes) -> None:
    assert set(make_plan(question).shapes) == shapes


def test_a_concept_stands_where_one_of_its_wordings_stands() -> None:
    plan = make_plan("What was the capex of Brontide in 2023?")
    assert "=capex" in plan.terms
    assert "capex" not in plan.terms
    assert "=capex" in plan.held("Purchases of property, plant and equipment  (1,577)")
    assert "=capex" in plan.held("Las inversiones en inmovilizado material fueron de 12 millones")
    assert "=capex" not in plan.held("Purchases of treasury shares")


def test_topics_and_metrics_lead_to_titles_in_both_languages() -> None:
    assert make_plan("¿Qué litigios hay?").title_words["proceeding"] == "legal"
    words = make_plan("What was the capex?").title_words
    assert "capex in cash_flow" in words.values()


def test_question_about_another_company_finds_nothing_and_says_why(index) -> None:
    examined = AnchorRetriever(index=index, k=3).examine("What dividend does Velmo Paper propose?")
    assert {d.metadata["doc_id"] for d in examined.documents} == {"velmo"}
    absent = AnchorRetriever(index=index, k=3).examine("What were the net sales of Microsoft in 2023?")
    assert not absent.found
    assert absent.record["plan"]["selection"]["empty"]
    jsonschema.validate(absent.record, audit_schema())
    assert AnchorRetriever(index=index, k=3, derive=False).examine("What were the net sales of Microsoft?").found


LINES = st.lists(st.sampled_from(["net debt fell", "sales rose", "", "debt", "la deuda neta", "  net  "]), max_size=8)


@given(LINES, st.dictionaries(st.sampled_from(["net", "debt", "sale", "deud"]), st.floats(0.1, 5), max_size=4))
def test_line_scores_are_shares(lines, weights) -> None:
    text = "\n".join(lines)
    spans = split_lines(text, Span(0, len(text)))
    assert [span.slice(text) for span in spans] == [line.strip() for line in lines if line.strip()]
    scored = score_lines(text, spans, weights)
    assert all(0 <= one.score <= 1 + 1e-9 for one in scored)
    for one in scored:
        assert (one.score > 0) or not one.terms
        if weights and set(one.terms) == set(weights):
            assert one.score == pytest.approx(1)


def test_words_together_count_more_than_words_apart() -> None:
    text = "net debt\nx\ny\nnet\nz\nz\ndebt"
    lines = split_lines(text, Span(0, len(text)))
    together, apart = (score_lines(text, lines, {"net": 1, "debt": 1})[i].score for i in (0, 3))
    assert together > apart > 0


# --- explanation ----------------------------------------------------------------------------------------------


def test_explanation_names_the_lines_that_carried_a_hit(index) -> None:
    question = "operating income of the tile segment"
    result = assemble(index, k=1, filter={"doc_id": "bron-2023"}).invoke(question)[0]
    told = explain_lines(index, question, result)
    (best, *_) = told.carriers()
    assert best.text.startswith("Operating income of the tile segment")
    assert told.maximum == best.score == max(row["score"] for row in told.rows())
    assert told.density == sum(line.score >= 0.5 for line in told.lines) / len(told.lines)
    assert 0 < told.density < 1
    text = index.text("bron-2023")
    assert all(text[row["start"] : row["end"]] == row["text"] for row in told.rows())
    assert told.frame().loc[lambda frame: frame.score == told.maximum, "text"].item() == best.text
    warm = explain_lines(index, question, result, meaning=True, threshold=0.9)
    assert warm.carriers()[0].text == best.text
    assert warm.density < 1


def test_heat_map_escapes_text(tmp_path) -> None:
    index = made_index(tmp_path / "ix")
    index.add(report("# Notes\n\nMargin <b>fell</b> & costs rose.", doc_id="html", source="h", title="H"))
    result = KeywordRetriever(index=index, k=1).invoke("margin costs fell")[0]
    told = explain_lines(index, "margin <costs>", result)
    assert "&lt;b&gt;fell" in told.heat_map()
    assert "<b>" not in told.heat_map()
    assert "margin &lt;costs&gt;" in told.heat_map()
    assert "█" in told.text_map()
    with pytest.raises(InputError, match="threshold"):
        explain_lines(index, "q", result, threshold=2)
    with pytest.raises(InputError, match="doc_id"):
        explain_lines(index, "q", report("x"))
    index.close()
