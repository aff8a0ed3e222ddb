"""The sink of a tenant for metrics: real Prometheus in agent mode, the proxy and store of a region, and a real sink.

`metrics_agents` says what stands for prometheus-operator, and `victoria_stores` what stands for the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from components.specs.region.metrics_sink import MetricsSinkSpec
from jacquard.machine.errors import ToolchainError
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.metrics_agents import Exporter, MetricsAgent, Sink, series
from tests.support.monitoring.stored_region import region, stored
from tests.support.monitoring.victoria_stores import VictoriaStores, running_stores

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

ACME, NEIGHBOUR = "acme-train", "globex-lab"
TOKEN = "of-acme"
SPEC = MetricsSinkSpec(
    endpoint="https://metrics.acme.example/api/v1/write", secret="metrics-sink", metrics=("DCGM_*", "up")
)
ALL = '{__name__=~".+"}'
GPU, LOAD = "DCGM_FI_DEV_GPU_UTIL", "node_load1"


@dataclass(frozen=True, slots=True)
class Rig:
    """A region with the agents of two tenants, the first of which has a sink."""

    stores: VictoriaStores
    exporter: Exporter
    sink: Sink
    agent: MetricsAgent

    def stored(self, query: str) -> list[float]:
        """Return the values of a query at the store of the region."""
        return [float(item["value"][1]) for item in series(self.stores.store_url, query)]

    def sent(self, query: str) -> list[float]:
        """Return the values of a query at the sink."""
        return [float(item["value"][1]) for item in series(self.sink.store_url, query)]


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Start everything; the Secret of the sink does not exist."""
    folder, objects = tmp_path_factory.mktemp("sinks"), stored(region())
    with running_stores(folder, objects) as stores, ExitStack() as stack:
        exporter = Exporter(**{GPU: 1.0, LOAD: 1.0})
        stack.callback(exporter.stop)
        try:
            certificates = [item for item in objects if item.kind == "Certificate"]
            sink = Sink(folder / "sink", certificates, TOKEN)
            stack.callback(sink.stop)
            agent = MetricsAgent(folder / ACME, stores, ACME, exporter, spec=SPEC, sink=sink)
            stack.callback(agent.stop)
            neighbour = MetricsAgent(folder / NEIGHBOUR, stores, NEIGHBOUR, exporter)
            stack.callback(neighbour.stop)
        except ToolchainError as error:
            pytest.skip(f"NO PROMETHEUS: {error}; make test-nightly builds it")
        yield Rig(stores, exporter, sink, agent)


def test_a_secret_that_is_missing_stops_the_sink_only(rig: Rig) -> None:
    for cluster in (ACME, NEIGHBOUR):
        wait_until(
            lambda of=cluster: rig.stored(f'{LOAD}{{cluster="{of}"}}') == [1.0],
            timeout_seconds=60,
            what=f"the store of the region has metrics of {cluster}",
        )
    wait_until(
        lambda: rig.agent.value("prometheus_remote_storage_samples_retried_total") > 0,
        timeout_seconds=60,
        what="Prometheus repeats requests to the sink",
    )
    assert rig.sent(ALL) == []


def test_the_token_is_used_without_a_restart_and_selected_series_of_the_tenant_arrive(rig: Rig) -> None:
    rig.agent.token.write_text(f"{TOKEN}\n")

    wait_until(lambda: rig.sent(GPU) == [1.0], timeout_seconds=60, what="the sink has metrics of GPUs")
    found = [item["metric"] for item in series(rig.sink.store_url, ALL)]
    assert {item["__name__"] for item in found} == {GPU, "up"}
    identity = {(item["region"], item["tenant"], item["cluster"]) for item in found}
    assert identity == {(region().region, "acme", ACME)}
    # The metrics of the alert about sinks have these names.
    assert rig.agent.value("prometheus_remote_storage_samples_failed_total") == 0


def test_a_sink_that_is_down_delays_no_sample_of_the_store_and_gets_what_it_missed(rig: Rig) -> None:
    before = rig.agent.value("prometheus_remote_storage_samples_retried_total")
    rig.sink.kill()
    rig.exporter.values[GPU] = 2.0
    for number in (10.0, 20.0, 30.0):
        rig.exporter.values[LOAD] = number
        wait_until(
            lambda value=number: rig.stored(f'{LOAD}{{cluster="{ACME}"}}') == [value],
            timeout_seconds=60,
            what="the store of the region has the next sample",
        )
    wait_until(
        lambda: rig.agent.value("prometheus_remote_storage_samples_retried_total") > before,
        timeout_seconds=60,
        what="Prometheus repeats requests to the sink",
    )
    rig.exporter.values[GPU] = 3.0
    wait_until(lambda: rig.stored(f'{GPU}{{cluster="{ACME}"}}') == [3.0], timeout_seconds=60, what="the outage goes on")
    rig.sink.start()

    wait_until(lambda: rig.sent(GPU) == [3.0], timeout_seconds=60, what="the sink has the last sample")
    assert rig.sent(f"count_over_time(({GPU} == 2)[10m:1s])") != []


def test_a_sink_with_another_token_rejects_samples_which_are_counted(rig: Rig) -> None:
    rig.agent.token.write_text("another-token")

    wait_until(
        lambda: rig.agent.value("prometheus_remote_storage_samples_failed_total") > 0,
        timeout_seconds=60,
        what="Prometheus counts rejected samples",
    )
    rig.exporter.values[LOAD] = 40.0
    wait_until(
        lambda: rig.stored(f'{LOAD}{{cluster="{ACME}"}}') == [40.0],
        timeout_seconds=60,
        what="the store of the region has the next sample",
    )
