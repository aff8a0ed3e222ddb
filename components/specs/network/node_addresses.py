"""Network settings of nodes in addition to their address and default gateway."""

from pydantic import Field

from components.specs.base import InterfaceName, IpAddress, Spec


class NodeAddressesSpec(Spec):
    """Address assignment of nodes in VPCs on HBN; ``jacquard allocate`` allocates an address for each host."""

    dns: tuple[IpAddress, ...] = Field(min_length=1, max_length=8)
    """DNS servers of nodes. Every VPC on HBN must be able to reach them."""
    ntp: tuple[IpAddress, ...] = Field(default=(), max_length=8)
    """NTP servers of nodes. Every VPC on HBN must be able to reach them. By default, golden images define them."""


class NodeNetwork(Spec):
    """Network configuration of a node with an allocated address, as written to its machine template."""

    interface: InterfaceName
    """Interface name of the DPU port with the address, as reported by the inspection of the host."""
    mtu_bytes: int = Field(ge=1280)
    """MTU of the node in bytes."""
    dns: tuple[IpAddress, ...]
    """DNS servers of the node."""
    ntp: tuple[IpAddress, ...] = ()
    """NTP servers of the node. If the list is empty, the image defines them."""
