"""Clusters that lose the add-on for GPUs while they have nodes with GPUs."""

from collections.abc import Iterator

from components.lookups.add_ons import gives
from components.lookups.pools import clusters
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.keys import pool_key
from jacquard.previews.impacts.machines import Machines


class WithoutGpus(Spec):
    """A cluster that loses its add-on for GPUs.

    Its pods continue with their GPUs; nodes offer no GPUs to new pods (Kubernetes' device plugins).
    """

    cluster: str
    """Name of the cluster."""
    tenant: str
    """Tenant of the cluster."""
    nodes: int
    """Nodes with GPUs before the change."""
    gpus: int
    """GPUs in these nodes."""


def without_gpus(base: Environment, head: Environment, machines: Machines) -> Iterator[WithoutGpus]:
    """Yield the clusters that have an add-on for GPUs in ``base`` only, with their nodes in ``base``."""
    after = {placed.cluster.name: placed for placed in clusters(head)}
    for placed in clusters(base):
        name = placed.cluster.name
        if name not in after or not gives(base, placed, Capability.GPUS) or gives(head, after[name], Capability.GPUS):
            continue
        pools = {pool_key(name, pool.name) for pool in placed.cluster.pools}
        hosts = [
            host
            for host, pool in base.allocations.hosts.items()
            if pool in pools and machines.counts_as_node(host) and machines.gpus([host])
        ]
        if hosts:
            yield WithoutGpus(cluster=name, tenant=placed.tenant.tenant, nodes=len(hosts), gpus=machines.gpus(hosts))
