"""The page of one document: everything that is in the text is on it, in order, escaped and tied together."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from fin_rag.inspector import inspect_page
from fin_rag.inspector.flow import Annotation, Flow, Point, Runs, owners
from fin_rag.schema import InlineFact, Markup, SourceDocument, Span
from fin_rag.splitters import splitter_for


def words(text: str) -> int:
    return len(text.split())


def page_of(text: str, *, chunk_size: int = 48, markup: Markup | None = None, **metadata: str) -> str:
    document = SourceDocument(page_content=text, metadata=metadata, markup=markup or Markup())
    splitter = splitter_for(document, chunk_size=chunk_size, length_function=words)
    return inspect_page(*splitter.split_whole(document), max_tokens=chunk_size)


class Page(HTMLParser):
    """Read a page: text of the main column, ids, links, and attributes by element."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.ids, self.links = "", [], []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._in_main = False
        self.feed(html)
        self.data = json.loads(re.search(r'id="data">(.*?)</script>', html, re.DOTALL)[1])

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.elements.append((tag, values))
        self._in_main = self._in_main or tag == "main"
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])

    def handle_endtag(self, tag):
        self._in_main = self._in_main and tag != "main"

    def handle_data(self, data):
        if self._in_main:
            self.text += data

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [values for _, values in self.elements if name in (values.get("class") or "").split()]


REPORT = (
    """# Orrin Tools plc

## Results

(in millions)
| | 2031 | 2030 |
|---|---|---|
| Sales (1) | 1,240 | 1,100 |
| Profit | 90 | (12) |

(1) Includes <b>Andorra</b> & the islands.

## Debt

Net debt fell. """
    + "The fall came from sales of land. " * 30
)


def bare(text: str) -> str:
    return re.sub(r"[\s|]|-{3}", "", text)


def test_every_character_is_on_the_page_in_order() -> None:
    assert bare(Page(page_of(REPORT)).text) == bare(REPORT)


@given(st.text("ab <>&\"'|#-(1)\n*", max_size=300))
def test_no_text_is_lost_or_taken_for_markup(text: str) -> None:
    page = Page(page_of(text, doc_type="report"))
    assert re.sub(r"[\s|-]", "", page.text) == re.sub(r"[\s|-]", "", text)
    assert not [tag for tag, _ in page.elements if tag == "b"]


def test_notes_are_tied_to_their_marks() -> None:
    page = Page(page_of(REPORT, doc_type="annual_report"))
    (mark,) = page.all("mark")
    assert mark["href"] == "#n0"
    assert "n0" in page.ids
    assert page.all("note")[0]["data-note"] == mark["data-mark"] == "0"
    assert page.data["notes"][0]["text"] == "(1) Includes <b>Andorra</b> & the islands."
    assert page.data["notes"][0]["calls"] == 1


def test_chunks_have_badges_counts_and_alternating_tones() -> None:
    document = Document(page_content=REPORT, metadata={"doc_type": "annual_report"})
    splitter = splitter_for(document, chunk_size=48, length_function=words)
    whole, outline, chunks = splitter.split_whole(document)
    page = Page(inspect_page(whole, outline, chunks))
    badges = page.all("badge")
    assert [b["data-chunk"] for b in badges] == [str(n) for n in range(len(chunks))]
    assert all(f"{c.metadata['token_count']} tokens" in b["data-l"] for b, c in zip(badges, chunks, strict=True))
    tones = {name for element in page.all("run") for name in (element["class"] or "").split()}
    assert {"t0", "t1"} <= tones
    assert [c["chunk_index"] for c in page.data["chunks"]] == list(range(len(chunks)))


def test_links_lead_somewhere_and_ids_are_unique() -> None:
    page = Page(page_of(REPORT, doc_type="annual_report"))
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_facts_stand_where_they_are_printed() -> None:
    text = "Sales were 1,240 million."
    fact = InlineFact("orr:Sales", None, "2030-01-01", "2030-12-31", "EUR", span=Span(11, 16))
    page = page_of(text, markup=Markup(facts=(fact,)))
    assert '<span class="fact" data-fact="0">1,240</span>' in page
    assert Page(page).data["facts"][0]["period"] == "2030-01-01 to 2030-12-31"


