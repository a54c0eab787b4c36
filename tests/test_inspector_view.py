"""The viewer: every step of a search as data, and a server that answers this machine alone."""

from __future__ import annotations

import http.client
import json
import threading
from pathlib import Path

import pytest
from langchain_core.documents import Document

from fin_rag.errors import InputError, NotFoundError
from fin_rag.index import FilingIndex
from fin_rag.inspector.lookup import Request, Side, Viewer
from fin_rag.inspector.server import make_server

LETTER = (
    "# Orrin Tools plc\n\n## Sales\n\nNet sales were $1,240 million in 2031.\n\n"
    "## Debt\n\nNet debt fell to $90 million.\n"
)
SECRET = "# Plan\n\nThe board intends to buy Corvane for $77 million.\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    opened = FilingIndex.open(tmp_path_factory.mktemp("ix") / "letters")
    facts = {"doc_type": "report", "title": "Letter", "issuer": "Orrin Tools plc", "filed": 20320301}
    opened.add(Document(page_content=LETTER, metadata={"doc_id": "letter", **facts}))
    opened.add(Document(page_content=SECRET, metadata={"doc_id": "secret"}), source_scope="private", session_id="s1")
    yield opened
    opened.close()


@pytest.fixture
def viewer(index):
    made = Viewer({"letters": index})
    yield made
    made.close()


@pytest.fixture
def server(viewer):
    made = make_server(viewer)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def ask(server, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    try:
        sent = {"Content-Type": "application/json", **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection.request(method, path, json.dumps(body) if body is not None else None, sent)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


SEARCH = {"question": "What were Orrin's net sales in 2031?", "sides": [{"index": "letters"}]}


def test_a_search_is_shown_step_by_step(viewer) -> None:
    found = viewer.search(Request("What were Orrin's net sales in 2031?", max_tokens=300), Side("letters"))
    assert [m["text"] for m in found["plan"]["plan"]["mentions"]] == ["Orrin"]
    assert found["plan"]["reasons"]
    assert [one["doc_id"] for one in found["documents"]] == ["letter"]
    assert [one["name"] for one in found["detectors"]] == ["by meaning", "by words", "by section title"]
    assert "1,240" in found["detectors"][1]["hits"][0]["text"]
    assert "1,240" in found["fused"][0]["text"]
    assert found["parents"]
    assert 0 < found["used"] == sum(one["size"] for one in found["packed"]) <= 300


def test_private_documents_are_seen_by_their_session_only(index) -> None:
    request = Request("What does the board intend to buy?")
    for session, seen in ((None, False), ("s1", True)):
        viewer = Viewer({"letters": index}, session)
        shown = json.dumps([viewer.about(), viewer.search(request, Side("letters"))])
        shown += json.dumps(viewer.search(request, Side("letters", plan=False)))
        assert ("Corvane" in shown) is seen
        assert ("secret" in shown) is seen
        if seen:
            assert "Corvane" in viewer.page("letters", "secret")
        else:
            with pytest.raises(NotFoundError):
                viewer.page("letters", "secret")


def test_as_of_and_filter_hold_in_every_step(viewer) -> None:
    for request in (
        Request("net sales", as_of="2032-02-28"),
        Request("net sales", filter={"issuer": "Somebody Else"}),
    ):
        found = viewer.search(request, Side("letters"))
        assert found["fused"] == found["packed"] == found["parents"] == []
        assert [one["hits"] for one in found["detectors"]] == [[], [], []]


def test_figures_are_linked_to_their_spans(viewer) -> None:
    request = Request("What were Orrin's net sales in 2031?")
    report = viewer.verify(request, Side("letters"), "Net sales were $1.24 billion in 2031, net debt $80 million.")
    first, second = report["figures"]
    assert (first["passed"], second["passed"]) == (True, False)
    start, end = first["source_span"]
    assert LETTER[start:end] == "$1,240 million"
    assert report["evidence"][first["document"]]["doc_id"] == "letter"


def test_page_marks_the_spans(viewer) -> None:
    start = LETTER.index("Net sales were")
    page = viewer.page("letters", "letter", f"{start}-{start + 14}")
    assert '<span class="hit" id="hit0">Net sales were</span>' in page
    with pytest.raises(InputError):
        viewer.page("letters", "letter", "12-")


def test_lines_of_a_result(viewer) -> None:
    found = viewer.lines("letters", "net sales", "letter", f"0-{len(LETTER)}")
    best = max(found["lines"], key=lambda line: line["score"])
    assert "sales" in best["text"].lower()


@pytest.mark.parametrize(
    "given",
    [
        {}, {"question": " "}, {"question": "x", "k": 0}, {"question": "x", "k": True},
        {"question": "x", "filter": [1]},
        {"question": "x", "as_of": 3}, {"question": "x", "max_tokens": "many"},
    ],
)  # fmt: skip
def test_odd_requests_get_one_clear_error(given) -> None:
    with pytest.raises(InputError):
        Request.read(given)


def test_server_answers(server) -> None:
    status, page = ask(server, "GET", "/")
    assert status == 200
    assert "Look into an index" in page
    status, answer = ask(server, "POST", "/api/search", SEARCH)
    assert status == 200
    assert "1,240" in json.loads(answer)["sides"][0]["fused"][0]["text"]
    status, page = ask(server, "GET", "/document?index=letters&doc=letter")
    assert status == 200
    assert "Net debt fell" in page
    status, answer = ask(server, "POST", "/api/verify", {**SEARCH, "answer": "Sales were $5 million."})
    assert json.loads(answer)["ok"] is False


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/etc/passwd", None, 404),
        ("GET", "/document?index=letters&doc=none", None, 404),
        ("GET", "/document?index=none&doc=letter", None, 404),
        ("GET", "/document?index=letters&doc=letter&spans=x", None, 400),
        ("POST", "/api/none", {}, 404),
        ("POST", "/api/search", {"question": "x"}, 400),
        ("POST", "/api/search", {"question": "x", "sides": [{"index": "none"}]}, 404),
        ("POST", "/api/search", {"question": "x", "sides": [{"index": "letters", "without": ["magic"]}]}, 400),
        ("POST", "/api/search", {"question": "x", "filter": {"$bad": 1}, "sides": [{"index": "letters"}]}, 400),
        ("POST", "/api/search", [1], 400),
        ("POST", "/api/verify", {**SEARCH, "answer": ""}, 400),
    ],
)
def test_server_says_what_is_wrong(server, method, path, body, status) -> None:
    got, answer = ask(server, method, path, body)
    assert got == status
    assert json.loads(answer)["message"]


def test_other_hosts_and_origins_are_refused(server) -> None:
    port = server.server_port
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "GET", "/", Host=f"elsewhere.example:{port}")[0] == 403
    assert ask(server, "POST", "/api/search", SEARCH, Origin="http://elsewhere.example")[0] == 403
    assert ask(server, "POST", "/api/search", SEARCH, Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert ask(server, "POST", "/api/search", SEARCH, Content_Type="text/plain")[0] == 400


def test_a_taken_port_is_one_clear_error(server, viewer) -> None:
    with pytest.raises(InputError, match="--port"):
        make_server(viewer, server.server_port)
    with pytest.raises(InputError, match="--port"):
        make_server(viewer, 70_000)


def test_view_needs_an_index(tmp_path: Path, capsys) -> None:
    from fin_rag.cli import main

    assert main(["view", "--index", str(tmp_path / "none")]) == 2
    assert "fin-rag ingest" in capsys.readouterr().err
