"""A proxy for a local API server that rejects requests, or drops the responses of processed requests."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterable
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from jacquard.lab.rehearsal import ports
from tests.support.api_servers.api_server import LocalApiServer

_READS = ("GET", "HEAD")
_OF_CONNECTION = frozenset({"connection", "content-length", "host", "transfer-encoding"})
"""Hop-by-hop headers, which are not forwarded."""
_SECONDS = 120


class FaultyConnection:
    """Connection to ``server`` that numbers its writes from 1; without a fault, it forwards everything.

    A dry run is not a write. Watches are not supported. The certificate is that of the server, at the same address.
    """

    def __init__(self, server: LocalApiServer, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.refuse: Callable[[int], int | None] = lambda _: None
        """Status of the response to a write that is rejected; None to forward it."""
        self.lose: Callable[[int], bool] = lambda _: False
        """Whether the response of a processed write is dropped."""
        self._lock, self._writes = threading.Lock(), 0
        config = json.loads(server.kubeconfig.read_text())
        [entry] = config["clusters"]
        target = urlsplit(entry["cluster"]["server"])
        trusted = ssl.create_default_context(cafile=entry["cluster"]["certificate-authority"])
        certificate = Path(entry["cluster"]["certificate-authority"])
        self._http = _Server(self, target.netloc, trusted)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._http.serve_forever, daemon=True).start()
        entry["cluster"]["server"] = f"https://{ports.LOOPBACK}:{self._http.server_port}"
        kubeconfig.write_text(json.dumps(config))

    @property
    def writes(self) -> int:
        """Return the number of writes so far."""
        return self._writes

    def reset(self) -> None:
        """Remove the faults, and restart the count at 1."""
        self.refuse, self.lose = lambda _: None, lambda _: False
        with self._lock:
            self._writes = 0

    def number(self) -> int:
        """Return the number of the next write."""
        with self._lock:
            self._writes += 1
            return self._writes

    def stop(self) -> None:
        """Close the connection."""
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _pass_on(self) -> None:
        connection, body = self.server.connection, self.rfile.read(int(self.headers.get("Content-Length") or 0))
        number = 0 if self.command in _READS or "dryRun=" in self.path else connection.number()
        status = connection.refuse(number) if number else None
        if status is not None:
            self._answer(status, {"Retry-After": "1"}, b"")
            return
        upstream = HTTPSConnection(self.server.target, timeout=_SECONDS, context=self.server.trusted)
        try:
            upstream.request(self.command, self.path, body or None, _passed(self.headers.items()))
            answer = upstream.getresponse()
            headers, content = _passed(answer.getheaders()), answer.read()
        finally:
            upstream.close()
        if number and connection.lose(number):
            self.close_connection = True
        else:
            self._answer(answer.status, headers, content)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815 - names of http.server

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response_only(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - name of http.server
        """Suppress the request log."""


class _Server(ThreadingHTTPServer):
    def __init__(self, connection: FaultyConnection, target: str, trusted: ssl.SSLContext) -> None:
        [port] = ports.free(1)
        super().__init__((ports.LOOPBACK, port), _Handler)
        self.connection, self.target, self.trusted = connection, target, trusted


def _passed(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: value for key, value in headers if key.lower() not in _OF_CONNECTION}
