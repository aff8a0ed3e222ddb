"""Sends audit events and logs of the control plane of a cluster from the region's store to the sink of its tenant.

Records arrive in the store after their time, and much later after an outage. Each run therefore compares the number of
records of each minute in the store with the number that the sink has, and sends all records of minutes with more. A
record is thus sent at least once, and again with a late record of the same minute. The numbers are an annotation of an
object of the cluster. `components.render.region.logs.forwarder` renders the pod of the program, which runs with the
standard library only.
"""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import json
import logging
import ssl
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from components.programs import otlp
from components.programs.api import Api

MANAGER = "jacquard-log-forwarder"
DAY = 24 * 60
"""Minutes for which late records are sent."""
SETTLED_SECONDS = 30
"""Time after the end of a minute in which the collectors of the control plane usually write its records."""
LOG = logging.getLogger("log-forwarder")
_SAVED_MINUTES = 15
_BATCH_RECORDS, _BATCH_BYTES = 500, 1 << 20
_SECONDS, _ATTEMPTS = 30, 4
_RETRIED = (429, 502, 503, 504)
"""Codes with which a server asks for the same request later (opentelemetry.io/docs/specs/otlp, retryable codes)."""


class Progress:
    """Number of records of each minute since 1970 that the sink has."""

    def __init__(self, first: int, sent: Mapping[int, int]) -> None:
        """Store the first minute whose records are sent, and the numbers by minute."""
        self.first, self.sent = first, dict(sent)

    @classmethod
    def read(cls, text: str | None, now: int) -> Progress:
        """Return the progress of `text`; without a text, records are sent from minute ``now``."""
        if not text:
            return cls(now, {})
        value = json.loads(text)
        return cls(value["first"], dict(enumerate(value["sent"], value["first"])))

    def text(self) -> str:
        """Return the progress in JSON."""
        minutes = range(self.first, max(self.sent, default=self.first - 1) + 1)
        return json.dumps({"first": self.first, "sent": [self.sent.get(minute, 0) for minute in minutes]})

    def forget_before(self, first: int) -> None:
        """Remove the minutes before ``first``, whose records are no longer sent."""
        self.first = max(self.first, first)
        self.sent = {minute: number for minute, number in self.sent.items() if minute >= self.first}

    def unsent(self, stored: Mapping[int, int]) -> list[int]:
        """Return the minutes of which the store has more records than the sink, in order."""
        return sorted(minute for minute, number in stored.items() if number > self.sent.get(minute, 0))


