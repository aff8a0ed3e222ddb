"""Packet rules at the edge of a VPC, used for both directions.

A rule specifies the ports of both ends and not the sender. One list of rules permits connections in one direction and
replies in the other direction. A rule of a security group also specifies which end opens the connections. Filters that
track connections permit replies only for such connections. For filters without connection tracking, an end whose port
is in a rule can also send packets from this port without a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.specs.base import Address, Network
from components.specs.network.security_groups import Protocol, SecurityRuleSpec
from components.specs.struct import Struct


class Ports(Struct):
    """Protocol and ports of packets, from the perspective of a VPC. None matches any value."""

    protocol: Protocol | None = None
    near: int | None = None
    """Port inside the VPC."""
    far: int | None = None
    """Port outside the VPC."""

    @property
    def turned(self) -> Ports:
        """Return the protocol and ports from the perspective of the other end."""
        return Ports(protocol=self.protocol, near=self.far, far=self.near)


ALL = Ports()
"""Match of all packets, for rules without protocol and ports."""


class Rule(Struct):
    """Verdict for packets between a VPC and ``network``, independent of the sender."""

    network: Network
    permits: bool
    ports: Ports = ALL
    inward: bool | None = None
    """Whether connections are opened into the VPC (true) or out of it; None for packets without regard to connections.
    """

    def decides(self, far_end: Network, ports: Ports, *, opens: bool | None = None) -> bool:
        """Return whether the rule matches all packets with ``ports`` between the VPC and ``far_end``.

        ``opens``: packets open a connection into the VPC (true) or out of it. None matches replies, and all packets if
        connections are not tracked.
        """
        mine = self.ports
        return (
            (opens is None or self.inward in {None, opens})
            and far_end.subnet_of(self.network)
            and mine.protocol in {None, ports.protocol}
            and mine.near in {None, ports.near}
            and mine.far in {None, ports.far}
        )


class Service(Struct):
    """TCP service of the region that every VPC reaches."""

    name: str
    address: Address
    port: int

    @property
    def network(self) -> Network:
        """Return the network that contains only the address."""
        return Network(f"{self.address}/32")

    @property
    def rule(self) -> Rule:
        """Return the rule that permits connections to the service."""
        return Rule(network=self.network, permits=True, ports=Ports(protocol=Protocol.TCP, far=self.port))


def opened(rule: SecurityRuleSpec, networks: Iterable[Network], *, inward: bool) -> Iterator[Rule]:
    """Yield the rules that permit connections of ``rule`` with ``networks``, into or out of the VPC, one per port."""
    protocol = None if rule.protocol is Protocol.ANY else rule.protocol
    for network in networks:
        for port in rule.ports or (None,):
            ports = Ports(protocol=protocol, near=port if inward else None, far=None if inward else port)
            yield Rule(network=network, permits=True, ports=ports, inward=inward)
