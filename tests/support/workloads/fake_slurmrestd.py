"""A stand-in for slurmrestd: nodes, their jobs, reservations, and the updates of Slinky's operator.

The operator and API servers reach it as their HTTP proxy, since the name of the Service does not resolve outside a
cluster, and its pod has no network. It accepts
every update. As slurmctld (SLURM:src/slurmctld/node_mgr.c, ``update_node``), it adds the flag DRAIN to the state of a
node, and removes the flag when the node is undrained or resumed; jobs on the node continue.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_DRAIN = "DRAIN"
"""Flag in the state of a node that accepts no further jobs."""
_LISTS = ("jobs", "pings", "partitions", "errors", "warnings")


class FakeSlurmrestd:
    """An HTTP server on a free port of the loopback interface; `stop` ends it."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes: dict[str, dict[str, Any]] = {name: {"name": name, "state": ["IDLE"]} for name in nodes}
        self.reservations: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.nodes, self.reservations))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def start_job(self, node: str) -> None:
        """Start a job that uses all of a node."""
        self.nodes[node]["state"] = ["ALLOCATED", *self.nodes[node]["state"][1:]]

    def end_job(self, node: str) -> None:
        """End the job of a node, which stays drained if it was."""
        self.nodes[node]["state"] = ["IDLE", *self.nodes[node]["state"][1:]]

    def reserve(self, name: str, node: str, start: float, end: float) -> None:
        """Create a reservation of a node, with times in seconds since 1970."""
        times = {
            key: {"set": True, "infinite": False, "number": int(time)}
            for key, time in (("start_time", start), ("end_time", end))
        }
        self.reservations.append({"name": name, "node_list": node, "flags": ["SPEC_NODES"], **times})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(nodes: dict[str, dict[str, Any]], reservations: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self._node()
            self._answer([nodes[name]] if name in nodes else list(nodes.values()) if not name else [])

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
            node = nodes.get(self._node(), {})
            node.update({key.removesuffix("_str"): value for key, value in body.items() if key != "state"})
            if node and body.get("state"):
                node["state"] = [node["state"][0], *(flag for flag in body["state"] if flag == _DRAIN)]
            self._answer([])

        def _node(self) -> str:
            """Return the node that the request is about; empty for all nodes."""
            return self.path.partition("?")[0].partition("/node/")[2].rstrip("/")

        def _answer(self, found: list[dict[str, Any]]) -> None:
            moment = {"set": True, "infinite": False, "number": 1}
            lists = {**{key: [] for key in _LISTS}, "nodes": found, "reservations": reservations}
            body = {**lists, "last_update": moment, "last_backfill": moment}
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
