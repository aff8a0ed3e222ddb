"""A tenant's VPC: prefixes by size, isolation, egress. The numbers are in ``allocations.lock.yaml``."""

from __future__ import annotations

from enum import StrEnum

from components.specs.base import PrefixLength, ShortName, Spec


class Isolation(StrEnum):
    """What enforces a VPC's borders."""

    DPF_HBN = "dpf-hbn"
    """VRF and VNI by EVPN on each host's DPU (DPF with host-based networking)."""
    DPF_OVN = "dpf-ovn"
    """Logical router of OVN on the DPUs (DPF OVN VPC; tech preview upstream)."""


class Egress(StrEnum):
    """Whether nodes and pods reach the internet."""

    PUBLIC = "public"
    NONE = "none"


class VpcSpec(Spec):
    """A private network of one tenant."""

    name: ShortName
    isolation: Isolation
    hosts: PrefixLength
    pods: PrefixLength
    services: PrefixLength
    load_balancers: PrefixLength
    egress: Egress = Egress.NONE
