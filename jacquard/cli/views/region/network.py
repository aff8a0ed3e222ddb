"""The tenants' networks of a region as text: a paragraph a VPC, then DPU clusters, and what is left of each range."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.reports.network.network import DpuShare, RegionNetwork, VpcNetwork
from components.specs.reading.problems import listed
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table

_NAMED = 6
_MANY = 10**12
_table = partial(plain_table, numbers={"DPUs", "given", "quarantined", "free"})


def tables(found: RegionNetwork) -> Iterator[RenderableType]:
    """Yield a paragraph of each VPC, and a table of DPU clusters, of ranges and of networks that are nobody's."""
    tenants = len({one.tenant for one in found.vpcs})
    yield Text(f"{found.environment}: {plural(len(found.vpcs), 'VPC')} of {plural(tenants, 'tenant')}")
    for vpc in found.vpcs:
        yield ""
        yield from _vpc(vpc)
    for part in (_shards(found), _ranges(found), _counted(found), _networks(found)):
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
        names = {"names below": cluster.domain} if cluster.domain else {}
        api = " ".join(filter(None, (str(cluster.api), cluster.api_name)))
        numbers = {"API": api, **names, **guids, **rails, **(public if cluster.public_addresses else {})}
        yield Text(f"  cluster {cluster.cluster}   {_pairs(numbers)}")
    if vpc.peers:
        yield Text("  peers   " + "   ".join(f"{name} by route target {target}" for name, target in vpc.peers.items()))
    if vpc.denied:
        yield Text(f"  denied   {listed(list(map(str, vpc.denied)), _NAMED)}")
    if vpc.security_group:
        yield Text(f"  security group   {vpc.security_group}")
    if vpc.pkeys:
        yield Text("  partitions   " + _pairs(vpc.pkeys))
    if vpc.fabric_vnis:
        yield Text("  VRFs on fabrics   " + _pairs({name: f"VNI {vni}" for name, vni in vpc.fabric_vnis.items()}))
    if vpc.dpus:
        yield Text("  DPUs of its hosts   " + "   ".join(map(_share, vpc.dpus)))
    if vpc.addresses:
        named = [f"{host} {address}" for host, address in vpc.addresses.items()]
        yield Text(f"  addresses of its hosts   {listed(named, _NAMED)}")


def _pairs(values: Mapping[str, str]) -> str:
    return "   ".join(f"{key} {value}" for key, value in values.items())


def _share(share: DpuShare) -> str:
    links = f" by links {listed(list(share.links), _NAMED)}" if share.links else ""
    return f"{share.dpu_cluster} {share.hosts}{links}"


def _shards(found: RegionNetwork) -> Table:
    table = _table("DPU cluster", "API", "loopbacks", "DPUs")
    for shard in found.dpu_clusters:
        table.add_row(shard.dpu_cluster, str(shard.api), str(shard.loopbacks), f"{shard.dpus:,}")
    return table


def _ranges(found: RegionNetwork) -> Table:
    table = _table("range", "written", "given", "quarantined", "free", "largest free")
    for one in found.ranges:
        free = Text(_count(one.free), "" if one.free else "yellow")
        given, quarantined = _count(one.given), _count(one.quarantined)
        table.add_row(one.range, one.written or "-", given, quarantined, free, one.largest or "-")
    return table


def _counted(found: RegionNetwork) -> Text:
    """Return in what ranges are counted, and what of them is neither given nor free."""
    reserved = [f"{_count(one.reserved)} of {one.range}" for one in found.ranges if one.reserved]
    return Text(f"networks are counted in addresses; no tenant gets {listed(reserved)}")


def _count(numbers: int) -> str:
    """Return how many ``numbers`` are; those of IPv6 by their power of ten alone."""
    return f"{numbers:,}" if numbers < _MANY else f"{numbers:.1e}"


def _networks(found: RegionNetwork) -> Table:
    table = _table("network of the region", "prefix")
    for name, prefix in found.networks.items():
        table.add_row(name, str(prefix))
    return table
