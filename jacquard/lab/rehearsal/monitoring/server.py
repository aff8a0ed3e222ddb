"""Server of the simulated exporters, which Prometheus uses as its proxy, and of the receiver of notices."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from jacquard.lab.rehearsal import ports
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring.configuration import NOTICES
from jacquard.providers.kube import ApiError

Exporters = Callable[[Mapping[str, str]], str]
"""Function from the query of a scrape to the metrics."""


def start(port: int, exporters: Exporters, notices: Path) -> ThreadingHTTPServer:
    """Serve on a port of the loopback interface until this process ends.

    Args:
        port: the port; 0 for a free one.
        exporters: returns the metrics of a scrape.
        notices: file to which each notice is appended, as one line of JSON.
    """
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                body = exporters(dict(parse_qsl(urlsplit(self.path).query)))
            except (ApiError, RehearsalError, OSError) as error:
                self._send(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n")
                return
            self._send(HTTPStatus.OK, body)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            receiver = unquote(urlsplit(self.path).path.removeprefix(NOTICES))
            with lock, notices.open("a", encoding="utf-8") as lines:
                lines.write(f"{json.dumps(notice(receiver, body))}\n")
            self._send(HTTPStatus.OK, "")

        def _send(self, status: HTTPStatus, text: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer((ports.LOOPBACK, port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def notice(receiver: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notice of Alertmanager without links, with its time and receiver."""
    return {
        "time": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "receiver": receiver,
        "status": body["status"],
        "alerts": [{key: alert[key] for key in ("status", "labels", "annotations")} for alert in body["alerts"]],
    }
