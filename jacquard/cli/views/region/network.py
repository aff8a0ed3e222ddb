"""Tenant networks of a region as text, with members of InfiniBand partitions and reachability of endpoints."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.reports.network.endpoints import Endpoint
from components.reports.network.network import DpuShare, RegionNetwork, VpcNetwork
from components.reports.network.partitions import FabricPartitions, PartitionMembers, PartitionsContract
from components.reports.network.path_steps import Keeper
from components.reports.network.paths import Path
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table

_NAMED = 6
_MANY = 10**12
_table = partial(plain_table, numbers={"DPUs", "assigned", "quarantined", "free"})
_KEEPERS = {
    Keeper.RENDERED: "",
    Keeper.BORDER: "   (border router contract)",
    Keeper.NOBODY: "   (not decided by Jacquard)",
}
_RULES_NAMED = 4


def tables(network: RegionNetwork) -> Iterator[RenderableType]:
    """Yield a paragraph per VPC, then tables of DPU clusters, of ranges and of networks without a tenant."""
    tenants = len({vpc.tenant for vpc in network.vpcs})
    yield Text(f"{network.environment}: {plural(len(network.vpcs), 'VPC')} of {plural(tenants, 'tenant')}")
    for vpc in network.vpcs:
        yield ""
        yield from _vpc(vpc)
    for part in (_shards(network), _ranges(network), _counted(network), _networks(network)):
        if isinstance(part, Table):
            yield ""
        yield part


def _vpc(vpc: VpcNetwork) -> Iterator[Text]:
    evpn = f"   VNI {vpc.vni}   route target {vpc.route_target}" if vpc.vni else ""
    yield Text(f"{vpc.tenant}/{vpc.vpc}", "bold").append(
        f"   {vpc.isolation}{evpn}   egress {vpc.egress}   ingress {vpc.ingress}", "not bold"
    )
    yield Text("  " + _pairs({key.replace("_", " "): str(value) for key, value in vpc.prefixes.items()}))
    if vpc.prefixes_ipv6:
        yield Text("  IPv6   " + _pairs({key: str(value) for key, value in vpc.prefixes_ipv6.items()}))
    for cluster in vpc.clusters:
        public = {"public": listed(list(map(str, cluster.public_addresses)), _NAMED)}
        guids = {f"GUIDs on {fabric}": numbers for fabric, numbers in cluster.guids.items()}
        rails = {f"rails of {fabric}": str(prefix) for fabric, prefix in cluster.rail_prefixes.items()}
        names = {"DNS domain": cluster.domain} if cluster.domain else {}
        api = " ".join(filter(None, (str(cluster.api), cluster.api_name)))
        numbers = {"API": api, **names, **guids, **rails, **(public if cluster.public_addresses else {})}
        yield Text(f"  cluster {cluster.cluster}   {_pairs(numbers)}")
    if vpc.peers:
        yield Text("  peers   " + "   ".join(f"{name} (route target {target})" for name, target in vpc.peers.items()))
    if vpc.denied:
        yield Text(f"  denied   {listed(list(map(str, vpc.denied)), _NAMED)}")
    if vpc.security_group:
        yield Text(f"  security group   {vpc.security_group}")
    if vpc.pkeys:
        yield Text("  partitions   " + _pairs(vpc.pkeys))
    if vpc.fabric_vnis:
        yield Text("  VRFs on fabrics   " + _pairs({name: f"VNI {vni}" for name, vni in vpc.fabric_vnis.items()}))
    if vpc.dpus:
        yield Text("  DPUs of hosts   " + "   ".join(map(_share, vpc.dpus)))
    if vpc.addresses:
        named = [f"{host} {address}" for host, address in vpc.addresses.items()]
        yield Text(f"  host addresses   {listed(named, _NAMED)}")


def _pairs(values: Mapping[str, str]) -> str:
    return "   ".join(f"{key} {value}" for key, value in values.items())


def _share(share: DpuShare) -> str:
    links = f" on links {listed(list(share.links), _NAMED)}" if share.links else ""
    return f"{share.dpu_cluster} {share.hosts}{links}"


def _shards(network: RegionNetwork) -> Table:
    table = _table("DPU cluster", "API", "loopbacks", "DPUs")
    for shard in network.dpu_clusters:
        table.add_row(shard.dpu_cluster, str(shard.api), str(shard.loopbacks), f"{shard.dpus:,}")
    return table


def _ranges(network: RegionNetwork) -> Table:
    table = _table("range", "value", "assigned", "quarantined", "free", "largest free")
    for item in network.ranges:
        free = Text(_count(item.free), "" if item.free else "yellow")
        assigned, quarantined = _count(item.given), _count(item.quarantined)
        table.add_row(item.range, item.written or "-", assigned, quarantined, free, item.largest or "-")
    return table


def _counted(network: RegionNetwork) -> Text:
    """Return the unit of the counts, and the reserved numbers, which are neither assigned nor free."""
    reserved = [f"{_count(item.reserved)} of {item.range}" for item in network.ranges if item.reserved]
    return Text(f"networks are counted in addresses; reserved: {listed(reserved)}")


def _count(numbers: int) -> str:
    """Return ``numbers`` as text; IPv6 ranges as a power of ten."""
    return f"{numbers:,}" if numbers < _MANY else f"{numbers:.1e}"


def _networks(network: RegionNetwork) -> Table:
    table = _table("network of the region", "prefix")
    for name, prefix in network.networks.items():
        table.add_row(name, str(prefix))
    return table


def partition_lines(contract: PartitionsContract) -> Iterator[Text]:
    """Yield partition members for operators of the fabric manager: a paragraph per fabric, some lines per partition."""
    title = f"{contract.environment}: partition members on {plural(len(contract.fabrics), 'InfiniBand fabric')}"
    yield Text(title, "bold")
    for fabric in contract.fabrics:
        yield Text()
        yield from _partitions_of(fabric)


def _partitions_of(fabric: FabricPartitions) -> Iterator[Text]:
    yield Text(fabric.fabric, "bold").append(f"   in halls {listed(fabric.halls)}, PKeys {fabric.pkeys}", "not bold")
    for partition in fabric.partitions:
        yield from _partition(partition)
    yield Text(f"  unused     {_ports_of(fabric.nobody)}, limited members of 0x7fff only")
    if fabric.freed:
        yield Text(f"  freed      {', '.join(fabric.freed)}, no members")


def _partition(partition: PartitionMembers) -> Iterator[Text]:
    of = f", of {listed(partition.clusters)}" if partition.clusters else ""
    yield Text(f"  {partition.request.pkey:<10} {partition.tenant}/{partition.vpc}{of}")
    if partition.hosts or not partition.unknown:
        yield Text(f"             {_ports_of(partition.hosts)}, full members, at index 0, with IP")
    for functions in partition.functions:
        yield Text(f"             {functions.guids}: virtual functions of {functions.cluster}, by ib-kubernetes")
    if partition.unknown:
        yield Text(f"             {_unknown_ports(partition.unknown)}")
    yield Text("             no other GUIDs")


def _ports_of(hosts: Mapping[str, Sequence[str]]) -> str:
    """Return the ports of hosts; all hosts are listed, because operators enter each port."""
    if not hosts:
        return "no host ports"
    return f"{plural(sum(map(len, hosts.values())), 'port')} of {', '.join(hosts)}"


def _unknown_ports(hosts: Sequence[str]) -> str:
    return f"ports of {plural(len(hosts), 'host')} without port_guids in the inventory, such as {hosts[0]}"


def path_lines(path: Path) -> Iterator[Text]:
    """Yield whether an endpoint reaches another, and each step of the path in both directions."""
    answer = "reaches" if path.reached else "does not reach"
    yield Text(f"{path.source.name} {answer} {path.target.name}", "green" if path.reached else "yellow")
    yield Text(f"  {_end_of(path.source)}")
    yield Text(f"  {_end_of(path.target)}")
    for way, steps in groupby(path.steps, lambda step: step.way):
        yield Text(f"{way}")
        for step in steps:
            verdict = "yes" if step.passes else "no "
            yield Text(f"  {verdict}  {step.device}: {step.rule}{_KEEPERS[step.kept_by]}")
    for fabric in path.fabrics:
        parts = fabric.source if fabric.together else f"{fabric.source} and {fabric.target}"
        heard = "can communicate, regardless of the rules above" if fabric.together else "are isolated"
        yield Text(f"on {fabric.fabric}, by {parts}, ports of both {heard}")
    for vpc, objects in path.objects.items():
        yield Text(f"rules of {vpc} are defined in {listed(objects, _RULES_NAMED)}", "dim")


def _end_of(end: Endpoint) -> str:
    of = f" of VPC {end.vpc}" if end.vpc else f" of cluster {end.cluster}" if end.cluster else ""
    return f"{end.name}: {end.address}, {end.where}{of}"
