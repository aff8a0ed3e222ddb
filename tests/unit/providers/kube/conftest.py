"""A server that answers requests from a list, and records the requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from jacquard.providers.kube import ApiServer
from jacquard.providers.kube.kubeconfig import Connection
from tests.support.api_servers.fake_kube import listening

CORE = {
    "resources": [
        {"name": "configmaps", "kind": "ConfigMap", "namespaced": True},
        {"name": "nodes", "kind": "Node", "namespaced": False},
        {"name": "nodes/status", "kind": "Node", "namespaced": False},
    ]
}


@dataclass
class Scripted:
    """Responses in order; discovery of the core group always gets a response."""

    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    def api(self, **options: Any) -> ApiServer:
        """Return a client of this server."""
        return ApiServer(Connection(server=self.url, namespace="here", headers={"X-Test": "1"}, tls=None), **options)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    script: Scripted

    def _handle(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, answer = 200, CORE
        if self.path.removeprefix("/prefix") != "/api/v1":
            self.script.asked.append((self.command, self.path, json.loads(data) if data else None))
            self.script.headers.append(dict(self.headers.items()))
            status, answer = self.script.answers.pop(0)
        text = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PATCH = do_DELETE = do_POST = _handle  # noqa: N815 - names of the standard library

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - signature of the standard library
        """Suppress the request log."""


@pytest.fixture
def script() -> Iterator[Scripted]:
    scripted = Scripted()
    with listening(type("Handler", (_Handler,), {"script": scripted})) as scripted.url:
        yield scripted
