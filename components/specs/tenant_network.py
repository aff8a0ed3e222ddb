"""A tenant's VPC: prefixes by size, isolation, egress. The numbers are in ``allocations.lock.yaml``."""

from __future__ import annotations

from enum import StrEnum

from components.specs.base import DnsLabel, PrefixLength, ShortName, Spec


class Isolation(StrEnum):
    """What enforces a VPC's borders."""

    DPF_HBN = "dpf-hbn"
    """VRF and VNI by EVPN on each host's DPU (DPF with host-based networking)."""
    DPF_OVN = "dpf-ovn"
    """Logical router of OVN on the DPUs (DPF OVN VPC; tech preview upstream)."""
    KUBE_OVN = "kube-ovn"
    """VPC and subnets of Kube-OVN, on the hosts."""
    POLICY_ONLY = "policy-only"
    """Network policies alone: one flat network, for sites without DPUs."""


class Egress(StrEnum):
    """Whether nodes and pods reach the internet."""

    PUBLIC = "public"
    NONE = "none"


class Ingress(StrEnum):
    """Whether load balancers get public addresses."""

    PUBLIC = "public"
    NONE = "none"


class VpcSpec(Spec):
    """A private network of one tenant."""

    name: ShortName
    """Unique in the region."""
    isolation: Isolation
    hosts: PrefixLength
    """Size of the prefix for addresses of hosts."""
    pods: PrefixLength
    """Size of the prefix for pods; each node takes a part of it."""
    services: PrefixLength
    """Size of the prefix for ClusterIPs."""
    load_balancers: PrefixLength
    """Size of the prefix for load balancers inside the VPC."""
    ingress: Ingress = Ingress.PUBLIC
    egress: Egress = Egress.NONE
    fabrics: tuple[DnsLabel, ...] = ()
    """Fabrics of ``region.yaml`` on which the VPC has a partition."""
