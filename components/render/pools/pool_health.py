"""What is done about nodes that are broken, and when a new one counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.pools.node_pool import BurnIn, HealthSpec
from components.specs.pools.nodes import BurnInSpec


def readiness(health: HealthSpec, burn_in: BurnInSpec | None) -> dict[str, Any]:
    """Return when a Machine counts as available, beyond being ready.

    A gate whose condition nobody sets makes every node of the pool unavailable at once. So there is one only where the
    region names who sets it.
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
) -> Manifest:
    """Return the health check of one rollout group.

    One for each, since what breaks many nodes at once is a rack or a switch, and since Cluster API bounds repairs by
    the number of broken nodes alone: where a ``remediation`` is tried first it begins one for each of them at once
    (kubernetes-sigs/cluster-api:core/reconcilers/machinehealthcheck/machinehealthcheck_controller.go).

    Args:
        name: of the group.
        cluster: whose nodes they are.
        health: when a node counts as broken.
        brake: most broken nodes with which any is repaired, as a count: Cluster API rounds a percentage of a small
            group down to none. A machine that is no node yet counts as broken.
        startup_seconds: how long a new node may take.
        selector: of the group's machines.
        labels: of the pool.
        remediation: what is tried first; without one, broken nodes are replaced at once.
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
                ],
            },
            "remediation": {
                "triggerIf": {"unhealthyLessThanOrEqualTo": brake},
                **given(templateRef=remediation and _versioned_reference(remediation)),
            },
        },
    )


def _versioned_reference(item: Manifest) -> dict[str, str]:
    """Return the one reference of Cluster API that names a version."""
    return {"apiVersion": item.api_version, "kind": item.kind, "name": item.name}
