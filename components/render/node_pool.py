"""A pool of identical nodes: one MachineDeployment for each failure domain, health checks and drain rules for all.

Templates are named after their content and retained: a changed template is a new object that the MachineDeployment is
pointed at, and machines of the old one still find theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render import template_revision_1
from components.render.manifest import Json, Manifest
from components.render.node_templates import TemplateIntent
from components.render.objects import LABEL_LIMIT, digest, fit, manifest
from components.specs.base import KubernetesVersion, limit_of
from components.specs.catalog import GoldenImage
from components.specs.locks import ImagePin
from components.specs.node_pool import NodePoolSpec, RolloutStrategy

REVISIONS = {1: template_revision_1.build}
"""Builders of templates by revision; old ones stay for ever."""
_NODE_DOMAIN = "node.cluster.x-k8s.io"
"""Domain whose Machine labels Cluster API copies to Nodes."""
_RESTRICTED_DOMAIN = "node-restriction.kubernetes.io"
"""As above, and no kubelet may write it."""
_JOB_LABELS = ("batch.kubernetes.io/job-name", "training.kubeflow.org/job-name")
"""Labels of pods that end by themselves; waiting for others would only run into the drain timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutGroup:
    """The nodes of a pool in one failure domain."""

    failure_domain: str
    nodes: int
    image: GoldenImage
    pin: ImagePin


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolInput:
    """One pool of one cluster."""

    name: str
    cluster: str
    tenant: str
    pool: NodePoolSpec
    groups: tuple[RolloutGroup, ...]


def render_node_pool(pool: NodePoolInput) -> tuple[Manifest, ...]:
    """Return the objects of one pool, in the order they are applied."""
    idle = pool.pool.rollout.strategy is RolloutStrategy.IDLE
    return (
        *(item for group in pool.groups for item in _group(pool, group)),
        _remediation(pool),
        _health_check(pool),
        *((_drain_rule(pool),) if idle else ()),
    )


def group_name(cluster: str, pool: str, failure_domain: str) -> str:
    """Return the name of a rollout group; it becomes a label value, so it is cut to fit one."""
    return fit(f"{cluster}-{pool}-{failure_domain}", LABEL_LIMIT)


def _group(pool: NodePoolInput, group: RolloutGroup) -> Iterator[Manifest]:
    templates = REVISIONS[group.pin.revision](_intent(pool, group))
    machine = _template(
        pool, group, "infrastructure.cluster.x-k8s.io/v1beta2", "Metal3MachineTemplate", templates.machine
    )
    bootstrap = _template(
        pool, group, "bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate", templates.bootstrap
    )
    yield from (machine, bootstrap, _deployment(pool, group, machine, bootstrap))


def _intent(pool: NodePoolInput, group: RolloutGroup) -> TemplateIntent:
    return TemplateIntent(
        pool=pool.pool.name,
        failure_domain=group.failure_domain,
        image_version=group.image.version,
        image_url=group.image.url,
        image_sha256=group.pin.sha256,
        taints=tuple((taint.key, taint.value, taint.effect.value) for taint in pool.pool.taints),
    )


def _template(pool: NodePoolInput, group: RolloutGroup, api_version: str, kind: str, spec: Json) -> Manifest:
    name = group_name(pool.cluster, pool.pool.name, group.failure_domain)
    return manifest(
        api_version,
        kind,
        f"{name}-{digest(spec, 10)}",
        namespace=pool.cluster,
        labels={**_labels(pool), keys.GROUP: name, keys.IMAGE: group.image.version},
        retain=True,
        spec=spec,
    )


def _labels(pool: NodePoolInput) -> dict[str, str]:
    return {keys.TENANT: pool.tenant, keys.CLUSTER: pool.cluster, keys.POOL: pool.pool.name}


def _selector(pool: NodePoolInput) -> dict[str, str]:
    return {"cluster.x-k8s.io/cluster-name": pool.cluster, keys.POOL: pool.pool.name}


