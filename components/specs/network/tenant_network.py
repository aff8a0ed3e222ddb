"""VPC of a tenant: prefix sizes, isolation, egress. The allocated numbers are in ``allocations.lock.yaml``."""

from enum import StrEnum

from pydantic import Field

from components.specs.base import Cidr, DnsLabel, PrefixLength, ShortName, Spec
from components.specs.ipv6 import Ipv6Spec

MOST_DENIED = 50
"""Maximum number of denied networks in one list. Each is a rule on every DPU of a VPC."""


class Isolation(StrEnum):
    """Mechanism that enforces the isolation of a VPC."""

    DPF_HBN = "dpf-hbn"
    """A VRF and a VNI (EVPN) on each host's DPU isolate the VPC (DPF with host-based networking, HBN)."""
    DPF_OVN = "dpf-ovn"
    """A logical OVN router on the DPUs isolates the VPC (DPF OVN VPC; tech preview upstream)."""
    KUBE_OVN = "kube-ovn"
    """A VPC and subnets of Kube-OVN isolate the VPC on the hosts; the hosts themselves are not isolated. It is allowed
    for the only tenant of a region, or with a waiver for the tenant."""
    POLICY_ONLY = "policy-only"
    """Isolation by network policies alone, in one flat network of hosts that are not isolated. It is allowed for the
    only tenant of a region, or with a waiver for the tenant."""


class Egress(StrEnum):
    """Internet access of nodes and pods."""

    PUBLIC = "public"
    """Nodes and pods reach all networks except those that are closed to tenants."""
    NONE = "none"
    """Nodes and pods reach only their VPC, their control planes and the region's storage."""


class Ingress(StrEnum):
    """External access to load balancers of a VPC."""

    PUBLIC = "public"
    """External traffic reaches load balancers with a public address."""
    NONE = "none"
    """External traffic is not allowed into the VPC."""


class PrefixKind(StrEnum):
    """Purpose of a prefix of a VPC."""

    HOSTS = "hosts"
    """The prefix is for host addresses on HBN, for more links between hosts and their DPUs."""
    PODS = "pods"
    """The prefix is for pods of clusters with Cilium, and provides pod ranges for more nodes."""
    SERVICES = "services"
    """The prefix is for ClusterIPs of the named cluster. A cluster keeps its initial service prefix."""
    LOAD_BALANCERS = "load_balancers"
    """The prefix is for load balancers inside the VPC."""


class MorePrefixSpec(Spec):
    """Additional prefix of a VPC. A new prefix does not change existing allocations."""

    name: ShortName
    """Name of the prefix, unique in its VPC."""
    kind: PrefixKind
    """Purpose of the prefix."""
    size: PrefixLength
    """Size of the prefix. It cannot change after allocation."""
    cluster: ShortName | None = None
    """Cluster that uses the prefix exclusively. Such a cluster uses none of the VPC's initial prefixes for pods,
    Services and load balancers. By default the prefix is for the cluster that uses the VPC's initial prefixes."""


class PeerSpec(Spec):
    """Approval of traffic with another VPC. The peering is active when both VPCs list each other."""

    tenant: ShortName | None = None
    """Tenant of the other VPC; the tenant of this VPC by default."""
    vpc: ShortName
    """Name of the other VPC."""


class VpcSpec(Spec):
    """Private network of one tenant."""

    name: ShortName
    """Name of the VPC, unique in the region."""
    isolation: Isolation
    """Mechanism that isolates the VPC from other tenants."""
    hosts: PrefixLength
    """Size of the prefix for host addresses."""
    pods: PrefixLength
    """Size of the prefix for pods. Each node gets a part of it."""
    services: PrefixLength
    """Size of the prefix for ClusterIPs."""
    load_balancers: PrefixLength
    """Size of the prefix for load balancers inside the VPC."""
    ingress: Ingress = Ingress.PUBLIC
    """External access to load balancers of the VPC. ``dpf-ovn`` ignores the value and allows no external access."""
    egress: Egress = Egress.NONE
    """Internet access of nodes and pods of the VPC."""
    deny: tuple[Cidr, ...] = Field(default=(), max_length=MOST_DENIED)
    """Networks that nodes and pods of the VPC never reach, even with ``egress: public``. ``networks.deny`` of the
    region lists networks denied to all VPCs. This field is not allowed on ``dpf-ovn``, which has no filter."""
    fabrics: tuple[DnsLabel, ...] = ()
    """Fabrics of ``region.yaml`` on which the VPC has a partition."""
    security_group: ShortName | None = None
    """Group of ``security_groups`` that filters traffic at the edge of the VPC. By default only the other fields
    restrict traffic."""
    peers: tuple[PeerSpec, ...] = ()
    """VPCs whose hosts and pods exchange traffic with hosts and pods of this VPC. Both VPCs must list each other."""
    more_prefixes: tuple[MorePrefixSpec, ...] = ()
    """Additional prefixes, for a VPC that needs more than its four initial prefixes."""
    ipv6: Ipv6Spec | None = None
    """IPv6 prefixes for pods and Services of the cluster that uses the VPC's initial prefixes. The cluster is dual
    stack, IPv4 first, as in Kubernetes' ``ipFamilies``. By default the cluster is IPv4 only. The value cannot change
    while the cluster exists."""

    def sizes(self, kind: PrefixKind) -> tuple[int, ...]:
        """Return the sizes of the prefixes for ``kind``, starting with the initial prefix."""
        return getattr(self, kind), *(more.size for more in self.more_prefixes if more.kind is kind)

    def has_own(self, cluster: str) -> bool:
        """Return whether ``cluster`` has exclusive prefixes in the VPC and uses none of the VPC's initial prefixes."""
        return any(more.cluster == cluster for more in self.more_prefixes)

    def ipv6_of(self, cluster: str) -> Ipv6Spec | None:
        """Return the IPv6 prefix sizes of ``cluster`` in the VPC; None if the cluster is IPv4 only."""
        return None if self.has_own(cluster) else self.ipv6

    def sizes_of(self, cluster: str, kind: PrefixKind) -> tuple[int, ...]:
        """Return the sizes of the prefixes for ``kind`` that ``cluster`` uses, starting with the initial prefix."""
        holder = cluster if self.has_own(cluster) else None
        more = (prefix.size for prefix in self.more_prefixes if prefix.kind is kind and prefix.cluster == holder)
        return (getattr(self, kind), *more) if holder is None else tuple(more)
