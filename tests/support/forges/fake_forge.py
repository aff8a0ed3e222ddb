"""A small fake forge: the comments of one pull request over HTTP, with the APIs of GitHub and GitLab.

It also serves commands in other processes::

    with fake_forge() as forge:
        run(["jacquard", "comment", "comment.md"], env={**os.environ, **forge.github(run="12.1")})
    assert [comment.author for comment in forge.comments] == ["github-actions[bot]"]

`FakeForge.answer` queues a response for the next matching request. `FakeForge.before` runs a function when a matching
request has arrived and before it is processed, such as another complete run.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlparse

BOT = "github-actions[bot]"
TOKEN = "canary-7f3a"
NUMBER = 7
LIMIT_CHARACTERS = 65_536
MOST_A_PAGE = 100
DATE = "Sun, 22 Nov 2026 16:00:00 GMT"
"""Header ``Date`` of each response."""


@dataclass
class Stored:
    """A comment as the forge stores it."""

    number: int
    author: str
    body: str
    edits: int = 0


@dataclass(frozen=True)
class Answer:
    """A response that replaces the normal one."""

    status: int
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False
    """Whether the request is processed all the same, and only its response is replaced."""


@dataclass
class FakeForge:
    """Pull request 7 of ``acme/regions``, and the requests for it."""

    address: str = ""
    comments: list[Stored] = field(default_factory=list)
    requests: list[tuple[str, str]] = field(default_factory=list)
    """Method and path of each request that lists comments or changes something."""
    headers: list[Mapping[str, str]] = field(default_factory=list)
    _answers: list[tuple[str, Answer]] = field(default_factory=list)
    _before: list[tuple[str, Callable[[], object]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _next: int = 1000

    def github(self, *, run: str = "1.1", token: str = TOKEN) -> dict[str, str]:
        """Return the variables of a GitHub Actions job."""
        number, _, attempt = run.partition(".")
        return {
            "GITHUB_ACTIONS": "true",
            "GITHUB_API_URL": self.address,
            "GITHUB_GRAPHQL_URL": f"{self.address}/graphql",
            "GITHUB_REPOSITORY": "acme/regions",
            "GITHUB_REF": f"refs/pull/{NUMBER}/merge",
            "GITHUB_RUN_NUMBER": number,
            "GITHUB_RUN_ATTEMPT": attempt or "1",
            "GITHUB_TOKEN": token,
        }

    def gitlab(self, *, run: str = "1.1", token: str = TOKEN) -> dict[str, str]:
        """Return the variables of a GitLab CI job."""
        number, _, job = run.partition(".")
        return {
            "GITLAB_CI": "true",
            "CI_API_V4_URL": self.address,
            "CI_PROJECT_ID": "5",
            "CI_PROJECT_PATH": "acme/regions",
            "CI_MERGE_REQUEST_IID": str(NUMBER),
            "CI_PIPELINE_IID": number,
            "CI_JOB_ID": job or "1",
            "GITLAB_TOKEN": token,
        }

    def answer(self, method: str, answer: Answer) -> None:
        """Set the response to the next request with ``method``; GET means a list request."""
        self._answers.append((method, answer))

    def before(self, method: str, act: Callable[[], object]) -> None:
        """Run ``act`` when the next request with ``method`` has arrived, before it is processed."""
        self._before.append((method, act))

    def add(self, body: str, author: str = "somebody") -> Stored:
        """Add a comment of ``author``."""
        with self._lock:
            self._next += 1
            self.comments.append(Stored(self._next, author, body))
            return self.comments[-1]

    def requested(self, *methods: str) -> list[str]:
        """Return those of ``methods`` that were requested, in order."""
        return [method for method, _ in self.requests if method in methods]

    def take(self, method: str, path: str) -> tuple[Callable[[], object], Answer | None]:
        """Return the function to run before a request is processed, and the response that replaces the normal one."""
        with self._lock:
            self.requests.append((method, path))
            act = next((entry for entry in self._before if entry[0] == method), None)
            if act:
                self._before.remove(act)
            instead = next((entry for entry in self._answers if entry[0] == method), None)
            if instead:
                self._answers.remove(instead)
        return act[1] if act else lambda: None, instead[1] if instead else None

    def do(self, method: str, path: str, query: Mapping[str, list[str]], body: str) -> tuple[int, Any]:
        """Process a request for comments."""
        last = path.rpartition("/")[2]
        number = int(last) if last.isdigit() else None
        if method in ("POST", "PATCH", "PUT") and len(body) > LIMIT_CHARACTERS:
            return 422, {"message": f"Body is too long (maximum is {LIMIT_CHARACTERS} characters)"}
        if method == "POST":
            return 201, self._shown(self.add(body, BOT))
        if number is None:
            page, size = int(query["page"][0]), min(int(query["per_page"][0]), MOST_A_PAGE)
            with self._lock:
                return 200, [self._shown(one) for one in self.comments[(page - 1) * size : page * size]]
        with self._lock:
            found = next((one for one in self.comments if one.number == number), None)
            if found is None:
                return 404, {"message": "Not Found"}
            if method == "DELETE":
                self.comments.remove(found)
                return 204, None
            found.body, found.edits = body.replace("\n", "\r\n"), found.edits + 1  # Line endings of browsers
            return 200, self._shown(found)

    @staticmethod
    def _shown(stored: Stored) -> dict[str, Any]:
        """Return a comment in the formats of both forges, whose common fields are equal."""
        who = {"login": stored.author, "id": sum(stored.author.encode())}
        return {"id": stored.number, "user": who, "author": who, "body": stored.body, "system": False}


@contextmanager
def fake_forge() -> Iterator[FakeForge]:
    """Serve a forge on a free port."""
    forge = FakeForge()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"forge": forge}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    forge.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield forge
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    forge: FakeForge
    protocol_version = "HTTP/1.1"

    def _handle(self) -> None:
        url = urlparse(self.path)
        length = int(self.headers.get("Content-Length") or 0)
        sent = json.loads(self.rfile.read(length)) if length else {}
        self.forge.headers.append(dict(self.headers))
        if url.path == "/graphql":
            self._reply(200, {"data": {"viewer": {"login": BOT}}})
            return
        if url.path == "/user":
            self._reply(200, {"id": sum(BOT.encode())})
            return
        if not url.path.startswith(("/repos/acme/regions/issues/", f"/projects/5/merge_requests/{NUMBER}/notes")):
            self._reply(404, {"message": "Not Found"})
            return
        act, instead = self.forge.take(self.command, url.path)
        act()
        if instead is None or instead.after:
            status, answer = self.forge.do(self.command, url.path, parse_qs(url.query), sent.get("body", ""))
        if instead is not None:
            status, answer = instead.status, {"message": instead.message}
        self._reply(status, answer, instead.headers if instead else {})

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle  # noqa: N815 - named by the server

    def _reply(self, status: int, answer: Any, headers: Mapping[str, str] | None = None) -> None:
        content = b"" if answer is None else json.dumps(answer).encode()
        self.send_response_only(status)
        for name, value in {"Date": DATE, "Content-Length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Suppress the request log."""
