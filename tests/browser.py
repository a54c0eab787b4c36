"""A headless Chromium for tests, driven by the W3C WebDriver protocol of Debian's chromium-driver."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004"}


def missing() -> str:
    """Say what keeps a browser from being started; nothing if all is there."""
    names = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return f"no {' and no '.join(names)} here: apt-get install chromium chromium-driver" if names else ""


class Browser:
    """Start a driver with one window; ``close`` ends both."""

    def __init__(self, *, width: int = 1366, height: int = 768) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._driver = subprocess.Popen(
            [str(shutil.which("chromedriver")), f"--port={port}", "--log-level=OFF"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._root = f"http://127.0.0.1:{port}"
        self._wait_for_driver()
        options = {
            "binary": shutil.which("chromium"),
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--window-size={width},{height}", "--disable-background-networking", "--no-first-run"],
        }  # fmt: skip
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        session = self._call("POST", "/session", {"capabilities": wanted})
        self._session = f"/session/{session['sessionId']}"

    def _wait_for_driver(self) -> None:
        for _ in range(200):
            try:
                if self._call("GET", "/status")["ready"]:
                    return
            except OSError:
                time.sleep(0.05)
        self._driver.kill()
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method: str, path: str, body: object | None = None) -> Any:
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self._root + path, data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            with error:
                raise AssertionError(json.load(error)["value"]["message"]) from None

    def _ask(self, method: str, path: str, body: object | None = None) -> Any:
        return self._call(method, self._session + path, body)

    def open(self, address: str | Path) -> None:
        self._ask("POST", "/url", {"url": address.as_uri() if isinstance(address, Path) else address})

    def script(self, code: str, *arguments: object) -> Any:
        return self._ask("POST", "/execute/sync", {"script": code, "args": list(arguments)})

    def find(self, selector: str) -> str:
        return self._ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector: str) -> None:
        self._ask("POST", f"/element/{self.find(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        self._ask("POST", f"/element/{self.find(selector)}/value", {"text": KEYS.get(text, text)})

    def press(self, key: str) -> None:
        value = KEYS.get(key, key)
        strokes = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self._ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": strokes}]})

    def hover(self, selector: str) -> None:
        self.script("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        origin = {ELEMENT: self.find(selector)}
        moves = [{"type": "pointerMove", "duration": 0, "origin": origin, "x": 0, "y": 0}]
        self._ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": moves}]})

    def text(self, selector: str) -> str:
        return self._ask("GET", f"/element/{self.find(selector)}/text")

    def wait(self, condition: str, *arguments: object) -> Any:
        """Wait until an expression of the page is true, and return it."""
        for _ in range(300):
            found = self.script(f"return {condition}", *arguments)
            if found:
                return found
            time.sleep(0.1)
        raise AssertionError(f"the page never came to: {condition}")

    def console(self) -> list[str]:
        """Return what the page wrote to its console since the last call."""
        return [f"{one['level']}: {one['message']}" for one in self._ask("POST", "/se/log", {"type": "browser"})]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("GET", "/screenshot")))

    def close(self) -> None:
        try:
            self._call("DELETE", self._session)
        finally:
            self._driver.terminate()
            self._driver.wait(timeout=20)
