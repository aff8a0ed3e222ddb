"""Metrics and logs of two tenants in real stores, behind the real proxy with the configuration of the real operator.

The operator reads our objects from a real API server, and a real collector runs with our configuration;
`victoria_stores` and `log_collector` say what stands for what.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from components.render.region import metrics_store
from components.render.region.logs import accounts
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring import telemetry
from tests.support.monitoring.log_collector import Collector
from tests.support.monitoring.stored_records import found_record, logged
from tests.support.monitoring.stored_region import CLUSTERS, region, stored
from tests.support.monitoring.victoria_stores import VictoriaStores, running_stores

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

STORAGE_PODS = 2
PROTOBUF = {"Content_Type": "application/x-protobuf"}
ACME, NEIGHBOUR = "acme-train", "globex-lab"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VictoriaStores]:
    """Start the operator and both stores, with the objects of a region."""
    spec = region(storage_pods=STORAGE_PODS)
    with running_stores(tmp_path_factory.mktemp("stores"), stored(spec)) as running:
        yield running


def queried(stores: VictoriaStores, cluster: str, expression: str, **arguments: str) -> list[dict[str, str]]:
    """Return the labels of the series that the tenant of a cluster reads."""
    asked = urlencode({"query": expression, **arguments})
    answer = stores.ask(f"/api/v1/query?{asked}", login=stores.login(cluster))
    assert answer.status == 200, answer
    return [item["metric"] for item in json.loads(answer.text)["data"]["result"]]


def write_sample(stores: VictoriaStores, cluster: str, *labels: tuple[str, str]) -> None:
    """Write a sample of the metric ``probe`` as the agent of a cluster does, with any labels."""
    body = telemetry.samples(((("__name__", "probe"), *labels), 1.0))
    login = stores.login(cluster)
    answer = stores.ask(metrics_store.WRITE_PATH, body, login=login, **PROTOBUF, Content_Encoding="snappy")
    assert answer.status == 204, answer


def write_record(stores: VictoriaStores, cluster: str, message: str, **headers: str) -> None:
    """Write a record with attributes that name another tenant."""
    body = telemetry.records([message], {"tenant": "globex", "cluster": NEIGHBOUR, "k8s.node.name": "node-1"})
    answer = stores.ask(accounts.WRITE_PATH, body, login=stores.login(cluster), **PROTOBUF, **headers)
    assert answer.status == 200, answer


def test_the_operator_accepts_all_objects_and_creates_the_secrets_that_clusters_read(stores: VictoriaStores) -> None:
    for cluster in CLUSTERS:
        name, password = stores.login(cluster)
        assert name == cluster
        assert len(password) >= 10
    assert len({stores.login(cluster)[1] for cluster in CLUSTERS}) == len(CLUSTERS)


def test_pods_of_the_store_of_logs_have_retention_and_duties_of_the_data(stores: VictoriaStores) -> None:
    storage = stores.arguments("vlstorage-logs")

    assert "-retentionPeriod=14d" in storage
    assert [text for text in storage if text.startswith("-retention.maxDiskSpaceUsageBytes=")]
    assert "-select.disable=true" in stores.arguments("vlinsert-logs")
    assert {"-insert.disable=true", "-search.allowPartialResponse=true"} <= set(stores.arguments("vlselect-logs"))
    for name in ("vlinsert-logs", "vlselect-logs"):
        [nodes] = [text for text in stores.arguments(name) if text.startswith("-storageNode=")]
        assert nodes.count("vlstorage-logs-") == STORAGE_PODS


def test_a_cluster_writes_series_of_its_own_name_only(stores: VictoriaStores) -> None:
    write_sample(stores, ACME, ("case", "own"))
    write_sample(stores, ACME, ("case", "forged"), ("tenant", "globex"), ("cluster", NEIGHBOUR), ("region", "other"))
    wait_until(lambda: len(queried(stores, ACME, "probe")) == 2, timeout_seconds=60, what="both samples are stored")

    own = {"tenant": "acme", "cluster": ACME, "region": region().region}
    for series in queried(stores, ACME, "probe"):
        assert series.items() >= own.items()
    assert queried(stores, NEIGHBOUR, "probe") == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"extra_label": "tenant=acme"},
        {"extra_filters": '{tenant="acme"}'},
        {"extra_filters[]": '{tenant="acme"}'},
        {"extra_filters[]": '{tenant=~".*"}'},
    ],
)
def test_no_argument_of_a_query_reads_series_of_another_tenant(
    stores: VictoriaStores, arguments: dict[str, str]
) -> None:
    write_sample(stores, ACME, ("case", "arguments"))
    write_sample(stores, NEIGHBOUR, ("case", "neighbour"))
    wait_until(lambda: bool(queried(stores, ACME, 'probe{case="arguments"}')), timeout_seconds=60, what="it is stored")

    assert {series["tenant"] for series in queried(stores, NEIGHBOUR, '{tenant=~".+"}', **arguments)} <= {"globex"}
    asked = urlencode({"match[]": '{tenant="acme"}', **arguments})
    answer = stores.ask(f"/api/v1/series?{asked}", login=stores.login(NEIGHBOUR))
    assert json.loads(answer.text)["data"] == []


def test_names_and_values_of_labels_are_those_of_the_tenant(stores: VictoriaStores) -> None:
    write_sample(stores, ACME, ("secret_of_acme", "x"))
    own = stores.login(ACME)

    def stored() -> bool:
        return "secret_of_acme" in stores.ask("/api/v1/labels", login=own).text

    wait_until(stored, timeout_seconds=60, what="the label is stored")
    for path in ("/api/v1/labels", "/api/v1/label/tenant/values", "/api/v1/label/secret_of_acme/values"):
        answer = stores.ask(path, login=stores.login(NEIGHBOUR))
        assert answer.status == 200
        assert "acme" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/status/tsdb",
        "/api/v1/export?match[]=probe",
        "/federate?match[]=probe",
        "/api/v1/admin/tsdb/delete_series?match[]=probe",
        "/api/v1/import/prometheus",
        "/select/tenant_ids",
        "/select/vmui/",
        "/insert/jsonline",
        "/insert/native",
        "/internal/insert",
        "/metrics",
        "/flags",
        "/debug/pprof/",
        "/-/reload",
    ],
)
def test_all_other_paths_are_rejected(stores: VictoriaStores, path: str) -> None:
    answer = stores.ask(path, login=stores.login(ACME))

    assert answer.status == 400
    assert answer.text.startswith(f"user {ACME} missing route for ")


def test_the_proxy_rejects_requests_without_the_password_of_a_cluster(stores: VictoriaStores) -> None:
    name, password = stores.login(ACME)
    for login in (None, (name, ""), (name, "wrong"), (NEIGHBOUR, password)):
        assert stores.ask("/api/v1/query?query=up", login=login).status == 401


def test_records_are_in_the_account_of_the_tenant_whatever_the_writer_says(stores: VictoriaStores) -> None:
    other = str(accounts.account("globex"))
    write_record(stores, ACME, "plain")
    write_record(stores, ACME, "forged", AccountID=other, ProjectID="7")
    wait_until(lambda: len(logged(stores, ACME)) == 2, timeout_seconds=60, what="both records are stored")

    assert {item["_msg"] for item in logged(stores, ACME)} == {"plain", "forged"}
    assert {(item["tenant"], item["cluster"]) for item in logged(stores, ACME)} == {("acme", ACME)}
    assert logged(stores, NEIGHBOUR) == []
    assert logged(stores, NEIGHBOUR, AccountID=str(accounts.account("acme")), ProjectID="0") == []


def test_clusters_of_one_tenant_share_their_records(stores: VictoriaStores) -> None:
    write_record(stores, "acme-dev", "from dev")

    def shared() -> bool:
        return any(item["_msg"] == "from dev" for item in logged(stores, ACME))

    wait_until(shared, timeout_seconds=60, what="the other cluster of the tenant reads the record")


@pytest.fixture(scope="module")
def agent(stores: VictoriaStores, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collector]:
    """Start a collector of ``acme-train``."""
    authority = stores.authority.certificate
    found = Collector(tmp_path_factory.mktemp("collector"), stores.url, stores.login(ACME), authority=authority)
    found.journal("kubelet.service", "node is ready")
    found.start()
    try:
        yield found
    finally:
        found.stop()


def test_the_collector_accepts_the_configuration(agent: Collector) -> None:
    done = agent.check()

    assert (done.returncode, done.stderr) == (0, "")


def test_lines_of_containers_arrive_with_pod_node_and_cluster(stores: VictoriaStores, agent: Collector) -> None:
    agent.write("step 1 done")

    assert (
        found_record(stores, "step 1 done").items()
        >= {
            "region": region().region,
            "tenant": "acme",
            "cluster": ACME,
            "k8s.node.name": "node-7",
            "k8s.namespace.name": "train",
            "k8s.pod.name": "job-0",
            "k8s.container.name": "main",
        }.items()
    )
    assert [item for item in logged(stores, NEIGHBOUR) if item["_msg"] == "step 1 done"] == []


def test_entries_of_the_journal_arrive_as_messages_with_their_unit(stores: VictoriaStores, agent: Collector) -> None:
    assert agent.folder.exists()
    found = found_record(stores, "node is ready")

    assert found.items() >= {"unit": "kubelet.service", "k8s.node.name": "node-7"}.items()


def test_no_line_is_lost_while_the_store_and_then_the_collector_are_away(
    stores: VictoriaStores, agent: Collector
) -> None:
    lines = [f"during the outage {number}" for number in range(50)]
    stores.kill("vmauth-metrics")
    agent.write(*lines[:25])

    def queued() -> bool:
        sizes = [line for line in agent.metrics().splitlines() if line.startswith("otelcol_exporter_queue_size{")]
        return any(float(line.rpartition(" ")[2]) > 0 for line in sizes)

    wait_until(queued, timeout_seconds=60, what="the collector keeps the lines")
    agent.kill()
    agent.write(*lines[25:])
    agent.start()
    stores.start("vmauth-metrics")

    for line in lines:
        found_record(stores, line)


def test_records_of_the_other_storage_pod_are_read_while_one_is_away(stores: VictoriaStores) -> None:
    stores.kill("vlstorage-0")
    write_record(stores, ACME, "one pod is away")

    found_record(stores, "one pod is away")
    stores.start("vlstorage-0")
