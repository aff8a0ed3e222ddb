"""Rules about capacity of VPCs, clusters, data stores, the management cluster and controllers."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from components.lookups.add_ons import takes_more_pods
from components.lookups.control_planes import most_nodes_of, standing_pins, taken_stores
from components.lookups.intervals import usable
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import DataPath, PlacedCluster, clusters, clusters_of, place, problem
from components.render.add_ons.cni import POD_PREFIX_PER_NODE
from components.render.backends import BARE_METAL, NETWORK_BACKENDS
from components.render.network.dpf_hbn import POINT_TO_POINT
from components.reports.capacity import most_hosts
from components.rules.rule import Rules
from components.specs.base import DEDICATED, PLACED, Network
from components.specs.control_planes.data_stores import DPU_STORE
from components.specs.environment import Environment
from components.specs.keys import cluster_of, domain_of
from components.specs.network.tenant_network import PrefixKind, VpcSpec
from components.specs.reading.loader import ALLOCATIONS, INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, listed

MAX_PODS = 254
"""Number of pod addresses in the /24 of a node."""
MAX_NODES = 5000
"""Maximum number of nodes in a cluster that Kubernetes is tested with (thresholds of SIG Scalability)."""
MAX_FAILURE_DOMAINS = 100
"""Maximum number of failure domains in the published schemas of Cluster and Metal3Cluster."""
HEADROOM_PERCENT = 20
"""Percentage of loopbacks that must stay free for future DPUs (advice of NICo on address pools)."""
_POINT_TO_POINT = (POINT_TO_POINT, 0)
_BRIDGED = (32, 3)
"""Length of the prefix of a host, and the number of such prefixes that network, gateway and broadcast occupy."""


def vpc_capacity(environment: Environment) -> Iterator[Problem]:
    """Report VPCs whose prefixes are too small for the nodes of their clusters."""
    most = most_hosts(environment)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            inside = [placed for placed in clusters_of(tenant) if placed.cluster.vpc == vpc.name]
            for placed in inside:
                yield from _pods(environment, placed, index, vpc)
            yield from _hosts(environment, inside, index, vpc, sum(most[placed.cluster.name] for placed in inside))


def _pods(environment: Environment, placed: PlacedCluster, index: int, vpc: VpcSpec) -> Iterator[Problem]:
    name, nodes = placed.cluster.name, most_nodes_of(environment, placed.cluster)
    sizes, more = vpc.sizes_of(name, PrefixKind.PODS), takes_more_pods(environment, placed)
    pods = sum(_subnets(size, POD_PREFIX_PER_NODE) for size in sizes)
    if sizes and pods < nodes:
        path: DataPath = ("vpcs", index, "pods")
        remedy = _wider(environment, vpc, PrefixKind.PODS, wide_enough(POD_PREFIX_PER_NODE, nodes), more=more)
        if vpc.has_own(name):
            path = ("vpcs", index, "more_prefixes")
            remedy = "make its pools smaller" + (f", or add one for pods with cluster: {name}" if more else "")
        each = f"a /{POD_PREFIX_PER_NODE} each"
        text = f"{_shown(sizes)} fits the pods of {pods} nodes ({each}), {name} has {nodes}; {remedy}"
        yield problem(environment, placed.file, path, text)


def _hosts(
    environment: Environment, inside: list[PlacedCluster], index: int, vpc: VpcSpec, hosts: int
) -> Iterator[Problem]:
    border, sizes = NETWORK_BACKENDS[vpc.isolation], vpc.sizes(PrefixKind.HOSTS)
    each, reserved = _POINT_TO_POINT if border.link_per_host else _BRIDGED
    room = max(0, sum(_subnets(size, each) for size in sizes) - reserved)
    if room < hosts:
        wide = wide_enough(each, hosts + reserved)
        remedy = _wider(environment, vpc, PrefixKind.HOSTS, wide, more=border.link_per_host)
        names = [placed.cluster.name for placed in inside]
        whose = (
            f"{names[0]} has {hosts} with its spares"
            if len(names) == 1
            else f"{listed(names)} have {hosts} with spares"
        )
        text = f"{_shown(sizes)} fits {room} hosts (a /{each} each), {whose}; {remedy}"
        yield problem(environment, inside[0].file, ("vpcs", index, "hosts"), text)


def _shown(sizes: Iterable[int]) -> str:
    return " with ".join(f"/{size}" for size in sizes)


def _wider(environment: Environment, vpc: VpcSpec, key: PrefixKind, length: int, *, more: bool) -> str:
    """Return the remedy if prefixes of ``vpc`` are too small; ``more`` is set if additional prefixes are possible."""
    allocation = environment.allocations.vpcs.get(vpc.name)
    if allocation is None:
        return f"write /{length}"
    has: Network = getattr(allocation, key)
    if has.prefixlen <= length:
        return f"write /{has.prefixlen}"
    there = place(environment, ALLOCATIONS, ("vpcs", vpc.name, str(key)))
    if more:
        return f"make its pools smaller, or add one for {key} to more_prefixes, because {has} is immutable ({there})"
    return (
        f"make its pools smaller, or create a cluster in a new VPC with /{length}, because {has} is immutable ({there})"
    )


def pods_per_node(environment: Environment) -> Iterator[Problem]:
    """Report a ``max_pods`` above the number of pod addresses of a node."""
    rule = f"more than the {MAX_PODS} addresses for pods in a node's /{POD_PREFIX_PER_NODE}; write at most {MAX_PODS}"
    for index, kind in enumerate(environment.instance_types.instance_types):
        if kind.max_pods > MAX_PODS:
            path = ("instance_types", index, "max_pods")
            yield problem(environment, INSTANCE_TYPES, path, f"{kind.max_pods} pods are {rule}")
    for placed in clusters(environment):
        most = placed.cluster.max_pods
        if most is not None and most > MAX_PODS:
            yield problem(environment, placed.file, (*placed.path, "max_pods"), f"{most} pods are {rule}")


def cluster_size(environment: Environment) -> Iterator[Problem]:
    """Report clusters with more nodes than Kubernetes is tested with."""
    for placed in clusters(environment):
        nodes = most_nodes_of(environment, placed.cluster)
        if nodes > MAX_NODES:
            text = (
                f"its pools have {nodes} nodes in total, a cluster has at most {MAX_NODES}; split it into two clusters"
            )
            yield problem(environment, placed.file, (*placed.path, "pools"), text, placed.cluster.name)


def data_store_capacity(environment: Environment) -> Iterator[Problem]:
    """Report data stores with more clusters or nodes than their limit; DPUs count as nodes of DPU clusters."""
    used, nodes = _taken(environment)
    for index, store in enumerate(environment.region.control_planes.data_stores):
        path = ("control_planes", "data_stores", index)
        if used[store.name] > store.max_clusters:
            text = (
                f"'{store.name}' may have {store.max_clusters}, but {used[store.name]} clusters use it; add a data"
                " store for new clusters"
            )
            yield problem(environment, REGION, (*path, "max_clusters"), text)
        if nodes[store.name] > store.max_nodes:
            text = (
                f"'{store.name}' is sized for {store.max_nodes} nodes, but its {used[store.name]} clusters may have"
                f" {nodes[store.name]}; write {nodes[store.name]} or more, or add a data store for new clusters"
            )
            yield problem(environment, REGION, (*path, "max_nodes"), text)


def _taken(environment: Environment) -> tuple[Counter[str], Counter[str]]:
    """Return the number of clusters, and of their nodes, in each data store."""
    stores = taken_stores(environment)
    used = Counter(name for names in stores.values() for name in names)
    nodes = Counter[str]()
    for placed in clusters(environment):
        for name in stores[placed.cluster.name]:
            nodes[name] += most_nodes_of(environment, placed.cluster)
    if uses_dpf(environment):
        used[DPU_STORE] += len(environment.region.dpus.every(environment.region.networks.dpu_loopbacks))
        nodes[DPU_STORE] += len(environment.hosts)
    return used, nodes


def dedicated_data_stores(environment: Environment) -> Iterator[Problem]:
    """Report large clusters on a shared data store: a busy etcd would slow down the other clusters."""
    above = ("control_planes", "dedicated_above_nodes")
    limit, pins = environment.region.control_planes.dedicated_above_nodes, standing_pins(environment)
    for placed in clusters(environment):
        nodes, store = most_nodes_of(environment, placed.cluster), placed.cluster.control_plane.data_store
        if store == PLACED and placed.cluster.name in pins:
            store = pins[placed.cluster.name].data_store
        if nodes > limit and store not in {DEDICATED, PLACED}:
            remedy = f"write {DEDICATED}"
            if environment.region.control_planes.dedicated is None:
                remedy = f"add control_planes.{DEDICATED} there, and {remedy} here"
            text = (
                f"'{store}' is shared, but clusters with more than {limit} nodes (dedicated_above_nodes,"
                f" {place(environment, REGION, above)}) require a dedicated one; {placed.cluster.name} has {nodes},"
                f" {remedy}"
            )
            path = (*placed.path, "control_plane", "data_store")
            yield problem(environment, placed.file, path, text, placed.cluster.name)


def control_planes(environment: Environment) -> Iterator[Problem]:
    """Report more clusters than the management cluster can host."""
    limit, count = environment.region.control_planes.max_clusters, sum(1 for _ in clusters(environment))
    if count > limit:
        text = f"{count} clusters exceed the limit of the management cluster ({limit}); raise it if it has the capacity"
        yield problem(environment, REGION, ("control_planes", "max_clusters"), text)


def controllers(environment: Environment) -> Iterator[Problem]:
    """Report more hosts than the bare-metal controllers support, and clusters larger than any controller.

    Metal3 uses only hosts in the namespace of the cluster, and a namespace belongs to one controller.
    """
    metal, count = environment.region.bare_metal, len(environment.hosts)
    if not metal.controllers:
        if count > metal.hosts_per_controller:
            text = (
                f"{count} hosts exceed the limit of a controller ({metal.hosts_per_controller}); raise it to the tested"
                " limit of your controller"
            )
            yield problem(environment, REGION, ("bare_metal", "hosts_per_controller"), text)
        return
    path = ("bare_metal", "controllers")
    total, largest = (
        sum(controller.max_hosts for controller in metal.controllers),
        max(controller.max_hosts for controller in metal.controllers),
    )
    if count > total:
        text = f"{count} hosts exceed the limit of {len(metal.controllers)} controllers ({total}); add a controller"
        yield problem(environment, REGION, path, text)
    most = most_hosts(environment)
    for placed in clusters(environment):
        hosts = most[placed.cluster.name]
        if hosts > largest:
            text = (
                f"{placed.cluster.name} has {hosts} hosts with its spares, but a cluster uses one controller, and the"
                f" largest of {place(environment, REGION, path)} supports {largest}; split it into two clusters"
            )
            yield problem(environment, placed.file, (*placed.path, "pools"), text)


def controller_load(environment: Environment) -> Iterator[Problem]:
    """Report bare-metal controllers whose clusters have more hosts than the controller's limit."""
    most = most_hosts(environment)
    for index, controller in enumerate(environment.region.bare_metal.controllers):
        mine = [
            name
            for name, allocation in environment.allocations.clusters.items()
            if allocation.controller == controller.name
        ]
        hosts = sum(most.get(name, 0) for name in mine)
        if hosts > controller.max_hosts:
            where = listed(f"{name} ({place(environment, ALLOCATIONS, ('clusters', name))})" for name in mine)
            text = (
                f"'{controller.name}' has a limit of {controller.max_hosts}, but {where} have {hosts} hosts with their"
                " spares; raise it to the tested limit of your controller, or make pools of these clusters smaller"
            )
            yield problem(environment, REGION, ("bare_metal", "controllers", index, "max_hosts"), text)


