"""Golden sets: files, faults with their lines, the hash, the schema, imports and resolving to spans."""

import json

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.errors import InputError, NotFoundError
from fin_rag.evaluation import GoldenSet, Question
from fin_rag.evaluation.corpus import Corpus
from fin_rag.evaluation.drafts import draft_questions
from fin_rag.evaluation.imports import import_financebench, import_tatqa, import_three_tables
from fin_rag.evaluation.quotes import align_quote, find_quote
from fin_rag.evaluation.resolve import resolve
from fin_rag.schema import Span
from fin_rag.text.canonical import text_sha256

TEXT = (
    "# Veltor\n\n## Debt\n\nNet debt fell to 12.5 million.\n\n## Cash\n\nCash rose.\n\n"
    "## Notes\n\n### Risk\n\nSee above.\n\n## More\n\n### Risk\n\nSee below.\n\n### Debt\n\nNone."
)


def _set(*passages, **more):
    return GoldenSet.from_rows([{"question_id": "q1", "question": "Net debt?", "passages": list(passages), **more}])


def _corpus(text=TEXT, **metadata):
    return Corpus.from_documents(
        [
            Document(
                page_content=text, metadata={"doc_id": "v1", "source": "in/veltor.md", "doc_type": "report", **metadata}
            )
        ]
    )


words = st.text("abc ñ\n\",;'|€0", min_size=1, max_size=12).filter(lambda s: s.strip())
questions = st.lists(
    st.fixed_dictionaries(
        {
            "question": words,
            "passages": st.lists(
                st.fixed_dictionaries(
                    {
                        "document": words,
                        "spans": st.lists(st.integers(0, 90).map(lambda a: (a, a + 7)), min_size=1, max_size=3),
                        "quote": st.one_of(st.just(""), words),
                    }
                ),
                min_size=1,
                max_size=3,
            ),
        },
        optional={"answer": words, "tags": st.lists(words, max_size=2), "tolerance": st.decimals(0, 1, places=3)},
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
@given(rows=questions)
def test_a_set_survives_every_form_of_file(tmp_path_factory, ending, rows):
    golden = GoldenSet.from_rows([{"question_id": f"q{i}", **row} for i, row in enumerate(rows)])
    path = tmp_path_factory.mktemp("golden") / f"set.{ending}"
    golden.save(path)
    assert GoldenSet.load(path).questions == golden.questions
    assert GoldenSet.load(path).content_hash == golden.content_hash


def test_the_hash_is_of_what_is_asked_and_not_of_the_order():
    rows = [{"question_id": i, "question": "?", "type": "unanswerable"} for i in "ab"]
    same = GoldenSet.from_rows(rows).content_hash
    assert GoldenSet.from_rows(rows[::-1]).content_hash == same
    assert GoldenSet.from_rows([rows[0], {**rows[1], "question": "Other?"}]).content_hash != same


def test_every_fault_is_named_with_its_line_and_field(tmp_path):
    path = tmp_path / "set.jsonl"
    good = {"question_id": "q1", "question": "?", "passages": [{"document": "d", "page": 1}]}
    rows = [
        good,
        {**good, "question_id": "q2", "anwser": "x"},
        {**good, "question_id": "q3", "passages": [{"document": "d", "spans": "9-3"}]},
        {**good, "question_id": "q4", "passages": []},
        good,
    ]
    path.write_text("\n\n".join(json.dumps(row) for row in rows), encoding="utf-8-sig")
    with pytest.raises(InputError) as caught:
        GoldenSet.load(path)
    message = str(caught.value)
    assert "4 fault(s)" in message
    assert "line 3: anwser: no such field" in message
    assert "line 5: passages.0.spans" in message
    assert "line 7: row: an answerable question needs" in message
    assert "line 9: question_id: 'q1' was already used in line 1" in message


def test_broken_files_say_where(tmp_path):
    path = tmp_path / "set.jsonl"
    path.write_text('{"question_id": "q1"\n')
    with pytest.raises(InputError, match=r"line 1, column 21"):
        GoldenSet.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="UTF-8"):
        GoldenSet.load(path)
    path.write_text("\n")
    with pytest.raises(InputError, match="holds no question"):
        GoldenSet.load(path)
    (tmp_path / "set.parquet").write_bytes(b"no table")
    with pytest.raises(InputError, match="no Parquet"):
        GoldenSet.load(tmp_path / "set.parquet")
    with pytest.raises(NotFoundError):
        GoldenSet.load(tmp_path / "none.jsonl")
    (tmp_path / "set.txt").write_text("x")
    with pytest.raises(InputError, match=r"\.jsonl"):
        GoldenSet.load(tmp_path / "set.txt")


def test_a_sheet_with_one_passage_a_row(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text(
        "question_id,question,answer,document,page,tags,answerable\n"
        'q1,"Net debt,\nin 2024?",12.5,veltor,3,debt; core,\n'
        "q2,Dividend in 2031?,,,,,no\n",
        encoding="utf-8-sig",
    )
    golden = GoldenSet.load(path)
    assert golden.questions[0].passages[0].page == 3
    assert golden.questions[0].tags == ("debt", "core")
    assert not golden.questions[1].answerable
    path.write_text(path.read_text("utf-8-sig") + "q3,Broken\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 5"):
        GoldenSet.load(path)


def test_the_schema_accepts_what_we_write_and_refuses_what_we_refuse():
    schema = GoldenSet.json_schema()
    row = _set({"document": "v1", "spans": "3-9"}, tolerance="0.01").rows()[0]
    jsonschema.validate(row, schema)
    for wrong in ({**row, "x": 1}, {"question": "?"}, {**row, "passages": [{"spans": "3-9"}]}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_drafts_are_kept_apart():
    golden = GoldenSet((Question(question_id="q", question="?", status="draft"),))
    assert len(golden) == 1
    assert golden.answerable == ()
    assert len(golden.final) == 0


@pytest.mark.parametrize("name", ["v1", "veltor.md", "veltor", "Veltor 2024"])
def test_documents_go_by_any_of_their_names(name):
    assert _corpus(title="Veltor 2024").find(name).doc_id == "v1"
    assert _corpus().find("other") is None


def test_places_become_spans():
    corpus = _corpus(page_map="1:0-48;2:50-80")
    section = resolve(_set({"document": "v1", "section_path": "debt"}), corpus).questions[0].passages[0].spot
    assert section.spans[0].slice(TEXT).strip() == "## Debt\n\nNet debt fell to 12.5 million."
    assert section.loose
    page = resolve(_set({"document": "v1", "page": 2}), corpus).questions[0].passages[0].spot
    assert page.spans == (Span(50, 80),)
    quoted = resolve(_set({"document": "v1", "quote": "NET DEBT  fell to 12,5"}), corpus).questions[0].passages[0].spot
    assert quoted.spans[0].slice(TEXT) == "Net debt fell to 12.5"
    assert not quoted.loose


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"spans": "5-900"}, "lies beyond"),
        ({"page": 7}, "no page 7; its last page is 2"),
        ({"section_path": "Assets"}, "no section 'Assets'"),
        ({"section_path": "Risk"}, "names 2 sections"),
        ({"quote": "nothing of the kind"}, "does not stand"),
        ({"spans": "0-5", "text_sha256": "0" * 64}, "has changed"),
    ],
)
def test_a_place_that_is_not_there_is_an_error(place, message):
    with pytest.raises(InputError, match=message):
        resolve(_set({"document": "v1", **place}), _corpus(page_map="1:0-48;2:50-80"))


