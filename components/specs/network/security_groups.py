"""Security groups: which packets cross the edge of a VPC, by far end, protocol and port."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import CheckedSpec, Cidr, Misfit, Port, ShortName, Spec


class Protocol(StrEnum):
    """Protocol of packets."""

    TCP = "tcp"
    """Connections of TCP, which have ports."""
    UDP = "udp"
    """Packets of UDP, which have ports."""
    ICMP = "icmp"
    """Messages about the network, such as the answers to ping."""
    ANY = "any"
    """Packets of every protocol."""


class SecurityRuleSpec(CheckedSpec):
    """Connections that may be opened, and their answers."""

    cidr: Cidr | None = None
    """Far end outside the region, such as ``0.0.0.0/0``."""
    peer: ShortName | None = None
    """Far end that is a VPC among ``peers``."""
    protocol: Protocol = Protocol.ANY
    """Protocol of the connections."""
    ports: tuple[Port, ...] = Field(default=(), max_length=50)
    """Ports that connections are opened to, of TCP or UDP; all when they are left out."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield what does not fit: two far ends or none, and ports of what has none."""
        if self.cidr is None and self.peer is None:
            yield Misfit("is required without a peer; write a network such as 0.0.0.0/0", ("cidr",))
        if self.cidr is not None and self.peer is not None:
            yield Misfit("has no meaning beside cidr; make two rules of them, or remove it", ("peer",), self.peer)
        if self.ports and self.protocol not in {Protocol.TCP, Protocol.UDP}:
            yield Misfit("must be tcp or udp, which alone have ports; write tcp", ("protocol",), str(self.protocol))


class SecurityGroupSpec(Spec):
    """A named set of rules. A VPC with one lets nothing else cross its edge to peers and to the internet.

    Its own prefixes, its control planes, storage and networks behind the border are reached with and without it.
    """

    name: ShortName
    """Name of the group, unique in the file."""
    ingress: tuple[SecurityRuleSpec, ...] = Field(default=(), max_length=100)
    """Connections from outside into the VPC; ports are those inside."""
    egress: tuple[SecurityRuleSpec, ...] = Field(default=(), max_length=100)
    """Connections out of the VPC; ports are those outside."""
