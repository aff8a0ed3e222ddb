"""Assignment of DPUs to DPU clusters, and of a VPC's links between DPUs and hosts to DPU clusters.

The rack of a DPU determines its cluster; a new rack does not move the DPUs of other racks. The lock file lists the
links of a VPC that each DPU cluster may assign, because DPU clusters assign addresses independently (DPF 26.4 has no
pool that spans clusters).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, islice
from operator import itemgetter

from components.lookups.number_kinds import ADDRESS_BITS
from components.lookups.pools import clusters, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.render.network.dpf_hbn import POINT_TO_POINT
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import cluster_of
from components.specs.natural import natural
from components.specs.network.dpus import ONLY, DpuClusterSpec
from components.specs.network.vpc_allocation import Links, VpcAllocation
from components.specs.ranges import NumberRange
from components.specs.reading.problems import Problem, listed

LINKS_AT_ONCE = 4
"""Number of links in one assigned block; smaller blocks would result in long lists in the lock file."""
PER_LINK = 1 << (ADDRESS_BITS - POINT_TO_POINT)
"""Number of addresses of a link."""
_ANY_HALL = "*"


class DpuClusters:
    """DPU clusters of a region, with lookup by host."""

    def __init__(self, listed: Iterable[DpuClusterSpec]) -> None:
        self._begins: dict[str, list[tuple[tuple[str | int, ...], str]]] = defaultdict(list)
        for item in listed:
            for hall in item.halls or (_ANY_HALL,):
                self._begins[hall].append((first_rack(item), item.name))
        self._by_rack: dict[tuple[str, str], str | None] = {}

    def of(self, host: HostSpec) -> str | None:
        """Return the name of the DPU cluster that manages the DPU of ``host``; None if there is none."""
        at = (host.hall, host.rack)
        if at not in self._by_rack:
            self._by_rack[at] = self._found(*at)
        return self._by_rack[at]

    def _found(self, hall: str, rack: str) -> str | None:
        place = natural(rack)
        begun = [item for key in (hall, _ANY_HALL) for item in self._begins.get(key, ()) if item[0] <= place]
        return max(begun, key=itemgetter(0))[1] if begun else None


def running_dpu(environment: Environment) -> Callable[[HostSpec], str | None]:
    """Return a function from a host to its DPU cluster; always `ONLY` if the region lists no DPU clusters."""
    listed = environment.region.dpus.clusters
    return DpuClusters(listed).of if listed else lambda _host: ONLY


def first_rack(cluster: DpuClusterSpec) -> tuple[str | int, ...]:
    """Return the sort key of the first rack of ``cluster``."""
    return () if cluster.from_rack is None else natural(cluster.from_rack)


def assign_links(
    environment: Environment, vpcs: Mapping[str, VpcAllocation], hosts: Mapping[str, str]
) -> tuple[dict[str, VpcAllocation], dict[str, Problem]]:
    """Return ``vpcs`` with the links that their hosts need in each DPU cluster, and a problem per VPC with too few.

    Problems are by name of VPC. Links of such a VPC stay as they are.

    Args:
        environment: loaded environment.
        vpcs: allocations by VPC.
        hosts: ``cluster/pool`` by host.
    """
    needed, allocated, crowded = _links_needed(environment, hosts), dict[str, VpcAllocation](), dict[str, Problem]()
    names = {item.name for item in environment.region.dpus.clusters}
    for name, vpc in vpcs.items():
        kept = {at: parts for at, parts in _in_a_row(vpc).items() if at in names}
        links = share(_room(*vpc.host_links), kept, needed.get(name, {}))
        if links is None:
            crowded[name] = _too_few(environment, name, vpc, needed[name])
        allocated[name] = vpc if links is None else _with_links(vpc, links)
    return allocated, crowded


def _in_a_row(vpc: VpcAllocation) -> Links:
    """Return the links of ``vpc``, numbered across all its host prefixes."""
    assigned, before = defaultdict[str, tuple[NumberRange, ...]](tuple), 0
    for prefix, links in vpc.host_links.items():
        for at, parts in links.items():
            assigned[at] += tuple(NumberRange(first=before + part.first, last=before + part.last) for part in parts)
        before += _room(prefix)
    return dict(assigned)


def _with_links(vpc: VpcAllocation, links: Links) -> VpcAllocation:
    """Return ``vpc`` with ``links``, converted from numbers across all host prefixes to numbers within each."""
    by_prefix, before = dict[Network, Links](), 0
    for prefix in vpc.host_links:
        room = range(before, before + _room(prefix))
        inside = {
            at: [number for part in parts for number in _numbers(part) if number in room] for at, parts in links.items()
        }
        by_prefix[prefix] = {
            at: tuple(_runs([number - before for number in numbers])) for at, numbers in inside.items() if numbers
        }
        before = room.stop
    more = {
        name: prefix.model_copy(update={"links": by_prefix[prefix.prefix]}) if prefix.prefix in by_prefix else prefix
        for name, prefix in vpc.more_prefixes.items()
    }
    return vpc.model_copy(update={"links": by_prefix[vpc.hosts], "more_prefixes": more})


def share(room: int, kept: Mapping[str, tuple[NumberRange, ...]], needed: Mapping[str, int]) -> Links | None:
    """Return ``kept`` extended with free links, out of ``room`` links in total, until each DPU cluster has enough.

    A cluster keeps its links, because its DPUs may use any of them.

    Returns:
        The links by DPU cluster in natural order; None if there are too few.
    """
    assigned = {name: [number for part in parts for number in _numbers(part)] for name, parts in kept.items()}
    taken = {number for numbers in assigned.values() for number in numbers}
    free = (number for number in range(room) if number not in taken)
    for name, hosts in needed.items():
        numbers = assigned.setdefault(name, [])
        missing = max(0, hosts - len(numbers))
        numbers += islice(free, -(-missing // LINKS_AT_ONCE) * LINKS_AT_ONCE)
        if len(numbers) < hosts:
            return None
    return {name: tuple(_runs(assigned[name])) for name in sorted(assigned, key=natural)}


def links(vpc: VpcAllocation, at: str) -> Iterator[int]:
    """Yield the first address, as an integer, of each link of ``vpc`` that the DPU cluster ``at`` assigns.

    If the region lists no DPU clusters, the single default cluster assigns all of them.
    """
    for prefix, by_cluster in vpc.host_links.items():
        parts = map(_numbers, by_cluster.get(at, ())) if vpc.linked else (range(_room(prefix)),)
        first = int(prefix.network_address)
        yield from (first + PER_LINK * number for numbers in parts for number in numbers)


def linked(environment: Environment) -> Iterator[tuple[str, str]]:
    """Yield the name of each cluster whose VPC has a link per host, with the name of the VPC."""
    for placed in clusters(environment):
        vpc = placed.vpc
        if vpc is not None and NETWORK_BACKENDS[vpc.isolation].link_per_host:
            yield placed.cluster.name, vpc.name


def _numbers(part: NumberRange) -> range:
    return range(part.first, part.last + 1)


def _runs(numbers: list[int]) -> Iterator[NumberRange]:
    """Yield ``numbers`` as ascending ranges, as few as possible."""
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda item: item[1] - item[0]):
        [*_, (_, last)] = ends = list(run)
        yield NumberRange(first=ends[0][1], last=last)


def _links_needed(environment: Environment, hosts: Mapping[str, str]) -> dict[str, Counter[str]]:
    """Return the number of hosts per DPU cluster for each VPC with links; DPU clusters are in the order of the data."""
    listed = environment.region.dpus.clusters
    vpc_of, clusters_of = dict(linked(environment)) if listed else {}, DpuClusters(listed)
    needed = {name: Counter(dict.fromkeys((item.name for item in listed), 0)) for name in vpc_of.values()}
    for host in environment.hosts if vpc_of else ():
        vpc = vpc_of.get(cluster_of(hosts.get(host.host, "")))
        at = clusters_of.of(host) if vpc else None
        if vpc and at:
            needed[vpc][at] += 1
    return {name: +counted for name, counted in needed.items()}


def _room(*prefixes: Network) -> int:
    """Return the number of links in ``prefixes``."""
    return sum(prefix.num_addresses for prefix in prefixes) // PER_LINK


def _too_few(environment: Environment, name: str, vpc: VpcAllocation, needed: Mapping[str, int]) -> Problem:
    [(tenant, index)] = [
        (tenant, index)
        for tenant in environment.tenants
        if tenant.tenant == vpc.tenant
        for index, spec in enumerate(tenant.vpcs)
        if spec.name == name
    ]
    wanted = ", ".join(f"{at} {hosts}" for at, hosts in needed.items())
    text = (
        f"{listed(map(str, vpc.host_links))} has {_room(*vpc.host_links)} links to hosts, too few for the hosts in each"
        f" DPU cluster ({wanted}), because links are assigned in blocks of {LINKS_AT_ONCE}; add a prefix for hosts to"
        " more_prefixes"
    )
    return problem(environment, tenant_file(tenant), ("vpcs", index, "hosts"), text)
