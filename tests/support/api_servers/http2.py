"""Asynchronous HTTP/2 client with one connection per identity, as client-go has one for all requests of a process.

A thousand nodes with ten watches each would need ten thousand connections of HTTP/1.1, which no cluster has.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, Event, ResponseReceived, StreamEnded, StreamReset
from h2.settings import SettingCodes
from hyperframe.frame import Frame, GoAwayFrame

_WINDOW = 2**24
"""Flow control window of a connection and of a stream, in bytes; larger than all responses of a test."""


class ConnectionLostError(Exception):
    """The connection ended before the response was complete."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Response to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class _Stream:
    answer: asyncio.Future[Answer]
    on_line: Callable[[bytes], None] | None
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)


class Http2Connection(asyncio.Protocol):
    """One connection to an API server, opened by `connect`.

    After a GOAWAY of the server, running requests and watches continue, and `draining` is true: the client must send
    further requests on another connection, as clients in Go do.
    """

    def __init__(self, authority: str, headers: Mapping[str, str]) -> None:
        self._h2 = H2Connection(H2Configuration(header_encoding="utf-8"))
        self._authority, self._headers = authority, tuple(headers.items())
        self._streams: dict[int, _Stream] = {}
        self.closed, self.draining = False, False
        # By itself, h2 accepts no frames after a GOAWAY, so that running requests would fail.
        self._h2._frame_dispatch_table[GoAwayFrame] = self._drain

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._h2.initiate_connection()
        self._h2.update_settings({SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW, SettingCodes.ENABLE_PUSH: 0})
        self._h2.increment_flow_control_window(_WINDOW)
        self._flush()

    def data_received(self, data: bytes) -> None:
        for event in self._h2.receive_data(data):
            self._handle(event)
        self._flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        for stream in self._streams.values():
            if not stream.answer.done():
                stream.answer.set_exception(ConnectionLostError(str(exc)))
        self._streams.clear()

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        *,
        content: str = "application/json",
        on_line: Callable[[bytes], None] | None = None,
    ) -> asyncio.Future[Answer]:
        """Send a request; the future has the response when it is complete.

        Args:
            method: HTTP method.
            path: Path with query.
            body: Body, smaller than the flow control window of the server.
            content: Media type of the body.
            on_line: Called with each line of a successful response, as it arrives. The body of the answer is then
                empty.
        """
        if self.closed or self.draining:
            raise ConnectionLostError
        stream = self._h2.get_next_available_stream_id()
        base = ((":method", method), (":scheme", "https"), (":authority", self._authority), (":path", path))
        kind = (("content-type", content),) if body else ()
        self._h2.send_headers(stream, [*base, *self._headers, *kind], end_stream=not body)
        if body:
            self._h2.send_data(stream, body, end_stream=True)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._streams[stream] = _Stream(answer, on_line)
        self._flush()
        return answer

    def close(self) -> None:
        """Close the connection without waiting for responses."""
        self._transport.abort()

    def _flush(self) -> None:
        if waiting := self._h2.data_to_send():
            self._transport.write(waiting)

    def _handle(self, event: Event) -> None:
        if isinstance(event, DataReceived):
            self._h2.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id)
            if stream := self._streams.get(event.stream_id):
                _receive(stream, event.data or b"")
        elif isinstance(event, ResponseReceived):
            stream = self._streams[event.stream_id]
            stream.headers = {str(name): str(value) for name, value in event.headers or ()}
            stream.status = int(stream.headers[":status"])
        elif isinstance(event, StreamEnded | StreamReset):
            self._end(event)

    def _drain(self, frame: GoAwayFrame) -> tuple[list[Frame], list[Event]]:
        assert frame.error_code == 0, frame
        self.draining = True
        for stream in [identifier for identifier in self._streams if identifier > frame.last_stream_id]:
            # The server ignores requests that it received after it decided to send the GOAWAY.
            self._streams.pop(stream).answer.set_exception(ConnectionLostError("sent after the GOAWAY"))
        return [], []

    def _end(self, event: StreamEnded | StreamReset) -> None:
        stream = self._streams.pop(event.stream_id, None)
        if stream is None or stream.answer.done():
            return
        if isinstance(event, StreamReset):
            stream.answer.set_exception(ConnectionLostError(f"stream reset: {event.error_code}"))
        else:
            stream.answer.set_result(Answer(stream.status, stream.headers, bytes(stream.body)))


def _receive(stream: _Stream, data: bytes) -> None:
    stream.body += data
    if stream.on_line is None or stream.status != 200:
        return
    *lines, rest = bytes(stream.body).split(b"\n")
    stream.body = bytearray(rest)
    for line in lines:
        stream.on_line(line)


async def connect(
    host: str, port: int, secured: ssl.SSLContext, headers: Mapping[str, str] | None = None
) -> Http2Connection:
    """Open a connection; ``headers`` are sent with each request."""
    secured.set_alpn_protocols(["h2"])
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(
        lambda: Http2Connection(f"{host}:{port}", headers or {}), host, port, ssl=secured, ssl_handshake_timeout=600
    )
    return connection
