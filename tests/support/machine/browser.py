"""A real headless browser, driven over a pipe by the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None,
    reason="NO BROWSER: pictures of the report are not compared; install one: apt-get install chromium",
)
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--mute-audio")
_SCREEN = {"deviceScaleFactor": 1, "mobile": False}

# The browser reads commands from descriptor 3 and answers on descriptor 4.
_BRIDGE = """
import fcntl, os, sys
for number, end in zip((3, 4), [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]):
    os.dup2(end, number)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    """A page in a separate browser."""

    def __init__(self, folder: Path, width: int = 1300, height: int = 1000) -> None:
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        self._numbers, self._buffer, self.events = count(1), b"", list[dict[str, Any]]()

        command = [str(CHROMIUM), *_FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BRIDGE, str(to_read), str(to_write), *command],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(to_read)
        os.close(to_write)
        self._session = ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, **_SCREEN)
        for domain in ("Page", "Runtime", "Log", "Network", "Performance"):
            self._call(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._write)
        os.close(self._read)

    def open(self, path: Path, fragment: str = "") -> None:
        """Load ``path`` and wait until it is complete."""
        self._call("Page.navigate", url=f"{path.as_uri()}{fragment}")
        while not any(one["method"] == "Page.loadEventFired" for one in self.events):
            self._receive()

    def ask(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; the page's content security policy does not apply to it."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        """Press a key."""
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=_CODES[key])

    def point(self, selector: str) -> None:
        """Move the mouse over the first element that matches ``selector``."""
        place = self.ask(
            f"(() => {{const found = document.querySelector({json.dumps(selector)}); found.scrollIntoView({{block:"
            "'center', behavior: 'instant'}); const box = found.getBoundingClientRect();"
            "return [box.x + box.width / 2, box.y + box.height / 2]})()"
        )
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=place[0], y=place[1])

    def theme(self, name: str, media: str = "screen") -> None:
        """Prefer ``light`` or ``dark``, on a ``screen`` or in ``print``."""
        self._call(
            "Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": name}]
        )

    def picture(self, height: int | None = None) -> bytes:
        """Return a screenshot as PNG, of the uppermost ``height`` pixels if given."""
        if height is not None:
            width = self.ask("innerWidth")
            self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, **_SCREEN)
            self.ask("scrollTo({top: 0, behavior: 'instant'}); new Promise((done) => requestAnimationFrame(done))")
        return base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])

    def metrics(self) -> dict[str, float]:
        """Return the performance metrics of the browser, in seconds and counts."""
        return {one["name"]: one["value"] for one in self._call("Performance.getMetrics")["metrics"]}

    def script(self, *, on: bool) -> None:
        """Enable or disable scripts of the next page."""
        self._call("Emulation.setScriptExecutionDisabled", value=not on)

    def requested(self) -> list[str]:
        """Return the URLs that the browser requested."""
        return [one["params"]["request"]["url"] for one in self.events if one["method"] == "Network.requestWillBeSent"]

    def errors(self) -> list[str]:
        """Return the errors that the browser reported."""
        logged = [one["params"]["entry"]["text"] for one in self.events if one["method"] == "Log.entryAdded"]
        return logged + [str(one["params"]) for one in self.events if one["method"] == "Runtime.exceptionThrown"]

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        call = {"id": number, "method": method, "params": parameters}
        message = call | ({"sessionId": self._session} if self._session else {})
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 16)
            assert part, "the browser ended"
            self._buffer += part
        message, _, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if "method" in found:
            self.events.append(found)
        return found


_CODES = {"ArrowDown": 40, "ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "Enter": 13, "Escape": 27, "End": 35}
