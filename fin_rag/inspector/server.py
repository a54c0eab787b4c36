"""The viewer: a web page over an index, for this machine alone."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from fin_rag.errors import FinRagError, InputError, NotFoundError
from fin_rag.inspector.lookup import Request, Side, Viewer
from fin_rag.inspector.page import whole_page

HOST: Final = "127.0.0.1"
_MOST_BYTES: Final = 2_000_000
_NAMES: Final = ("127.0.0.1", "localhost")
_logger = logging.getLogger(__name__)


def make_server(viewer: Viewer, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the viewer, bound to the loopback address; ``serve_forever`` starts it.

    It answers this machine alone: requests under another host name, or from pages of another origin, are refused,
    and nothing that it answers changes an index. Port 0 takes a free one (``server.server_port``).

    Raises:
        InputError: if the port is taken or may not be used.
    """
    handler = type("Handler", (_Handler,), {"viewer": viewer, "lock": Lock()})
    try:
        return ThreadingHTTPServer((HOST, port), handler)
    except (OSError, OverflowError) as error:
        raise InputError(f"Port {port} cannot be used: {error}. Give another with --port.") from error


class _Handler(BaseHTTPRequestHandler):
    viewer: Viewer
    lock: Lock
    server_version = "fin_rag"
    sys_version = ""

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        if address.path == "/":
            self._answer(lambda: self._html(view_page(self.viewer)))
        elif address.path == "/document":
            self._answer(
                lambda: self._html(
                    self.viewer.page(asked.get("index", ""), asked.get("doc", ""), asked.get("spans", ""))
                )
            )
        else:
            self._json({"message": "There is nothing here."}, HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        work = {"/api/search": self._search, "/api/verify": self._verify, "/api/lines": self._lines}.get(self.path)
        if work is None:
            self._json({"message": "There is nothing here."}, HTTPStatus.NOT_FOUND)
        else:
            self._answer(lambda: self._json(work(self._body())))

    def _search(self, given: Mapping[str, Any]) -> dict[str, Any]:
        request = Request.read(given)
        return {"sides": [self.viewer.search(request, side) for side in _sides(given)]}

    def _verify(self, given: Mapping[str, Any]) -> dict[str, Any]:
        answer = given.get("answer")
        if not isinstance(answer, str) or not answer.strip():
            raise InputError("There is no answer to check. Type one.")
        return self.viewer.verify(Request.read(given), _sides(given)[0], answer)

    def _lines(self, given: Mapping[str, Any]) -> dict[str, Any]:
        index, question, doc_id, spans = (str(given.get(name, "")) for name in ("index", "question", "doc_id", "spans"))
        return self.viewer.lines(index, question, doc_id, spans)

    # --- HTTP ---------------------------------------------------------------------------------

    def _answer(self, work: Callable[[], None]) -> None:
        if not self._is_local():
            self._json({"message": "This page is for this machine alone."}, HTTPStatus.FORBIDDEN)
            return
        try:
            with self.lock:
                work()
        except NotFoundError as error:
            self._json({"message": str(error)}, HTTPStatus.NOT_FOUND)
        except FinRagError as error:
            self._json({"message": str(error)}, HTTPStatus.BAD_REQUEST)
        except BrokenPipeError:
            self.close_connection = True

    def _is_local(self) -> bool:
        """Tell whether host and origin are this server's: another site's page cannot reach through a browser."""
        port = self.connection.getsockname()[1]
        hosts = {f"{name}:{port}" for name in _NAMES}
        origin = self.headers.get("Origin")
        return self.headers.get("Host") in hosts and (origin is None or origin.removeprefix("http://") in hosts)

    def _body(self) -> dict[str, Any]:
        if self.headers.get_content_type() != "application/json":
            raise InputError("The body must be JSON, with its content type.")
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            length = -1
        if not 0 <= length <= _MOST_BYTES:
            raise InputError(f"The body must have at most {_MOST_BYTES} bytes.")
        try:
            given = json.loads(self.rfile.read(length))
        except ValueError as error:
            raise InputError(f"The body is no JSON: {error}.") from error
        if not isinstance(given, dict):
            raise InputError("The body must be a JSON object.")
        return given

    def _html(self, page: str) -> None:
        self._send(page.encode(), "text/html; charset=utf-8", HTTPStatus.OK)

    def _json(self, value: object, status: HTTPStatus = HTTPStatus.OK) -> None:
        self._send(json.dumps(value, ensure_ascii=False, default=str).encode(), "application/json", status)

    def _send(self, body: bytes, kind: str, status: HTTPStatus) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind), ("Content-Length", str(len(body))), ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("X-Frame-Options", "DENY"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # named by http.server
        """Write to the log in place of standard error."""
        _logger.info(format, *args)


def _sides(given: Mapping[str, Any]) -> list[Side]:
    listed = given.get("sides")
    if not isinstance(listed, list) or not 1 <= len(listed) <= 2 or not all(isinstance(one, dict) for one in listed):
        raise InputError("'sides' must list one or two indexes with their settings.")
    return [
        Side(str(one.get("index", "")), bool(one.get("plan", True)), tuple(map(str, one.get("without") or ())))
        for one in listed
    ]


def view_page(viewer: Viewer) -> str:
    """Return the page with the search box."""
    return whole_page("fin_rag: look into an index", _BODY, "view", data=viewer.about())


_BODY: Final = """<header><h1>Look into an index</h1>
<form id="ask"><label class="wide">Question <input id="question" type="search" autofocus
placeholder="in English or Spanish"></label>
<label>As of <input id="as-of" size="10" placeholder="2024-06-30"></label>
<label>Filter <input id="only" size="26" placeholder='{"ticker": "ACME"}'></label>
<label>Results <input id="k" type="number" min="1" max="100" value="8"></label>
<label>Budget <input id="budget" type="number" min="1" max="100000" value="1500"> tokens</label>
<label>Beside it <select id="beside"></select></label>
<button type="submit">Search</button></form>
<p id="said" role="status" class="soft"></p>
<div class="tools"><button type="button" id="theme">Dark / light</button></div></header>
<main id="found" tabindex="-1"><section id="held"></section><div id="sides"></div>
<section id="check" hidden><h2>Figure check</h2><p class="soft">Type an answer: each figure is held against the packed
context of the left side.</p><textarea id="answer" rows="3" aria-label="Answer to check"></textarea>
<button type="button" id="verify">Check figures</button><div id="verdicts" aria-live="polite"></div></section></main>"""
