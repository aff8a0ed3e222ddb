"""Whether two ends hear each other on a fabric too, past all that filters the network of their VPCs."""

from __future__ import annotations

from collections.abc import Iterator

from components.reports.network.endpoints import Endpoint
from components.specs.base import Spec
from components.specs.environment import Environment

_ON_NODES = frozenset({"hosts", "pods"})
"""Where ends are that ports of nodes may be given to."""


class FabricEnds(Spec):
    """A fabric that the VPCs of both ends are on, with the partition or VRF of each."""

    fabric: str
    source: str
    """Partition or VRF of the source, such as ``PKey 0x11`` or ``VNI 40000``."""
    target: str
    """Partition or VRF of the target."""
    together: bool
    """Whether both are the same, so that ports of the one hear those of the other whatever policies say."""


def fabric_ends(environment: Environment, source: Endpoint, target: Endpoint) -> Iterator[FabricEnds]:
    """Yield the fabrics on which ports may be given to both ends."""
    if {source.where, target.where} <= _ON_NODES and source.vpc and target.vpc:
        there = _numbers(environment, target.vpc)
        for fabric, number in _numbers(environment, source.vpc).items():
            if fabric in there:
                together = number == there[fabric]
                yield FabricEnds(fabric=fabric, source=number, target=there[fabric], together=together)


def _numbers(environment: Environment, vpc: str) -> dict[str, str]:
    given = environment.allocations.vpcs[vpc]
    keys = {fabric: f"PKey {pkey:#x}" for fabric, pkey in given.pkeys.items()}
    return keys | {fabric: f"VNI {vni}" for fabric, vni in given.fabric_vnis.items()}
