"""Retrieval by plan: statements, comparisons, budgets, parents, and filters that hold under any question."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.errors import InputError
from fin_rag.index import FilingIndex
from fin_rag.index.filters import as_of_filter, parse_filter, scope_filter
from fin_rag.schema import parse_spans
from fin_rag.splitters import ChunkingConfig
from tests.fakes import WordEmbeddings, words

TICKERS = ["ORRN", "BRWT", "TLVR", "QRGS", "MLSA"]
NAMES = ["Orrin Tools", "Brightwater Foods", "Talvor Furniture", "Quirgas Energy", "Melsa Health"]


def filing(number: int, name: str, year: int, **metadata: object) -> Document:
    base = 1000 * number + year
    text = f"""# Annual report {year}

## Item 1. Business

{name} makes goods in {number + 3} plants and sells them to retailers. Our largest customer is a chain of stores.

## Item 3. Legal Proceedings

We are party to a lawsuit about a patent. We do not expect a material loss.

## Item 7. Results

Sales rose because of higher volumes. Working capital was stable, our capital needs are modest.

CONSOLIDATED STATEMENTS OF OPERATIONS

(in thousands)

| | {year} | {year - 1} |
|---|---|---|
| Net sales | {base},100 | {base},050 |
| Cost of sales | {base},010 | {base},005 |
| Gross profit | 90 | 45 |
| Operating income | 60 | 30 |
| Income taxes | 10 | 5 |
| Net income | 50 | 25 |

CONSOLIDATED BALANCE SHEETS

(in thousands)

