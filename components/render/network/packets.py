"""Rules about packets that cross the edge of a VPC, the same for both directions.

What filters on DPUs remembers no connection, so that each answer needs a rule of its own. A rule here says which end
has which port, and not who sends: the same list, written for one direction, lets connections through, and written for
the other their answers. Whoever has the port of a rule can therefore send from it, too, connection or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from components.specs.base import Network
from components.specs.network.security_groups import Protocol, SecurityRuleSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """Protocol and ports of packets, seen from a VPC; None is one that no rule names."""

    protocol: Protocol | None = None
    near: int | None = None
    """Port of the end in the VPC."""
    far: int | None = None
    """Port of the other end."""

    @property
    def turned(self) -> Ports:
        """Return the same, seen from the other end."""
        return Ports(protocol=self.protocol, near=self.far, far=self.near)


ALL = Ports()
"""What a rule without protocol and ports is about: all packets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What becomes of packets between a VPC and ``network``, whichever of the two sends them."""

    network: Network
    permits: bool
    ports: Ports = ALL

    def decides(self, far_end: Network, ports: Ports) -> bool:
        """Tell whether the rule is about all packets of ``ports`` between the VPC and ``far_end``."""
        mine = self.ports
        return (
            far_end.subnet_of(self.network)
            and mine.protocol in {None, ports.protocol}
            and mine.near in {None, ports.near}
            and mine.far in {None, ports.far}
        )


def opened(rule: SecurityRuleSpec, networks: Iterable[Network], *, inward: bool) -> Iterator[Rule]:
    """Yield what permits connections of ``rule`` with ``networks``, into the VPC or out of it: one for each port."""
    protocol = None if rule.protocol is Protocol.ANY else rule.protocol
    for network in networks:
        for port in rule.ports or (None,):
            ports = Ports(protocol=protocol, near=port if inward else None, far=None if inward else port)
            yield Rule(network=network, permits=True, ports=ports)
