"""What the lock file says of a VPC: its numbers, and its prefixes by what they are for."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.specs.base import Cidr, DnsLabel, Network, ShortName, Spec
from components.specs.ipv6 import Cidr6, Network6
from components.specs.network.border import RouteTarget
from components.specs.network.dpus import DpuClusterName
from components.specs.network.fabrics import LAST_PKEY
from components.specs.network.tenant_network import Isolation, PrefixKind
from components.specs.ranges import Numbers

Vni = Annotated[int, Field(ge=1, le=16_777_215)]
Asn = Annotated[int, Field(ge=1, le=4_294_967_295)]
Pkey = Annotated[int, Field(ge=1, le=LAST_PKEY)]
"""Partition key of InfiniBand."""
Links = dict[DpuClusterName, tuple[Numbers, ...]]
"""Links by DPU cluster, counted from 0 in their prefix."""
PREFIXES = ("hosts", "pods", "services", "load_balancers")
"""Keys of a VPC's prefixes, in the order that people read them."""

IPV6_PREFIXES = {"pods": "pods_ipv6", "services": "services_ipv6"}
"""Keys of a VPC's prefixes of IPv6, by what they are for."""


class MorePrefix(Spec):
    """A prefix that a VPC got beside the first of its kind."""

    kind: PrefixKind
    """What the prefix is for."""
    prefix: Cidr
    """Prefix itself, taken from ``networks.tenants``."""
    links: Links = Field(default_factory=dict)
    """Links between DPUs and hosts by DPU cluster, counted from 0 in the prefix; empty where it is not for hosts."""
    cluster: ShortName | None = None
    """Cluster that alone has the prefix; None where it is of the VPC as a whole, like the first of its kind."""


class VpcAllocation(Spec):
    """Numbers of one VPC."""

    tenant: ShortName
    """Tenant that has the numbers: another tenant's VPC of the same name gets numbers of its own."""
    isolation: Isolation | None = None
    """What keeps other tenants out of the VPC; it changes only while no node runs in it. None where a file of an older
    format had a VPC that its tenant did not."""
    vni: Vni
    """Virtual network identifier of the VPC, taken from ``networks.vni`` and unique in the region."""
    asn: Asn
    """BGP number of the VPC, taken from the beginning of ``networks.asn``."""
    route_target: RouteTarget
    """Number of the VPC's EVPN route target; it is the VNI where the region has no ``networks.route_targets``."""
    hosts: Cidr
    """Prefix for addresses of hosts, taken from ``networks.tenants``."""
    pods: Cidr
    """Prefix for addresses of pods, taken from ``networks.tenants``."""
    services: Cidr
    """Prefix for ClusterIPs, taken from ``networks.tenants``."""
    load_balancers: Cidr
    """Prefix for load balancers inside the VPC, taken from ``networks.tenants``."""
    pods_ipv6: Cidr6 | None = None
    """Prefix of IPv6 for pods, taken from ``networks.tenants_ipv6``; None where the VPC has IPv4 alone."""
    services_ipv6: Cidr6 | None = None
    """Prefix of IPv6 for ClusterIPs, taken from ``networks.tenants_ipv6``; None where the VPC has IPv4 alone."""
    pkeys: dict[DnsLabel, Pkey] = Field(default_factory=dict)
    """Partition key of the VPC on each InfiniBand fabric, by fabric."""
    fabric_vnis: dict[DnsLabel, Vni] = Field(default_factory=dict)
    """VNI of the VPC's VRF on each Ethernet fabric with ``roce``, by fabric."""
    links: Links = Field(default_factory=dict)
    """Links between DPUs and hosts by DPU cluster, counted from 0 in ``hosts``; empty where the region lists no DPU
    clusters."""

    more_prefixes: dict[ShortName, MorePrefix] = Field(default_factory=dict)
    """Prefixes beside the first of their kind, by name, in the order in which they were given."""

    @property
    def evpn_target(self) -> str:
        """Return the EVPN route target of the VPC's routes, ``<asn>:<number>``."""
        return f"{self.asn}:{self.route_target}"

    @property
    def prefixes(self) -> dict[str, Network]:
        """Return all prefixes of the VPC: the first by their kind (`PREFIXES`), others by ``kind/name``."""
        first = {kind: getattr(self, kind) for kind in PREFIXES}
        return first | {f"{more.kind}/{name}": more.prefix for name, more in self.more_prefixes.items()}

    @property
    def ipv6(self) -> dict[str, Network6]:
        """Return the prefixes of IPv6 of the VPC by their kind; none where it has IPv4 alone."""
        found = {kind: getattr(self, key) for kind, key in IPV6_PREFIXES.items()}
        return {kind: prefix for kind, prefix in found.items() if prefix is not None}

    @property
    def host_links(self) -> dict[Network, Links]:
        """Return the links by DPU cluster that each prefix for hosts has, the first one first."""
        more = {one.prefix: one.links for one in self.more_prefixes.values() if one.kind is PrefixKind.HOSTS}
        return {self.hosts: self.links} | more

    @property
    def linked(self) -> frozenset[str]:
        """Return the DPU clusters that have links; there are none where the region lists no DPU clusters."""
        return frozenset(at for links in self.host_links.values() for at in links)

    def of_cluster(self, cluster: str) -> VpcAllocation:
        """Return the VPC with just the prefixes that ``cluster`` has of it, which may be its own alone."""
        own = {name: more for name, more in self.more_prefixes.items() if more.cluster == cluster}
        common = {name: more for name, more in self.more_prefixes.items() if more.cluster is None}
        if not own:
            return self.model_copy(update={"more_prefixes": common})
        links = {name: more for name, more in common.items() if more.kind is PrefixKind.HOSTS}
        first = {more.kind: name for name, more in reversed(own.items())}
        more = {name: one for name, one in own.items() if name not in first.values()}
        changes = {str(kind): own[name].prefix for kind, name in first.items()}
        alone = dict.fromkeys(IPV6_PREFIXES.values())
        return self.model_copy(update={**changes, **alone, "more_prefixes": links | more})

    def of_kind(self, kind: str) -> tuple[Network, ...]:
        """Return the prefixes for ``kind`` (one of `PREFIXES`), the first one first."""
        return getattr(self, kind), *(more.prefix for more in self.more_prefixes.values() if more.kind == kind)