def failure_domains(environment: Environment) -> Iterator[Problem]:
    """Report clusters in more failure domains than Cluster API can list; Machines require a listed failure domain."""
    if not BARE_METAL[environment.region.bare_metal.backend].lists_failure_domains:
        return
    domains: dict[str, set[str]] = defaultdict(set)
    for key in environment.allocations.groups:
        domains[cluster_of(key)].add(domain_of(key))
    for placed in clusters(environment):
        count = len(domains[placed.cluster.name])
        if count > MAX_FAILURE_DOMAINS:
            text = (
                f"{placed.cluster.name} is in {count} failure domains, but Cluster API lists {MAX_FAILURE_DOMAINS} for"
                " a cluster; split it into two clusters"
            )
            yield problem(environment, placed.file, (*placed.path, "pools"), text)


def loopbacks(environment: Environment) -> Iterator[Problem]:
    """Report a loopback network that is too small for all DPUs plus headroom."""
    network, count = environment.region.networks.dpu_loopbacks, len(environment.hosts)
    needed = -(-count * (100 + HEADROOM_PERCENT) // 100)
    if usable(network) < needed:
        text = (
            f"{network} has {usable(network)} addresses, {needed} are needed: {count} DPUs and {HEADROOM_PERCENT} % for"
            f" future DPUs; write {network.supernet(new_prefix=wide_enough(32, needed + 2))} or wider"
        )
        yield problem(environment, REGION, ("networks", "dpu_loopbacks"), text)


def wide_enough(longest: int, count: int) -> int:
    """Return the prefix length that contains ``count`` prefixes of length ``longest``."""
    return longest - (count - 1).bit_length()


def _subnets(wide: int, narrow: int) -> int:
    """Return the number of prefixes of length ``narrow`` in one of length ``wide``."""
    return 2 ** (narrow - wide) if wide <= narrow else 0


RULES = Rules(
    data=(
        vpc_capacity,
        pods_per_node,
        cluster_size,
        data_store_capacity,
        dedicated_data_stores,
        control_planes,
        controllers,
        loopbacks,
    ),
    locks=(controller_load, failure_domains),
    waivable=(cluster_size, dedicated_data_stores),
)
