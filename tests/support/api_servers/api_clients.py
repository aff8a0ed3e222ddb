"""Clients of an API server that retry and keep watches open as client-go does, with counts of what the server did."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from jacquard.lab.rehearsal import ports
from tests.support.api_servers.http2 import Answer, ConnectionLostError, Http2Connection, connect

_RETRIED = (429, 503, 504)
"""Statuses after which clients send a request again: client-go after the time of the header Retry-After
(client-go:rest/with_retry.go), and its callers after a timeout."""
_WAIT_SECONDS = 1.0
"""Time that the API server requests with a 429 (kubernetes:staging/src/k8s.io/apiserver/pkg/server/filters), and that
clients wait before they connect again."""
_SYNCED = b'"k8s.io/initial-events-end":"true"'
PATCH = "application/strategic-merge-patch+json"


@dataclass(slots=True)
class Tally:
    """Requests of one population of clients."""

    statuses: Counter[int] = field(default_factory=Counter)
    """Number of responses by status, including those that were retried."""
    seconds: list[float] = field(default_factory=list)
    """Durations of requests, without retries."""
    lost: int = 0
    """Number of connections that ended."""
    redirected: int = 0
    """Number of connections on which the server sent a GOAWAY."""

    @property
    def rejected(self) -> int:
        """Return the number of rejected requests."""
        return self.statuses[429]


class Client:
    """One identity with one connection, and another one after a GOAWAY or the end of the first.

    Args:
        port: Port of the server on this machine.
        secured: TLS context, with a certificate if the identity has one.
        headers: Headers of each request, such as a token.
        tally: Counts of the population.
    """

    def __init__(self, port: int, secured: ssl.SSLContext, headers: Mapping[str, str], tally: Tally) -> None:
        self._port, self._secured, self._headers = port, secured, headers
        self._tally = tally
        self._connections: list[Http2Connection] = []
        """All connections; the last one is for new requests."""
        self._opening = asyncio.Lock()

    async def open(self) -> Http2Connection:
        """Return the connection, after it is open."""
        async with self._opening:
            while not self._connections or self._connections[-1].closed or self._connections[-1].draining:
                if self._connections:
                    self._tally.lost += self._connections[-1].closed
                    self._tally.redirected += self._connections[-1].draining
                await self._connect()
        return self._connections[-1]

    async def _connect(self) -> None:
        try:
            self._connections.append(await connect(ports.LOOPBACK, self._port, self._secured, self._headers))
        except OSError:
            await asyncio.sleep(_WAIT_SECONDS)

    async def request(self, method: str, path: str, body: Any = None, *, content: str = "application/json") -> Answer:
        """Send a request until the server executes it, and return the response."""
        data = b"" if body is None else json.dumps(body).encode()
        while True:
            connection, start = await self.open(), time.perf_counter()
            with contextlib.suppress(ConnectionLostError):
                answer = await connection.send(method, path, data, content=content)
                self._tally.seconds.append(time.perf_counter() - start)
                if not await self.is_retried(answer):
                    return answer

    async def is_retried(self, answer: Answer) -> bool:
        """Count a response and, if it is to be retried, wait as the server requests."""
        self._tally.statuses[answer.status] += 1
        if answer.status not in _RETRIED:
            return False
        await asyncio.sleep(float(answer.headers.get("retry-after", _WAIT_SECONDS)))
        return True

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections:
            connection.close()


class Watch:
    """A watch with initial events, opened again when it ends, as reflectors of client-go 0.35 and later do.

    Source: client-go:tools/cache/reflector.go and the feature WatchListClient.
    """

    def __init__(self, client: Client, path: str, selector: str = "") -> None:
        self._client = client
        chosen = f"fieldSelector={quote(selector)}&" if selector else ""
        self._path = (
            f"{path}?{chosen}watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
            "&allowWatchBookmarks=true&timeoutSeconds=3000"
        )
        self.synced = asyncio.Event()
        """Set while the watch is open and has received all initial events."""

    async def run(self) -> None:
        """Keep the watch open until the task is cancelled."""
        while True:
            connection = await self._client.open()
            with contextlib.suppress(ConnectionLostError):
                answer = await connection.send("GET", self._path, on_line=self._receive)
                assert answer.status == 200 or await self._client.is_retried(answer), (self._path, answer)
            self.synced.clear()

    def _receive(self, line: bytes) -> None:
        if _SYNCED in line:
            self.synced.set()
