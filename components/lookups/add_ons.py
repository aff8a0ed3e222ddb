"""Add-ons of clusters, and the inputs to render them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.lookups.add_on_values import overrides
from components.lookups.control_planes import most_nodes_of
from components.lookups.fabrics import connected
from components.lookups.pools import PlacedCluster, public_addresses
from components.render.add_ons.add_ons import AddOnsInput
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.cni import DUAL_STACK, TAKE_MORE_PODS
from components.render.add_ons.load_balancers import LoadBalancers
from components.render.backends import NETWORK_BACKENDS
from components.specs.add_ons.add_ons import AddOn, Capability
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.pools.gpu_sharing import GpuSharingSpec
from components.specs.pools.node_pool import PoolRole

DEFAULT = "default"
_FIRST = (Capability.NETWORK, Capability.MONITORING)


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[AddOnsInput]:
    """Yield the add-ons of a cluster that has any."""
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
            load_balancers=LoadBalancers(
                vpc=numbers.of_kind("load_balancers"),
                public=public_addresses(environment, placed),
                asn=numbers.asn,
                interface=environment.region.dpus.host_interface,
            ),
        )


def add_ons(environment: Environment, placed: PlacedCluster) -> list[AddOn]:
    """Return the add-ons of a cluster in catalogue order: those that it names, and default ones if it uses defaults.

    A default add-on is skipped if it requires GPUs or NVLink that the cluster does not have, provides the same
    capability as a named one, or provides a network where the VPC or a seed has one.
    """
    cluster, names = placed.cluster, named(placed.cluster)
    catalog = environment.add_ons.add_ons
    given = {entry.gives for entry in catalog if entry.name in names and entry.gives}
    if brings_network(placed) or cluster.cni_seed is not None:
        given.add(Capability.NETWORK)
    gpus, spans = has_gpus(environment, placed), bool(nvlink(environment, placed))

    def comes_along(entry: AddOn) -> bool:
        fits = (gpus or not entry.gpu_only) and (spans or not entry.nvlink_only)
        wanted = takes_defaults(cluster) and entry.name not in cluster.without_add_ons
        return entry.default and fits and wanted and entry.gives not in given

    return [entry for entry in catalog if entry.name in names or comes_along(entry)]


def named(cluster: ClusterSpec) -> tuple[str, ...]:
    """Return the add-ons that ``cluster`` names."""
    return () if cluster.add_ons == DEFAULT else tuple(name for name in cluster.add_ons if name != DEFAULT)


def takes_defaults(cluster: ClusterSpec) -> bool:
    """Return whether ``cluster`` has the default add-ons."""
    return cluster.add_ons == DEFAULT or DEFAULT in cluster.add_ons


def brings_network(placed: PlacedCluster) -> bool:
    """Return whether the VPC of a cluster is also its CNI."""
    return placed.vpc is not None and NETWORK_BACKENDS[placed.vpc.isolation].brings_network


def takes_more_pods(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether the network of a cluster supports several pod prefixes."""
    return any(
        entry.gives is Capability.NETWORK and entry.chart in TAKE_MORE_PODS for entry in add_ons(environment, placed)
    )


def takes_ipv6(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether the network of a cluster supports IPv6 for pods, as a network of its VPC always does."""
    chosen = add_ons(environment, placed)
    return brings_network(placed) or any(
        entry.gives is Capability.NETWORK and entry.chart in DUAL_STACK for entry in chosen
    )


def has_gpus(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether any pool of a cluster has GPUs."""
    kinds = environment.instance_types.by_name
    return any(kind.gpu for pool in placed.cluster.pools if (kind := kinds.get(pool.instance_type)))


def nvlink(environment: Environment, placed: PlacedCluster) -> dict[str, int]:
    """Return the number of nodes of an NVLink domain by instance type, for types of the cluster that span nodes."""
    kinds = (environment.instance_types.by_name.get(pool.instance_type) for pool in placed.cluster.pools)
    return {kind.name: kind.nodes_per_rack for kind in kinds if kind and kind.spans_nodes}


def _in_order(chosen: Iterable[AddOn]) -> Iterator[AddOn]:
    """Yield add-ons so that each follows its dependencies: the network first, then those that define monitor kinds."""
    left = sorted(chosen, key=lambda entry: _FIRST.index(entry.gives) if entry.gives in _FIRST else len(_FIRST))
    while left:
        names = {entry.name for entry in left}
        # A rule reports cycles in the catalogue.
        first = next(entry for entry in left if names.isdisjoint(entry.needs))
        left.remove(first)
        yield first


def facts(environment: Environment, placed: PlacedCluster) -> ClusterFacts:
    """Return the facts about a cluster that its add-ons depend on."""
    cluster, lock = placed.cluster, environment.allocations
    numbers = lock.vpcs[cluster.vpc].of_cluster(cluster.name)
    return ClusterFacts(
        name=cluster.name,
        nodes=most_nodes_of(environment, cluster),
        api=lock.clusters[cluster.name].vip,
        pods=numbers.of_kind("pods"),
        pods_ipv6=numbers.pods_ipv6,
        system_pool=any(pool.role is PoolRole.SYSTEM for pool in cluster.pools),
        gpus=has_gpus(environment, placed),
        nvlink=nvlink(environment, placed),
        attachments=bool(connected(environment, placed)),
        gpu_sharing=gpu_sharing(environment, placed),
    )


def gpu_sharing(environment: Environment, placed: PlacedCluster) -> tuple[GpuSharingSpec, ...]:
    """Return the GPU sharing modes of a cluster: those of its nodes, and those that the data requests."""
    pins = environment.image_pins
    names = [name for key, name in pins.groups.items() if cluster_of(key) == placed.cluster.name]
    ways = (
        *(pool.gpu_sharing for pool in placed.cluster.pools),
        *(pins.intents[name].gpu_sharing for name in names),
    )
    return tuple(dict.fromkeys(way for way in ways if way is not None))
