"""What the priority of requests inside a cluster is made from."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.build.add_ons import add_ons, brings_network
from components.plan.build.control_planes import most_nodes_of
from components.plan.build.fabrics import connected
from components.plan.pools import PlacedCluster
from components.render import infiniband, kube_ovn
from components.render.request_priority import RequestPriorityInput
from components.render.storage import storage_drivers
from components.render.vm_offering import VM_OPERATORS
from components.specs.environment import Environment


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[RequestPriorityInput]:
    """Yield the priority of requests in a cluster."""
    yield RequestPriorityInput(
        name=placed.cluster.name,
        cluster=placed.cluster.name,
        nodes=most_nodes_of(environment, placed.cluster),
        installed=tuple(_installed(environment, placed)),
    )


def _installed(environment: Environment, placed: PlacedCluster) -> Iterator[tuple[str, str]]:
    """Yield chart and namespace of each release inside a cluster."""
    cluster, vms = placed.cluster, placed.tenant.vms
    for entry in add_ons(environment, placed):
        yield entry.chart, entry.namespace
    if brings_network(placed):
        yield kube_ovn.CHART, kube_ovn.NAMESPACE
    if connected(environment, placed):
        yield infiniband.CHART, infiniband.NAMESPACE
    drivers = storage_drivers(tuple(spec for spec in environment.region.storage if spec.name in cluster.storage))
    machines = VM_OPERATORS if vms is not None and vms.cluster == cluster.name else ()
    for operator in (*drivers, *machines):
        yield operator.chart, operator.namespace
