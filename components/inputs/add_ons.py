"""Inputs of the add-ons of each cluster."""

from collections.abc import Iterable, Iterator

from components.lookups.add_ons import add_ons, facts, node_tests, overrides
from components.lookups.charts import installed_inside
from components.lookups.network.dpu_ports import load_balancer_port
from components.lookups.pools import PlacedCluster, has_public_login, public_addresses
from components.render.add_ons.add_ons import AddOnsInput, needs_of
from components.render.add_ons.load_balancers import LoadBalancers
from components.render.vms.vm_images import NAMESPACE as VMS
from components.render.workloads.slurm_pool import NAMESPACE as SLURM
from components.specs.add_ons.add_ons import AddOn, Capability
from components.specs.environment import Environment

_FIRST = (Capability.NETWORK, Capability.MONITORING)


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[AddOnsInput]:
    """Yield the input for the add-ons of a cluster; nothing if the cluster has no add-ons."""
    chosen = tuple(_in_order(add_ons(environment, placed)))
    if chosen:
        cluster = placed.cluster
        numbers = environment.allocations.vpcs[cluster.vpc].of_cluster(cluster.name)
        yield AddOnsInput(
            name=cluster.name,
            cluster=cluster.name,
            add_ons=chosen,
            facts=facts(environment, placed),
            pins=environment.image_pins.charts_of(cluster.name),
            overrides=overrides(environment, cluster),
            installed=dict(installed_inside(environment, placed)),
            tests=node_tests(environment, placed),
            load_balancers=LoadBalancers(
                vpc=numbers.of_kind("load_balancers"),
                public=public_addresses(environment, placed),
                public_namespaces=_public_namespaces(placed),
                asn=numbers.asn,
                interface=load_balancer_port(environment, cluster.name),
            ),
        )


def _public_namespaces(placed: PlacedCluster) -> tuple[str, ...]:
    """Return the namespaces of a cluster with Services that have a public address."""
    vms = placed.tenant.vms
    return (
        *((VMS,) if vms is not None and vms.cluster == placed.cluster.name else ()),
        *((SLURM,) if has_public_login(placed.cluster) else ()),
    )


def _in_order(chosen: Iterable[AddOn]) -> Iterator[AddOn]:
    """Yield add-ons in dependency order: the network first, then the add-ons that define the kinds of monitors."""
    remaining = sorted(chosen, key=lambda entry: _FIRST.index(entry.gives) if entry.gives in _FIRST else len(_FIRST))
    while remaining:
        names = {entry.name for entry in remaining}
        # A rule reports cycles in the catalogue.
        first = next(entry for entry in remaining if names.isdisjoint(needs_of(entry, remaining)))
        remaining.remove(first)
        yield first
