"""Stateless packet rules at the edge of a VPC, the same for both directions.

Packet filters on DPUs do not track connections, so replies need their own rules. A rule specifies the port of each end,
not the sender: the same list, rendered for one direction, permits connections, and for the other direction their
replies. The end with the port of a rule can therefore send from it without a connection as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from components.specs.base import Network
from components.specs.network.security_groups import Protocol, SecurityRuleSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Protocol and ports of packets, from the perspective of a VPC; None matches any value."""

    protocol: Protocol | None = None
    near: int | None = None
    """Port of the end in the VPC."""
    far: int | None = None
    """Port of the other end."""

    @property
    def turned(self) -> Ports:
        """Return the same protocol and ports from the perspective of the other end."""
        return Ports(protocol=self.protocol, near=self.far, far=self.near)


ALL = Ports()
"""Match of all packets, for rules without protocol and ports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Verdict for packets between a VPC and ``network``, independent of the sender."""

    network: Network
    permits: bool
    ports: Ports = ALL

    def decides(self, far_end: Network, ports: Ports) -> bool:
        """Return whether the rule matches all packets with ``ports`` between the VPC and ``far_end``."""
        mine = self.ports
        return (
            far_end.subnet_of(self.network)
            and mine.protocol in {None, ports.protocol}
            and mine.near in {None, ports.near}
            and mine.far in {None, ports.far}
        )


def opened(rule: SecurityRuleSpec, networks: Iterable[Network], *, inward: bool) -> Iterator[Rule]:
    """Yield the rules that permit connections of ``rule`` with ``networks``, into or out of the VPC, one per port."""
    protocol = None if rule.protocol is Protocol.ANY else rule.protocol
    for network in networks:
        for port in rule.ports or (None,):
            ports = Ports(protocol=protocol, near=port if inward else None, far=None if inward else port)
            yield Rule(network=network, permits=True, ports=ports)
