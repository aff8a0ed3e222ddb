"""Reads the properties of a region's nodes, from Nodes and their hosts, in the terms of the data."""

from collections.abc import Callable, Iterator

from components.lookups.contracts import most_contracted
from components.render.health.quarantine import BURN_IN, EVICTION, QUARANTINE
from components.render.labels import NODE_IMAGE, NODE_INSTANCE_TYPE
from components.reports.uniformity import LiveNode
from components.specs.environment import Environment
from components.specs.region.tenant import TenantSpec
from jacquard.observe.backends import bare_metal, control_planes
from jacquard.observe.objects import Kind, Object, Place, holds, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

TENANT_KINDS = (("v1", "Node"),)
_POOL = "node-restriction.kubernetes.io/pool"
_FAILURE_DOMAIN = "node-restriction.kubernetes.io/failure-domain"
_UNUSED = frozenset(taint["key"] for taint in (BURN_IN, EVICTION, QUARANTINE))
"""Taints of nodes that take no pods of tenants because of faults or tests."""
_DRIVER = "nvidia.com/cuda.driver-version.full"
"""Label that GPU feature discovery sets."""
_FLAVOUR = "-generic"
"""Suffix of the version of Ubuntu's kernel, which the data omits."""


def management_kinds(environment: Environment) -> tuple[Kind, ...]:
    """Return the kinds that `live_nodes` reads in the management cluster."""
    return bare_metal(environment).reports


def live_nodes(environment: Environment, seen: Observation) -> list[LiveNode]:
    """Return the nodes of all pools, with the values reported by each node and its host."""
    metal = bare_metal(environment)
    report = metal.report(seen.of)
    nodes = (
        (cluster.name, node)
        for tenant in environment.tenants
        for cluster in tenant.clusters
        for node in seen.of("Node", cluster.name)
    )
    live = []
    for cluster, node in nodes:
        labels = dig(node, "metadata", "labels") or {}
        if not labels.get(_POOL):
            continue
        place = host_place(node, metal.provider)
        host, reported = report(place) if place else (None, {})
        live.append(
            LiveNode(
                cluster=cluster,
                name=key(node)[1],
                pool=labels[_POOL],
                failure_domain=labels.get(_FAILURE_DOMAIN, ""),
                host=host,
                values={**dict(_of_node(node, control_planes(environment).kubernetes)), **reported},
            )
        )
    return live


def host_place(node: Object, provider: str) -> Place | None:
    """Return the two segments that identify the host or claim in a node's provider ID; None if they are missing."""
    text = str(dig(node, "spec", "providerID") or "")
    parts = text.removeprefix(provider).split("/")
    return (parts[0], parts[1]) if text.startswith(provider) and len(parts) > 1 else None


def _of_node(node: Object, kubernetes: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    labels, info = dig(node, "metadata", "labels") or {}, dig(node, "status", "nodeInfo") or {}
    if NODE_IMAGE in labels:
        yield "image", labels[NODE_IMAGE]
    if info.get("kernelVersion"):
        yield "kernel", info["kernelVersion"].removesuffix(_FLAVOUR)
    if info.get("kubeletVersion"):
        yield "kubelet", kubernetes(info["kubeletVersion"])
    if info.get("containerRuntimeVersion"):
        yield "containerd", info["containerRuntimeVersion"].removeprefix("containerd://")
    if _DRIVER in labels:
        yield "gpu_driver", labels[_DRIVER]


def capacity_text(seen: Observation, tenant: TenantSpec, node: Object) -> str:
    """Return the number of nodes of the tenant and type of ``node`` that take pods, and the contracted number."""
    kind = _kind(node)
    nodes = (body for cluster in tenant.clusters for body in seen.of("Node", cluster.name))
    usable = sum(_kind(body) == kind and _is_usable(body) for body in nodes)
    most = most_contracted(tenant)
    contracted = f", {most[kind]} are contracted" if kind in most else ""
    return f"{usable} {kind} nodes of {tenant.tenant} take pods{contracted}"


def _kind(node: Object) -> str:
    return str((dig(node, "metadata", "labels") or {}).get(NODE_INSTANCE_TYPE, ""))


def _is_usable(node: Object) -> bool:
    taints = {taint.get("key") for taint in dig(node, "spec", "taints") or ()}
    return holds(node, "Ready") and not dig(node, "spec", "unschedulable") and taints.isdisjoint(_UNUSED)
