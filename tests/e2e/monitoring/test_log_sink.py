"""A real collector with the sink of a tenant: a server stands for the sink, and another one for the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.render.region.logs.accounts import WRITE_PATH
from components.specs.region.log_sink import LogRecords, LogSinkSpec
from jacquard.machine.errors import ToolchainError
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.log_collector import Collector
from tests.support.monitoring.receiver import Receiver

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

TOKEN = "Bearer of-acme"
SINK = LogSinkSpec(
    endpoint="https://otlp.acme.example/v1/logs",
    secret="log-sink",
    headers={"Authorization": "AUTHORIZATION"},
    records=(LogRecords.CONTAINERS,),
)


@pytest.fixture
def servers() -> Iterator[tuple[Receiver, Receiver]]:
    """Start a store and a sink."""
    both = (Receiver(), Receiver())
    yield both
    for server in both:
        server.stop()


def started(folder: Path, store: Receiver, sink: Receiver, **variables: str) -> Collector:
    """Start a collector with an entry in its journal."""
    try:
        found = Collector(
            folder, store.url, ("acme-train", "x"), sink=SINK, sink_url=f"{sink.url}/v1/logs", variables=variables
        )
    except ToolchainError as error:
        pytest.skip(f"NO COLLECTOR: {error}; make test-nightly builds it")
    found.journal("kubelet.service", "node is ready")
    found.start()
    return found


def test_the_sink_gets_the_chosen_records_with_header_and_cluster(
    tmp_path: Path, servers: tuple[Receiver, Receiver]
) -> None:
    store, sink = servers
    collector = started(tmp_path, store, sink, AUTHORIZATION=TOKEN)
    try:
        collector.write("step 1 done")
        for server in servers:
            wait_until(lambda server=server: server.has("step 1 done"), timeout_seconds=60, what="the line arrives")
        wait_until(lambda: store.has("node is ready"), timeout_seconds=60, what="the store has the journal")
    finally:
        collector.stop()

    assert {(path, header) for path, header, _ in sink.requests} == {("/v1/logs", TOKEN)}
    assert sink.has("k8s.cluster.name")
    assert sink.has("acme-train")
    assert not sink.has("node is ready")
    assert {path for path, _, _ in store.requests} == {WRITE_PATH}
    assert not any(TOKEN in header for _, header, _ in store.requests)


def test_a_missing_secret_and_a_sink_that_fails_do_not_keep_records_from_the_store(
    tmp_path: Path, servers: tuple[Receiver, Receiver]
) -> None:
    store, sink = servers
    sink.status = 401
    collector = started(tmp_path, store, sink)
    try:
        for number in range(3):
            collector.write(f"line {number}")
            text = f"line {number}"
            wait_until(lambda text=text: store.has(text), timeout_seconds=60, what="the store has the line")
        wait_until(lambda: bool(sink.requests), timeout_seconds=60, what="the sink is asked")

        def failed() -> bool:
            lines = collector.metrics().splitlines()
            return any(
                line.startswith("otelcol_exporter_send_failed_log_records{") and 'exporter="otlphttp/sink"' in line
                for line in lines
            )

        wait_until(failed, timeout_seconds=60, what="the failure is counted for the sink")
    finally:
        collector.stop()

    assert {header for _, header, _ in sink.requests} == {""}
