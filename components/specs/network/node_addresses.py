"""What nodes are told of the network that they live in, beside their own address and their way out."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import InterfaceName, IpAddress, Spec


class NodeAddressesSpec(Spec):
    """How nodes in VPCs on HBN get their address, which ``jacquard allocate`` gives to each host."""

    dns: tuple[IpAddress, ...] = Field(min_length=1, max_length=8)
    """Name servers that nodes ask; every VPC on HBN must reach them."""
    ntp: tuple[IpAddress, ...] = Field(default=(), max_length=8)
    """Clocks that nodes follow, each reached by every VPC on HBN; golden images say which when they are left out."""


class NodeNetwork(Spec):
    """What a node does with the address that it is given, and what else it is told, as its template has it."""

    interface: InterfaceName
    """Port of the DPU that has the address, by the name that inspection of its host gives it."""
    mtu_bytes: int = Field(ge=1280)
    """Largest packet that the node sends."""
    dns: tuple[IpAddress, ...]
    """Name servers that the node asks."""
    ntp: tuple[IpAddress, ...] = ()
    """Clocks that the node follows; those of its image when there are none."""
