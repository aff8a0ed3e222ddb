"""Inputs of the queues in a cluster: resources, taints and topology of the pools with quotas."""

from collections.abc import Iterator

from components.intents.nodes import intents_of
from components.lookups.pools import PlacedCluster
from components.render import labels as keys
from components.render.backends import BARE_METAL
from components.render.control_planes.control_plane import HOST
from components.render.pools.gpu_sharing import offered
from components.render.workloads.kueue import CHART
from components.render.workloads.queues import QueuedPool, QueuesInput
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.pools.node_pool import NodePoolSpec

HOST_LABELS = (keys.LEAF, keys.RACK)
"""Labels of a host with its location, widest first."""
_MEBIBYTE_BITS = 20


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[QueuesInput]:
    """Yield the queues of a cluster; nothing if the data define none."""
    cluster, spec = placed.cluster, placed.cluster.queues
    if spec is not None:
        wanted = {name for team in spec.teams for name in team.pools}
        queued = (queued_pool(environment, cluster.name, pool) for pool in cluster.pools if pool.name in wanted)
        priorities = {priority.name: priority for priority in environment.add_ons.pod_priorities}
        yield QueuesInput(
            name=cluster.name,
            cluster=cluster.name,
            spec=spec,
            pools=tuple(sorted(queued, key=lambda pool: pool.gpus is not None)),
            kueue=environment.chart_inside(cluster.name, CHART),
            classes={name: priorities[priority] for name, priority in spec.classes.items()},
        )


def queued_pool(environment: Environment, cluster: str, pool: NodePoolSpec) -> QueuedPool:
    """Return the properties of ``pool`` that its quotas and its flavor depend on.

    Nodes keep the taints and the GPU sharing with which they were promoted. Jobs therefore tolerate the taints of the
    data and those that are pinned, in a fixed order, so that another order is not another flavor. GPUs are counted as
    pinned unless a rollout is open.
    """
    kind = environment.instance_types.by_name[pool.instance_type]
    pinned = intents_of(environment, pool_key(cluster, pool.name)).values()
    ways = {intent.gpu_sharing for intent in pinned}
    sharing = ways.pop() if len(ways) == 1 else pool.gpu_sharing
    taints = {*pool.taints, *(taint for intent in pinned for taint in intent.taints)}
    return QueuedPool(
        name=pool.name,
        cpus=kind.cpus,
        mebibytes=bytes_of(kind.memory) >> _MEBIBYTE_BITS,
        gpus=offered(kind.gpu, sharing) if kind.gpu else None,
        taints=tuple(sorted(taints, key=lambda taint: (taint.key, taint.value, taint.effect))),
        levels=levels(environment, pool),
    )


def levels(environment: Environment, pool: NodePoolSpec) -> tuple[str, ...]:
    """Return the labels of a pool's nodes by level of the network, widest first; empty for an autoscaling pool.

    If the bare-metal backend does not copy the labels of hosts to nodes, only the failure domain is known.
    """
    if pool.autoscaling:
        return ()
    copied = BARE_METAL[environment.region.bare_metal.backend].labels_nodes
    return (*(HOST_LABELS if copied else (keys.NODE_FAILURE_DOMAIN,)), HOST)