def _deployment(pool: NodePoolInput, group: RolloutGroup, machine: Manifest, bootstrap: Manifest) -> Manifest:
    name = group_name(pool.cluster, pool.pool.name, group.failure_domain)
    members = {**_selector(pool), keys.GROUP: name}
    unavailable = max(1, limit_of(pool.pool.rollout.max_unavailable, group.nodes))
    version: KubernetesVersion = group.image.contents.kubelet
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "MachineDeployment",
        name,
        namespace=pool.cluster,
        labels={**_labels(pool), keys.GROUP: name, keys.FAILURE_DOMAIN: group.failure_domain},
        spec={
            "clusterName": pool.cluster,
            "replicas": group.nodes,
            "selector": {"matchLabels": members},
            "rollout": {
                # No surge: metal has no node to spare but its spares, and a host is reused only without it.
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": 0, "maxUnavailable": unavailable},
                }
            },
            "remediation": {"maxInFlight": unavailable},
            "deletion": {"order": "Oldest"},
            "template": {
                "metadata": {"labels": {**members, **_node_labels(pool, group)}},
                "spec": {
                    "clusterName": pool.cluster,
                    "version": version,
                    "failureDomain": group.failure_domain,
                    "bootstrap": {"configRef": _reference(bootstrap)},
                    "infrastructureRef": _reference(machine),
                    "deletion": {
                        "nodeDrainTimeoutSeconds": pool.pool.rollout.drain_timeout_seconds,
                        "nodeVolumeDetachTimeoutSeconds": 600,
                        "nodeDeletionTimeoutSeconds": 60,
                    },
                },
            },
        },
    )


def _node_labels(pool: NodePoolInput, group: RolloutGroup) -> dict[str, str]:
    """Return the labels that reach Nodes: ours where tenants cannot write, the tenant's where they can."""
    ours = {
        f"{_RESTRICTED_DOMAIN}/pool": pool.pool.name,
        f"{_RESTRICTED_DOMAIN}/instance-type": pool.pool.instance_type,
        f"{_RESTRICTED_DOMAIN}/failure-domain": group.failure_domain,
    }
    theirs = {key if "/" in key else f"{_NODE_DOMAIN}/{key}": value for key, value in pool.pool.labels.items()}
    return {**theirs, **ours}


def _reference(item: Manifest) -> dict[str, Any]:
    return {"apiGroup": item.api_version.partition("/")[0], "kind": item.kind, "name": item.name}


def _remediation(pool: NodePoolInput) -> Manifest:
    return manifest(
        "infrastructure.cluster.x-k8s.io/v1beta2",
        "Metal3RemediationTemplate",
        pool.name,
        namespace=pool.cluster,
        labels=_labels(pool),
        # One reboot; after it Metal3 deletes the Machine and a spare takes its place.
        spec={"template": {"spec": {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 900}}}},
    )


def _health_check(pool: NodePoolInput) -> Manifest:
    health = pool.pool.health
    # As a count: Cluster API rounds a percentage of a small pool down to none, and would never repair its nodes.
    brake = limit_of(health.max_unhealthy, sum(group.nodes for group in pool.groups))
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "MachineHealthCheck",
        pool.name,
        namespace=pool.cluster,
        labels=_labels(pool),
        spec={
            "clusterName": pool.cluster,
            "selector": {"matchLabels": _selector(pool)},
            "checks": {
                "nodeStartupTimeoutSeconds": health.node_startup_timeout_seconds,
                "unhealthyNodeConditions": [
                    {"type": "Ready", "status": status, "timeoutSeconds": health.unhealthy_timeout_seconds}
                    for status in ("False", "Unknown")
                ],
            },
            "remediation": {
                "triggerIf": {"unhealthyLessThanOrEqualTo": brake},
                "templateRef": {
                    "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
                    "kind": "Metal3RemediationTemplate",
                    "name": pool.name,
                },
            },
        },
    )


def _drain_rule(pool: NodePoolInput) -> Manifest:
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "MachineDrainRule",
        pool.name,
        namespace=pool.cluster,
        labels=_labels(pool),
        spec={
            "drain": {"behavior": "WaitCompleted"},
            "machines": [{"selector": {"matchLabels": _selector(pool)}}],
            "pods": [{"selector": {"matchExpressions": [{"key": key, "operator": "Exists"}]}} for key in _JOB_LABELS],
        },
    )
