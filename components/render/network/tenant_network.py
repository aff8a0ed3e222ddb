"""A tenant's VPC, on the DPUs of its hosts or in each of its clusters; one module a backend, from the same input.

A cluster whose nodes are on an InfiniBand fabric has its part of the VPC there too, whatever isolates the VPC.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.render.backends import BORDERS
from components.render.manifest import Manifest
from components.render.network import infiniband, rails, roce
from components.render.network.dpus import DpuPlatform
from components.render.network.vpc import Vpc
from components.specs.network.tenant_network import VpcSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantNetworkInput:
    """One VPC, or what one of its clusters does for it."""

    name: str
    vpc: Vpc
    platform: DpuPlatform
    cluster: str | None
    """Cluster whose objects these are; None where DPUs isolate the VPC."""
    partition: infiniband.Partition | None
    """The VPC's partition for the nodes of ``cluster``; None when these are on no InfiniBand fabric."""
    rails: rails.Rails | None = None
    """What gives pods of ``cluster`` functions of ports on RoCE; None where nothing does."""
    roce: roce.RocePorts | None = None
    """What hands out RDMA devices on RoCE in ``cluster``; None where nothing does."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the objects of one VPC, in the order they are applied."""
        vpc, partition, borders = self.vpc, self.partition, BORDERS[self.vpc.spec.isolation]
        if self.cluster is None:
            return borders.network(vpc, self.platform)
        return (
            *borders.inside(vpc, self.platform.networks, self.cluster),
            *(() if partition is None else infiniband.render(partition, self.cluster, vpc.tenant)),
            *(() if self.rails is None else rails.render(self.rails, self.cluster, vpc.tenant)),
            *(() if self.roce is None else roce.render(self.roce, self.cluster)),
        )


def on_dpus(vpc: VpcSpec) -> bool:
    """Tell whether the DPUs of its hosts isolate ``vpc``; if not, each of its clusters does."""
    return BORDERS[vpc.isolation].on_dpus