class Store:
    """Queries of the records that the tenant may read."""

    def __init__(self, url: str, login: str, context: ssl.SSLContext) -> None:
        """Store the address, ``user:password`` and the CA of the store."""
        self._url, self._context = url, context
        self._headers = {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}

    def numbers(self, source: Mapping[str, str], first: int, end: int) -> dict[int, int]:
        """Return the number of records of each minute from ``first`` to before ``end``."""
        lines = self._lines(source, first, end, " | stats by (_time:1m) count() records")
        return {otlp.nanoseconds_of(line["_time"]) // (60 * 10**9): int(line["records"]) for line in lines}

    def records(self, source: Mapping[str, str], minute: int) -> Iterator[dict[str, str]]:
        """Yield the records of a minute, with all their fields."""
        yield from self._lines(source, minute, minute + 1)

    def _lines(self, source: Mapping[str, str], first: int, end: int, pipes: str = "") -> Iterator[dict[str, str]]:
        query = f"_time:[{_text_of(first)}, {_text_of(end)}) {source['filter']}{pipes}"
        body = urllib.parse.urlencode({"query": query}).encode()
        request = urllib.request.Request(self._url + source["path"], body, self._headers)  # noqa: S310 - https only
        with urllib.request.urlopen(request, timeout=_SECONDS, context=self._context) as answer:  # noqa: S310
            for line in answer:
                yield json.loads(line)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is an error: another server must not get the credential."""

    def redirect_request(self, *_: Any) -> None:
        """Return None, so that the opener raises the response."""


class Sink:
    """The sink of the tenant."""

    def __init__(self, url: str, headers: Mapping[str, str], resource: Mapping[str, str]) -> None:
        """Store the URL, further headers, and the attributes of all records."""
        form = {"Content-Type": otlp.CONTENT_TYPE, "Content-Encoding": "gzip"}
        self._url, self._headers, self._resource = url, {**headers, **form}, resource
        self._opener = urllib.request.build_opener(_NoRedirects)

    def send(self, records: list[bytes], wait: Callable[[float], None] = time.sleep) -> None:
        """Send records, again after each answer that asks for it.

        Raises:
            OSError: the sink is not reachable, or does not accept the records (`HTTPError`).
        """
        body = gzip.compress(otlp.request(self._resource, records))
        for attempt in range(_ATTEMPTS):
            request = urllib.request.Request(self._url, body, self._headers, method="POST")  # noqa: S310 - https only
            try:
                with self._opener.open(request, timeout=_SECONDS):
                    return
            except HTTPError as error:
                if error.code not in _RETRIED or attempt == _ATTEMPTS - 1:
                    raise
                asked = error.headers.get("Retry-After")
                error.close()
                wait(_delay(asked, attempt))


def forward(
    store: Store,
    sink: Sink,
    name: str,
    source: Mapping[str, str],
    progress: Progress,
    end: int,
    save: Callable[[Progress], None],
) -> None:
    """Send the records of all minutes before ``end`` that the sink lacks, and save the progress.

    Args:
        store: the region's store.
        sink: the tenant's sink.
        name: name of the source, which each record has as ``stream``.
        source: path of the query and filter of the records.
        progress: numbers of records that the sink has; updated.
        end: first minute whose records may still arrive.
        save: stores the progress.
    """
    progress.forget_before(end - DAY)
    minutes = progress.unsent(store.numbers(source, progress.first, end)) if progress.first < end else []
    total = 0
    for index, minute in enumerate(minutes, start=1):
        number = 0
        for batch in batches(encoded(name, record) for record in store.records(source, minute)):
            sink.send(batch)
            number += len(batch)
        progress.sent[minute] = number
        total += number
        if index % _SAVED_MINUTES == 0:
            save(progress)
    save(progress)
    LOG.info("%s: sent %d records of %d minutes", name, total, len(minutes))


def encoded(stream: str, record: Mapping[str, str]) -> bytes:
    """Return a record of the store as a record of OTLP, without the store's own fields."""
    fields = {key: value for key, value in record.items() if not key.startswith("_")}
    return otlp.record(otlp.nanoseconds_of(record["_time"]), record.get("_msg", ""), {**fields, "stream": stream})


def batches(records: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the records in lists of limited size."""
    batch: list[bytes] = []
    size = 0
    for record in records:
        if batch and (len(batch) == _BATCH_RECORDS or size + len(record) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += len(record)
    if batch:
        yield batch


def _text_of(minute: int) -> str:
    return f"{dt.datetime.fromtimestamp(minute * 60, dt.UTC):%Y-%m-%dT%H:%M:%SZ}"


def _delay(asked: str | None, attempt: int) -> float:
    return min(int(asked), _SECONDS) if asked and asked.isdecimal() else 2**attempt


def run(api: Api, settings: Mapping[str, Any], now: float) -> None:
    """Forward the records of each source of ``settings`` at ``now``, in seconds since 1970.

    A source that fails does not stop the others.

    Raises:
        SystemExit: a source failed.
    """
    files = settings["store"]
    login = f"{files['username']}:{Path(files['password']).read_text(encoding='utf-8').strip()}"
    store = Store(files["url"], login, ssl.create_default_context(cafile=files["authority"]))
    headers = {name: Path(file) for name, file in settings["headers"].items()}
    values = {name: file.read_text(encoding="utf-8").strip() for name, file in headers.items() if file.exists()}
    sink = Sink(settings["sink"], values, settings["resource"])
    end, failed = int(now - SETTLED_SECONDS) // 60, False
    for name, source in settings["sources"].items():
        try:
            _forward_one(api, store, sink, name, source, settings["state"], end)
        except (OSError, ValueError, KeyError) as error:
            LOG.error("%s: %s: %s", name, type(error).__name__, error)  # noqa: TRY400 - the text suffices
            failed = True
    if failed:
        sys.exit(1)


def _forward_one(
    api: Api, store: Store, sink: Sink, name: str, source: Mapping[str, str], state: Mapping[str, str], end: int
) -> None:
    key = f"{state['prefix']}{name}"

    def current() -> dict[str, Any]:
        found = api.get("v1", "configmaps", state["namespace"], state["name"])
        if found is None:
            msg = f"no ConfigMap {state['name']}"
            raise KeyError(msg)
        return found

    text = (current()["metadata"].get("annotations") or {}).get(key)
    progress = Progress.read(text, end)

    def save(sent: Progress) -> None:
        nonlocal text
        if sent.text() != text:
            text = sent.text()
            api.note("v1", "configmaps", current(), {key: text})

    forward(store, sink, name, source, progress, end, save)


def main(server: str, account: str, settings: str) -> None:
    """Forward the records of one cluster."""
    api = Api.of_account(server, Path(account), MANAGER)
    run(api, json.loads(Path(settings).read_text(encoding="utf-8")), time.time())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
