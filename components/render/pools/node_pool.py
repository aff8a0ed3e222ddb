"""Pool of identical nodes: one MachineDeployment for each failure domain, with health checks and drain rules.

Template names contain a digest of the content, and templates are retained. A changed template is a new object, and the
MachineDeployment refers to the new object. Existing machines still refer to the old template.
"""

from collections.abc import Iterator, Mapping

from components.render import labels as keys
from components.render.backends import BARE_METAL, CONTROL_PLANES
from components.render.manifest import Json, Manifest, ManifestSet, Rendered
from components.render.network.dpf_hbn import GATEWAY_INDEX, HOST_INDEX, POINT_TO_POINT
from components.render.objects import LABEL_LIMIT, digest, fit, given, manifest, reference
from components.render.pools import join_service, metal3
from components.render.pools.cluster_autoscaler import group_options
from components.render.pools.join_service import HostIdentity
from components.render.pools.node_templates import (
    NodeTemplates,
    TemplateIntent,
    address_pool_name,
    data_template_name,
)
from components.render.pools.pool_health import health_check, readiness
from components.render.pools.pool_rollout import drain_limit_seconds, drain_rules, rollout_section, window_text
from components.render.pools.template_revisions import REVISIONS
from components.specs.base import Address
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import InstanceType
from components.specs.locks import GroupAllocation
from components.specs.pools.intents import NodeIntent
from components.specs.pools.node_pool import BurnIn, NodePoolSpec, PoolRole
from components.specs.pools.nodes import BurnInSpec
from components.specs.region.catalog import BootMode
from components.specs.struct import Struct, field
from components.specs.times import WindowSpec


def render(cluster: str, pool: str, addresses: Mapping[str, Address], labels: dict[str, str]) -> Manifest:
    """Return the IPPool of the hosts in ``pool``, with ``addresses`` by host."""
    name = address_pool_name(cluster, pool)
    return manifest(
        "ipam.metal3.io/v1alpha1",
        "IPPool",
        name,
        namespace=cluster,
        labels=labels,
        spec={
            "clusterName": cluster,
            "namePrefix": name,
            "pools": [_link(address) for address in sorted(addresses.values(), key=int)],
            "preAllocations": {f"{host}-{name}": str(address) for host, address in addresses.items()},
        },
    )


def _link(address: Address) -> Json:
    text, gateway = str(address), address + (GATEWAY_INDEX - HOST_INDEX)
    return {"start": text, "end": text, "prefix": POINT_TO_POINT, "gateway": str(gateway)}


NODE_DOMAIN = "node.cluster.x-k8s.io"
"""Domain of Machine labels that Cluster API copies to Nodes."""


class RolloutGroup(Struct):
    """Nodes of a pool in one failure domain."""

    failure_domain: str
    size: GroupAllocation
    intent: NodeIntent
    """Complete definition of the group's nodes, from the lock file."""
    max_surge: int
    """Maximum number of new nodes that are created before old nodes are deleted."""
    max_unavailable: int
    """Maximum number of nodes that are unavailable simultaneously during replacement."""
    most_broken: int
    """Maximum number of unhealthy nodes. Above this number, nodes are not remediated; with 0, none is."""
    hosts: tuple[HostIdentity, ...] = ()
    """Hosts that are assigned to the group; empty if nodes do not use the join service."""


class NodePoolInput(Struct):
    """Node pool of a cluster."""

    name: str
    cluster: str
    tenant: str
    spec: NodePoolSpec
    kind: InstanceType
    groups: tuple[RolloutGroup, ...]
    bare_metal: BareMetalBackend
    startup_seconds: int
    """Maximum startup time of a new node. A node that exceeds it is unhealthy."""
    reboot_seconds: int
    """Maximum duration of a reboot, after which the host is powered off again."""
    burn_in_seconds: int = 0
    """Maximum duration of the burn-in of a new node by Jobs; 0 without such a burn-in."""
    window: WindowSpec | None = None
    """Maintenance window of the tenant."""
    burn_in: BurnInSpec | None = None
    """Condition for burn-in, and the controller that sets the condition."""
    faults: Mapping[str, int] = field(default_factory=dict)
    """Conditions of Nodes that are repaired when True, each with the seconds that it must last."""
    addresses: Mapping[str, Address] = field(default_factory=dict)
    """Addresses of the pool's hosts, by host; hosts without an address are omitted."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the pool, in the order in which they are applied."""
        labels, selector = _labels(self), _selector(self)
        diskless = any(group.intent.boot is BootMode.LIVE_ISO for group in self.groups)
        return (
            *_addresses(self, labels),
            *(item for group in self.groups for item in _group(self, group)),
            *(join_service.access(self.name, self.cluster, labels) if diskless else ()),
            _health(self),
            *drain_rules(self.name, self.cluster, self.spec, selector, labels),
        )


