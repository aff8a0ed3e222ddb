"""Allocated numbers and prefixes of a VPC in the lock file."""

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
"""InfiniBand partition key."""
Links = dict[DpuClusterName, tuple[Numbers, ...]]
"""Ranges of links by DPU cluster. Links are counted from 0 in their prefix."""
PREFIXES = ("hosts", "pods", "services", "load_balancers")
"""Keys of a VPC's prefixes, in documentation order."""

IPV6_PREFIXES = {"pods": "pods_ipv6", "services": "services_ipv6"}
"""Keys of a VPC's IPv6 prefixes, by purpose."""


class MorePrefix(Spec):
    """Allocated additional prefix of a VPC."""

    kind: PrefixKind
    """Purpose of the prefix."""
    prefix: Cidr
    """Prefix, allocated from ``networks.tenants``."""
    links: Links = Field(default_factory=dict)
    """Links between DPUs and hosts by DPU cluster, counted from 0 in the prefix; empty for other purposes."""
    cluster: ShortName | None = None
    """Cluster that uses the prefix exclusively; None if the prefix belongs to the VPC as a whole."""


class VpcAllocation(Spec):
    """Allocated numbers and prefixes of one VPC."""

    tenant: ShortName
    """Tenant that owns the numbers. Another tenant's VPC with the same name gets different numbers."""
    isolation: Isolation
    """Mechanism that isolates the VPC. It changes only while no node runs in the VPC."""
    vni: Vni
    """Virtual network identifier of the VPC, allocated from ``networks.vni`` and unique in the region."""
    asn: Asn
    """BGP autonomous system number of the VPC, allocated from the start of ``networks.asn``."""
    route_target: RouteTarget
    """Number of the VPC's EVPN route target; equal to the VNI where the region has no ``networks.route_targets``."""
    hosts: Cidr
    """Prefix for host addresses, allocated from ``networks.tenants``."""
    pods: Cidr
    """Prefix for pod addresses, allocated from ``networks.tenants``."""
    services: Cidr
    """Prefix for ClusterIPs, allocated from ``networks.tenants``."""
    load_balancers: Cidr
    """Prefix for load balancers inside the VPC, allocated from ``networks.tenants``."""
    pods_ipv6: Cidr6 | None = None
    """IPv6 prefix for pods, allocated from ``networks.tenants_ipv6``; None for a VPC with IPv4 only."""
    services_ipv6: Cidr6 | None = None
    """IPv6 prefix for ClusterIPs, allocated from ``networks.tenants_ipv6``; None for a VPC with IPv4 only."""
    pkeys: dict[DnsLabel, Pkey] = Field(default_factory=dict)
    """Partition key of the VPC on each InfiniBand fabric, by fabric."""
    fabric_vnis: dict[DnsLabel, Vni] = Field(default_factory=dict)
    """VNI of the VPC's VRF on each Ethernet fabric with ``roce``, by fabric."""
    links: Links = Field(default_factory=dict)
    """Links between DPUs and hosts by DPU cluster, counted from 0 in ``hosts``; empty if the region lists no DPU
    clusters."""

    more_prefixes: dict[ShortName, MorePrefix] = Field(default_factory=dict)
    """Additional prefixes by name, in the order of their allocation."""

    @property
    def evpn_target(self) -> str:
        """Return the EVPN route target of the VPC's routes, ``<asn>:<number>``."""
        return f"{self.asn}:{self.route_target}"

    @property
    def prefixes(self) -> dict[str, Network]:
        """Return all prefixes of the VPC: initial ones by kind (`PREFIXES`), additional ones by ``kind/name``."""
        first = {kind: getattr(self, kind) for kind in PREFIXES}
        return first | {f"{more.kind}/{name}": more.prefix for name, more in self.more_prefixes.items()}

    @property
    def ipv6(self) -> dict[str, Network6]:
        """Return the IPv6 prefixes of the VPC by kind; empty for a VPC with IPv4 only."""
        prefixes = {kind: getattr(self, key) for kind, key in IPV6_PREFIXES.items()}
        return {kind: prefix for kind, prefix in prefixes.items() if prefix is not None}

    @property
    def host_links(self) -> dict[Network, Links]:
        """Return the links by DPU cluster of each prefix for hosts, starting with the initial prefix."""
        more = {extra.prefix: extra.links for extra in self.more_prefixes.values() if extra.kind is PrefixKind.HOSTS}
        return {self.hosts: self.links} | more

    @property
    def linked(self) -> frozenset[str]:
        """Return the DPU clusters that have links; empty if the region lists no DPU clusters."""
        return frozenset(at for links in self.host_links.values() for at in links)

    def of_cluster(self, cluster: str) -> VpcAllocation:
        """Return the VPC reduced to the prefixes that ``cluster`` uses, including its exclusive prefixes."""
        own = {name: more for name, more in self.more_prefixes.items() if more.cluster == cluster}
        common = {name: more for name, more in self.more_prefixes.items() if more.cluster is None}
        if not own:
            return self.model_copy(update={"more_prefixes": common})
        links = {name: more for name, more in common.items() if more.kind is PrefixKind.HOSTS}
        first = {more.kind: name for name, more in reversed(own.items())}
        more = {name: extra for name, extra in own.items() if name not in first.values()}
        changes = {str(kind): own[name].prefix for kind, name in first.items()}
        alone = dict.fromkeys(IPV6_PREFIXES.values())
        return self.model_copy(update={**changes, **alone, "more_prefixes": links | more})

    def of_kind(self, kind: str) -> tuple[Network, ...]:
        """Return the prefixes for ``kind`` (one of `PREFIXES`), starting with the initial prefix."""
        return getattr(self, kind), *(more.prefix for more in self.more_prefixes.values() if more.kind == kind)
