"""Rules about DPU clusters: each DPU belongs to a cluster with capacity, and clusters assign disjoint addresses."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from ipaddress import IPv4Network

from components.allocate.allocation import ACCEPT_EDITS
from components.lookups.intervals import bounds, overlaps
from components.lookups.network.dpu_clusters import DpuClusters, first_rack
from components.lookups.pools import place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.rules.region.running import Entry, restored, running_nodes
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.network.dpus import DpuClusterSpec
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.problems import Problem, dotted, listed

MAX_RACKS_SHOWN = 5


def served(environment: Environment) -> Iterator[Problem]:
    """Report racks without a DPU cluster, undeclared halls, and DPU clusters with the same first rack."""
    clusters = environment.region.dpus.clusters
    halls = [hall for site in environment.region.sites for hall in site.halls]
    sites = place(environment, REGION, ("sites",))
    begins: dict[tuple[str, object], int] = {}
    for index, cluster in enumerate(clusters):
        for at, hall in enumerate(cluster.halls):
            if hall not in halls:
                text = f"hall '{hall}' is in no site of {sites} ({listed(halls)}); add it there or remove it"
                yield problem(environment, REGION, ("dpus", "clusters", index, "halls", at), text)
        for hall in cluster.halls or halls:
            other = begins.setdefault((hall, first_rack(cluster)), index)
            if other != index:
                there = place(environment, REGION, ("dpus", "clusters", other, "from_rack"))
                text = (
                    f"starts at the same rack of hall {hall} as {clusters[other].name} ({there}); write the first rack"
                    " of one of the two (from_rack), or list the halls of each"
                )
                yield problem(environment, REGION, ("dpus", "clusters", index), text)
                break
    running = DpuClusters(clusters)
    racks = {host.rack for host in environment.hosts if clusters and running.of(host) is None}
    if racks:
        text = (
            f"no cluster manages the DPUs of racks {listed(naturally(racks), MAX_RACKS_SHOWN)}; add their hall to one,"
            " or a cluster without from_rack"
        )
        yield problem(environment, REGION, ("dpus", "clusters"), text)


def room(environment: Environment) -> Iterator[Problem]:
    """Report DPU clusters with more DPUs than their limit."""
    dpus = environment.region.dpus
    if not dpus.clusters:
        count = len(environment.hosts)
        if count > dpus.max_dpus:
            text = (
                f"{count} DPUs exceed the limit of a DPU cluster (max_dpus {dpus.max_dpus}); list"
                f" {-(-count // dpus.max_dpus)} or more clusters with the halls or racks of each"
            )
            yield problem(environment, REGION, ("dpus", "clusters"), text)
        return
    racks: dict[str | None, Counter[str]] = defaultdict(Counter)
    running = DpuClusters(dpus.clusters)
    for host in environment.hosts:
        racks[running.of(host)][host.rack] += 1
    for index, cluster in enumerate(dpus.clusters):
        count = racks[cluster.name].total()
        if count > dpus.max_dpus:
            text = (
                f"{cluster.name} has {count} DPUs, more than its limit (max_dpus {dpus.max_dpus}); start another"
                f" cluster at rack {_first_too_many(racks[cluster.name], dpus.max_dpus)} or before"
            )
            yield problem(environment, REGION, ("dpus", "clusters", index), text)


def _first_too_many(dpus: Counter[str], room: int) -> str:
    """Return the first rack, in natural order, that exceeds the capacity ``room`` of a DPU cluster."""
    total = 0
    for rack in naturally(dpus):
        total += dpus[rack]
        if total > room:
            return rack
    raise ValueError(room)


def loopbacks(environment: Environment) -> Iterator[Problem]:
    """Report loopback networks of DPU clusters that are too small, overlap, or are outside the region's range."""
    dpus, network = environment.region.dpus, environment.region.networks.dpu_loopbacks
    there = place(environment, REGION, ("networks", "dpu_loopbacks"))
    for index, cluster in enumerate(dpus.clusters):
        own, path = cluster.loopbacks, ("dpus", "clusters", index, "loopbacks")
        if not own.subnet_of(network):
            text = f"{own} is outside networks.dpu_loopbacks ({network}, {there}); write a subnet of it"
            yield problem(environment, REGION, path, text)
        if own.num_addresses < dpus.max_dpus:
            text = (
                f"{own} has {own.num_addresses} addresses, {cluster.name} may have {dpus.max_dpus} DPUs (max_dpus);"
                f" {_more_loopbacks(environment, own)}"
            )
            yield problem(environment, REGION, path, text)
    for other, index in overlaps((*bounds(cluster.loopbacks), index) for index, cluster in enumerate(dpus.clusters)):
        theirs = _shown(environment, other, "loopbacks")
        text = f"{dpus.clusters[index].loopbacks} overlaps the network of {theirs}; move one"
        yield problem(environment, REGION, ("dpus", "clusters", index, "loopbacks"), text)


