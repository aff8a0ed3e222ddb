"""The program that forwards records from the store to a sink: forwarded minutes, and its state after an error."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError

import pytest

from components.programs import otlp
from components.programs.log_forwarder import DAY, Progress, Sink, batches, encoded, forward

SOURCE = {"path": "/audit/select/logsql/query", "filter": "*"}
END = 30_000_000
"""The first minute whose records may still arrive."""


class Records:
    """A store with records of some minutes."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self.stored, self.asked = dict(numbers), list[tuple[int, int]]()

    def numbers(self, _source: object, first: int, end: int) -> dict[int, int]:
        self.asked.append((first, end))
        return {minute: number for minute, number in self.stored.items() if first <= minute < end}

    def records(self, _source: object, minute: int) -> Iterator[dict[str, str]]:
        for number in range(self.stored[minute]):
            yield {"_time": "2027-01-15T08:00:00Z", "_msg": f"{minute}-{number};", "_stream": "{}"}


class Sent:
    """A sink that keeps records, and fails from a minute on."""

    def __init__(self, fails_from: int | None = None) -> None:
        self.fails_from, self.texts = fails_from, list[str]()

    def send(self, records: list[bytes]) -> None:
        for record in records:
            [text] = re.findall(r"([0-9]{8}-[0-9]+);", record.decode(errors="replace"))
            if self.fails_from is not None and text >= str(self.fails_from):
                msg = "the sink is down"
                raise OSError(msg)
            self.texts.append(text)


def run(store: Records, sink: Sent, progress: Progress, end: int = END) -> list[str]:
    """Run the program once, and return the saved texts."""
    saved: list[str] = []
    forward(store, sink, "audit", SOURCE, progress, end, lambda sent: saved.append(sent.text()))  # type: ignore[arg-type]
    return saved


def test_the_first_run_sends_no_older_records() -> None:
    store, sink = Records({END - 1: 3}), Sent()

    assert run(store, sink, Progress.read(None, END)) == [f'{{"first": {END}, "sent": []}}']
    assert (store.asked, sink.texts) == ([], [])


def test_each_minute_is_sent_once_and_again_only_with_a_late_record() -> None:
    store, sink, progress = Records({END - 3: 2, END - 1: 1}), Sent(), Progress(END - 3, {})
    run(store, sink, progress)
    assert sink.texts == [f"{END - 3}-0", f"{END - 3}-1", f"{END - 1}-0"]

    again = Progress.read(progress.text(), END)
    run(store, sink, again)
    assert len(sink.texts) == 3

    store.stored[END - 2] = 1
    run(store, sink, again)
    assert sink.texts[3:] == [f"{END - 2}-0"]


def test_a_store_with_fewer_records_than_before_has_nothing_sent_again() -> None:
    store, sink, progress = Records({END - 1: 4}), Sent(), Progress(END - 1, {})
    run(store, sink, progress)
    store.stored[END - 1] = 2
    run(store, sink, progress)
    store.stored[END - 1] = 4
    run(store, sink, progress)

    assert len(sink.texts) == 4


def test_records_of_more_than_a_day_ago_are_no_longer_sent() -> None:
    store, sink, progress = Records({END - DAY - 1: 1, END - DAY: 1}), Sent(), Progress(END - 2 * DAY, {})
    [saved] = run(store, sink, progress)

    assert sink.texts == [f"{END - DAY}-0"]
    assert json.loads(saved) == {"first": END - DAY, "sent": [1]}


def test_a_sink_that_fails_gets_the_rest_in_the_next_run() -> None:
    store = Records({END - minute: 1 for minute in range(1, 41)})
    sink, saved = Sent(fails_from=END - 5), list[str]()
    with pytest.raises(OSError, match=r"^the sink is down$"):
        forward(
            store,  # type: ignore[arg-type]
            sink,  # type: ignore[arg-type]
            "audit",
            SOURCE,
            Progress(END - 40, {}),
            END,
            lambda sent: saved.append(sent.text()),
        )
    assert len(saved) == 2  # After 15 and 30 minutes

    sink.fails_from = None
    run(store, sink, Progress.read(saved[-1], END))
    assert {f"{END - minute}-0" for minute in range(1, 41)} == set(sink.texts)
    assert len(sink.texts) == 45  # Five minutes are sent twice.


def test_batches_are_limited_by_number_and_by_size() -> None:
    assert [len(batch) for batch in batches([b"x"] * 1001)] == [500, 500, 1]
    assert [len(batch) for batch in batches([b"x" * (700 << 10)] * 3)] == [1, 1, 1]
    assert list(batches([])) == []


def test_a_record_has_the_fields_of_the_tenant_and_its_time_in_nanoseconds() -> None:
    record = {"_time": "2026-11-29T18:00:00.5Z", "_stream_id": "x", "_msg": "body", "verb": "get", "stream": "other"}
    found = encoded("audit", record)

    assert otlp.nanoseconds_of("2026-11-29T18:00:00.5Z") == 1_795_975_200_500_000_000
    assert found == otlp.record(1_795_975_200_500_000_000, "body", {"verb": "get", "stream": "audit"})
    assert otlp.nanoseconds_of("2026-11-29T18:00:00.123456789Z") % 10**9 == 123_456_789
    with pytest.raises(ValueError, match=r"^no time in UTC: yesterday$"):
        otlp.nanoseconds_of("yesterday")


class Answers:
    """A server with fixed responses, each with a code and headers."""

    def __init__(self, *answers: tuple[int, dict[str, str]]) -> None:
        self.requests: list[dict[str, str]] = []
        remaining, requests = list(answers), self.requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                requests.append(dict(self.headers))
                code, headers = remaining.pop(0)
                self.send_response(code)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()

            def do_GET(self) -> None:
                self.do_POST()

            def log_message(self, *_: Any) -> None:
                """Suppress the request log."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/logs"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def sent(*answers: tuple[int, dict[str, str]]) -> tuple[int, list[float], int | None]:
    """Send a record; return the number of requests, the waits, and the code of the error."""
    server, waits, code = Answers(*answers), list[float](), None
    try:
        Sink(server.url, {"Authorization": "Bearer x"}, {}).send([otlp.record(1, "x", {})], waits.append)
    except HTTPError as error:
        code = error.code
        error.close()
    finally:
        server.stop()
    assert all(request["Authorization"] == "Bearer x" for request in server.requests)
    return len(server.requests), waits, code


def test_a_busy_sink_is_retried_after_the_time_that_it_names() -> None:
    assert sent((429, {"Retry-After": "7"}), (503, {}), (200, {})) == (3, [7, 2], None)
    assert sent(*[(503, {"Retry-After": "9999"})] * 4) == (4, [30, 30, 30], 503)


def test_rejected_records_and_credentials_are_not_retried() -> None:
    assert sent((401, {})) == (1, [], 401)
    assert sent((400, {})) == (1, [], 400)


def test_a_redirect_does_not_send_the_credential_to_another_server() -> None:
    other = Answers((200, {}))
    try:
        assert sent((307, {"Location": other.url})) == (1, [], 307)
        assert sent((302, {"Location": other.url})) == (1, [], 302)
        assert other.requests == []
    finally:
        other.stop()
