"""Audit events and logs of control planes reach the sink of their tenant, and no sink of a neighbour.

Real collectors with the configuration of the management cluster read files like those of API servers and containers.
Real stores behind the proxy answer the program that runs in the cluster of the tenant.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from components.programs import log_forwarder
from components.render.backends import CONTROL_PLANES
from components.render.control_planes.api_server import AUDIT_VOLUME
from components.render.program_pods import SECRETS
from components.render.region.logs import collector as log_collector
from components.render.region.logs import forwarder, log_store
from components.render.region.stores.store_certificates import AUTHORITY_KEY
from components.specs.region.log_sink import LogRecords, LogSinkSpec
from components.specs.region.region import ControlPlaneBackend
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.log_collector import Collector
from tests.support.monitoring.receiver import Receiver
from tests.support.monitoring.stored_region import region, stored
from tests.support.monitoring.victoria_stores import VictoriaStores, request, running_stores

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

ACME, NEIGHBOUR = "acme-train", "globex-lab"
TENANTS = {ACME: "acme", "acme-dev": "acme", NEIGHBOUR: "globex"}
SINK = LogSinkSpec(
    endpoint="https://otlp.acme.example/v1/logs",
    secret="log-sink",
    headers={"Authorization": "AUTHORIZATION"},
    records=(LogRecords.AUDIT, LogRecords.CONTROL_PLANE),
)
SETTLED = 2 * 60 + log_forwarder.SETTLED_SECONDS
"""Seconds after which the records of this moment and of the next minute are sent."""


class Progress:
    """The object with the progress of the program in one cluster."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}

    def get(self, *_: str) -> dict[str, Any]:
        return {"metadata": {"annotations": dict(self.notes)}}

    def note(self, _version: str, _plural: str, _body: object, notes: dict[str, str]) -> None:
        self.notes.update(notes)


class Cluster:
    """The program in one cluster, with its files and the sink of its tenant."""

    def __init__(self, folder: Path, stores: VictoriaStores, name: str) -> None:
        self.sink, self._progress = Receiver(), Progress()
        username, password = stores.login(name)
        writer = log_collector.LogsWriter(
            url=stores.url, username=username, password_secret="unused", sink=SINK, image="python"
        )
        settings = json.dumps(forwarder.settings(writer, SINK, "logs")).replace(SECRETS, str(folder))
        self._settings = json.loads(settings) | {"sink": f"{self.sink.url}/v1/logs"}
        for secret, files in (
            (log_collector.SECRET, {log_collector.PASSWORD_KEY: password, AUTHORITY_KEY: stores.authority.certificate}),
            ("log-sink", {"AUTHORIZATION": f"Bearer of-{name}"}),
        ):
            (folder / secret).mkdir(parents=True)
            for key, value in files.items():
                (folder / secret / key).write_text(value)

    def run(self) -> None:
        log_forwarder.run(self._progress, self._settings, time.time() + SETTLED)  # type: ignore[arg-type]

    def begin(self) -> None:
        """Set the progress to that of a program that ran before the first record."""
        first = int(time.time()) // 60 - 10
        for item in SINK.records:
            self._progress.notes[f"jacquard.dev/{item.value}"] = json.dumps({"first": first, "sent": []})

    @property
    def received(self) -> str:
        return b"".join(body for _, _, body in self.sink.requests).decode(errors="replace")


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VictoriaStores]:
    with running_stores(tmp_path_factory.mktemp("stores"), stored(region())) as running:
        yield running


@pytest.fixture(scope="module")
def collector(stores: VictoriaStores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """Start the collector of a host with a control plane of each cluster, whose records are in the store."""
    folder = tmp_path_factory.mktemp("collector")
    login = stores.login_of("management-logs", log_store.COLLECTORS)
    found = Collector(folder, stores.url, login, authority=stores.authority.certificate, management=True)
    for cluster in TENANTS:
        audited(found, cluster, f"secret-of-{cluster}")
        for container in ("kube-apiserver", "kube-scheduler", "kine", "konnectivity-server"):
            logged(found, cluster, container, f"{container} of {cluster}")
        # Lines of k0s; the receiver takes files that begin with the same bytes for one file.
        for process in ("kube-scheduler", "kine"):
            logged(found, cluster, "controller", f'level=info msg="{cluster}" component={process} stream=stderr')
    found.start()
    try:
        wait_until(lambda: stored_records(stores) == 21, timeout_seconds=60, what="all records are in the store")
        yield found
    finally:
        found.stop()


@pytest.fixture
def clusters(collector: Collector, stores: VictoriaStores, tmp_path: Path) -> Iterator[dict[str, Cluster]]:
    assert collector.check().stderr == ""
    found = {name: Cluster(tmp_path / name, stores, name) for name in TENANTS}
    yield found
    for cluster in found.values():
        cluster.sink.stop()


def audited(collector: Collector, cluster: str, name: str) -> None:
    """Write an event about a Secret, as the API server of a cluster does."""
    folder = f"var/lib/kubelet/pods/{cluster}/volumes/kubernetes.io~empty-dir/{AUDIT_VOLUME}"
    file = collector.host / folder / TENANTS[cluster] / cluster / "audit.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    event = {
        "kind": "Event",
        "auditID": name,
        "verb": "get",
        "user": {"username": "eve"},
        "objectRef": {"resource": "secrets", "namespace": "default", "name": name},
        "requestReceivedTimestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime()),
    }
    with file.open("a") as log:
        log.write(json.dumps(event) + "\n")