def group_name(cluster: str, pool: str, failure_domain: str) -> str:
    """Return the name of a rollout group, shortened to the limit of a label value."""
    return fit(f"{cluster}-{pool}-{failure_domain}", LABEL_LIMIT)


def _addresses(pool: NodePoolInput, labels: dict[str, str]) -> Iterator[Manifest]:
    """Yield the address pool for hosts of the pool, and the distinct data templates that pass addresses to nodes."""
    if pool.addresses:
        yield render(pool.cluster, pool.spec.name, pool.addresses, labels)
    specs = (_templates(pool, group).data for group in pool.groups)
    for name, spec in {data_template_name(pool.cluster, pool.spec.name, data): data for data in specs if data}.items():
        api_version, kind = metal3.DATA_TEMPLATE
        yield manifest(api_version, kind, name, namespace=pool.cluster, labels=labels, retain=True, spec=spec)


def _group(pool: NodePoolInput, group: RolloutGroup) -> Iterator[Manifest]:
    intent = group.intent
    templates = _templates(pool, group)
    machine = _template(pool, group, *BARE_METAL[intent.bare_metal].machine_template, templates.machine)
    bootstrap = _template(pool, group, *CONTROL_PLANES[intent.control_planes].bootstrap_template, templates.bootstrap)
    if intent.boot is BootMode.LIVE_ISO:
        name = group_name(pool.cluster, pool.spec.name, group.failure_domain)
        yield join_service.contract(
            name, pool.cluster, CONTROL_PLANES[intent.control_planes].join, group.hosts, _labels(pool)
        )
    yield from (machine, bootstrap, _deployment(pool, group, machine, bootstrap))


def _health(pool: NodePoolInput) -> ManifestSet:
    """Return the health checks of the pool by failure domain, and the template of its reboots."""
    remediation = BARE_METAL[pool.bare_metal].remediation(
        f"{pool.name}-reboot", pool.cluster, _labels(pool), pool.reboot_seconds
    )
    template = next(iter(remediation), None)
    return ManifestSet(
        name=f"{pool.name}-health",
        namespace=pool.cluster,
        members={item.kind: item for item in remediation}
        | {
            group.failure_domain: health_check(
                group_name(pool.cluster, pool.spec.name, group.failure_domain),
                pool.cluster,
                pool.spec.health,
                brake=group.most_broken,
                startup_seconds=pool.startup_seconds,
                selector=_members(pool, group),
                labels=_labels(pool),
                remediation=template,
                faults=pool.faults,
            )
            for group in pool.groups
        },
    )


def _templates(pool: NodePoolInput, group: RolloutGroup) -> NodeTemplates:
    at = TemplateIntent.of(group.intent, pool.cluster, pool.spec.name, group.failure_domain)
    return REVISIONS[group.intent.revision](at)


def _template(pool: NodePoolInput, group: RolloutGroup, api_version: str, kind: str, spec: Json) -> Manifest:
    name = group_name(pool.cluster, pool.spec.name, group.failure_domain)
    return manifest(
        api_version,
        kind,
        f"{name}-{digest(spec, 10)}",
        namespace=pool.cluster,
        labels={**_labels(pool), keys.GROUP: name, keys.IMAGE: group.intent.image},
        retain=True,
        spec=spec,
    )


def _labels(pool: NodePoolInput) -> dict[str, str]:
    return {keys.TENANT: pool.tenant, keys.CLUSTER: pool.cluster, keys.POOL: pool.spec.name}


