"""Rules about fabrics: halls, host capacity, GUIDs, ports, and partitions of VPCs."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.intervals import overlaps
from components.lookups.network.fabrics import connected, handed_out, infiniband, ports_on, reached
from components.lookups.pools import clusters, place, problem, tenant_file
from components.render.network.device_plugins import ADAPTERS, IMAGES
from components.render.network.infiniband import TOOLS
from components.render.network.port_functions import MULTUS
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse
from components.specs.keys import cluster_of
from components.specs.network.fabrics import FabricKind, FabricSpec
from components.specs.reading.loader import ALLOCATIONS, INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, listed, one_of, suggestion

_MAX_CLUSTERS = 3
_NAMES = {FabricKind.INFINIBAND: "InfiniBand", FabricKind.ETHERNET: "RoCE"}
MAX_PARTITIONS = 31
"""Maximum number of partitions of a tenant on one fabric (limit of NICo)."""


def fabric_references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared halls of a fabric, and fabrics on which a VPC cannot have a partition."""
    halls = _halls(environment)
    sites = place(environment, REGION, ("sites",))
    for index, fabric in enumerate(environment.region.fabrics):
        for at, hall in enumerate(fabric.halls):
            if hall not in halls:
                text = f"hall '{hall}' is in no site of {sites} ({listed(halls)}); add it there or remove it"
                yield problem(environment, REGION, ("fabrics", index, "halls", at), text)
    fabrics = environment.region.fabrics_by_name
    partitioned = [fabric.name for fabric in environment.region.fabrics if fabric.isolates_vpcs]
    where = place(environment, REGION, ("fabrics",))
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            for at, name in enumerate(vpc.fabrics):
                if name in partitioned:
                    continue
                rule = "has no partitions and isolates VPCs anyway" if name in fabrics else "is not declared"
                text = (
                    f"'{name}' {rule} (infiniband and roce fabrics of {where}: {listed(partitioned)}); remove it"
                    f" or pick one{suggestion(name, partitioned)}"
                )
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "fabrics", at), text)


def fabric_halls(environment: Environment) -> Iterator[Problem]:
    """Report halls in two fabrics of one kind, InfiniBand or RoCE: a host is on at most one fabric of each kind."""
    first: dict[tuple[FabricKind, str], int] = {}
    for index, fabric in enumerate(environment.region.fabrics):
        for hall in reached(environment, fabric) if fabric.isolates_vpcs else ():
            other = first.setdefault((fabric.kind, hall), index)
            if other != index:
                there = place(environment, REGION, ("fabrics", other, "halls"))
                text = (
                    f"hall {hall} is also reached by {environment.region.fabrics[other].name} ({there}), but a host is"
                    f" on one {_NAMES[fabric.kind]} fabric; list the halls of each"
                )
                yield problem(environment, REGION, ("fabrics", index, "halls"), text)


def fabric_capacity(environment: Environment) -> Iterator[Problem]:
    """Report fabrics whose halls have more hosts than the fabric can connect."""
    hosts = Counter((host.hall, host.instance_type) for host in environment.hosts)
    for index, fabric in enumerate(environment.region.fabrics):
        halls, on = reached(environment, fabric), _with_ports(environment, fabric)
        count = sum(hosts[at] for at in hosts if at[0] in halls and (at[1] in on or not fabric.isolates_vpcs))
        if count > fabric.max_hosts:
            text = (
                f"{fabric.name} connects {fabric.max_hosts} hosts, halls {listed(halls)} have {count}; split the halls"
                " among fabrics, or raise it up to the number of ports"
            )
            yield problem(environment, REGION, ("fabrics", index, "max_hosts"), text)


def guid_ranges(environment: Environment) -> Iterator[Problem]:
    """Report fabrics with overlapping GUID ranges: a GUID identifies one port worldwide."""
    ranges = [
        (fabric.guids.first, fabric.guids.last, index)
        for index, fabric in enumerate(environment.region.fabrics)
        if fabric.guids
    ]
    for other, index in overlaps(ranges):
        mine, theirs = (environment.region.fabrics[position] for position in (index, other))
        there = place(environment, REGION, ("fabrics", other, "guids"))
        text = f"{mine.guids} overlaps the range of {theirs.name} ({theirs.guids}, {there}); move one"
        yield problem(environment, REGION, ("fabrics", index, "guids"), text)