def logged(collector: Collector, cluster: str, container: str, message: str) -> None:
    """Write a line of a container in the namespace of a cluster, as containerd does."""
    file = collector.folder / "pods" / f"{cluster}_{cluster}-5f7c_0d5f" / container / "0.log"
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as log:
        log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime())}.000000000Z stderr F {message}\n")


def stored_records(stores: VictoriaStores) -> int:
    """Return the number of records of all clusters in the store."""
    found = 0
    for project in ("0", "1"):
        body = urlencode({"query": "*"}).encode()
        answer = request(f"{stores.select_url}/select/logsql/query", body, AccountID="0", ProjectID=project)
        assert answer.status == 200, answer
        found += len(answer.text.splitlines())
    return found


def test_the_sink_gets_the_records_of_its_cluster_and_no_others(clusters: dict[str, Cluster]) -> None:
    for cluster in clusters.values():
        cluster.begin()
        cluster.run()

    for name, cluster in clusters.items():
        assert {(path, header) for path, header, _ in cluster.sink.requests} == {("/v1/logs", f"Bearer of-{name}")}
        for text in (f"secret-of-{name}", f"kube-apiserver of {name}", f"kube-scheduler of {name}"):
            assert cluster.received.count(text) > 0, text
        assert not any(f"of-{other}" in cluster.received for other in TENANTS if other != name)
        assert not any(f"of {other}" in cluster.received for other in TENANTS if other != name)
        assert "kine" not in cluster.received
        assert "konnectivity" not in cluster.received


def test_a_sink_that_is_down_gets_all_records_later_and_delays_no_other(clusters: dict[str, Cluster]) -> None:
    down, other = clusters[ACME], clusters[NEIGHBOUR]
    down.begin()
    other.begin()
    down.sink.status = 500
    with pytest.raises(SystemExit):
        down.run()
    other.run()
    assert f"secret-of-{NEIGHBOUR}" in other.received

    down.sink.status = 200
    down.sink.requests.clear()
    down.run()
    assert f"secret-of-{ACME}" in down.received
    down.sink.requests.clear()
    down.run()
    assert down.sink.requests == []


def test_a_late_event_is_sent(clusters: dict[str, Cluster], collector: Collector, stores: VictoriaStores) -> None:
    cluster = clusters["acme-dev"]
    cluster.begin()
    cluster.run()
    cluster.sink.requests.clear()
    before = stored_records(stores)
    audited(collector, "acme-dev", "late")
    wait_until(lambda: stored_records(stores) > before, timeout_seconds=60, what="the event is in the store")

    cluster.run()

    assert "late" in cluster.received


def test_a_store_of_logs_reads_the_requests(clusters: dict[str, Cluster], stores: VictoriaStores) -> None:
    cluster = clusters[ACME]
    cluster.begin()
    cluster.run()
    login = stores.login(ACME)
    for _, _, body in cluster.sink.requests:
        answer = stores.ask("/insert/opentelemetry/v1/logs", body, login=login, Content_Type="application/x-protobuf")
        assert answer.status == 200, answer

    def found() -> list[dict[str, Any]]:
        asked = urlencode({"query": "stream:=audit name:=secret-of-acme-train"}).encode()
        return [json.loads(line) for line in stores.ask("/select/logsql/query", asked, login=login).text.splitlines()]

    wait_until(lambda: bool(found()), timeout_seconds=60, what="the event is in the store")
    [event] = found()
    assert event.items() >= {"k8s.cluster.name": ACME, "verb": "get", "user": "eve", "resource": "secrets"}.items()
    whole = json.loads(event["_msg"])
    assert whole["auditID"] == "secret-of-acme-train"
    assert event["_time"][:19] == whole["requestReceivedTimestamp"][:19]


def test_the_filter_for_k0s_keeps_the_processes_of_kubernetes(stores: VictoriaStores, collector: Collector) -> None:
    assert collector.folder.exists()
    asked = urlencode({"query": "component", "extra_filters": CONTROL_PLANES[ControlPlaneBackend.K0SMOTRON].records})
    answer = request(f"{stores.select_url}/select/logsql/query", asked.encode())
    assert answer.status == 200, answer
    messages = {json.loads(line)["_msg"] for line in answer.text.splitlines()}
    assert messages == {f'level=info msg="{name}" component=kube-scheduler stream=stderr' for name in TENANTS}


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("*", {}),
        ('{k8s.namespace.name="acme-train"}', {}),
        ("* | union (*)", {}),
        ("*", {"extra_filters": '{k8s.namespace.name="acme-train"}'}),
        ("*", {"extra_stream_filters": '{k8s.namespace.name=~".*"}'}),
    ],
)
def test_no_query_reads_the_control_plane_of_another_cluster(
    stores: VictoriaStores, collector: Collector, query: str, arguments: dict[str, str]
) -> None:
    assert collector.folder.exists()
    asked = urlencode({"query": query, **arguments}).encode()
    answer = stores.ask("/control-plane/select/logsql/query", asked, login=stores.login(NEIGHBOUR))
    assert answer.status == 200, answer
    assert "acme" not in answer.text
    assert "kine" not in answer.text
