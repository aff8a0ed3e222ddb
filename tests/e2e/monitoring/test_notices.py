"""Notices about faults: real rules, real vmalert, real Alertmanager, and receivers of operators and two tenants.

Series are written as agents and exporters write them. `notices` says what is shorter than in a region. Nothing here
proves that an exporter reports a fault; `test_node_faults` injects faults into kernel logs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from components.inputs.manifests import everything
from components.render.region import alert_routes
from components.specs.environment import Environment
from components.specs.region.observability import ReceiverSpec
from components.specs.region.region import RegionSpec
from jacquard.machine.errors import ToolchainError
from tests.support.data.environment_data import reference
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.notices import Agents, Alerting, Receivers, minutes
from tests.support.monitoring.stored_region import region
from tests.support.monitoring.victoria_stores import VictoriaStores

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

OPERATORS, ACME, GLOBEX = "operators", "acme", "globex"
TRAIN, LAB = "acme-train", "globex-lab"
TENANTS = {TRAIN: ACME, LAB: GLOBEX}
MANAGEMENT = "management"
FIRES, ENDS = "firing", "resolved"


@dataclass(frozen=True, slots=True)
class Rig:
    """Agents that write series, and receivers that get notices."""

    agents: Agents
    receivers: Receivers

    def await_notices(self, receiver: str, *notices: tuple[str, str, int]) -> None:
        """Wait until a receiver has got as many notices, which must be these."""
        found = self.receivers
        wait_until(
            lambda: len(found.of(receiver)) >= len(notices),
            timeout_seconds=120,
            what=f"{receiver} gets {len(notices)} notices, has {found.of(receiver)}",
        )
        assert found.of(receiver) == list(notices)

    def unhealthy(self, cluster: str, node: str, *, group: str, fails: bool) -> None:
        """Report the health check of a machine as Cluster API and kube-state-metrics do."""
        labels = {"name": node, "namespace": cluster, "cluster": cluster, "group": group, "node": node}
        for status in ("True", "False"):
            value = float(fails == (status == "False"))
            kind = {"type": "HealthCheckSucceeded", "status": status}
            self.agents.set(MANAGEMENT, "capi_machine_status_condition", value, **labels, **kind)

    def condition(self, cluster: str, node: str, kind: str, *, value: bool) -> None:
        """Report a condition of a node as kube-state-metrics does."""
        for status in ("true", "false"):
            held = float(value == (status == "true"))
            self.agents.set(cluster, "kube_node_status_condition", held, node=node, condition=kind, status=status)


def measured(environment: Environment, spec: RegionSpec) -> Environment:
    """Return an environment whose clusters all write their metrics to the store."""
    tenants = tuple(
        tenant.model_copy(
            update={
                "clusters": tuple(cluster.model_copy(update={"add_ons": ("default",)}) for cluster in tenant.clusters)
            }
        )
        for tenant in environment.tenants
    )
    return environment.model_copy(update={"region": spec, "tenants": tenants})


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Start stores and alerting of a region with two tenants, whose clusters are well."""
    spec = region()
    rendered = tuple(everything(measured(reference("laptop"), spec)))
    ours = [item for item in rendered if "victoriametrics.com" in item.api_version or item.kind == "Certificate"]
    rules = [item for item in rendered if item.kind == "PrometheusRule" and item.cluster == MANAGEMENT]
    assert spec.observability is not None
    hooks = {name: (ReceiverSpec(name="on-call", webhook_secret=name),) for name in (OPERATORS, ACME, GLOBEX)}
    observability = spec.observability.model_copy(
        update={"receivers": hooks[OPERATORS], "mail": None, "watchdog": None}
    )
    routes = alert_routes.configuration(observability, {tenant: hooks[tenant] for tenant in (ACME, GLOBEX)})
    receivers = Receivers()
    stores: VictoriaStores | None = None
    alerting: Alerting | None = None
    agents: Agents | None = None
    try:
        stores = VictoriaStores(tmp_path_factory.mktemp("stores"), ours)
        agents = Agents(stores)
        found = Rig(agents, receivers)
        for cluster, tenant in TENANTS.items():
            agents.set(cluster, "up", 1.0, job="kubelet", instance="node-0")
            labels = {"cluster": cluster, "tenant": tenant}
            agents.set(MANAGEMENT, "up", 1.0, job="apiserver", namespace=cluster, instance="a", **labels)
            agents.set(MANAGEMENT, "capi_cluster_info", 1.0, name=cluster, **labels)
            for number in range(16):
                found.condition(cluster, f"node-{number}", "Ready", value=True)
        for part in ("vmauth", "vminsert", "vmselect", "vmstorage", "vlinsert", "vlselect", "vlstorage"):
            for instance in range(3):
                agents.set(MANAGEMENT, "up", 1.0, namespace="metrics", job=part, instance=str(instance))
        for job in ("cert-manager", "external-secrets"):
            agents.set(MANAGEMENT, "up", 1.0, job=job, instance="a")
        agents.count(MANAGEMENT, "apiserver_audit_event_total", job="apiserver", instance="a")
        agents.await_written()
        alerting = Alerting(tmp_path_factory.mktemp("alerting"), stores, routes, rules, receivers)
        yield found
    except ToolchainError as error:
        pytest.skip(f"NO STORES: {error}; make test-nightly builds them")
    finally:
        for part in (agents, alerting, stores, receivers):
            if part is not None:
                part.stop()