def partition_limit(environment: Environment) -> Iterator[Problem]:
    """Report tenants with more partitions on an InfiniBand fabric than allowed."""
    without = {fabric.name for fabric in environment.region.fabrics if fabric.kind is not FabricKind.INFINIBAND}
    for tenant in environment.tenants:
        used = Counter[str]()
        for index, vpc in enumerate(tenant.vpcs):
            for at, name in enumerate(vpc.fabrics):
                used[name] += name not in without
                if used[name] == MAX_PARTITIONS + 1:
                    text = f"{tenant.tenant} has more than {MAX_PARTITIONS} partitions on {name}; merge VPCs"
                    yield problem(environment, tenant_file(tenant), ("vpcs", index, "fabrics", at), text)


def partitions(environment: Environment) -> Iterator[Problem]:
    """Report clusters with hosts on a fabric on which their VPC has no partition or VRF: the ports are unreachable."""
    fabric_of = {
        (hall, kind): fabric.name
        for fabric in environment.region.fabrics
        for kind in _with_ports(environment, fabric)
        for hall in reached(environment, fabric)
    }
    used: dict[str, Counter[str]] = defaultdict(Counter)
    for host in environment.hosts if fabric_of else ():
        key, fabric = environment.allocations.hosts.get(host.host), fabric_of.get((host.hall, host.instance_type))
        if key and fabric:
            used[cluster_of(key)][fabric] += 1
    fabrics = environment.region.fabrics_by_name
    for placed in clusters(environment):
        vpc = placed.vpc
        for name, count in sorted(used[placed.cluster.name].items()):
            if vpc is not None and name not in vpc.fabrics:
                part = "partition" if fabrics[name].kind is FabricKind.INFINIBAND else "VRF"
                text = (
                    f"{placed.cluster.name} has {count} hosts on {name}, but the VPC has no {part} there; write"
                    f" [{', '.join([*vpc.fabrics, name])}]"
                )
                yield problem(environment, placed.file, (*placed.vpc_path, "fabrics"), text)


def unreached(environment: Environment) -> Iterator[Problem]:
    """Report halls without an InfiniBand fabric in which clusters with partitions have hosts with InfiniBand ports."""
    fabrics = [fabric for fabric in environment.region.fabrics if fabric.kind is FabricKind.INFINIBAND]
    halls = {hall for fabric in fabrics for hall in reached(environment, fabric)}
    ports = {kind.name: kind.infiniband_ports for kind in environment.instance_types.instance_types}
    with_guids = {name for name, cluster in environment.allocations.clusters.items() if cluster.guids}
    unreached_hosts: dict[str, Counter[str]] = defaultdict(Counter)
    for host in environment.hosts if with_guids else ():
        cluster = cluster_of(environment.allocations.hosts.get(host.host, ""))
        if host.hall not in halls and cluster in with_guids and ports.get(host.instance_type):
            unreached_hosts[host.hall][cluster] += 1
    for hall, hosts in unreached_hosts.items():
        names = listed(hosts, _MAX_CLUSTERS)
        text = (
            f"hall {hall} is on no fabric with partitions, but has {hosts.total()} hosts of {names}"
            f" ({place(environment, ALLOCATIONS, ('clusters', next(iter(hosts))))}); list {hall} in halls of one"
        )
        yield problem(environment, REGION, ("fabrics",), text)


def one_fabric(environment: Environment) -> Iterator[Problem]:
    """Report clusters on two InfiniBand fabrics: ib-kubernetes reports all pods of a cluster to one fabric manager."""
    for placed in clusters(environment):
        fabrics = [fabric.name for fabric in infiniband(environment, placed.vpc)]
        if len(fabrics) > 1 and connected(environment, placed):
            text = (
                f"{placed.cluster.name} would be connected to {listed(fabrics)}, but a cluster supports only one"
                " InfiniBand fabric; create one VPC and one cluster per fabric"
            )
            yield problem(environment, placed.file, (*placed.vpc_path, "fabrics"), text)


