"""Remediation of unhealthy nodes, and availability of new nodes."""

from collections.abc import Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.pools.node_pool import BurnIn, HealthSpec
from components.specs.pools.nodes import BurnInSpec


def readiness(health: HealthSpec, burn_in: BurnInSpec | None) -> dict[str, Any]:
    """Return the conditions, in addition to readiness, that an available Machine must meet.

    A gate whose condition is never set makes every node of the pool unavailable immediately. A gate is therefore
    rendered only if the region specifies the controller that sets the condition.
    """
    gates = [{"conditionType": burn_in.condition}] if burn_in and health.burn_in is BurnIn.GATED else []
    return given(minReadySeconds=health.min_ready_seconds or None, readinessGates=gates)


def health_check(
    name: str,
    cluster: str,
    health: HealthSpec,
    *,
    brake: int,
    startup_seconds: int,
    selector: Mapping[str, str],
    labels: Mapping[str, str],
    remediation: Manifest | None,
    faults: Mapping[str, int],
) -> Manifest:
    """Return the health check of one rollout group.

    Each group has a separate health check, for two reasons. Simultaneous failures of many nodes are usually caused by a
    rack or a switch. Cluster API limits remediation only by the number of unhealthy nodes: with a ``remediation``
    template, each reconciliation starts remediations in random order, up to the first Machine that already has one
    (kubernetes-sigs/cluster-api:internal/controllers/machinehealthcheck/machinehealthcheck_controller.go,
    ``patchUnhealthyTargets``). Heartbeats of the group's nodes and the resync of Cluster API cause the next ones.

    Args:
        name: name of the group.
        cluster: cluster of the nodes.
        health: criteria for an unhealthy node.
        brake: maximum number of unhealthy nodes. Above this number, nodes are not remediated. It is an absolute number,
            since Cluster API rounds a percentage of a small group down to zero. A machine without a node is unhealthy.
        startup_seconds: maximum startup time of a new node.
        selector: labels of the group's machines.
        labels: labels of the pool.
        remediation: template of the remediation before replacement; None replaces unhealthy nodes immediately.
        faults: conditions of Nodes that are repaired when True, each with the seconds that it must last.
    """
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "MachineHealthCheck",
        name,
        namespace=cluster,
        labels=labels,
        spec={
            "clusterName": cluster,
            "selector": {"matchLabels": dict(selector)},
            "checks": {
                "nodeStartupTimeoutSeconds": startup_seconds,
                "unhealthyNodeConditions": [
                    {"type": "Ready", "status": status, "timeoutSeconds": health.unhealthy_timeout_seconds}
                    for status in ("False", "Unknown")
                ]
                + [
                    {"type": condition, "status": "True", "timeoutSeconds": seconds}
                    for condition, seconds in faults.items()
                ],
            },
            "remediation": {
                "triggerIf": {"unhealthyLessThanOrEqualTo": brake},
                **given(templateRef=remediation and _versioned_reference(remediation)),
            },
        },
    )


def _versioned_reference(item: Manifest) -> dict[str, str]:
    """Return a reference with a version. Cluster API requires the version only for remediation templates."""
    return {"apiVersion": item.api_version, "kind": item.kind, "name": item.name}
