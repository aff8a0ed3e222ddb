"""What is known of a region at one moment, as data that a comparison of commits may read: who works on which node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from pydantic import AwareDatetime, Field

from components.lookups.pools import clusters
from components.render.manifest import MANAGEMENT
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.keys import group_key, pool_key
from components.specs.natural import natural
from jacquard.observe.backends import bare_metal
from jacquard.observe.jobs import CLAIM, POD, Jobs
from jacquard.observe.live_nodes import TENANT_KINDS, live_nodes
from jacquard.observe.objects import key
from jacquard.observe.observation import Observation
from jacquard.observe.pool_status import Pools
from jacquard.providers.kube.objects import dig

FORMAT = 1
KINDS = (*TENANT_KINDS, POD, CLAIM)
"""What is read in each tenant cluster."""
Place: TypeAlias = tuple[str, str]
"""Cluster and node."""
Held: TypeAlias = dict[Place, list[int]]
"""GPUs of each pod that holds any."""


class ClusterFacts(Spec):
    """A cluster, and whether it could be read."""

    cluster: str
    """Name of the cluster; ``management`` for that of the region."""
    tenant: str | None
    """Tenant whose cluster it is; None for the management cluster."""
    unreachable: str | None
    """Why it could not be read, so that nothing is known of it; None if it could."""
    stray_pods: int | None = Field(ge=0)
    """Pods that hold GPUs on nodes which belong to no pool; None where nobody looked."""


class NodeFacts(Spec):
    """A node of a pool."""

    cluster: str
    """Cluster that it is a node of."""
    node: str
    """Name of the Node."""
    tenant: str
    """Tenant whose cluster it is."""
    group: str
    """Rollout group, as ``cluster/pool/failure-domain``."""
    host: str | None
    """Host of the inventory that it runs on; None if nothing tells."""
    pods: int = Field(ge=0)
    """Pods that hold GPUs, and that end when it is drained or goes."""
    gpus: int = Field(ge=0)
    """GPUs that they hold, or slices of GPUs."""


class GroupFacts(Spec):
    """The machines of a rollout group."""

    group: str
    """Rollout group, as ``cluster/pool/failure-domain``."""
    ordered: int = Field(ge=0)
    """Nodes that the data order."""
    machines: int = Field(ge=0)
    """Machines that exist and are not being deleted."""
    ready: int = Field(ge=0)
    """Machines that are ready."""
    settled: bool
    """Whether all of them are as ordered."""


class HostFacts(Spec):
    """A host of the inventory."""

    host: str
    """Name of the host."""
    state: str
    """What its controller says of it, in that one's words."""


class Facts(Spec):
    """What the clusters of a region answered at one moment."""

    kind: Literal["jacquard facts"] = "jacquard facts"
    """Tells this file from others."""
    schema_version: int = Field(default=FORMAT, ge=1)
    """Version of this form."""
    environment: str
    """Name of the environment."""
    observed_at: AwareDatetime
    """Moment of the look, not later than any of the answers."""
    clusters: tuple[ClusterFacts, ...]
    """All clusters of the region, those that could not be read too."""
    nodes: tuple[NodeFacts, ...]
    """All nodes of pools, of clusters that could be read."""
    groups: tuple[GroupFacts, ...]
    """All rollout groups; none if the management cluster could not be read."""
    hosts: tuple[HostFacts, ...]
    """All hosts; none if the management cluster could not be read."""


def assemble(environment: Environment, seen: Observation) -> Facts:
    """Return what was seen of ``environment``; ``seen`` has pods and claims of which `Jobs` keeps those with GPUs."""
    if seen.at is None:
        msg = "an observation without a moment gives no facts"
        raise ValueError(msg)
    held, reason = _held(environment, seen), seen.unreachable.get(MANAGEMENT)
    nodes = {(one.cluster, one.node): one for one in _nodes(environment, seen, held)}
    strays = {place: pods for place, pods in held.items() if place not in nodes}
    hosts = sorted(bare_metal(environment).states(seen.of), key=lambda one: (natural(one[0]), one[1]))
    return Facts(
        environment=environment.name,
        observed_at=seen.at,
        clusters=(
            ClusterFacts(cluster=MANAGEMENT, tenant=None, unreachable=reason, stray_pods=None),
            *_clusters(environment, seen, strays),
        ),
        nodes=tuple(nodes.values()),
        groups=tuple(_groups(environment, seen)) if reason is None else (),
        hosts=tuple(HostFacts(host=host, state=state) for host, state in hosts),
    )


def _held(environment: Environment, seen: Observation) -> Held:
    """Return the GPUs of each pod that holds any, by the cluster and the node that it runs on."""
    jobs, found = Jobs(environment), dict[Place, list[int]]()
    for placed in clusters(environment):
        cluster = placed.cluster.name
        claims = {key(claim): claim for claim in seen.of(CLAIM[1], cluster)}
        for pod in seen.of(POD[1], cluster):
            if count := jobs.gpus(pod, claims):
                found.setdefault((cluster, str(dig(pod, "spec", "nodeName"))), []).append(count)
    return found


def _clusters(environment: Environment, seen: Observation, strays: Held) -> Iterator[ClusterFacts]:
    for placed in clusters(environment):
        name, reason = placed.cluster.name, seen.unreachable.get(placed.cluster.name)
        stray = sum(len(pods) for place, pods in strays.items() if place[0] == name)
        yield ClusterFacts(
            cluster=name,
            tenant=placed.tenant.tenant,
            unreachable=reason,
            stray_pods=stray if reason is None else None,
        )


def _nodes(environment: Environment, seen: Observation, held: Held) -> Iterator[NodeFacts]:
    tenants = {one.cluster.name: one.tenant.tenant for one in clusters(environment)}
    for node in sorted(live_nodes(environment, seen), key=lambda one: (one.cluster, natural(one.name))):
        gpus = held.get((node.cluster, node.name), [])
        yield NodeFacts(
            cluster=node.cluster,
            node=node.name,
            tenant=tenants[node.cluster],
            group=group_key(pool_key(node.cluster, node.pool), node.failure_domain),
            host=node.host,
            pods=len(gpus),
            gpus=sum(gpus),
        )


def _groups(environment: Environment, seen: Observation) -> Iterator[GroupFacts]:
    index = Pools(environment, seen)
    for placed in clusters(environment):
        for pool in placed.cluster.pools:
            for group in index.pool(placed.cluster, pool).groups:
                yield GroupFacts(
                    group=group_key(pool_key(placed.cluster.name, pool.name), group.failure_domain),
                    ordered=group.total,
                    machines=group.machines,
                    ready=group.ready,
                    settled=group.settled,
                )
