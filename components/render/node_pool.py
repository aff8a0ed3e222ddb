"""A pool of identical nodes: one MachineDeployment for each failure domain, health checks and drain rules for all.

Templates are named after their content and retained: a changed template is a new object that the MachineDeployment is
pointed at, and machines of the old one still find theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.render import ironcore_metal, join_service, metal3
from components.render import labels as keys
from components.render.join_service import HostIdentity
from components.render.manifest import Json, Manifest
from components.render.node_templates import TemplateIntent
from components.render.objects import LABEL_LIMIT, digest, fit, given, manifest, reference
from components.render.pool_health import health_check, readiness
from components.render.pool_rollout import drain_rules, replacement, rollout_section, window_text
from components.render.template_revisions import REVISIONS, fingerprint
from components.specs.bare_metal import BareMetalBackend
from components.specs.base import KubernetesVersion
from components.specs.catalog import BootMode, GoldenImage, InstanceType
from components.specs.locks import GroupAllocation, ImagePin
from components.specs.node_pool import BurnIn, NodePoolSpec, PoolRole
from components.specs.nodes import BurnInSpec
from components.specs.region import ControlPlaneBackend
from components.specs.times import WindowSpec

MACHINE_TEMPLATES = {
    BareMetalBackend.METAL3: metal3.MACHINE_TEMPLATE,
    BareMetalBackend.IRONCORE_METAL: ironcore_metal.MACHINE_TEMPLATE,
}
BOOTSTRAP_TEMPLATES = {
    ControlPlaneBackend.KAMAJI: ("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfigTemplate"),
    ControlPlaneBackend.K0SMOTRON: ("bootstrap.cluster.x-k8s.io/v1beta2", "K0sWorkerConfigTemplate"),
}
NODE_DOMAIN = "node.cluster.x-k8s.io"
"""Domain whose Machine labels Cluster API copies to Nodes."""
_RESTRICTED_DOMAIN = "node-restriction.kubernetes.io"
"""As above, and no kubelet may write it."""
_AUTOSCALER = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io"
"""What a node of a group without nodes would have, for the cluster autoscaler."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutGroup:
    """The nodes of a pool in one failure domain."""

    failure_domain: str
    size: GroupAllocation
    image: GoldenImage
    pin: ImagePin
    spares: int = 0
    """Hosts in service beyond the nodes; counted only for a pool that surges."""
    hosts: tuple[HostIdentity, ...] = ()
    """Those assigned to it; listed only when they join by the join service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolInput:
    """One pool of one cluster."""

    name: str
    cluster: str
    tenant: str
    pool: NodePoolSpec
    kind: InstanceType
    max_pods: int
    """Pods a node may run."""
    groups: tuple[RolloutGroup, ...]
    control_plane: ControlPlaneBackend
    bare_metal: BareMetalBackend
    window: WindowSpec | None = None
    """When the tenant allows disruption."""
    burn_in: BurnInSpec | None = None
    """Who sets the condition of pools that ask for a burn-in."""


def render_node_pool(pool: NodePoolInput) -> tuple[Manifest, ...]:
    """Return the objects of one pool, in the order they are applied."""
    labels, selector, remediation = _labels(pool), _selector(pool), _remediation(pool)
    diskless = any(group.image.boot is BootMode.LIVE_ISO for group in pool.groups)
    return (
        *(item for group in pool.groups for item in _group(pool, group)),
        *(join_service.access(pool.name, pool.cluster, labels) if diskless else ()),
        *remediation,
        health_check(
            pool.name,
            pool.cluster,
            pool.pool.health,
            nodes=sum(group.size.nodes for group in pool.groups),
            selector=selector,
            labels=labels,
            remediation=next(iter(remediation), None),
        ),
        *drain_rules(pool.name, pool.cluster, pool.pool, selector, labels),
    )


def group_name(cluster: str, pool: str, failure_domain: str) -> str:
    """Return the name of a rollout group; it becomes a label value, so it is cut to fit one."""
    return fit(f"{cluster}-{pool}-{failure_domain}", LABEL_LIMIT)


def _group(pool: NodePoolInput, group: RolloutGroup) -> Iterator[Manifest]:
    templates = REVISIONS[group.pin.revision].build(_intent(pool, group))
    machine = _template(pool, group, *MACHINE_TEMPLATES[pool.bare_metal], templates.machine)
    bootstrap = _template(pool, group, *BOOTSTRAP_TEMPLATES[pool.control_plane], templates.bootstrap)
    if group.image.boot is BootMode.LIVE_ISO:
        name = group_name(pool.cluster, pool.pool.name, group.failure_domain)
        yield join_service.contract(name, pool.cluster, pool.control_plane, group.hosts, _labels(pool))
    yield from (machine, bootstrap, _deployment(pool, group, machine, bootstrap))


def _intent(pool: NodePoolInput, group: RolloutGroup) -> TemplateIntent:
    return TemplateIntent(
        control_plane=pool.control_plane,
        bare_metal=pool.bare_metal,
        cluster=pool.cluster,
        pool=pool.pool.name,
        failure_domain=group.failure_domain,
        image_version=group.image.version,
        image_url=group.image.url,
        image_sha256=group.pin.sha256,
        taints=tuple((taint.key, taint.value, taint.effect.value) for taint in pool.pool.taints),
        boot=group.image.boot,
        max_pods=pool.max_pods,
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
    rollout = pool.pool.rollout
    plan = replacement(rollout, group.size.nodes, group.spares)
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "MachineDeployment",
        name,
        namespace=pool.cluster,
        labels={**_labels(pool), keys.GROUP: name, keys.FAILURE_DOMAIN: group.failure_domain},
        annotations=_annotations(pool, group),
        spec={
            "clusterName": pool.cluster,
            # Replicas belong to the cluster autoscaler where there is one.
            **({} if pool.pool.autoscaling else {"replicas": group.size.nodes}),
            **given(paused=rollout.paused or None),
            "selector": {"matchLabels": members},
            "rollout": rollout_section(rollout, plan),
            "remediation": {"maxInFlight": max(plan.max_unavailable, plan.max_surge)},
            "deletion": {"order": "Oldest"},
            "template": {
                "metadata": {
                    "labels": {**members, **_node_labels(pool, group)},
                    **given(annotations=dict(pool.pool.annotations)),
                },
                "spec": _machine(pool, group, machine, bootstrap),
            },
        },
    )


def _machine(pool: NodePoolInput, group: RolloutGroup, machine: Manifest, bootstrap: Manifest) -> Json:
    version: KubernetesVersion = group.image.contents.kubelet
    return {
        "clusterName": pool.cluster,
        "version": version,
        "failureDomain": group.failure_domain,
        "bootstrap": {"configRef": reference(bootstrap)},
        "infrastructureRef": reference(machine),
        **readiness(pool.pool.health, pool.burn_in),
        "deletion": {
            "nodeDrainTimeoutSeconds": pool.pool.rollout.drain_timeout_seconds,
            "nodeVolumeDetachTimeoutSeconds": 600,
            "nodeDeletionTimeoutSeconds": 60,
        },
    }


def _annotations(pool: NodePoolInput, group: RolloutGroup) -> dict[str, str]:
    found = {keys.FINGERPRINT: fingerprint(_intent(pool, group), group.pin.revision)}
    if pool.window is not None:
        found[keys.WINDOW] = window_text(pool.window)
    if pool.burn_in is not None and pool.pool.health.burn_in is BurnIn.GATED:
        found[keys.BURN_IN_BY] = pool.burn_in.set_by
    if pool.pool.autoscaling:
        found |= _bounds(pool, group.size)
    return found


def _bounds(pool: NodePoolInput, size: GroupAllocation) -> dict[str, str]:
    """Return what the cluster autoscaler must know of a group, also while it has no node."""
    kind, least, most = pool.kind, size.min_nodes or 0, size.most_nodes
    gpu = {"gpu-type": "nvidia.com/gpu", "gpu-count": str(kind.gpu.count)} if kind.gpu else {}
    capacity = {"cpu": str(kind.cpus), "memory": kind.memory, "maxPods": str(pool.max_pods), **gpu}
    return {
        f"{_AUTOSCALER}-min-size": str(least),
        f"{_AUTOSCALER}-max-size": str(most),
        **{f"{_CAPACITY}/{name}": value for name, value in capacity.items()},
    }


def _node_labels(pool: NodePoolInput, group: RolloutGroup) -> dict[str, str]:
    """Return the labels that reach Nodes: ours where tenants cannot write, the tenant's where they can."""
    ours = {
        f"{_RESTRICTED_DOMAIN}/pool": pool.pool.name,
        keys.NODE_INSTANCE_TYPE: pool.pool.instance_type,
        f"{_RESTRICTED_DOMAIN}/failure-domain": group.failure_domain,
    }
    if pool.pool.role is PoolRole.SYSTEM:
        ours[keys.NODE_ROLE] = pool.pool.role.value
    theirs = {key if "/" in key else f"{NODE_DOMAIN}/{key}": value for key, value in pool.pool.labels.items()}
    return {**theirs, **ours}


def _remediation(pool: NodePoolInput) -> tuple[Manifest, ...]:
    """Return what is tried before an unhealthy node is replaced; nothing where a boot starts from nothing anyway."""
    if pool.bare_metal is BareMetalBackend.METAL3:
        return (metal3.remediation(pool.name, pool.cluster, _labels(pool)),)
    return ()
