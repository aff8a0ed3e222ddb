"""Monitoring of a local region: a node that breaks is one notice for the operators and one for its tenant.

The region is laptop with two tenants. Prometheus and Alertmanager are real, and so are the control planes with their
etcds, ExternalDNS, Cluster API's health checks, and the rendered rules and routes. Other exporters are simulated. The
test switches a host off, as the page `docs/lab/monitoring.md` does. Hold times and waits of alerts are an eighth, by
JACQUARD_SPEED.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3

from jacquard.lab.rehearsal.monitoring import programs
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube import ObjectRef
from tests.support.local_regions.broken_nodes import CHECK
from tests.support.local_regions.host_power import HOST
from tests.support.local_regions.local_region import LocalRegion, deleted_at_exit, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

CLUSTER, NODE = "acme-train", "a01-u01"
OPERATORS, TENANT = "operators/platform", "tenant/acme/team"
UNHEALTHY = "NodeUnhealthy"
NAMES, CONTROL_PLANE = "external-dns", ("apiserver", "kube-controller-manager", "kube-scheduler")
FIRES, ENDS = "firing", "resolved"
_SECONDS = 180.0


class Monitored:
    """A region with monitoring, and the addresses that ``up`` prints."""

    def __init__(self, region: LocalRegion, output: str) -> None:
        self.region = region
        printed = dict(line.split(": ", 1) for line in output.splitlines() if line.startswith(("alerts:", "notices:")))
        self._prometheus, self._file = printed["alerts"].removesuffix("/alerts"), Path(printed["notices"])

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the result of an instant query of Prometheus."""
        answer = urllib3.request("GET", f"{self._prometheus}/api/v1/query", fields={"query": expression}, timeout=30)
        found: list[dict[str, Any]] = answer.json()["data"]["result"]
        return found

    def unserved(self) -> set[str]:
        """Return the monitors and targets without a program, as ``up`` prints them."""
        outcome = self.region.run(sys.executable, "-m", "jacquard.lab.rehearsal", "monitoring", "laptop")
        _, *found = outcome.stdout.split("\nno program behind it: ")
        return {line.strip() for line in found}

    def notices(self) -> list[dict[str, Any]]:
        """Return all notices to tenants so far, and those to the operators about the node.

        On a busy machine, operators may get further notices: real processes are not faster than in a region.
        """
        lines = self._file.read_text().splitlines() if self._file.exists() else []
        return [
            notice
            for notice in map(json.loads, lines)
            if notice["receiver"].startswith("tenant/")
            or any(alert["labels"].get("node") == NODE for alert in notice["alerts"])
        ]


@pytest.fixture(scope="module")
def monitored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitored]:
    """Give a settled region with monitoring; nothing of it is left at the end."""
    try:
        for program in (*programs.PROGRAMS, NAMES):
            binaries.path(program)
    except ToolchainError as error:
        pytest.skip(f"NO MONITORING: {error}; JACQUARD_MONITORING=on make setup builds it")
    with deleted_at_exit(LocalRegion(tmp_path_factory.mktemp("monitored"))) as region:
        region.variables["JACQUARD_MONITORING"] = "on"
        region.edit("laptop/tenants/acme.yaml", "    add_ons: default\n", "    add_ons: [default, monitoring]\n")
        outcome = region.jacquard("up", region.environment)
        assert outcome.code == 0, outcome.text
        yield Monitored(region, outcome.stdout)


def test_all_targets_respond(monitored: Monitored) -> None:
    targets = {
        ("kube-state-metrics", None): 1,
        ("apiserver", None): 1,
        **{(job, cluster): 1 for job in CONTROL_PLANE for cluster in (CLUSTER, "globex-lab")},
        ("etcd", "shared-a"): 2,
        (NAMES, None): 2,
        ("metallb-controller-monitor-service", CLUSTER): 1,
        ("kube-state-metrics", CLUSTER): 1,
        ("node-exporter", CLUSTER): 16,
        ("dcgm-exporter", CLUSTER): 14,
    }

    def found(expression: str) -> dict[tuple[str, str | None], int]:
        return {
            (one["metric"]["job"], one["metric"].get("cluster")): int(one["value"][1])
            for one in monitored.query(f"sum by (job, cluster) ({expression})")
        }

    wait_until(lambda: found("up") == targets, timeout_seconds=_SECONDS, what="all targets are scraped")
    assert found("count by (job, cluster) (up)") == targets
    requests = found('apiserver_request_total{job="apiserver"}')
    assert {cluster for _, cluster in requests} == {None, CLUSTER, "globex-lab"}
    assert {one["metric"]["tenant"] for one in monitored.query("capi_cluster_info")} == {"acme", "globex"}


