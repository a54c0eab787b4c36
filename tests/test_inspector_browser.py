"""The pages in a real browser: clicks, keys, hovering, search, links to spans, and a silent console."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from langchain_core.documents import Document

from fin_rag.index import FilingIndex
from fin_rag.inspector import inspect_page
from fin_rag.inspector.lookup import Viewer
from fin_rag.inspector.server import make_server
from fin_rag.loaders import FinancialDocumentLoader
from fin_rag.splitters import splitter_for
from tests.browser import Browser, missing

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "a browser is here")]
DATA = Path(__file__).resolve().parents[1] / "examples" / "data"
REPORT, CALL, ACT = "informe-anual-2024-vientalba.md", "plwc-call-2024q4.txt", "circular-7-2024.md"


@pytest.fixture(scope="module")
def started():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def browser(started):
    started.console()
    yield started
    assert started.console() == []


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")

    def make(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            document = FinancialDocumentLoader(str(DATA / name)).load()[0]
            splitter = splitter_for(document, chunk_size=128, length_function=lambda text: len(text.split()))
            path.write_text(inspect_page(*splitter.split_whole(document), max_tokens=128), encoding="utf-8")
        return path

    return make


def visible(browser: Browser, selector: str) -> bool:
    return browser.script(
        "const b = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return b.bottom > 0 && b.top < innerHeight;",
        selector,
    )


def test_a_note_shows_beside_its_mark(browser, page) -> None:
    browser.open(page(REPORT))
    browser.hover(".mark")
    assert "amortizaciones" in browser.text("#card")
    assert browser.script("return document.querySelectorAll('.note.lit').length") > 0
    browser.press("Escape")
    assert browser.script("return document.getElementById('card').hidden")


def test_a_mark_leads_to_its_note(browser, page) -> None:
    browser.open(page(REPORT))
    browser.hover(".mark")
    browser.click(".mark")
    assert browser.script("return location.hash") == "#n0"
    assert visible(browser, "#n0 ~ .note, .note[data-note~='0']")


def test_keys_walk_over_chunks_and_sections(browser, page) -> None:
    browser.open(page(REPORT))
    for _ in range(3):
        browser.press("j")
    assert browser.text("#details h2") == "Chunk 2"
    assert visible(browser, "#c2")
    browser.press("k")
    assert browser.text("#details h2") == "Chunk 1"
    browser.press("n")
    browser.press("n")
    assert browser.script("return document.querySelectorAll('.tree a.here').length") == 1
    before = browser.script("return getComputedStyle(document.body).backgroundColor")
    browser.press("d")
    assert browser.script("return getComputedStyle(document.body).backgroundColor") != before
    browser.press("?")
    assert browser.script("return document.getElementById('help').open")
    browser.press("Escape")
    assert not browser.script("return document.getElementById('help').open")


def test_sections_can_be_filtered_and_chosen(browser, page) -> None:
    browser.open(page(REPORT))
    browser.press("/")
    browser.type("#filter", "litigios")
    shown = browser.script(
        "return [...document.querySelectorAll('.tree a')].filter(a => a.checkVisibility()).map(a => a.textContent)"
    )
    assert any("Litigios" in title for title in shown)
    assert not any("Carta" in title for title in shown)
    target = browser.script(
        "const a = [...document.querySelectorAll('.tree a')].find(a => a.textContent.includes('Litigios'));"
        "a.click(); return a.getAttribute('href')"
    )
    assert visible(browser, target)


def test_bars_and_text_choose_chunks(browser, page) -> None:
    browser.open(page(CALL))
    browser.click(".strip a:nth-child(5)")
    assert browser.text("#details h2") == "Chunk 4"
    assert visible(browser, "#c4")
    assert browser.script("return document.querySelectorAll('main .chosen').length") > 1


def test_references_lead_to_provisions(browser, page) -> None:
    browser.open(page(ACT))
    browser.hover("a.ref[href]")
    href = browser.script("return document.querySelector('a.ref[href]').getAttribute('href')")
    assert "→" in browser.text("#card")
    browser.click("a.ref[href]")
    assert visible(browser, href)


def test_readable_on_a_small_laptop(browser, page) -> None:
    browser.open(page(REPORT))
    assert browser.script("return document.documentElement.scrollWidth <= innerWidth")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    index = FilingIndex.open(tmp_path_factory.mktemp("ix") / "samples")
    index.add([DATA / REPORT, DATA / CALL])
    text = "# Odd\n\n<img src=x onerror=alert(1)> sales of $5 million."
    index.add(Document(page_content=text, metadata={"title": "<b>Odd"}))
    viewer = Viewer({"samples": index})
    server = make_server(viewer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()
    viewer.close()
    index.close()


def search(browser: Browser, question: str) -> None:
    browser.script("document.getElementById('question').value = ''")
    browser.type("#question", question)
    browser.type("#question", "Enter")
    browser.wait("/results|nothing/.test(document.getElementById('said').textContent)")


def test_search_figures_and_links_to_spans(browser, address) -> None:
    browser.open(address)
    assert "samples: 3 documents" in browser.text("#held h2")
    search(browser, "¿Cuál fue el EBITDA de Vientalba en 2024?")
    assert "Vientalba" in browser.text(".chips")
    assert browser.script("return document.querySelectorAll('.detectors > div').length") == 3
    assert browser.script("return document.querySelectorAll('.gauge i').length") > 0
    browser.type("#answer", "El EBITDA fue de 537,7 millones de euros en 2024 y de 999,9 en 2023.")
    browser.click("#verify")
    browser.wait("document.querySelectorAll('#verdicts .figure').length === 2")
    assert browser.text(".figure.ok") == "537,7 millones de euros"
    assert "999,9" in browser.text(".figure.bad")
    href = browser.script("return document.querySelector('a.figure.ok').href")
    browser.open(href)
    assert "537,7" in browser.text("#hit0")
    assert visible(browser, "#hit0")


def test_lines_of_a_result_are_warmer_the_more_they_carry(browser, address) -> None:
    browser.open(address)
    search(browser, "What was the margin of Software and Services?")
    browser.script("document.querySelector('.heat').open = true")
    assert browser.wait("document.querySelectorAll('table.lines tr').length") > 0


def test_two_settings_side_by_side(browser, address) -> None:
    browser.open(address)
    browser.script("document.getElementById('beside').selectedIndex = 1")
    search(browser, "EBITDA 2024")
    browser.wait("document.querySelectorAll('.side').length === 2")


def test_text_of_documents_never_becomes_markup(browser, address) -> None:
    browser.open(address)
    search(browser, "odd sales of $5 million")
    assert browser.script("return document.querySelectorAll('main img, main td b').length") == 0
    assert "onerror" in browser.script("return document.getElementById('sides').textContent")


def test_errors_are_said(browser, address) -> None:
    browser.open(address)
    browser.type("#only", '{"$odd": 1}')
    browser.type("#question", "x")
    browser.type("#question", "Enter")
    browser.wait("document.getElementById('said').classList.contains('failed')")
    # The browser itself notes the refused request; nothing else may be said.
    assert [line for line in browser.console() if "400" not in line] == []