def test_a_document_that_is_not_there_is_a_miss_with_a_note():
    golden = _set({"document": "v1", "spans": "0-5", "text_sha256": text_sha256(TEXT)}, {"document": "gone", "page": 1})
    resolved = resolve(golden, _corpus())
    assert resolved.questions[0].missing == ("gone",)
    assert resolved.questions[0].wanted == 2
    assert len(resolved.questions[0].passages) == 1
    assert "'gone' is not among" in resolved.notes[0]


def test_a_quote_that_stands_twice_counts_in_either_place():
    text = "Net debt was 5.\n\nOther.\n\nNet debt was 5."
    passage = resolve(_set({"document": "v1", "quote": "net debt was 5"}), _corpus(text)).questions[0].passages[0]
    assert [spot.spans[0].start for spot in (passage.spot, *passage.equivalents)] == [0, 25]


def test_a_quote_taken_down_by_another_reader_is_aligned():
    text = "Page head\nNet sales 1,234 1,100\nCost of sales (800) (700)\nGross profit 434 400\nPage foot"
    quote = "NETSALES 1,234 1,100 Cost of sales (800) (700) Gross profit 434 400"
    spans = align_quote(text, quote, Span(0, len(text)))
    assert spans
    assert "Page head" not in "".join(span.slice(text) for span in spans)
    assert "Gross profit 434 400" in "".join(span.slice(text) for span in spans)
    assert align_quote(text, "entirely different words of another page", Span(0, len(text))) == ()


