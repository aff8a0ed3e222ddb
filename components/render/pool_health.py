"""What is done about nodes that are broken, and when a new one counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.base import limit_of
from components.specs.node_pool import BurnIn, HealthSpec
from components.specs.nodes import BurnInSpec


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
    nodes: int,
    selector: Mapping[str, str],
    labels: Mapping[str, str],
    remediation: Manifest | None,
) -> Manifest:
    """Return the health check of a pool of ``nodes`` nodes; without a ``remediation`` they are replaced at once."""
    # As a count: Cluster API rounds a percentage of a small pool down to none, and would never repair its nodes.
    brake = limit_of(health.max_unhealthy, nodes)
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
                "nodeStartupTimeoutSeconds": health.node_startup_timeout_seconds,
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