def test_nobody_gets_a_notice_while_all_is_well(rig: Rig) -> None:
    minutes(11)

    assert [rig.receivers.of(name) for name in (OPERATORS, ACME, GLOBEX)] == [[], [], []]


def test_a_lost_gpu_is_one_notice_for_operators_and_tenant_and_none_for_the_neighbour(rig: Rig) -> None:
    rig.condition(TRAIN, "node-3", "GpuLost", value=True)
    minutes(5)
    rig.unhealthy(TRAIN, "node-3", group="a01", fails=True)

    for receiver in (OPERATORS, ACME):
        rig.await_notices(receiver, (FIRES, "GpuLost", 1))
    minutes(12)
    for receiver in (OPERATORS, ACME):
        rig.await_notices(receiver, (FIRES, "GpuLost", 1))
    assert rig.receivers.of(GLOBEX) == []
    labels = {"region": "laptop", "tenant": ACME, "cluster": TRAIN, "node": "node-3", "severity": "critical"}
    for _, notice in rig.receivers.notices:
        [alert] = notice["alerts"]
        assert alert["labels"].items() >= labels.items()
        assert alert["annotations"]["runbook_url"].endswith("docs/region/alerts.md#node-faults")


def test_its_repair_is_one_notice_for_both(rig: Rig) -> None:
    rig.condition(TRAIN, "node-3", "GpuLost", value=False)
    minutes(1)
    rig.unhealthy(TRAIN, "node-3", group="a01", fails=False)
    minutes(8)

    for receiver in (OPERATORS, ACME):
        rig.await_notices(receiver, (FIRES, "GpuLost", 1), (ENDS, "GpuLost", 1))
    assert rig.receivers.of(GLOBEX) == []


def test_a_lost_rack_is_one_notice(rig: Rig) -> None:
    rig.receivers.notices.clear()
    rack = {"name": "train-a02", "namespace": TRAIN, "cluster": TRAIN, "tenant": ACME, "group": "a02"}
    agents = ("cilium", "kube-system"), ("logs-opentelemetry-collector-agent", "logs"), ("csi-nfs-node", "csi-nfs")
    for number in range(16):
        rig.condition(TRAIN, f"node-{number}", "Ready", value=False)
    for name, namespace in agents:
        rig.agents.set(TRAIN, "kube_daemonset_status_number_unavailable", 16, daemonset=name, namespace=namespace)
    available = {"type": "Available", "status": "False"}
    rig.agents.set(MANAGEMENT, "capi_machinedeployment_status_condition", 1.0, **rack, **available)
    minutes(15)
    for number in range(16):
        rig.unhealthy(TRAIN, f"node-{number}", group="a02", fails=True)
    minutes(8)

    for receiver in (OPERATORS, ACME):
        rig.await_notices(receiver, (FIRES, "RolloutGroupNotAvailable", 1))
    assert rig.receivers.of(GLOBEX) == []


def test_a_cluster_whose_agent_stops_is_reported_to_its_tenant(rig: Rig) -> None:
    before = rig.receivers.of(ACME)
    rig.agents.end(LAB)

    rig.await_notices(GLOBEX, (FIRES, "ClusterMetricsMissing", 1))
    assert (FIRES, "ClusterMetricsMissing", 1) in rig.receivers.of(OPERATORS)
    assert rig.receivers.of(ACME) == before
