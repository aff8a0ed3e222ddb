"""A Git server over HTTP: `git http-backend` behind Python's HTTP server."""

from __future__ import annotations

import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit


class GitServer:
    """Read-only server for all repositories below ``folder``; `stop` ends it."""

    def __init__(self, folder: Path) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(b"")

            def do_POST(self) -> None:
                self._answer(self.rfile.read(int(self.headers["Content-Length"])))

            def _answer(self, body: bytes) -> None:
                asked = urlsplit(self.path)
                variables = {
                    "GIT_PROJECT_ROOT": str(folder),
                    "GIT_HTTP_EXPORT_ALL": "1",
                    "REQUEST_METHOD": self.command,
                    "PATH_INFO": asked.path,
                    "QUERY_STRING": asked.query,
                    "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                    "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                    "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                }
                command = ["git", "http-backend"]
                done = subprocess.run(
                    command, input=body, env={**os.environ, **variables}, capture_output=True, check=True
                )
                head, _, content = done.stdout.partition(b"\r\n\r\n")
                headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
                self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Suppress the request log."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stop the server."""
        self._server.shutdown()
        self._server.server_close()