def one_mode(environment: Environment) -> Iterator[Problem]:
    """Report clusters that mix exclusive and shared RDMA modes on a fabric: one network attachment serves all nodes."""
    for placed in clusters(environment):
        handed = handed_out(environment, placed)
        kinds = {kind.name: kind for kind in handed if kind.port_use is PortUse.FUNCTIONS}
        used = [
            (index, kinds[pool.instance_type])
            for index, pool in enumerate(placed.cluster.pools)
            if pool.instance_type in kinds
        ]
        for index, kind in used:
            first = used[0][1]
            if kind.rdma_exclusive != first.rdma_exclusive:
                text = (
                    f"'{kind.name}' has rdma.exclusive: {str(kind.rdma_exclusive).lower()} ({INSTANCE_TYPES}), unlike"
                    f" {first.name}, but pods of {placed.cluster.name} get ports of both from one network attachment;"
                    " create one VPC and one cluster per value of rdma.exclusive"
                )
                yield problem(environment, placed.file, (*placed.path, "pools", index, "instance_type"), text)


def shared_ports(environment: Environment) -> Iterator[Problem]:
    """Report shared ports in clusters with namespaces of teams: shared RDMA devices have no isolation."""
    for placed in clusters(environment):
        kinds = {kind.name for kind in handed_out(environment, placed) if kind.port_use is PortUse.SHARED}
        if not kinds or not placed.cluster.namespaces:
            continue
        namespaces = place(environment, placed.file, (*placed.path, "namespaces"))
        for index, pool in enumerate(placed.cluster.pools):
            if pool.instance_type in kinds:
                text = (
                    f"pods of all namespaces get the same RDMA devices of '{pool.instance_type}' (rdma.ports: shared,"
                    f" {INSTANCE_TYPES}), which bypasses the isolation of namespaces ({namespaces}); use an instance"
                    " type with other ports, or create a cluster for each team"
                )
                yield problem(environment, placed.file, (*placed.path, "pools", index, "instance_type"), text)


def adapters(environment: Environment) -> Iterator[Problem]:
    """Report instance types on fabrics with an unknown adapter model, and missing tool images for adapters."""
    used = {kind.name: placed for placed in clusters(environment) for kind in handed_out(environment, placed)}
    for index, kind in enumerate(environment.instance_types.instance_types):
        model = None if kind.nics is None else kind.nics.model
        if kind.name in used and model not in ADAPTERS:
            fabric = "InfiniBand" if kind.infiniband_ports else "RoCE"
            text = (
                f"{'is missing' if model is None else f'{model!r} is unknown'}, and {used[kind.name].cluster.name} has"
                f" {kind.name} on {fabric}; write {one_of(ADAPTERS)}"
            )
            yield problem(environment, INSTANCE_TYPES, ("instance_types", index, "nics"), text)
    used_kinds = environment.instance_types.by_name
    uses = {used_kinds[name].port_use for name in used}
    plugins = [image for use, image in IMAGES.items() if use in uses]
    partitioned = any(used_kinds[name].infiniband_ports for name in used)
    cut = any(used_kinds[name].roce_functions for name in used)
    for name in (*(TOOLS if partitioned else (MULTUS,) if cut else ()), *plugins):
        if missing := missing_tool(environment, name):
            yield problem(environment, REGION, ("fabrics",), f"require {missing}")


def _with_ports(environment: Environment, fabric: FabricSpec) -> set[str]:
    """Return the instance types with ports on ``fabric``."""
    return {kind.name for kind in environment.instance_types.instance_types if ports_on(kind, fabric)}


def _halls(environment: Environment) -> list[str]:
    return [hall for site in environment.region.sites for hall in site.halls]


RULES = Rules(
    references=(fabric_references, fabric_halls),
    data=(fabric_capacity, guid_ranges, one_fabric, one_mode, shared_ports, adapters, partition_limit),
    locks=(partitions, unreached),
)