def test_programs_serve_the_metrics_of_the_alerts(monitored: Monitored) -> None:
    assert monitored.query("min(etcd_server_has_leader)")[0]["value"][1] == "1"
    schedulers = monitored.query("count by (cluster) (scheduler_pending_pods) > 0")
    assert {one["metric"]["cluster"] for one in schedulers} == {CLUSTER, "globex-lab"}
    names = monitored.query("external_dns_registry_endpoints_total")
    assert {one["metric"]["namespace"] for one in names} == {NAMES, CLUSTER}


def test_monitors_without_a_program_are_listed(monitored: Monitored) -> None:
    def found() -> set[str]:
        return {line.partition(":")[0] for line in monitored.unserved()}

    of_chart = f"{CLUSTER} ServiceMonitor cert-manager/cert-manager"
    wait_until(lambda: of_chart in found(), timeout_seconds=_SECONDS, what="monitors of a chart are listed")
    assert "management PodMonitor data-stores/default-etcd" in found()
    assert not [line for line in found() if "external-dns" in line or "control-plane" in line]


def test_each_gpu_of_a_node_has_series_with_its_tenant(monitored: Monitored) -> None:
    expression = "count by (region, tenant, cluster) (DCGM_FI_DEV_GPU_UTIL)"
    [found] = monitored.query(expression)

    assert found["metric"] == {"region": "laptop", "tenant": "acme", "cluster": CLUSTER}
    assert found["value"][1] == str(14 * 8)


def test_its_parts_are_listed(monitored: Monitored) -> None:
    outcome = monitored.region.run(sys.executable, "-m", "jacquard.lab.rehearsal", "status", "laptop", "--format=json")
    running = {part["name"]: part["alive"] for part in json.loads(outcome.stdout)["parts"]}

    assert {name: running[name] for name in programs.PARTS} == dict.fromkeys(programs.PARTS, True)


@pytest.fixture(scope="module")
def before(monitored: Monitored) -> int:
    """Switch the host of a node off; return the number of notices before."""
    api = monitored.region.api()
    hasten = {"op": "replace", "path": "/spec/checks/unhealthyNodeConditions/1/timeoutSeconds", "value": 10}
    path = f"/apis/{CHECK[0]}/namespaces/{CLUSTER}/machinehealthchecks/{CLUSTER}-train-a01"
    api.request("PATCH", path, body=[hasten], content_type="application/json-patch+json")
    number = len(monitored.notices())
    keep_off(monitored, "")
    return number


def keep_off(monitored: Monitored, value: str | None) -> None:
    """Keep the power of the host off, until the value is None."""
    annotations = {"metadata": {"annotations": {"reboot.metal3.io/broken": value}}}
    monitored.region.api().patch(ObjectRef(*HOST, NODE, CLUSTER), annotations, field_manager="test")


def receivers(notices: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Return receiver, status and alert of each notice, sorted."""
    return sorted((one["receiver"], one["status"], one["alerts"][0]["labels"]["alertname"]) for one in notices)


def test_a_broken_node_is_one_notice_for_operators_and_tenant(monitored: Monitored, before: int) -> None:
    wait_until(
        lambda: len(monitored.notices()) >= before + 2,
        timeout_seconds=_SECONDS,
        what="both receivers get a notice",
    )
    found = monitored.notices()[before:]

    assert receivers(found) == [(OPERATORS, FIRES, UNHEALTHY), (TENANT, FIRES, UNHEALTHY)]
    labels = {"region": "laptop", "tenant": "acme", "cluster": CLUSTER, "node": NODE}
    for notice in found:
        [alert] = notice["alerts"]
        assert alert["labels"].items() >= labels.items()
        assert alert["annotations"]["runbook_url"].endswith("docs/region/alerts.md#nodeunhealthy")


def test_its_recovery_is_one_notice_for_both_and_there_was_no_other(monitored: Monitored, before: int) -> None:
    keep_off(monitored, None)
    wait_until(
        lambda: len(monitored.notices()) >= before + 4,
        timeout_seconds=_SECONDS,
        what="both receivers get a notice about the recovery",
    )

    expected = [(receiver, status, UNHEALTHY) for receiver in (OPERATORS, TENANT) for status in (FIRES, ENDS)]
    assert receivers(monitored.notices()[before:]) == expected
