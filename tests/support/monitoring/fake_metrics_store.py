"""A fake metrics store with configured responses, for responses that no healthy store sends."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from jacquard.lab.rehearsal import ports

Form = Mapping[str, str]
Answer = tuple[int, str]
"""Status and body."""


def series(*found: tuple[Mapping[str, str], Any], kind: str = "vector", **envelope: Any) -> Answer:
    """Return a response with labels and value, or timestamps, of each series."""
    key = "value" if kind == "vector" else "values"
    result = [
        {"metric": dict(labels), key: [0, str(value)] if kind == "vector" else [[moment, "1"] for moment in value]}
        for labels, value in found
    ]
    body = {"status": "success", "data": {"resultType": kind, "result": result}, **envelope}
    return 200, json.dumps(body)


@contextmanager
def serving(
    respond: Callable[[str, Form], Answer], certificate: Path | None = None, headers: list[Form] | None = None
) -> Iterator[str]:
    """Serve ``respond``, a function of path and form, and yield the address.

    Args:
        respond: Returns the response to a request.
        certificate: Folder with ``tls.crt`` and ``tls.key``; None to serve without TLS.
        headers: Receives the headers of each request.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            form = parse_qs(self.rfile.read(length).decode())
            if headers is not None:
                headers.append(dict(self.headers))
            status, body = respond(self.path, {name: values[0] for name, values in form.items()})
            self.send_response(status)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer((ports.LOOPBACK, 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "tls.crt", certificate / "tls.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://{ports.LOOPBACK}:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