| | December 31, {year} | December 31, {year - 1} |
|---|---|---|
| Cash | {base},200 | {base},150 |
| Inventories | 300 | 250 |
| Total current assets | 900 | 800 |
| Total assets | {base},500 | {base},400 |
| Accounts payable | 100 | 90 |
| Total current liabilities | 400 | 350 |
| Total liabilities | 600 | 500 |
| Stockholders' equity | 800 | 700 |
"""
    return Document(
        page_content=text,
        metadata={
            "doc_id": f"{number}-{year}",
            "source": f"{number}-{year}.md",
            "title": f"10-K {year}",
            "issuer": f"{name}, Inc.",
            "ticker": TICKERS[number],
            "doc_type": "10-K",
            "fiscal_year": year,
            "fiscal_period": "FY",
            "period_end": year * 10_000 + 1231,
            "filed": (year + 1) * 10_000 + 215,
            "lang": "en",
            **metadata,
        },
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    made = FilingIndex.open(
        tmp_path_factory.mktemp("plans"),
        embeddings=WordEmbeddings(),
        tokenization=words(),
        config=ChunkingConfig(max_tokens=60, overlap_tokens=0),
    )
    documents = []
    for number, name in enumerate(NAMES):
        for year in (2021, 2022, 2023):
            private = {"source_scope": "private", "session_id": f"s{year % 2}"} if number == 4 else {}
            documents.append(filing(number, name, year, **private))
    assert not made.add(documents).failed
    yield made
    made.close()


def ids(found: list[Document]) -> set[str]:
    return {document.metadata["doc_id"] for document in found}


def test_metric_leads_to_the_statements_that_print_it(index) -> None:
    found = index.retriever(k=3).invoke("What was Orrin Tools' inventory turnover in FY2022?")
    types = [document.metadata.get("statement_type") for document in found]
    assert set(types[:2]) == {"income", "balance_sheet"}
    assert ids(found[:2]) == {"0-2022"}
    assert "prints" in found[0].metadata["reason"]


def test_results_are_slices_of_their_source(index) -> None:
    for question in ("Orrin Tools quick ratio 2023", "lawsuits of Brightwater", "compare Orrin and Talvor net sales"):
        for found in [*index.retriever(k=6).invoke(question), *index.retriever().retrieve(question, max_chars=900)]:
            text = index.text(found.metadata["doc_id"])
            assert found.page_content == "\n\n".join(s.slice(text) for s in parse_spans(found.metadata["spans"]))


def test_comparison_gives_each_issuer_its_place(index) -> None:
    found = index.retriever(k=2).invoke("Compare the net sales of Orrin Tools and Talvor Furniture in 2022")
    assert ids(found) == {"0-2022", "2-2022"}


def test_company_not_in_the_index_finds_nothing(index) -> None:
    assert index.retriever().invoke("What were the net sales of Zorvath Mining in 2022?") == []
    explained = index.retriever().explain("What were the net sales of Zorvath Mining in 2022?")
    assert explained["empty"]
    assert "Zorvath Mining" in str(explained["reasons"])


def test_private_issuer_is_not_told_to_other_sessions(index) -> None:
    question = "Melsa Health net sales in 2023"
    assert index.retriever().invoke(question) == []
    assert ids(index.retriever(session_id="s1").invoke(question)) == {"4-2023"}
    assert ids(index.retriever(session_id="s0").invoke(question)) <= {"4-2022"}


def test_as_of_hides_later_filings(index) -> None:
    found = index.retriever(as_of="2023-06-30").invoke("Orrin Tools net income in 2023")
    assert found
    assert all(document.metadata["filed"] <= 20230630 for document in found)


def test_amendment_is_seen_from_its_filing_on(tmp_path) -> None:
    made = FilingIndex.open(tmp_path, embeddings=WordEmbeddings(), tokenization=words())
    original = filing(0, "Orrin Tools", 2022)
    amended = filing(0, "Orrin Tools", 2022, doc_id="0-2022a", title="10-K/A 2022", form="10-K/A", filed=20230901)
    amended.page_content = amended.page_content.replace("2022,100", "2022,777")
    made.add([original, amended])
    before = made.retriever(as_of="2023-08-31", k=2).invoke("Orrin Tools net sales 2022")
    after = made.retriever(as_of="2023-09-30", k=2).invoke("Orrin Tools net sales 2022")
    assert ids(before) == {"0-2022"}
    assert after[0].metadata["doc_id"] == "0-2022a"
    made.close()


@settings(max_examples=25)
@given(st.integers(1, 3000), st.sampled_from(["Orrin Tools quick ratio 2023", "lawsuits of Talvor", "capex", "x"]))
def test_no_budget_is_ever_exceeded(index, budget, question) -> None:
    found = index.retriever().retrieve(question, max_chars=budget)
    assert len("\n\n".join(d.page_content for d in found)) <= budget
    found = index.retriever().retrieve(question, max_tokens=budget)
    count = index.tokenization.count
    assert sum(count(d.page_content, header=d.metadata["context_header"]) for d in found) <= budget


def test_clipped_statement_keeps_heads_and_the_rows_asked(index) -> None:
    [first, *_] = index.retriever().retrieve("Orrin Tools inventories at the end of 2023", max_chars=330)
    assert first.metadata["statement_type"] == "balance_sheet"
    assert "Inventories" in first.page_content
    assert "in thousands" in first.page_content
    assert "2023" in first.page_content
    assert "clipped" in first.metadata["found_by"]


@pytest.mark.parametrize("wrong", [{}, {"max_chars": 0}, {"max_chars": 10, "max_tokens": 10}])
def test_a_budget_is_needed(index, wrong) -> None:
    with pytest.raises(InputError, match="max_tokens"):
        index.retriever().retrieve("net sales", **wrong)


def test_parents_are_merged_and_list_their_hits(index) -> None:
    question = "Orrin Tools lawsuit patent loss 2023"
    plain = index.retriever(k=8, without=("statement",)).invoke(question)
    grown = index.retriever(k=8, without=("statement",), parent_chars=5000).invoke(question)
    hits = {document.id for document in plain}
    children = [child for document in grown for child in document.metadata["children"]]
    assert len(children) == len(set(children))
    assert hits <= set(children)
    spans = [parse_spans(document.metadata["spans"])[0] for document in grown]
    assert all(not a.overlaps(b) for i, a in enumerate(spans) for b in spans[i + 1 :])


def test_parts_can_be_switched_off(index) -> None:
    found = index.retriever(k=5, without=("statement", "line", "title")).invoke("Orrin Tools quick ratio 2023")
    assert all(set(d.metadata["found_by"]) <= {"dense", "keyword", "table"} for d in found)
    with pytest.raises(InputError, match="colour"):
        index.retriever(without=("colour",))


def test_threads_agree(index) -> None:
    retriever = index.retriever(k=4)
    questions = [f"{name} net sales in {year}" for name in NAMES for year in (2021, 2022, 2023)]
    single = [[d.id for d in retriever.invoke(q)] for q in questions]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda q: [d.id for d in retriever.invoke(q)], questions)) == single


def leaks(index: FilingIndex, rounds: int) -> None:
    """Ask random questions under random filters; compare with what each document's own metadata allow."""
    draw = random.Random(5)  # repeatable, no secret
    subjects = ["net sales", "quick ratio", "lawsuits", "largest customer", "inventories", "net income", "plants"]
    filters = [None, {"fiscal_year": 2022}, {"ticker": {"$in": ["ORRN", "TLVR"]}}, {"fiscal_year": {"$lt": 2023}}]
    everything = [m for session in (None, "s0", "s1") for m in index.documents(session_id=session)]
    for _ in range(rounds):
        number = draw.randrange(len(NAMES) + 1)
        name = (NAMES[number] if draw.random() < 0.7 else TICKERS[number]) if number < len(NAMES) else ""
        year = draw.choice(["", " in 2022", " FY21", " for 2023 and 2022", " in 2030"])
        question = f"{draw.choice(subjects)} {f'of {name}' if name else ''}{year}"
        wanted = draw.choice(filters)
        as_of = draw.choice([None, 20220630, "2023-03-01", 20250101])
        session = draw.choice([None, "s0", "s1", "zzz"])
        rule = parse_filter(wanted) & as_of_filter(as_of) & scope_filter(session)
        permitted = {str(m["doc_id"]) for m in everything if rule.matches(m)}
        if number < len(NAMES):
            permitted = {one for one in permitted if one.startswith(f"{number}-")}
        if draw.random() < 0.5:
            found = index.retriever(k=6, filter=wanted, as_of=as_of, session_id=session).invoke(question)
        else:
            found = index.retriever(filter=wanted, as_of=as_of, session_id=session).retrieve(question, max_chars=1500)
        assert ids(found) <= permitted, (question, wanted, as_of, session)
        assert found or not permitted or "plants" not in question


def test_random_plans_never_leak(index) -> None:
    leaks(index, 300)


@pytest.mark.slow
def test_ten_thousand_random_plans_never_leak(index) -> None:
    leaks(index, 10_000)