@given(st.lists(st.sampled_from(["net", "debt", "5", "ñu", "was"]), min_size=1, max_size=12), st.data())
def test_find_quote_finds_each_place_of_a_run_of_words(parts, data):
    text = " \n".join(parts)
    first = data.draw(st.integers(0, len(parts) - 1))
    last = data.draw(st.integers(first, len(parts) - 1))
    quote = "  ".join(parts[first : last + 1])
    found = [span.slice(text) for span in find_quote(text, quote, Span(0, len(text)))]
    expected = sum(parts[i : i + last - first + 1] == parts[first : last + 1] for i in range(len(parts)))
    assert all(f.split() == quote.split() for f in found)
    assert 1 <= len(found) <= expected


def test_tatqa_contexts_become_documents_with_spans(tmp_path):
    context = {
        "table": {"uid": "t1", "table": [["", "2019", "2018"], ["Sales", "$1,234", "1,100"], ["Cost"]]},
        "paragraphs": [{"order": 2, "text": "Sales rose."}, {"order": 1, "text": "All in millions."}],
        "questions": [
            {"uid": "a", "question": "Sales?", "answer": ["$1,234"], "answer_type": "span", "answer_from": "table",
             "rel_paragraphs": [], "scale": "million"},
            {"uid": "b", "question": "Growth?", "answer": 12.18, "answer_type": "arithmetic",
             "answer_from": "table-text", "rel_paragraphs": ["2"], "scale": "percent"},
        ],
    }  # fmt: skip
    path = tmp_path / "dev.json"
    path.write_text(json.dumps([context]))
    taken = import_tatqa(path)
    resolved = resolve(taken.golden, Corpus.from_documents(taken.documents))
    text = taken.documents[0].page_content
    assert [p.spot.spans[0].slice(text)[:12] for q in resolved.questions for p in q.passages] == [
        "|  | 2019 | ", "Sales rose.", "|  | 2019 | ",
    ]  # fmt: skip
    assert taken.golden.questions[0].scale == 1_000_000
    assert (taken.golden.questions[1].type, taken.golden.questions[1].unit) == ("calculation", "%")
    path.write_text("[{}]")
    with pytest.raises(InputError, match="context 1"):
        import_tatqa(path)


def test_the_shared_sets_resolve_whole(shared):
    for variant, answerable in (("plain", 246), ("hard", 279)):
        taken = import_three_tables(shared / "data" / "corpus_es" / variant)
        resolved = resolve(taken.golden, Corpus.from_documents(taken.documents))
        assert len(resolved.questions) == answerable
        assert resolved.notes == ()
    taken = import_financebench(shared / "data" / "financebench")
    assert len(taken.golden) == 64
    assert all(p.page and p.page >= 1 and p.quote for q in taken.golden for p in q.passages)


def test_three_tables_that_lack_a_column_say_so(tmp_path):
    (tmp_path / "x_documentos.csv").write_text("id_doc,titulo\nA,T\n")
    (tmp_path / "x_pasajes.csv").write_text("id_pasaje\n")
    with pytest.raises(NotFoundError, match="preguntas"):
        import_three_tables(tmp_path)
    (tmp_path / "x_preguntas.csv").write_text("id_pregunta\n")
    with pytest.raises(InputError, match="'tipo'"):
        import_three_tables(tmp_path)


def test_drafts_are_spread_marked_and_stand_where_they_say():
    rows = "\n".join(f"| Line {i} | {i} | {i + 1}.5 | — |" for i in range(1, 30))
    text = (
        f"# Veltor\n\n## Note 1. Debt\n\n{'Net debt fell because the plant was sold in spring. ' * 6}\n\n## Figures\n\n"
        f"In millions of euros\n\n| Item | Note | 2024 | 2023 |\n|---|---|---|---|\n{rows}\n"
    )
    corpus = _corpus(text, title="Veltor", lang="en")
    drafts = draft_questions(corpus, per_document=3)
    assert {q.status for q in drafts} == {"draft"}
    assert all(q.note for q in drafts)
    tables = [q for q in drafts if q.type == "table"]
    assert [q.answer for q in tables] == ["2.5", "11.5", "21.5"]
    assert all(q.scale == 1_000_000 and "in 2024" in q.question for q in tables)
    for question in drafts:
        passage = question.passages[0]
        assert passage.text_sha256 == text_sha256(text)
        if passage.evidence:
            assert question.answer in passage.evidence[0].slice(text)
    note = next(q for q in drafts if q.type == "note")
    assert note.passages[0].spans[0].slice(text).startswith("Net debt fell because the plant was sold in spring.")
    assert draft_questions(corpus, per_document=3) == drafts
    assert drafts.answerable == ()
    finished = GoldenSet.from_rows([{**row, "status": "final"} for row in drafts.rows()])
    assert len(resolve(finished, corpus).questions) == len(drafts)
    with pytest.raises(InputError, match="No document holds"):
        draft_questions(_corpus("Nothing."))
