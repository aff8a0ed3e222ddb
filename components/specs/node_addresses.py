"""What nodes are told of the network that they live in, beside their own address and their way out."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import IpAddress, Spec


class NodeAddressesSpec(Spec):
    """How nodes in VPCs on HBN get their address, which ``jacquard allocate`` gives to each host."""

    dns: tuple[IpAddress, ...] = Field(min_length=1, max_length=8)
    """Name servers that nodes ask; every VPC on HBN must reach them."""
    ntp: tuple[IpAddress, ...] = Field(default=(), max_length=8)
    """Clocks that nodes follow, each reached by every VPC on HBN; golden images say which when they are left out."""
