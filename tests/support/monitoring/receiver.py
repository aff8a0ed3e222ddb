"""A server in place of a tenant's sink."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """A server that records requests, and responds with ``status``."""

    def __init__(self) -> None:
        self.status, self.requests = 200, list[tuple[str, str, bytes]]()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                receiver.requests.append((self.path, self.headers.get("Authorization", ""), body))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Suppress the request log."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def has(self, text: str) -> bool:
        return any(text.encode() in body for _, _, body in self.requests)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