def _selector(pool: NodePoolInput) -> dict[str, str]:
    return {"cluster.x-k8s.io/cluster-name": pool.cluster, keys.POOL: pool.spec.name}


def _members(pool: NodePoolInput, group: RolloutGroup) -> dict[str, str]:
    return {**_selector(pool), keys.GROUP: group_name(pool.cluster, pool.spec.name, group.failure_domain)}


def _deployment(pool: NodePoolInput, group: RolloutGroup, machine: Manifest, bootstrap: Manifest) -> Manifest:
    name = group_name(pool.cluster, pool.spec.name, group.failure_domain)
    members = _members(pool, group)
    rollout = pool.spec.rollout
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "MachineDeployment",
        name,
        namespace=pool.cluster,
        labels={**_labels(pool), keys.GROUP: name, keys.FAILURE_DOMAIN: group.failure_domain},
        annotations=_annotations(pool, group),
        spec={
            "clusterName": pool.cluster,
            # With autoscaling, the cluster autoscaler owns this field.
            **({} if pool.spec.autoscaling else {"replicas": group.size.nodes}),
            **given(paused=rollout.paused or None),
            "selector": {"matchLabels": members},
            "rollout": rollout_section(group.max_surge, group.max_unavailable, group.intent.after),
            # Without a limit, all unhealthy machines are deleted simultaneously
            # (CAPI:internal/controllers/machineset/machineset_controller.go, reconcileUnhealthyMachines).
            "remediation": {
                "maxInFlight": pool.spec.health.max_replacements or max(group.max_unavailable, group.max_surge)
            },
            "deletion": {"order": "Oldest"},
            "template": {
                "metadata": {
                    "labels": {**members, **_node_labels(pool, group)},
                    **given(annotations=dict(pool.spec.annotations)),
                },
                "spec": _machine(pool, group, machine, bootstrap),
            },
        },
    )


def _machine(pool: NodePoolInput, group: RolloutGroup, machine: Manifest, bootstrap: Manifest) -> Json:
    return {
        "clusterName": pool.cluster,
        "version": group.intent.kubelet,
        "failureDomain": group.failure_domain,
        "bootstrap": {"configRef": reference(bootstrap)},
        "infrastructureRef": reference(machine),
        **readiness(pool.spec.health, pool.burn_in),
        "deletion": {
            # Without this field, Cluster API waits for the drain without limit.
            **given(nodeDrainTimeoutSeconds=drain_limit_seconds(pool.spec)),
            "nodeVolumeDetachTimeoutSeconds": pool.spec.rollout.detach_timeout_seconds,
            "nodeDeletionTimeoutSeconds": 60,
        },
    }


def _annotations(pool: NodePoolInput, group: RolloutGroup) -> dict[str, str]:
    annotations = {keys.FINGERPRINT: group.intent.fingerprint}
    if pool.window is not None:
        annotations[keys.WINDOW] = window_text(pool.window)
    if pool.burn_in is not None and pool.spec.health.burn_in is BurnIn.GATED:
        annotations[keys.BURN_IN_BY] = pool.burn_in.set_by
    if pool.spec.autoscaling:
        labels = _node_labels(pool, group)
        times = (pool.startup_seconds, pool.burn_in_seconds)
        annotations |= group_options(pool.spec, pool.kind, group.size, group.intent, labels, *times)
    return annotations


def _node_labels(pool: NodePoolInput, group: RolloutGroup) -> dict[str, str]:
    """Return the labels that are copied to Nodes: platform labels in a restricted domain, and the tenant's labels."""
    platform = {
        keys.NODE_POOL: pool.spec.name,
        keys.NODE_INSTANCE_TYPE: pool.spec.instance_type,
        keys.NODE_FAILURE_DOMAIN: group.failure_domain,
    }
    if pool.spec.role is PoolRole.SYSTEM:
        platform[keys.NODE_ROLE] = pool.spec.role.value
    tenant = {key if "/" in key else f"{NODE_DOMAIN}/{key}": value for key, value in pool.spec.labels.items()}
    return {**tenant, **platform}