def _more_loopbacks(environment: Environment, own: IPv4Network) -> str:
    """Return the remedy for a loopback network ``own`` that is too small: a wider network if the range has capacity."""
    dpus, network = environment.region.dpus, environment.region.networks.dpu_loopbacks
    length = own.max_prefixlen - (dpus.max_dpus - 1).bit_length()
    if len(dpus.clusters) <= 2 ** (length - network.prefixlen):
        return f"write {own.supernet(new_prefix=length)} or wider"
    there = place(environment, REGION, ("networks", "dpu_loopbacks"))
    return f"lower max_dpus to {own.num_addresses} or less, or widen networks.dpu_loopbacks ({there})"


def router_ids(environment: Environment) -> Iterator[Problem]:
    """Report DPU clusters with the same ``virtual_router_id``, which must be unique on a network segment."""
    first: dict[int, int] = {}
    for index, cluster in enumerate(environment.region.dpus.clusters):
        other = first.setdefault(cluster.virtual_router_id, index)
        if other != index:
            there = _shown(environment, other, "virtual_router_id")
            text = f"{cluster.virtual_router_id} is also the number of {there}; pick another number"
            yield problem(environment, REGION, ("dpus", "clusters", index, "virtual_router_id"), text)


def isolation(environment: Environment) -> Iterator[Problem]:
    """Report VPCs on OVN in a region with several DPU clusters; this combination is untested."""
    clusters = environment.region.dpus.clusters
    there = place(environment, REGION, ("dpus", "clusters"))
    for tenant in environment.tenants if len(clusters) > 1 else ():
        for index, vpc in enumerate(tenant.vpcs):
            if NETWORK_BACKENDS[vpc.isolation].ovn:
                text = (
                    f"{vpc.isolation} supports one DPU cluster, the region has {len(clusters)} ({there}); keep one, or"
                    " write dpf-hbn where no node runs yet"
                )
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "isolation"), text)


def links(environment: Environment) -> Iterator[Problem]:
    """Report links to hosts in the lock file that two DPU clusters would assign."""
    nodes = running_nodes(environment)
    for name, vpc in environment.allocations.vpcs.items():
        entry: Entry = ("vpcs", name)
        more = {(*entry, "more_prefixes", key, "links"): prefix.links for key, prefix in vpc.more_prefixes.items()}
        for path, links in ({(*entry, "links"): vpc.links} | more).items():
            intervals = [(part.first, part.last, (at, part)) for at, parts in links.items() for part in parts]
            for (other, _), (at, part) in overlaps(intervals):
                remedy = f"remove {dotted((*path, at))} and run jacquard allocate {environment.name} {ACCEPT_EDITS}"
                if nodes[entry]:
                    remedy = restored(entry, nodes[entry])
                text = f"{part} overlaps links of {other}; {remedy}"
                yield problem(environment, ALLOCATIONS, (*path, at), text)


def _shown(environment: Environment, index: int, key: str) -> str:
    cluster: DpuClusterSpec = environment.region.dpus.clusters[index]
    return f"{cluster.name} ({place(environment, REGION, ('dpus', 'clusters', index, key))})"


RULES = Rules(references=(served,), data=(room, loopbacks, router_ids, isolation), locks=(links,))
