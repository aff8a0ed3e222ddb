"""Security groups: rules for packets that cross the edge of a VPC, by remote network, protocol and port."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import CheckedSpec, Cidr, ConstraintViolation, Port, ShortName, Spec


class Protocol(StrEnum):
    """Network protocol."""

    TCP = "tcp"
    """TCP connections, which have ports."""
    UDP = "udp"
    """UDP packets, which have ports."""
    ICMP = "icmp"
    """ICMP messages, such as ping replies."""
    ANY = "any"
    """Packets of any protocol."""


class SecurityRuleSpec(CheckedSpec):
    """Rule that allows connections and their replies."""

    cidr: Cidr | None = None
    """Remote network outside the region, such as ``0.0.0.0/0``."""
    peer: ShortName | None = None
    """Remote VPC, one of ``peers``."""
    protocol: Protocol = Protocol.ANY
    """Protocol of the connections."""
    ports: tuple[Port, ...] = Field(default=(), max_length=50)
    """Destination ports of the connections, for TCP or UDP; all ports when the list is empty."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield rules with both a network and a peer or neither, and ports of protocols without ports."""
        if self.cidr is None and self.peer is None:
            yield ConstraintViolation("is required without a peer; write a network such as 0.0.0.0/0", ("cidr",))
        if self.cidr is not None and self.peer is not None:
            yield ConstraintViolation(
                "cannot be combined with cidr; split the rule in two, or remove it", ("peer",), self.peer
            )
        if self.ports and self.protocol not in {Protocol.TCP, Protocol.UDP}:
            yield ConstraintViolation(
                "must be tcp or udp if ports are listed; write tcp", ("protocol",), str(self.protocol)
            )


class SecurityGroupSpec(Spec):
    """Named set of rules. A VPC with a group drops all other packets to and from peers and the internet.

    A group does not affect traffic within the VPC, and traffic to its control planes, to storage and to networks
    behind the border routers.
    """

    name: ShortName
    """Name of the group, unique in the file."""
    ingress: tuple[SecurityRuleSpec, ...] = Field(default=(), max_length=100)
    """Incoming connections to the VPC. ``ports`` are ports inside the VPC."""
    egress: tuple[SecurityRuleSpec, ...] = Field(default=(), max_length=100)
    """Outgoing connections of the VPC. ``ports`` are ports outside the VPC."""
