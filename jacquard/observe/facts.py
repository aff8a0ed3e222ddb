"""Data model of facts: jobs and faults of nodes at one time, as input for comparisons of commits."""

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
from jacquard.observe.nodes.faults import node_faults
from jacquard.observe.nodes.live import TENANT_KINDS, live_nodes
from jacquard.observe.objects import key
from jacquard.observe.observation import Observation
from jacquard.observe.pool_status import Pools
from jacquard.providers.kube.objects import dig

FORMAT = 2
"""Version 1 has no faults of nodes."""
HISTORY_HOURS = 168
"""Hours before the observation of which facts contain faults."""
KINDS = (*TENANT_KINDS, POD, CLAIM)
"""Kinds that are read in each tenant cluster."""
Place: TypeAlias = tuple[str, str]
"""Cluster and node."""
Held: TypeAlias = dict[Place, list[int]]
"""GPUs of each pod that uses GPUs."""


class ClusterFacts(Spec):
    """A cluster, and the result of reading it."""

    cluster: str
    """Name of the cluster; ``management`` for the management cluster of the region."""
    tenant: str | None
    """Tenant of the cluster; None for the management cluster."""
    unreachable: str | None
    """Reason why the cluster could not be read; None after a successful read."""
    stray_pods: int | None = Field(ge=0)
    """Number of pods with GPUs on nodes outside pools; None if the pods were not read."""


class NodeFacts(Spec):
    """A node of a pool."""

    cluster: str
    """Cluster of the node."""
    node: str
    """Name of the Node."""
    tenant: str
    """Tenant of the cluster."""
    group: str
    """Rollout group, as ``cluster/pool/failure-domain``."""
    host: str | None
    """Host of the inventory on which the node runs; None if unknown."""
    pods: int = Field(ge=0)
    """Number of pods with GPUs that end when the node is drained or deleted."""
    gpus: int = Field(ge=0)
    """Number of GPUs, or slices of GPUs, of these pods."""


class GroupFacts(Spec):
    """The machines of a rollout group."""

    group: str
    """Rollout group, as ``cluster/pool/failure-domain``."""
    ordered: int = Field(ge=0)
    """Number of declared nodes."""
    machines: int = Field(ge=0)
    """Number of machines that exist and are not being deleted."""
    ready: int = Field(ge=0)
    """Number of ready machines."""
    settled: bool
    """Whether the group is settled."""


class HostFacts(Spec):
    """A host of the inventory."""

    host: str
    """Name of the host."""
    state: str
    """State of the host, in the terms of its controller."""


class FaultFacts(Spec):
    """A fault that a node has at the time of the observation."""

    cluster: str
    """Cluster of the node."""
    node: str
    """Name of the Node."""
    condition: str
    """Type of the condition, or key of the taint of Node Feature Discovery."""
    since: AwareDatetime | None
    """Begin of the fault; None if unknown."""


class PastFault(Spec):
    """A fault that a node had within ``HISTORY_HOURS`` before the observation."""

    cluster: str
    """Cluster of the node."""
    node: str
    """Name of the Node, which may not exist any more."""
    condition: str
    """Type of the condition."""
    longest_seconds: int = Field(ge=0)
    """Duration of the longest occurrence in whole minutes, in seconds; 0 for less than a minute."""


class Coverage(Spec):
    """Part of the history of a condition that the metrics store has."""

    cluster: str
    """Cluster of the nodes."""
    condition: str
    """Type of the condition."""
    hours: int = Field(ge=1)
    """Hours with samples of the condition, of ``HISTORY_HOURS``."""


class FaultHistory(Spec):
    """Faults in the metrics store of a region, independent of actions and hold times in the data."""

    coverage: tuple[Coverage, ...]
    """Conditions with samples in the store, by cluster."""
    faults: tuple[PastFault, ...]
    """Faults of all nodes with samples."""


class Facts(Spec):
    """Answers of a region's clusters at one time."""

    kind: Literal["jacquard facts"] = "jacquard facts"
    """Identifies the file format."""
    schema_version: int = Field(default=FORMAT, ge=1)
    """Version of this format."""
    environment: str
    """Name of the environment."""
    observed_at: AwareDatetime
    """Time of the observation; every answer was received at this time or later."""
    clusters: tuple[ClusterFacts, ...]
    """All clusters of the region, including unreachable clusters."""
    nodes: tuple[NodeFacts, ...]
    """All nodes of pools in clusters that were read."""
    groups: tuple[GroupFacts, ...]
    """All rollout groups; empty if the management cluster could not be read."""
    hosts: tuple[HostFacts, ...]
    """All hosts; empty if the management cluster could not be read."""
    faults: tuple[FaultFacts, ...] | None = None
    """Faults of nodes in clusters that were read; None in files of version 1."""
    history: FaultHistory | None = None
    """Earlier faults of nodes; None if the metrics store was not queried."""


def assemble(environment: Environment, seen: Observation) -> Facts:
    """Return the facts of ``environment`` from ``seen``, whose pods and claims were selected by `Jobs.keep`."""
    if seen.at is None:
        msg = "an observation without a time cannot be converted to facts"
        raise ValueError(msg)
    held, reason = _held(environment, seen), seen.unreachable.get(MANAGEMENT)
    nodes = {(node.cluster, node.node): node for node in _nodes(environment, seen, held)}
    strays = {place: pods for place, pods in held.items() if place not in nodes}
    hosts = sorted(bare_metal(environment).states(seen.of), key=lambda host: (natural(host[0]), host[1]))
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
        faults=tuple(
            FaultFacts(cluster=fault.cluster, node=fault.node, condition=fault.condition, since=fault.since)
            for fault in node_faults(environment, seen)
        ),
    )


def _held(environment: Environment, seen: Observation) -> Held:
    """Return the GPUs of each pod that uses GPUs, by cluster and node."""
    jobs, held = Jobs(environment), dict[Place, list[int]]()
    for placed in clusters(environment):
        cluster = placed.cluster.name
        claims = {key(claim): claim for claim in seen.of(CLAIM[1], cluster)}
        for pod in seen.of(POD[1], cluster):
            if count := jobs.gpus(pod, claims):
                held.setdefault((cluster, str(dig(pod, "spec", "nodeName"))), []).append(count)
    return held


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
    tenants = {placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)}
    for node in sorted(live_nodes(environment, seen), key=lambda node: (node.cluster, natural(node.name))):
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
