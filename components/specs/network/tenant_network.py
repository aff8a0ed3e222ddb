"""A tenant's VPC: prefixes by size, isolation, egress. The numbers are in ``allocations.lock.yaml``."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from components.specs.base import Cidr, DnsLabel, PrefixLength, ShortName, Spec
from components.specs.ipv6 import Ipv6Spec

MOST_DENIED = 50
"""Most networks that one list denies: each is a rule on every DPU of a VPC."""


class Isolation(StrEnum):
    """What enforces a VPC's borders."""

    DPF_HBN = "dpf-hbn"
    """A VRF and a VNI by EVPN on each host's DPU enforce the borders (DPF with host-based networking)."""
    DPF_OVN = "dpf-ovn"
    """A logical router of OVN on the DPUs enforces the borders (DPF OVN VPC; tech preview upstream)."""
    KUBE_OVN = "kube-ovn"
    """A VPC and subnets of Kube-OVN enforce the borders, on the hosts, which nothing isolates: for a tenant alone in
    its region, or one that a waiver names."""
    POLICY_ONLY = "policy-only"
    """Network policies alone enforce the borders, in one flat network of hosts that nothing isolates: for a tenant
    alone in its region, or one that a waiver names."""


class Egress(StrEnum):
    """Whether nodes and pods reach the internet."""

    PUBLIC = "public"
    """Nodes and pods reach everything except networks that no tenant may see."""
    NONE = "none"
    """Nodes and pods reach their VPC, their control planes and the region's storage only."""


class Ingress(StrEnum):
    """Whether traffic from outside reaches load balancers of a VPC."""

    PUBLIC = "public"
    """Traffic from outside reaches load balancers with a public address."""
    NONE = "none"
    """Traffic from outside reaches nothing of the VPC."""


class PrefixKind(StrEnum):
    """What a VPC may have more prefixes for."""

    HOSTS = "hosts"
    """The prefix is for addresses of hosts, on HBN: more links between hosts and their DPUs."""
    PODS = "pods"
    """The prefix is for pods, in clusters whose network is Cilium: more nodes have a part for theirs."""
    SERVICES = "services"
    """The prefix is for ClusterIPs of the cluster that it names; a cluster keeps the one that it began with."""
    LOAD_BALANCERS = "load_balancers"
    """The prefix is for load balancers inside the VPC."""


class MorePrefixSpec(Spec):
    """A prefix of a VPC beside the first of its kind. Adding one moves nothing that was given."""

    name: ShortName
    """Name of the prefix, unique in its VPC."""
    kind: PrefixKind
    """What the prefix is for."""
    size: PrefixLength
    """Size of the prefix; it stays once the prefix is given."""
    cluster: ShortName | None = None
    """Cluster that alone has the prefix, and none of the VPC's own for pods, services and load balancers. The cluster
    without any such prefix has those of the VPC when it is left out."""


class PeerSpec(Spec):
    """The word of a VPC's tenant that another VPC may exchange packets with it; it counts once both say so."""

    tenant: ShortName | None = None
    """Tenant of the other VPC; the VPC's own when it is left out."""
    vpc: ShortName
    """Name of the other VPC."""


class VpcSpec(Spec):
    """A private network of one tenant."""

    name: ShortName
    """Name of the VPC, unique in the region."""
    isolation: Isolation
    """What keeps other tenants out of the VPC."""
    hosts: PrefixLength
    """Size of the prefix for addresses of hosts."""
    pods: PrefixLength
    """Size of the prefix for pods; each node takes a part of it."""
    services: PrefixLength
    """Size of the prefix for ClusterIPs."""
    load_balancers: PrefixLength
    """Size of the prefix for load balancers inside the VPC."""
    ingress: Ingress = Ingress.PUBLIC
    """Whether traffic from outside reaches load balancers of the VPC. None does on ``dpf-ovn``, whatever is written."""
    egress: Egress = Egress.NONE
    """Whether nodes and pods of the VPC reach the internet."""
    deny: tuple[Cidr, ...] = Field(default=(), max_length=MOST_DENIED)
    """Networks that nodes and pods of the VPC never reach, though ``egress`` is public; ``networks.deny`` of the region
    has those that no VPC reaches. Refused on ``dpf-ovn``, which filters nothing."""
    fabrics: tuple[DnsLabel, ...] = ()
    """Fabrics of ``region.yaml`` on which the VPC has a partition."""
    security_group: ShortName | None = None
    """Group of ``security_groups`` that says what crosses the edge of the VPC; all that its other fields let through
    crosses when it is left out."""
    peers: tuple[PeerSpec, ...] = ()
    """VPCs whose prefixes hosts and pods of this one reach, and the other way round. Each names this VPC too."""
    more_prefixes: tuple[MorePrefixSpec, ...] = ()
    """Prefixes beside the four above, for a VPC that outgrows one of them."""
    ipv6: Ipv6Spec | None = None
    """Prefixes of IPv6 for pods and Services of the cluster that has the prefixes of the VPC, which is dual stack then:
    IPv4 first, as in Kubernetes' ``ipFamilies``. It has IPv4 alone when they are left out. It stays as it is while the
    cluster is there."""

    def sizes(self, kind: PrefixKind) -> tuple[int, ...]:
        """Return the sizes of the prefixes for ``kind``, the first one first."""
        return getattr(self, kind), *(more.size for more in self.more_prefixes if more.kind is kind)

    def has_own(self, cluster: str) -> bool:
        """Tell whether ``cluster`` has prefixes of its own in the VPC, and none of the VPC's for what is inside it."""
        return any(more.cluster == cluster for more in self.more_prefixes)

    def ipv6_of(self, cluster: str) -> Ipv6Spec | None:
        """Return what ``cluster`` has of IPv6 in the VPC; None where it has IPv4 alone."""
        return None if self.has_own(cluster) else self.ipv6

    def sizes_of(self, cluster: str, kind: PrefixKind) -> tuple[int, ...]:
        """Return the sizes of the prefixes for ``kind`` that ``cluster`` has, the first one first."""
        holder = cluster if self.has_own(cluster) else None
        more = (one.size for one in self.more_prefixes if one.kind is kind and one.cluster == holder)
        return (getattr(self, kind), *more) if holder is None else tuple(more)
