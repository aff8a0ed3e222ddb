"""Connectivity of two ends over a common fabric. Fabric traffic bypasses the network filters of VPCs."""

from collections.abc import Iterator

from components.reports.network.endpoints import Endpoint
from components.specs.base import Spec
from components.specs.environment import Environment

_ON_NODES = frozenset({"hosts", "pods"})
"""Locations of ends that may have fabric ports."""


class FabricEnds(Spec):
    """Fabric of the VPCs of both ends, with the partition or VRF of each end."""

    fabric: str
    source: str
    """Partition or VRF of the source, such as ``PKey 0x11`` or ``VNI 40000``."""
    target: str
    """Partition or VRF of the target."""
    together: bool
    """Whether both ends have the same partition or VRF; their ports then communicate regardless of policies."""


def fabric_ends(environment: Environment, source: Endpoint, target: Endpoint) -> Iterator[FabricEnds]:
    """Yield the fabrics on which both ends may have ports."""
    if {source.where, target.where} <= _ON_NODES and source.vpc and target.vpc:
        there = _numbers(environment, target.vpc)
        for fabric, number in _numbers(environment, source.vpc).items():
            if fabric in there:
                together = number == there[fabric]
                yield FabricEnds(fabric=fabric, source=number, target=there[fabric], together=together)


def _numbers(environment: Environment, vpc: str) -> dict[str, str]:
    numbers = environment.allocations.vpcs[vpc]
    keys = {fabric: f"PKey {pkey:#x}" for fabric, pkey in numbers.pkeys.items()}
    return keys | {fabric: f"VNI {vni}" for fabric, vni in numbers.fabric_vnis.items()}
