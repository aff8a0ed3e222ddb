"""Machines, nodes, hosts and remediations of a cluster of a local region with faulty nodes."""

from __future__ import annotations

from typing import Any

from components.programs.node_test_decision import IDLE_FAULT
from components.programs.objects import REQUESTED
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.broken_nodes import CHECK, MACHINE, REMEDIATION, TEMPLATE
from tests.support.local_regions.host_power import HOST
from tests.support.local_regions.local_region import LocalRegion, wait_until
from tests.support.local_regions.pools_of_four import CLUSTER

LOST = "GpuLost"
SECONDS = 120.0
"""Maximum duration of each step on an idle machine."""


HELD_SECONDS = 5
"""Duration of the condition before a node is remediated."""


def with_problem_detectors(tenant: dict[str, Any]) -> dict[str, Any]:
    """Add the add-ons that detect faults and set taints to the cluster of a tenant's data."""
    [cluster] = tenant["clusters"]
    cluster["add_ons"] = [*cluster["add_ons"], "node-problems", "node-readiness"]
    return tenant


def with_approvals(tenant: dict[str, Any]) -> dict[str, Any]:
    """Require the approval of a tenant before idle nodes are remediated."""
    return {**tenant, "changes": {**tenant.get("changes", {}), "repair_approval": "required"}}


def hasten(region: LocalRegion, check: dict[str, Any]) -> None:
    """Shorten the time between the fault and the remediation of a node; the remediation itself is as rendered."""
    rendered, hastened = check["spec"]["checks"]["unhealthyNodeConditions"], {LOST, IDLE_FAULT, REQUESTED}
    assert hastened <= {one["type"] for one in rendered}
    conditions = [{**one, "timeoutSeconds": HELD_SECONDS} if one["type"] in hastened else one for one in rendered]
    patch = {"spec": {"checks": {"unhealthyNodeConditions": conditions}}}
    region.api().patch(ObjectRef(*CHECK, check["metadata"]["name"], CLUSTER), patch, field_manager="test")


def let_metal3_wait(region: LocalRegion, seconds: int) -> None:
    """Set the time that Metal3 waits for a node to be healthy again."""
    patch = {"spec": {"template": {"spec": {"strategy": {"timeoutSeconds": seconds}}}}}
    for template in region.api().list(*TEMPLATE, namespace=CLUSTER):
        region.api().patch(ObjectRef(*TEMPLATE, template["metadata"]["name"], CLUSTER), patch, field_manager="test")


def checks(region: LocalRegion) -> list[dict[str, Any]]:
    return list(region.api().list(*CHECK, namespace=CLUSTER))


def machines(region: LocalRegion) -> list[dict[str, Any]]:
    return sorted(region.api().list(*MACHINE, namespace=CLUSTER), key=lambda one: str(one["metadata"]["name"]))


def node_names(region: LocalRegion) -> list[str]:
    return [name for machine in machines(region) if (name := dig(machine, "status", "nodeRef", "name"))]


def node_of(region: LocalRegion, name: str) -> dict[str, Any]:
    return region.api(CLUSTER).get(ObjectRef("v1", "Node", name)) or {}


def condition(region: LocalRegion, node: str, kind: str = LOST) -> str | None:
    conditions = dig(node_of(region, node), "status", "conditions") or ()
    return next((str(one["status"]) for one in conditions if one["type"] == kind), None)


def reason(region: LocalRegion, node: str, kind: str) -> str | None:
    """Return the reason of a condition of a node."""
    conditions = dig(node_of(region, node), "status", "conditions") or ()
    return next((str(one["reason"]) for one in conditions if one["type"] == kind), None)


def host(region: LocalRegion, name: str) -> dict[str, Any]:
    return region.api().get(ObjectRef(*HOST, name, CLUSTER)) or {}


def host_of(region: LocalRegion, machine: dict[str, Any]) -> str:
    """Return the name of a machine's host."""
    name = dig(machine, "spec", "infrastructureRef", "name")
    claims = {dig(one, "spec", "consumerRef", "name"): one["metadata"]["name"] for one in region.api().list(*HOST)}
    return str(claims[name])


def notes(region: LocalRegion, name: str) -> dict[str, str]:
    """Return the annotations of a host."""
    return notes_of(host(region, name))


def notes_of(body: dict[str, Any]) -> dict[str, str]:
    return dict(body["metadata"].get("annotations") or {})


def taints(region: LocalRegion, node: str) -> set[str]:
    return {taint["key"] for taint in dig(node_of(region, node), "spec", "taints") or ()}


def repairs(region: LocalRegion) -> list[dict[str, Any]]:
    return list(region.api().list(*REMEDIATION, namespace=CLUSTER))


def is_well(region: LocalRegion, node: str) -> bool:
    return not repairs(region) and (condition(region, node), condition(region, node, "Ready")) == ("False", "True")


def reasons(region: LocalRegion, node: str) -> list[str]:
    events = region.api(CLUSTER).list("v1", "Event", namespace="default")
    return [one["reason"] for one in events if one["involvedObject"]["name"] == node]


def run_job(region: LocalRegion, node: str, name: str) -> str:
    """Create a pod on a node, wait until it runs, and return its uid."""
    container = {"name": "work", "image": PUBLIC[0]}
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [container]}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": spec}
    made = region.api(CLUSTER).create(body, field_manager="test")
    wait_until(lambda: runs(region, name), timeout_seconds=SECONDS, what=f"{name} runs")
    return str(made["metadata"]["uid"])


def job(region: LocalRegion, name: str) -> dict[str, Any]:
    return region.api(CLUSTER).get(ObjectRef("v1", "Pod", name, "default")) or {}


def runs(region: LocalRegion, name: str) -> bool:
    pod = job(region, name)
    return dig(pod, "status", "phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