def test_turns_and_exchanges_of_a_call() -> None:
    text = (
        "Orrin Tools plc Q3 2031 Earnings Call\n\nOperator: Good day and welcome to the call.\n\n"
        "Ada Pell -- Chief Executive Officer: Sales rose by five percent in the quarter, more than we had planned.\n\n"
        "Operator: Our first question comes from Lia Baum with Corvane Bank.\n\n"
        "Lia Baum -- Corvane Bank -- Analyst: How much of the rise in sales came from price and how much from mix?\n\n"
        "Ada Pell -- Chief Executive Officer: About half of it came from price and the other half came from volume."
    )
    page = Page(page_of(text, doc_type="earnings_call"))
    labels = [turn["data-l"] for turn in page.all("turn")]
    assert any("analyst · exchange 1 question" in label for label in labels)
    assert {t["speaker"] for t in page.data["turns"]} >= {"Ada Pell", "Lia Baum"}
    assert page.all("exchange")


def test_references_of_a_statute_are_links() -> None:
    text = "Artículo 1. Objeto.\n\nRegula la caja.\n\n"
    text += "Artículo 2. Plazo.\n\nRige el artículo 1 de esta ley y el artículo 9."
    page = Page(page_of(text, doc_type="regulation"))
    found = [values for values in page.all("ref") if values.get("href")]
    assert len(found) == 1
    assert found[0]["href"].removeprefix("#") in page.ids
    assert [ref["missing"] for ref in page.data["references"]] == [[], ["art:9"]]
    assert page.all("lost")


def test_nothing_is_fetched_and_only_its_own_script_runs() -> None:
    page = page_of("See </script><script>alert(1)</script> and <img src=x onerror=alert(1)>.")
    assert page.count("<script") == 2
    assert "<img" not in page
    assert not re.search(r"""(?:src|href)="(?!#|data:,)""", page)
    assert "default-src 'none'" in page
    assert "'unsafe-inline'; script-src 'sha256-" in page


def test_same_document_same_page() -> None:
    assert page_of(REPORT) == page_of(REPORT)


def test_what_a_chunk_shares_belongs_to_the_chunk_that_has_it_as_its_body() -> None:
    head = {"chunk_index": 1, "start_index": 20, "end_index": 30, "spans": "0-10;20-30"}
    body = {"chunk_index": 0, "start_index": 0, "end_index": 20, "spans": "0-20"}
    found = owners([Document(page_content="", metadata=m) for m in (head, body)])
    assert [(o.span.start, o.chunks) for o in found] == [(0, (0, 1)), (10, (0,)), (20, (1,))]
    runs = Runs("x" * 40, found)
    assert [(p.span.start, p.span.end, p.chunks) for p in runs.cut(Span(5, 40))] == [
        (5, 10, (0, 1)), (10, 20, (0,)), (20, 30, (1,)), (30, 40, ()),
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6),
    st.lists(st.integers(0, 30), max_size=4),
    st.sets(st.integers(1, 29), max_size=5),
)
def test_marks_may_cross_and_nest(pairs, offsets, cuts) -> None:
    text = "".join(chr(97 + n % 26) for n in range(30))
    annotations = [Annotation(Span(min(p), max(p)), f"m{n}") for n, p in enumerate(pairs)]
    flow = Flow(text, annotations, [Point(at, f'<i id="p{n}"></i>') for n, at in enumerate(offsets)])
    edges = [0, *sorted(cuts), 30]
    html = "".join(flow.slice(a, b) for a, b in pairwise(edges)) + flow.rest()
    assert re.sub(r"<[^>]*>", "", html) == text
    assert html.count("<i ") == len(offsets)
    for number, annotation in enumerate(annotations):
        shown = re.findall(rf'<span class="[^"]*\bm{number}\b[^"]*">([^<]*)</span>', html)
        assert "".join(shown) == annotation.span.slice(text)


def test_inspect_writes_a_page(tmp_path, capsys) -> None:
    from fin_rag.cli import main

    (tmp_path / "a.md").write_text("# Letter\n\nNet debt fell.", encoding="utf-8")
    assert main(["inspect", str(tmp_path / "a.md"), "--html", str(tmp_path / "a.html")]) == 0
    assert "needs no network" in capsys.readouterr().out
    assert "Net debt fell." in (tmp_path / "a.html").read_text("utf-8")
    assert main(["inspect", str(tmp_path / "a.md"), "--html", str(tmp_path / "none" / "a.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "\n\n", "|", "| |\n|---|", "\x0c\x0c", "# "])
def test_odd_text_makes_a_page(text: str) -> None:
    assert "</html>" in page_of(text)
